"""Loads and stores through tensor layouts, while a program is evaluated."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from cts.program.model import Program
from cts.program.tensor import Decode, Tensor, TensorLoad, TensorStore
from cts.program.types import MatrixType
from reference.accept import ANYTHING, Accept, Acceptance, Band
from reference.component import Bits, Flags, bits_dtype, decode, encode
from reference.expectation import Stored
from reference.matrix import Undetermined
from reference.memory import Memory
from reference.settle import settled
from reference.tensor import (
    INSIDE,
    OUTSIDE,
    Places,
    TensorRegion,
    filled,
    places,
    tensor_region,
)
from reference.values import Exact, Value


class Tensors:
    """The tensors of one program. A buffer that one statement stores to has no other use, so that
    nothing has to be ordered."""

    def __init__(self, program: Program, memory: Mapping[str, Memory]) -> None:
        self.program = program
        self.memory = memory

    def _region(self, matrix: MatrixType, tensor: Tensor, found: Places, unit: int) -> TensorRegion:
        buffer = self.program.buffer(tensor.buffer)
        return tensor_region(matrix, tensor, found, unit, buffer, self.program.grid)

    def _memory(self, tensor: Tensor) -> Memory:
        memory = self.memory[tensor.buffer]
        if memory.entries:
            raise Undetermined(f"{tensor.buffer} is stored to, and used in another way")
        return memory

    def load(self, statement: TensorLoad, values: Mapping[str, Value]) -> Exact:
        """The value of a load."""
        matrix = statement.type
        found = places(statement.layout, statement.view, matrix.rows, matrix.columns, storing=False)
        original = settled(values[statement.original], statement.result)
        decoding = statement.decode
        unit = matrix.component.bytes if decoding is None else 4 * decoding.words
        region = self._region(matrix, statement.tensor, found, unit)
        image = self._memory(statement.tensor).image
        unknown: Flags = np.zeros(region.shape, bool)
        if decoding is None:
            loaded = region.read(image)
        else:
            words = dataclasses.replace(region, size=4)
            loaded, inexact = _decoded(decoding, found, words, image, matrix)
            unknown |= inexact & (found.kind == INSIDE)
        if original.undefined is not None:
            unknown |= original.undefined & (found.kind != INSIDE)
        if matrix.component.is_float and found.clamp_value:
            # The text doesn't say whether the value is the element's bits or its number.
            unknown |= found.kind == OUTSIDE
        bits = filled(loaded, found, matrix, original.bits)
        return Exact(matrix.component, bits, unknown if unknown.any() else None)

    def store(
        self, index: int, statement: TensorStore, matrix: MatrixType, accept: Acceptance
    ) -> None:
        """A store: the elements that lie in the tensor, each with its acceptance."""
        found = places(statement.layout, statement.view, matrix.rows, matrix.columns, storing=True)
        region = self._region(matrix, statement.tensor, found, matrix.component.bytes)
        memory = self._memory(statement.tensor)
        if region.overlaps_itself():
            raise Undetermined(f"the store of {statement.value} writes some bytes twice")
        whole = _where(accept, found.kind == INSIDE)
        stored = Stored(index, statement.value, matrix, region, whole, list)
        memory.claim(region, stored, matrix.component)


def _where(accept: Acceptance, inside: Flags) -> Accept:
    """``accept`` where elements are stored, anything elsewhere."""
    whole = accept.part(slice(None))

    def freed(given: Band | Callable[[], Band]) -> Band:
        band = given() if callable(given) else given
        flags = np.where(inside, np.asarray(band.flags, np.uint8), np.uint8(ANYTHING))
        return Band(band.bits, band.low, band.high, np.broadcast_to(flags, whole.shape))

    return dataclasses.replace(
        whole,
        required=freed(whole.required),
        policy=freed(whole.policy),
        tight=freed(whole.tight),
    )


def _decoded(
    it: Decode,
    found: Places,
    words: TensorRegion,
    image: np.ndarray[tuple[int], np.dtype[np.uint8]],
    matrix: MatrixType,
) -> tuple[Bits, Flags]:
    """(what the decode function gives, where the component can't hold it)."""
    number = np.zeros(found.index.shape, np.int64)
    for axis, size in enumerate(it.block):
        number = number * size + found.within[..., axis]
    bit = number * it.code.value
    moved = np.where(words.at >= 0, words.at + bit // 32 * 4, -1)
    fields = dataclasses.replace(words, at=moved).read(image).astype(np.int64)
    values = (fields >> (bit % 32)) & ((1 << it.code.value) - 1)
    values = values + it.factor * found.block[..., 0]
    component = matrix.component
    if component.is_integer:
        bits = values.astype(np.uint64).astype(bits_dtype(component))
        return bits, np.zeros(bits.shape, bool)
    bits = encode(values.astype(np.float64), component)
    return bits, decode(bits, component) != values
