"""What vkGetPhysicalDeviceCooperativeMatrixProperties2EXT must list (rows E-01 to E-08).

Pure functions over parameters and lists. The rules are those of the command's description in the
Vulkan specification, chapter "Shaders", section "Cooperative Matrices"; which parameters are valid
are the VUIDs of VkPhysicalDeviceCooperativeMatrixInfo2EXT (13372 to 13381).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cts.device.protocol import DeviceInfo
from cts.outcome import Level
from cts.program.model import Component, Scope
from cts.program.records import component_text
from reference.properties import has_feature2
from reference.rules import Violation

Record = Mapping[str, int]
Quadruple = tuple[int, int, int, int]

SATURATING = 1
"""VK_COOPERATIVE_MATRIX_SATURATING_ACCUMULATION_BIT_EXT."""
_SIZES = "VkPhysicalDeviceSubgroupSizeControlProperties."
_MAX_WORKGROUP = (
    "VkPhysicalDeviceCooperativeMatrix2PropertiesNV.cooperativeMatrixWorkgroupScopeMaxWorkgroupSize"
)
_CONTROL = (
    "VkPhysicalDeviceVulkan13Features.subgroupSizeControl",
    "VkPhysicalDeviceSubgroupSizeControlFeatures.subgroupSizeControl",
)

_F16, _F32 = Component.FLOAT16, Component.FLOAT32
_U8, _S8, _U32, _S32 = Component.UINT8, Component.SINT8, Component.UINT32, Component.SINT32

REQUIRED_TYPES: Mapping[str, tuple[Quadruple, ...]] = {
    "E-02": ((_F16, _F16, _F16, _F16), (_F16, _F16, _F32, _F32)),
    "E-03": ((_U8, _U8, _U32, _U32), (_U8, _U8, _S32, _S32)),
    "E-04": ((_S8, _S8, _S32, _S32),),
}
"""Types of A, B, C and result of which each required parameter must list one, by row."""


@dataclass(frozen=True)
class Parameters:
    """The members of VkPhysicalDeviceCooperativeMatrixInfo2EXT."""

    scope: int
    subgroup_size: int
    invocations: int = 0
    saturating: bool = False

    def members(self) -> tuple[tuple[str, int], ...]:
        """The members by name, as a query takes them."""
        return (
            ("scope", int(self.scope)),
            ("flags", SATURATING if self.saturating else 0),
            ("invocations", self.invocations),
            ("subgroupSize", self.subgroup_size),
        )

    def __str__(self) -> str:
        text = Scope(self.scope).name.lower()
        if self.invocations:
            text += f" of {self.invocations}"
        size = self.subgroup_size or "any size"
        return f"{text}, subgroups of {size}{', saturating' if self.saturating else ''}"


def _powers(low: int, high: int) -> Iterator[int]:
    value = 1
    while value <= high:
        if value >= low:
            yield value
        value *= 2


def subgroup_sizes(info: DeviceInfo) -> tuple[int, ...]:
    """Subgroup sizes that may be asked for: 0, and powers of two between the limits where
    subgroupSizeControl is supported, else the one size (VUID 13374 to 13377)."""
    if any(feature in info.features for feature in _CONTROL):
        low = int(info.properties[_SIZES + "minSubgroupSize"])
        high = int(info.properties[_SIZES + "maxSubgroupSize"])
        return (0, *_powers(low, high))
    return (0, info.subgroup_size)


def workgroup_sizes(info: DeviceInfo) -> tuple[int, ...]:
    """Powers of two from the subgroup size to the largest workgroup of workgroup scope; none
    without the feature."""
    if not has_feature2(info, "cooperativeMatrixWorkgroupScope"):
        return ()
    return tuple(_powers(info.subgroup_size, int(info.properties.get(_MAX_WORKGROUP, 0))))


def required(info: DeviceInfo) -> tuple[Parameters, ...]:
    """The parameters whose lists must not be empty."""
    sizes = (0, info.subgroup_size)
    found = [Parameters(Scope.SUBGROUP, size) for size in sizes]
    found += [
        Parameters(Scope.WORKGROUP, size, count)
        for count in workgroup_sizes(info)
        for size in sizes
    ]
    return tuple(found)


def valid(info: DeviceInfo) -> tuple[Parameters, ...]:
    """Every valid set of parameters, with and without saturation."""
    found = []
    for saturating in (False, True):
        for size in subgroup_sizes(info):
            found.append(Parameters(Scope.SUBGROUP, size, 0, saturating))
            found += [
                Parameters(Scope.WORKGROUP, size, count, saturating)
                for count in workgroup_sizes(info)
                if size == 0 or count % size == 0
            ]
    return tuple(found)


def types(record: Record) -> Quadruple:
    """Component types of A, B, C and result."""
    return record["AType"], record["BType"], record["CType"], record["ResultType"]


def _named(quadruple: Quadruple) -> str:
    a, b, c, result = map(component_text, quadruple)
    return f"{a} x {b} + {c}" + (f" -> {result}" if result != c else "")


def _detail(asked: Parameters, records: Sequence[Record]) -> dict[str, object]:
    return {"parameters": dict(asked.members()), "records": [dict(it) for it in records[:64]]}


def not_empty(asked: Parameters, count: int) -> list[Violation]:
    """E-01: a required parameter lists something."""
    if count:
        return []
    message = f"nothing is listed for {asked}"
    return [Violation("E-01", Level.REQUIRED, message, _detail(asked, ()))]


def combinations(asked: Parameters, records: Sequence[Record]) -> list[Violation]:
    """E-02 to E-05: what every required parameter must list; E-05 where only one of two
    alternatives is there, which the stricter reading of the text doesn't allow."""
    listed = {types(record) for record in records}
    found = []
    for row, alternatives in REQUIRED_TYPES.items():
        present = [it for it in alternatives if it in listed]
        if not present:
            names = " nor ".join(map(_named, alternatives))
            message = f"neither {names} is listed" if len(alternatives) > 1 else f"no {names}"
            found.append(
                Violation(row, Level.REQUIRED, f"{asked}: {message}", _detail(asked, records))
            )
        elif len(present) < len(alternatives):
            (absent,) = set(alternatives) - set(present)
            found.append(
                Violation(
                    "E-05",
                    Level.QUALITY,
                    f"{asked}: {_named(absent)} isn't listed, only {_named(present[0])}",
                    _detail(asked, records),
                )
            )
    return found


def powers_of_two(asked: Parameters, records: Sequence[Record]) -> list[Violation]:
    """E-06: some record of a non-empty list has powers of two for all granularities."""
    names = ("MGranularity", "NGranularity", "KGranularity")

    def power(value: int) -> bool:
        return value > 0 and value & (value - 1) == 0

    if not records or any(all(power(record[name]) for name in names) for record in records):
        return []
    message = f"{asked}: none of {len(records)} records has powers of two for all granularities"
    return [Violation("E-06", Level.REQUIRED, message, _detail(asked, records))]


def saturation(
    asked: Parameters,
    plain: Sequence[Record],
    saturating: Sequence[Record],
    khr: Sequence[Record],
) -> list[Violation]:
    """E-08: the lists without and with the flag (for the default subgroup size, at subgroup scope)
    have the types of the KHR records of their kind, floats never saturate, and nothing is listed
    twice. Sizes may differ: the lists needn't offer the same."""
    found = []
    for kind, records in ((0, plain), (1, saturating)):
        listed = {types(record) for record in records}
        how = f"{asked}, {'with' if kind else 'without'} saturation"
        missing = {
            types(record): None
            for record in khr
            if bool(record["saturatingAccumulation"]) is bool(kind)
            and record["scope"] == Scope.SUBGROUP
            and types(record) not in listed
        }
        if missing:
            names = ", ".join(map(_named, missing))
            message = f"{how}: {names} of the KHR list is missing"
            found.append(Violation("E-08", Level.POLICY, message, _detail(asked, records)))
        keys = [tuple(sorted(record.items())) for record in records]
        if len(set(keys)) < len(keys):
            message = f"{how}: a record is listed twice"
            found.append(Violation("E-08", Level.POLICY, message, _detail(asked, records)))
    known = {int(component) for component in Component if component.is_float}
    floats = [it for it in saturating if it["ResultType"] in known]
    if floats:
        message = f"{asked}: {_named(types(floats[0]))} is listed as saturating"
        found.append(Violation("E-08", Level.POLICY, message, _detail(asked, saturating)))
    return found
