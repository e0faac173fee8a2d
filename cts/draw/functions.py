"""Strategies for functions of one element, exact by construction where they can be.

bfloat16 and float8 get functions that choose and, with numbers small enough, add; the oracle judges
the elements for which every step is exact, and most are.
"""

from __future__ import annotations

from hypothesis import strategies as st

from cts.draw.matrix2 import whole
from cts.program.expression import (
    Apply,
    Axis,
    Choose,
    Condition,
    Element,
    Expression,
    Extra,
    Number,
    Operator,
    Place,
)
from cts.program.types import Component

_FLOAT = (Operator.ADD, Operator.SUB, Operator.MUL, Operator.MIN, Operator.MAX)


def functions(component: Component, extras: int) -> st.SearchStrategy[Expression]:
    """Functions of row, column, element and ``extras`` further parameters; the simplest give one
    of these."""
    leaves: list[Expression] = [Element(), Place(Axis.ROW), Place(Axis.COLUMN)]
    leaves += [Extra(index) for index in range(extras)]
    leaves += [Number(whole(value, component)) for value in (0, 1, 2)]
    operators = tuple(Operator) if component.is_integer else _FLOAT
    return st.recursive(
        st.sampled_from(leaves),
        lambda inner: st.one_of(
            st.builds(Choose, st.sampled_from(Condition), inner, inner),
            st.builds(Apply, st.sampled_from(operators), inner, inner),
        ),
        max_leaves=5,
    )


def changing(component: Component) -> st.SearchStrategy[Expression]:
    """Functions that most often give something else when they are applied once more."""
    return st.builds(
        Apply,
        st.sampled_from((Operator.ADD, Operator.SUB)),
        st.just(Element()),
        st.one_of(st.just(Number(whole(1, component))), functions(component, 0)),
    )


def using(component: Component, required: Expression, extras: int) -> st.SearchStrategy[Expression]:
    """Functions in which ``required`` decides part of the result."""
    return st.one_of(
        st.just(required),
        st.builds(
            Choose, st.sampled_from(Condition), st.just(required), functions(component, extras)
        ),
        st.builds(
            Apply,
            st.sampled_from((Operator.ADD, Operator.MAX)),
            st.just(required),
            st.sampled_from((Element(), Number(whole(1, component)))),
        ),
    )
