"""The lists of supported combinations: their structures, their text, and what they allow.

Every structure is ``sType``, ``pNext`` and 32-bit members (Vulkan registry). The matcher here is
the only place that decides whether a device's lists cover a program; no case has a check of its
own.
"""

from __future__ import annotations

import dataclasses
import functools
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cts.device.protocol import DeviceInfo
from cts.program.limits import over_limits
from cts.program.model import (
    Component,
    Grid,
    MatrixType,
    MulAdd,
    Program,
    Robust,
    Scope,
    Use,
    walk,
)
from cts.program.requires import FLEXIBLE_DIMENSIONS, PROPERTIES2_FEATURE, Need, robust_access_2
from cts.program.sense import sensible
from cts.program.valid import invalid

KHR: Final = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"
NV: Final = "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV"
FLEXIBLE: Final = "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV"
PROPERTIES2: Final = "vkGetPhysicalDeviceCooperativeMatrixProperties2EXT"
VECTOR: Final = "vkGetPhysicalDeviceCooperativeVectorPropertiesNV"

SATURATING_ACCUMULATION: Final = 1
"""VK_COOPERATIVE_MATRIX_SATURATING_ACCUMULATION_BIT_EXT of the flags of properties2."""
_MAX_DIMENSION: Final = (
    "VkPhysicalDeviceCooperativeMatrix2PropertiesNV.cooperativeMatrixFlexibleDimensionsMaxDimension"
)
_HEADER = 16
"""Bytes of sType, its padding and pNext on a 64-bit host."""


@dataclass(frozen=True)
class RecordStruct:
    """One element of a list: the structure's name, its VkStructureType and its members after
    ``pNext`` in order, all of them 32 bits wide."""

    name: str
    structure_type: int
    members: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Size of one element; structures end at a multiple of a pointer's size."""
        return -(-(_HEADER + 4 * len(self.members)) // 8) * 8


_SIZES = ("MSize", "NSize", "KSize")
_GRANULARITIES = ("MGranularity", "NGranularity", "KGranularity")
_OPERANDS = ("AType", "BType", "CType")

RECORD_STRUCTS: Final[Mapping[str, RecordStruct]] = {
    KHR: RecordStruct(
        "VkCooperativeMatrixPropertiesKHR",
        1000506001,
        (*_SIZES, *_OPERANDS, "ResultType", "saturatingAccumulation", "scope"),
    ),
    NV: RecordStruct(
        "VkCooperativeMatrixPropertiesNV",
        1000249001,
        (*_SIZES, *_OPERANDS, "DType", "scope"),
    ),
    FLEXIBLE: RecordStruct(
        "VkCooperativeMatrixFlexibleDimensionsPropertiesNV",
        1000593001,
        (
            *_GRANULARITIES,
            *_OPERANDS,
            "ResultType",
            "saturatingAccumulation",
            "scope",
            "workgroupInvocations",
        ),
    ),
    PROPERTIES2: RecordStruct(
        "VkCooperativeMatrixProperties2EXT",
        1000659002,
        (*_GRANULARITIES, *_OPERANDS, "ResultType"),
    ),
    VECTOR: RecordStruct(
        "VkCooperativeVectorPropertiesNV",
        1000491002,
        (
            "inputType",
            "inputInterpretation",
            "matrixInterpretation",
            "biasInterpretation",
            "resultType",
            "transpose",
        ),
    ),
}
"""The structure that each enumeration command fills an array of, by command."""


def decode(command: str, memory: bytes, count: int) -> list[dict[str, int]]:
    """The first ``count`` elements of the array in ``memory``, which is a Query's reply.

    ValueError where the memory is too short.
    """
    layout = RECORD_STRUCTS[command]
    if count * layout.bytes > len(memory):
        raise ValueError(f"{count} elements of {layout.name} don't fit {len(memory)} bytes.")
    reader = struct.Struct(f"<{len(layout.members)}I")
    return [
        dict(
            zip(
                layout.members,
                reader.unpack_from(memory, index * layout.bytes + _HEADER),
                strict=True,
            )
        )
        for index in range(count)
    ]


# --- text -----------------------------------------------------------------------------------


def component_text(value: int) -> str:
    """Lower-case name of a VkComponentTypeKHR; the number where the suite has no name."""
    try:
        return Component(value).label
    except ValueError:
        return f"component type {value}"


def scope_text(value: int) -> str:
    """Lower-case name of a VkScopeKHR; the number where the suite has no name."""
    try:
        return Scope(value).name.lower().replace("_", " ")
    except ValueError:
        return f"scope {value}"


def describe_record(command: str, record: Mapping[str, int]) -> str:
    """One line for people: ``8x8x8 float16 x float16 + float32 -> float32, subgroup``."""
    if command == VECTOR:
        return _describe_vector(record)
    flexible = "MGranularity" in record
    sizes = "x".join(str(record[name]) for name in (_GRANULARITIES if flexible else _SIZES))
    a, b, c = (component_text(record[name]) for name in _OPERANDS)
    result = component_text(record["DType" if command == NV else "ResultType"])
    text = f"{'multiples of ' if flexible else ''}{sizes} {a} x {b} + {c} -> {result}"
    if record.get("saturatingAccumulation"):
        text += ", saturating"
    if "scope" in record:
        text += f", {scope_text(record['scope'])}"
    if record.get("workgroupInvocations"):
        text += f" of {record['workgroupInvocations']}"
    return text


def _describe_vector(record: Mapping[str, int]) -> str:
    given, read_as, matrix, bias, result = (
        component_text(record[name]) for name in RECORD_STRUCTS[VECTOR].members[:5]
    )
    source = given if given == read_as else f"{given} as {read_as}"
    transpose = ", transpose" if record["transpose"] else ""
    return f"{matrix} matrix x {source} + {bias} -> {result}{transpose}"


# --- matching -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Combination:
    """A KHR record, or one of flexible dimensions, in the terms of the rules."""

    key: str
    """``command#index``."""
    sizes: tuple[int, int, int]
    """M, N, K; multiples of these where ``flexible``."""
    types: tuple[int, int, int, int]
    """A, B, C and result."""
    saturating: bool
    scope: int
    flexible: bool = False
    invocations: int = 0
    limit: int = 0
    """The largest dimension, where ``flexible``."""
    sensible: bool = True
    """Whether any program of the suite can use it (:mod:`cts.program.sense`)."""
    subgroup_size: int | None = None
    """The size that the list was asked for: 0 for subgroups of varying size; None where lists
    don't depend on it."""

    def runs_on(self, grid: Grid) -> bool:
        """Whether it was listed for the subgroups of ``grid``
        (VUID-…-cooperativeMatrixProperties2-13382)."""
        if self.subgroup_size is None:
            return True
        if grid.varying or self.subgroup_size == 0:
            return grid.varying and self.subgroup_size == 0
        return self.subgroup_size == grid.subgroup_size

    def admits(self, type: MatrixType, local_size: int) -> bool:
        """VUID-RuntimeSpirv-OpTypeCooperativeMatrixKHR-10163, or …FlexibleDimensions-10165."""
        m, n, k = self.sizes
        a, b, c, result = self.types
        shapes = {
            Use.A: ((m, k), {a}),
            Use.B: ((k, n), {b}),
            Use.ACCUMULATOR: ((m, n), {c, result}),
        }
        sizes, components = shapes[type.use]
        return (
            type.component in components
            and self._scoped(type.scope, local_size)
            and self._sized((type.rows, type.columns), sizes)
        )

    def multiplies(
        self,
        operands: tuple[MatrixType, MatrixType, MatrixType, MatrixType],
        saturating: bool,
        local_size: int,
    ) -> bool:
        """VUID-RuntimeSpirv-OpCooperativeMatrixMulAddKHR-10060, or …FlexibleDimensions-10166,
        for the types of A, B, C and the result of a valid instruction."""
        a, b, _, result = operands
        return (
            self.types == tuple(operand.component for operand in operands)
            and self.saturating == saturating
            and self._scoped(result.scope, local_size)
            and self._sized((result.rows, result.columns, a.columns), self.sizes)
            and b.rows == a.columns
        )

    def _scoped(self, scope: Scope, local_size: int) -> bool:
        if scope != self.scope:
            return False
        whole = self.flexible and scope is Scope.WORKGROUP
        return not whole or self.invocations == local_size

    def _sized(self, actual: tuple[int, ...], allowed: tuple[int, ...]) -> bool:
        if not self.flexible:
            return actual == allowed
        return all(
            unit > 0 and size % unit == 0 and size <= self.limit
            for size, unit in zip(actual, allowed, strict=True)
        )


class _Same:
    """A device's facts, compared by identity: they are mappings, made once a device."""

    def __init__(self, info: DeviceInfo) -> None:
        self.info = info

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.info is self.info

    def __hash__(self) -> int:
        return id(self.info)


def combinations(info: DeviceInfo) -> tuple[Combination, ...]:
    """Every KHR record of a device and, where it supports the feature, every record of flexible
    dimensions, exact sizes first."""
    return _cached(_Same(info))


@functools.lru_cache(maxsize=8)
def _cached(same: _Same) -> tuple[Combination, ...]:
    return tuple(_combinations(same.info))


def _combinations(info: DeviceInfo) -> Iterator[Combination]:
    for index, record in enumerate(info.records.get(KHR, ())):
        yield _combination(f"{KHR}#{index}", record, _SIZES)
    yield from _asked(info)
    if FLEXIBLE_DIMENSIONS.feature not in info.features:
        return
    limit = info.properties.get(_MAX_DIMENSION, 0)
    for index, record in enumerate(info.records.get(FLEXIBLE, ())):
        yield _combination(f"{FLEXIBLE}#{index}", record, _GRANULARITIES, int(limit))


def _asked(info: DeviceInfo) -> Iterator[Combination]:
    """Records of properties2 that come with what was asked for: members of
    VkPhysicalDeviceCooperativeMatrixInfo2EXT beside their own (:func:`asked`)."""
    flexible = FLEXIBLE_DIMENSIONS.feature in info.features
    limit = int(info.properties.get(_MAX_DIMENSION, 0)) if flexible else 0
    for index, record in enumerate(info.records.get(PROPERTIES2, ())):
        if "subgroupSize" not in record:
            continue
        named = {
            **record,
            "saturatingAccumulation": record["flags"] & SATURATING_ACCUMULATION,
            "workgroupInvocations": record["invocations"],
        }
        found = _combination(f"{PROPERTIES2}#{index}", named, _GRANULARITIES, limit)
        yield dataclasses.replace(found, subgroup_size=record["subgroupSize"])


def asked(
    info: DeviceInfo, records: Iterable[Mapping[str, int]], parameters: Mapping[str, int]
) -> DeviceInfo:
    """A device that has nothing but ``records`` of properties2, as they were listed for
    ``parameters`` (scope, flags, invocations, subgroupSize)."""
    listed = tuple({**record, **parameters} for record in records)
    return dataclasses.replace(info, records={PROPERTIES2: listed})


def _combination(
    key: str, record: Mapping[str, int], sizes: tuple[str, ...], limit: int = 0
) -> Combination:
    m, n, k = (record[name] for name in sizes)
    a, b, c = (record[name] for name in _OPERANDS)
    return Combination(
        key,
        (m, n, k),
        (a, b, c, record["ResultType"]),
        bool(record["saturatingAccumulation"]),
        record["scope"],
        limit > 0,
        record.get("workgroupInvocations", 0),
        limit,
        sensible(record),
    )


def first_combinations(info: DeviceInfo) -> tuple[Combination, ...]:
    """Every record of the first extension (VUID-RuntimeSpirv-OpTypeCooperativeMatrixNV-06316 and
    …MulAddNV-10059): exact sizes, nothing saturates."""
    named = (
        {**record, "ResultType": record["DType"], "saturatingAccumulation": 0}
        for record in info.records.get(NV, ())
    )
    return tuple(
        _combination(f"{NV}#{index}", record, _SIZES) for index, record in enumerate(named)
    )


def _cover(program: Program, info: DeviceInfo) -> tuple[list[Combination], list[str]]:
    """The records that cover the program's multiplications, then those for the matrix types
    that no multiplication has; and what none covers, as sentences."""
    listed = first_combinations(info) if program.first else combinations(info)
    known = [it for it in listed if it.runs_on(program.grid)]
    local_size = program.grid.local_size
    types = program.types()
    covered: dict[Combination, None] = {}
    gaps: list[str] = []
    multiplied: set[MatrixType] = set()
    for statement in walk(program.body):
        if not isinstance(statement, MulAdd):
            continue
        operands = (types[statement.a], types[statement.b], types[statement.c], statement.type)
        multiplied.update(operands)
        for combination in known:
            if combination.multiplies(operands, statement.saturating, local_size):
                covered.setdefault(combination)
                break
        else:
            a, b, c, result = operands
            saturating = ", saturating" if statement.saturating else ""
            gaps.append(f"No advertised record has {a} x {b} + {c} -> {result}{saturating}.")
    for type in program.matrix_types():
        if type in multiplied:
            continue
        for combination in known:
            if combination.admits(type, local_size):
                covered.setdefault(combination)
                break
        else:
            gaps.append(f"No advertised record has a matrix {type}, scope {type.scope.name}.")
    return list(covered), gaps


def unsupported(program: Program, info: DeviceInfo) -> str | None:
    """Why the device's lists and limits don't cover ``program``, as a sentence; None if they
    do. Features and extensions are :func:`cts.program.requires.missing`'s part.

    An invalid program, a fault of whatever made it, is refused too.
    """
    if (broken := invalid(program)) is not None:
        return f"Invalid program: {broken}"
    _, gaps = _cover(program, info)
    return gaps[0] if gaps else over_limits(program, info)


def used(program: Program, info: DeviceInfo) -> tuple[str, ...]:
    """``command#index`` of the records that ``program`` uses on this device."""
    covered, _ = _cover(program, info)
    return tuple(combination.key for combination in covered)


def record_needs(program: Program, info: DeviceInfo) -> tuple[Need, ...]:
    """Features that have to be enabled because of the records that ``program`` uses, or that
    come by one extension or another."""
    covered, _ = _cover(program, info)
    needs = []
    if any(it.flexible for it in covered):
        needs.append(FLEXIBLE_DIMENSIONS)
    if any(it.subgroup_size is not None for it in covered):
        needs.append(PROPERTIES2_FEATURE)
    if program.robust is Robust.TWO:
        needs.append(robust_access_2(info))
    return tuple(needs)
