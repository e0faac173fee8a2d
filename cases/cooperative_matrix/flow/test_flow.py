"""Matrices that pass through aggregates, functions, variables, branches and loops."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.flow import any_types, branches, loops, passages
from cts.outcome import Level
from cts.program.flow import Via
from cts.program.model import MatrixType
from cts.subject import Subject

COMPOSITE = "SPV_KHR_cooperative_matrix#OpTypeCooperativeMatrixKHR"


def _matrix(subject: Subject, data: st.DataObject) -> MatrixType:
    matrix = data.draw(any_types(subject.info), label="matrix")
    subject.require(matrix is not None, "no subgroup matrix is advertised")
    assert matrix is not None
    return matrix


@case(
    id="cooperative_matrix.flow.through",
    rows=("M-12",),
    spec=COMPOSITE,
    requirement="A matrix passes unchanged through functions, aggregates, variables and OpPhi, and "
    "so do those that pass with it.",
    level=Level.REQUIRED,
    axes={"via": tuple(Via)},
    examples=2.0,
)
def test_through(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data)
    sample = data.draw(passages(subject.info, matrix, axes.via), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.flow.branch",
    rows=("M-12", "M-14"),
    spec=COMPOSITE,
    requirement="Behind a branch that each subgroup takes as a whole, a matrix is the one of the "
    "side that was taken, even if both sides load it with other layouts.",
    level=Level.REQUIRED,
    axes={"depth": ("one", "nested")},
    examples=2.0,
)
def test_branch(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data)
    nested = axes.depth == "nested"
    sample = data.draw(branches(subject.info, matrix, nested), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.flow.loop",
    rows=("M-12", "M-14"),
    spec=COMPOSITE,
    requirement="A loop carries matrices from one iteration to the next, and loads each "
    "iteration's own.",
    level=Level.REQUIRED,
    examples=3.0,
)
def test_loop(subject: Subject, data: st.DataObject) -> None:
    matrix = _matrix(subject, data)
    sample = data.draw(loops(subject.info, matrix), label="program")
    subject.check(sample.program, sample.operands)
