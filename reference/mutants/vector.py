"""Faults of cooperative vectors: products, lanes, memory."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from cts.device.protocol import Dispatch, Reply
from cts.program.types import Buffer, Component, Storage
from cts.program.vector import (
    Condition,
    MatrixLayout,
    MatrixMul,
    OuterProduct,
    Place,
    ReduceSum,
    VectorStore,
    Weights,
    WriteNumber,
)
from cts.program.vector_program import Exit, VectorProgram, VectorStatement
from reference.component import Bits, decode, encode
from reference.mutants.base import Executor, Fault, Mutant, overlay
from reference.values import Exact, FloatSum
from reference.vector_lanes import Pieces
from reference.vector_machine import Positions, VectorMachine
from reference.vector_product import PACKED


class WrongVectors(Fault):
    """Puts the difference that a faulty machine makes over the device's reply."""

    machine: type[VectorMachine] = VectorMachine

    def concerns(self, program: VectorProgram) -> bool:
        """Whether a program may show the fault: only with cooperative vectors."""
        return not all(isinstance(it, WriteNumber) for it in program.body)

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        """The device's reply with the faulty machine's mistakes."""
        reply = execute(request)
        program = request.program
        if not isinstance(program, VectorProgram) or reply.result < 0:
            return reply
        if not self.concerns(program):
            return reply
        names = [buffer.name for buffer in program.buffers]
        inputs = {name: buffer.data for name, buffer in zip(names, request.buffers, strict=False)}
        right = VectorMachine(program, inputs).results()
        wrong = self.machine(program, inputs).results()
        count = len(request.buffers)
        buffers = list(reply.buffers)
        for position, actual in enumerate(buffers):
            place = position % count
            if place < len(names):
                name = names[place]
                buffers[position] = overlay(actual, right[name], wrong[name])
        return dataclasses.replace(reply, buffers=tuple(buffers))


def vector_mutant(name: str, machine: type[VectorMachine]) -> Mutant:
    """A mutant whose vector programs are run by ``machine``; its docstring says what is wrong."""

    class Planted(WrongVectors):
        pass

    Planted.machine = machine
    return Mutant(name, "cooperative vector", (machine.__doc__ or "").strip(), Planted)


# --- products -------------------------------------------------------------------------------


class PackedReversed(VectorMachine):
    """Packed components are taken from the most significant byte on."""

    def given(self, it: MatrixMul) -> Exact:
        value = super().given(it)
        if it.interpretation not in PACKED:
            return value
        return dataclasses.replace(value, bits=value.bits.byteswap())


class TransposeIgnored(VectorMachine):
    """The Transpose operand is ignored."""

    def matrix(self, it: MatrixMul) -> Bits:
        found = super().matrix(it)
        if not it.weights.transpose:
            return found
        stored = found.transpose(0, 2, 1)
        return stored.reshape(found.shape)


class OneMatrixForAll(VectorMachine):
    """All invocations multiply with the matrix of the first active one."""

    def matrix(self, it: MatrixMul) -> Bits:
        found = super().matrix(it)
        return np.broadcast_to(found[:1], found.shape)


class OneBiasForAll(VectorMachine):
    """All invocations add the bias of the first active one."""

    def bias(self, it: MatrixMul) -> Exact | None:
        found = super().bias(it)
        if found is None:
            return None
        return Exact(found.component, np.broadcast_to(found.bits[:1], found.bits.shape))


class BiasDropped(VectorMachine):
    """The bias isn't added where M is no multiple of four."""

    def bias(self, it: MatrixMul) -> Exact | None:
        found = super().bias(it)
        if found is None or it.type.length % 4 == 0:
            return found
        return Exact(found.component, np.zeros_like(found.bits))


class BiasOfResultType(VectorMachine):
    """The bias is read as if it had the result's type."""

    def bias(self, it: MatrixMul) -> Exact | None:
        if it.bias is None:
            return None
        wrong = dataclasses.replace(it.bias, interpretation=it.type.component)
        return super().bias(dataclasses.replace(it, bias=wrong))


class FloatsTruncated(VectorMachine):
    """A float input becomes an integer by dropping its fraction."""

    def given(self, it: MatrixMul) -> Exact:
        value = super().given(it)
        if it.interpretation.is_float or not value.component.is_float:
            return value
        numbers = np.trunc(decode(value.bits, value.component))
        return dataclasses.replace(value, bits=encode(numbers, value.component))


class FloatsWrapped(VectorMachine):
    """A float input beyond the 8-bit range wraps instead of saturating."""

    def given(self, it: MatrixMul) -> Exact:
        value = super().given(it)
        if it.interpretation.is_float or not value.component.is_float:
            return value
        numbers = decode(value.bits, value.component)
        low = -128 if it.interpretation.is_signed else 0
        rounded = np.rint(np.nan_to_num(numbers))
        wild = (rounded < low) | (rounded > low + 255)
        wrapped = (rounded - low) % 256 + low
        bits = encode(np.where(wild, wrapped, numbers), value.component)
        return dataclasses.replace(value, bits=bits)


class LastColumnDropped(VectorMachine):
    """The last column of the matrix is ignored where K is odd."""

    def matrix(self, it: MatrixMul) -> Bits:
        found = super().matrix(it)
        if it.k % 2 == 0 or it.k == 1:
            return found
        found = found.copy()
        found[..., -1] = 0
        return found


class ColumnMajorAsRows(VectorMachine):
    """A column-major matrix is read as if it were row-major, its shape kept."""

    def matrix(self, it: MatrixMul) -> Bits:
        if it.weights.layout is not MatrixLayout.COLUMN_MAJOR:
            return super().matrix(it)
        found = super().matrix(it)
        return found.transpose(0, 2, 1).reshape(found.shape)


class StrideTight(VectorMachine):
    """The stride of a row-major matrix is rounded down to the line's own 16 bytes."""

    def matrix(self, it: MatrixMul) -> Bits:
        weights = it.weights
        if weights.layout is MatrixLayout.ROW_MAJOR:
            tight = -(-it.k * weights.interpretation.bytes // 16) * 16
            it = dataclasses.replace(it, weights=dataclasses.replace(weights, stride=tight))
        return super().matrix(it)


class InferencingAsTraining(VectorMachine):
    """An inferencing-optimal matrix is read as if it were training-optimal."""

    def optimal(self, weights: Weights, at: Positions, rows: int, columns: int) -> Bits:
        if weights.layout is MatrixLayout.INFERENCING_OPTIMAL:
            weights = dataclasses.replace(weights, layout=MatrixLayout.TRAINING_OPTIMAL)
        return super().optimal(weights, at, rows, columns)


class Float16Sums(VectorMachine):
    """Products with a float32 result are summed in float16."""

    def summed(self, chain: FloatSum) -> Exact:
        if chain.component is not Component.FLOAT32:
            return super().summed(chain)
        total = decode(chain.c.bits, chain.c.component)
        for a, b in chain.products:
            left, right = decode(a.bits, a.component), decode(b.bits, b.component)
            for k in range(left.shape[2]):
                step = total + left[:, :, k, None] * right[:, k, None, :]
                total = decode(encode(step, Component.FLOAT16), Component.FLOAT16)
        return Exact(chain.component, encode(total, chain.component))


class IntegersSaturate(VectorMachine):
    """Integer sums saturate at 32 bits instead of wrapping: the bias, where it is extreme."""

    def bias(self, it: MatrixMul) -> Exact | None:
        found = super().bias(it)
        if found is None or it.type.component is not Component.SINT32:
            return found
        near = np.int32(2**31 - 1 - (1 << 16))
        numbers = np.clip(found.bits.view(np.int32), -near, near)
        return Exact(found.component, numbers.view(np.uint32))


class InputSignIgnored(VectorMachine):
    """A signed integer input is saturated as if it were unsigned."""

    def given(self, it: MatrixMul) -> Exact:
        value = super().given(it)
        if not it.input_signed or value.component.bits != 32:
            return value
        negative = value.bits.view(np.int32) < 0
        return dataclasses.replace(value, bits=np.where(negative, np.uint32(127), value.bits))


# --- invocations ----------------------------------------------------------------------------


class LocalNumbers(VectorMachine):
    """Invocations of every workgroup count from 0: matrices are those of the first workgroup."""

    def matrix(self, it: MatrixMul) -> Bits:
        lanes = self.lanes
        with self.only(lanes % self.program.grid.local_size):
            return super().matrix(it)


class BranchTakenByAll(VectorMachine):
    """Both sides of a selection see the condition of the first invocation of each four."""

    def condition(self, condition: Condition) -> NDArray[np.bool_]:
        found = super().condition(condition)
        first = np.searchsorted(self.lanes, self.lanes // 4 * 4)
        return found[np.minimum(first, len(found) - 1)]


class ExitIgnored(VectorMachine):
    """Invocations that returned go on storing."""

    def statement(self, it: VectorStatement) -> None:
        if not isinstance(it, Exit):
            super().statement(it)


class LastInvocationLost(VectorMachine):
    """In a partly filled subgroup the last invocation doesn't store."""

    def store(self, it: VectorStore, buffer: Buffer, positions: Positions, pieces: Pieces) -> None:
        local = self.program.grid.local_size
        if local % 32 and local > 1:
            kept = self.lanes % local != local - 1
            with self.only(self.lanes[kept]):
                super().store(it, buffer, positions[kept], pieces)
        else:
            super().store(it, buffer, positions, pieces)


# --- memory ---------------------------------------------------------------------------------


class SharedOffsetIgnored(VectorMachine):
    """The offset of a load from workgroup memory is ignored."""

    def offsets(self, place: Place, alignment: int) -> NDArray[np.int64]:
        found = super().offsets(place, alignment)
        buffer = self.program.buffer(place.buffer)
        if buffer.storage is not Storage.WORKGROUP or place.buffer != "a":
            return found
        size = buffer.size * buffer.pointee.bytes
        return found // size * size


class StoreRoundsUp(VectorMachine):
    """A store writes whole units of 16 bytes."""

    def write(self, buffer: Buffer, positions: Positions, bits: Bits, component: Component) -> None:
        super().write(buffer, positions, bits, component)
        flat = positions.reshape(len(positions), -1)
        for start, end in zip(flat[:, 0], flat[:, -1] + 1, strict=True):
            self.memory[buffer.name][end : start + -(-(end - start) // 16) * 16] = 0


class TailLost(VectorMachine):
    """Components from 64 on are loaded as zero."""

    def gathered(self, buffer: Buffer, positions: NDArray[np.int64], component: Component) -> Bits:
        found = super().gathered(buffer, positions, component)
        if found.ndim == 2 and found.shape[1] > 64:
            found = found.copy()
            found[:, 64:] = 0
        return found


# --- training -------------------------------------------------------------------------------


class OuterProductOverwrites(VectorMachine):
    """An outer product replaces the matrix instead of being added."""

    def add(
        self, buffer: Buffer, positions: Positions, numbers: NDArray[np.float64], kind: Component
    ) -> None:
        if buffer.name == "g":
            self.write(buffer, positions, encode(numbers, kind), kind)
        else:
            super().add(buffer, positions, numbers, kind)


class AdditionsLost(VectorMachine):
    """Sums aren't atomic: of each four invocations one is lost."""

    def accumulate(self, it: ReduceSum, buffer: Buffer, positions: Positions, value: Exact) -> None:
        kept = self.lanes % 4 != 3
        with self.only(self.lanes[kept]):
            part = Exact(value.component, value.bits[kept])
            super().accumulate(it, buffer, positions[kept], part)


class OuterProductTransposed(VectorMachine):
    """A square outer product is added transposed."""

    def accumulate_product(
        self, it: OuterProduct, buffer: Buffer, at: Positions, a: Exact, b: Exact
    ) -> None:
        if a.bits.shape[1] == b.bits.shape[1]:
            a, b = b, a
        super().accumulate_product(it, buffer, at, a, b)


MUTANTS = (
    vector_mutant("packed_most_significant_first", PackedReversed),
    vector_mutant("vector_transpose_ignored", TransposeIgnored),
    vector_mutant("one_matrix_for_all", OneMatrixForAll),
    vector_mutant("one_bias_for_all", OneBiasForAll),
    vector_mutant("vector_bias_dropped", BiasDropped),
    vector_mutant("bias_of_result_type", BiasOfResultType),
    vector_mutant("float_input_truncated", FloatsTruncated),
    vector_mutant("float_input_wraps", FloatsWrapped),
    vector_mutant("vector_last_k_dropped", LastColumnDropped),
    vector_mutant("vector_column_major_as_rows", ColumnMajorAsRows),
    vector_mutant("vector_stride_tight", StrideTight),
    vector_mutant("inferencing_as_training", InferencingAsTraining),
    vector_mutant("vector_float16_sums", Float16Sums),
    vector_mutant("vector_integers_saturate", IntegersSaturate),
    vector_mutant("vector_input_sign_ignored", InputSignIgnored),
    vector_mutant("vector_local_numbers", LocalNumbers),
    vector_mutant("branch_taken_by_all", BranchTakenByAll),
    vector_mutant("exit_ignored", ExitIgnored),
    vector_mutant("last_invocation_lost", LastInvocationLost),
    vector_mutant("shared_offset_ignored", SharedOffsetIgnored),
    vector_mutant("vector_store_rounds_up", StoreRoundsUp),
    vector_mutant("vector_tail_lost", TailLost),
    vector_mutant("outer_product_overwrites", OuterProductOverwrites),
    vector_mutant("additions_lost", AdditionsLost),
    vector_mutant("outer_product_transposed", OuterProductTransposed),
)
