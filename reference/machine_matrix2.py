"""How the concrete machine runs the statements of matrix2 and maintenance1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from cts.program.expression import (
    Apply,
    Choose,
    Condition,
    Element,
    Expression,
    Extra,
    Number,
    Operator,
)
from cts.program.matrix2 import ConvertUse, Locate, PerElement, Reduce, Reduction
from cts.program.types import Component, MatrixType
from reference.adders import Order, odd_sum
from reference.component import Bits, Floats, bits_dtype, decode, decode_int, encode, rounded

if TYPE_CHECKING:
    from reference.machine import Behaviour

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.object_]]


class Matrix2Steps:
    """The steps; :class:`reference.machine.Machine` has them, and mutants override them."""

    values: dict[str, Bits]
    types: dict[str, MatrixType]
    behaviour: Behaviour

    # --- reductions -----------------------------------------------------------------------

    def reduce(self, statement: Reduce) -> Bits:
        """The result of a reduction, [tiles, rows, columns]."""
        source = self.values[statement.value]
        tiles = source.shape[0]
        shape = (tiles, statement.type.rows, statement.type.columns)
        match statement.reduction:
            case Reduction.ROW:
                found = self.combined(statement, list(np.moveaxis(source, 2, 0)))
                return np.broadcast_to(found[:, :, None], shape)
            case Reduction.COLUMN:
                found = self.combined(statement, list(np.moveaxis(source, 1, 0)))
                return np.broadcast_to(found[:, None, :], shape)
            case Reduction.ALL:
                found = self.combined(statement, list(source.reshape(tiles, -1).T))
                return np.broadcast_to(found[:, None, None], shape)
            case Reduction.QUAD:
                corners = [source[:, r::2, c::2] for r in (0, 1) for c in (0, 1)]
                return self.combined(statement, corners)

    def combined(self, statement: Reduce, elements: list[Bits]) -> Bits:
        """All elements combined, in the order that the device's additions have."""
        component = statement.type.component
        order = self.behaviour.arithmetic.order
        stack = np.stack(elements[::-1] if order is Order.DESCENDING else elements)
        if order in (Order.ASCENDING, Order.DESCENDING):
            total: Bits = stack[0]
            for element in stack[1:]:
                total = self.apply(statement.operator, component, total, element)
            return total
        while len(stack) > 1:
            whole = len(stack) & ~1
            pairs = self.apply(statement.operator, component, stack[:whole:2], stack[1:whole:2])
            stack = np.concatenate([pairs, stack[whole:]])
        found: Bits = stack[0]
        return found

    def apply(self, operator: Operator, component: Component, x: Bits, y: Bits) -> Bits:
        """One operator on elements."""
        if component.is_integer:
            a, b = (decode_int(it, component).astype(object) for it in (x, y))
            mask = (1 << component.bits) - 1
            found: Numbers = _WHOLE[operator](a, b)
            low: Bits = (found & mask).astype(np.uint64).astype(bits_dtype(component))
            return low
        a, b = decode(x, component), decode(y, component)
        with np.errstate(all="ignore"):
            if operator is Operator.MIN:
                return np.where(a < b, x, y)
            if operator is Operator.MAX:
                return np.where(a < b, y, x)
            exact = a * b if operator is Operator.MUL else odd_sum(a, _signed(operator, b))
            held = rounded(exact, component, self.behaviour.arithmetic.rounding)
            return encode(held, component)

    # --- functions of elements ------------------------------------------------------------

    def per_element(self, statement: PerElement) -> Bits:
        """The result of a per-element operation."""
        source = self.values[statement.value]
        dtype = source.dtype
        scalars = [np.full(source.shape, bits, dtype) for bits in statement.scalars]
        matrices = [self.values[name] for name in statement.matrices]
        rows, columns = self.places(source)
        return self.function(
            statement.function,
            statement.type.component,
            {"row": rows, "column": columns},
            source,
            [*scalars, *matrices],
        )

    def locate(self, statement: Locate) -> Bits:
        """The components, each by its coordinates."""
        source = self.values[statement.value]
        rows, columns = self.places(source)
        where = {"row": rows, "column": columns}
        return self.function(statement.function, statement.type.component, where, source, [])

    def places(self, source: Bits) -> tuple[Bits, Bits]:
        """(row numbers, column numbers) of a batch of matrices."""
        places = np.indices(source.shape).astype(np.uint32)
        return places[1], places[2]

    def function(
        self,
        expression: Expression,
        component: Component,
        where: Mapping[str, Bits],
        element: Bits,
        extras: list[Bits],
    ) -> Bits:
        """The value of an expression, element by element."""
        match expression:
            case Element():
                return element
            case Extra(index=index):
                return extras[index]
            case Number(bits=bits):
                return np.full(element.shape, bits, element.dtype)
            case Choose(test=test, yes=yes, no=no):
                row, column = where["row"], where["column"]
                holds = _HOLDS[test](row, column)
                one = self.function(yes, component, where, element, extras)
                other = self.function(no, component, where, element, extras)
                return np.where(holds, one, other)
            case Apply(operator=operator, left=left, right=right):
                one = self.function(left, component, where, element, extras)
                other = self.function(right, component, where, element, extras)
                return self.apply(operator, component, one, other)
            case _:
                place = where[expression.axis.value]
                if component.is_integer:
                    return place.astype(bits_dtype(component))
                return encode(place.astype(np.float64), component)

    # --- conversions ----------------------------------------------------------------------

    def convert_use(self, statement: ConvertUse) -> Bits:
        """The elements with another use."""
        bits = self.values[statement.value]
        source, target = self.types[statement.value].component, statement.type.component
        if source is not target:
            bits = self.convert(bits, source, target)
        return bits.transpose(0, 2, 1) if statement.transpose else bits

    def convert(self, bits: Bits, source: Component, target: Component) -> Bits:
        """Elements with another component type."""
        if target.is_float:
            return encode(decode(bits, source), target, self.behaviour.arithmetic.rounding)
        if source.is_float:
            numbers = np.trunc(decode(bits, source)).astype(object)
        else:
            numbers = decode_int(bits, source).astype(object)
        whole = np.vectorize(lambda x: int(x) & ((1 << target.bits) - 1), otypes=[object])
        low: Bits = whole(numbers).astype(np.uint64).astype(bits_dtype(target))
        return low


def _signed(operator: Operator, values: Floats) -> Floats:
    return -values if operator is Operator.SUB else values


_WHOLE: dict[Operator, Callable[[Numbers, Numbers], Numbers]] = {
    Operator.ADD: lambda a, b: a + b,
    Operator.SUB: lambda a, b: a - b,
    Operator.MUL: lambda a, b: a * b,
    Operator.MIN: np.minimum,
    Operator.MAX: np.maximum,
    Operator.AND: lambda a, b: a & b,
    Operator.OR: lambda a, b: a | b,
    Operator.XOR: lambda a, b: a ^ b,
}
_HOLDS: dict[Condition, Callable[[Bits, Bits], np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]] = {
    Condition.BELOW_DIAGONAL: lambda row, column: row > column,
    Condition.DIAGONAL: lambda row, column: row == column,
    Condition.ODD_ROW: lambda row, column: (row & 1) == 1,
    Condition.ODD_COLUMN: lambda row, column: (column & 1) == 1,
}
