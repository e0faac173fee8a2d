"""Multiply-adds whose operands come from repeated memory or from arrays."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import FLOAT_FAMILIES, INTEGER_FAMILIES, Family
from cts.draw.combinations import Combination, combinations
from cts.draw.layouts import Style
from cts.draw.products import from_arrays, operand_recipes
from cts.draw.programs import Recipes, mul_adds
from cts.draw.variety import members
from cts.outcome import Level
from cts.subject import Subject

LOAD = "SPV_KHR_cooperative_matrix#OpCooperativeMatrixLoadKHR"
MUL_ADD = "SPV_KHR_cooperative_matrix#OpCooperativeMatrixMulAddKHR"
PRECISION = "VkSpec#spirvenv-op-prec"


def _choose(subject: Subject, data: st.DataObject, family: Family) -> Combination:
    found = [it for it in combinations(subject.info) if family.accepts(it) and not it.saturating]
    subject.require(bool(found), f"no advertised combination is {family.label}")
    return data.draw(members(found), label="combination")


def _repeated(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types)
    recipes = Recipes(*operand_recipes(combination, combination.k))
    styles = (Style.TIGHT, Style.REPEATED, Style.REPEATED)
    drawn = mul_adds(subject.info, combination, recipes, input_styles=styles)
    sample = data.draw(drawn, label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.mul_add.integer.repeated_lines",
    rows=("M-03", "M-05"),
    spec=LOAD,
    requirement="Operands that were loaded with stride 0, so that all their rows or columns are "
    "one, multiply as any other matrix.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES},
)
def test_repeated_integer(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _repeated(subject, axes, data)


@case(
    id="cooperative_matrix.mul_add.float.repeated_lines",
    rows=("M-03", "M-07"),
    spec=PRECISION,
    requirement="Operands that were loaded with stride 0, so that all their rows or columns are "
    "one, multiply as any other matrix.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_repeated_float(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _repeated(subject, axes, data)


def _arrays(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types)
    sample = data.draw(from_arrays(subject.info, combination), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.mul_add.integer.arrays",
    rows=("M-05", "M-12"),
    spec=MUL_ADD,
    requirement="Elements of arrays of matrices multiply as any other matrix.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES},
)
def test_arrays_integer(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _arrays(subject, axes, data)


@case(
    id="cooperative_matrix.mul_add.float.arrays",
    rows=("M-07", "M-12"),
    spec=PRECISION,
    requirement="Elements of arrays of matrices multiply as any other matrix.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_arrays_float(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _arrays(subject, axes, data)
