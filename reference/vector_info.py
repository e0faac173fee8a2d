"""What the reference device says of itself about cooperative vectors.

Beyond the six required combinations it lists what today's hardware has, and the odd ones that
nothing but a suite would ask for, so that every rule of a record is exercised somewhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from cts.program.model import Component
from cts.program.vector import Stage

EXTENSION = "VK_NV_cooperative_vector"
VERSION = 4
FEATURES = (
    "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVector",
    "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVectorTraining",
)
PROPERTIES: Mapping[str, int] = {
    "VkPhysicalDeviceCooperativeVectorPropertiesNV.cooperativeVectorSupportedStages": sum(
        stage.value for stage in Stage
    ),
    "VkPhysicalDeviceCooperativeVectorPropertiesNV.cooperativeVectorTrainingFloat16Accumulation": 1,
    "VkPhysicalDeviceCooperativeVectorPropertiesNV.cooperativeVectorTrainingFloat32Accumulation": 1,
    "VkPhysicalDeviceCooperativeVectorPropertiesNV.maxCooperativeVectorComponents": 200,
}

_F16, _F32 = Component.FLOAT16, Component.FLOAT32
_E4M3, _E5M2 = Component.FLOAT8_E4M3, Component.FLOAT8_E5M2
_S8, _U8, _S32, _U32 = (
    Component.SINT8,
    Component.UINT8,
    Component.SINT32,
    Component.UINT32,
)
_S8P, _U8P = Component.SINT8_PACKED, Component.UINT8_PACKED

REQUIRED = (
    (_F16, _F16, _F16, _F16, _F16),
    (_U32, _S8P, _S8, _S32, _S32),
    (_S8, _S8, _S8, _S32, _S32),
    (_F32, _S8, _S8, _S32, _S32),
    (_F16, _E4M3, _E4M3, _F16, _F16),
    (_F16, _E5M2, _E5M2, _F16, _F16),
)
"""inputType, inputInterpretation, matrixInterpretation, biasInterpretation and resultType of the
combinations that every implementation lists (V-01)."""

_OTHERS = (
    (_F16, _F16, _F16, _F32, _F32),
    (_F16, _F16, _F16, _F32, _F16),
    (_F32, _F16, _F16, _F16, _F16),
    (_F32, _F32, _F32, _F32, _F32),
    (_F16, _E4M3, _E4M3, _F32, _F32),
    (_F32, _E5M2, _E5M2, _F32, _F32),
    (_U8, _U8, _U8, _U32, _U32),
    (_U8, _U8, _U8, _S32, _S32),
    (_U8, _U8, _S8, _S32, _S32),
    (_S8, _S8, _U8, _S32, _S32),
    (_U32, _U8P, _U8, _U32, _U32),
    (_U32, _U8P, _S8, _S32, _S32),
    (_S32, _S8, _S8, _S32, _S32),
    (_U32, _U8, _U8, _U32, _U32),
    (_F16, _S8, _S8, _S32, _S32),
    (_F32, _U8, _U8, _U32, _U32),
)

MEMBERS = (
    "inputType",
    "inputInterpretation",
    "matrixInterpretation",
    "biasInterpretation",
    "resultType",
)


def _record(row: tuple[Component, ...]) -> Mapping[str, int]:
    transpose = int(row[2].is_float)
    return {**{m: int(c) for m, c in zip(MEMBERS, row, strict=True)}, "transpose": transpose}


RECORDS: tuple[Mapping[str, int], ...] = tuple(_record(row) for row in (*REQUIRED, *_OTHERS))

MATRICES = frozenset(Component(record["matrixInterpretation"]) for record in RECORDS)
"""Component types that conversions may use, beside FLOAT32."""
