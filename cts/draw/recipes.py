"""Strategies for operands, by what they are for.

The exactness of a float product is a property of its operands: the helpers here choose
``limit`` so that every partial sum, in every order, is an integer that the narrowest
accumulator of the combination represents (the collapse condition: K * A * A + C <= 2^P).
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace

from hypothesis import strategies as st

from cts.program.model import Component
from cts.program.recipe import Pattern, Plant, Recipe
from reference.bounds import FLOAT8, SHORT_SUM, WIDE_SUM

SEEDS = st.integers(0, 2**16 - 1)

_INTEGER_BITS = {
    Component.FLOAT16: 11,
    Component.BFLOAT16: 8,
    Component.FLOAT8_E4M3: 4,
    Component.FLOAT8_E5M2: 3,
    Component.FLOAT32: 24,
    Component.FLOAT64: 53,
}
"""Significand bits: integers up to 2^bits are exact."""


def class_bits(a: Component, b: Component, c: Component, result: Component) -> int:
    """Bits P such that sums of products up to 2^P are exact in every adder of the policy's class:
    its precision for these types (:func:`reference.bounds.adder`), and never wider than C or the
    result."""
    wide = WIDE_SUM
    if FLOAT8 & {a, b}:
        wide = SHORT_SUM
    elif {a, b, result} == {Component.FLOAT64}:
        wide = _INTEGER_BITS[Component.FLOAT64]
    return min(_INTEGER_BITS[c], _INTEGER_BITS[result], wide)


def exact_bits(a: Component, b: Component, c: Component, result: Component) -> int:
    """The same for operands of cases that are about something else than precision: no more than
    float16 has, so that a device that sums in fewer bits than the class is found by the cases about
    that, and what others say of it is about their own subject."""
    return min(class_bits(a, b, c, result), _INTEGER_BITS[Component.FLOAT16])


def exact_limits(
    a: Component,
    b: Component,
    c: Component,
    result: Component,
    depth: int,
    *,
    mixed_signs: bool = False,
    whole_class: bool = False,
) -> tuple[int, int]:
    """Largest magnitude for elements of A and B, and for those of C, so that ``depth``
    products and C sum to at most 2^P, with the P of :func:`exact_bits`, or where ``whole_class``
    that of :func:`class_bits`. At least 1: where not even ones fit, the oracle judges by its bound
    instead.

    With mixed signs an adder may be off by a grid unit for each term, so exactness needs
    headroom: P shrinks by 3 + log2(depth + 1) bits, but a wide accumulator is used whole.
    """
    bits = (class_bits if whole_class else exact_bits)(a, b, c, result)
    if mixed_signs:
        bits = min(_INTEGER_BITS[c], _INTEGER_BITS[result]) - 3 - math.ceil(math.log2(depth + 1))
    budget = 2 ** max(bits, 0)
    side = min(2 ** _INTEGER_BITS[a], 2 ** _INTEGER_BITS[b])
    top = max(1, min(side, math.isqrt(max(0, budget - 1) // depth)))
    return top, max(1, budget - depth * top * top)


@functools.cache
def bit_recipes(component: Component, *, specials: bool = True) -> st.SearchStrategy[Recipe]:
    """Operands for moving bits: index-coded first, then random and special patterns."""
    patterns = [Pattern.ZEROS, Pattern.ONES, Pattern.INDEX, Pattern.BITS]
    if component.bits <= 16:
        patterns.append(Pattern.ALL_CODES)
    if component.is_float:
        patterns += [Pattern.FULL, Pattern.SUBNORMALS]
    if specials:
        patterns += [Pattern.SPECIALS, Pattern.NEAR_MAX]
    return st.builds(Recipe, st.sampled_from(patterns), SEEDS)


@functools.cache
def small_recipes(limit: int, *, signed: bool = False) -> st.SearchStrategy[Recipe]:
    """Small integers in every element, for exact sums; ``limit`` bounds their magnitude."""
    patterns = [Pattern.ZEROS, Pattern.ONES, Pattern.IDENTITY, Pattern.PERMUTATION]
    if limit > 1:
        patterns += [Pattern.IOTA, Pattern.SMALL]
    if signed:
        patterns.append(Pattern.SIGNED)
    return st.builds(
        Recipe,
        st.sampled_from(patterns),
        SEEDS,
        limit=st.just(limit),
        keep=st.sampled_from((8, 8, 5, 1)),
    )


@functools.cache
def integer_recipes() -> st.SearchStrategy[Recipe]:
    """Integer operands: from zeros to uniformly random bits and extremes."""
    patterns = (
        Pattern.ZEROS,
        Pattern.ONES,
        Pattern.IDENTITY,
        Pattern.PERMUTATION,
        Pattern.IOTA,
        Pattern.SMALL,
        Pattern.SIGNED,
        Pattern.INDEX,
        Pattern.BITS,
        Pattern.SPECIALS,
        Pattern.NEAR_MAX,
    )
    return st.builds(
        Recipe, st.sampled_from(patterns), SEEDS, limit=st.just(7), keep=st.sampled_from((8, 5))
    )


@functools.cache
def rounding_recipes(exponent: int) -> st.SearchStrategy[Recipe]:
    """Float operands whose sums must round: full significands, exponents within
    +-``exponent``, sparse rows included."""
    return st.builds(
        Recipe,
        st.sampled_from((Pattern.ONES, Pattern.HALVES, Pattern.POWERS, Pattern.FULL)),
        SEEDS,
        limit=st.just(exponent),
        keep=st.sampled_from((8, 8, 4, 1)),
        negate=st.booleans(),
    )


_NAN = {
    Component.FLOAT16: 0x7E00,
    Component.BFLOAT16: 0x7FC0,
    Component.FLOAT32: 0x7FC00000,
    Component.FLOAT64: 0x7FF8000000000000,
    Component.FLOAT8_E4M3: 0x7F,
    Component.FLOAT8_E5M2: 0x7E,
}
_INFINITY = {
    Component.FLOAT16: 0x7C00,
    Component.BFLOAT16: 0x7F80,
    Component.FLOAT32: 0x7F800000,
    Component.FLOAT64: 0x7FF0000000000000,
    Component.FLOAT8_E5M2: 0x7C,
}


@st.composite
def special_plants(
    draw: st.DrawFn, recipes: st.SearchStrategy[Recipe], component: Component
) -> Recipe:
    """A recipe with up to two NaNs or infinities somewhere in it."""
    kinds = [_NAN[component]]
    if component in _INFINITY:
        sign = 1 << (component.bits - 1)
        kinds += [_INFINITY[component], _INFINITY[component] | sign]
    places = st.integers(0, 63)
    plants = st.builds(Plant, places, places, places, st.sampled_from(kinds))
    return replace(draw(recipes), plants=tuple(draw(st.lists(plants, max_size=2))))
