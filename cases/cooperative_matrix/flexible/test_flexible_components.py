"""Components of matrices with flexible dimensions: their number, and access by index."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.flexible import SizeClass, combinations, flexible
from cts.draw.programs import Slot, copies, lengths, stamps
from cts.draw.recipes import bit_recipes
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import MatrixType
from cts.subject import Subject

LENGTH = "SPV_KHR_cooperative_matrix#OpCooperativeMatrixLengthKHR"
CLASSES = (SizeClass.ONE, SizeClass.FEW, SizeClass.ODD)


def _matrix(
    subject: Subject, data: st.DataObject, size: SizeClass, *, integer: bool = False
) -> MatrixType:
    records = flexible(subject.info)
    if integer:
        records = tuple(it for it in records if it.types.is_integer)
    subject.require(bool(records), "no such flexible dimensions are advertised")
    combination = data.draw(combinations(records, size), label="combination")
    matrices = (combination.a, combination.b, combination.c, combination.result)
    return data.draw(members(matrices), label="matrix")


@case(
    id="cooperative_matrix.flexible.components.length",
    rows=("M-25", "M-09"),
    spec=LENGTH,
    requirement="The lengths that the invocations of a subgroup see add up to at least the "
    "number of elements, whatever multiple of the granularities the sizes are.",
    level=Level.REQUIRED,
    axes={"size": CLASSES},
)
def test_length(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.size)
    sample = data.draw(lengths(subject.info, matrix), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.flexible.components.cover",
    rows=("M-25", "M-09"),
    spec=LENGTH,
    requirement="No two elements of a matrix with flexible dimensions share a component.",
    level=Level.REQUIRED,
    axes={"size": CLASSES},
)
def test_cover(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.size, integer=True)
    sample = data.draw(stamps(subject.info, matrix), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.flexible.components.rebuild",
    rows=("M-25", "M-09"),
    spec=LENGTH,
    requirement="A matrix with flexible dimensions that is taken apart by component index and put "
    "together again is the same.",
    level=Level.REQUIRED,
    axes={"size": CLASSES},
)
def test_rebuild(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.size)
    source, target = Slot("x", matrix), Slot("y", matrix, stores=True)
    recipes = bit_recipes(matrix.component, specials=False)
    sample = data.draw(
        copies(subject.info, source, target, recipes, tiles=8, rebuild=True), label="program"
    )
    subject.check(sample.program, sample.operands)
