"""The values of statements that work element by element, while a program is evaluated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cts.program.arithmetic import Binary, Convert, Negate, Operator, Scale
from cts.program.model import MatrixType, MulAdd, Program
from reference.component import bits_dtype
from reference.elementwise import binary, convert, negate
from reference.modes import Modes
from reference.reach import Reach
from reference.settle import settled
from reference.values import Exact, Value

Element = Convert | Negate | Binary | Scale


class Elements:
    """Element-wise statements of one program; ``values`` are all values so far."""

    def __init__(
        self, program: Program, types: Mapping[str, MatrixType], values: Mapping[str, Value]
    ) -> None:
        self.modes = Modes.of(program.controls)
        self.reach = Reach(program.precise)
        self._types = types
        self._values = values

    def value(self, statement: Element) -> Value:
        """The value of a statement."""
        with np.errstate(all="ignore"):
            return self._value(statement)

    def _value(self, statement: Element) -> Value:
        match statement:
            case Convert():
                value = self._operand(statement.value, statement.result)
                self.reach.same(statement.result, statement.value)
                target = statement.type.component
                return convert(value, statement.by, target, statement.saturating, self.modes)
            case Negate():
                value = self._operand(statement.value, statement.result)
                self._derive(statement.result, None, (statement.value, value))
                return negate(value, self.modes)
            case Binary():
                left = self._operand(statement.left, statement.result)
                right = self._operand(statement.right, statement.result)
                named = ((statement.left, left), (statement.right, right))
                self._derive(statement.result, statement.operator, *named)
                return binary(statement.operator, left, right, self.modes)
            case Scale():
                value = self._operand(statement.value, statement.result)
                bits = np.full((1, 1, 1), statement.bits, bits_dtype(value.component))
                scalar = Exact(value.component, bits)
                named = ((statement.value, value), (_SCALAR, scalar))
                self._derive(statement.result, Operator.MULTIPLY, *named)
                return binary(Operator.MULTIPLY, value, scalar, self.modes)

    def multiplied(self, statement: MulAdd, a: Exact, b: Exact, c: Value) -> None:
        """Keeps the reach of a multiply-add of floats."""
        if statement.type.component.is_float:
            product = self.reach.of(statement.a, a) * self.reach.of(statement.b, b)
            third = self.reach.of(statement.c, c if isinstance(c, Exact) else None)
            self.reach.keep(statement.result, product * a.shape[2] + third)

    def _operand(self, name: str, result: str) -> Exact:
        return settled(self._values[name], result)

    def _derive(self, result: str, operator: Operator | None, *operands: tuple[str, Exact]) -> None:
        """Keeps the reach of a result of float arithmetic."""
        component = self._types[result].component
        if component.is_integer:
            return
        reaches = [self.reach.of(name, value) for name, value in operands]
        match operator:
            case Operator.DIVIDE:
                reach = np.inf
            case Operator.MULTIPLY:
                reach = float(np.prod(reaches))
            case _:
                reach = sum(reaches)
        self.reach.derive(result, component, (name for name, _ in operands), reach)


_SCALAR = ""
"""The name of what has none."""
