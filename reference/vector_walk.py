"""Walks a cooperative vector program: numbers, control flow, memory, values.

The oracle and the reference device share this walk. They differ in what becomes of a result
with more than one legal value (:meth:`Walk.kept`), of stores, and of matrices in optimal layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from cts.program.flow import Through
from cts.program.types import Buffer, Component, Storage
from cts.program.vector import (
    Condition,
    Index,
    MatrixMul,
    OuterProduct,
    Place,
    ReduceSum,
    Spread,
    VectorLoad,
    VectorStore,
    VectorType,
    Weights,
    WriteNumber,
)
from cts.program.vector_program import Exit, Helpers, If, Loop, VectorProgram, VectorStatement
from cts.program.vector_values import (
    Constant,
    Construct,
    Elementwise,
    Extract,
    Insert,
    Make,
    Pick,
    ScalarConstant,
    TimesScalar,
    VectorConvert,
)
from reference.component import Bits, bits_dtype
from reference.elementwise import convert
from reference.layout import OutOfBounds
from reference.matrix import Undetermined
from reference.values import Exact
from reference.vector_lanes import Lanes, LaneValue, Piece, Pieces, exactly, parts
from reference.vector_layout import strided_positions
from reference.vector_ops import apply, times_scalar
from reference.vector_product import product

_LOAD_ALIGNMENT, _MATRIX_ALIGNMENT, _STRIDE_ALIGNMENT = 16, 64, 16


class Walk:
    """One run of a program. Subclasses decide what is kept of values and where bytes go."""

    def __init__(self, program: VectorProgram, inputs: Mapping[str, bytes]) -> None:
        self.program = program
        self.memory = {
            buffer.name: np.frombuffer(inputs[buffer.name], np.uint8).copy()
            for buffer in program.buffers
        }
        self.types = program.types()
        self.values: dict[str, Pieces] = {}
        self.lanes: Lanes = np.arange(program.grid.invocations, dtype=np.int64)
        """The invocations that execute the current statement."""

    def run(self) -> None:
        """Execute the whole program."""
        self.execute(self.program.body)

    # --- what subclasses do -----------------------------------------------------------------

    def kept(self, value: LaneValue) -> LaneValue:
        """What stands for a result from now on."""
        return value

    def read(self, buffer: Buffer, positions: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The bytes at ``positions`` of the memory behind a buffer."""
        return self.memory[buffer.name][positions]

    def store(
        self, it: VectorStore, buffer: Buffer, positions: NDArray[np.int64], pieces: Pieces
    ) -> None:
        """Write vectors; ``positions`` are [invocations, components, bytes]."""
        raise NotImplementedError

    def store_numbers(self, buffer: Buffer, positions: NDArray[np.int64]) -> None:
        """Write the number of each invocation; ``positions`` are [invocations, 1, bytes]."""
        raise NotImplementedError

    def optimal(self, weights: Weights, at: NDArray[np.int64], rows: int, columns: int) -> Bits:
        """Matrices in an optimal layout, [invocations, rows, columns], each ``at`` a byte."""
        raise NotImplementedError

    def accumulate(
        self, it: ReduceSum, buffer: Buffer, positions: NDArray[np.int64], value: Exact
    ) -> None:
        """Add vectors to memory; ``positions`` are [invocations, components, bytes]."""
        raise NotImplementedError

    def accumulate_product(
        self, it: OuterProduct, buffer: Buffer, at: NDArray[np.int64], a: Exact, b: Exact
    ) -> None:
        """Add outer products to the training-optimal matrices ``at`` bytes into a buffer."""
        raise NotImplementedError

    # --- numbers ----------------------------------------------------------------------------

    def index(self, index: Index, in_workgroup: bool = False) -> NDArray[np.int64]:
        """The number of each executing invocation."""
        grid = self.program.grid
        lanes, count = self.lanes, grid.invocations
        if in_workgroup:
            lanes, count = lanes % grid.local_size, grid.local_size
        match index.spread:
            case Spread.UNIFORM:
                return np.full(len(lanes), index.base, np.int64)
            case Spread.INVOCATION:
                k = lanes
            case Spread.CLUSTERED:
                k = lanes // index.cluster
            case Spread.REVERSED:
                k = count - 1 - lanes
            case Spread.TABLE:
                k = np.array(index.table, np.int64)[lanes]
        return (index.base + index.step * k) % (1 << 32)

    def offsets(self, place: Place, alignment: int) -> NDArray[np.int64]:
        """Where each executing invocation's access begins, in the memory behind the buffer.

        ValueError for an offset that isn't a multiple of ``alignment``: invalid usage."""
        buffer = self.program.buffer(place.buffer)
        shared = buffer.storage is Storage.WORKGROUP
        found = self.index(place.at, shared)
        if (found % alignment).any():
            raise ValueError(f"an offset into {buffer.name} isn't a multiple of {alignment}")
        if shared:
            groups = self.lanes // self.program.grid.local_size
            found = found + groups * (buffer.size * buffer.pointee.bytes)
        return found

    def condition(self, condition: Condition) -> NDArray[np.bool_]:
        """Which executing invocations it holds in."""
        return self.index(condition.index) < condition.below

    @contextmanager
    def only(self, lanes: Lanes) -> Iterator[None]:
        """Execute the block in ``lanes`` alone."""
        before, self.lanes = self.lanes, lanes
        try:
            yield
        finally:
            self.lanes = before

    # --- values -----------------------------------------------------------------------------

    def exact(self, name: str) -> Exact:
        """The value of the executing invocations; Undetermined where it isn't one value."""
        return exactly(self.values[name], self.lanes, name)

    def assign(self, name: str, value: LaneValue) -> None:
        """Give a name its value in the executing invocations."""
        self.assign_pieces(name, (Piece(self.lanes, self.kept(value)),))

    def assign_pieces(self, name: str, pieces: Pieces) -> None:
        """Give a name its values in the invocations of ``pieces``."""
        new = np.concatenate([piece.lanes for piece in pieces])
        old = self.values.get(name, ())
        rest = (np.setdiff1d(piece.lanes, new, assume_unique=True) for piece in old)
        kept = (piece.of(lanes) for piece, lanes in zip(old, rest, strict=True) if len(lanes))
        self.values[name] = (*pieces, *(piece for piece in kept if piece is not None))

    # --- statements -------------------------------------------------------------------------

    def execute(self, body: Sequence[VectorStatement]) -> None:
        """Execute statements in the current invocations, if there are any."""
        for statement in body:
            if len(self.lanes):
                self.statement(statement)

    def statement(self, it: VectorStatement) -> None:
        """Execute one statement."""
        match it:
            case VectorLoad():
                self._load(it)
            case VectorStore():
                vector = self.vector(it.value)
                buffer, positions = self._vectors(it.place, vector)
                self.store(it, buffer, positions, parts(self.values[it.value], self.lanes))
            case WriteNumber():
                buffer, positions = self._numbers(it.place)
                self.store_numbers(buffer, positions)
            case MatrixMul():
                self._multiply(it)
            case ReduceSum():
                buffer, positions = self._vectors(it.place, self.vector(it.value))
                self.accumulate(it, buffer, positions, self.exact(it.value))
            case OuterProduct():
                at = self.offsets(it.place, _MATRIX_ALIGNMENT)
                buffer = self.program.buffer(it.place.buffer)
                self.accumulate_product(it, buffer, at, self.exact(it.a), self.exact(it.b))
            case Constant():
                self.assign(it.result, self._constant(it))
            case ScalarConstant():
                self.assign(it.result, self._filled(it.type, np.array([it.bits])))
            case Elementwise():
                operands = [self.exact(name) for name in it.operands]
                self.assign(it.result, apply(it.op, operands))
            case TimesScalar():
                found = times_scalar(self.exact(it.vector), self.exact(it.scalar))
                self.assign(it.result, found)
            case VectorConvert():
                value = self.exact(it.value)
                self.assign(it.result, convert(value, it.by, it.type.component))
            case Extract():
                self.assign(it.result, self._extracted(it))
            case Insert():
                self.assign(it.result, self._inserted(it))
            case Construct():
                scalars = [self.exact(name) for name in it.scalars]
                bits = np.concatenate([scalar.bits for scalar in scalars], axis=1)
                assumed = any(scalar.assumed for scalar in scalars)
                self.assign(it.result, Exact(it.type.component, bits, None, assumed))
            case Through():
                chosen = it.values[it.index]
                self.assign_pieces(it.result, parts(self.values[chosen], self.lanes))
            case Pick():
                self._pick(it)
            case If():
                self._if(it)
            case Loop():
                self._loop(it)
            case Exit():
                self.lanes = self.lanes[~self.condition(it.condition)]
            case Helpers():
                self.helpers(it)

    def helpers(self, it: Helpers) -> None:
        """What helper invocations do has no effect."""

    def vector(self, name: str) -> VectorType:
        """The type of the vector called ``name``."""
        found = self.types[name]
        if isinstance(found, Component):
            raise ValueError(f"{name} is no vector")
        return found

    # --- memory -----------------------------------------------------------------------------

    def _vectors(self, place: Place, vector: VectorType) -> tuple[Buffer, NDArray[np.int64]]:
        """A buffer and the byte positions of vectors in it, [invocations, components, bytes]."""
        buffer = self.program.buffer(place.buffer)
        size = vector.component.bytes
        inner = np.arange(vector.length * size, dtype=np.int64).reshape(vector.length, size)
        at = self.offsets(place, _LOAD_ALIGNMENT)[:, None, None] + inner
        self._inside(buffer, at)
        return buffer, at

    def _numbers(self, place: Place) -> tuple[Buffer, NDArray[np.int64]]:
        """A buffer and the byte positions of uint32 elements in it, [invocations, 1, bytes]."""
        buffer = self.program.buffer(place.buffer)
        size = buffer.pointee.bytes
        at = size * self.offsets(place, 1)[:, None, None] + np.arange(size, dtype=np.int64)
        self._inside(buffer, at)
        return buffer, at

    def number(self) -> Exact:
        """The number of each executing invocation."""
        return Exact(Component.UINT32, self.lanes[:, None, None].astype(np.uint32))

    def _inside(self, buffer: Buffer, positions: NDArray[np.int64]) -> None:
        if positions.size and (positions.max() >= len(self.memory[buffer.name])):
            raise OutOfBounds(f"an access ends {positions.max() + 1} bytes into {buffer.name}")

    def gathered(self, buffer: Buffer, positions: NDArray[np.int64], component: Component) -> Bits:
        """Components whose bytes lie at ``positions`` [..., bytes]."""
        raw = np.ascontiguousarray(self.read(buffer, positions))
        bits: Bits = raw.view(bits_dtype(component))[..., 0]
        return bits

    def _load(self, it: VectorLoad) -> None:
        buffer, at = self._vectors(it.place, it.type)
        bits = self.gathered(buffer, at, it.type.component)[..., None]
        self.assign(it.result, Exact(it.type.component, bits))

    # --- products ---------------------------------------------------------------------------

    def _multiply(self, it: MatrixMul) -> None:
        matrix = Exact(it.weights.interpretation, self.matrix(it))
        self.assign(it.result, product(it, self.given(it), matrix, self.bias(it)))

    def given(self, it: MatrixMul) -> Exact:
        """The input of each executing invocation, before it is interpreted."""
        return self.exact(it.input)

    def matrix(self, it: MatrixMul) -> Bits:
        """The matrix of each executing invocation as it is multiplied, [invocations, M, K]."""
        weights, rows, columns = it.weights, it.type.length, it.k
        if weights.transpose:
            rows, columns = columns, rows
        at = self.offsets(weights.place, _MATRIX_ALIGNMENT)
        if weights.layout.optimal:
            found = self.optimal(weights, at, rows, columns)
        else:
            found = self._strided(weights, at, rows, columns)
        return found.transpose(0, 2, 1) if weights.transpose else found

    def _strided(self, weights: Weights, at: NDArray[np.int64], rows: int, columns: int) -> Bits:
        if weights.stride % _STRIDE_ALIGNMENT:
            raise ValueError(f"a matrix stride of {weights.stride} isn't a multiple of 16")
        buffer = self.program.buffer(weights.place.buffer)
        size = weights.interpretation.bytes
        inner = strided_positions(rows, columns, weights.layout, weights.stride, size)
        distinct, which = np.unique(at, return_inverse=True)
        positions = distinct[:, None, None, None] + inner
        self._inside(buffer, positions)
        return self.gathered(buffer, positions, weights.interpretation)[which]

    def bias(self, it: MatrixMul) -> Exact | None:
        """The bias of each executing invocation; None if there is none."""
        if it.bias is None:
            return None
        kind = VectorType(it.bias.interpretation, it.type.length)
        buffer, positions = self._vectors(it.bias.place, kind)
        bits = self.gathered(buffer, positions, kind.component)[..., None]
        return Exact(kind.component, bits)

    # --- components -------------------------------------------------------------------------

    def _filled(self, component: Component, bits: NDArray[np.int64]) -> Exact:
        """The same components in every executing invocation."""
        shape = (len(self.lanes), len(bits), 1)
        whole = np.broadcast_to(bits.astype(bits_dtype(component))[None, :, None], shape)
        return Exact(component, whole)

    def _constant(self, it: Constant) -> Exact:
        bits = (0,) if it.form is Make.NULL else it.bits
        if len(bits) == 1:
            bits = bits * it.type.length
        return self._filled(it.type.component, np.array(bits, np.uint64).view(np.int64))

    def _chosen(self, index: Index, count: int) -> NDArray[np.int64]:
        found = self.index(index)
        if (found >= count).any():
            raise Undetermined(f"a component or element index of {found.max()} of {count}")
        return found

    def _extracted(self, it: Extract) -> Exact:
        vector = self.exact(it.vector)
        chosen = self._chosen(it.index, self.vector(it.vector).length)
        each = np.arange(len(self.lanes))
        undefined = vector.undefined
        part = None if undefined is None else undefined[each, chosen][:, None]
        return Exact(vector.component, vector.bits[each, chosen][:, None], part, vector.assumed)

    def _inserted(self, it: Insert) -> Exact:
        vector, scalar = self.exact(it.vector), self.exact(it.scalar)
        chosen = self._chosen(it.index, self.vector(it.vector).length)
        each = np.arange(len(self.lanes))
        bits = vector.bits.copy()
        bits[each, chosen] = scalar.bits[:, 0]
        undefined = None
        if vector.undefined is not None or scalar.undefined is not None:
            undefined = np.zeros(bits.shape, bool)
            if vector.undefined is not None:
                undefined |= vector.undefined
            undefined[each, chosen] = False if scalar.undefined is None else scalar.undefined[:, 0]
        return Exact(vector.component, bits, undefined, vector.assumed or scalar.assumed)

    def _pick(self, it: Pick) -> None:
        chosen = self._chosen(it.index, len(it.values))
        pieces: list[Piece] = []
        for number, name in enumerate(it.values):
            pieces += parts(self.values[name], self.lanes[chosen == number])
        self.assign_pieces(it.result, tuple(pieces))

    # --- control flow -----------------------------------------------------------------------

    def _if(self, it: If) -> None:
        taken = self.condition(it.condition)
        sides = ((it.then, self.lanes[taken]), (it.otherwise, self.lanes[~taken]))
        merged: list[list[Piece]] = [[] for _ in it.merges]
        for number, (body, lanes) in enumerate(sides):
            with self.only(lanes):
                self.execute(body)
            for found, merge in zip(merged, it.merges, strict=True):
                name = (merge.then, merge.otherwise)[number]
                found += parts(self.values.get(name, ()), lanes)
        for found, merge in zip(merged, it.merges, strict=True):
            self.assign_pieces(merge.result, tuple(found))

    def _loop(self, it: Loop) -> None:
        times = self.index(it.times)
        for carry in it.carried:
            self.assign_pieces(carry.name, parts(self.values[carry.initial], self.lanes))
        for number in range(int(times.max(initial=0))):
            lanes = self.lanes[times > number]
            with self.only(lanes):
                self.execute(it.body)
            following = [parts(self.values[carry.following], lanes) for carry in it.carried]
            for carry, pieces in zip(it.carried, following, strict=True):
                self.assign_pieces(carry.name, pieces)
        for carry in it.carried:
            self.assign_pieces(carry.result, parts(self.values[carry.name], self.lanes))
