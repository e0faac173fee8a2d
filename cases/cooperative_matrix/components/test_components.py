"""OpCooperativeMatrixLengthKHR and access to components by index.

Which invocation holds which element is the implementation's choice, and some hold an element
twice (matrix operands of one GPU family are kept in both halves of a wave). That every element is
held, and that no component serves two elements, isn't a choice.
"""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import COMPONENTS
from cts.draw.combinations import matrix_types
from cts.draw.programs import Slot, copies, lengths, stamps
from cts.draw.recipes import bit_recipes
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import Component, MatrixType
from cts.subject import Subject

LENGTH = "SPV_KHR_cooperative_matrix#OpCooperativeMatrixLengthKHR"


def _matrix(subject: Subject, data: st.DataObject, component: Component) -> MatrixType:
    found = matrix_types(subject.info, component)
    subject.require(bool(found), f"no advertised subgroup matrix has {component.label} components")
    return data.draw(members(found), label="matrix")


@case(
    id="cooperative_matrix.components.length",
    rows=("M-09",),
    spec=LENGTH,
    requirement="The lengths that the invocations of a subgroup see add up to at least the "
    "number of elements.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS},
)
def test_length(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    sample = data.draw(lengths(subject.info, matrix), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.components.cover",
    rows=("M-09",),
    spec=LENGTH,
    requirement="After every invocation wrote a value of its own to each of its components, no "
    "two elements of the matrix hold the same value.",
    level=Level.REQUIRED,
    axes={"component": tuple(it for it in COMPONENTS if it.is_integer)},
)
def test_cover(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    sample = data.draw(stamps(subject.info, matrix), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.components.rebuild",
    rows=("M-09",),
    spec=LENGTH,
    requirement="A matrix taken apart by component index and put together again is the same.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS},
)
def test_rebuild(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    source, target = Slot("x", matrix), Slot("y", matrix, stores=True)
    recipes = bit_recipes(axes.component, specials=False)
    sample = data.draw(copies(subject.info, source, target, recipes, rebuild=True), label="program")
    subject.check(sample.program, sample.operands)
