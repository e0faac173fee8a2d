"""What is stored becomes visible to later loads, of the same subgroup and of others."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.flow import any_types, exchanges, revisits
from cts.draw.programs import Slot, fits
from cts.outcome import Level
from cts.program.model import MatrixType, Storage
from cts.subject import Subject

MODEL = "VkSpec#memory-model"


def _matrix(subject: Subject, data: st.DataObject, storage: Storage) -> MatrixType:
    matrix = data.draw(any_types(subject.info), label="matrix")
    subject.require(matrix is not None, "no subgroup matrix is advertised")
    assert matrix is not None
    room = fits(subject.info, [Slot("shared", matrix, storage=storage)])
    subject.require(room, "the matrix doesn't fit into workgroup memory")
    return matrix


@case(
    id="cooperative_matrix.memory_model.exchange",
    rows=("M-17",),
    spec=MODEL,
    requirement="After a barrier of the workgroup a subgroup loads what another one stored, made "
    "available and visible by the barrier or by the accesses.",
    level=Level.REQUIRED,
    axes={"storage": tuple(Storage), "by": ("barrier", "access")},
    examples=2.0,
)
def test_exchange(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.storage)
    by_access = axes.by == "access"
    drawn = exchanges(subject.info, matrix, axes.storage, by_access=by_access)
    sample = data.draw(drawn, label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.memory_model.rounds",
    rows=("M-17",),
    spec=MODEL,
    requirement="Memory can be used again for the next exchange after a further barrier.",
    level=Level.REQUIRED,
    axes={"storage": tuple(Storage)},
)
def test_rounds(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.storage)
    sample = data.draw(exchanges(subject.info, matrix, axes.storage, rounds=3), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.memory_model.revisit",
    rows=("M-17",),
    spec=MODEL,
    requirement="A subgroup loads what it stored itself, and what it stored over that.",
    level=Level.REQUIRED,
    axes={"storage": tuple(Storage)},
)
def test_revisit(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.storage)
    sample = data.draw(revisits(subject.info, matrix, axes.storage), label="program")
    subject.check(sample.program, sample.operands)
