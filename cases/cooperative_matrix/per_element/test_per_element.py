"""OpCooperativeMatrixPerElementOpEXT (…NV): functions of row, column, element and further operands.

A function may be called more than once for an element and in any order, so it has no effects and
only its result is judged.
"""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw import matrix2
from cts.draw.axes import COMPONENTS
from cts.draw.functions import changing, functions, using
from cts.draw.matrix2 import transforms, whole
from cts.draw.recipes import small_recipes
from cts.draw.shapes import components, matrix_types
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.expression import Apply, Axis, Element, Expression, Extra, Operator, Place
from cts.program.matrix2 import PerElement, Reduce, Reduction
from cts.program.model import Component, Dialect, MatrixType, Use
from cts.subject import Subject

PER_ELEMENT = "SPV_NV_cooperative_matrix2#OpCooperativeMatrixPerElementOpNV"


def _dialect(subject: Subject, data: st.DataObject, *needs: str) -> Dialect:
    found = [
        dialect
        for dialect in matrix2.dialects(subject.info, "PerElement")
        if all(dialect in matrix2.dialects(subject.info, need) for need in needs)
    ]
    subject.require(
        bool(found), "the device supports cooperativeMatrixPerElementOperations of no extension"
    )
    dialect = data.draw(members(found), label="extension")
    subject.event("extension", dialect.label)
    return dialect


def _matrix(subject: Subject, data: st.DataObject, component: Component, *uses: Use) -> MatrixType:
    """A matrix of one of ``uses``; of any if there are none."""
    found = {use: matrix_types(subject.info, use, component) for use in uses or Use}
    usable = [use for use, matrices in found.items() if matrices]
    names = " or ".join(use.name.lower() for use in found)
    subject.require(bool(usable), f"no advertised matrix of use {names} has {component.label}")
    use = data.draw(members(usable), label="use")
    return data.draw(members(found[use]), label="matrix")


def _check(
    subject: Subject,
    data: st.DataObject,
    matrix: MatrixType,
    function: st.SearchStrategy[Expression],
    *,
    scalars: int = 0,
    matrices: int = 0,
) -> None:
    dialect = _dialect(subject, data)
    component = matrix.component
    given = tuple(
        whole(data.draw(st.integers(0, 3), label="scalar"), component) for _ in range(scalars)
    )
    names = tuple(f"x{index}" for index in range(matrices))
    drawn = data.draw(function, label="function")
    body = (PerElement("n", matrix, "m", drawn, given, names),)
    inputs = {name: (matrix, small_recipes(3)) for name in ("m", *names)}
    sample = data.draw(
        transforms(subject.info, inputs, body, {"n": matrix}, dialect), label="program"
    )
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.per_element.place",
    rows=("M-22",),
    spec=PER_ELEMENT,
    requirement="The first two parameters of the function are the row and the column of the "
    "element, in this order.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS, "axis": tuple(Axis)},
)
def test_place(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    _check(subject, data, matrix, using(axes.component, Place(axes.axis), 0))


@case(
    id="cooperative_matrix.per_element.function",
    rows=("M-22",),
    spec=PER_ELEMENT,
    requirement="Each element of the result is what the function returns for the element at the "
    "same place.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS, "use": tuple(Use)},
)
def test_function(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component, axes.use)
    drawn = st.one_of(functions(axes.component, 0), changing(axes.component))
    _check(subject, data, matrix, drawn)


@case(
    id="cooperative_matrix.per_element.scalars",
    rows=("M-22",),
    spec=PER_ELEMENT,
    requirement="Further scalar operands reach the function in their order.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS},
)
def test_scalars(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    count = data.draw(st.integers(1, 3), label="scalars")
    which = data.draw(st.integers(0, count - 1), label="scalar")
    _check(subject, data, matrix, using(axes.component, Extra(which), count), scalars=count)


@case(
    id="cooperative_matrix.per_element.matrices",
    rows=("M-22",),
    spec=PER_ELEMENT,
    requirement="Of a further operand that is a matrix, the function gets the element at the same "
    "place.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS},
)
def test_matrices(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    count = data.draw(st.integers(1, 2), label="matrices")
    scalars = data.draw(st.integers(0, 1), label="scalars")
    which = scalars + data.draw(st.integers(0, count - 1), label="matrix")
    function = using(axes.component, Extra(which), scalars + count)
    _check(subject, data, matrix, function, scalars=scalars, matrices=count)


@case(
    id="cooperative_matrix.per_element.after_reduction",
    rows=("M-21", "M-22"),
    spec=PER_ELEMENT,
    requirement="A function may combine each element with the reduction of its row or column.",
    level=Level.REQUIRED,
    axes={"reduction": (Reduction.ROW, Reduction.COLUMN, Reduction.ALL)},
)
def test_after_reduction(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    dialect = _dialect(subject, data, "Reductions")
    found = components(subject.info, Use.ACCUMULATOR)
    subject.require(bool(found), "no accumulator is advertised")
    component = data.draw(members(found), label="component")
    matrix = _matrix(subject, data, component, Use.ACCUMULATOR)
    subject.require(matrix.component.bits > 8, "8-bit numbers hold too few sums")
    operator = Operator.SUB if component.is_float or component.is_signed else Operator.XOR
    body = (
        Reduce("r", matrix, "m", axes.reduction, Operator.MAX),
        PerElement("n", matrix, "m", Apply(operator, Extra(0), Element()), (), ("r",)),
    )
    sample = data.draw(
        transforms(subject.info, {"m": (matrix, small_recipes(7))}, body, {"n": matrix}, dialect),
        label="program",
    )
    subject.check(sample.program, sample.operands)
