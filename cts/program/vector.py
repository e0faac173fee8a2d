"""Cooperative vectors (VK_NV_cooperative_vector) as frozen data.

A :class:`VectorProgram` is to cooperative vectors what :class:`cts.program.model.Program` is to
cooperative matrices: the one description that is lowered to SPIR-V and evaluated by the
reference. The difference is who executes it. Every *invocation* runs the body by itself, with
vectors of its own; nothing is shared but memory. An invocation is known by its number,
``workgroup * local_size + local index``.

Every address counts bytes, as the SPIR-V instructions do (SPV_NV_cooperative_vector).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from cts.program.model import Buffer, Component, Numbers


class MatrixLayout(enum.IntEnum):
    """VkCooperativeVectorMatrixLayoutNV and SPIR-V Cooperative Vector Matrix Layout; the two
    share their values."""

    ROW_MAJOR = 0
    COLUMN_MAJOR = 1
    INFERENCING_OPTIMAL = 2
    TRAINING_OPTIMAL = 3

    @property
    def optimal(self) -> bool:
        """Whether the order of the elements is the implementation's own."""
        return self >= MatrixLayout.INFERENCING_OPTIMAL

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


class Stage(enum.Enum):
    """The shader stage that runs the body; the value is its VkShaderStageFlagBits."""

    COMPUTE = 0x20

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class VectorType:
    """OpTypeCooperativeVectorNV."""

    component: Component
    length: int

    def __str__(self) -> str:
        return f"{self.component.label}[{self.length}]"


ValueType = VectorType | Component
"""The type of a value: a cooperative vector or one scalar."""


# --- numbers that differ between invocations ------------------------------------------------


class Spread(enum.Enum):
    """How a number depends on the invocation ``i`` of ``n``."""

    UNIFORM = "uniform"
    """It doesn't: k = 0."""
    INVOCATION = "invocation"
    """k = i."""
    CLUSTERED = "clustered"
    """k = i // cluster."""
    REVERSED = "reversed"
    """k = n - 1 - i."""
    TABLE = "table"
    """k = table[i], read from memory."""

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.value


@dataclass(frozen=True)
class Index:
    """An unsigned 32-bit number, ``base + step * k`` with ``k`` as :class:`Spread` says."""

    base: int = 0
    step: int = 0
    spread: Spread = Spread.UNIFORM
    cluster: int = 1
    table: tuple[int, ...] = ()


@dataclass(frozen=True)
class Condition:
    """True in the invocations whose ``index`` is below ``below``."""

    index: Index
    below: int


@dataclass(frozen=True)
class Place:
    """``at`` bytes into a buffer."""

    buffer: str
    at: Index = Index()


# --- memory and products --------------------------------------------------------------------


@dataclass(frozen=True)
class VectorLoad:
    """OpCooperativeVectorLoadNV."""

    result: str
    type: VectorType
    place: Place


@dataclass(frozen=True)
class VectorStore:
    """OpCooperativeVectorStoreNV."""

    value: str
    place: Place


@dataclass(frozen=True)
class Weights:
    """The Matrix operands of a product. ``stride`` counts bytes and means nothing in an
    optimal layout. With ``transpose`` the matrix in memory is K x M."""

    place: Place
    interpretation: Component
    layout: MatrixLayout
    stride: int = 0
    transpose: bool = False


@dataclass(frozen=True)
class Bias:
    """The Bias operands of a product."""

    place: Place
    interpretation: Component


@dataclass(frozen=True)
class MatrixMul:
    """OpCooperativeVectorMatrixMulNV, or with a bias OpCooperativeVectorMatrixMulAddNV.

    M is the length of ``type``. ``input_signed`` is the MatrixBSignedComponentsKHR operand,
    ``result_signed`` MatrixResultSignedComponentsKHR.
    """

    result: str
    type: VectorType
    input: str
    interpretation: Component
    k: int
    weights: Weights
    bias: Bias | None = None
    input_signed: bool = False
    result_signed: bool = False


@dataclass(frozen=True)
class OuterProduct:
    """OpCooperativeVectorOuterProductAccumulateNV into a training-optimal matrix of
    ``len(a)`` rows and ``len(b)`` columns of ``interpretation``."""

    a: str
    b: str
    place: Place
    interpretation: Component


@dataclass(frozen=True)
class ReduceSum:
    """OpCooperativeVectorReduceSumAccumulateNV."""

    value: str
    place: Place


# --- values ---------------------------------------------------------------------------------


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
    for all of them."""

    result: str
    type: VectorType
    bits: tuple[int, ...]
    form: Make = Make.CONSTANT


@dataclass(frozen=True)
class ScalarConstant:
    """A scalar constant given by its ``bits``."""

    result: str
    type: Component
    bits: int


class Op(enum.Enum):
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


_UNARY = {Op.FNEGATE, Op.SNEGATE, Op.NOT, Op.EXP, Op.LOG, Op.TANH, Op.ATAN}
_TERNARY = {Op.FCLAMP, Op.UCLAMP, Op.SCLAMP, Op.NCLAMP, Op.FMA}
_FLOATING = {
    op
    for op in Op
    if op.value.startswith(("OpF", "F", "N")) or op in {Op.STEP, Op.EXP, Op.LOG, Op.TANH, Op.ATAN}
}


@dataclass(frozen=True)
class Elementwise:
    """``result = op(operands...)``, component by component; all have one type."""

    result: str
    op: Op
    operands: tuple[str, ...]


@dataclass(frozen=True)
class TimesScalar:
    """OpVectorTimesScalar."""

    result: str
    vector: str
    scalar: str


@dataclass(frozen=True)
class Convert:
    """A conversion between component types, or with ``bitcast`` OpBitcast."""

    result: str
    type: VectorType
    value: str
    bitcast: bool = False


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


class Path(enum.Enum):
    """Ways for a value to travel unchanged."""

    COPY = "OpCopyObject"
    VARIABLE = "Function variable"
    PRIVATE = "Private variable"
    PARAMETER = "function parameter"
    POINTER = "pointer parameter"
    STRUCT = "struct member"
    ARRAY = "array element"
    SELECT = "OpSelect"

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class Move:
    """The same vector after it went along ``path``."""

    result: str
    value: str
    path: Path


@dataclass(frozen=True)
class Pick:
    """``values[index]`` from a Function array of vectors of one type."""

    result: str
    values: tuple[str, ...]
    index: Index


# --- control flow ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Merge:
    """A value after a selection: ``then`` from the first branch, ``otherwise`` from the second.
    Either name may be of a value from before the selection."""

    result: str
    then: str
    otherwise: str


@dataclass(frozen=True)
class If:
    """A selection. ``phi`` merges with OpPhi, otherwise through a Function variable."""

    condition: Condition
    then: tuple[VectorStatement, ...]
    otherwise: tuple[VectorStatement, ...] = ()
    merges: tuple[Merge, ...] = ()
    phi: bool = True


@dataclass(frozen=True)
class Carry:
    """A value that a loop carries: ``name`` is ``initial`` in the first round and ``next`` of
    the round before in the others; after the loop it is what the next round would have seen."""

    name: str
    initial: str
    next: str


@dataclass(frozen=True)
class Loop:
    """The body, ``times`` times; each invocation may have its own number of rounds."""

    times: Index
    body: tuple[VectorStatement, ...]
    carries: tuple[Carry, ...] = ()


@dataclass(frozen=True)
class Exit:
    """OpReturn where the condition holds: these invocations are inactive from here on."""

    condition: Condition


VectorStatement = (
    VectorLoad
    | VectorStore
    | MatrixMul
    | OuterProduct
    | ReduceSum
    | Constant
    | ScalarConstant
    | Elementwise
    | TimesScalar
    | Convert
    | Extract
    | Insert
    | Construct
    | Move
    | Pick
    | If
    | Loop
    | Exit
)


# --- the program ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Launch:
    """Workgroups of ``local_size`` invocations, which may leave subgroups partly filled."""

    workgroups: int
    local_size: int

    @property
    def invocations(self) -> int:
        """Invocations in the whole dispatch."""
        return self.workgroups * self.local_size


@dataclass(frozen=True)
class VectorProgram:
    """A shader over cooperative vectors, and the dispatch that runs it.

    ``numbers`` says how indices, strides, thresholds and round counts reach the shader.
    ``specialized`` names the operands that are specialization constants instead of literals:
    ``m``, ``k``, ``length``, ``layout``, ``transpose``, ``interpretation``, ``local_size``.
    """

    launch: Launch
    buffers: tuple[Buffer, ...]
    body: tuple[VectorStatement, ...]
    numbers: Numbers = Numbers.BUFFER
    specialized: frozenset[str] = field(default_factory=frozenset)
    stage: Stage = Stage.COMPUTE

    def buffer(self, name: str) -> Buffer:
        """The buffer called ``name``; KeyError if there is none."""
        for buffer in self.buffers:
            if buffer.name == name:
                return buffer
        raise KeyError(name)

    def statements(self) -> Iterator[VectorStatement]:
        """Every statement, those inside control flow after the statement that holds them."""
        return _walk(self.body)

    def types(self) -> dict[str, ValueType]:
        """The type of every value, by name. KeyError where a name is used before it is made."""
        found: dict[str, ValueType] = {}
        _collect(self.body, found)
        return found


def _walk(body: tuple[VectorStatement, ...]) -> Iterator[VectorStatement]:
    for statement in body:
        yield statement
        match statement:
            case If(then=then, otherwise=otherwise):
                yield from _walk(then)
                yield from _walk(otherwise)
            case Loop(body=inner):
                yield from _walk(inner)
            case _:
                pass


def _collect(body: tuple[VectorStatement, ...], found: dict[str, ValueType]) -> None:
    for statement in body:
        match statement:
            case VectorLoad() | MatrixMul() | Constant() | ScalarConstant() | Convert():
                found[statement.result] = statement.type
            case Construct():
                found[statement.result] = statement.type
            case Elementwise():
                found[statement.result] = found[statement.operands[0]]
            case TimesScalar() | Insert():
                found[statement.result] = found[statement.vector]
            case Extract():
                vector = found[statement.vector]
                if not isinstance(vector, VectorType):
                    raise KeyError(f"{statement.vector} is no vector")
                found[statement.result] = vector.component
            case Move():
                found[statement.result] = found[statement.value]
            case Pick():
                found[statement.result] = found[statement.values[0]]
            case If():
                _collect(statement.then, found)
                _collect(statement.otherwise, found)
                for merge in statement.merges:
                    found[merge.result] = found[merge.then]
            case Loop():
                for carry in statement.carries:
                    found[carry.name] = found[carry.initial]
                _collect(statement.body, found)
            case VectorStore() | OuterProduct() | ReduceSum() | Exit():
                pass
