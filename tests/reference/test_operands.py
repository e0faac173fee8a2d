import numpy as np
import pytest

from cts.program.model import Component
from cts.program.recipe import Pattern, Plant, Recipe
from reference.component import (
    FORMATS,
    decode,
    decode_int,
    float_format,
    is_infinite,
    is_nan,
    is_subnormal,
)
from reference.operands import random_words, realise

FLOATS = tuple(FORMATS)
INTEGERS = tuple(c for c in Component if c.is_integer and "PACKED" not in c.name)
floats = pytest.mark.parametrize("component", FLOATS, ids=lambda c: c.label)
integers = pytest.mark.parametrize("component", INTEGERS, ids=lambda c: c.label)
FLOATS_ONLY = {Pattern.POWERS, Pattern.HALVES, Pattern.SUBNORMALS, Pattern.TIES}


def numbers(component, pattern, tiles=2, **fields):
    bits = realise(Recipe(pattern, **fields), component, 6, 8, tiles)
    assert bits.shape == (tiles, 6, 8)
    return decode(bits, component)


def test_every_pattern_has_values_or_says_that_it_has_none():
    for component in (*FLOATS, *INTEGERS):
        for pattern in Pattern:
            if pattern in FLOATS_ONLY and component.is_integer:
                with pytest.raises(ValueError, match="has no values for"):
                    realise(Recipe(pattern), component, 2, 2, 1)
            else:
                assert realise(Recipe(pattern), component, 2, 3, 4).shape == (4, 2, 3)


@floats
def test_small_patterns_are_whole_numbers_in_their_limits(component):
    top = min(7, 1 << float_format(component).precision)
    small = numbers(component, Pattern.SMALL, limit=7)
    signed = numbers(component, Pattern.SIGNED, limit=7)
    halves = numbers(component, Pattern.HALVES, limit=7)
    assert small.min() == 0
    assert small.max() == top
    assert signed.min() < 0 < signed.max() <= top
    assert (small == np.rint(small)).all()
    assert (signed == np.rint(signed)).all()
    assert (halves * 2 == np.rint(halves * 2)).all()
    assert not (halves == np.rint(halves)).all()


@floats
def test_index_codes_are_normal_and_distinct(component):
    bits = realise(Recipe(Pattern.INDEX), component, 5, 7, 3)
    assert not is_subnormal(bits, component).any()
    assert (decode(bits, component) > 0).all()
    assert len(np.unique(bits)) == min(5 * 7 * 3, 119 if component.bits == 8 else 105)


@floats
def test_full_values_use_all_bits_and_moderate_exponents(component):
    values = numbers(component, Pattern.FULL, limit=2, tiles=40)
    exponents = np.frexp(values)[1] - 1
    assert set(exponents.flat) == {-2, -1, 0, 1, 2}
    assert (values < 0).any()
    assert (values > 0).any()
    assert not is_subnormal(realise(Recipe(Pattern.FULL), component, 6, 8, 9), component).any()


@floats
def test_nasty_patterns_are_what_they_say(component):
    assert is_subnormal(realise(Recipe(Pattern.SUBNORMALS), component, 4, 4, 2), component).all()
    near = np.abs(numbers(component, Pattern.NEAR_MAX, limit=3))
    assert (near > float_format(component).maximum * 0.5).all()
    special = realise(Recipe(Pattern.SPECIALS), component, 16, 16, 4)
    assert is_nan(special, component).any()
    assert (special == 0).any()
    assert (special == float_format(component).sign_bit).any()
    assert is_infinite(special, component).any() == (
        float_format(component).infinity_code is not None
    )


@integers
def test_integer_patterns_stay_in_the_component(component):
    for pattern, limit in ((Pattern.SMALL, 10**6), (Pattern.SIGNED, 10**6), (Pattern.IOTA, 10**6)):
        values = decode_int(realise(Recipe(pattern, limit=limit), component, 4, 4, 1), component)
        assert (np.abs(values.astype(object)) <= 10**6).all()
    extremes = decode_int(realise(Recipe(Pattern.NEAR_MAX, limit=1), component, 9, 9, 2), component)
    top = (1 << (component.bits - component.is_signed)) - 1
    assert int(extremes.max()) == top
    assert int(extremes.min()) == (-top - 1 if component.is_signed else top - 1)


def test_one_hot_patterns_have_a_single_one_in_each_row():
    for pattern in (Pattern.IDENTITY, Pattern.PERMUTATION):
        values = numbers(Component.FLOAT16, pattern)
        assert (values.sum(axis=2) == 1).all()
        assert set(np.unique(values)) == {0, 1}
    square = realise(Recipe(Pattern.PERMUTATION, 3), Component.UINT8, 8, 8, 2)
    assert (square.sum(axis=1) == 1).all()
    assert not np.array_equal(square[0], square[1])


@pytest.mark.parametrize("component", [Component.FLOAT8_E4M3, Component.UINT8, Component.BFLOAT16])
def test_all_codes_meets_every_code(component):
    tiles = (1 << component.bits) // 256
    bits = realise(Recipe(Pattern.ALL_CODES), component, 16, 16, tiles)
    assert len(np.unique(bits)) == 1 << component.bits


def test_transforms_apply_before_plants():
    plant = Plant(0, 1, 2, 0x1234)
    recipe = Recipe(Pattern.ONES, negate=True, scale=3, plants=(plant,))
    bits = realise(recipe, Component.FLOAT16, 4, 4, 1)
    assert bits[0, 1, 2] == 0x1234
    assert decode(bits[:, :1], Component.FLOAT16).tolist() == [[[-8, -8, -8, -8]]]
    assert (
        decode_int(
            realise(Recipe(Pattern.ONES, negate=True), Component.SINT8, 1, 1, 1), Component.SINT8
        )
        == -1
    )


def test_plants_count_modulo_what_there_is():
    bits = realise(Recipe(plants=(Plant(5, 9, 10, 7),)), Component.UINT8, 4, 4, 2)
    assert bits[1, 1, 2] == 7
    assert bits.sum() == 7


def test_dropped_elements_are_zero_and_negated_zeros_keep_their_sign():
    values = realise(Recipe(Pattern.ONES, keep=2, negate=True), Component.FLOAT16, 16, 16, 4)
    share = (values != 0).mean()
    assert 0.15 < share < 0.35
    assert set(np.unique(values)) == {0, 0xBC00}


def test_recipes_mean_the_same_bits_forever():
    """The hash is the suite's own, so these numbers never change."""
    assert random_words(1, (3,)).tolist() == RECORDED
    recipe = Recipe(Pattern.BITS, seed=7)
    assert np.array_equal(
        realise(recipe, Component.UINT32, 2, 2, 2)[:1], realise(recipe, Component.UINT32, 2, 2, 1)
    )
    other = realise(Recipe(Pattern.BITS, seed=8), Component.UINT32, 2, 2, 1)
    assert not np.array_equal(realise(recipe, Component.UINT32, 2, 2, 1), other)


def test_random_words_are_spread_evenly():
    words = random_words(3, (4096,))
    assert len(np.unique(words)) == 4096
    ones = np.unpackbits(words.view(np.uint8)).mean()
    assert abs(ones - 0.5) < 0.01


RECORDED = [3746585686858627171, 5030171812741402187, 10551757083557637702]
