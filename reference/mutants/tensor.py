"""Faults of tensor addressing, block loads, and conversions from and to arrays."""

from __future__ import annotations

import dataclasses

import numpy as np

from cts.program.qcom import FromArrays, ToArrays
from cts.program.tensor import (
    Clamp,
    Clip,
    Decode,
    Slice,
    Strides,
    Tensor,
    TensorLayout,
    TensorLoad,
    TensorStore,
    TensorView,
)
from cts.program.types import Component, Scope, Storage, Use
from reference.component import Bits
from reference.layout import Image
from reference.machine import Machine
from reference.machine_tensor import Spot, Starts
from reference.mutants.base import Mutant, machine_mutant

TENSOR = "use conversion, matrix2"
ADDRESSING = "load and store addressing"
ROBUST = "robustness"


class ClipIgnored(Machine):
    """Clips have no effect."""

    def clip(self, view: TensorView) -> Clip | None:
        return None


class ClipKeepsWidth(Machine):
    """Rows of a clipped region are as long as those of the matrix."""

    def spot(
        self,
        layout: TensorLayout,
        view: TensorView | None,
        row: int,
        column: int,
        columns: int,
        storing: bool,
    ) -> Spot:
        clip = None if view is None else self.clip(view)
        if view is not None and clip is not None:
            wide = dataclasses.replace(clip, column_span=(1 << 32) - 1 - clip.column_offset)
            inside = clip.column_offset <= column < clip.column_offset + clip.column_span
            if not inside:
                return Spot(clipped=True)
            view = dataclasses.replace(view, steps=(*view.steps, wide))
        return super().spot(layout, view, row, column, columns, storing)


class ClampValueZero(Machine):
    """Elements outside of a tensor are zero whatever the clamp value."""

    def clamp_value(self, layout: TensorLayout, component: Component) -> int:
        return 0


class MirrorOffByOne(Machine):
    """Mirroring repeats the elements at the ends."""

    def clamped(self, place: int, size: int, clamp: Clamp, storing: bool) -> int | None:
        if clamp is Clamp.MIRROR and not storing and not 0 <= place < size:
            place %= 2 * size
            return 2 * size - 1 - place if place >= size else place
        return super().clamped(place, size, clamp, storing)


class RepeatTowardZero(Machine):
    """Repetition to the left takes a remainder with the sign of the coordinate."""

    def clamped(self, place: int, size: int, clamp: Clamp, storing: bool) -> int | None:
        if clamp is Clamp.REPEAT and not storing and place < 0:
            return -place % size
        return super().clamped(place, size, clamp, storing)


class EdgeOfSlice(Machine):
    """Clamping to the edge takes the first element on both sides."""

    def clamped(self, place: int, size: int, clamp: Clamp, storing: bool) -> int | None:
        if clamp is Clamp.TO_EDGE and not storing and place >= size:
            return 0
        return super().clamped(place, size, clamp, storing)


class StoresClamped(Machine):
    """Stores outside of a tensor go to its edge instead of nowhere."""

    def clamped(self, place: int, size: int, clamp: Clamp, storing: bool) -> int | None:
        if storing and not 0 <= place < size:
            return 0 if place < 0 else size - 1
        return super().clamped(place, size, clamp, storing)


class NegativeInside(Machine):
    """Coordinates below zero count as the first one in constant mode."""

    def clamped(self, place: int, size: int, clamp: Clamp, storing: bool) -> int | None:
        if clamp is Clamp.CONSTANT and place < 0:
            return 0
        return super().clamped(place, size, clamp, storing)


class StridesIgnored(Machine):
    """Strides that are set are ignored."""

    def strides(self, layout: TensorLayout) -> tuple[int, ...]:
        kept = tuple(step for step in layout.steps if not isinstance(step, Strides))
        return super().strides(dataclasses.replace(layout, steps=kept))


class LastSliceOnly(Machine):
    """The offsets of a second slice replace those of the first."""

    def slice(self, layout: TensorLayout) -> tuple[tuple[int, ...], tuple[int, ...]]:
        slices = [step for step in layout.steps if isinstance(step, Slice)]
        if len(slices) < 2:
            return super().slice(layout)
        return slices[-1].offsets, slices[-1].spans


class SpanIsDimension(Machine):
    """Elements are counted over the whole innermost dimension instead of the slice's span."""

    def slice(self, layout: TensorLayout) -> tuple[tuple[int, ...], tuple[int, ...]]:
        offset, span = super().slice(layout)
        size = self.dimensions(layout)[-1]
        inside = offset[-1] >= 0 and offset[-1] + span[-1] <= size
        if inside and layout.rank == 2 and offset == (0,) * layout.rank:
            return offset, (*span[:-1], size)
        return offset, span


class OuterDimensionsSwapped(Machine):
    """Offsets of the two outermost of four or five dimensions are swapped."""

    def slice(self, layout: TensorLayout) -> tuple[tuple[int, ...], tuple[int, ...]]:
        offset, span = super().slice(layout)
        if layout.rank >= 4 and layout.clamp is not Clamp.UNDEFINED:
            offset = (offset[1], offset[0], *offset[2:])
        return offset, span


class PermutationInverted(Machine):
    """Views are permuted the other way round."""

    def permutation(self, view: TensorView) -> tuple[int, ...]:
        found = [0] * len(view.permutation)
        for at, axis in enumerate(view.permutation):
            found[axis] = at
        return tuple(found)


class PermutationIgnored(Machine):
    """Views of dimensions of their own aren't permuted."""

    def permutation(self, view: TensorView) -> tuple[int, ...]:
        return tuple(range(len(view.permutation))) if view.has_dimensions else view.permutation


class ClippedIsZero(Machine):
    """What a clip leaves out is zero instead of the object's."""

    def tensor_load(self, statement: TensorLoad) -> Bits:
        kept = self.values[statement.original]
        self.values[statement.original] = np.zeros_like(kept)
        result = super().tensor_load(statement)
        self.values[statement.original] = kept
        return result


class PhysicalStart(Machine):
    """Tensors behind a physical address begin there, whatever their offset."""

    def starts(self, tensor: Tensor, scope: Scope) -> Starts:
        if self.program.buffer(tensor.buffer).storage is Storage.PHYSICAL_STORAGE_BUFFER:
            tensor = dataclasses.replace(tensor, offset=0)
        return super().starts(tensor, scope)


class SecondTileFirst(Machine):
    """Stores through a layout all go to the first tile's tensor where that is far enough away."""

    def tensor_store(self, statement: TensorStore) -> None:
        near = dataclasses.replace(statement.tensor, pitch=0)
        super().tensor_store(dataclasses.replace(statement, tensor=near))


class HighNibbleFirst(Machine):
    """Decode functions of 4-bit fields get the neighbour's coordinates."""

    def decoded(
        self, decode: Decode, image: Image, at: Starts, spot: Spot, component: Component
    ) -> Bits:
        if decode.block[-1] % 2 == 0:
            last = spot.within[-1] ^ 1
            spot = dataclasses.replace(spot, within=(*spot.within[:-1], last))
        return super().decoded(decode, image, at, spot, component)


class BlockCoordinateOfElement(Machine):
    """Decode functions get the element's coordinates for those of its block."""

    def decoded(
        self, decode: Decode, image: Image, at: Starts, spot: Spot, component: Component
    ) -> Bits:
        pairs = zip(spot.block, spot.within, decode.block, strict=True)
        whole = tuple(block * size + within for block, within, size in pairs)
        return super().decoded(decode, image, at, dataclasses.replace(spot, block=whole), component)


class BlockRowsOnly(Machine):
    """Coordinates in a block have a row of zero where blocks have more than one dimension."""

    def decoded(
        self, decode: Decode, image: Image, at: Starts, spot: Spot, component: Component
    ) -> Bits:
        if len(spot.within) > 1:
            spot = dataclasses.replace(spot, within=(0, *spot.within[1:]))
        return super().decoded(decode, image, at, spot, component)


class VectorReversed(Machine):
    """Components of what a vector decode function returns arrive in reverse."""

    def decoded(
        self, decode: Decode, image: Image, at: Starts, spot: Spot, component: Component
    ) -> Bits:
        if decode.lanes:
            group, lane = divmod(spot.within[-1], decode.lanes)
            last = group * decode.lanes + decode.lanes - 1 - lane
            spot = dataclasses.replace(spot, within=(*spot.within[:-1], last))
        return super().decoded(decode, image, at, spot, component)


class ArraysAsColumns(Machine):
    """Arrays become columns of square accumulators."""

    def from_arrays(self, statement: FromArrays) -> Bits:
        found = super().from_arrays(statement)
        square = found.shape[1] == found.shape[2]
        if square and statement.type.use is Use.ACCUMULATOR:
            return np.ascontiguousarray(found.transpose(0, 2, 1))
        return found


class PartFromStart(Machine):
    """Parts of arrays are taken from their start."""

    def from_arrays(self, statement: FromArrays) -> Bits:
        return super().from_arrays(dataclasses.replace(statement, start=0))


class WordsSwapped(Machine):
    """Arrays of uint32 that are stored have the halves of each word swapped."""

    def to_arrays(self, statement: ToArrays) -> None:
        kept = self.values[statement.value]
        matrix = self.types[statement.value]
        if statement.packed and matrix.component.bits == 16:
            axis = 1 if matrix.use is Use.B else 2
            order = np.arange(kept.shape[axis]) ^ 1
            self.values[statement.value] = np.take(kept, order, axis=axis)
        super().to_arrays(statement)
        self.values[statement.value] = kept


MUTANTS: tuple[Mutant, ...] = (
    machine_mutant("tensor_clip_ignored", TENSOR, ClipIgnored),
    machine_mutant("tensor_clip_keeps_width", TENSOR, ClipKeepsWidth),
    machine_mutant("tensor_clamp_value_zero", TENSOR, ClampValueZero),
    machine_mutant("tensor_mirror_off_by_one", TENSOR, MirrorOffByOne),
    machine_mutant("tensor_repeat_toward_zero", TENSOR, RepeatTowardZero),
    machine_mutant("tensor_edge_of_slice", TENSOR, EdgeOfSlice),
    machine_mutant("tensor_stores_clamped", ROBUST, StoresClamped),
    machine_mutant("tensor_negative_inside", TENSOR, NegativeInside),
    machine_mutant("tensor_strides_ignored", ADDRESSING, StridesIgnored),
    machine_mutant("tensor_last_slice_only", ADDRESSING, LastSliceOnly),
    machine_mutant("tensor_span_is_dimension", ADDRESSING, SpanIsDimension),
    machine_mutant("tensor_outer_dimensions_swapped", ADDRESSING, OuterDimensionsSwapped),
    machine_mutant("tensor_permutation_inverted", TENSOR, PermutationInverted),
    machine_mutant("tensor_permutation_ignored", TENSOR, PermutationIgnored),
    machine_mutant("tensor_clipped_is_zero", TENSOR, ClippedIsZero),
    machine_mutant("tensor_physical_offset_ignored", ADDRESSING, PhysicalStart),
    machine_mutant("tensor_store_on_first_tile", ADDRESSING, SecondTileFirst),
    machine_mutant("block_neighbour_decoded", TENSOR, HighNibbleFirst),
    machine_mutant("block_coordinate_of_element", TENSOR, BlockCoordinateOfElement),
    machine_mutant("block_row_lost", TENSOR, BlockRowsOnly),
    machine_mutant("block_vector_reversed", TENSOR, VectorReversed),
    machine_mutant("arrays_as_columns", TENSOR, ArraysAsColumns),
    machine_mutant("arrays_part_from_start", TENSOR, PartFromStart),
    machine_mutant("arrays_halves_swapped", TENSOR, WordsSwapped),
)
