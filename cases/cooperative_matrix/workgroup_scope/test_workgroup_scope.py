"""Matrices at workgroup scope: every advertised workgroup size, and the same results as at subgroup
scope where these are exact."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import FLOAT_FAMILIES, INTEGER_FAMILIES, Family
from cts.draw.combinations import Combination
from cts.draw.direct import product
from cts.draw.flexible import Flexible, SizeClass, combinations, flexible
from cts.draw.matrix2 import transforms
from cts.draw.programs import mul_add
from cts.draw.recipes import bit_recipes, exact_limits, integer_recipes, small_recipes
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import Dialect, Grid, Scope
from cts.subject import Subject

SCOPE = "VkSpec#features-cooperativeMatrixWorkgroupScope"
RECORD = "VkSpec#VkCooperativeMatrixFlexibleDimensionsPropertiesNV"
CLASSES = (SizeClass.ONE, SizeClass.FEW, SizeClass.ODD)


def _records(subject: Subject) -> tuple[Flexible, ...]:
    found = flexible(subject.info, Scope.WORKGROUP)
    subject.require(bool(found), "no record of workgroup scope is advertised")
    return found


def _family(subject: Subject, family: Family) -> tuple[Flexible, ...]:
    found = tuple(
        it
        for it in _records(subject)
        if not it.saturating and family.accepts(it.sized(*it.granularity))
    )
    subject.require(bool(found), f"no record of workgroup scope has {family.label} types")
    return found


@case(
    id="cooperative_matrix.workgroup_scope.every_record",
    rows=("M-26", "Q-11"),
    spec=RECORD,
    requirement="Every record of workgroup scope can be used in a workgroup of its number of "
    "invocations.",
    level=Level.REQUIRED,
    fixed=True,
)
def test_every_record(subject: Subject) -> None:
    size = subject.info.subgroup_size
    for record in _records(subject):
        grid = Grid(2, record.invocations // size, size)
        sample = product(record.sized(*record.granularity), grid)
        subject.check(sample.program, sample.operands)


def _draw(
    data: st.DataObject, records: tuple[Flexible, ...], size: SizeClass
) -> tuple[Combination, int]:
    """A combination, and the workgroup size that it is for."""
    by_size = {it.invocations: it for it in records}
    invocations = data.draw(members(sorted(by_size)), label="invocations")
    chosen = tuple(it for it in records if it.invocations == invocations)
    return data.draw(combinations(chosen, size), label="combination"), invocations


@case(
    id="cooperative_matrix.workgroup_scope.mul_add",
    rows=("M-26",),
    spec=SCOPE,
    requirement="A multiply-add at workgroup scope gives what it gives at subgroup scope, on data "
    "for which every order of additions is exact.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES, "size": CLASSES},
)
def test_mul_add(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _multiply(subject, data, axes.types, axes.size)


@case(
    id="cooperative_matrix.workgroup_scope.float_mul_add",
    rows=("M-26", "M-07"),
    spec=SCOPE,
    requirement="A float multiply-add at workgroup scope is exact where no order of additions can "
    "round.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES, "size": CLASSES},
)
def test_float_mul_add(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _multiply(subject, data, axes.types, axes.size)


def _multiply(subject: Subject, data: st.DataObject, family: Family, size: SizeClass) -> None:
    combination, invocations = _draw(data, _family(subject, family), size)
    types = combination.types
    if types.is_integer:
        recipes = [integer_recipes()] * 3
    else:
        top, third = exact_limits(types.a, types.b, types.c, types.result, combination.k)
        recipes = [small_recipes(top), small_recipes(top), small_recipes(third)]
    matrices = (combination.a, combination.b, combination.c)
    inputs = {
        name: (matrix, recipe)
        for name, matrix, recipe in zip("abc", matrices, recipes, strict=True)
    }
    body = (mul_add(combination, "d", "a", "b", "c"),)
    sample = data.draw(
        transforms(
            subject.info,
            inputs,
            body,
            {"d": combination.result},
            Dialect.NV,
            invocations=invocations,
        ),
        label="program",
    )
    subject.event("invocations", invocations)
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.workgroup_scope.load_store",
    rows=("M-26", "M-02"),
    spec=SCOPE,
    requirement="A matrix at workgroup scope loads and stores each element once, where layout and "
    "stride say.",
    level=Level.REQUIRED,
    axes={"size": (*CLASSES, SizeClass.MAXIMUM)},
)
def test_load_store(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination, invocations = _draw(data, _records(subject), axes.size)
    matrix = data.draw(members((combination.a, combination.b, combination.c)), label="matrix")
    recipes = bit_recipes(matrix.component, specials=False)
    sample = data.draw(
        transforms(
            subject.info,
            {"m": (matrix, recipes)},
            (),
            {"m": matrix},
            Dialect.NV,
            invocations=invocations,
        ),
        label="program",
    )
    subject.event("invocations", invocations)
    subject.check(sample.program, sample.operands)
