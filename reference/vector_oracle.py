"""Evaluates cooperative vector programs: which results of a dispatch are permitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cts.program.types import Buffer, Component
from cts.program.vector import (
    MatrixLayout,
    Opaque,
    OuterProduct,
    Place,
    ReduceSum,
    VectorStore,
    Weights,
)
from cts.program.vector_program import VectorProgram, VectorStatement
from reference.accept import EVERYTHING, ZERO, Accept, Acceptance
from reference.component import Bits, Floats, bits_dtype, decode, is_subnormal
from reference.layout import OutOfBounds
from reference.matrix import Undetermined, acceptance
from reference.settle import single
from reference.values import Exact
from reference.vector_expect import StoredVectors, VectorExpectation, whole
from reference.vector_lanes import LaneValue, Piece, Pieces
from reference.vector_training import accumulated
from reference.vector_walk import Walk


@dataclass(frozen=True)
class VectorExpectations:
    """What a dispatch may do: to each buffer, and to the matrices in optimal layouts that it
    accumulates into, by buffer and offset; these can be looked at after a conversion."""

    buffers: Mapping[str, VectorExpectation]
    matrices: Mapping[tuple[str, int], Accept]


def evaluate_vectors(program: VectorProgram, inputs: Mapping[str, bytes]) -> VectorExpectations:
    """What each buffer may hold after the program ran on ``inputs``.

    Raises :class:`reference.layout.OutOfBounds` for an access outside its buffer, ValueError for
    invalid usage, and :class:`reference.matrix.Undetermined` for a program whose result the
    specification leaves undefined (invocations that race on the same bytes) or that the oracle
    can't follow.
    """
    oracle = _Oracle(program, inputs)
    oracle.run()
    return oracle.expectations(inputs)


def follow(
    program: VectorProgram,
    inputs: Mapping[str, bytes],
    see: Callable[[Walk, VectorStatement], None],
) -> None:
    """Runs the program and calls ``see`` after each statement, with the walk as it stands: those
    of a body before the statement that holds it. Raises what :func:`evaluate_vectors` does."""

    class Followed(_Oracle):
        def statement(self, it: VectorStatement) -> None:
            super().statement(it)
            see(self, it)

    Followed(program, inputs).run()


@dataclass
class _Sum:
    """What was added to the elements of one kind in one buffer."""

    elements: list[NDArray[np.int64]]
    """First bytes of elements."""
    addends: list[Floats]
    assumed: bool = False
    """Only the suite's policy says what one of them is."""


class _Oracle(Walk):
    def __init__(self, program: VectorProgram, inputs: Mapping[str, bytes]) -> None:
        super().__init__(program, inputs)
        self.stores: dict[str, list[StoredVectors]] = {b.name: [] for b in program.buffers}
        self.vectors: dict[str, int] = {b.name: 0 for b in program.buffers}
        self._written = {name: np.zeros(len(m), bool) for name, m in self.memory.items()}
        self._unknown = {name: np.zeros(len(m), bool) for name, m in self.memory.items()}
        self._reductions: dict[tuple[str, int], _Sum] = {}
        self._products: dict[Opaque, list[tuple[Exact, Exact]]] = {}
        for it in program.opaque:
            end = it.offset + it.size
            if end > len(self.memory[it.buffer]):
                raise OutOfBounds(f"a matrix ends {end} bytes into {it.buffer}")
            self._unknown[it.buffer][it.offset : end] = True

    # --- memory -----------------------------------------------------------------------------

    def read(self, buffer: Buffer, positions: NDArray[np.int64]) -> NDArray[np.uint8]:
        if self._unknown[buffer.name][positions].any():
            raise Undetermined(f"bytes of {buffer.name} are read that aren't known")
        return super().read(buffer, positions)

    def store(
        self, it: VectorStore, buffer: Buffer, positions: NDArray[np.int64], pieces: Pieces
    ) -> None:
        self._claim(buffer, positions)
        for piece in pieces:
            at = positions[np.searchsorted(self.lanes, piece.lanes)]
            accept = _acceptance(piece.value)
            self.stores[buffer.name].append(StoredVectors(it.value, piece.lanes, at, accept))
            self.vectors[buffer.name] += len(piece.lanes)
            known = single(piece.value)
            if known is None or known.assumed:  # bytes don't say that only policy knows them
                self._unknown[buffer.name][at] = True
            else:
                data = np.ascontiguousarray(known.bits.astype(bits_dtype(known.component)))
                self.memory[buffer.name][at] = data.view(np.uint8).reshape(at.shape)

    def store_numbers(self, buffer: Buffer, positions: NDArray[np.int64]) -> None:
        pieces = (Piece(self.lanes, self.number()),)
        self.store(VectorStore("number", Place(buffer.name)), buffer, positions, pieces)

    def _claim(self, buffer: Buffer, positions: NDArray[np.int64]) -> None:
        written = self._written[buffer.name]
        flat = positions.ravel()
        if written[flat].any() or len(np.unique(flat)) != len(flat):
            raise Undetermined(f"bytes of {buffer.name} are stored to twice")
        written[flat] = True

    def optimal(self, weights: Weights, at: NDArray[np.int64], rows: int, columns: int) -> Bits:
        component = weights.interpretation
        found = np.zeros((len(at), rows, columns), bits_dtype(component))
        for offset in np.unique(at):
            it = self._opaque(weights.place.buffer, int(offset))
            due = (weights.layout, component, rows, columns)
            if due != (it.layout, it.component, it.rows, it.columns) or it in self._products:
                raise Undetermined(f"{offset} bytes into {it.buffer} lies another matrix")
            found[at == offset] = _elements(it)
        return found

    def _opaque(self, buffer: str, offset: int) -> Opaque:
        for it in self.program.opaque:
            if (it.buffer, it.offset) == (buffer, offset):
                return it
        raise Undetermined(f"no matrix is known {offset} bytes into {buffer}")

    # --- accumulation -----------------------------------------------------------------------

    def accumulate(
        self, it: ReduceSum, buffer: Buffer, positions: NDArray[np.int64], value: Exact
    ) -> None:
        key = (buffer.name, int(value.component))
        found = self._reductions.setdefault(key, _Sum([], []))
        found.elements.append(positions[..., 0].ravel())
        found.addends.append(decode(value.bits, value.component).ravel())
        found.assumed |= value.assumed
        self._unknown[buffer.name][positions] = True

    def accumulate_product(
        self, it: OuterProduct, buffer: Buffer, at: NDArray[np.int64], a: Exact, b: Exact
    ) -> None:
        shape = (MatrixLayout.TRAINING_OPTIMAL, it.interpretation, a.shape[1], b.shape[1])
        for offset in np.unique(at):
            target = self._opaque(buffer.name, int(offset))
            if shape != (target.layout, target.component, target.rows, target.columns):
                raise Undetermined(f"{offset} bytes into {buffer.name} lies another matrix")
            chosen = at == offset
            pair = (
                Exact(a.component, a.bits[chosen], assumed=a.assumed),
                Exact(b.component, b.bits[chosen], assumed=b.assumed),
            )
            self._products.setdefault(target, []).append(pair)

    # --- results ----------------------------------------------------------------------------

    def expectations(self, inputs: Mapping[str, bytes]) -> VectorExpectations:
        for (name, kind), sums in self._reductions.items():
            self._reduced(name, kind, sums, inputs[name])
        matrices = {(it.buffer, it.offset): self._grown(it) for it in self._products}
        buffers = {}
        for buffer in self.program.buffers:
            free = [
                (it.offset, it.offset + it.size)
                for it in (*self._products, *self._prepared())
                if it.buffer == buffer.name
            ]
            buffers[buffer.name] = VectorExpectation(
                buffer,
                inputs[buffer.name],
                tuple(self.stores[buffer.name]),
                tuple(free),
                self.vectors[buffer.name],
            )
        return VectorExpectations(buffers, matrices)

    def _prepared(self) -> list[Opaque]:
        """The matrices that a conversion makes right before the shader."""
        return [self.program.opaque[one.opaque] for one in self.program.prepared]

    def _reduced(self, name: str, kind: int, sums: _Sum, initial: bytes) -> None:
        component = Component(kind)
        first, which = np.unique(np.concatenate(sums.elements), return_inverse=True)
        positions = first[:, None] + np.arange(component.bytes)
        if self._written[name][positions].any() or len(np.unique(positions)) != positions.size:
            raise Undetermined(f"bytes of {name} are stored to and accumulated into")
        image = np.frombuffer(initial, np.uint8)
        bits = np.ascontiguousarray(image[positions]).view(bits_dtype(component))[:, 0]
        accept = accumulated(component, bits, which, np.concatenate(sums.addends))
        accept = _known_by(accept, sums.assumed)
        self.stores[name].append(StoredVectors("sum", None, positions[None], accept))

    def _grown(self, it: Opaque) -> Accept:
        """What the elements of a matrix may be after all outer products were added."""
        count = it.rows * it.columns
        addends = [
            decode(a.bits, a.component) * decode(b.bits, b.component).transpose(0, 2, 1)
            for a, b in self._products[it]
        ]
        whole_sum = np.concatenate(addends).reshape(-1)
        elements = np.tile(np.arange(count), len(whole_sum) // count)
        found = accumulated(it.component, _elements(it).ravel(), elements, whole_sum)
        assumed = any(a.assumed or b.assumed for a, b in self._products[it])
        return whole(_known_by(found, assumed), it.rows, it.columns)


def _known_by(accept: Accept, assumed: bool) -> Accept:
    """``accept``, as policy alone where its addends are only assumed."""
    return replace(accept, required=EVERYTHING) if assumed else accept


def _elements(it: Opaque) -> Bits:
    """The elements that a matrix in an optimal layout was made from, [rows, columns]."""
    found: Bits = np.frombuffer(it.elements, bits_dtype(it.component))
    return found.reshape(it.rows, it.columns)


def _acceptance(value: LaneValue) -> Acceptance:
    """Cooperative vector loads and stores aren't on the list of instructions that keep bits
    (VkSpec, "Precision and Operation of SPIR-V Instructions"), so a subnormal may be flushed;
    that it isn't is policy."""
    found = acceptance(value)
    if not isinstance(value, Exact) or not value.component.is_float:
        return found
    tiny = is_subnormal(value.bits, value.component)
    if not tiny.any():
        return found
    accept = found.part(slice(None))
    zeros = np.where(tiny, np.uint8(ZERO), np.uint8(0))
    flags = np.asarray(accept.required.flags, np.uint8) | zeros
    return replace(accept, required=replace(accept.required, flags=flags))
