"""How the concrete machine loads and stores through tensor layouts: element by element, one
coordinate after the other, as the specification's calculations are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cts.program.tensor import (
    BlockSize,
    Clamp,
    ClampValue,
    Clip,
    Decode,
    Dimensions,
    Slice,
    Strides,
    Tensor,
    TensorLayout,
    TensorLoad,
    TensorStore,
    TensorView,
)
from cts.program.types import Buffer, Component, MatrixType, Scope, Storage
from reference.component import Bits, bits_dtype, encode
from reference.layout import Image

if TYPE_CHECKING:
    from cts.program.model import Program


Starts = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class Spot:
    """What the calculation found for one element: the ``index`` in the tensor and the coordinates
    of block and element; ``outside`` of the tensor, or ``clipped`` by the view."""

    index: int = 0
    block: tuple[int, ...] = ()
    within: tuple[int, ...] = ()
    outside: bool = False
    clipped: bool = False


class TensorSteps:
    """The steps; :class:`reference.machine.Machine` has them, and mutants override them."""

    program: Program
    values: dict[str, Bits]
    types: dict[str, MatrixType]
    images: dict[str, Image]

    # --- state ----------------------------------------------------------------------------

    def block_sizes(self, layout: TensorLayout) -> tuple[int, ...]:
        """The block sizes that are set last."""
        found = [step.sizes for step in layout.steps if isinstance(step, BlockSize)]
        return found[-1] if found else (1,) * layout.rank

    def strides(self, layout: TensorLayout) -> tuple[int, ...]:
        """The strides, given or from the dimensions."""
        block = (1,) * layout.rank
        found: list[int] = []
        for step in layout.steps:
            if isinstance(step, BlockSize):
                block = step.sizes
            elif isinstance(step, Dimensions):
                found = [1]
                for size, unit in zip(step.sizes[:0:-1], block[:0:-1], strict=True):
                    found.insert(0, found[0] * ((size + unit - 1) // unit))
            elif isinstance(step, Strides):
                found = list(step.strides)
        return tuple(found)

    def dimensions(self, layout: TensorLayout) -> tuple[int, ...]:
        """The sizes of the tensor."""
        return [step.sizes for step in layout.steps if isinstance(step, Dimensions)][-1]

    def slice(self, layout: TensorLayout) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(offsets, spans) of the region."""
        offset, span = [0] * layout.rank, [0] * layout.rank
        for step in layout.steps:
            if isinstance(step, Dimensions):
                offset, span = [0] * layout.rank, list(step.sizes)
            elif isinstance(step, Slice):
                for at in range(layout.rank):
                    offset[at] += step.offsets[at]
                    span[at] = step.spans[at]
        return tuple(offset), tuple(span)

    def clamp_value(self, layout: TensorLayout, component: Component) -> int:
        """The bits of an element outside of the tensor."""
        values = [step.value for step in layout.steps if isinstance(step, ClampValue)]
        return (values[-1] if values else 0) & ((1 << component.bits) - 1)

    # --- the calculation --------------------------------------------------------------------

    def spot(
        self,
        layout: TensorLayout,
        view: TensorView | None,
        row: int,
        column: int,
        columns: int,
        storing: bool,
    ) -> Spot:
        """Where one element is."""
        offset, span = self.slice(layout)
        if view is None:
            linear = row * columns + column
        else:
            clip = self.clip(view)
            if clip is not None:
                down, across = row - clip.row_offset, column - clip.column_offset
                if not (0 <= down < clip.row_span and 0 <= across < clip.column_span):
                    return Spot(clipped=True)
                row, column, columns = down, across, min(columns, clip.column_span)
            linear = self.through_view(view, span, row * columns + column)
        block, within = [], []
        sizes, units = self.dimensions(layout), self.block_sizes(layout)
        for at, place in enumerate(self.span_coordinates(linear, span)):
            inside = self.clamped(place + offset[at], sizes[at], layout.clamp, storing)
            if inside is None:
                return Spot(outside=True)
            block.append(inside // units[at])
            within.append(inside % units[at])
        strides = self.strides(layout)
        index = sum(b * s for b, s in zip(block, strides, strict=True))
        return Spot(index, tuple(block), tuple(within))

    def clip(self, view: TensorView) -> Clip | None:
        """The clip of a view."""
        found = [step for step in view.steps if isinstance(step, Clip)]
        return found[-1] if found else None

    def span_coordinates(self, linear: int, span: tuple[int, ...]) -> list[int]:
        """Coordinates in the region."""
        found: list[int] = []
        for size in span[::-1]:
            found.insert(0, linear % size)
            linear //= size
        return found

    def through_view(self, view: TensorView, span: tuple[int, ...], linear: int) -> int:
        """The index in the region that an index in the view means."""
        sizes = span
        strides: tuple[int, ...] = ()
        if view.has_dimensions:
            for step in view.steps:
                if isinstance(step, Dimensions):
                    sizes, strides = step.sizes, ()
                elif isinstance(step, Strides):
                    strides = step.strides
        if not strides:
            strides = tuple(int(np.prod(sizes[at + 1 :])) for at in range(len(sizes)))
        index = 0
        for axis in self.permutation(view)[::-1]:
            index += linear % sizes[axis] * strides[axis]
            linear //= sizes[axis]
        return index

    def permutation(self, view: TensorView) -> tuple[int, ...]:
        """The order of the view's dimensions."""
        return view.permutation

    def clamped(self, place: int, size: int, clamp: Clamp, storing: bool) -> int | None:
        """A coordinate inside of the tensor; None where there is none."""
        if 0 <= place < size:
            return place
        if storing or clamp in (Clamp.CONSTANT, Clamp.UNDEFINED):
            return None
        if clamp is Clamp.TO_EDGE:
            return 0 if place < 0 else size - 1
        if clamp is Clamp.REPEAT:
            return place % size
        place %= 2 * size - 2
        return 2 * size - 2 - place if place >= size else place

    # --- loads and stores -------------------------------------------------------------------

    def tensor_load(self, statement: TensorLoad) -> Bits:
        """The elements of a load, [tiles, rows, columns]."""
        matrix = statement.type
        result = np.array(self.values[statement.original])
        unit = matrix.component.bytes
        if statement.decode is not None:
            unit = 4 * statement.decode.words
        image = self.images[statement.tensor.buffer]
        starts = self.starts(statement.tensor, matrix.scope)
        outside = self.clamp_value(statement.layout, matrix.component)
        for row in range(matrix.rows):
            for column in range(matrix.columns):
                spot = self.spot(
                    statement.layout, statement.view, row, column, matrix.columns, False
                )
                if spot.clipped:
                    continue
                if spot.outside:
                    result[:, row, column] = outside
                    continue
                at = starts + spot.index * unit
                if statement.decode is None:
                    result[:, row, column] = _gathered(image, at, unit)
                else:
                    result[:, row, column] = self.decoded(
                        statement.decode, image, at, spot, matrix.component
                    )
        return result

    def decoded(
        self, decode: Decode, image: Image, at: Starts, spot: Spot, component: Component
    ) -> Bits:
        """What the decode function gives for an element, by tile."""
        position = 0
        for place, size in zip(spot.within, decode.block, strict=True):
            position = position * size + place
        word, shift = divmod(position * decode.code.value, 32)
        words = _gathered(image, at + 4 * word, 4).astype(np.int64)
        found = (words >> shift) & ((1 << decode.code.value) - 1)
        found = found + decode.factor * spot.block[0]
        if component.is_float:
            return encode(found.astype(np.float64), component)
        return found.astype(np.uint64).astype(bits_dtype(component))

    def tensor_store(self, statement: TensorStore) -> None:
        """Writes the elements that lie in the tensor."""
        matrix, bits = self.types[statement.value], self.values[statement.value]
        image = self.images[statement.tensor.buffer]
        starts = self.starts(statement.tensor, matrix.scope)
        size = matrix.component.bytes
        for row in range(matrix.rows):
            for column in range(matrix.columns):
                spot = self.spot(
                    statement.layout, statement.view, row, column, matrix.columns, True
                )
                if spot.clipped or spot.outside:
                    continue
                for tile, start in enumerate(starts + spot.index * size):
                    element = np.asarray(bits[tile, row, column]).tobytes()
                    image[start : start + size] = np.frombuffer(element, np.uint8)

    def starts(self, tensor: Tensor, scope: Scope) -> Starts:
        """The first byte of each tile's tensor."""
        buffer: Buffer = self.program.buffer(tensor.buffer)
        grid = self.program.grid
        subgroups = grid.subgroups if scope is Scope.SUBGROUP else 1
        unit = buffer.pointee.bytes
        found = []
        for group in range(grid.workgroups):
            for subgroup in range(subgroups):
                if buffer.storage is Storage.WORKGROUP:
                    start = group * buffer.size + tensor.offset + subgroup * tensor.pitch
                else:
                    start = tensor.offset + (group * subgroups + subgroup) * tensor.pitch
                found.append(start * unit)
        return np.array(found, np.int64)


def _gathered(image: Image, at: Starts, size: int) -> Bits:
    """Elements of ``size`` bytes at the given bytes."""
    raw = np.ascontiguousarray(image[at[:, None] + np.arange(size)])
    found: Bits = raw.view(f"<u{size}")[:, 0]
    return found
