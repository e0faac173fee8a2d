"""Matrices made of one scalar, in every way that SPIR-V has."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.elements import COMPONENTS, types_of
from cts.draw.flow import constructions
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import Form
from cts.subject import Subject


@case(
    id="cooperative_matrix.construct.splat",
    rows=("M-10",),
    spec="SPV_KHR_cooperative_matrix#OpConstantComposite",
    requirement="A matrix made of one scalar holds it in every element, whatever its use, made by "
    "a constant, a specialization constant, a null, a composite instruction or an initializer.",
    level=Level.REQUIRED,
    axes={"form": tuple(Form), "component": COMPONENTS},
    examples=0.5,
)
def test_splat(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    found = types_of(subject.info, axes.component)
    subject.require(bool(found), f"no advertised matrix has {axes.component.label} components")
    matrix = data.draw(members(found), label="matrix")
    sample = data.draw(constructions(subject.info, matrix, axes.form), label="program")
    subject.check(sample.program, sample.operands)
