"""Arithmetic on the elements of matrices: what the scalar instructions give, element by element."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.elements import (
    ARITHMETIC,
    arithmetic,
    modes_for,
    negations,
    scalings,
    types_of,
)
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.arithmetic import Operator
from cts.program.controls import Mode
from cts.program.model import Component, MatrixType
from cts.subject import Subject

ELEMENTS = "SPV_KHR_cooperative_matrix#OpTypeCooperativeMatrixKHR"
PRECISION = "VkSpec#spirvenv-op-prec"
IEEE = (Component.FLOAT16, Component.FLOAT32, Component.FLOAT64)


def _matrix(subject: Subject, data: st.DataObject, component: Component) -> MatrixType:
    found = types_of(subject.info, component)
    subject.require(bool(found), f"no advertised subgroup matrix has {component.label} components")
    return data.draw(members(found), label="matrix")


@case(
    id="cooperative_matrix.arithmetic.negate",
    rows=("M-11",),
    spec=ELEMENTS,
    requirement="Negation gives the negative of every element; integers wrap.",
    level=Level.REQUIRED,
    axes={"component": ARITHMETIC},
)
def test_negate(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    sample = data.draw(negations(subject.info, matrix), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.arithmetic.binary",
    rows=("M-11",),
    spec=PRECISION,
    requirement="Adding, subtracting, multiplying and dividing two matrices gives the result for "
    "each pair of elements: correctly rounded, a quotient within 2.5 units in the last place; "
    "integers keep the low bits, and quotients of integers are cut toward zero.",
    level=Level.REQUIRED,
    axes={"operator": tuple(Operator), "component": ARITHMETIC},
)
def test_binary(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    sample = data.draw(arithmetic(subject.info, matrix, axes.operator), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.arithmetic.scale",
    rows=("M-11",),
    spec=PRECISION,
    requirement="A matrix times a scalar is the correctly rounded product of each element and the "
    "scalar.",
    level=Level.REQUIRED,
    axes={"component": ARITHMETIC},
)
def test_scale(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    sample = data.draw(scalings(subject.info, matrix), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.arithmetic.controls",
    rows=("M-11",),
    spec="VkSpec#spirvenv-precision-operation",
    requirement="Arithmetic on elements obeys the float-controls execution modes: the direction of "
    "rounding, whether subnormals are kept or flushed, and whether NaN and infinities count.",
    level=Level.REQUIRED,
    axes={"mode": tuple(Mode), "component": IEEE},
)
def test_controls(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    modes = modes_for(subject.info, axes.mode, axes.component)
    subject.require(
        bool(modes), f"the device has no {axes.mode.value} for {axes.component.label} alone"
    )
    matrix = _matrix(subject, data, axes.component)
    operators = [Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, None]
    operator = data.draw(members(operators), label="operator")
    if operator is None:
        sample = data.draw(scalings(subject.info, matrix, modes=modes), label="program")
    else:
        sample = data.draw(arithmetic(subject.info, matrix, operator, modes=modes), label="program")
    subject.check(sample.program, sample.operands)
