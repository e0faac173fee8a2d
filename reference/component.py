"""Number formats as data, and exact vectorised codecs between bits and numbers.

Every float format here is a binary format with ``precision`` significant bits and smallest normal
exponent ``minimum_exponent`` (binary16/32/64 of IEEE 754, bfloat16 of SPV_KHR_bfloat16, and the
E4M3 and E5M2 of SPV_EXT_float8, which are the "OCP" formats: E4M3 has no infinity and its largest
finite value is 448). All of them are subsets of binary64, so ``float64`` carries any value of any
format exactly, and encoding from ``float64`` is one rounding, never two.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component

Floats = NDArray[np.float64]
Bits = NDArray[np.unsignedinteger]
Flags = NDArray[np.bool_]

NO_BITS = 5000
"""What :func:`lowest_bit` gives for values without a lowest bit: zero, infinity and NaN."""


class Rounding(enum.Enum):
    """How a number between two neighbours becomes one of them."""

    NEAREST_EVEN = "nearest, ties to even"
    NEAREST_AWAY = "nearest, ties away from zero"
    TOWARD_ZERO = "toward zero"
    AWAY = "away from zero"
    UP = "up"
    DOWN = "down"


class Overflow(enum.Enum):
    """What a finite number beyond the largest finite value, and infinity, become."""

    IEEE = "infinity, or the largest finite value where the rounding points back to it"
    SPECIAL = "infinity (NaN for a format that has none), whatever the rounding"
    SATURATE = "the largest finite value"


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format. Codes are bit patterns without the sign bit."""

    bits: int
    precision: int
    """Significant bits, the implicit one included."""
    minimum_exponent: int
    """Exponent of the smallest normal value."""
    maximum_code: int
    """Code of the largest finite value."""
    infinity_code: int | None
    nan_code: int
    """Code of the canonical quiet NaN."""

    @property
    def maximum(self) -> float:
        """The largest finite value."""
        field, fraction = divmod(self.maximum_code, 1 << (self.precision - 1))
        significand = fraction + (1 << (self.precision - 1))
        return float(np.ldexp(float(significand), field - 1 + self.quantum_exponent))

    @property
    def quantum_exponent(self) -> int:
        """Exponent of the smallest subnormal value."""
        return self.minimum_exponent - self.precision + 1

    @property
    def minimum_normal(self) -> float:
        """The smallest positive normal value."""
        return float(np.ldexp(1.0, self.minimum_exponent))

    @property
    def minimum_subnormal(self) -> float:
        """The smallest positive value."""
        return float(np.ldexp(1.0, self.quantum_exponent))

    @property
    def sign_bit(self) -> int:
        """The bit that is set for negative values."""
        return 1 << (self.bits - 1)


FORMATS = {
    Component.FLOAT16: FloatFormat(16, 11, -14, 0x7BFF, 0x7C00, 0x7E00),
    Component.FLOAT32: FloatFormat(32, 24, -126, 0x7F7FFFFF, 0x7F800000, 0x7FC00000),
    Component.FLOAT64: FloatFormat(
        64, 53, -1022, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000
    ),
    Component.BFLOAT16: FloatFormat(16, 8, -126, 0x7F7F, 0x7F80, 0x7FC0),
    Component.FLOAT8_E4M3: FloatFormat(8, 4, -6, 0x7E, None, 0x7F),
    Component.FLOAT8_E5M2: FloatFormat(8, 3, -14, 0x7B, 0x7C, 0x7E),
}


def float_format(component: Component) -> FloatFormat:
    """The format of a float component; ValueError for an integer one."""
    try:
        return FORMATS[component]
    except KeyError:
        raise ValueError(f"{component.label} is not a floating-point component") from None


def bits_dtype(component: Component) -> np.dtype[np.unsignedinteger]:
    """The unsigned NumPy type, little-endian, that holds one component's bits."""
    return np.dtype(f"<u{component.bytes}")


@cache
def _table(component: Component) -> Floats:
    """The value of every bit pattern of an 8- or 16-bit float component."""
    form = FORMATS[component]
    codes = np.arange(form.sign_bit, dtype=np.int64)
    field, fraction = codes >> (form.precision - 1), codes & ((1 << (form.precision - 1)) - 1)
    significand = np.where(field > 0, fraction + (1 << (form.precision - 1)), fraction)
    values = np.ldexp(
        significand.astype(np.float64), np.maximum(field - 1, 0) + form.quantum_exponent
    )
    values[codes > form.maximum_code] = np.nan
    if form.infinity_code is not None:
        values[form.infinity_code] = np.inf
    table = np.concatenate([values, np.negative(values)])
    table.flags.writeable = False
    return table


def decode(bits: Bits, component: Component, finite: bool = False) -> Floats:
    """The numbers that ``bits`` (any shape, any unsigned type wide enough) stand for, exactly.

    Integer components are converted too, which is exact up to 53 bits; :func:`decode_int` is
    exact for all of them. ``finite``: there is neither NaN nor infinity, so don't look for them.
    """
    if component.is_integer:
        return decode_int(bits, component).astype(np.float64)
    if component.bits <= 16:
        return _decode_narrow(np.asarray(bits, bits_dtype(component)), component, finite)
    raw = np.ascontiguousarray(bits, bits_dtype(component))
    with np.errstate(invalid="ignore"):
        return raw.view(f"<f{component.bytes}").astype(np.float64)


def _decode_narrow(bits: Bits, component: Component, finite: bool) -> Floats:
    """Moves the fields to where binary32 has them and corrects the exponent by a multiplication,
    which is exact; several times faster than looking values up."""
    form = FORMATS[component]
    if not finite:
        codes = bits & bits.dtype.type(form.sign_bit - 1)
        if int(codes.max(initial=0)) > form.maximum_code:
            return _table(component)[bits]
    # To the top, and back with the sign repeated above the exponent, where it is masked out.
    repeated = 8 - form.bits + form.precision
    moved = bits.astype(np.uint32) << np.uint32(32 - form.bits)
    if repeated:
        moved = (moved.view(np.int32) >> np.int32(repeated)).view(np.uint32)
        moved &= np.uint32(0xFFFFFFFF ^ (((1 << repeated) - 1) << (31 - repeated)))
    scale = 2.0 ** (form.minimum_exponent - FORMATS[Component.FLOAT32].minimum_exponent)
    values = moved.view(np.float32).astype(np.float64)
    values *= scale
    return values


def decode_int(
    bits: Bits, component: Component, signed: bool | None = None
) -> NDArray[np.int64] | NDArray[np.uint64]:
    """The integers that ``bits`` stand for: int64 if ``signed`` (default: as the component says),
    uint64 otherwise."""
    if component.is_float:
        raise ValueError(f"{component.label} is not an integer component")
    signed = component.is_signed if signed is None else signed
    raw = np.ascontiguousarray(bits, bits_dtype(component))
    if signed:
        return raw.view(f"<i{component.bytes}").astype(np.int64)
    return raw.astype(np.uint64)


def encode_int(values: NDArray[np.int64] | NDArray[np.uint64], component: Component) -> Bits:
    """The low bits of 64-bit integers, as the component holds them."""
    wide = values.view(np.uint64) if values.dtype == np.int64 else values
    return wide.astype(bits_dtype(component))


def encode(
    values: Floats,
    component: Component,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    overflow: Overflow = Overflow.IEEE,
) -> Bits:
    """The bits of ``values`` rounded once to a float component.

    NaN becomes the canonical quiet NaN of the same sign. Infinity becomes infinity, or NaN where
    the format has none, or the largest finite value under :attr:`Overflow.SATURATE`.
    """
    form = float_format(component)
    values = np.asarray(values, dtype=np.float64)
    if component is Component.FLOAT64 and overflow is not Overflow.SATURATE:
        raw = values.view(np.uint64)
        canonical = (raw & np.uint64(form.sign_bit)) | np.uint64(form.nan_code)
        return np.where(np.isnan(values), canonical, raw)
    negative = np.signbit(values)
    magnitude = np.abs(values)
    finite = np.isfinite(magnitude)
    _, exponent = np.frexp(np.where(finite, magnitude, 0.0))
    exponent = np.where(magnitude == 0, form.minimum_exponent, exponent)
    quantum = np.maximum(exponent - form.precision, form.quantum_exponent)
    scaled = np.ldexp(np.where(finite, magnitude, 0.0), -quantum)
    codes = _round(scaled, negative, rounding).astype(np.int64)
    codes += (quantum.astype(np.int64) - form.quantum_exponent) << (form.precision - 1)
    special = form.nan_code if form.infinity_code is None else form.infinity_code
    over: int | NDArray[np.int64]
    if overflow is Overflow.SATURATE:
        over = form.maximum_code
    elif overflow is Overflow.SPECIAL:
        over = special
    else:
        over = np.where(_points_back(negative, rounding), form.maximum_code, special)
    beyond = magnitude > form.maximum if overflow is Overflow.SPECIAL else False
    codes = np.where((codes > form.maximum_code) | beyond, over, codes)
    infinite = form.maximum_code if overflow is Overflow.SATURATE else special
    codes = np.where(np.isinf(magnitude), infinite, codes)
    codes = np.where(np.isnan(magnitude), form.nan_code, codes).astype(np.uint64)
    codes |= np.where(negative, np.uint64(form.sign_bit), np.uint64(0))
    return codes.astype(bits_dtype(component))


def _round(scaled: Floats, negative: Flags, rounding: Rounding) -> Floats:
    """Non-negative multiples of the quantum rounded to whole ones."""
    if rounding is Rounding.NEAREST_EVEN:
        return np.rint(scaled)
    if rounding is Rounding.NEAREST_AWAY:
        whole = np.floor(scaled)
        return whole + (scaled - whole >= 0.5)
    if rounding is Rounding.TOWARD_ZERO:
        return np.floor(scaled)
    if rounding is Rounding.AWAY:
        return np.ceil(scaled)
    toward_zero = negative if rounding is Rounding.UP else ~negative
    return np.where(toward_zero, np.floor(scaled), np.ceil(scaled))


def _points_back(negative: Flags, rounding: Rounding) -> Flags:
    """Where a number beyond the largest finite value is rounded back to it."""
    if rounding is Rounding.TOWARD_ZERO:
        return np.ones_like(negative)
    if rounding is Rounding.UP:
        return negative
    if rounding is Rounding.DOWN:
        return ~negative
    return np.zeros_like(negative)


def rounded(
    values: Floats, component: Component, rounding: Rounding = Rounding.NEAREST_EVEN
) -> Floats:
    """``values`` rounded to the component, as numbers again."""
    return decode(encode(values, component, rounding), component)


def round_nearest(values: Floats, component: Component) -> Floats:
    """``values`` rounded to nearest, ties to even; too large ones become infinity even where the
    format has none."""
    result = rounded(values, component)
    lost = np.isnan(result) & ~np.isnan(values)
    return np.where(lost, np.copysign(np.inf, values), result)


def round_down(values: Floats, component: Component) -> Floats:
    """The largest values of the component (-infinity included) that are not above ``values``."""
    result = rounded(values, component, Rounding.DOWN)
    return np.where(values < -float_format(component).maximum, -np.inf, result)


def round_up(values: Floats, component: Component) -> Floats:
    """The smallest values of the component (infinity included) that are not below ``values``."""
    result = rounded(values, component, Rounding.UP)
    return np.where(values > float_format(component).maximum, np.inf, result)


def spacing(values: Floats, component: Component) -> Floats:
    """The distance from ``values`` to the component's next value away from zero (one ulp); without
    meaning for infinity and NaN."""
    form = float_format(component)
    # What frexp makes of these is up to the C library, which may raise a flag at signaling NaNs.
    _, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    exponent = np.where(values == 0, form.minimum_exponent, exponent)
    unit: Floats = np.ldexp(1.0, np.maximum(exponent - form.precision, form.quantum_exponent))
    return unit


# --- classes of values ----------------------------------------------------------------------


def magnitude_code(bits: Bits, component: Component) -> Bits:
    """The bits without the sign bit; they grow with the magnitude."""
    dtype = bits_dtype(component)
    code: Bits = np.asarray(bits, dtype) & dtype.type(float_format(component).sign_bit - 1)
    return code


def is_nan(bits: Bits, component: Component) -> Flags:
    """Where a float component is NaN."""
    form = float_format(component)
    limit = form.maximum_code if form.infinity_code is None else form.infinity_code
    return magnitude_code(bits, component) > limit


def is_infinite(bits: Bits, component: Component) -> Flags:
    """Where a float component is infinite."""
    form = float_format(component)
    code = magnitude_code(bits, component)
    return np.zeros(code.shape, bool) if form.infinity_code is None else code == form.infinity_code


def is_subnormal(bits: Bits, component: Component) -> Flags:
    """Where a float component is subnormal (zero is not)."""
    code = magnitude_code(bits, component)
    return (code > 0) & (code < 1 << (float_format(component).precision - 1))


def is_negative(bits: Bits, component: Component) -> Flags:
    """Where the sign bit of a float component is set."""
    dtype = bits_dtype(component)
    negative: Flags = (np.asarray(bits, dtype) >> dtype.type(component.bits - 1)).astype(bool)
    return negative


def lowest_bit_of(bits: Bits, component: Component) -> NDArray[np.int16]:
    """The exponent of the lowest set bit of each number: the largest ``g`` such that the number is
    a whole multiple of 2^g; :data:`NO_BITS` for zero and non-finite numbers."""
    if component.bits <= 16:
        return _lowest_bits(component)[np.asarray(bits, bits_dtype(component))]
    return _lowest_bit_of(bits, component)


@cache
def _lowest_bits(component: Component) -> NDArray[np.int16]:
    """:func:`lowest_bit_of` for every code of a narrow component: three times as fast."""
    codes = np.arange(1 << component.bits, dtype=bits_dtype(component))
    table = _lowest_bit_of(codes, component)
    table.flags.writeable = False
    return table


def _lowest_bit_of(bits: Bits, component: Component) -> NDArray[np.int16]:
    form = float_format(component)
    code = magnitude_code(bits, component)
    whole = code.dtype.type
    one = whole(1)
    marked = code | whole(1 << (form.precision - 1))
    trailing_zeros = np.bitwise_count(~marked & (marked - one))
    exponent = (code >> whole(form.precision - 1)).astype(np.int16)
    np.maximum(exponent, np.int16(1), out=exponent)
    exponent += np.int16(form.quantum_exponent - 1)
    exponent += trailing_zeros
    none = code - one >= whole(form.maximum_code)
    if none.any():
        exponent[none] = NO_BITS
    return exponent


def lowest_bit(values: Floats) -> NDArray[np.int16]:
    """:func:`lowest_bit_of` for numbers in binary64."""
    return lowest_bit_of(np.ascontiguousarray(values).view(np.uint64), Component.FLOAT64)


def power_of_two(exponents: NDArray[np.signedinteger]) -> Floats:
    """2^exponent, exponents cut to [-1022, 1023]; much faster than ``ldexp``."""
    field = np.clip(exponents.astype(np.int64), -1022, 1023) + 1023
    return (field << np.int64(52)).view(np.float64)


# --- text -----------------------------------------------------------------------------------


def text(bits: int, component: Component) -> str:
    """A number for people: shortest decimal that names the value, or the NaN with its bits."""
    array = np.array([bits], bits_dtype(component))
    if component.is_integer:
        return str(int(decode_int(array, component)[0]))
    value = float(decode(array, component)[0])
    if np.isnan(value):
        return f"NaN(0x{bits:0{component.bytes * 2}x})"
    return number(value)


def number(value: float) -> str:
    """A float64 for people: ``3`` rather than ``3.0``, all digits that matter."""
    if value == 0:
        return "-0" if np.signbit(value) else "0"
    whole = abs(value) < 1e16 and value.is_integer()
    return str(int(value)) if whole else repr(float(value))
