from fractions import Fraction

import gfloat
import gfloat.formats
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cts.program.model import Component
from reference.component import (
    FORMATS,
    NO_BITS,
    Overflow,
    Rounding,
    bits_dtype,
    decode,
    decode_int,
    encode,
    encode_int,
    float_format,
    is_infinite,
    is_nan,
    is_negative,
    is_subnormal,
    lowest_bit_of,
    number,
    power_of_two,
    round_down,
    round_up,
    spacing,
    text,
)
from tests.reference.building import relaxed

F16, BF16 = Component.FLOAT16, Component.BFLOAT16
E4M3, E5M2 = Component.FLOAT8_E4M3, Component.FLOAT8_E5M2
NARROW = (F16, BF16, E4M3, E5M2)
STORAGE = {
    F16: np.float16,
    BF16: ml_dtypes.bfloat16,
    E4M3: ml_dtypes.float8_e4m3fn,
    E5M2: ml_dtypes.float8_e5m2,
}
GFLOAT = {
    F16: gfloat.formats.format_info_binary16,
    BF16: gfloat.formats.format_info_bfloat16,
    E4M3: gfloat.formats.format_info_ocp_e4m3,
    E5M2: gfloat.formats.format_info_ocp_e5m2,
}
narrow = pytest.mark.parametrize("component", NARROW, ids=lambda c: c.label)
every_float = pytest.mark.parametrize("component", FORMATS, ids=lambda c: c.label)


def codes(component):
    return np.arange(1 << component.bits).astype(bits_dtype(component))


@narrow
def test_every_code_decodes_as_ml_dtypes_and_gfloat_say(component):
    bits = codes(component)
    values = decode(bits, component)
    with np.errstate(invalid="ignore"):
        theirs = bits.view(STORAGE[component]).astype(np.float64)
    assert np.array_equal(values, theirs, equal_nan=True)
    other = [gfloat.decode_float(GFLOAT[component], int(code)).fval for code in bits]
    assert np.array_equal(values, np.array(other), equal_nan=True)
    finite = ~np.isnan(values)
    assert np.array_equal(np.signbit(values)[finite], np.signbit(theirs)[finite])


@narrow
def test_codes_without_specials_decode_the_same_without_the_table(component):
    """Arrays with a special take another way than arrays without."""
    bits = codes(component)
    plain = bits[~is_nan(bits, component) & ~is_infinite(bits, component)]
    assert np.array_equal(decode(plain, component), decode(bits, component)[np.isin(bits, plain)])


@narrow
def test_every_code_survives_decoding_and_encoding(component):
    bits = codes(component)
    again = encode(decode(bits, component), component)
    nan = is_nan(bits, component)
    assert np.array_equal(again[~nan], bits[~nan])
    assert is_nan(again[nan], component).all()


@narrow
def test_classes_of_every_code(component):
    bits = codes(component)
    values, form = decode(bits, component), float_format(component)
    assert np.array_equal(is_nan(bits, component), np.isnan(values))
    assert np.array_equal(is_infinite(bits, component), np.isinf(values))
    tiny = (np.abs(values) < form.minimum_normal) & (values != 0)
    assert np.array_equal(is_subnormal(bits, component), tiny)
    numbers = ~np.isnan(values)
    assert np.array_equal(is_negative(bits, component)[numbers], np.signbit(values)[numbers])
    assert form.maximum == values[np.isfinite(values)].max()
    assert form.minimum_subnormal == values[values > 0].min()


@narrow
def test_nearest_even_agrees_with_ml_dtypes_on_floats_of_32_bits(component):
    """ml_dtypes rounds binary32 once; from binary64 it would round twice."""
    half = codes(Component.UINT16).astype(np.uint32) << 16
    seeds = np.random.default_rng(1).integers(0, 1 << 32, 60000, np.uint64).astype(np.uint32)
    bits = np.concatenate([half, half | 0x8000, half | 0x7FFF, half | 0x8001, seeds])
    numbers = bits.view(np.float32)
    numbers = numbers[~np.isnan(numbers)]
    with np.errstate(over="ignore"):
        theirs = numbers.astype(STORAGE[component]).view(bits_dtype(component))
    ours = encode(numbers.astype(np.float64), component)
    if component is E4M3:  # infinity: both NaN
        ours, theirs = ours[np.isfinite(numbers)], theirs[np.isfinite(numbers)]
    assert np.array_equal(ours, theirs)


@narrow
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Rounding.NEAREST_EVEN, gfloat.RoundMode.TiesToEven),
        (Rounding.NEAREST_AWAY, gfloat.RoundMode.TiesToAway),
        (Rounding.TOWARD_ZERO, gfloat.RoundMode.TowardZero),
        (Rounding.UP, gfloat.RoundMode.TowardPositive),
        (Rounding.DOWN, gfloat.RoundMode.TowardNegative),
    ],
)
def test_every_rounding_of_binary64_agrees_with_gfloat(component, ours, theirs):
    form = float_format(component)
    values = decode(codes(component), component)
    values = np.unique(values[np.isfinite(values)])[:: max(1, (1 << component.bits) // 2048)]
    middles = (values[1:] + values[:-1]) / 2
    cases = np.concatenate(
        [values, middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf)]
    )
    cases = cases[np.abs(cases) < form.maximum]
    if ours is Rounding.NEAREST_AWAY:
        # gfloat 0.5 rounds what is just below half of the smallest value up.
        cases = cases[(cases == 0) | (np.abs(cases) >= form.minimum_subnormal / 2)]
        just_below = np.nextafter(form.minimum_subnormal / 2, 0)
        assert encode(np.array([just_below]), component, ours)[0] == 0
    expected = [gfloat.round_float(GFLOAT[component], float(v), theirs) for v in cases]
    got = decode(encode(cases, component, ours), component)
    assert np.array_equal(got, np.array(expected))


def test_encoding_binary64_rounds_only_once():
    assert encode(np.array([1.0625 + 2.0**-40]), E4M3)[0] == 0x39
    assert encode(np.array([1 + 2.0**-8 + 2.0**-40]), BF16)[0] == 0x3F81


def test_binary32_rounds_as_the_processor_does():
    seeds = np.random.default_rng(2).integers(0, 1 << 63, 40000, np.uint64)
    values = np.concatenate([seeds.view(np.float64), np.linspace(-1e-37, 1e-37, 4001)])
    middles = np.arange(1 << 23, (1 << 23) + 4001) * 2.0**-40 * (1 + 2.0**-24)
    values = np.concatenate([values, middles, np.nextafter(middles, 0)])
    values = values[~np.isnan(values)]
    with np.errstate(over="ignore", under="ignore"):
        theirs = values.astype(np.float32).view(np.uint32)
    assert np.array_equal(encode(values, Component.FLOAT32), theirs)


@pytest.mark.parametrize(
    ("component", "value", "expected"),
    [
        # the largest value, the tie above it, and beyond
        (E4M3, 448.0, 0x7E),
        (E4M3, 464.0, 0x7E),
        (E4M3, np.nextafter(464.0, 500), 0x7F),
        (E4M3, 480.0, 0x7F),
        (E4M3, np.inf, 0x7F),
        (E5M2, 57344.0, 0x7B),
        (E5M2, np.nextafter(61440.0, 0), 0x7B),
        (E5M2, 61440.0, 0x7C),
        (F16, np.nextafter(65520.0, 0), 0x7BFF),
        (F16, 65520.0, 0x7C00),
        (BF16, float(np.uint32(0x7F7F7FFF).view(np.float32)), 0x7F7F),
        (BF16, float(np.uint32(0x7F7F8000).view(np.float32)), 0x7F80),
        # around the smallest subnormal and the smallest normal
        (E4M3, 2.0**-10, 0x00),
        (E4M3, 2.0**-10 * (1 + 2.0**-20), 0x01),
        (E4M3, 1.5 * 2.0**-9, 0x02),
        (E4M3, 2.5 * 2.0**-9, 0x02),
        (E4M3, 15 / 1024, 0x08),
        (E5M2, 2.0**-17, 0x00),
        (E5M2, 2.0**-17 * (1 + 2.0**-20), 0x01),
        (E5M2, 7 * 2.0**-17, 0x04),
        (F16, 2.0**-25, 0x0000),
        (F16, 2.0**-25 * (1 + 2.0**-20), 0x0001),
        (E4M3, 1.0625, 0x38),
        (E4M3, 1.1875, 0x3A),
        (E4M3, 1.9375, 0x40),
        (E5M2, 1.125, 0x3C),
        (E5M2, 1.375, 0x3E),
        (E5M2, 1.875, 0x40),
    ],
)
def test_boundaries_round_to_nearest_even(component, value, expected):
    assert encode(np.array([value, -value]), component).tolist() == [
        expected,
        expected | float_format(component).sign_bit,
    ]


@pytest.mark.parametrize(
    ("overflow", "rounding", "expected"),
    [
        (Overflow.IEEE, Rounding.TOWARD_ZERO, [0x7E, 0x7E, 0x7E]),
        (Overflow.SPECIAL, Rounding.TOWARD_ZERO, [0x7E, 0x7F, 0x7F]),
        (Overflow.SATURATE, Rounding.NEAREST_EVEN, [0x7E, 0x7E, 0x7E]),
        (Overflow.IEEE, Rounding.UP, [0x7E, 0x7F, 0x7F]),
        (Overflow.IEEE, Rounding.DOWN, [0x7E, 0x7E, 0x7E]),
    ],
)
def test_overflow_behaviours_differ_beyond_the_largest_value(overflow, rounding, expected):
    values = np.array([448.0, 449.0, 1e9])
    assert encode(values, E4M3, rounding, overflow).tolist() == expected


def test_infinity_and_nan_keep_their_signs():
    values = np.array([np.inf, -np.inf, np.nan, -np.nan])
    assert encode(values, F16).tolist() == [0x7C00, 0xFC00, 0x7E00, 0xFE00]
    assert encode(values, E4M3, overflow=Overflow.SATURATE).tolist() == [0x7E, 0xFE, 0x7F, 0xFF]
    assert [hex(b) for b in encode(values, Component.FLOAT64)] == [
        "0x7ff0000000000000",
        "0xfff0000000000000",
        "0x7ff8000000000000",
        "0xfff8000000000000",
    ]


@every_float
@relaxed
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_neighbours_enclose_a_number_and_are_neighbours(component, value):
    low = float(round_down(np.array([value]), component)[0])
    high = float(round_up(np.array([value]), component)[0])
    assert low <= value <= high
    if low == high or np.isinf(low) or np.isinf(high):
        assert low == high or abs(value) > float_format(component).maximum
        return
    bits = encode(np.array([low, high]), component)
    order = [
        int(b)
        if b < float_format(component).sign_bit
        else float_format(component).sign_bit - int(b)
        for b in bits
    ]
    assert order[1] - order[0] in (1, 0)


@every_float
@relaxed
@given(value=st.floats(min_value=2.0**-20, max_value=400.0), negative=st.booleans())
def test_spacing_is_the_distance_to_the_next_value_away_from_zero(component, value, negative):
    here = round_down(np.array([value]), component)
    here = -here if negative else here
    bits = encode(here, component)
    if int(bits[0]) in (float_format(component).maximum_code, 0, float_format(component).sign_bit):
        return
    following = decode(bits + bits.dtype.type(1), component)
    assert abs(following[0] - here[0]) == spacing(here, component)[0]


@pytest.mark.parametrize("component", FORMATS, ids=lambda c: c.label)
def test_spacing_asks_the_library_of_finite_values_alone(component, monkeypatch):
    asked = []
    library = np.frexp

    def frexp(values):
        asked.append(values)
        return library(values)

    monkeypatch.setattr(np, "frexp", frexp)
    values = np.array([1.0, np.inf, -np.inf, np.nan])
    signaling = np.array([0x7FF0000000000001], np.uint64).view(np.float64)
    found = spacing(np.concatenate([values, signaling]), component)
    assert np.isfinite(asked).all()
    assert found[0] == spacing(values[:1], component)[0]


@every_float
@relaxed
@given(data=st.data())
def test_the_lowest_bit_divides_a_number_and_no_higher_one_does(component, data):
    form = float_format(component)
    code = data.draw(st.integers(0, 2 * form.sign_bit - 1))
    bits = np.array([code], bits_dtype(component))
    value, lowest = float(decode(bits, component)[0]), int(lowest_bit_of(bits, component)[0])
    if value == 0 or not np.isfinite(value):
        assert lowest == NO_BITS
        return
    assert Fraction(value) % (Fraction(2) ** lowest) == 0
    assert Fraction(value) % (Fraction(2) ** (lowest + 1)) != 0


def test_powers_of_two_are_exact_and_cut_at_the_ends():
    exponents = np.array([-2000, -1022, -1, 0, 7, 1023, 5000])
    expected = [2.0**-1022, 2.0**-1022, 0.5, 1.0, 128.0, 2.0**1023, 2.0**1023]
    assert power_of_two(exponents).tolist() == expected


@pytest.mark.parametrize(
    "component", [c for c in Component if c.is_integer and "PACKED" not in c.name]
)
def test_integers_decode_with_either_signedness_and_encode_their_low_bits(component):
    top = 1 << (component.bits - 1)
    bits = np.array([0, 1, top - 1, top, 2 * top - 1], bits_dtype(component))
    assert decode_int(bits, component, True).tolist() == [0, 1, top - 1, -top, -1]
    assert decode_int(bits, component, False).tolist() == [0, 1, top - 1, top, 2 * top - 1]
    assert np.array_equal(encode_int(decode_int(bits, component), component), bits)
    assert encode_int(np.array([-1], np.int64), component)[0] == 2 * top - 1


def test_integer_components_have_no_float_format():
    with pytest.raises(ValueError, match="uint8 is not a floating-point"):
        float_format(Component.UINT8)
    with pytest.raises(ValueError, match="float16 is not an integer"):
        decode_int(np.zeros(1, np.uint16), F16)


def test_numbers_read_well():
    assert [number(v) for v in (3.0, -0.0, 0.1, 1e300, np.inf)] == [
        "3",
        "-0",
        "0.1",
        "1e+300",
        "inf",
    ]
    assert text(0x7E01, F16) == "NaN(0x7e01)"
    assert text(0xFF, Component.SINT8) == "-1"
