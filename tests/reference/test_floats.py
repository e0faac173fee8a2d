"""The acceptance sets of float multiply-adds against simulated adders and against faults."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cts.program.model import Component
from cts.program.recipe import Pattern, Plant, Recipe
from reference.accept import Level, verdict
from reference.adders import Arithmetic, Order, multiply_add
from reference.component import Rounding, decode, encode, float_format
from reference.floats import FloatAccept, accept_chain
from reference.latitude import VULKAN, Choice
from reference.values import Exact, FloatSum
from tests.reference.building import chain, exact, relaxed

F16, F32, F64 = Component.FLOAT16, Component.FLOAT32, Component.FLOAT64
BF16, E4M3, E5M2 = Component.BFLOAT16, Component.FLOAT8_E4M3, Component.FLOAT8_E5M2
FLOAT8 = (E4M3, E5M2)
TYPES = (
    (F16, F16, F16),
    (F16, F32, F32),
    (F16, F32, F16),
    (F16, F16, F32),
    (BF16, F32, F32),
    (BF16, BF16, BF16),
    (F32, F32, F32),
    (F64, F64, F64),
    (E4M3, F32, F32),
    (E5M2, F32, F32),
    (E4M3, F16, F16),
    (E4M3, E4M3, E4M3),
    (E5M2, E5M2, E5M2),
)
PATTERNS = (
    Pattern.SMALL,
    Pattern.SIGNED,
    Pattern.HALVES,
    Pattern.POWERS,
    Pattern.PERMUTATION,
    Pattern.FULL,
    Pattern.WIDE,
    Pattern.NEAR_MAX,
    Pattern.SUBNORMALS,
    Pattern.BITS,
)
recipes = st.builds(
    Recipe,
    pattern=st.sampled_from(PATTERNS),
    seed=st.integers(0, 10**6),
    limit=st.sampled_from([1, 2, 3, 7, 15, 100]),
    keep=st.sampled_from([8, 8, 4, 1]),
    negate=st.booleans(),
    scale=st.sampled_from([0, 0, -6, 4]),
)
trees = st.builds(
    Arithmetic,
    order=st.sampled_from([Order.ASCENDING, Order.DESCENDING, Order.PAIRWISE, Order.EXACT]),
    rounding=st.sampled_from(Rounding),
    flushes=st.booleans(),
)


def held_in(types):
    """The types in which the policy lets sums be held."""
    if types[2] in FLOAT8:
        return [F16, F32]
    return [types[2], F32] if types[2] in (F16, BF16) else [types[2]]


@st.composite
def adders(draw, types):
    """Adders without unit errors."""
    fused = types[2] is not F64 and draw(st.booleans())
    held = draw(st.sampled_from(held_in(types)))
    if not fused:
        tree = draw(trees)
        return Arithmetic(tree.order, tree.rounding, held, flushes=tree.flushes)
    bits = draw(st.sampled_from([13, 23, 24, 25] if types[0] in FLOAT8 else [23, 24, 25]))
    return Arithmetic(Order.FUSED, Rounding.NEAREST_EVEN, F32, bits, draw(st.integers(1, 16)))


def simulated(arithmetic, total):
    """The result of a chain on an adder; subnormal operands are flushed if it flushes."""

    def numbers(value):
        found = decode(value.bits, value.component)
        tiny = np.abs(found) < float_format(value.component).minimum_normal
        return np.where(tiny, 0.0, found) if arithmetic.flushes else found

    result = numbers(total.c)
    for (a, b), component in zip(total.products, total.results, strict=True):
        result = multiply_add(arithmetic, numbers(a), numbers(b), result, component)
    return encode(result, total.component)


@st.composite
def chains(draw, types):
    size = draw(st.sampled_from([1, 2, 4, 8, 16]))
    links = draw(st.integers(1, 3)) if types[1] is types[2] else 1

    def factor(rows, columns):
        return exact(draw(recipes), types[0], rows, columns)

    products = tuple((factor(4, size), factor(size, 4)) for _ in range(links))
    c = exact(draw(recipes), types[1], 4, 4)
    return FloatSum(types[2], products, c, (types[2],) * links)


@pytest.mark.parametrize("types", TYPES, ids=lambda t: "_".join(c.label for c in t))
@relaxed
@given(data=st.data())
def test_no_adder_of_the_class_is_accused(types, data):
    total = data.draw(chains(types))
    arithmetic = data.draw(adders(types))
    found = verdict(FloatAccept(total), simulated(arithmetic, total))
    assert found.level is Level.FINE


@pytest.mark.parametrize(
    "types",
    [t for t in TYPES if t[0] in (F16, BF16, F32) and t[2] is not E4M3],
    ids=lambda t: "_".join(c.label for c in t),
)
@relaxed
@given(data=st.data())
def test_adders_with_unit_errors_only_leave_the_tight_band(types, data):
    total = data.draw(chains(types))
    arithmetic = Arithmetic(
        Order.UNIT_ERRORS,
        Rounding.NEAREST_EVEN,
        F32,
        data.draw(st.sampled_from([23, 24, 25])),
    )
    found = verdict(FloatAccept(total), simulated(arithmetic, total))
    assert found.level <= Level.QUALITY


def test_unit_errors_show_in_sums_of_both_signs():
    """Otherwise the test above couldn't fail."""
    total = chain((F16, F32, F32), *(Recipe(Pattern.SIGNED, i, 7) for i in range(3)))
    arithmetic = Arithmetic(Order.UNIT_ERRORS, fraction_bits=23)
    assert verdict(FloatAccept(total), simulated(arithmetic, total)).level is Level.QUALITY


# --- where sums are exact, nothing else is accepted ------------------------------------------


@pytest.mark.parametrize("types", TYPES, ids=lambda t: "_".join(c.label for c in t))
@relaxed
@given(seed=st.integers(0, 1000), pattern=st.sampled_from([Pattern.SMALL, Pattern.IDENTITY]))
def test_small_non_negative_integers_must_be_exact(types, seed, pattern):
    total = chain(
        types,
        Recipe(Pattern.IDENTITY),
        Recipe(pattern, seed, 3),
        Recipe(Pattern.SMALL, seed + 1, 1),
        size=4,
    )
    accept = accept_chain(total)
    right = encode(accept.exact, types[2])
    assert verdict(accept, right).level is Level.FINE
    assert verdict(accept, right + right.dtype.type(1)).level is Level.POLICY
    assert accept.explain((0, 0, 0)).endswith("exact.")


def test_an_element_with_a_grid_of_its_own_stays_exact_beside_a_rough_one():
    """One full-precision value spoils its row, not the matrix."""
    rough = Plant(0, 1, 2, 0x3555)
    total = chain(
        (F16, F32, F32),
        Recipe(Pattern.SMALL, 1, 3, plants=(rough,)),
        Recipe(Pattern.FULL, 2, 9, plants=()),
        Recipe(Pattern.ZEROS),
        size=4,
        tiles=1,
    )
    small = Exact(F16, exact(Recipe(Pattern.SMALL, 3, 3), F16, 4, 4, 1).bits)
    total = FloatSum(F32, ((total.products[0][0], small),), total.c, (F32,))
    accept = accept_chain(total)
    wrong = encode(accept.exact, F32) + np.uint32(1)
    assert (verdict(accept, wrong).levels[0, [0, 2, 3]] == Level.POLICY).all()


def test_one_hot_rows_pass_full_precision_values_exactly():
    total = chain(
        (F16, F32, F32), Recipe(Pattern.PERMUTATION, 1), Recipe(Pattern.INDEX), Recipe(), size=8
    )
    accept = accept_chain(total)
    wrong = encode(accept.exact, F32) ^ np.uint32(1)
    assert (verdict(accept, wrong).levels == Level.POLICY).all()


def test_mixed_signs_of_small_integers_may_be_off_by_units_only():
    total = chain((F16, F32, F32), *(Recipe(Pattern.SIGNED, i, 3) for i in range(3)))
    accept = accept_chain(total)
    right = encode(accept.exact, F32)
    nudged = encode(accept.exact + 2.0**-18, F32)
    assert verdict(accept, right).level is Level.FINE
    assert verdict(accept, nudged).level is Level.QUALITY
    assert verdict(accept, encode(accept.exact + 1, F32)).level is Level.POLICY
    strict = accept_chain(total, VULKAN.narrowed(unit_errors=Choice.NO))
    assert verdict(strict, nudged).level is Level.POLICY


def test_mixed_signs_in_float16_must_round_to_the_exact_sum():
    total = chain((F16, F16, F16), *(Recipe(Pattern.SIGNED, i, 3) for i in range(3)))
    accept = accept_chain(total)
    nonzero = np.abs(accept.exact) >= 1
    wrong = encode(accept.exact, F16) + np.uint16(1)
    assert (verdict(accept, wrong).levels[nonzero] == Level.POLICY).all()


# --- faults are outside the policy -----------------------------------------------------------

WIDE_TYPES = tuple(t for t in TYPES if t[1] in (F32, F64) and t[1] is t[2])


@pytest.mark.parametrize("types", WIDE_TYPES, ids=lambda t: "_".join(c.label for c in t))
@pytest.mark.parametrize("pattern", [Pattern.FULL, Pattern.SIGNED, Pattern.SMALL])
def test_a_missing_product_is_seen(types, pattern):
    total = chain(types, *(Recipe(pattern, i, 3) for i in range(3)), size=16)
    (a, b), c = total.products[0], decode(total.c.bits, types[1])
    left, right = decode(a.bits, types[0]).copy(), decode(b.bits, types[0])
    left[:, :, -1] = 0
    found = verdict(FloatAccept(total), encode(left @ right + c, types[2]))
    gone = np.abs(decode(a.bits, types[0])[:, :, -1:] * right[:, -1:, :]) > 0.5
    assert (found.levels[gone] == Level.POLICY).mean() > 0.95


@pytest.mark.parametrize("types", [(F16, F32, F32), (BF16, F32, F32)])
def test_sums_kept_in_float16_are_seen_where_float32_is_advertised(types):
    total = chain(types, *(Recipe(Pattern.FULL, i, 2) for i in range(3)), size=16)
    half = Arithmetic(Order.ASCENDING, accumulator=F16)
    found = verdict(FloatAccept(total), simulated(half, total))
    assert (found.levels == Level.POLICY).mean() > 0.5


def test_bounds_of_chains_grow_with_their_length():
    one = chain((F16, F16, F16), *(Recipe(Pattern.FULL, i, 2) for i in range(3)))
    two = FloatSum(F16, one.products * 2, one.c, (F16, F16))
    assert (accept_chain(two).bound > accept_chain(one).bound).all()


@relaxed
@given(seed=st.integers(0, 10**6), types=st.sampled_from(WIDE_TYPES))
def test_the_exact_sum_lies_in_every_band(seed, types):
    total = chain(types, *(Recipe(Pattern.FULL, seed + i, 6) for i in range(3)), size=4, tiles=1)
    low, high = accept_chain(total).tight.interval()
    (a, b), c = total.products[0], total.c
    left, right, third = (decode(v.bits, v.component)[0] for v in (a, b, c))
    for row in range(4):
        for column in range(4):
            addends = [
                Fraction(float(x)) * Fraction(float(y))
                for x, y in zip(left[row], right[:, column], strict=True)
            ]
            exact_sum = sum(addends) + Fraction(float(third[row, column]))
            assert low[0, row, column] <= exact_sum <= high[0, row, column]


# --- specials, overflow, signed zero ---------------------------------------------------------


def with_plant(bits, where="a"):
    plant = Plant(0, 1, 2, bits)
    recipes = {name: Recipe(Pattern.SMALL, 1, 3) for name in "abc"}
    recipes[where] = Recipe(Pattern.SMALL, 1, 3, plants=(plant,))
    return accept_chain(chain((F16, F32, F32), recipes["a"], recipes["b"], recipes["c"], 4, 1))


@pytest.mark.parametrize("bits", [0x7E00, 0x7C00, 0xFC00])
def test_a_special_frees_its_row_and_nothing_else(bits):
    accept = with_plant(bits)
    odd = encode(np.full(accept.shape, 12345.0), F32)
    levels = verdict(accept, odd).levels[0]
    assert (levels[1] == Level.QUALITY).all()
    assert (np.delete(levels, 1, axis=0) == Level.POLICY).all()


def test_a_special_in_b_frees_its_column_and_one_in_c_its_element():
    accept = with_plant(0x7E00, "b")
    levels = verdict(accept, encode(np.full(accept.shape, 12345.0), F32)).levels[0]
    assert (levels[:, 2] == Level.QUALITY).all()
    assert (np.delete(levels, 2, axis=1) == Level.POLICY).all()
    accept = with_plant(0x7FC00000, "c")
    levels = verdict(accept, encode(np.full(accept.shape, 12345.0), F32)).levels[0]
    assert (levels == Level.QUALITY).sum() == 1
    assert levels[1, 2] == Level.QUALITY


def test_specials_give_what_ieee_arithmetic_gives_in_the_tight_band():
    accept = with_plant(0x7E00)
    result = accept.exact.copy()
    result[0, 1] = np.nan
    assert verdict(accept, encode(result, F32)).level is Level.FINE


def test_an_early_overflow_may_stick_or_become_infinite():
    plants = tuple(Plant(0, 0, k, bits) for k, bits in enumerate((0x78E2, 0x78E2, 0xFB53)))
    total = chain(
        (F16, F16, F16), Recipe(plants=plants), Recipe(Pattern.ONES), Recipe(), size=4, tiles=1
    )
    accept = accept_chain(total)
    for value in (65504, np.inf, 20000, 0, -60000):
        found = verdict(accept, encode(np.where(accept.exact != 0, value, 0.0), F16))
        assert found.level <= Level.QUALITY, value
    strict = accept_chain(total, VULKAN.narrowed(overflows_early=Choice.NO))
    infinite = encode(np.where(strict.exact != 0, np.inf, 0.0), F16)
    assert verdict(strict, infinite).level is Level.POLICY


def test_a_sum_beyond_the_largest_value_of_one_sign_is_the_largest_or_infinite():
    total = chain((E4M3, E4M3, E4M3), *(Recipe(Pattern.SMALL, i, 15) for i in range(3)), size=16)
    accept = accept_chain(total)
    over = accept.exact > 1000
    assert over.any()
    for code, level in (
        (0x7E, Level.FINE),
        (0x7F, Level.FINE),
        (0x7A, Level.POLICY),
        (0, Level.POLICY),
    ):
        assert (verdict(accept, np.full(accept.shape, code, np.uint8)).levels is None) or (
            verdict(accept, np.full(accept.shape, code, np.uint8)).levels[over] == level
        ).all()


def test_the_sign_of_a_zero_is_free():
    total = chain((F16, F32, F32), Recipe(), Recipe(Pattern.SMALL, 1, 3), Recipe())
    accept = accept_chain(total)
    assert verdict(accept, np.full(accept.shape, 0x80000000, np.uint32)).level is Level.FINE


def test_float32_inputs_are_taken_whole_unless_a_profile_says_otherwise():
    total = chain((F32, F32, F32), *(Recipe(Pattern.FULL, i, 2) for i in range(3)), size=8)
    (a, b), c = total.products[0], decode(total.c.bits, F32)
    short = [decode(encode(decode(v.bits, F32), F16), F16) for v in (a, b)]
    rounded = encode(short[0] @ short[1] + c, F32)
    assert verdict(FloatAccept(total), rounded).level is Level.POLICY
    from dataclasses import replace

    profile = replace(VULKAN, rounds_float32_inputs=Choice.EITHER)
    assert verdict(FloatAccept(total, profile), rounded).level is Level.FINE


@pytest.mark.parametrize("types", [(F16, F32, F32), (F16, F16, F16), (E4M3, E4M3, E4M3)])
def test_a_profile_that_rounds_to_nearest_has_half_the_bound(types):
    total = chain(types, *(Recipe(Pattern.FULL, i, 2) for i in range(3)))
    strict = VULKAN.narrowed(directed_rounding=Choice.NO)
    nearest = Arithmetic(Order.ASCENDING, accumulator=F32)
    truncating = Arithmetic(Order.EXACT, Rounding.TOWARD_ZERO, F32)
    assert verdict(FloatAccept(total, strict), simulated(nearest, total)).level <= Level.QUALITY
    wide = accept_chain(total).tight.interval()
    narrow = accept_chain(total, strict).tight.interval()
    smaller = (narrow[1] - narrow[0] <= 0.6 * (wide[1] - wide[0])).mean()
    assert smaller > (0.7 if types[2] is E4M3 else 0.9)
    if types[2] is E4M3:
        assert (
            verdict(FloatAccept(total, strict), simulated(truncating, total)).level is Level.POLICY
        )
