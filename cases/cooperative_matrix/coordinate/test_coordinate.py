"""OpCooperativeMatrixGetCoordinateEXT: which element a component of an invocation is."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import COMPONENTS
from cts.draw.functions import using
from cts.draw.matrix2 import transforms
from cts.draw.recipes import small_recipes
from cts.draw.shapes import matrix_types
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.expression import Apply, Axis, Element, Expression, Operator, Place
from cts.program.matrix2 import Locate
from cts.program.model import Component, Dialect, Use
from cts.subject import Subject

COORDINATE = "SPV_EXT_cooperative_matrix_maintenance1#OpCooperativeMatrixGetCoordinateEXT"


def _check(
    subject: Subject,
    data: st.DataObject,
    component: Component,
    use: Use,
    function: st.SearchStrategy[Expression],
) -> None:
    subject.require_needs("GetCoordinate")
    found = matrix_types(subject.info, use, component)
    subject.require(
        bool(found), f"no advertised matrix of use {use.name.lower()} has {component.label}"
    )
    matrix = data.draw(members(found), label="matrix")
    body = (Locate("n", matrix, "m", data.draw(function, label="function")),)
    inputs = {"m": (matrix, small_recipes(3))}
    sample = data.draw(
        transforms(subject.info, inputs, body, {"n": matrix}, Dialect.EXT), label="program"
    )
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.coordinate.place",
    rows=("M-27",),
    spec=COORDINATE,
    requirement="The coordinates of a component are the row and the column of the element that it "
    "holds; written to the components, they are found at just these places.",
    level=Level.REQUIRED,
    axes={"axis": tuple(Axis), "use": tuple(Use), "component": COMPONENTS},
)
def test_place(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, axes.component, axes.use, using(axes.component, Place(axes.axis), 0))


@case(
    id="cooperative_matrix.coordinate.element",
    rows=("M-27",),
    spec=COORDINATE,
    requirement="An element and its coordinates belong together: what is computed of both is found "
    "at the coordinates.",
    level=Level.REQUIRED,
    axes={"use": tuple(Use)},
)
def test_element(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    subject.require_needs("GetCoordinate")
    component = data.draw(members([it for it in COMPONENTS if it.bits >= 16]), label="component")
    axis = data.draw(members(tuple(Axis)), label="axis")
    function = Apply(Operator.ADD, Apply(Operator.MUL, Place(axis), Element()), Place(axis))
    _check(subject, data, component, axes.use, st.just(function))
