"""OpCooperativeMatrixConvertUseEXT (ConvertNV), conversions that change use and component type, and
transposition (OpCooperativeMatrixTransposeNV, the decoration CooperativeMatrixTransposeEXT)."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw import matrix2
from cts.draw.axes import COMPONENTS
from cts.draw.combinations import combinations
from cts.draw.matrix2 import transforms
from cts.draw.programs import mul_add
from cts.draw.recipes import SEEDS, exact_limits, small_recipes
from cts.draw.shapes import matrix_types
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.matrix2 import ConvertUse
from cts.program.model import Component, Dialect, MatrixType, Use
from cts.program.recipe import Pattern, Recipe
from cts.subject import Subject

CONVERT = "SPV_NV_cooperative_matrix2#OpCooperativeMatrixConvertNV"
TRANSPOSE = "SPV_NV_cooperative_matrix2#OpCooperativeMatrixTransposeNV"


@dataclass(frozen=True)
class Change:
    """A value of a ``change`` axis."""

    label: str
    source: Use
    target: Use
    transpose: bool = False
    dialects: tuple[Dialect, ...] = tuple(Dialect)


ACC = Use.ACCUMULATOR
CHANGES = (
    Change("accumulator_to_a", ACC, Use.A),
    Change("accumulator_to_b", ACC, Use.B),
    Change("transposed_to_b", ACC, Use.B, True),
    Change("transposed_to_a", ACC, Use.A, True, (Dialect.EXT,)),
    Change("a_to_accumulator", Use.A, ACC, False, (Dialect.EXT,)),
    Change("b_to_accumulator", Use.B, ACC, False, (Dialect.EXT,)),
)
WIDTHS = (
    (Component.FLOAT32, Component.FLOAT16),
    (Component.FLOAT16, Component.FLOAT32),
    (Component.FLOAT32, Component.BFLOAT16),
    (Component.FLOAT32, Component.FLOAT8_E4M3),
    (Component.FLOAT32, Component.FLOAT8_E5M2),
    (Component.FLOAT64, Component.FLOAT32),
    (Component.SINT32, Component.SINT8),
    (Component.SINT32, Component.UINT8),
    (Component.UINT32, Component.UINT8),
    (Component.UINT32, Component.SINT8),
    (Component.SINT32, Component.FLOAT16),
    (Component.UINT32, Component.FLOAT16),
    (Component.FLOAT32, Component.SINT8),
    (Component.FLOAT32, Component.UINT8),
    (Component.FLOAT16, Component.SINT8),
)


@dataclass(frozen=True)
class Pair:
    """Component types of the operand and of the result."""

    source: Component
    target: Component

    @property
    def label(self) -> str:
        """``float32_to_float16``."""
        return f"{self.source.label}_to_{self.target.label}"


def _dialect(subject: Subject, data: st.DataObject, change: Change) -> Dialect:
    found = [it for it in matrix2.dialects(subject.info, "Conversions") if it in change.dialects]
    subject.require(bool(found), "the device supports cooperativeMatrixConversions of no extension")
    dialect = data.draw(members(found), label="extension")
    subject.event("extension", dialect.label)
    return dialect


def _types(
    subject: Subject, data: st.DataObject, change: Change, pair: Pair
) -> tuple[MatrixType, MatrixType]:
    """Matrix types between which the conversion is, both advertised."""
    sources = matrix_types(subject.info, change.source, pair.source)
    targets = set(matrix_types(subject.info, change.target, pair.target))
    found = []
    for source in sources:
        rows, columns = source.rows, source.columns
        if change.transpose:
            rows, columns = columns, rows
        target = MatrixType(pair.target, rows, columns, change.target)
        if target in targets:
            found.append((source, target))
    subject.require(
        bool(found), f"no advertised sizes allow {pair.label} with the use {change.label}"
    )
    return data.draw(members(found), label="types")


def _recipes(pair: Pair) -> st.SearchStrategy[Recipe]:
    """Whole numbers that both types hold, and where there is only one type, every finite value."""
    patterns = [Pattern.ZEROS, Pattern.ONES, Pattern.IOTA, Pattern.SMALL]
    if all(it.is_float or it.is_signed for it in (pair.source, pair.target)):
        patterns.append(Pattern.SIGNED)
    if pair.source is pair.target:
        patterns += [Pattern.INDEX, Pattern.FULL]
    if pair.source.is_integer and pair.target.is_integer:
        patterns += [Pattern.BITS, Pattern.SPECIALS]
    narrow = {Component.FLOAT8_E4M3: 16, Component.FLOAT8_E5M2: 8}
    limit = min(narrow.get(pair.source, 120), narrow.get(pair.target, 120))
    return st.builds(Recipe, st.sampled_from(patterns), SEEDS, limit=st.sampled_from((limit, 3)))


def _check(subject: Subject, data: st.DataObject, change: Change, pair: Pair) -> None:
    dialect = _dialect(subject, data, change)
    source, target = _types(subject, data, change, pair)
    body = (ConvertUse("n", target, "m", change.transpose),)
    sample = data.draw(
        transforms(subject.info, {"m": (source, _recipes(pair))}, body, {"n": target}, dialect),
        label="program",
    )
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.use_conversion.same_component",
    rows=("M-20",),
    spec=CONVERT,
    requirement="A conversion of the use alone keeps every element at its place, or at the "
    "transposed one where a transposition is asked for.",
    level=Level.REQUIRED,
    axes={"change": CHANGES, "component": COMPONENTS},
)
def test_same_component(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, axes.change, Pair(axes.component, axes.component))


@case(
    id="cooperative_matrix.use_conversion.other_component",
    rows=("M-20",),
    spec=CONVERT,
    requirement="A conversion may change component type and use at once; numbers that both types "
    "hold stay the same.",
    level=Level.REQUIRED,
    axes={"change": CHANGES, "components": tuple(Pair(*pair) for pair in WIDTHS)},
    where=lambda axes: not axes.change.transpose or axes.change.dialects == (Dialect.EXT,),
)
def test_other_component(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, axes.change, axes.components)


@case(
    id="cooperative_matrix.use_conversion.fused",
    rows=("M-20", "M-05", "M-07"),
    spec=CONVERT,
    requirement="The result of a multiply-add can be the operand of another, after a conversion of "
    "its use or its transposition.",
    level=Level.REQUIRED,
    axes={"change": CHANGES[:3]},
)
def test_fused(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    change = axes.change
    dialect = _dialect(subject, data, change)
    found = []
    for first in combinations(subject.info):
        if first.saturating or first.m * first.n * first.k > 8192:
            continue
        rows, columns = (first.n, first.m) if change.transpose else (first.m, first.n)
        for second in combinations(subject.info):
            operand = second.a if change.target is Use.A else second.b
            same = first.types.result == operand.component
            float_to_int = first.types.result.is_float and operand.component.is_integer
            if (
                not second.saturating
                and (operand.rows, operand.columns) == (rows, columns)
                and (same or (not change.transpose and not float_to_int))
                and (same or first.types.result.bits != operand.component.bits)
                and first.types.c is first.types.result
            ):
                found.append((first, second))
    subject.require(bool(found), "no result of one combination can be an operand of another")
    first, second = data.draw(members(found[:64]), label="combinations")
    ones = small_recipes(1)
    body = (
        mul_add(first, "d", "a", "b", "c"),
        ConvertUse("u", second.a if change.target is Use.A else second.b, "d", change.transpose),
        mul_add(
            second,
            "e",
            "u" if change.target is Use.A else "o",
            "o" if change.target is Use.A else "u",
            "k",
        ),
    )
    other = second.b if change.target is Use.A else second.a
    top = (
        2
        if first.types.is_integer
        else exact_limits(first.types.a, first.types.b, first.types.c, first.types.result, first.k)[
            0
        ]
    )
    inputs = {
        "a": (first.a, small_recipes(min(top, 2))),
        "b": (first.b, st.just(Recipe(Pattern.PERMUTATION, 1))),
        "c": (first.c, ones),
        "o": (other, ones),
        "k": (second.c, ones),
    }
    sample = data.draw(
        transforms(subject.info, inputs, body, {"e": second.result}, dialect), label="program"
    )
    subject.check(sample.program, sample.operands)
