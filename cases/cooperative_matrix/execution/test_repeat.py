"""The same dispatch again."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import FLOAT_FAMILIES, INTEGER_FAMILIES
from cts.draw.combinations import combinations
from cts.draw.programs import Recipes, mul_adds
from cts.draw.recipes import integer_recipes, rounding_recipes
from cts.draw.variety import members
from cts.outcome import Level
from cts.subject import Subject

RUNS = 4


@case(
    id="cooperative_matrix.execution.repeated",
    rows=("M-18",),
    spec="SPV_KHR_cooperative_matrix#OpCooperativeMatrixMulAddKHR",
    requirement="The same dispatch on the same operands gives the same bits each time.",
    level=Level.POLICY,
    axes={"types": (*INTEGER_FAMILIES[:-1], *FLOAT_FAMILIES)},
)
def test_repeated(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    found = [it for it in combinations(subject.info) if axes.types.accepts(it)]
    subject.require(bool(found), f"no advertised combination is {axes.types.label}")
    combination = data.draw(members(found), label="combination")
    inputs = integer_recipes() if combination.types.is_integer else rounding_recipes(3)
    recipes = Recipes(inputs, inputs, inputs)
    sample = data.draw(mul_adds(subject.info, combination, recipes), label="program")
    subject.check(sample.program, sample.operands, repeat=RUNS)
