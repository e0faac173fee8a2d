"""Opcodes and enumerants of the extensions that build on cooperative matrices.

SPV_NV_cooperative_matrix2, SPV_NV_tensor_addressing, SPV_NV_cooperative_matrix_decode_vector,
SPV_EXT_cooperative_matrix_maintenance1 and SPV_QCOM_cooperative_matrix_conversion, with the core
instructions that only their functions need. The numbers are facts of the public SPIR-V grammar
(``spirv.core.grammar.json``); names are the grammar's. Where an EXT instruction is the same as an
NV one it has the EXT name.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from cts.program.types import Dialect

NV_MATRIX2: Final = "SPV_NV_cooperative_matrix2"
NV_TENSOR: Final = "SPV_NV_tensor_addressing"
NV_DECODE_VECTOR: Final = "SPV_NV_cooperative_matrix_decode_vector"
EXT_MAINTENANCE1: Final = "SPV_EXT_cooperative_matrix_maintenance1"
QCOM_CONVERSION: Final = "SPV_QCOM_cooperative_matrix_conversion"

SINCE_1_6: Final = frozenset({NV_MATRIX2, NV_TENSOR, NV_DECODE_VECTOR})
"""Extensions that require SPIR-V 1.6 (their section "Dependencies")."""


class Op(enum.IntEnum):
    """Instructions."""

    FunctionParameter = 55
    ConvertFToU = 109
    ConvertFToS = 110
    ConvertSToF = 111
    ConvertUToF = 112
    SConvert = 114
    FConvert = 115
    FAdd = 129
    ISub = 130
    FSub = 131
    FMul = 133
    Select = 169
    IEqual = 170
    UGreaterThan = 172
    SLessThan = 177
    FOrdLessThan = 184
    BitwiseOr = 197
    BitwiseXor = 198
    BitwiseAnd = 199
    ReturnValue = 254
    CooperativeMatrixConvertUseEXT = 5293
    CooperativeMatrixGetCoordinateEXT = 5363
    CooperativeMatrixReduceEXT = 5366
    CooperativeMatrixPerElementOpEXT = 5369
    CooperativeMatrixTransposeNV = 5390


class Capability(enum.IntEnum):
    """Capabilities. Reductions and per-element operations have one number in both dialects."""

    CooperativeMatrixConversionsEXT = 5429
    CooperativeMatrixReductionsEXT = 5430
    CooperativeMatrixConversionsNV = 5431
    CooperativeMatrixPerElementOperationsEXT = 5432
    CooperativeMatrixGetCoordinateEXT = 5438


class Decoration(enum.IntEnum):
    """Decorations."""

    CooperativeMatrixTransposeEXT = 5440


@dataclass(frozen=True)
class Grant:
    """What allows an instruction in one dialect: capability, SPIR-V extension, and the key of
    ``cts.program.requires.NEEDS`` that has the device's feature."""

    capability: Capability
    extension: str
    need: str


REDUCTIONS: Final = {
    Dialect.NV: Grant(Capability.CooperativeMatrixReductionsEXT, NV_MATRIX2, "ReductionsNV"),
    Dialect.EXT: Grant(
        Capability.CooperativeMatrixReductionsEXT, EXT_MAINTENANCE1, "ReductionsEXT"
    ),
}
CONVERSIONS: Final = {
    Dialect.NV: Grant(Capability.CooperativeMatrixConversionsNV, NV_MATRIX2, "ConversionsNV"),
    Dialect.EXT: Grant(
        Capability.CooperativeMatrixConversionsEXT, EXT_MAINTENANCE1, "ConversionsEXT"
    ),
}
PER_ELEMENT: Final = {
    Dialect.NV: Grant(
        Capability.CooperativeMatrixPerElementOperationsEXT, NV_MATRIX2, "PerElementNV"
    ),
    Dialect.EXT: Grant(
        Capability.CooperativeMatrixPerElementOperationsEXT, EXT_MAINTENANCE1, "PerElementEXT"
    ),
}
COORDINATE: Final = Grant(
    Capability.CooperativeMatrixGetCoordinateEXT, EXT_MAINTENANCE1, "GetCoordinate"
)
