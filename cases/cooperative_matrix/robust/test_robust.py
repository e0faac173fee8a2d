"""Loads and stores out of bounds, where cooperativeMatrixRobustBufferAccess makes them defined."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.combinations import matrix_types
from cts.draw.elements import COMPONENTS, types_of
from cts.draw.robust import accesses
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import Robust
from cts.subject import Subject

ROBUST = "VkSpec#features-cooperativeMatrixRobustBufferAccess"


def _check(subject: Subject, axes: Axes, data: st.DataObject, *, stores: bool) -> None:
    found = types_of(subject.info, axes.component)
    subject.require(bool(found), f"no advertised matrix has {axes.component.label} components")
    matrix = data.draw(members(found), label="matrix")
    drawn = accesses(subject.info, matrix, axes.robust, stores=stores)
    sample = data.draw(drawn, label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.robust.load",
    rows=("M-16",),
    spec=ROBUST,
    requirement="With robust access the lines of a load that are in bounds are right, and with "
    "robustBufferAccess2 those out of bounds are zero.",
    level=Level.REQUIRED,
    axes={"robust": tuple(Robust), "component": COMPONENTS},
)
def test_load(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, axes, data, stores=False)


@case(
    id="cooperative_matrix.robust.store",
    rows=("M-16",),
    spec=ROBUST,
    requirement="With robust access a store out of bounds changes no memory but its buffer's; with "
    "robustBufferAccess2 it changes nothing, and the lines in bounds are stored.",
    level=Level.REQUIRED,
    axes={"robust": tuple(Robust), "component": COMPONENTS},
)
def test_store(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, axes, data, stores=True)


@case(
    id="cooperative_matrix.nv.robust",
    rows=("M-16", "M-19"),
    spec="VkSpec#features-cooperativeMatrixRobustBufferAccessNV",
    requirement="Robust access holds for the loads and stores of the first extension alike.",
    level=Level.REQUIRED,
    axes={"robust": tuple(Robust), "access": ("load", "store")},
)
def test_first(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    found = [
        matrix
        for component in COMPONENTS
        for matrix in matrix_types(subject.info, component, first=True)
    ]
    subject.require(bool(found), "no matrix of the first extension is advertised")
    matrix = data.draw(members(found), label="matrix")
    drawn = accesses(subject.info, matrix, axes.robust, stores=axes.access == "store")
    sample = data.draw(drawn, label="program")
    subject.check(replace(sample.program, first=True), sample.operands)
