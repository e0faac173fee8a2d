"""Control flow that diverges around products, each invocation for itself."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np
from hypothesis import strategies as st

from cts.draw.vector_products import (
    Plan,
)
from cts.program.model import Carry, Merge
from cts.program.vector import Condition, Index, MatrixMul, Place, Spread
from cts.program.vector_program import Exit, If, Launch, Loop, VectorStatement
from reference.component import Bits


class Flow(enum.Enum):
    """How control flow diverges around products."""

    PHI = "both sides multiply, with other matrices; OpPhi"
    VARIABLE = "both sides multiply, with other matrices; a variable"
    ONE_SIDE = "one side multiplies, the other keeps what was"
    NESTED = "a selection inside a selection"
    LOOP = "each invocation repeats its product its own number of times"
    EXIT = "some invocations return before the product"

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


def some(data: st.DataObject, launch: Launch) -> Condition:
    """Some invocations: a half, every other one, one, all but one, none."""
    count = launch.invocations
    kind = data.draw(
        st.sampled_from(("half", "odd", "one", "others", "none", "clusters")), label="who"
    )
    match kind:
        case "half":
            return Condition(Index(0, 1, Spread.INVOCATION), -(-count // 2))
        case "odd":
            table = tuple(i % 2 for i in range(count))
            return Condition(Index(0, 1, Spread.TABLE, table=table), 1)
        case "one":
            return Condition(Index(0, 1, Spread.REVERSED), 1)
        case "others":
            one = data.draw(st.integers(0, count - 1), label="which")
            table = tuple(int(i == one) for i in range(count))
            return Condition(Index(0, 1, Spread.TABLE, table=table), 1)
        case "none":
            return Condition(Index(1, 1, Spread.INVOCATION), 1)
        case _:
            table = tuple(i // 5 % 2 for i in range(count))
            return Condition(Index(0, 1, Spread.TABLE, table=table), 1)


def _moved(product: MatrixMul, result: str, step: int) -> MatrixMul:
    """The same product with the next matrix."""
    place = product.weights.place
    at = dataclasses.replace(place.at, base=place.at.base + step)
    weights = dataclasses.replace(product.weights, place=Place(place.buffer, at))
    return dataclasses.replace(product, result=result, weights=weights)


def divergent(
    flow: Flow, data: st.DataObject, plan: Plan, product: MatrixMul, step: int
) -> list[VectorStatement]:
    """Statements that make ``y`` from ``x``: ``product`` of ``plan``, with a matrix of the first
    half of the :func:`doubled` ones, or with the one ``step`` bytes further on."""
    first, second = (_moved(product, name, step * i) for i, name in enumerate(("p", "q")))
    condition = some(data, plan.launch)
    match flow:
        case Flow.PHI | Flow.VARIABLE:
            phi = flow is Flow.PHI
            return [If(condition, (first,), (second,), (Merge("y", "p", "q"),), phi)]
        case Flow.ONE_SIDE:
            return [second, If(condition, (first,), (), (Merge("y", "p", "q"),))]
        case Flow.NESTED:
            inner = If(
                some(data, plan.launch),
                (second,),
                (_moved(product, "r", 0),),
                (Merge("s", "q", "r"),),
            )
            return [If(condition, (first,), (inner,), (Merge("y", "p", "s"),), False)]
        case Flow.LOOP:
            rounds = tuple(i % 4 + 1 for i in range(plan.launch.invocations))
            times = Index(0, 1, Spread.TABLE, table=rounds)
            return [
                second,
                Loop(times, (_moved(product, "p", 0),), (Carry("c", "q", "p", "y"),)),
            ]
        case Flow.EXIT:
            return [Exit(condition), dataclasses.replace(product, result="y")]


def doubled(plan: Plan) -> Bits:
    """The matrices, and as many others: the same ones from the last element to the first."""
    return np.concatenate([plan.weights, plan.weights[:, ::-1, ::-1]])
