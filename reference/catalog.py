"""What the reference device says of itself: every extension, feature and kind of combination.

The lists are rich on purpose: square and oblong shapes, sizes that are no powers of two, mixed
types, both signednesses, saturation, and the combinations that the specification requires
(cooperative vectors; the required parameters of properties2).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from cts.program.controls import WIDTHS, Control, Mode
from cts.program.model import Component, Scope
from cts.program.records import FLEXIBLE, KHR, NV, PROPERTIES2, VECTOR
from cts.program.requires import CAPABILITIES, FLEXIBLE_DIMENSIONS, NEEDS, PREPARATIONS
from reference import stage_info, vector_info

Record = Mapping[str, int]
Types = tuple[Component, Component, Component, Component]

SUBGROUP_SIZE = 32
SMALLEST_SUBGROUP, LARGEST_SUBGROUP = 8, 64
LARGEST_WORKGROUP = 1024
LARGEST_DIMENSION = 256

_F16, _F32, _F64 = Component.FLOAT16, Component.FLOAT32, Component.FLOAT64
_BF16, _E4M3, _E5M2 = Component.BFLOAT16, Component.FLOAT8_E4M3, Component.FLOAT8_E5M2
_S8, _U8, _S16, _U16 = Component.SINT8, Component.UINT8, Component.SINT16, Component.UINT16
_S32, _U32, _S64, _U64 = Component.SINT32, Component.UINT32, Component.SINT64, Component.UINT64

FLOATS: tuple[Types, ...] = (
    (_F16, _F16, _F16, _F16),
    (_F16, _F16, _F32, _F32),
    (_F16, _F16, _F32, _F16),
    (_F16, _F16, _F16, _F32),
    (_F32, _F32, _F32, _F32),
    (_F64, _F64, _F64, _F64),
    (_BF16, _BF16, _F32, _F32),
    (_BF16, _BF16, _BF16, _BF16),
    (_E4M3, _E4M3, _F32, _F32),
    (_E5M2, _E5M2, _F32, _F32),
    (_E4M3, _E5M2, _F32, _F32),
    (_E4M3, _E4M3, _F16, _F16),
    (_E5M2, _E5M2, _E5M2, _E5M2),
    (_E4M3, _E4M3, _E4M3, _E4M3),
)
INTEGERS: tuple[Types, ...] = (
    *((a, b, c, c) for a, b in itertools.product((_S8, _U8), repeat=2) for c in (_S32, _U32)),
    (_S16, _S16, _S32, _S32),
    (_U16, _U16, _U32, _U32),
    (_S32, _S32, _S32, _S32),
    (_U32, _U32, _U32, _U32),
    (_S16, _S16, _S64, _S64),
    (_U16, _U16, _U64, _U64),
    (_S8, _S8, _S16, _S16),
    (_U8, _U8, _U8, _U8),
)
SIZES = ((16, 16, 16), (8, 8, 8), (16, 8, 32), (24, 40, 8))
"""M, N, K of the KHR combinations; each type combination has at least two of them. All sizes of
all subgroups divide the number of elements."""


def _khr() -> Iterator[Record]:
    for index, types in enumerate((*FLOATS, *INTEGERS)):
        for size in (SIZES[0], SIZES[1 + index % 3]):
            saturations = (0, 1) if types in INTEGERS else (0,)
            for saturating in saturations:
                yield _record(size, types, saturating)
    for types in (FLOATS[1], INTEGERS[0]):
        yield _record((8, 16, 48), types, 0)


def _record(size: tuple[int, int, int], types: Types, saturating: int) -> Record:
    return {
        **dict(zip(("MSize", "NSize", "KSize"), size, strict=True)),
        **dict(zip(("AType", "BType", "CType", "ResultType"), map(int, types), strict=True)),
        "saturatingAccumulation": saturating,
        "scope": Scope.SUBGROUP,
    }


def _nv() -> Iterator[Record]:
    for record in _khr():
        if not record["saturatingAccumulation"]:
            names = ("MSize", "NSize", "KSize", "AType", "BType", "CType")
            result = {"DType": record["ResultType"], "scope": record["scope"]}
            yield {name: record[name] for name in names} | result


def _granularities() -> Iterator[tuple[tuple[int, int, int], Types]]:
    for types in (*FLOATS, *INTEGERS):
        yield (8, 8, 16 if types[0].bits == 8 else 8), types


def _flexible() -> Iterator[Record]:
    for size, types in _granularities():
        saturations = (0, 1) if types in INTEGERS else (0,)
        for saturating, invocations in itertools.product(saturations, (0, 64, 128, 256)):
            yield {
                **_granularity(size, types),
                "saturatingAccumulation": saturating,
                "scope": Scope.WORKGROUP if invocations else Scope.SUBGROUP,
                "workgroupInvocations": invocations,
            }


def _granularity(size: tuple[int, int, int], types: Types) -> Record:
    return {
        **dict(zip(("MGranularity", "NGranularity", "KGranularity"), size, strict=True)),
        **dict(zip(("AType", "BType", "CType", "ResultType"), map(int, types), strict=True)),
    }


REQUIRED: tuple[Types, ...] = (
    (_F16, _F16, _F16, _F16),
    (_F16, _F16, _F32, _F32),
    (_U8, _U8, _U32, _U32),
    (_U8, _U8, _S32, _S32),
    (_S8, _S8, _S32, _S32),
)
"""Types that the required parameters of properties2 must have, with the alternatives."""


def properties2(
    saturating: bool = False, subgroup_size: int = SUBGROUP_SIZE, invocations: int = 0
) -> tuple[Record, ...]:
    """The combinations for one set of VkPhysicalDeviceCooperativeMatrixInfo2EXT.

    For subgroups of any size only what every device must have; for other sizes than the default
    no 64-bit types and, where subgroups are large, coarser rows; for large workgroups coarser
    columns.
    """
    found = []
    for (m, n, k), types in _granularities():
        if saturating and types not in INTEGERS:
            continue
        if subgroup_size == 0 and types not in REQUIRED:
            continue
        other = subgroup_size not in (0, SUBGROUP_SIZE)
        if other and any(component.bits == 64 for component in types):
            continue
        rows = 2 * m if subgroup_size > SUBGROUP_SIZE else m
        columns = 2 * n if invocations > 128 else n
        found.append(_granularity((rows, columns, k), types))
    return tuple(found)


RECORDS: Mapping[str, tuple[Record, ...]] = {
    KHR: tuple(_khr()),
    NV: tuple(_nv()),
    FLEXIBLE: tuple(_flexible()),
    PROPERTIES2: properties2(),
    VECTOR: vector_info.RECORDS,
}
"""Every list, by command; for properties2 the one without saturation for subgroups of
the default size."""

EXTENSIONS: Mapping[str, int] = {
    "VK_EXT_cooperative_matrix_maintenance1": 1,
    "VK_EXT_shader_float8": 1,
    "VK_EXT_shader_long_vector": 1,
    "VK_EXT_shader_replicated_composites": 1,
    "VK_KHR_cooperative_matrix": 2,
    "VK_KHR_robustness2": 1,
    "VK_KHR_shader_bfloat16": 1,
    "VK_NV_cooperative_matrix": 1,
    "VK_NV_cooperative_matrix2": 1,
    "VK_NV_cooperative_vector": 4,
    "VK_NV_cooperative_matrix_decode_vector": 1,
    "VK_QCOM_cooperative_matrix_conversion": 1,
    **stage_info.EXTENSIONS,
}

_MATRIX2 = (
    "cooperativeMatrixWorkgroupScope",
    "cooperativeMatrixFlexibleDimensions",
    "cooperativeMatrixReductions",
    "cooperativeMatrixConversions",
    "cooperativeMatrixPerElementOperations",
    "cooperativeMatrixTensorAddressing",
    "cooperativeMatrixBlockLoads",
)
FEATURES: frozenset[str] = frozenset(
    {
        *(need.feature for need in CAPABILITIES.values() if need.feature is not None),
        *(need.feature for need in NEEDS.values() if need.feature is not None),
        *(need.feature for need in PREPARATIONS if need.feature is not None),
        *stage_info.FEATURES,
        *([FLEXIBLE_DIMENSIONS.feature] if FLEXIBLE_DIMENSIONS.feature is not None else []),
        *(f"VkPhysicalDeviceCooperativeMatrix2FeaturesNV.{name}" for name in _MATRIX2),
        "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrix",
        "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrixRobustBufferAccess",
        "VkPhysicalDeviceCooperativeMatrixFeaturesNV.cooperativeMatrix",
        "VkPhysicalDeviceCooperativeMatrixFeaturesNV.cooperativeMatrixRobustBufferAccess",
        "VkPhysicalDeviceCooperativeMatrixMaintenance1FeaturesEXT.cooperativeMatrixProperties2",
        "VkPhysicalDeviceCooperativeMatrixDecodeVectorFeaturesNV.cooperativeMatrixDecodeVector",
        "VkPhysicalDeviceCooperativeMatrixConversionFeaturesQCOM.cooperativeMatrixConversion",
        "VkPhysicalDeviceRobustness2FeaturesKHR.robustBufferAccess2",
        "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVector",
        "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVectorTraining",
    }
)

_COMPUTE_STAGE = 0x20
PROPERTIES: Mapping[str, object] = {
    "VkPhysicalDeviceSubgroupProperties.subgroupSize": SUBGROUP_SIZE,
    "VkPhysicalDeviceRobustness2PropertiesKHR.robustStorageBufferAccessSizeAlignment": 4,
    "VkPhysicalDeviceSubgroupSizeControlProperties.minSubgroupSize": SMALLEST_SUBGROUP,
    "VkPhysicalDeviceSubgroupSizeControlProperties.maxSubgroupSize": LARGEST_SUBGROUP,
    "VkPhysicalDeviceSubgroupSizeControlProperties.maxComputeWorkgroupSubgroups": (
        LARGEST_WORKGROUP // SMALLEST_SUBGROUP
    ),
    "VkPhysicalDeviceSubgroupSizeControlProperties.requiredSubgroupSizeStages": _COMPUTE_STAGE,
    "VkPhysicalDeviceLimits.maxComputeWorkGroupInvocations": LARGEST_WORKGROUP,
    "VkPhysicalDeviceLimits.maxComputeWorkGroupSize": (LARGEST_WORKGROUP, 1024, 64),
    "VkPhysicalDeviceLimits.maxComputeWorkGroupCount": (65535, 65535, 65535),
    "VkPhysicalDeviceLimits.maxComputeSharedMemorySize": 49152,
    "VkPhysicalDeviceLimits.maxPushConstantsSize": 256,
    "VkPhysicalDeviceLimits.maxStorageBufferRange": 1 << 30,
    "VkPhysicalDeviceLimits.maxPerStageDescriptorStorageBuffers": 64,
    "VkPhysicalDeviceCooperativeMatrixPropertiesKHR.cooperativeMatrixSupportedStages": (
        _COMPUTE_STAGE
    ),
    "VkPhysicalDeviceCooperativeMatrixPropertiesNV.cooperativeMatrixSupportedStages": (
        _COMPUTE_STAGE
    ),
    "VkPhysicalDeviceCooperativeMatrix2PropertiesNV"
    ".cooperativeMatrixWorkgroupScopeMaxWorkgroupSize": 256,
    "VkPhysicalDeviceCooperativeMatrix2PropertiesNV"
    ".cooperativeMatrixFlexibleDimensionsMaxDimension": LARGEST_DIMENSION,
    "VkPhysicalDeviceCooperativeMatrix2PropertiesNV"
    ".cooperativeMatrixWorkgroupScopeReservedSharedMemory": 16384,
    "VkPhysicalDeviceFloatControlsProperties.denormBehaviorIndependence": 1,
    "VkPhysicalDeviceFloatControlsProperties.roundingModeIndependence": 1,
    **{Control(mode, width).property: 1 for mode in Mode for width in WIDTHS},
    **vector_info.PROPERTIES,
    **stage_info.PROPERTIES,
}
