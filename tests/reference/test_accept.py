import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cts.program.model import Component
from cts.program.recipe import Pattern, Recipe
from reference.accept import (
    ANYTHING,
    EVERYTHING,
    MINUS_INFINITY,
    NAN,
    PLUS_INFINITY,
    PLUS_MAXIMUM,
    Accept,
    Band,
    Level,
    verdict,
)
from reference.component import bits_dtype, encode
from reference.floats import FloatAccept
from reference.latitude import VULKAN, Choice, Latitude
from reference.matrix import acceptance
from tests.reference.building import chain, exact, relaxed

F16, F32 = Component.FLOAT16, Component.FLOAT32
FLOAT_PATTERNS = (
    Pattern.ZEROS,
    Pattern.IDENTITY,
    Pattern.SMALL,
    Pattern.SIGNED,
    Pattern.HALVES,
    Pattern.FULL,
    Pattern.WIDE,
    Pattern.NEAR_MAX,
    Pattern.SUBNORMALS,
    Pattern.SPECIALS,
    Pattern.BITS,
)
TYPES = (
    (F16, F16, F16),
    (F16, F32, F32),
    (F16, F32, F16),
    (Component.BFLOAT16, Component.BFLOAT16, Component.BFLOAT16),
    (Component.FLOAT8_E4M3, F32, F32),
    (Component.FLOAT8_E4M3, Component.FLOAT8_E4M3, Component.FLOAT8_E4M3),
    (Component.FLOAT8_E5M2, F16, Component.FLOAT8_E5M2),
    (Component.FLOAT64, Component.FLOAT64, Component.FLOAT64),
)
FREEDOMS = {
    "flushes_subnormals",
    "directed_rounding",
    "narrow_accumulation",
    "short_float8_sums",
    "unit_errors",
    "overflows_early",
}
recipes = st.builds(
    Recipe,
    pattern=st.sampled_from(FLOAT_PATTERNS),
    seed=st.integers(0, 1000),
    limit=st.sampled_from([1, 3, 15]),
    keep=st.sampled_from([8, 4, 1]),
)


def one(component, band, **fields):
    """An acceptance of one element with the same three bands."""
    return Accept(component, (1, 1, 1), band, band, band, **fields)


def bits_of(component, *values):
    return encode(np.array(values, float), component).reshape(-1, 1, 1)


def array(*values):
    return np.array(values, float).reshape(-1, 1, 1)


@relaxed
@given(types=st.sampled_from(TYPES), a=recipes, b=recipes, c=recipes, seed=st.integers(0, 99))
def test_bands_of_multiply_adds_are_nested(types, a, b, c, seed):
    """What the tight band holds the policy holds, and the required band holds all."""
    total = chain(types, a, b, c, size=4)
    accept = FloatAccept(total).part(slice(None))
    dtype = bits_dtype(types[2])
    rng = np.random.default_rng(seed)
    near = encode(np.where(np.isfinite(accept.exact), accept.exact, 0.0), types[2])
    for step in (0, 1, -1, 2, 40):
        check_nesting(accept, near + dtype.type(step % (1 << types[2].bits)))
    check_nesting(accept, rng.integers(0, 1 << 63, accept.shape, np.uint64).astype(dtype))


@relaxed
@given(
    recipe=recipes, component=st.sampled_from([F16, F32, Component.FLOAT8_E4M3]), flip=st.booleans()
)
def test_bands_of_copies_are_nested_and_hold_the_copy(recipe, component, flip):
    value = exact(recipe, component, 4, 4)
    accept = acceptance(value).part(slice(None))
    assert verdict(accept, value.bits).level is Level.FINE
    check_nesting(accept, value.bits ^ value.bits.dtype.type(1 if flip else 1 << 7))


def check_nesting(accept, actual):
    from reference.component import decode

    values = decode(actual, accept.component)
    tight, policy, required = (
        accept.band(level).contains(actual, values, accept.component)
        for level in (Level.QUALITY, Level.POLICY, Level.REQUIRED)
    )
    assert not (tight & ~policy).any()
    assert not (policy & ~required).any()


@relaxed
@given(
    types=st.sampled_from(TYPES),
    a=recipes,
    b=recipes,
    c=recipes,
    name=st.sampled_from(sorted(FREEDOMS)),
)
def test_a_narrower_latitude_never_permits_more(types, a, b, c, name):
    total = chain(types, a, b, c, size=4)
    wide = FloatAccept(total).part(slice(None)).band(Level.POLICY)
    tight = FloatAccept(total, VULKAN.narrowed(**{name: Choice.NO})).part(slice(None))
    narrow = tight.band(Level.POLICY)
    outer, inner = wide.interval(), narrow.interval()
    free = np.broadcast_to(np.asarray(wide.flags) != 0, tight.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        slack = 1e-12 * (np.abs(outer[0]) + np.abs(outer[1]))
        inside = (outer[0] - slack <= inner[0]) & (inner[1] <= outer[1] + slack)
    assert (inside | free | (inner[0] > inner[1])).all()


def test_a_latitude_can_only_be_narrowed():
    strict = VULKAN.narrowed(unit_errors=Choice.NO)
    assert strict.unit_errors is Choice.NO
    with pytest.raises(ValueError, match="unit_errors is no and can't become either"):
        strict.narrowed(unit_errors=Choice.EITHER)
    with pytest.raises(ValueError, match="rounds_float32_inputs"):
        VULKAN.narrowed(rounds_float32_inputs=Choice.EITHER)
    assert Latitude() == VULKAN


@pytest.mark.parametrize(
    ("band", "inside", "outside"),
    [
        (Band(low=array(1), high=array(2)), [1, 1.5, 2], [0.999, 2.002, np.nan, np.inf]),
        (Band(center=array(1), radius=0.5), [0.5, 1, 1.5], [0.499, 1.502, np.nan, -np.inf]),
        (Band(low=array(0), high=array(0)), [0.0, -0.0], [6e-8]),
        (Band(flags=NAN), [np.nan], [0, np.inf]),
        (Band(flags=PLUS_INFINITY | MINUS_INFINITY), [np.inf, -np.inf], [65504, np.nan]),
        (Band(flags=PLUS_MAXIMUM), [65504], [-65504, np.inf]),
        (Band(bits=np.array([[[0x8000]]], np.uint16)), [-0.0], [0.0]),
        (Band(low=array(1), high=array(1), flags=NAN), [1, np.nan], [2]),
        (EVERYTHING, [0, np.nan, np.inf], []),
        (Band(), [], [0, np.nan]),
    ],
)
def test_a_band_is_the_union_of_its_parts(band, inside, outside):
    accept = one(F16, band)
    for value in inside:
        assert verdict(accept, bits_of(F16, value)).level is Level.FINE, value
    for value in outside:
        assert verdict(accept, bits_of(F16, value)).level is Level.REQUIRED, value


def test_the_level_is_the_worst_band_that_an_element_leaves():
    accept = Accept(
        F16,
        (4, 1, 1),
        Band(center=array(0, 0, 0, 0), radius=3.0),
        Band(center=array(0, 0, 0, 0), radius=2.0),
        Band(center=array(0, 0, 0, 0), radius=1.0),
    )
    found = verdict(accept, bits_of(F16, 1, 2, 3, 4))
    assert found.level is Level.REQUIRED
    assert found.levels.ravel().tolist() == [0, 1, 2, 3]
    assert verdict(accept.part(slice(0, 2)), bits_of(F16, 1, 2)).level is Level.QUALITY


def test_the_policy_is_made_only_when_something_is_outside_the_tight_band():
    calls = []

    def policy():
        calls.append(1)
        return Band(center=array(0), radius=2.0)

    accept = Accept(F16, (1, 1, 1), EVERYTHING, policy, Band(center=array(0), radius=1.0))
    assert verdict(accept, bits_of(F16, 1)).level is Level.FINE
    assert not calls
    assert verdict(accept, bits_of(F16, 2)).level is Level.QUALITY
    assert calls


def test_the_ratio_is_the_error_over_the_bound_and_in_units_where_there_is_no_bound():
    accept = one(F32, Band(center=array(1), radius=0.5), exact=array(1), bound=array(0.5))
    assert verdict(accept, bits_of(F32, 1.25)).worst_ratio == 0.5
    assert accept.ratios(bits_of(F32, 1.25)).item() == 0.5
    strict = one(F32, Band(center=array(1)), exact=array(1), bound=0.0)
    assert strict.ratios(bits_of(F32, 1 + 2.0**-22)).item() == 2.0
    assert strict.ratios(bits_of(F32, np.nan)).item() == 0.0


def test_a_part_judges_its_tiles_as_the_whole_does():
    total = chain((F16, F32, F32), *(Recipe(Pattern.BITS, i) for i in range(3)), size=4, tiles=5)
    whole = FloatAccept(total).part(slice(None))
    actual = encode(np.zeros((5, 4, 4)), F32)
    levels, _ = whole.levels(actual)
    for tile in range(5):
        piece = whole.part(slice(tile, tile + 1))
        assert piece.shape == (1, 4, 4)
        own = FloatAccept(total).part(slice(tile, tile + 1)).levels(actual[tile : tile + 1])[0]
        assert np.array_equal(piece.levels(actual[tile : tile + 1])[0], levels[tile : tile + 1])
        assert np.array_equal(own, levels[tile : tile + 1])


def test_bands_read_well():
    shape = (1, 1, 1)
    index = (0, 0, 0)
    assert Band(center=array(3)).at(index, shape, F16) == "3"
    assert Band(low=array(1), high=array(2), flags=NAN).at(index, shape, F16) == "[1, 2] or NaN"
    assert Band(bits=np.array([[[0x3C00]]], np.uint16)).at(index, shape, F16) == "0x3c00 (1)"
    assert Band(flags=ANYTHING).at(index, shape, F16) == "anything"
    assert Band().at(index, shape, F16) == "nothing"
