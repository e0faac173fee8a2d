"""Tensor addressing: which element of memory each element of a matrix is.

An implementation of its own of the calculations in SPV_NV_cooperative_matrix2, section "Tensor
Layout and View", over all elements of a matrix at once. Where the text can't mean what it says (its
mirroring compares with the number of a dimension instead of its size), the tables of
SPV_NV_tensor_addressing decide; docs/tensor-addressing.md lists these places.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Grid
from cts.program.tensor import (
    BlockSize,
    Clamp,
    ClampValue,
    Clip,
    Dimensions,
    Slice,
    Strides,
    Tensor,
    TensorLayout,
    TensorView,
)
from cts.program.types import Buffer, MatrixType, Scope, Storage
from reference.component import Bits, bits_dtype
from reference.layout import Image, OutOfBounds, Region

Whole = NDArray[np.int64]

INSIDE, OUTSIDE, CLIPPED = 0, 1, 2
"""What becomes of an element: it is in memory; a load takes the clamp value for it and a store
discards it; the view leaves it out."""
WORD = 1 << 32


@dataclass
class Layout:
    """The state of a tensor layout after its instructions, one entry for each dimension."""

    rank: int
    block: list[int] = field(default_factory=list)
    dimension: list[int] = field(default_factory=list)
    stride: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    span: list[int] = field(default_factory=list)
    clamp_value: int = 0


def layout_state(layout: TensorLayout) -> Layout:
    """What the instructions of a layout set."""
    rank = layout.rank
    state = Layout(rank, [1] * rank, [0] * rank, [0] * rank, [0] * rank, [0] * rank)
    for step in layout.steps:
        match step:
            case BlockSize(sizes=sizes):
                state.block = list(sizes)
            case Dimensions(sizes=sizes):
                state.dimension, state.span = list(sizes), list(sizes)
                state.offset = [0] * rank
                state.stride = [1] * rank
                for at in reversed(range(rank - 1)):
                    blocks = -(-sizes[at + 1] // state.block[at + 1])
                    state.stride[at] = state.stride[at + 1] * blocks
            case Strides(strides=strides):
                state.stride = list(strides)
            case Slice(offsets=offsets, spans=spans):
                state.offset = [a + b for a, b in zip(state.offset, offsets, strict=True)]
                state.span = list(spans)
            case ClampValue(value=value):
                state.clamp_value = value
    return state


@dataclass(frozen=True)
class Places:
    """Every element of a matrix, [rows, columns]."""

    kind: NDArray[np.uint8]
    index: Whole
    """Elements (blocks, where blocks are not 1) from the start of the tensor; 0 where the kind
    isn't INSIDE."""
    block: Whole
    """[rows, columns, rank]: coordinates of the block."""
    within: Whole
    """[rows, columns, rank]: coordinates in the block."""
    clamp_value: int


def places(
    layout: TensorLayout, view: TensorView | None, rows: int, columns: int, *, storing: bool
) -> Places:
    """Where the elements of a ``rows`` x ``columns`` matrix are."""
    state = layout_state(layout)
    row, column = np.indices((rows, columns), np.int64)
    clipped = np.zeros((rows, columns), bool)
    width = columns
    if view is not None:
        clip = _clip(view)
        clipped = (row < clip.row_offset) | (row >= (clip.row_offset + clip.row_span) % WORD)
        clipped |= column < clip.column_offset
        clipped |= column >= (clip.column_offset + clip.column_span) % WORD
        row, column = row - clip.row_offset, column - clip.column_offset
        width = min(columns, clip.column_span)
    linear = (row * width + column) % WORD
    if view is not None:
        linear = _viewed(view, state, linear)
    spans = _unravel(linear, state.span, range(state.rank))
    outside = np.zeros((rows, columns), bool)
    blocks, within = [], []
    for at in range(state.rank):
        place, beyond = _clamped(
            spans[at] + state.offset[at], state.dimension[at], layout.clamp, storing
        )
        outside |= beyond
        within.append(place % state.block[at])
        blocks.append(place // state.block[at])
    index = np.zeros_like(linear)
    for coordinate, stride in zip(blocks, state.stride, strict=True):
        index = index + coordinate * stride
    index = index % WORD
    kind = np.where(clipped, CLIPPED, np.where(outside, OUTSIDE, INSIDE)).astype(np.uint8)
    return Places(
        kind,
        np.where(kind == INSIDE, index, 0),
        np.stack(blocks, axis=-1),
        np.stack(within, axis=-1),
        state.clamp_value,
    )


def _clip(view: TensorView) -> Clip:
    found = Clip(0, WORD - 1, 0, WORD - 1)
    for step in view.steps:
        if isinstance(step, Clip):
            found = step
    return found


def _unravel(linear: Whole, sizes: list[int], order: range | tuple[int, ...]) -> list[Whole]:
    """Coordinates of a row-major index; ``order`` names the dimensions from the outermost on. The
    outermost wraps too."""
    found = [np.zeros_like(linear) for _ in sizes]
    for at in reversed(order):
        found[at] = linear % sizes[at]
        linear = linear // sizes[at]
    return found


def _viewed(view: TensorView, state: Layout, linear: Whole) -> Whole:
    """The index through the view's dimensions, permutation and strides."""
    dimensions = list(state.span)
    strides = _row_major(dimensions)
    if view.has_dimensions:
        dimensions = strides = [0] * len(view.permutation)
        for step in view.steps:
            if isinstance(step, Dimensions):
                dimensions, strides = list(step.sizes), _row_major(list(step.sizes))
            elif isinstance(step, Strides):
                strides = list(step.strides)
    where = _unravel(linear, dimensions, view.permutation)
    total = np.zeros_like(linear)
    for coordinate, stride in zip(where, strides, strict=True):
        total = total + coordinate * stride
    return total % WORD


def _row_major(sizes: list[int]) -> list[int]:
    strides = [1] * len(sizes)
    for at in reversed(range(len(sizes) - 1)):
        strides[at] = strides[at + 1] * sizes[at + 1]
    return strides


def _clamped(
    place: Whole, size: int, clamp: Clamp, storing: bool
) -> tuple[Whole, NDArray[np.bool_]]:
    """(coordinates inside the dimension, where there is no such place)."""
    beyond = (place < 0) | (place >= size)
    nowhere = np.zeros(place.shape, bool)
    if not beyond.any():
        return place, nowhere
    if clamp is Clamp.UNDEFINED:
        raise OutOfBounds("a coordinate outside of a tensor without a clamp mode is undefined")
    if clamp is Clamp.CONSTANT or storing:
        return np.where(beyond, 0, place), beyond
    if clamp is Clamp.TO_EDGE:
        return np.clip(place, 0, size - 1), nowhere
    if clamp is Clamp.REPEAT:
        return place % size, nowhere
    period = 2 * size - 2
    folded = place % period
    return np.where(beyond, np.minimum(folded, period - folded), place), nowhere


# --- in memory ------------------------------------------------------------------------------


@dataclass(frozen=True)
class TensorRegion(Region):
    """The bytes of one matrix per tile, element by element; -1 for one that isn't in memory."""

    at: Whole = field(default_factory=lambda: np.zeros((0, 0, 0), np.int64))

    @property
    def shape(self) -> tuple[int, int, int]:
        """(tiles, rows, columns)."""
        tiles, rows, columns = self.at.shape
        return tiles, rows, columns

    @property
    def end(self) -> int:
        """One past the last byte of any element."""
        return int(self.at.max()) + self.size

    def position(self, tile: int, row: int, column: int) -> int:
        """The first byte of one element."""
        return int(self.at[tile, row, column])

    def read(self, image: Image) -> Bits:
        """The elements; 0 where one isn't in memory."""
        bytes_of = np.maximum(self.at, 0)[..., None] + np.arange(self.size)
        raw = np.ascontiguousarray(image[bytes_of])
        found = raw.view(f"<u{self.size}")[..., 0]
        return np.where(self.at >= 0, found, found.dtype.type(0))

    def write(self, image: Image, bits: Bits) -> None:
        """Puts the elements that are in memory there."""
        full = np.broadcast_to(bits, self.shape).astype(f"<u{self.size}")
        inside = self.at >= 0
        where = self.at[inside][:, None] + np.arange(self.size)
        image[where] = np.ascontiguousarray(full[inside]).view(np.uint8).reshape(-1, self.size)

    def copy(self, source: Image, target: Image) -> None:
        """Copies the elements from one image to another."""
        where = (self.at[self.at >= 0][:, None] + np.arange(self.size)).reshape(-1)
        target[where] = source[where]

    def overlaps_itself(self) -> bool:
        """Whether two elements share a byte."""
        where = (self.at[self.at >= 0][:, None] + np.arange(self.size)).reshape(-1)
        return len(np.unique(where)) < len(where)


def tensor_region(
    matrix: MatrixType, tensor: Tensor, found: Places, unit: int, buffer: Buffer, grid: Grid
) -> TensorRegion:
    """Where the matrices of all tiles are; an element (or block) of the tensor has ``unit`` bytes.
    OutOfBounds where that isn't in the buffer."""
    scale = buffer.pointee.bytes
    subgroups = grid.subgroups if matrix.scope is Scope.SUBGROUP else 1
    groups = np.arange(grid.workgroups)[:, None]
    tiles = np.arange(subgroups)[None, :]
    if buffer.storage is Storage.WORKGROUP:
        starts = groups * buffer.size * scale + (tensor.offset + tiles * tensor.pitch) * scale
        room = buffer.size * scale
        local = (tensor.offset + tiles * tensor.pitch) * scale + np.zeros_like(groups)
    else:
        number = groups * subgroups + tiles
        starts = local = (tensor.offset + number * tensor.pitch) * scale
        room = buffer.size * scale
    reach = int(found.index.max(initial=0)) * unit + unit
    if int(local.max()) + reach > room or (starts % 16).any():
        raise OutOfBounds(f"{matrix} of tensor {tensor} needs more than {buffer.name} has")
    at = starts.reshape(-1, 1, 1) + found.index * unit
    at = np.where(found.kind == INSIDE, at, -1)
    base = int(at[at >= 0].min()) if (at >= 0).any() else 0
    extents = (grid.workgroups, subgroups, matrix.rows, matrix.columns)
    return TensorRegion(base, extents, (0, 0, 0, 0), matrix.component.bytes, at)


def filled(loaded: Bits, found: Places, matrix: MatrixType, original: Bits) -> Bits:
    """The result of a load: what is in memory, the clamp value outside, the original elsewhere."""
    constant = bits_dtype(matrix.component).type(
        found.clamp_value & ((1 << matrix.component.bits) - 1)
    )
    bits = np.where(found.kind == OUTSIDE, constant, loaded)
    return np.where(found.kind == CLIPPED, original, bits)
