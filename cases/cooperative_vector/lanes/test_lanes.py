"""Each invocation by itself: divergent control flow, own matrices, inactive invocations."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.conversion import Converting, available
from cts.draw.vector_kinds import (
    RECORDS as ALL_RECORDS,
)
from cts.draw.vector_kinds import (
    Family,
    Kinds,
    kinds_of,
    layouts_of,
)
from cts.draw.vector_lanes import Flow, divergent, doubled, some
from cts.draw.vector_products import (
    plans,
)
from cts.program.model import Carry, Merge
from cts.program.vector import Index, Spread
from cts.program.vector_program import If, Launch, Loop, VectorStatement
from cts.program.vector_values import Elementwise, VectorOp
from cts.subject import Subject

SPEC = "SPV_NV_cooperative_vector#OpCooperativeVectorMatrixMulNV"
RECORDS = tuple(family for family in ALL_RECORDS if family.label in ("float16", "sint8", "packed"))
MOST = 40
"""Components of the vectors here: the invocations are what matters."""


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
    both = dataclasses.replace(plan, weights=doubled(plan))
    weights = both.place(draft, converting, layout)
    product = plan.multiply(draft, "y", "x", weights, plan.biases(draft))
    step = len(plan.weights) * weights.place.at.step
    draft.body += divergent(axes.flow, data, plan, product, step)
    plan.store(draft)
    subject.check(draft.program(), draft.inputs)


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
    condition = some(data, plan.launch)
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
