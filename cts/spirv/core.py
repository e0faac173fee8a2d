"""Opcodes and enumerants of arithmetic on elements, of functions and of control flow.

Numbers are facts of the public SPIR-V grammar (``spirv.core.grammar.json``); names are the
grammar's. What loads, stores and multiplications need is in :mod:`cts.spirv.opcodes`.
"""

from __future__ import annotations

import enum
from typing import Final

from cts.program.controls import Mode


class Op(enum.IntEnum):
    """Instructions."""

    FunctionCall = 57
    CompositeInsert = 82
    CopyObject = 83
    ConvertFToU = 109
    ConvertFToS = 110
    ConvertSToF = 111
    ConvertUToF = 112
    UConvert = 113
    SConvert = 114
    FConvert = 115
    Bitcast = 124
    SNegate = 126
    FNegate = 127
    IAdd = 128
    FAdd = 129
    ISub = 130
    FSub = 131
    IMul = 132
    FMul = 133
    UDiv = 134
    SDiv = 135
    FDiv = 136
    UMod = 137
    MatrixTimesScalar = 143
    INotEqual = 171
    BitwiseAnd = 199
    SelectionMerge = 247
    Switch = 251
    TypeCooperativeMatrixNV = 5358
    CooperativeMatrixLengthNV = 5362


class Capability(enum.IntEnum):
    """Capabilities."""

    DenormPreserve = 4464
    DenormFlushToZero = 4465
    SignedZeroInfNanPreserve = 4466
    RoundingModeRTE = 4467
    RoundingModeRTZ = 4468
    CooperativeMatrixNV = 5357


class Decoration(enum.IntEnum):
    """Decorations."""

    NoContraction = 42
    SaturatedToLargestFloat8NormalConversionEXT = 4216


class Memory(enum.IntFlag):
    """Memory operands of loads and stores."""

    MakePointerAvailable = 0x8
    MakePointerVisible = 0x10


FIRST: Final = "SPV_NV_cooperative_matrix"
"""The first extension on cooperative matrices."""

EXECUTION_MODES: Final = {
    Mode.DENORM_PRESERVE: 4459,
    Mode.DENORM_FLUSH: 4460,
    Mode.SPECIALS: 4461,
    Mode.TO_EVEN: 4462,
    Mode.TO_ZERO: 4463,
}
"""Execution modes of the float controls; each has the capability of its name."""
