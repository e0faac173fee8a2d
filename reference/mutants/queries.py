"""Faults of the enumeration commands."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable

from cts.device.protocol import DeviceInfo, Dispatch, Query, Reply
from cts.findings import DriverCrash
from cts.program.model import MulAdd
from cts.program.records import KHR, RECORD_STRUCTS, RecordStruct
from reference.device import HEADER, INCOMPLETE, SUCCESS
from reference.mutants.base import Executor, Fault, Mutant, has_program

QUERIES = "property queries"
ERROR_UNKNOWN = -13


class Edited(Fault):
    """Changes what a call with an array left behind."""

    def query(self, request: Query, execute: Executor) -> Reply:
        reply = execute(request)
        if request.null or not reply.counts:
            return reply
        return self.edited(request, reply, execute)

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        """The reply instead."""
        raise NotImplementedError


def total(request: Query, execute: Executor) -> int:
    """How many records there are."""
    asked = dataclasses.replace(request, null=True, capacity=0, allocated=0, threads=1)
    return execute(asked).counts[0]


def with_memory(reply: Reply, change: Callable[[bytearray], None]) -> Reply:
    """The reply with ``change`` applied to each memory block."""
    changed = []
    for memory in reply.buffers:
        block = bytearray(memory)
        change(block)
        changed.append(bytes(block))
    return dataclasses.replace(reply, buffers=tuple(changed))


def with_result(reply: Reply, result: int, count: int) -> Reply:
    """The reply with another result and count."""
    calls = len(reply.counts)
    return dataclasses.replace(
        reply, result=result, counts=(count,) * calls, results=(result,) * calls
    )


def _layout(request: Query) -> RecordStruct:
    return RECORD_STRUCTS[request.command]


class OneTooMany(Edited):
    """Writes one record more than the capacity allows, if there is one."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        written, size = reply.counts[0], _layout(request).bytes
        if written == total(request, execute) or request.capacity == 0:
            return reply

        def change(memory: bytearray) -> None:
            first, at = memory[:size], written * size
            if at + size <= len(memory):
                memory[at + HEADER : at + size] = first[HEADER:]

        return with_memory(reply, change)


class SuccessTooEarly(Edited):
    """Gives VK_SUCCESS where one record is missing."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        if reply.counts[0] + 1 == total(request, execute) and reply.result == INCOMPLETE:
            return with_result(reply, SUCCESS, reply.counts[0])
        return reply


class LastDropped(Edited):
    """Never writes the last record."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        count, layout = reply.counts[0], _layout(request)
        if count != total(request, execute) or not count:
            return reply

        def change(memory: bytearray) -> None:
            start = (count - 1) * layout.bytes + HEADER
            memory[start : count * layout.bytes] = bytes([request.poison]) * (layout.bytes - HEADER)

        return with_result(with_memory(reply, change), SUCCESS, count - 1)


class HeaderZeroed(Edited):
    """Zeroes sType and pNext of every record that it writes."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        size = _layout(request).bytes

        def change(memory: bytearray) -> None:
            for index in range(reply.counts[0]):
                memory[index * size : index * size + HEADER] = bytes(HEADER)

        return with_memory(reply, change)


class AllocatedTaken(Edited):
    """Zeroes the record after the last one that it writes."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        layout = _layout(request)

        def change(memory: bytearray) -> None:
            start = reply.counts[0] * layout.bytes + HEADER
            end = start + layout.bytes - HEADER
            if end <= len(memory):
                memory[start:end] = bytes(end - start)

        return with_memory(reply, change)


class Doubled(Edited):
    """The second record is a copy of the first."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        size = _layout(request).bytes

        def change(memory: bytearray) -> None:
            if reply.counts[0] > 1:
                memory[size : 2 * size] = memory[:size]

        return with_memory(reply, change)

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """Lists with the first record in the second place, too."""
        records = {
            command: (found[0], found[0], *found[2:]) if len(found) > 1 else found
            for command, found in info.records.items()
        }
        return dataclasses.replace(info, records=records)


class TrueIsTwo(Edited):
    """Booleans that are true are 2."""

    NAMES = ("saturatingAccumulation", "transpose")

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        layout = _layout(request)
        places = [i for i, name in enumerate(layout.members) if name in self.NAMES]

        def change(memory: bytearray) -> None:
            for index in range(reply.counts[0]):
                for place in places:
                    at = index * layout.bytes + HEADER + 4 * place
                    (value,) = struct.unpack_from("<I", memory, at)
                    struct.pack_into("<I", memory, at, 2 * value)

        return with_memory(reply, change)

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """Lists with 2 for true, too."""
        records = {
            command: tuple(
                {k: 2 * v if k in self.NAMES else v for k, v in record.items()} for record in found
            )
            for command, found in info.records.items()
        }
        return dataclasses.replace(info, records=records)


class Unstable(Edited):
    """Every other call gives the records in reverse order."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant)
        self.calls = 0

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        self.calls += 1
        if self.calls % 2:
            return reply
        size, count = _layout(request).bytes, reply.counts[0]

        def change(memory: bytearray) -> None:
            records = [memory[i * size : (i + 1) * size] for i in range(count)]
            memory[: count * size] = b"".join(records[::-1])

        return with_memory(reply, change)


class FillAborts(Fault):
    """The call that fills an array of the KHR records ends the process; counting works."""

    def query(self, request: Query, execute: Executor) -> Reply:
        if request.command == KHR and not request.null and request.capacity:
            raise DriverCrash(
                "the device process was ended by SIGABRT in phase query", {"phase": "query"}
            )
        return execute(request)


class Unusable(Fault):
    """The last KHR combination is advertised, but no pipeline can be made with it."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant)
        self.last: dict[str, int] = {}

    def info(self, info: DeviceInfo) -> DeviceInfo:
        found = info.records.get(KHR, ())
        self.last = dict(found[-1]) if found else {}
        return info

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        program = has_program(request)
        types = program.types()
        for statement in program.body:
            if isinstance(statement, MulAdd) and self.last:
                a, c, d = types[statement.a], types[statement.c], statement.type
                asked = (d.rows, d.columns, a.columns, a.component, c.component, d.component)
                names = ("MSize", "NSize", "KSize", "AType", "CType", "ResultType")
                if asked == tuple(self.last[n] for n in names) and statement.saturating == bool(
                    self.last["saturatingAccumulation"]
                ):
                    return Reply(result=ERROR_UNKNOWN, phase="pipeline")
        return execute(request)


def _mutant(name: str, fault: type[Fault]) -> Mutant:
    return Mutant(name, QUERIES, (fault.__doc__ or "").strip(), fault)


MUTANTS = (
    _mutant("one_record_too_many", OneTooMany),
    _mutant("success_at_one_less", SuccessTooEarly),
    _mutant("last_record_dropped", LastDropped),
    _mutant("header_zeroed", HeaderZeroed),
    _mutant("next_record_zeroed", AllocatedTaken),
    _mutant("record_doubled", Doubled),
    _mutant("true_is_two", TrueIsTwo),
    _mutant("order_changes", Unstable),
    _mutant("abort_in_fill", FillAborts),
    _mutant("last_record_unusable", Unusable),
)
