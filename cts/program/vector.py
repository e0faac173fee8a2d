"""Cooperative vectors (VK_NV_cooperative_vector) as frozen data: types, numbers that differ
between invocations, memory and products.

What a :class:`cts.program.vector_program.VectorProgram` does is one invocation's business: every
*invocation* runs the body by itself, with vectors of its own, and nothing is shared but memory.
An invocation is known by its number, ``workgroup * local_size + local index``.

Every address counts bytes, as the SPIR-V instructions do (SPV_NV_cooperative_vector).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from cts.program.types import Component


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

    VERTEX = 0x1
    TESSELLATION_CONTROL = 0x2
    TESSELLATION_EVALUATION = 0x4
    GEOMETRY = 0x8
    FRAGMENT = 0x10
    COMPUTE = 0x20
    TASK = 0x40
    MESH = 0x80
    RAY_GENERATION = 0x100
    ANY_HIT = 0x200
    CLOSEST_HIT = 0x400
    MISS = 0x800
    INTERSECTION = 0x1000
    CALLABLE = 0x2000

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
    """``at`` bytes into a buffer. In a WORKGROUP buffer the number of the invocation counts
    within its workgroup."""

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
class WriteNumber:
    """Each invocation writes its number to an element of a buffer of uint32, without a
    cooperative vector. ``place.at`` counts elements."""

    place: Place


@dataclass(frozen=True)
class Weights:
    """The Matrix operands of a product. ``stride`` counts bytes and means nothing in an
    optimal layout; it is a literal, or with ``run_time_stride`` reaches the shader as the
    program's numbers do. With ``transpose`` the matrix in memory is K x M."""

    place: Place
    interpretation: Component
    layout: MatrixLayout
    stride: int = 0
    transpose: bool = False
    run_time_stride: bool = False


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


@dataclass(frozen=True)
class Prepared:
    """A matrix in an optimal layout that vkCmdConvertCooperativeVectorMatrixNV makes in the
    command buffer before the shader, from a row-major one of the same type ``offset`` bytes into
    a buffer; ``opaque`` is its position in the program's list of such matrices."""

    buffer: str
    offset: int
    stride: int
    opaque: int


@dataclass(frozen=True)
class Opaque:
    """A matrix in an optimal layout that lies ``offset`` bytes into a buffer before the
    dispatch: ``size`` bytes that a conversion made, and, since nobody else can read them, the
    elements that it was made from, row by row. The shader knows nothing of this."""

    buffer: str
    offset: int
    size: int
    component: Component
    layout: MatrixLayout
    rows: int
    columns: int
    elements: bytes
