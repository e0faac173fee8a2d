"""Flexible dimensions: multiples of the advertised granularities, square or not, from one
granularity up to the largest dimension."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import COMPONENTS, FLOAT_FAMILIES, INTEGER_FAMILIES, Family
from cts.draw.combinations import Combination
from cts.draw.direct import product
from cts.draw.flexible import Flexible, SizeClass, combinations, flexible
from cts.draw.matrix2 import transforms
from cts.draw.programs import mul_add
from cts.draw.recipes import bit_recipes, exact_limits, integer_recipes, small_recipes
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import Component, Dialect, Grid, MatrixType
from cts.subject import Subject

FLEXIBLE = "VkSpec#VkCooperativeMatrixFlexibleDimensionsPropertiesNV"
SIZES = "VkSpec#VUID-RuntimeSpirv-cooperativeMatrixFlexibleDimensions-10165"
MUL_ADD = "VkSpec#VUID-RuntimeSpirv-cooperativeMatrixFlexibleDimensions-10166"
CLASSES = tuple(SizeClass)


def _records(subject: Subject, family: Family, *, saturating: bool = False) -> tuple[Flexible, ...]:
    found = tuple(
        record
        for record in flexible(subject.info)
        if record.saturating is saturating and family.accepts(record.sized(*record.granularity))
    )
    subject.require(bool(found), f"no record of flexible dimensions has {family.label} types")
    return found


def _typed(combination: Combination, component: Component) -> list[MatrixType]:
    matrices = (combination.a, combination.b, combination.c, combination.result)
    return [matrix for matrix in matrices if matrix.component is component]


@case(
    id="cooperative_matrix.flexible.every_record",
    rows=("M-25", "Q-11"),
    spec=FLEXIBLE,
    requirement="Every record of flexible dimensions can be used: a pipeline of these sizes "
    "(one granularity each) is created and multiplies.",
    level=Level.REQUIRED,
    fixed=True,
)
def test_every_record(subject: Subject) -> None:
    found = flexible(subject.info)
    subject.require(bool(found), "no flexible dimensions of subgroup scope are advertised")
    for record in found:
        sample = product(record.sized(*record.granularity), Grid(2, 1, subject.info.subgroup_size))
        subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.flexible.load_store",
    rows=("M-25", "M-02"),
    spec=SIZES,
    requirement="A matrix of every multiple of the granularities loads and stores its elements "
    "where layout and stride say.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS, "size": CLASSES},
)
def test_load_store(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = axes.component
    records = tuple(
        it for it in flexible(subject.info) if _typed(it.sized(*it.granularity), component)
    )
    subject.require(bool(records), f"no record of flexible dimensions has {component.label}")
    combination = data.draw(combinations(records, axes.size), label="combination")
    matrix = data.draw(members(_typed(combination, component)), label="matrix")
    recipes = bit_recipes(component, specials=False)
    sample = data.draw(
        transforms(subject.info, {"m": (matrix, recipes)}, (), {"m": matrix}, Dialect.NV),
        label="program",
    )
    subject.check(sample.program, sample.operands)


def _multiply(
    subject: Subject, data: st.DataObject, combination: Combination, recipes: list[object]
) -> None:
    matrices = (combination.a, combination.b, combination.c)
    inputs = dict(zip("abc", zip(matrices, recipes, strict=True), strict=True))
    body = (mul_add(combination, "d", "a", "b", "c"),)
    sample = data.draw(
        transforms(
            subject.info,
            inputs,  # type: ignore[arg-type]
            body,
            {"d": combination.result},
            Dialect.NV,
        ),
        label="program",
    )
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.flexible.mul_add.integer",
    rows=("M-25", "M-05"),
    spec=MUL_ADD,
    requirement="An integer multiply-add of every multiple of the granularities gives the low bits "
    "of the exact result.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES, "size": CLASSES},
)
def test_integer(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    records = _records(subject, axes.types)
    combination = data.draw(combinations(records, axes.size), label="combination")
    _multiply(subject, data, combination, [integer_recipes() for _ in range(3)])


@case(
    id="cooperative_matrix.flexible.mul_add.float",
    rows=("M-25", "M-07"),
    spec="VkSpec#spirvenv-precision-operation",
    requirement="A float multiply-add of every multiple of the granularities is exact where no "
    "order of additions can round.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES, "size": CLASSES},
)
def test_float(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    records = _records(subject, axes.types)
    combination = data.draw(combinations(records, axes.size), label="combination")
    types = combination.types
    top, third = exact_limits(types.a, types.b, types.c, types.result, combination.k)
    _multiply(
        subject,
        data,
        combination,
        [small_recipes(top), small_recipes(top), small_recipes(third)],
    )
