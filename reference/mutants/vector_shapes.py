"""Faults of cooperative vectors that show in some programs only: in certain operands, behind
certain pointers, where something is rounded."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from cts.program.arithmetic import Conversion
from cts.program.flow import Through, Via
from cts.program.types import Buffer, Component
from cts.program.vector import MatrixLayout, MatrixMul, Place, VectorLoad, Weights
from cts.program.vector_program import VectorStatement
from cts.program.vector_values import Construct, TimesScalar, VectorConvert
from reference.component import Bits, decode, encode, float_format, rounded
from reference.mutants.vector import StrideTight, vector_mutant
from reference.vector_machine import Positions, VectorMachine

# --- products -------------------------------------------------------------------------------


class RunTimeStrideTight(StrideTight):
    """A stride that is loaded from memory is taken for the shortest one."""

    def matrix(self, it: MatrixMul) -> Bits:
        late = it.weights.run_time_stride
        return super().matrix(it) if late else VectorMachine.matrix(self, it)


class PaddingMultiplied(VectorMachine):
    """Rows are multiplied in units of 16 bytes, with zeros for what the input hasn't: harmless
    unless there is a NaN or an infinity behind a row."""

    def matrix(self, it: MatrixMul) -> Bits:
        found = super().matrix(it)
        kind = it.weights.interpretation
        if it.weights.layout is not MatrixLayout.ROW_MAJOR or not kind.is_float:
            return found
        whole = -(-it.k * kind.bytes // 16) * 16 // kind.bytes
        # Behind the last row there may be the end of the buffer.
        upper = dataclasses.replace(it.type, length=it.type.length - 1)
        behind = super().matrix(dataclasses.replace(it, type=upper, k=whole))[:, :, it.k :]
        wild = ~np.isfinite(decode(behind, kind)).all(axis=2)
        found = found.copy()
        found[:, :-1, 0][wild] = float_format(kind).nan_code
        return found


class TilePadding(VectorMachine):
    """The last column of a training-optimal matrix has the padding next to it added."""

    def optimal(self, weights: Weights, at: Positions, rows: int, columns: int) -> Bits:
        found = super().optimal(weights, at, rows, columns)
        kind = weights.interpretation
        training = weights.layout is MatrixLayout.TRAINING_OPTIMAL
        if not training or not kind.is_float or columns % 8 == 0:
            return found
        wider = decode(super().optimal(weights, at, rows, columns + 1), kind)
        found = found.copy()
        with np.errstate(all="ignore"):
            found[..., -1] = encode(wider[..., -2] + wider[..., -1], kind)
        return found


class SpecialisedLayoutDefault(VectorMachine):
    """A layout that is a specialization constant counts as row-major, its default."""

    def matrix(self, it: MatrixMul) -> Bits:
        weights = it.weights
        found = super().matrix(it)
        if "layout" not in self.program.specialized:
            return found
        if weights.layout is not MatrixLayout.COLUMN_MAJOR:
            return found
        return found.transpose(0, 2, 1).reshape(found.shape)


# --- memory ---------------------------------------------------------------------------------


class LoadOffsetUniform(VectorMachine):
    """Each four invocations load the vector of the first of them."""

    _loads = False

    def statement(self, it: VectorStatement) -> None:
        self._loads = isinstance(it, VectorLoad)
        super().statement(it)
        self._loads = False

    def offsets(self, place: Place, alignment: int) -> NDArray[np.int64]:
        found = super().offsets(place, alignment)
        if not self._loads:
            return found
        return found[np.searchsorted(self.lanes, self.lanes // 4 * 4)]


class OffsetOfPointee(VectorMachine):
    """The offset into an array of vectors is divided by their number of components."""

    def offsets(self, place: Place, alignment: int) -> NDArray[np.int64]:
        found = super().offsets(place, alignment)
        lanes = self.program.buffer(place.buffer).pointee.lanes
        return found // (alignment * lanes) * alignment


class ShortSums(VectorMachine):
    """Additions to memory keep the eight bits of a bfloat16."""

    def add(
        self, buffer: Buffer, positions: Positions, numbers: NDArray[np.float64], kind: Component
    ) -> None:
        before = decode(self.gathered(buffer, positions, kind), kind)
        with np.errstate(all="ignore"):
            total = rounded(before + numbers, Component.BFLOAT16)
        self.write(buffer, positions, encode(total, kind), kind)


# --- values ---------------------------------------------------------------------------------


class ConvertsToNearest(VectorMachine):
    """Floats are rounded to the nearest integer instead of toward zero."""

    def statement(self, it: VectorStatement) -> None:
        if not isinstance(it, VectorConvert) or it.by is not Conversion.F_TO_S:
            super().statement(it)
            return
        kept = self.values[it.value]
        value = self.exact(it.value)
        whole = encode(np.rint(decode(value.bits, value.component)), value.component)
        self.assign(it.value, dataclasses.replace(value, bits=whole))
        super().statement(it)
        self.values[it.value] = kept


class ConstructRepeats(VectorMachine):
    """A vector of more than four scalars repeats the first four."""

    def statement(self, it: VectorStatement) -> None:
        if isinstance(it, Construct):
            scalars = tuple(it.scalars[number % 4] for number in range(len(it.scalars)))
            it = dataclasses.replace(it, scalars=scalars)
        super().statement(it)


class LastParameterFirst(VectorMachine):
    """A function that is given several vectors sees the first one as the last."""

    def statement(self, it: VectorStatement) -> None:
        if isinstance(it, Through) and it.via is Via.PARAMETER and it.index:
            it = dataclasses.replace(it, index=it.index % (len(it.values) - 1))
        super().statement(it)


class FourScaled(VectorMachine):
    """OpVectorTimesScalar multiplies the first four components only."""

    def statement(self, it: VectorStatement) -> None:
        super().statement(it)
        if isinstance(it, TimesScalar):
            scaled, vector = self.exact(it.result), self.exact(it.vector)
            bits = scaled.bits.copy()
            bits[:, 4:] = vector.bits[:, 4:]
            self.assign(it.result, dataclasses.replace(scaled, bits=bits))


MUTANTS = (
    vector_mutant("vector_run_time_stride_tight", RunTimeStrideTight),
    vector_mutant("vector_padding_multiplied", PaddingMultiplied),
    vector_mutant("vector_tile_padding_added", TilePadding),
    vector_mutant("vector_specialised_layout_default", SpecialisedLayoutDefault),
    vector_mutant("vector_load_offset_uniform", LoadOffsetUniform),
    vector_mutant("vector_offset_of_pointee", OffsetOfPointee),
    vector_mutant("additions_in_bfloat16", ShortSums),
    vector_mutant("vector_converts_to_nearest", ConvertsToNearest),
    vector_mutant("vector_construct_repeats_four", ConstructRepeats),
    vector_mutant("vector_last_parameter_is_first", LastParameterFirst),
    vector_mutant("vector_scalar_for_four", FourScaled),
)
