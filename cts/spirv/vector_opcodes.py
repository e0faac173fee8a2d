"""Opcodes and enumerants of SPV_NV_cooperative_vector and of the instructions that it allows on
cooperative vectors.

The numbers are facts of the public SPIR-V grammar (``spirv.core.grammar.json`` and
``extinst.glsl.std.450.grammar.json``); names are the grammar's.
"""

from __future__ import annotations

import enum
from typing import Final

EXTENSION: Final = "SPV_NV_cooperative_vector"
EXTENDED_SET: Final = "GLSL.std.450"


class Op(enum.IntEnum):
    """Instructions."""

    ExtInstImport = 11
    ExtInst = 12
    ConstantTrue = 41
    ConstantFalse = 42
    SpecConstantTrue = 48
    SpecConstantFalse = 49
    VectorExtractDynamic = 77
    VectorInsertDynamic = 78
    VectorTimesScalar = 142
    ShiftRightLogical = 194
    ShiftRightArithmetic = 195
    ShiftLeftLogical = 196
    BitwiseOr = 197
    BitwiseXor = 198
    BitwiseAnd = 199
    Not = 200
    ConstantCompositeReplicateEXT = 4461
    SpecConstantCompositeReplicateEXT = 4462
    TypeCooperativeVectorNV = 5288
    CooperativeVectorMatrixMulNV = 5289
    CooperativeVectorOuterProductAccumulateNV = 5290
    CooperativeVectorReduceSumAccumulateNV = 5291
    CooperativeVectorMatrixMulAddNV = 5292
    CooperativeVectorLoadNV = 5302
    CooperativeVectorStoreNV = 5303


class Extended(enum.IntEnum):
    """Instructions of GLSL.std.450."""

    Atan = 18
    Tanh = 21
    Exp = 27
    Log = 28
    FMin = 37
    UMin = 38
    SMin = 39
    FMax = 40
    UMax = 41
    SMax = 42
    FClamp = 43
    UClamp = 44
    SClamp = 45
    Step = 48
    Fma = 50
    NMin = 79
    NMax = 80
    NClamp = 81


class Capability(enum.IntEnum):
    """Capabilities."""

    CooperativeVectorNV = 5394
    CooperativeVectorTrainingNV = 5435


class Operands(enum.IntFlag):
    """Cooperative matrix operands that a matrix-vector product takes."""

    MatrixBSignedComponentsKHR = 0x2
    MatrixResultSignedComponentsKHR = 0x8
