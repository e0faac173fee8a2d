"""What the enumeration commands may do, as pure functions over requests and replies.

The same rules hold for all five commands that list cooperative types (rows Q-01 to Q-09), so
they are stated once, over the raw memory that a call was given. Nothing here knows a driver:
``judge`` takes one call and the number of records that the implementation has.

Every record structure begins with ``sType`` and ``pNext`` and goes on with 32-bit members only
(vk.xml), so its layout is the list of its members.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cts.device.protocol import Query, Reply
from cts.outcome import Level
from reference.rules import Violation as Violation

SUCCESS = 0
INCOMPLETE = 5
HEADER = 16
"""Bytes of sType, its padding and pNext on a 64-bit host."""

KHR = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"
NV = "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV"
FLEXIBLE = "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV"
MAINTENANCE1 = "vkGetPhysicalDeviceCooperativeMatrixProperties2EXT"
VECTOR = "vkGetPhysicalDeviceCooperativeVectorPropertiesNV"

_TYPES = ("AType", "BType", "CType")


@dataclass(frozen=True)
class Shape:
    """The record structure of one command: its sType, its members, its extension."""

    structure: int
    members: tuple[str, ...]
    extension: str

    @property
    def bytes(self) -> int:
        """sizeof the structure: it ends at a multiple of 8 because of pNext."""
        return (HEADER + 4 * len(self.members) + 7) // 8 * 8


SHAPES: Mapping[str, Shape] = {
    KHR: Shape(
        1000506001,
        ("MSize", "NSize", "KSize", *_TYPES, "ResultType", "saturatingAccumulation", "scope"),
        "VK_KHR_cooperative_matrix",
    ),
    NV: Shape(
        1000249001,
        ("MSize", "NSize", "KSize", *_TYPES, "DType", "scope"),
        "VK_NV_cooperative_matrix",
    ),
    FLEXIBLE: Shape(
        1000593001,
        (
            "MGranularity",
            "NGranularity",
            "KGranularity",
            *_TYPES,
            "ResultType",
            "saturatingAccumulation",
            "scope",
            "workgroupInvocations",
        ),
        "VK_NV_cooperative_matrix2",
    ),
    MAINTENANCE1: Shape(
        1000659002,
        ("MGranularity", "NGranularity", "KGranularity", *_TYPES, "ResultType"),
        "VK_EXT_cooperative_matrix_maintenance1",
    ),
    VECTOR: Shape(
        1000491002,
        (
            "inputType",
            "inputInterpretation",
            "matrixInterpretation",
            "biasInterpretation",
            "resultType",
            "transpose",
        ),
        "VK_NV_cooperative_vector",
    ),
}


def decode(command: str, memory: bytes, count: int) -> list[dict[str, int]]:
    """The first ``count`` records of ``memory`` (the array as the command left it), members by
    name. ValueError where the memory is shorter than that."""
    shape = SHAPES[command]
    if count < 0 or count * shape.bytes > len(memory):
        raise ValueError(f"{len(memory)} bytes can't hold {count} records of {shape.bytes}")
    names = shape.members
    return [
        dict(
            zip(
                names,
                struct.unpack_from(f"<{len(names)}I", memory, index * shape.bytes + HEADER),
                strict=True,
            )
        )
        for index in range(count)
    ]


def untouched(query: Query) -> bytes:
    """The memory that the command is given: ``allocated`` poisoned records with their header,
    then the guard."""
    shape = SHAPES[query.command]
    record = struct.pack("<IIQ", shape.structure, 0, 0)
    record += bytes([query.poison]) * (shape.bytes - HEADER)
    return record * query.allocated + bytes([query.poison]) * query.guard


def plan(
    command: str, records: int, parameters: tuple[tuple[str, int], ...] = (), *, limit: int = 24
) -> tuple[Query, ...]:
    """The calls that Q-01 to Q-05 need: the count alone; every capacity from 0 to one more
    than ``records`` (the ends and ``limit`` capacities between them where there are many), each
    in an array with two more records than the capacity, with both kinds of poison."""
    capacities = list(range(records + 2))
    if len(capacities) > limit:
        step = len(capacities) / limit
        inner = {int(index * step) for index in range(limit)}
        capacities = sorted(inner | {0, 1, records - 1, records, records + 1})
    calls = [Query(command, null=True, parameters=parameters)]
    for capacity in capacities:
        for poison in (0xA5, 0x00):
            calls.append(
                Query(
                    command,
                    capacity=capacity,
                    allocated=capacity + 2,
                    poison=poison,
                    parameters=parameters,
                )
            )
    return tuple(calls)


def judge(query: Query, reply: Reply, records: int) -> list[Violation]:
    """Q-01 to Q-05 for one call (all its threads) on an implementation that has ``records``."""
    found: list[Violation] = []
    for thread, count in enumerate(reply.counts):
        result = reply.results[thread]
        if query.null:
            found += _count_alone(query, count, result, records)
        else:
            found += _count_filled(query, count, result, records)
            memory = reply.buffers[thread]
            found += _memory(query, memory, min(count, query.capacity, records))
    return found


def _context(query: Query, **more: int) -> dict[str, Any]:
    return {"command": query.command, "parameters": dict(query.parameters), **more}


def _count_alone(query: Query, count: int, result: int, records: int) -> list[Violation]:
    detail = _context(query, count=count, result=result, records=records)
    found = []
    if result != SUCCESS:
        message = f"a null array gave VkResult {result}"
        found.append(Violation("Q-01", Level.REQUIRED, message, detail))
    if count != records:
        message = f"a null array gave the count {count}, but there are {records} records"
        found.append(Violation("Q-01", Level.REQUIRED, message, detail))
    return found


def _count_filled(query: Query, count: int, result: int, records: int) -> list[Violation]:
    capacity = query.capacity
    short = capacity < records
    row = "Q-02" if short else "Q-03"
    due = INCOMPLETE if short else SUCCESS
    detail = _context(query, capacity=capacity, count=count, result=result, records=records)
    found = []
    if result != due:
        name = "VK_INCOMPLETE" if short else "VK_SUCCESS"
        found.append(
            Violation(
                row,
                Level.REQUIRED,
                f"capacity {capacity} of {records} gave VkResult {result} instead of {name}",
                detail,
            )
        )
    if short and count > capacity:
        found.append(
            Violation(
                row,
                Level.REQUIRED,
                f"capacity {capacity} of {records}: the count became {count}, more than fit",
                detail,
            )
        )
    if short and count < capacity:
        # "At most" as many as fit are written; fewer is legal and worth a word.
        found.append(
            Violation(
                row,
                Level.QUALITY,
                f"capacity {capacity} of {records}: only {count} records were written",
                detail,
            )
        )
    if not short and count != records:
        found.append(
            Violation(
                row,
                Level.REQUIRED,
                f"capacity {capacity} of {records}: the count became {count}",
                detail,
            )
        )
    return found


def _memory(query: Query, memory: bytes, written: int) -> list[Violation]:
    shape = SHAPES[query.command]
    before = untouched(query)
    detail = _context(query, capacity=query.capacity, written=written)
    if len(memory) != len(before):
        raise ValueError(f"the reply has {len(memory)} bytes of {len(before)}")
    found = []
    start = written * shape.bytes
    if memory[start:] != before[start:]:
        first = next(i for i in range(start, len(before)) if memory[i] != before[i])
        record, offset = divmod(first, shape.bytes)
        where = f"byte {offset} of record {record}" if record < query.allocated else "the guard"
        found.append(
            Violation(
                "Q-04",
                Level.REQUIRED,
                f"{where} changed, although {written} records were written",
                {**detail, "byte": first, "before": before[first], "after": memory[first]},
            )
        )
    for record in range(written):
        at = record * shape.bytes
        # The four bytes between sType and pNext are padding, which a structure copy may change.
        kind, link = struct.unpack_from("<I4xQ", memory, at)
        if (kind, link) != (shape.structure, 0):
            found.append(
                Violation(
                    "Q-05",
                    Level.REQUIRED,
                    f"record {record} came back with sType {kind} and pNext {link:#x}",
                    {**detail, "record": record, "sType": kind, "pNext": link},
                )
            )
            break
    return found


def judge_agreement(
    command: str, answers: Sequence[tuple[str, Sequence[Mapping[str, int]]]]
) -> list[Violation]:
    """Q-06: every labelled answer (repeated, another thread, another instance) lists the same
    records in the same order as the first."""
    found = []
    label, first = answers[0]
    for other, records in answers[1:]:
        if list(records) == list(first):
            continue
        kind = "the same records in another order"
        if sorted(map(key, records)) != sorted(map(key, first)):
            kind = "other records"
        found.append(
            Violation(
                "Q-06",
                Level.POLICY,
                f"{other} gave {kind} than {label}",
                {"command": command, label: list(first), other: list(records)},
            )
        )
    return found


def key(record: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """What two records have in common if they are the same."""
    return tuple(sorted(record.items()))
