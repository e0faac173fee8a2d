"""OpCooperativeMatrixMulAddKHR on integers: fully determined, compared exactly."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import INTEGER_FAMILIES, Family
from cts.draw.combinations import Combination, combinations
from cts.draw.programs import Recipes, Slot, fits, mul_adds
from cts.draw.recipes import SEEDS, integer_recipes
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import Storage
from cts.program.recipe import Pattern, Recipe
from cts.subject import Subject

MUL_ADD = "SPV_KHR_cooperative_matrix#OpCooperativeMatrixMulAddKHR"
ANY = Recipes(integer_recipes(), integer_recipes(), integer_recipes())
NEAR_LIMIT = st.builds(
    Recipe,
    st.sampled_from((Pattern.ZEROS, Pattern.NEAR_MAX, Pattern.SPECIALS, Pattern.BITS)),
    SEEDS,
)


def _choose(
    subject: Subject, data: st.DataObject, family: Family, *, saturating: bool
) -> Combination:
    found = [
        combination
        for combination in combinations(subject.info)
        if family.accepts(combination) and combination.saturating is saturating
    ]
    kind = "saturating" if saturating else "wrapping"
    subject.require(bool(found), f"no advertised {kind} combination is {family.label}")
    return data.draw(members(found), label="combination")


@case(
    id="cooperative_matrix.mul_add.integer.wrapping",
    rows=("M-05",),
    spec=MUL_ADD,
    requirement="Without saturation an integer result is the low N bits of the exact A x B + C, "
    "each operand sign- or zero-extended as its signedness flag says.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES},
)
def test_wrapping(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types, saturating=False)
    sample = data.draw(mul_adds(subject.info, combination, ANY), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.mul_add.integer.dependent",
    rows=("M-05",),
    spec=MUL_ADD,
    requirement="A multiply-add whose C is the result of another sees that result, whole.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES},
)
def test_dependent(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types, saturating=False)
    subject.require(
        combination.types.c is combination.types.result,
        "the result of this combination can't be its C",
    )
    chain = data.draw(st.integers(2, 5), label="chain")
    sample = data.draw(mul_adds(subject.info, combination, ANY, chain=chain), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.mul_add.integer.storage",
    rows=("M-04", "M-05"),
    spec=MUL_ADD,
    requirement="The storage class that operands and result live in makes no difference.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES, "storage": tuple(Storage)[1:]},
)
def test_storage(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types, saturating=False)
    matrices = (combination.a, combination.b, combination.c, combination.result)
    slots = [Slot(f"m{at}", matrix, storage=axes.storage) for at, matrix in enumerate(matrices)]
    subject.require(fits(subject.info, slots), "the operands don't fit into workgroup memory")
    sample = data.draw(
        mul_adds(subject.info, combination, ANY, storage=axes.storage), label="program"
    )
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.mul_add.integer.saturating",
    rows=("M-06",),
    spec=MUL_ADD,
    requirement="With saturation, adding C to a product that didn't overflow clamps to the range "
    "of the result type with the result's signedness.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES},
)
def test_saturating(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types, saturating=True)
    recipes = Recipes(integer_recipes(), integer_recipes(), NEAR_LIMIT)
    sample = data.draw(mul_adds(subject.info, combination, recipes), label="program")
    subject.check(sample.program, sample.operands)
