"""The oracle acting as a driver: it supports everything and makes no mistake.

It runs ``Dispatch.program`` on the concrete machine, and answers enumeration commands on the
memory that the suite prepared, byte by byte as a driver would. A :class:`Behaviour` makes it one
of the many legal devices, to show that the suite accuses none of them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from cts.device.protocol import (
    Convert,
    Describe,
    DeviceInfo,
    Dispatch,
    Query,
    Reply,
    Request,
)
from cts.program.model import Component
from cts.program.records import PROPERTIES2, RECORD_STRUCTS, VECTOR
from cts.program.vector_program import VectorProgram
from reference.catalog import EXTENSIONS, FEATURES, PROPERTIES, RECORDS, Record, properties2
from reference.device_convert import Converter
from reference.machine import Behaviour, Machine
from reference.vector_machine import VectorMachine

SUCCESS, INCOMPLETE = 0, 5
HEADER = 16
"""Bytes of a record before its members: sType, padding, pNext."""
SATURATING_ACCUMULATION = 1
"""VK_COOPERATIVE_MATRIX_FLAG_SATURATING_ACCUMULATION_BIT_EXT of VkPhysicalDevice…Info2EXT."""


class ReferenceDevice:
    """A device that gives legal results, chosen by ``behaviour``; the parts that do the work are
    named here, so that another legal device can have others."""

    machine: type[Machine] = Machine
    vector_machine: type[VectorMachine] = VectorMachine
    converter: type[Converter] = Converter

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self._info = describe(self.behaviour)

    @property
    def info(self) -> DeviceInfo:
        """What the device says of itself."""
        return self._info

    def execute(self, request: Request) -> Reply:
        """Runs one request to its end. ValueError for a module that doesn't say which program it
        was lowered from: the reference device can't run SPIR-V."""
        match request:
            case Dispatch():
                return self._dispatch(request)
            case Query():
                return query(request, self._records(request))
            case Convert():
                return self._convert(request)
            case Describe():
                return Reply()

    def close(self) -> None:
        """Nothing to give back."""

    def _dispatch(self, request: Dispatch) -> Reply:
        if request.program is None:
            raise ValueError("the reference device runs programs, not SPIR-V: program is missing")
        names = [buffer.name for buffer in request.program.buffers]
        data = [buffer.data for buffer in request.buffers]
        if request.preparations:
            data = self._converter().prepare(request)
        inputs = dict(zip(names, data, strict=False))
        if isinstance(request.program, VectorProgram):
            after = self.vector_machine(request.program, inputs).results()
        else:
            after = self.machine(request.program, inputs, self.behaviour).run()
        run = (*(after[name] for name in names), *data[len(names) :])
        return Reply(buffers=run * request.repeat)

    def _records(self, request: Query) -> Sequence[Record]:
        if request.command not in RECORDS:
            raise ValueError(f"there is no enumeration command {request.command}")
        found: Sequence[Record] = RECORDS[request.command]
        if request.command == PROPERTIES2:
            given = dict(request.parameters)
            found = properties2(
                bool(given.get("flags", 0) & SATURATING_ACCUMULATION),
                given.get("subgroupSize", 0),
                given.get("invocations", 0),
            )
        return found[::-1] if self.behaviour.reverses_records else found

    def _convert(self, request: Convert) -> Reply:
        return self._converter().run(request)

    def _converter(self) -> Converter:
        return self.converter({Component(r["matrixInterpretation"]) for r in RECORDS[VECTOR]})


def describe(behaviour: Behaviour) -> DeviceInfo:
    """What a reference device says of itself."""
    records: Mapping[str, tuple[Record, ...]] = RECORDS
    if behaviour.reverses_records:
        records = {command: found[::-1] for command, found in RECORDS.items()}
    return DeviceInfo(
        kind="reference",
        name="coopcts reference",
        driver="reference",
        driver_version="1",
        api_version="1.4.0",
        uuid="00000000-0000-0000-0000-000000000001",
        extensions=EXTENSIONS,
        features=FEATURES,
        properties=PROPERTIES,
        records=records,
        queues=(7,),
    )


def untouched(request: Query) -> bytes:
    """The memory of one call before it: headers with ``sType`` set and a null ``pNext``, all
    else poison, and the guard."""
    layout = RECORD_STRUCTS[request.command]
    poison = bytes([request.poison])
    record = struct.pack("<IIQ", layout.structure_type, 0, 0)
    record += poison * (layout.bytes - HEADER)
    return record * request.allocated + poison * request.guard


def query(request: Query, records: Sequence[Record]) -> Reply:
    """What an enumeration command with ``records`` does to the memory it is given: with a null
    array it counts; otherwise it writes as many records as fit the capacity."""
    layout = RECORD_STRUCTS[request.command]
    memory = bytearray(untouched(request))
    if request.null:
        count, result = len(records), SUCCESS
    else:
        count = min(len(records), request.capacity)
        result = SUCCESS if count == len(records) else INCOMPLETE
        for index in range(count):
            members = [records[index][name] for name in layout.members]
            start = index * layout.bytes + HEADER
            struct.pack_into(f"<{len(members)}I", memory, start, *members)
    calls = max(1, request.threads)
    return Reply(
        result=result,
        buffers=(bytes(memory),) * calls,
        counts=(count,) * calls,
        results=(result,) * calls,
    )
