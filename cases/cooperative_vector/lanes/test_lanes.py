"""Each invocation by itself: divergent control flow, own matrices, inactive invocations."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np
from hypothesis import strategies as st

from cts.case import Axes, case
from cts.conversion import Converting, available
from cts.draw.vector_products import RECORDS as ALL_RECORDS
from cts.draw.vector_products import Family, Kinds, Plan, kinds_of, layouts_of, plans
from cts.program.model import Carry, Merge
from cts.program.vector import Condition, Index, MatrixMul, Place, Spread
from cts.program.vector_program import Exit, If, Launch, Loop, VectorStatement
from cts.program.vector_values import Elementwise, VectorOp
from cts.subject import Subject
from reference.component import Bits

SPEC = "SPV_NV_cooperative_vector#OpCooperativeVectorMatrixMulNV"
RECORDS = tuple(family for family in ALL_RECORDS if family.label in ("float16", "sint8", "packed"))
MOST = 40
"""Components of the vectors here: the invocations are what matters."""


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


def _condition(data: st.DataObject, launch: Launch) -> Condition:
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


def _divergent(
    flow: Flow, data: st.DataObject, plan: Plan, product: MatrixMul, step: int
) -> list[VectorStatement]:
    """Statements that make ``y`` from ``x``."""
    first, second = (_moved(product, name, step * i) for i, name in enumerate(("p", "q")))
    condition = _condition(data, plan.launch)
    match flow:
        case Flow.PHI | Flow.VARIABLE:
            phi = flow is Flow.PHI
            return [If(condition, (first,), (second,), (Merge("y", "p", "q"),), phi)]
        case Flow.ONE_SIDE:
            return [second, If(condition, (first,), (), (Merge("y", "p", "q"),))]
        case Flow.NESTED:
            inner = If(
                _condition(data, plan.launch),
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


def _families(subject: Subject, family: Family) -> tuple[Kinds, ...]:
    available(subject)
    return kinds_of(subject, family)


@case(
    id="cooperative_vector.lanes.divergent",
    rows=("V-08",),
    spec=SPEC,
    requirement="In divergent control flow each invocation computes its own product, with its own "
    "matrix and bias, whichever other invocations are active.",
    axes={"record": RECORDS, "flow": tuple(Flow)},
)
def test_divergent(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    kinds = _families(subject, axes.record)
    spreads = (Spread.TABLE, Spread.CLUSTERED, Spread.UNIFORM)
    plan = data.draw(plans(subject.info, kinds, spreads=spreads, most=MOST))
    converting = Converting(subject, ())
    draft = plan.draft()
    plan.load(draft)
    layout = data.draw(st.sampled_from(layouts_of(plan.kinds)), label="layout")
    # Twice the matrices: each index leads to one in either half.
    both = dataclasses.replace(plan, weights=_doubled(plan))
    weights = both.place(draft, converting, layout)
    product = plan.multiply(draft, "y", "x", weights, plan.biases(draft))
    step = len(plan.weights) * weights.place.at.step
    draft.body += _divergent(axes.flow, data, plan, product, step)
    plan.store(draft)
    subject.check(draft.program(), draft.inputs)


def _doubled(plan: Plan) -> Bits:
    """The matrices, and as many others: the same ones from the last element to the first."""
    return np.concatenate([plan.weights, plan.weights[:, ::-1, ::-1]])


@case(
    id="cooperative_vector.lanes.own_matrix",
    rows=("V-08",),
    spec=SPEC,
    requirement="The matrix and bias offsets may differ between invocations in any way.",
    axes={
        "record": RECORDS,
        "spread": (Spread.INVOCATION, Spread.CLUSTERED, Spread.REVERSED, Spread.TABLE),
    },
)
def test_own_matrix(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    kinds = _families(subject, axes.record)
    plan = data.draw(plans(subject.info, kinds, spreads=(axes.spread,), most=16, bias=True))
    layout = data.draw(st.sampled_from(layouts_of(plan.kinds)), label="layout")
    program, inputs = plan.build(Converting(subject, ()), layout)
    subject.check(program, inputs)


@case(
    id="cooperative_vector.lanes.launches",
    rows=("V-08",),
    spec=SPEC,
    requirement="Products need no full subgroups: any number of invocations in a workgroup and of "
    "workgroups will do.",
    axes={"record": RECORDS},
)
def test_launches(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    kinds = _families(subject, axes.record)
    launch = Launch(
        data.draw(st.integers(1, 4), label="workgroups"),
        data.draw(st.integers(1, 130), label="invocations"),
    )
    plan = data.draw(plans(subject.info, kinds, launches=(launch,), most=MOST))
    layout = data.draw(st.sampled_from(layouts_of(plan.kinds)), label="layout")
    program, inputs = plan.build(Converting(subject, ()), layout)
    subject.check(program, inputs)


@case(
    id="cooperative_vector.lanes.own_arithmetic",
    rows=("V-08", "V-09"),
    spec="SPV_NV_cooperative_vector#OpTypeCooperativeVectorNV",
    requirement="A vector belongs to its invocation: arithmetic in divergent control flow leaves "
    "the vectors of other invocations alone.",
    axes={"flow": (Flow.PHI, Flow.VARIABLE, Flow.LOOP)},
)
def test_own_arithmetic(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    kinds = _families(subject, RECORDS[0])
    plan = data.draw(plans(subject.info, kinds, most=MOST, spreads=(Spread.UNIFORM,), bias=True))
    assert plan.bias is not None and plan.v is not None
    plan = dataclasses.replace(plan, k=plan.m, given=plan.bias, x=plan.v)
    draft = plan.draft()
    plan.load(draft)
    condition = _condition(data, plan.launch)
    body: list[VectorStatement]
    if axes.flow is Flow.LOOP:
        rounds = tuple(i % 4 for i in range(plan.launch.invocations))
        step = Elementwise("n", VectorOp.FADD, ("c", "x"))
        times = Index(0, 1, Spread.TABLE, table=rounds)
        body = [Loop(times, (step,), (Carry("c", "x", "n", "y"),))]
    else:
        then = Elementwise("p", VectorOp.FADD, ("x", "x"))
        otherwise = Elementwise("q", VectorOp.FNEGATE, ("x",))
        phi = axes.flow is Flow.PHI
        body = [If(condition, (then,), (otherwise,), (Merge("y", "p", "q"),), phi)]
    draft.body += body
    plan.store(draft)
    subject.check(draft.program(), draft.inputs)
