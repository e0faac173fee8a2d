"""Many subgroups and workgroups, each with matrices of its own."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import INTEGER_FAMILIES
from cts.draw.combinations import combinations
from cts.draw.programs import Recipes, mul_adds
from cts.draw.recipes import integer_recipes
from cts.draw.variety import members
from cts.outcome import Level
from cts.subject import Subject


@case(
    id="cooperative_matrix.execution.tiles",
    rows=("M-14",),
    spec="SPV_KHR_cooperative_matrix#OpTypeCooperativeMatrixKHR",
    requirement="Every subgroup of every workgroup computes its own product, however many "
    "there are.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES},
    examples=0.5,
)
def test_tiles(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    found = [it for it in combinations(subject.info) if axes.types.accepts(it)]
    found = [it for it in found if not it.saturating]
    subject.require(bool(found), f"no advertised wrapping combination is {axes.types.label}")
    combination = data.draw(members(found), label="combination")
    inputs = integer_recipes()
    recipes = Recipes(inputs, inputs, inputs)
    sample = data.draw(mul_adds(subject.info, combination, recipes, tiles=512), label="program")
    subject.check(sample.program, sample.operands)
