"""What the property structures and the lists of combinations must say (rows P-01 to P-08).

Pure functions over what a device says of itself; each rule is the specification's (chapters
"Features" and "Limits", the descriptions of the property structures) unless its level says
otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cts.device.protocol import DeviceInfo
from cts.outcome import Level
from cts.program.model import Component, Scope
from reference.queries import FLEXIBLE, KHR, NV, SHAPES, Violation

Record = Mapping[str, int]

QUEUE_COMPUTE = 0x2
STAGE_COMPUTE = 0x20

KHR_STAGES = "VkPhysicalDeviceCooperativeMatrixPropertiesKHR.cooperativeMatrixSupportedStages"
NV_STAGES = "VkPhysicalDeviceCooperativeMatrixPropertiesNV.cooperativeMatrixSupportedStages"
_FEATURES2 = "VkPhysicalDeviceCooperativeMatrix2FeaturesNV"
_LIMITS2 = "VkPhysicalDeviceCooperativeMatrix2PropertiesNV"


def _power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def has_feature2(info: DeviceInfo, member: str) -> bool:
    """Whether a feature of VK_NV_cooperative_matrix2 is supported."""
    return f"{_FEATURES2}.{member}" in info.features


def powers_of_two(command: str, records: Sequence[Record]) -> list[Violation]:
    """P-01: at least one element has powers of two for M, N and K. (KHR, NV)"""
    sizes = [(record["MSize"], record["NSize"], record["KSize"]) for record in records]
    if any(all(map(_power_of_two, size)) for size in sizes):
        return []
    return [
        Violation(
            "P-01",
            Level.REQUIRED,
            f"none of the {len(records)} elements has powers of two for M, N and K",
            {"command": command, "sizes": sorted({"x".join(map(str, size)) for size in sizes})},
        )
    ]


def scopes(command: str, records: Sequence[Record], info: DeviceInfo) -> list[Violation]:
    """P-02: scope is VK_SCOPE_SUBGROUP_KHR, or also WORKGROUP where workgroup scope is
    supported."""
    allowed = {int(Scope.SUBGROUP)}
    if has_feature2(info, "cooperativeMatrixWorkgroupScope"):
        allowed.add(int(Scope.WORKGROUP))
    return [
        Violation(
            "P-02",
            Level.REQUIRED,
            f"element {index} has scope {record['scope']}",
            {"command": command, "element": index, "members": dict(record)},
        )
        for index, record in enumerate(records)
        if record["scope"] not in allowed
    ]


def stages(info: DeviceInfo, member: str, *, only_compute: bool) -> list[Violation]:
    """P-03: the supported stages have COMPUTE where a queue family can compute; the KHR field
    has no other bit."""
    value = int(info.properties.get(member, 0))
    found = []
    if any(flags & QUEUE_COMPUTE for flags in info.queues) and not value & STAGE_COMPUTE:
        found.append(
            Violation(
                "P-03",
                Level.REQUIRED,
                f"{member} is {value:#x}, without VK_SHADER_STAGE_COMPUTE_BIT, although a "
                "queue family can compute",
                {"value": value},
            )
        )
    if only_compute and value & ~STAGE_COMPUTE:
        found.append(
            Violation(
                "P-03",
                Level.REQUIRED,
                f"{member} is {value:#x}; no bit but VK_SHADER_STAGE_COMPUTE_BIT may be set",
                {"value": value},
            )
        )
    return found


def granularities(records: Sequence[Record], info: DeviceInfo) -> list[Violation]:
    """P-04: flexible granularities are powers of two; no elements without the feature."""
    if not has_feature2(info, "cooperativeMatrixFlexibleDimensions"):
        if not records:
            return []
        return [
            Violation(
                "P-04",
                Level.REQUIRED,
                f"{len(records)} elements are listed, although "
                "cooperativeMatrixFlexibleDimensions is not supported",
                {"command": FLEXIBLE},
            )
        ]
    return [
        Violation(
            "P-04",
            Level.REQUIRED,
            f"element {index}: {member} = {record[member]} is no power of two",
            {"command": FLEXIBLE, "element": index, "members": dict(record)},
        )
        for index, record in enumerate(records)
        for member in ("MGranularity", "NGranularity", "KGranularity")
        if not _power_of_two(record[member])
    ]


def limits(info: DeviceInfo) -> list[Violation]:
    """P-05: the limits of VK_NV_cooperative_matrix2, each where its feature is supported."""
    found = []

    def value(name: str) -> int:
        return int(info.properties.get(f"{_LIMITS2}.{name}", 0))

    def need(holds: bool, name: str, rule: str) -> None:
        if not holds:
            found.append(
                Violation(
                    "P-05",
                    Level.REQUIRED,
                    f"{name} is {value(name)}; {rule}",
                    {"limit": name, "value": value(name)},
                )
            )

    if has_feature2(info, "cooperativeMatrixWorkgroupScope"):
        name = "cooperativeMatrixWorkgroupScopeMaxWorkgroupSize"
        least = 2 * info.subgroup_size
        need(value(name) >= least, name, f"at least {least}, twice the subgroup size, is required")
        name = "cooperativeMatrixWorkgroupScopeReservedSharedMemory"
        most = int(info.properties["VkPhysicalDeviceLimits.maxComputeSharedMemorySize"]) // 2
        need(value(name) <= most, name, f"at most half of the shared memory, {most}, is allowed")
    if has_feature2(info, "cooperativeMatrixFlexibleDimensions"):
        name = "cooperativeMatrixFlexibleDimensionsMaxDimension"
        need(value(name) >= 256, name, "at least 256 is required")
    return found


def workgroup_invocations(records: Sequence[Record], info: DeviceInfo) -> list[Violation]:
    """P-06: workgroupInvocations is 0 for subgroup scope; for workgroup scope a multiple of
    the subgroup size and no more than the maximum workgroup size."""
    most = int(
        info.properties.get(f"{_LIMITS2}.cooperativeMatrixWorkgroupScopeMaxWorkgroupSize", 0)
    )
    found = []
    for index, record in enumerate(records):
        value = record["workgroupInvocations"]
        if record["scope"] == Scope.SUBGROUP:
            sound, rule = value == 0, "0 is expected for subgroup scope"
        else:
            sound = 0 < value <= most and value % info.subgroup_size == 0
            rule = f"a multiple of the subgroup size up to {most} is expected"
        if not sound:
            found.append(
                Violation(
                    "P-06",
                    Level.POLICY,
                    f"element {index}: workgroupInvocations = {value}; {rule}",
                    {"command": FLEXIBLE, "element": index, "members": dict(record)},
                )
            )
    return found


_SHARED = ("MSize", "NSize", "KSize", "AType", "BType", "CType")


def agreement(khr: Sequence[Record], nv: Sequence[Record]) -> list[Violation]:
    """P-07: the KHR and NV lists agree on the combinations that both can express, which are
    those without saturation."""

    def keys(records: Sequence[Record], result: str) -> set[tuple[int, ...]]:
        return {
            (*(record[name] for name in _SHARED), record[result], record["scope"])
            for record in records
            if not record.get("saturatingAccumulation", 0)
        }

    found = []
    first, second = keys(khr, "ResultType"), keys(nv, "DType")
    for label, only in ((KHR, first - second), (NV, second - first)):
        if only:
            shown = [_combination(key) for key in sorted(only)]
            more = f" and {len(shown) - 1} more" if len(shown) > 1 else ""
            found.append(
                Violation(
                    "P-07",
                    Level.POLICY,
                    f"only {label} lists {shown[0]}{more}",
                    {"combinations": "; ".join(shown)},
                )
            )
    return found


def _combination(key: tuple[int, ...]) -> str:
    """M, N, K, A, B, C, result and scope in words; what the suite doesn't know as numbers."""
    m, n, k, *types, scope = key
    known = set(Component)
    a, b, c, result = (Component(it).label if it in known else str(it) for it in types)
    where = Scope(scope).name.lower() if scope in set(Scope) else str(scope)
    return f"{m}x{n}x{k} {a} x {b} + {c} -> {result}, {where}"


def companions(command: str, records: Sequence[Record]) -> list[Violation]:
    """P-08: a saturating element has its wrapping form, and 8-bit integer elements come in
    both signednesses."""
    names = ("MSize", "NSize", "KSize", "AType", "BType", "CType", "ResultType", "scope")
    plain = {
        tuple(record[name] for name in names)
        for record in records
        if not record["saturatingAccumulation"]
    }
    found = []
    for index, record in enumerate(records):
        if record["saturatingAccumulation"] and tuple(record[n] for n in names) not in plain:
            found.append(
                Violation(
                    "P-08",
                    Level.QUALITY,
                    f"element {index} saturates, but its wrapping form isn't listed",
                    {"command": command, "element": index, "members": dict(record)},
                )
            )
    inputs = {record["AType"] for record in records} | {record["BType"] for record in records}
    eight = {int(Component.SINT8), int(Component.UINT8)}
    if len(inputs & eight) == 1:
        listed = Component((inputs & eight).pop()).label
        found.append(
            Violation(
                "P-08",
                Level.QUALITY,
                f"of the 8-bit integer types only {listed} is listed",
                {"command": command},
            )
        )
    return found


_NEEDS_FEATURE = {
    "VK_KHR_cooperative_matrix": ("CooperativeMatrixFeaturesKHR", ("cooperativeMatrix",)),
    "VK_NV_cooperative_matrix": ("CooperativeMatrixFeaturesNV", ("cooperativeMatrix",)),
    "VK_NV_cooperative_vector": ("CooperativeVectorFeaturesNV", ("cooperativeVector",)),
    "VK_EXT_cooperative_matrix_maintenance1": (
        "CooperativeMatrixMaintenance1FeaturesEXT",
        ("cooperativeMatrixProperties2",),
    ),
    "VK_NV_cooperative_matrix2": (
        "CooperativeMatrix2FeaturesNV",
        (
            "cooperativeMatrixWorkgroupScope",
            "cooperativeMatrixFlexibleDimensions",
            "cooperativeMatrixReductions",
            "cooperativeMatrixConversions",
            "cooperativeMatrixPerElementOperations",
            "cooperativeMatrixTensorAddressing",
            "cooperativeMatrixBlockLoads",
        ),
    ),
}
"""The features of which a listed extension must support at least one (chapter "Features",
section "Feature Requirements")."""


def mandatory(info: DeviceInfo) -> list[Violation]:
    """Q-10: a listed extension supports what comes with it, and its command exists.

    ``info.records`` has an entry for each enumeration command whose address isn't null.
    """
    found = []
    for extension, (structure, members) in _NEEDS_FEATURE.items():
        names = [f"VkPhysicalDevice{structure}.{member}" for member in members]
        if extension in info.extensions and info.features.isdisjoint(names):
            what = members[0] if len(members) == 1 else "any of its features"
            found.append(
                Violation(
                    "Q-10",
                    Level.REQUIRED,
                    f"{extension} is listed, but {what} is not supported",
                    {"extension": extension, "features": names},
                )
            )
    for command, shape in SHAPES.items():
        if shape.extension in info.extensions and command not in info.records:
            found.append(
                Violation(
                    "Q-10",
                    Level.REQUIRED,
                    f"{shape.extension} is listed, but {command} has no address",
                    {"extension": shape.extension, "command": command},
                )
            )
    return found
