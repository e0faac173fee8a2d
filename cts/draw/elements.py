"""Strategies for programs that work on elements: conversions and arithmetic.

Operands stay inside what the specification defines: no float is converted to an integer that
can't hold it, no integer is divided by zero, and the smallest integer not by -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.bodies import Around, Input, bodies
from cts.draw.programs import Sample
from cts.draw.recipes import SEEDS, bit_recipes
from cts.draw.shapes import matrix_types
from cts.draw.variety import shape_of
from cts.program.arithmetic import Binary, Conversion, Convert, Negate, Operator, Scale
from cts.program.controls import EXCLUSIVE, INDEPENDENCE, PROPERTIES, WIDTHS, Control, Mode
from cts.program.element_rules import NO_ARITHMETIC, fits
from cts.program.model import Component, MatrixType, Use
from cts.program.recipe import Pattern, Recipe

COMPONENTS = tuple(
    component
    for component in Component
    if component not in (Component.SINT8_PACKED, Component.UINT8_PACKED)
)
ARITHMETIC = tuple(component for component in COMPONENTS if component not in NO_ARITHMETIC)

PRECISION = {
    Component.FLOAT16: 11,
    Component.FLOAT32: 24,
    Component.FLOAT64: 53,
    Component.BFLOAT16: 8,
    Component.FLOAT8_E4M3: 4,
    Component.FLOAT8_E5M2: 3,
}
"""Significant bits of the float components."""

_REACH = {Component.FLOAT16: 15, Component.FLOAT8_E4M3: 8, Component.FLOAT8_E5M2: 15}
"""Exponent of the largest value, where that is less than any integer's."""


# --- matrix types -----------------------------------------------------------------------------


def types_of(info: DeviceInfo, component: Component) -> tuple[MatrixType, ...]:
    """Advertised matrix types with ``component``, of every use, accumulators first."""
    return tuple(
        matrix
        for use in (Use.ACCUMULATOR, Use.A, Use.B)
        for matrix in matrix_types(info, use, component)
    )


def convertible(
    info: DeviceInfo, source: Component, target: Component
) -> tuple[tuple[MatrixType, MatrixType], ...]:
    """Advertised pairs of matrix types that differ in their component alone."""
    targets = set(types_of(info, target))
    pairs = ((matrix, replace(matrix, component=target)) for matrix in types_of(info, source))
    return tuple(pair for pair in pairs if pair[1] in targets)


# --- operands -----------------------------------------------------------------------------------


def _recipes(patterns: Sequence[Pattern], limit: int, scale: int = 0) -> st.SearchStrategy[Recipe]:
    return st.builds(
        Recipe, st.sampled_from(patterns), SEEDS, limit=st.just(limit), scale=st.just(scale)
    )


def float_recipes(component: Component) -> st.SearchStrategy[Recipe]:
    """Operands that round: full significands, all exponents, subnormals and what isn't finite."""
    patterns = [
        Pattern.ZEROS,
        Pattern.ONES,
        Pattern.HALVES,
        Pattern.FULL,
        Pattern.WIDE,
        Pattern.BITS,
        Pattern.SUBNORMALS,
        Pattern.NEAR_MAX,
        Pattern.SPECIALS,
    ]
    if component.bits <= 16:
        patterns.append(Pattern.ALL_CODES)
    return _recipes(patterns, 6)


def any_recipes(component: Component) -> st.SearchStrategy[Recipe]:
    """Operands of arithmetic without undefined results."""
    if component.is_float:
        return float_recipes(component)
    return st.one_of(bit_recipes(component), _recipes((Pattern.WIDE, Pattern.SIGNED), 100))


def source_recipes(
    by: Conversion, source: Component, target: Component
) -> st.SearchStrategy[Recipe]:
    """Operands that ``by`` converts to ``target``; floats on their way to integers fit."""
    match by:
        case Conversion.F_TO_U | Conversion.F_TO_S:
            return _whole_recipes(source, target)
        case Conversion.F:
            plain = float_recipes(source)
            kept = PRECISION[target]
            if kept >= PRECISION[source]:
                return plain
            # All exponents, as many formats that values might pass through have fewer.
            return st.one_of(plain, _recipes((Pattern.WIDE,), 6), _recipes((Pattern.TIES,), kept))
        case _:
            return st.one_of(bit_recipes(source), _recipes((Pattern.WIDE,), 0))


def _whole_recipes(source: Component, target: Component) -> st.SearchStrategy[Recipe]:
    """Floats in the range of an integer type, with fractions."""
    bits = min(target.bits - target.is_signed, _REACH.get(source, 64))
    whole = min(2**bits, 2 ** PRECISION[source]) - 1
    quarters = min(2 ** PRECISION[source], 2 ** min(bits + 2, 60)) - 1
    small = [_recipes((Pattern.ZEROS, Pattern.ONES, Pattern.SMALL), whole)]
    small.append(_recipes((Pattern.SMALL,), quarters, scale=-2))
    if target.is_signed:
        small.append(_recipes((Pattern.SIGNED,), whole))
        small.append(_recipes((Pattern.SIGNED,), quarters, scale=-2))
        small.append(_recipes((Pattern.FULL,), bits - 1))
    return st.one_of(small)


_LARGEST = 1 << 60
"""The largest limit of a recipe."""


def divisor_recipes(component: Component) -> st.SearchStrategy[tuple[Recipe, Recipe]]:
    """(numerators, divisors) whose quotients are defined."""
    if component.is_float:
        divisors = _recipes((Pattern.ONES, Pattern.NONZERO, Pattern.FULL, Pattern.WIDE), 7)
        return st.tuples(float_recipes(component), divisors)
    largest = min((1 << (component.bits - component.is_signed)) - 1, _LARGEST)
    small = _recipes((Pattern.ZEROS, Pattern.ONES, Pattern.IOTA, Pattern.SIGNED), largest)
    any_size = st.sampled_from((7, 100, largest))
    divisors = st.builds(Recipe, st.just(Pattern.NONZERO), SEEDS, limit=any_size)
    # The second kind of divisors is far from -1, so that all numerators are good.
    far = st.tuples(bit_recipes(component), _recipes((Pattern.NEAR_MAX,), 7))
    return st.one_of(st.tuples(small, divisors), far)


def scalar_bits(component: Component) -> st.SearchStrategy[int]:
    """Scalars to multiply with, as bits."""
    if component.is_float:
        exponent = component.bits - PRECISION[component]
        one = ((1 << (exponent - 1)) - 1) << (PRECISION[component] - 1)
        sign = 1 << (component.bits - 1)
        fraction = (1 << (PRECISION[component] - 1)) - 1
        normal = st.integers(one - fraction, one + 3 * fraction)
        return st.one_of(st.sampled_from((one, 0)), normal, normal.map(lambda it: it | sign))
    if component.is_signed:
        mask = (1 << component.bits) - 1
        return st.integers(-3, 3).map(lambda it: it & mask)
    return st.integers(0, 5)


# --- programs -------------------------------------------------------------------------------------


def modes_for(info: DeviceInfo, mode: Mode, *components: Component) -> tuple[Control, ...]:
    """``mode`` for the widths of the components, and for the widths that the device can't tell
    from them; nothing if the device doesn't have it."""
    widths = {it.bits for it in components if it.bits in WIDTHS and it.is_float}
    for pair, member in zip(EXCLUSIVE, INDEPENDENCE, strict=True):
        if mode in pair:
            independence = info.properties.get(PROPERTIES + member)
            if independence != _ALL:
                widths |= set(WIDTHS) if independence == _NONE else {16, 64}
    found = tuple(Control(mode, width) for width in sorted(widths))
    return found if all(info.properties.get(it.property, 0) for it in found) else ()


_ALL, _NONE = 1, 2
"""VkShaderFloatControlsIndependence."""


@st.composite
def conversions(
    draw: st.DrawFn,
    info: DeviceInfo,
    pair: tuple[MatrixType, MatrixType],
    by: Conversion,
    *,
    saturating: Sequence[bool] = (False,),
    modes: tuple[Control, ...] = (),
) -> Sample:
    """One conversion of a matrix for each of ``saturating``, in this order."""
    source, target = pair
    recipe = draw(source_recipes(by, source.component, target.component))
    body = [Convert(f"r{at}", target, "a", by, whether) for at, whether in enumerate(saturating)]
    outputs = {it.result: target for it in body}
    return draw(bodies(info, {"a": Input(source, recipe)}, body, outputs, Around(modes)))


@st.composite
def arithmetic(
    draw: st.DrawFn,
    info: DeviceInfo,
    matrix: MatrixType,
    operator: Operator,
    *,
    modes: tuple[Control, ...] = (),
) -> Sample:
    """``left operator right`` of two matrices."""
    component = matrix.component
    if operator is Operator.DIVIDE:
        left, right = draw(divisor_recipes(component))
    else:
        left, right = draw(any_recipes(component)), draw(any_recipes(component))
    inputs = {"a": Input(matrix, left), "b": Input(matrix, right)}
    body = [Binary("r", operator, "a", "b")]
    around = Around(modes, precise=shape_of(draw).pick(draw, "precise", (False, True)))
    return draw(bodies(info, inputs, body, {"r": matrix}, around))


@st.composite
def negations(draw: st.DrawFn, info: DeviceInfo, matrix: MatrixType) -> Sample:
    """The negative of a matrix."""
    recipe = draw(any_recipes(matrix.component))
    body = [Negate("r", "a")]
    return draw(bodies(info, {"a": Input(matrix, recipe)}, body, {"r": matrix}))


@st.composite
def scalings(
    draw: st.DrawFn, info: DeviceInfo, matrix: MatrixType, *, modes: tuple[Control, ...] = ()
) -> Sample:
    """A matrix times a scalar. Integers stay in range: what a product that overflows would be
    isn't said of this instruction."""
    component = matrix.component
    bits = draw(scalar_bits(component))
    if component.is_float:
        recipe = draw(float_recipes(component))
    else:
        limit = min(((1 << (component.bits - component.is_signed)) - 1) // 5, _LARGEST)
        patterns = (Pattern.ZEROS, Pattern.ONES, Pattern.IOTA, Pattern.SMALL, Pattern.SIGNED)
        recipe = draw(_recipes(patterns, limit))
        if not component.is_signed and bits == 0:
            bits = 1
    body = [Scale("r", "a", bits)]
    return draw(bodies(info, {"a": Input(matrix, recipe)}, body, {"r": matrix}, Around(modes)))


CONVERSIONS = tuple(
    (by, source, target)
    for by in Conversion
    for source in COMPONENTS
    for target in COMPONENTS
    if fits(by, source, target)
)
"""Every conversion that the instructions have between the components of matrices."""
