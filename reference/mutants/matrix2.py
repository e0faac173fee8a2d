"""Faults of reductions, use conversions and per-element operations."""

from __future__ import annotations

import dataclasses

import numpy as np

from cts.program.expression import Operator
from cts.program.matrix2 import ConvertUse, PerElement, Reduce, Reduction
from cts.program.model import Component, MulAdd, Scope, Store, Use
from reference.component import Bits, decode, encode, rounded
from reference.machine import Machine
from reference.mutants.base import Mutant, machine_mutant

MATRIX2 = "use conversion, matrix2"
SHAPE = "shape"
PRECISION = "precision"


class RowAsColumn(Machine):
    """Reduces the columns where rows are asked for and the matrix is square."""

    def reduce(self, statement: Reduce) -> Bits:
        source = self.values[statement.value]
        if statement.reduction is Reduction.ROW and source.shape[1] == source.shape[2]:
            self.values[statement.value] = source.transpose(0, 2, 1)
        result = super().reduce(statement)
        self.values[statement.value] = source
        return result


class LastColumnDropped(Machine):
    """The last column takes no part in reductions of rows."""

    def reduce(self, statement: Reduce) -> Bits:
        source = self.values[statement.value]
        if statement.reduction is Reduction.ROW and source.shape[2] > 1:
            self.values[statement.value] = source[:, :, :-1]
        result = super().reduce(statement)
        self.values[statement.value] = source
        return result


class LaterRowsAsFirst(Machine):
    """Reductions of rows give every later block of 8 rows the sums of the first block."""

    def reduce(self, statement: Reduce) -> Bits:
        result = super().reduce(statement)
        if statement.reduction is Reduction.ROW and result.shape[1] > 8:
            result = result[:, np.arange(result.shape[1]) % 8]
        return result


class Rotated(Machine):
    """Sums of floats along a row start at a different element in each column of the result."""

    def reduce(self, statement: Reduce) -> Bits:
        result = np.array(super().reduce(statement))
        rotates = statement.reduction is Reduction.ROW and statement.operator is Operator.ADD
        if not rotates or statement.type.component.is_integer:
            return result
        source = self.values[statement.value]
        for column in range(result.shape[2]):
            total = source[:, :, column % source.shape[2]]
            for step in range(1, source.shape[2]):
                element = source[:, :, (column + step) % source.shape[2]]
                total = self.apply(Operator.ADD, statement.type.component, total, element)
            result[:, :, column] = total
        return result


class QuadsApart(Machine):
    """2x2 reductions combine rows that are half a matrix apart."""

    def reduce(self, statement: Reduce) -> Bits:
        if statement.reduction is not Reduction.QUAD:
            return super().reduce(statement)
        source = self.values[statement.value]
        half = source.shape[1] // 2
        top, bottom = source[:, :half], source[:, half:]
        corners = [rows[:, :, start::2] for rows in (top, bottom) for start in (0, 1)]
        return self.combined(statement, corners)


class AllStopsAtRows(Machine):
    """A reduction of all elements reduces the rows only."""

    def reduce(self, statement: Reduce) -> Bits:
        if statement.reduction is not Reduction.ALL:
            return super().reduce(statement)
        source = self.values[statement.value]
        sums = self.combined(statement, list(np.moveaxis(source, 2, 0)))
        shape = (source.shape[0], statement.type.rows, statement.type.columns)
        rows = sums[:, np.arange(shape[1]) % sums.shape[1]]
        return np.broadcast_to(rows[:, :, None], shape)


class MaximumFromZero(Machine):
    """Maxima start from zero, so that negative ones are lost."""

    def combined(self, statement: Reduce, elements: list[Bits]) -> Bits:
        if statement.operator is Operator.MAX:
            elements = [*elements, np.zeros_like(elements[0])]
        return super().combined(statement, elements)


class MinimumUnsigned(Machine):
    """Minima of signed integers compare their bits."""

    def combined(self, statement: Reduce, elements: list[Bits]) -> Bits:
        if statement.operator is Operator.MIN and statement.type.component.is_signed:
            return np.asarray(np.minimum.reduce(elements))
        return super().combined(statement, elements)


class CombinedTwice(Machine):
    """Reductions of columns combine the first element twice."""

    def combined(self, statement: Reduce, elements: list[Bits]) -> Bits:
        if statement.reduction is Reduction.COLUMN:
            elements = [elements[0], *elements]
        return super().combined(statement, elements)


class WideResultZero(Machine):
    """Where the result of a reduction has more columns than its operand, the rest is zero."""

    def reduce(self, statement: Reduce) -> Bits:
        result = np.array(super().reduce(statement))
        result[:, :, self.values[statement.value].shape[2] :] = 0
        return result


class ReducedInBfloat16(Machine):
    """Sums of float32 along columns are kept in bfloat16."""

    def apply(self, operator: Operator, component: Component, x: Bits, y: Bits) -> Bits:
        result = super().apply(operator, component, x, y)
        if operator is Operator.ADD and component is Component.FLOAT32:
            return encode(rounded(decode(result, component), Component.BFLOAT16), component)
        return result


class TransposeOmitted(Machine):
    """A transposition moves nothing where the matrix is square."""

    def convert_use(self, statement: ConvertUse) -> Bits:
        square = statement.type.rows == statement.type.columns
        if statement.transpose and square:
            statement = dataclasses.replace(statement, transpose=False)
        return super().convert_use(statement)


class OperandTransposed(Machine):
    """An accumulator becomes the transposed B matrix without being asked to, where it is square."""

    def convert_use(self, statement: ConvertUse) -> Bits:
        result = super().convert_use(statement)
        if statement.type.use is Use.B and result.shape[1] == result.shape[2]:
            return result if statement.transpose else result.transpose(0, 2, 1)
        return result


class PairsSwapped(Machine):
    """Conversions of the use to A swap each two neighbours in a row."""

    def convert_use(self, statement: ConvertUse) -> Bits:
        result = super().convert_use(statement)
        if statement.type.use is not Use.A:
            return result
        return result[:, :, np.arange(result.shape[2]) ^ 1]


class ConvertSaturates(Machine):
    """Conversions of use to narrower integers clamp instead of keeping the low bits."""

    def convert(self, bits: Bits, source: Component, target: Component) -> Bits:
        if not (source.is_integer and target.is_integer and target.bits < source.bits):
            return super().convert(bits, source, target)
        low = -(1 << (target.bits - 1)) if target.is_signed else 0
        high = (1 << (target.bits - target.is_signed)) - 1
        clamped = np.clip(decode(bits, source), low, high)
        return super().convert(
            np.asarray(clamped.astype(np.int64).astype(np.uint64).astype(bits.dtype)),
            source,
            target,
        )


class FusedOldOperand(Machine):
    """A multiply-add whose A is a converted result sees zero in its last column."""

    def multiply_add(self, statement: MulAdd) -> Bits:
        made = {s.result for s in self.program.body if isinstance(s, ConvertUse)}
        kept = self.values[statement.a]
        if statement.a in made:
            stale = np.array(kept)
            stale[:, :, -1] = 0
            self.values[statement.a] = stale
        result = super().multiply_add(statement)
        self.values[statement.a] = kept
        return result


class PlaceSwapped(Machine):
    """Per-element functions get the column first and then the row."""

    def per_element(self, statement: PerElement) -> Bits:
        source = self.values[statement.value]
        rows, columns = self.places(source)
        given = [np.full(source.shape, bits, source.dtype) for bits in statement.scalars]
        given += [self.values[name] for name in statement.matrices]
        where = {"row": columns, "column": rows}
        return self.function(statement.function, statement.type.component, where, source, given)


class ColumnOfBlock(Machine):
    """Per-element functions get a column number that starts over after 8 columns."""

    def places(self, source: Bits) -> tuple[Bits, Bits]:
        rows, columns = super().places(source)
        return rows, columns % 8


class ScalarsReversed(Machine):
    """Further scalar operands reach per-element functions in reverse."""

    def per_element(self, statement: PerElement) -> Bits:
        return super().per_element(dataclasses.replace(statement, scalars=statement.scalars[::-1]))


class MatrixOfNeighbour(Machine):
    """Of a further matrix, per-element functions get the element one column on."""

    def per_element(self, statement: PerElement) -> Bits:
        kept = {name: self.values[name] for name in statement.matrices}
        for name, bits in kept.items():
            if name != statement.value:
                self.values[name] = np.roll(bits, -1, axis=2)
        result = super().per_element(statement)
        self.values.update(kept)
        return result


class CallsAddUp(Machine):
    """A per-element function is applied twice to the elements of the last row."""

    def per_element(self, statement: PerElement) -> Bits:
        once = super().per_element(statement)
        kept = self.values[statement.value]
        self.values[statement.value] = once
        twice = super().per_element(statement)
        self.values[statement.value] = kept
        result = np.array(once)
        result[:, -1] = twice[:, -1]
        return result


class WorkgroupHalf(Machine):
    """At workgroup scope the lower half of every product is that of the upper half."""

    def multiply_add(self, statement: MulAdd) -> Bits:
        result = np.array(super().multiply_add(statement))
        if statement.type.scope is Scope.WORKGROUP:
            half = result.shape[1] // 2
            result[:, half:] = result[:, :half]
        return result


class UpperHalfStored(Machine):
    """Of a matrix at workgroup scope only the upper half is stored."""

    def store(self, statement: Store) -> None:
        matrix = self.types[statement.value]
        where = self.region(matrix, statement.address)
        image = self.images[statement.address.buffer]
        before = where.read(image)
        super().store(statement)
        if matrix.scope is Scope.WORKGROUP:
            after, half = where.read(image), matrix.rows // 2
            after[:, half:] = before[:, half:]
            where.write(image, after)


class LastBlockOfColumns(Machine):
    """Products of more than two blocks of 8 columns lose C in the last block."""

    def multiply_add(self, statement: MulAdd) -> Bits:
        result = super().multiply_add(statement)
        if result.shape[2] <= 16:
            return result
        kept = self.values[statement.c]
        self.values[statement.c] = np.zeros_like(kept)
        without = super().multiply_add(statement)
        self.values[statement.c] = kept
        changed = np.array(result)
        changed[:, :, -8:] = without[:, :, -8:]
        return changed


MUTANTS: tuple[Mutant, ...] = (
    machine_mutant("reduce_row_as_column", MATRIX2, RowAsColumn),
    machine_mutant("reduce_last_column_dropped", SHAPE, LastColumnDropped),
    machine_mutant("reduce_later_rows_as_first", SHAPE, LaterRowsAsFirst),
    machine_mutant("reduce_rotated", MATRIX2, Rotated),
    machine_mutant("reduce_quads_apart", MATRIX2, QuadsApart),
    machine_mutant("reduce_all_stops_at_rows", MATRIX2, AllStopsAtRows),
    machine_mutant("reduce_maximum_from_zero", MATRIX2, MaximumFromZero),
    machine_mutant("reduce_minimum_unsigned", MATRIX2, MinimumUnsigned),
    machine_mutant("reduce_combines_twice", MATRIX2, CombinedTwice),
    machine_mutant("reduce_wide_result_zero", SHAPE, WideResultZero),
    machine_mutant("reduce_in_bfloat16", PRECISION, ReducedInBfloat16),
    machine_mutant("transpose_omitted", MATRIX2, TransposeOmitted),
    machine_mutant("convert_use_transposes", MATRIX2, OperandTransposed),
    machine_mutant("convert_use_swaps_pairs", MATRIX2, PairsSwapped),
    machine_mutant("convert_use_saturates", MATRIX2, ConvertSaturates),
    machine_mutant("convert_use_stale_operand", MATRIX2, FusedOldOperand),
    machine_mutant("per_element_place_swapped", MATRIX2, PlaceSwapped),
    machine_mutant("per_element_column_of_block", MATRIX2, ColumnOfBlock),
    machine_mutant("per_element_scalars_reversed", MATRIX2, ScalarsReversed),
    machine_mutant("per_element_matrix_of_neighbour", MATRIX2, MatrixOfNeighbour),
    machine_mutant("per_element_called_twice", MATRIX2, CallsAddUp),
    machine_mutant("workgroup_lower_half", SHAPE, WorkgroupHalf),
    machine_mutant("workgroup_upper_half_stored", SHAPE, UpperHalfStored),
    machine_mutant("flexible_last_block", SHAPE, LastBlockOfColumns),
)
