"""Functions of one matrix element, as data.

They are what OpCooperativeMatrixPerElementOp calls, and what OpCooperativeMatrixReduce combines
with. An expression has the matrix's component type; which numbers it makes is the strategies'
business: they choose operands for which every step is exact.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from cts.program.types import Component


class Operator(enum.Enum):
    """Apply operators. Floats take the first five; the bit operators are for integers."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    MIN = "min"
    MAX = "max"
    AND = "and"
    OR = "or"
    XOR = "xor"

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.value

    @property
    def combines(self) -> bool:
        """Whether it is commutative and associative, so that a reduction may combine with it."""
        return self is not Operator.SUB

    def takes(self, component: Component) -> bool:
        """Whether there is such an operation on a component type."""
        return component.is_integer or self not in (Operator.AND, Operator.OR, Operator.XOR)


class Axis(enum.Enum):
    """One of the two coordinates of an element."""

    ROW = "row"
    COLUMN = "column"


class Condition(enum.Enum):
    """Conditions on where an element is."""

    BELOW_DIAGONAL = "row > column"
    DIAGONAL = "row = column"
    ODD_ROW = "row is odd"
    ODD_COLUMN = "column is odd"


@dataclass(frozen=True)
class Element:
    """The element itself: the third parameter of the function."""


@dataclass(frozen=True)
class Place:
    """The row or column number, converted to the component type."""

    axis: Axis


@dataclass(frozen=True)
class Extra:
    """A further parameter of the function, by its position among them."""

    index: int


@dataclass(frozen=True)
class Number:
    """A constant, given by its bits."""

    bits: int


@dataclass(frozen=True)
class Apply:
    """An operator applied to two expressions."""

    operator: Operator
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Choose:
    """One of two expressions, by where the element is."""

    test: Condition
    yes: Expression
    no: Expression


Expression = Element | Place | Extra | Number | Apply | Choose


def parts(expression: Expression) -> Iterator[Expression]:
    """The expression and everything in it, outermost first."""
    yield expression
    match expression:
        case Apply(left=one, right=other) | Choose(yes=one, no=other):
            yield from parts(one)
            yield from parts(other)
        case _:
            pass


def text(expression: Expression) -> str:
    """The expression as an engineer would write it; ``m`` is the element."""
    match expression:
        case Element():
            return "m"
        case Place(axis=axis):
            return axis.value
        case Extra(index=index):
            return f"x{index}"
        case Number(bits=bits):
            return f"0x{bits:x}"
        case Apply(operator=operator, left=left, right=right):
            return f"{operator.value}({text(left)}, {text(right)})"
        case Choose(test=test, yes=yes, no=no):
            return f"({test.value} ? {text(yes)} : {text(no)})"
