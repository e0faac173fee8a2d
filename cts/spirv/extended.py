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

    ConstantTrue = 41
    ConstantFalse = 42
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
    SelectionMerge = 247
    ReturnValue = 254
    BitCastArrayQCOM = 4497
    CompositeConstructCoopMatQCOM = 4540
    CompositeExtractCoopMatQCOM = 4541
    ExtractSubArrayQCOM = 4542
    CooperativeMatrixConvertUseEXT = 5293
    CooperativeMatrixGetCoordinateEXT = 5363
    CooperativeMatrixReduceEXT = 5366
    CooperativeMatrixLoadTensorNV = 5367
    CooperativeMatrixStoreTensorNV = 5368
    CooperativeMatrixPerElementOpEXT = 5369
    TypeTensorLayoutNV = 5370
    TypeTensorViewNV = 5371
    CreateTensorLayoutNV = 5372
    TensorLayoutSetDimensionNV = 5373
    TensorLayoutSetStrideNV = 5374
    TensorLayoutSliceNV = 5375
    TensorLayoutSetClampValueNV = 5376
    CreateTensorViewNV = 5377
    TensorViewSetDimensionNV = 5378
    TensorViewSetStrideNV = 5379
    TensorViewSetClipNV = 5382
    TensorLayoutSetBlockSizeNV = 5384
    CooperativeMatrixTransposeNV = 5390


class Capability(enum.IntEnum):
    """Capabilities. Reductions and per-element operations have one number in both dialects."""

    CooperativeMatrixConversionQCOM = 4496
    CooperativeMatrixConversionsEXT = 5429
    CooperativeMatrixReductionsEXT = 5430
    CooperativeMatrixConversionsNV = 5431
    CooperativeMatrixPerElementOperationsEXT = 5432
    CooperativeMatrixTensorAddressingNV = 5433
    CooperativeMatrixBlockLoadsNV = 5434
    CooperativeMatrixGetCoordinateEXT = 5438
    TensorAddressingNV = 5439
    CooperativeMatrixDecodeVectorNV = 5447
    LongVectorEXT = 5425


class TensorOperands(enum.IntFlag):
    """Tensor Addressing Operands."""

    TensorView = 0x1
    DecodeFunc = 0x2
    DecodeVectorFunc = 0x4


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
TENSORS: Final = (
    Grant(Capability.TensorAddressingNV, NV_TENSOR, "TensorAddressing"),
    Grant(Capability.CooperativeMatrixTensorAddressingNV, NV_MATRIX2, "TensorAddressing"),
)
BLOCK_LOADS: Final = Grant(Capability.CooperativeMatrixBlockLoadsNV, NV_MATRIX2, "BlockLoads")
DECODE_VECTOR: Final = Grant(
    Capability.CooperativeMatrixDecodeVectorNV, NV_DECODE_VECTOR, "DecodeVector"
)
LONG_VECTOR: Final = Grant(Capability.LongVectorEXT, "SPV_EXT_long_vector", "LongVector")
"""Vectors of more than four components."""
QCOM: Final = Grant(Capability.CooperativeMatrixConversionQCOM, QCOM_CONVERSION, "ConversionQCOM")
