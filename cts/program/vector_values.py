"""Statements on cooperative vectors that touch no memory: constants, element-wise instructions,
conversions, single components (SPV_NV_cooperative_vector, "Instructions")."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from cts.program.arithmetic import Conversion
from cts.program.types import Component
from cts.program.vector import Index, VectorType


class Make(enum.Enum):
    """The ways to build a vector from constants."""

    CONSTANT = "OpConstantComposite"
    SPEC_CONSTANT = "OpSpecConstantComposite"
    NULL = "OpConstantNull"
    CONSTRUCT = "OpCompositeConstruct"
    INITIALIZER = "OpVariable initializer"
    CONSTANT_REPLICATE = "OpConstantCompositeReplicateEXT"
    SPEC_REPLICATE = "OpSpecConstantCompositeReplicateEXT"
    REPLICATE = "OpCompositeConstructReplicateEXT"

    @property
    def splat(self) -> bool:
        """Whether one scalar makes the whole vector."""
        return self in (
            Make.NULL,
            Make.CONSTANT_REPLICATE,
            Make.SPEC_REPLICATE,
            Make.REPLICATE,
        )

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class Constant:
    """A vector of constants given by their ``bits``: one for each component, or a single one
    for all of them. NULL takes none."""

    result: str
    type: VectorType
    bits: tuple[int, ...]
    form: Make = Make.CONSTANT


@dataclass(frozen=True)
class ScalarConstant:
    """A scalar given by its ``bits``, which reaches the shader as the program's numbers do."""

    result: str
    type: Component
    bits: int


class VectorOp(enum.Enum):
    """Element-wise instructions; the value is the SPIR-V name (GLSL.std.450 without ``Op``)."""

    FNEGATE = "OpFNegate"
    SNEGATE = "OpSNegate"
    FADD = "OpFAdd"
    FSUB = "OpFSub"
    FMUL = "OpFMul"
    FDIV = "OpFDiv"
    IADD = "OpIAdd"
    ISUB = "OpISub"
    IMUL = "OpIMul"
    SDIV = "OpSDiv"
    UDIV = "OpUDiv"
    SHIFT_RIGHT_LOGICAL = "OpShiftRightLogical"
    SHIFT_RIGHT_ARITHMETIC = "OpShiftRightArithmetic"
    SHIFT_LEFT_LOGICAL = "OpShiftLeftLogical"
    BITWISE_OR = "OpBitwiseOr"
    BITWISE_XOR = "OpBitwiseXor"
    BITWISE_AND = "OpBitwiseAnd"
    NOT = "OpNot"
    FMIN = "FMin"
    UMIN = "UMin"
    SMIN = "SMin"
    NMIN = "NMin"
    FMAX = "FMax"
    UMAX = "UMax"
    SMAX = "SMax"
    NMAX = "NMax"
    FCLAMP = "FClamp"
    UCLAMP = "UClamp"
    SCLAMP = "SClamp"
    NCLAMP = "NClamp"
    STEP = "Step"
    EXP = "Exp"
    LOG = "Log"
    TANH = "Tanh"
    ATAN = "Atan"
    FMA = "Fma"

    @property
    def extended(self) -> bool:
        """Whether it is an instruction of GLSL.std.450."""
        return not self.value.startswith("Op")

    @property
    def operands(self) -> int:
        """How many operands it takes."""
        if self in _UNARY:
            return 1
        return 3 if self in _TERNARY else 2

    @property
    def floating(self) -> bool:
        """Whether its operands are floating-point numbers."""
        return self in _FLOATING

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


_O = VectorOp
_UNARY = frozenset({_O.FNEGATE, _O.SNEGATE, _O.NOT, _O.EXP, _O.LOG, _O.TANH, _O.ATAN})
_TERNARY = frozenset({_O.FCLAMP, _O.UCLAMP, _O.SCLAMP, _O.NCLAMP, _O.FMA})
_FLOATING = frozenset(
    op
    for op in VectorOp
    if op.value.startswith(("OpF", "F", "N")) or op in (_O.STEP, _O.EXP, _O.LOG, _O.TANH, _O.ATAN)
)


@dataclass(frozen=True)
class Elementwise:
    """``result = op(operands...)``, component by component; all have one type."""

    result: str
    op: VectorOp
    operands: tuple[str, ...]


@dataclass(frozen=True)
class TimesScalar:
    """OpVectorTimesScalar."""

    result: str
    vector: str
    scalar: str


@dataclass(frozen=True)
class VectorConvert:
    """``value`` with components of another type."""

    result: str
    type: VectorType
    value: str
    by: Conversion


@dataclass(frozen=True)
class Extract:
    """One component: OpVectorExtractDynamic, or OpCompositeExtract at ``index.base``."""

    result: str
    vector: str
    index: Index
    dynamic: bool = True


@dataclass(frozen=True)
class Insert:
    """A vector with one component replaced: OpVectorInsertDynamic, or OpCompositeInsert at
    ``index.base``."""

    result: str
    vector: str
    scalar: str
    index: Index
    dynamic: bool = True


@dataclass(frozen=True)
class Construct:
    """OpCompositeConstruct from scalar values."""

    result: str
    type: VectorType
    scalars: tuple[str, ...]


@dataclass(frozen=True)
class Pick:
    """``values[index]`` from a Function array of vectors of one type; each invocation may pick
    another one."""

    result: str
    values: tuple[str, ...]
    index: Index
