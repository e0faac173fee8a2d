"""OpCooperativeMatrixMulAddKHR on floats.

The specification leaves order and internal precision to the implementation, so nothing here
decides conformance: exactness where every partial sum is representable, the error bound and
the reach of NaN and infinity are the suite's policy.
"""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import FLOAT_FAMILIES, Family
from cts.draw.combinations import Combination, combinations
from cts.draw.programs import Recipes, Slot, fits, mul_adds
from cts.draw.recipes import (
    SEEDS,
    class_bits,
    exact_limits,
    rounding_recipes,
    small_recipes,
    special_plants,
)
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import Storage
from cts.program.recipe import Pattern, Recipe
from cts.subject import Subject

PRECISION = "VkSpec#spirvenv-op-prec"


def _choose(subject: Subject, data: st.DataObject, family: Family) -> Combination:
    found = [it for it in combinations(subject.info) if family.accepts(it) and not it.saturating]
    subject.require(bool(found), f"no advertised combination is {family.label}")
    return data.draw(members(found), label="combination")


def _dense(
    combination: Combination, chain: int, *, signed: bool, whole_class: bool = False
) -> Recipes:
    """Integers everywhere whose sums are exact in every order: in every adder of the class where
    ``whole_class``, in those of devices that sum in float16 too otherwise."""
    types = combination.types
    top, rest = exact_limits(
        types.a,
        types.b,
        types.c,
        types.result,
        combination.k * chain,
        mixed_signs=signed,
        whole_class=whole_class,
    )
    inputs = small_recipes(top, signed=signed)
    return Recipes(inputs, inputs, small_recipes(rest, signed=signed))


def _one_hot(combination: Combination) -> Recipes:
    """One 1 in each row of A: every element of the result is one element of B, plus C."""
    types = combination.types
    half = 2 ** (class_bits(types.a, types.b, types.c, types.result) - 1)
    rows = st.builds(Recipe, st.sampled_from((Pattern.IDENTITY, Pattern.PERMUTATION)), SEEDS)
    return Recipes(rows, small_recipes(half), small_recipes(half))


@case(
    id="cooperative_matrix.mul_add.float.exact",
    rows=("M-07",),
    spec=PRECISION,
    requirement="Where every partial sum in every order is exactly representable and no addend "
    "is negative, the result is exact.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_exact(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types)
    dense = _dense(combination, 1, signed=False, whole_class=True)
    options = (dense, _one_hot(combination))
    recipes = data.draw(st.sampled_from(options), label="operands")
    sample = data.draw(mul_adds(subject.info, combination, recipes), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.mul_add.float.exact_signed",
    rows=("M-07",),
    spec=PRECISION,
    requirement="With addends of both signs, exactly representable sums come out within half a "
    "unit of the operands' grid.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_exact_signed(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types)
    recipes = _dense(combination, 1, signed=True)
    sample = data.draw(mul_adds(subject.info, combination, recipes), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.mul_add.float.dependent",
    rows=("M-07",),
    spec=PRECISION,
    requirement="A multiply-add whose C is the result of another sees that result, whole.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_dependent(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types)
    subject.require(
        combination.types.c is combination.types.result,
        "the result of this combination can't be its C",
    )
    chain = data.draw(st.integers(2, 5), label="chain")
    recipes = _dense(combination, chain, signed=False)
    sample = data.draw(mul_adds(subject.info, combination, recipes, chain=chain), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.mul_add.float.bound",
    rows=("M-07",),
    spec=PRECISION,
    requirement="The error stays within what some order of additions, each at least as precise "
    "as the result type, can produce.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_bound(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types)
    inputs = rounding_recipes(4)
    recipes = Recipes(inputs, inputs, inputs)
    sample = data.draw(mul_adds(subject.info, combination, recipes), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.mul_add.float.special",
    rows=("M-08",),
    spec=PRECISION,
    requirement="A NaN or infinity in a row of A or a column of B reaches that row or column of "
    "the result and no other element.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_special(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types)
    plain = _dense(combination, 1, signed=False)
    recipes = Recipes(
        special_plants(plain.a, combination.types.a),
        special_plants(plain.b, combination.types.b),
        plain.c,
    )
    sample = data.draw(mul_adds(subject.info, combination, recipes), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.mul_add.float.storage",
    rows=("M-04", "M-07"),
    spec=PRECISION,
    requirement="The storage class that operands and result live in makes no difference.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES, "storage": tuple(Storage)[1:]},
)
def test_storage(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types)
    matrices = (combination.a, combination.b, combination.c, combination.result)
    slots = [Slot(f"m{at}", matrix, storage=axes.storage) for at, matrix in enumerate(matrices)]
    subject.require(fits(subject.info, slots), "the operands don't fit into workgroup memory")
    recipes = _dense(combination, 1, signed=False)
    sample = data.draw(
        mul_adds(subject.info, combination, recipes, storage=axes.storage), label="program"
    )
    subject.check(sample.program, sample.operands)
