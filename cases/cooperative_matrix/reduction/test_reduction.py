"""OpCooperativeMatrixReduceEXT (…NV): rows, columns, all elements and 2x2 neighbourhoods, combined
by functions that are commutative and associative.

The two extensions share the instruction; what a device has of them is drawn.
"""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw import matrix2
from cts.draw.axes import COMPONENTS
from cts.draw.shapes import components
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.expression import Operator
from cts.program.matrix2 import Reduction
from cts.program.model import Component, Dialect, Use
from cts.subject import Subject

REDUCE = "SPV_NV_cooperative_matrix2#OpCooperativeMatrixReduceNV"
COMBINING = tuple(operator for operator in Operator if operator.combines)
FLOATS = tuple(component for component in COMPONENTS if component.is_float)


def _dialect(subject: Subject, data: st.DataObject) -> Dialect:
    found = matrix2.dialects(subject.info, "Reductions")
    subject.require(bool(found), "the device supports cooperativeMatrixReductions of no extension")
    dialect = data.draw(members(found), label="extension")
    subject.event("extension", dialect.label)
    return dialect


def _component(
    subject: Subject, data: st.DataObject, reduction: Reduction, operator: Operator
) -> Component:
    found = [
        component
        for component in components(subject.info, Use.ACCUMULATOR)
        if operator.takes(component) and matrix2.reducible(subject.info, component, reduction)
    ]
    subject.require(
        bool(found), f"no advertised accumulator can be reduced by {reduction.label} so"
    )
    return data.draw(members(found), label="component")


def _check(
    subject: Subject,
    data: st.DataObject,
    component: Component,
    reduction: Reduction,
    operator: Operator,
    *,
    rounding: bool = False,
) -> None:
    dialect = _dialect(subject, data)
    sample = data.draw(
        matrix2.reductions(
            subject.info, component, reduction, operator, dialect, rounding=rounding
        ),
        label="program",
    )
    subject.event("component", component.label)
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.reduction.exact",
    rows=("M-21",),
    spec=REDUCE,
    requirement="Each element of the result combines all elements of the row, column, matrix or "
    "2x2 neighbourhood that it stands for, each once.",
    level=Level.REQUIRED,
    axes={"reduction": tuple(Reduction), "operator": COMBINING},
)
def test_exact(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = _component(subject, data, axes.reduction, axes.operator)
    _check(subject, data, component, axes.reduction, axes.operator)


@case(
    id="cooperative_matrix.reduction.rounded",
    rows=("M-21",),
    spec=REDUCE,
    requirement="A sum of floats is that of some order of correctly rounded additions, and all "
    "elements of a row, column or matrix of the result have the same value.",
    level=Level.REQUIRED,
    axes={"reduction": tuple(Reduction), "component": FLOATS},
)
def test_rounded(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    found = matrix2.reducible(subject.info, axes.component, axes.reduction)
    subject.require(bool(found), f"no advertised {axes.component.label} accumulator can be reduced")
    _check(subject, data, axes.component, axes.reduction, Operator.ADD, rounding=True)
