"""Tensor layouts and views (SPV_NV_tensor_addressing), and the loads and stores that use them.

A layout or a view is the sequence of instructions that makes it, since each of them builds on what
the ones before set: block sizes before dimensions decide the strides, slices add up.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cts.program.types import MatrixType

MOST_DIMENSIONS = 5


class Clamp(enum.IntEnum):
    """Tensor Clamp Mode."""

    UNDEFINED = 0
    CONSTANT = 1
    TO_EDGE = 2
    REPEAT = 3
    MIRROR = 4

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class BlockSize:
    """OpTensorLayoutSetBlockSizeNV."""

    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Dimensions:
    """OpTensorLayoutSetDimensionNV, or OpTensorViewSetDimensionNV in a view."""

    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Strides:
    """OpTensorLayoutSetStrideNV, or OpTensorViewSetStrideNV in a view."""

    strides: tuple[int, ...]


@dataclass(frozen=True)
class Slice:
    """OpTensorLayoutSliceNV."""

    offsets: tuple[int, ...]
    spans: tuple[int, ...]


@dataclass(frozen=True)
class ClampValue:
    """OpTensorLayoutSetClampValueNV: the low bits are the element."""

    value: int


@dataclass(frozen=True)
class Clip:
    """OpTensorViewSetClipNV."""

    row_offset: int
    row_span: int
    column_offset: int
    column_span: int


LayoutStep = BlockSize | Dimensions | Strides | Slice | ClampValue
ViewStep = Dimensions | Strides | Clip


@dataclass(frozen=True)
class TensorLayout:
    """OpTypeTensorLayoutNV and OpCreateTensorLayoutNV, then ``steps``."""

    rank: int
    clamp: Clamp
    steps: tuple[LayoutStep, ...]


@dataclass(frozen=True)
class TensorView:
    """OpTypeTensorViewNV and OpCreateTensorViewNV, then ``steps``."""

    permutation: tuple[int, ...]
    has_dimensions: bool
    steps: tuple[ViewStep, ...] = ()


@dataclass(frozen=True)
class Tensor:
    """Where the tensor of each tile lies: tile t's starts ``offset + t * pitch`` pointee elements
    into the buffer, at a multiple of 16 bytes."""

    buffer: str
    offset: int = 0
    pitch: int = 0


class Code(enum.Enum):
    """How a block holds elements, for decode functions. Blocks are arrays of uint32 words; the
    element at coordinates ``c`` in a block of sizes ``s`` has the row-major number ``n``, and is
    the field of ``w`` bits that starts at bit ``n * w``."""

    NIBBLES = 4
    """Unsigned fields of 4 bits."""
    BYTES = 8
    """Unsigned fields of 8 bits."""

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class Decode:
    """The DecodeFunc of a block load: a field of the block, plus ``factor`` times the block's
    coordinate in the outermost dimension, converted to the component type.

    ``block`` are the layout's block sizes. With ``lanes``, there is a DecodeVectorFunc for so many
    neighbours, which gives the same.
    """

    code: Code
    block: tuple[int, ...]
    factor: int = 0
    lanes: int = 0

    @property
    def words(self) -> int:
        """uint32 words of one block: the size of what the function's pointer points to."""
        elements = 1
        for size in self.block:
            elements *= size
        return -(-elements * self.code.value // 32)


@dataclass(frozen=True)
class TensorLoad:
    """OpCooperativeMatrixLoadTensorNV. Elements outside of the view's clip are those of
    ``original``."""

    result: str
    type: MatrixType
    original: str
    tensor: Tensor
    layout: TensorLayout
    view: TensorView | None = None
    decode: Decode | None = None

    def defines(self, types: Mapping[str, MatrixType]) -> Iterator[tuple[str, MatrixType]]:
        """The result and its type."""
        yield self.result, self.type


@dataclass(frozen=True)
class TensorStore:
    """OpCooperativeMatrixStoreTensorNV."""

    value: str
    tensor: Tensor
    layout: TensorLayout
    view: TensorView | None = None

    def defines(self, types: Mapping[str, MatrixType]) -> Iterator[tuple[str, MatrixType]]:
        """Nothing."""
        yield from ()


TensorStatement = TensorLoad | TensorStore
