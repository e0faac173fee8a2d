"""Turns recipes into the bits of matrices.

Random numbers come from a counter-based hash written here, so a recipe means the same bits with
every version of NumPy, on every machine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from cts.program.recipe import Pattern, Recipe
from reference.component import (
    Bits,
    FloatFormat,
    Overflow,
    bits_dtype,
    decode,
    encode,
    encode_int,
    float_format,
)

Words = NDArray[np.uint64]
Shape = tuple[int, int, int]


def random_words(seed: int, shape: tuple[int, ...], stream: int = 0) -> Words:
    """Uniform 64-bit words: a bijective mixing of (seed, stream, position), the finaliser of
    SplitMix64 applied twice."""
    count = int(np.prod(shape))
    start = np.uint64((seed * 0x9E3779B97F4A7C15 + stream * 0xD1342543DE82EF95) % (1 << 64))
    words = np.arange(count, dtype=np.uint64)
    words ^= _mix(np.full(1, start))
    return _mix(_mix(words)).reshape(shape)


def _mix(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def realise(recipe: Recipe, component: Component, rows: int, columns: int, tiles: int) -> Bits:
    """The bits, [tiles, rows, columns], that a recipe stands for.

    Raises ValueError for a pattern that the component has no values for.
    """
    shape = (tiles, rows, columns)
    make = _FLOATS if component.is_float else _INTEGERS
    try:
        pattern = make[recipe.pattern]
    except KeyError:
        raise ValueError(f"{component.label} has no values for {recipe.pattern.value}") from None
    bits = np.ascontiguousarray(pattern(recipe, component, shape), bits_dtype(component))
    if recipe.keep < 8:
        kept = random_words(recipe.seed, shape, stream=2) % np.uint64(8) < np.uint64(recipe.keep)
        bits = np.where(kept, bits, bits.dtype.type(0))
    if recipe.negate:
        bits = _negated(bits, component)
    if recipe.scale and component.is_float:
        bits = _scaled(bits, component, recipe.scale)
    for plant in recipe.plants:
        bits[plant.tile % tiles, plant.row % rows, plant.column % columns] = plant.bits
    return bits


def _negated(bits: Bits, component: Component) -> Bits:
    """Zeros keep their sign: a negated zero would turn non-negative sums into mixed ones."""
    dtype = bits.dtype.type
    if component.is_integer:
        return dtype(0) - bits
    return np.where(bits == 0, bits, bits ^ dtype(float_format(component).sign_bit))


def _scaled(bits: Bits, component: Component, scale: int) -> Bits:
    values = decode(bits, component)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = encode(np.ldexp(values, scale), component, overflow=Overflow.SATURATE)
    return np.where(np.isfinite(values), scaled, bits)


# --- patterns of both -----------------------------------------------------------------------


def _linear(shape: Shape) -> NDArray[np.int64]:
    """tile, row and column as one number."""
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)


def _grid(shape: Shape) -> NDArray[np.int64]:
    """row * columns + column, the same for every tile."""
    return np.broadcast_to(np.arange(shape[1] * shape[2]).reshape(shape[1:]), shape)


def _zeros(recipe: Recipe, shape: Shape) -> NDArray[np.int64]:
    return np.zeros(shape, np.int64)


def _ones(recipe: Recipe, shape: Shape) -> NDArray[np.int64]:
    return np.ones(shape, np.int64)


def _iota(recipe: Recipe, shape: Shape) -> NDArray[np.int64]:
    return _grid(shape) % (recipe.limit + 1)


def _identity(recipe: Recipe, shape: Shape) -> NDArray[np.int64]:
    rows, columns = np.arange(shape[1])[:, None], np.arange(shape[2])
    return np.broadcast_to((rows % shape[2] == columns).astype(np.int64), shape)


def _permutation(recipe: Recipe, shape: Shape) -> NDArray[np.int64]:
    keys = random_words(recipe.seed, (shape[0], shape[2]))
    chosen = np.argsort(keys, axis=1, kind="stable")[:, np.arange(shape[1]) % shape[2]]
    chosen_ones: NDArray[np.int64] = (chosen[:, :, None] == np.arange(shape[2])).astype(np.int64)
    return chosen_ones


def _below(recipe: Recipe, shape: Shape, count: int, stream: int = 0) -> NDArray[np.int64]:
    """Seeded integers from 0 to count - 1."""
    return (random_words(recipe.seed, shape, stream) % np.uint64(count)).astype(np.int64)


def _small(recipe: Recipe, shape: Shape) -> NDArray[np.int64]:
    return _below(recipe, shape, recipe.limit + 1)


def _signed(recipe: Recipe, shape: Shape) -> NDArray[np.int64]:
    return _below(recipe, shape, 2 * recipe.limit + 1) - recipe.limit


def _nonzero(recipe: Recipe, shape: Shape) -> NDArray[np.int64]:
    magnitude = _below(recipe, shape, max(recipe.limit, 1)) + 1
    return np.where(_below(recipe, shape, 2, stream=3) == 1, -magnitude, magnitude)


Integers = Callable[[Recipe, Shape], NDArray[np.int64]]
Make = Callable[[Recipe, Component, Shape], Bits]


def _bits(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    return random_words(recipe.seed, shape).astype(bits_dtype(component))


def _all_codes(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    return _linear(shape).astype(bits_dtype(component))


# --- integers -------------------------------------------------------------------------------


def _whole(make: Integers) -> Make:
    """Small integers, bounded by what the component can hold."""

    def pattern(recipe: Recipe, component: Component, shape: Shape) -> Bits:
        largest = (1 << (component.bits - component.is_signed)) - 1
        return encode_int(make(_limited(recipe, largest), shape), component)

    return pattern


def _limited(recipe: Recipe, largest: int) -> Recipe:
    if recipe.limit <= largest:
        return recipe
    return Recipe(recipe.pattern, recipe.seed, largest)


def _signed_integers(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    return _whole(_signed if component.is_signed else _small)(recipe, component, shape)


def _nonzero_integers(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    largest = (1 << (component.bits - component.is_signed)) - 1
    values = _nonzero(_limited(recipe, largest), shape)
    return encode_int(values if component.is_signed else np.abs(values), component)


def _wide_integers(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    """Random bits of random length, so that all magnitudes occur; negated at random if signed."""
    words = random_words(recipe.seed, shape) & np.uint64((1 << component.bits) - 1)
    values = words >> (random_words(recipe.seed, shape, 1) % np.uint64(component.bits))
    if component.is_signed:
        signs = random_words(recipe.seed, shape, 3) & np.uint64(1)
        values = np.where(signs == 1, np.uint64(0) - values, values)
    return values.astype(bits_dtype(component))


def _extreme_integers(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    """Within ``limit`` of the largest value, and for signed components of the smallest."""
    largest = (1 << (component.bits - component.is_signed)) - 1
    distance = random_words(recipe.seed, shape) % np.uint64(min(recipe.limit, largest) + 1)
    values = np.uint64(largest) - distance
    if component.is_signed:
        low = random_words(recipe.seed, shape, 1) & np.uint64(1)
        values = np.where(low == 1, ~values, values)
    return values.astype(bits_dtype(component))


def _special_integers(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    top = 1 << (component.bits - 1)
    codes = np.array([0, 1, 2 * top - 1, top - 1, top, top + 1, 2, 2 * top - 2], np.uint64)
    return codes[_below(recipe, shape, len(codes))].astype(bits_dtype(component))


_INTEGERS: dict[Pattern, Make] = {
    Pattern.ZEROS: _whole(_zeros),
    Pattern.ONES: _whole(_ones),
    Pattern.IOTA: _whole(_iota),
    Pattern.INDEX: _all_codes,
    Pattern.IDENTITY: _whole(_identity),
    Pattern.PERMUTATION: _whole(_permutation),
    Pattern.SMALL: _whole(_small),
    Pattern.SIGNED: _signed_integers,
    Pattern.FULL: _bits,
    Pattern.NONZERO: _nonzero_integers,
    Pattern.WIDE: _wide_integers,
    Pattern.NEAR_MAX: _extreme_integers,
    Pattern.SPECIALS: _special_integers,
    Pattern.BITS: _bits,
    Pattern.ALL_CODES: _all_codes,
}


# --- floats ---------------------------------------------------------------------------------


def _number(make: Integers, steps: int = 1) -> Make:
    """Integers over ``steps``, bounded by what the component represents exactly."""

    def pattern(recipe: Recipe, component: Component, shape: Shape) -> Bits:
        form = float_format(component)
        largest = min(1 << form.precision, int(form.maximum)) // steps
        values = make(_limited(recipe, largest), shape)
        return encode(values / steps, component)

    return pattern


def _halves(recipe: Recipe, shape: Shape) -> NDArray[np.int64]:
    """Twice the value."""
    return _below(recipe, shape, 4 * recipe.limit + 1) - 2 * recipe.limit


def _field(form: FloatFormat, exponent: NDArray[np.int64]) -> Words:
    """Codes of 2^exponent, for normal exponents."""
    return ((exponent - form.minimum_exponent + 1) << (form.precision - 1)).astype(np.uint64)


def _largest_exponent(form: FloatFormat) -> int:
    return (form.maximum_code >> (form.precision - 1)) - 1 + form.minimum_exponent


def _exponents(recipe: Recipe, form: FloatFormat, shape: Shape, limit: int) -> NDArray[np.int64]:
    low, high = max(-limit, form.minimum_exponent), min(limit, _largest_exponent(form))
    return _below(recipe, shape, high - low + 1, stream=1) + low


def _signs(recipe: Recipe, form: FloatFormat, shape: Shape) -> Words:
    sign = random_words(recipe.seed, shape, stream=3) & np.uint64(1)
    return sign << np.uint64(form.bits - 1)


def _powers(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    form = float_format(component)
    return _field(form, _exponents(recipe, form, shape, recipe.limit)).astype(bits_dtype(component))


def _full_range(recipe: Recipe, component: Component, shape: Shape, limit: int) -> Bits:
    form = float_format(component)
    fraction = random_words(recipe.seed, shape) & np.uint64((1 << (form.precision - 1)) - 1)
    codes = _field(form, _exponents(recipe, form, shape, limit)) | fraction
    codes = np.minimum(codes, np.uint64(form.maximum_code))
    return (codes | _signs(recipe, form, shape)).astype(bits_dtype(component))


def _ties(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    """The last kept bit is free, the next is 1, and then zeros, or one unit more or less."""
    form = float_format(component)
    kept = min(max(recipe.limit, 1), form.precision - 1)
    below = form.precision - 1 - kept
    fraction = random_words(recipe.seed, shape) & np.uint64((1 << (form.precision - 1)) - 1)
    fraction >>= np.uint64(below + 1)
    fraction = (fraction << np.uint64(1) | np.uint64(1)) << np.uint64(below)
    codes = _field(form, _exponents(recipe, form, shape, _MODERATE)) | fraction
    nudge = np.array([0, 0, 1, -1], np.int64)[_below(recipe, shape, 4, stream=4)]
    near = codes.astype(np.int64) + (nudge if below else 0)
    near = np.minimum(near, form.maximum_code)
    found: Bits = (near.astype(np.uint64) | _signs(recipe, form, shape)).astype(
        bits_dtype(component)
    )
    return found


_MODERATE = 12
"""Largest exponent of the patterns that call theirs moderate."""


def _full(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    return _full_range(recipe, component, shape, recipe.limit)


def _wide(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    return _full_range(recipe, component, shape, 1 << 11)


def _near_max(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    form = float_format(component)
    codes = np.uint64(form.maximum_code) - _below(recipe, shape, recipe.limit + 1).astype(np.uint64)
    return (codes | _signs(recipe, form, shape)).astype(bits_dtype(component))


def _subnormals(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    form = float_format(component)
    codes = (_below(recipe, shape, (1 << (form.precision - 1)) - 1) + 1).astype(np.uint64)
    return (codes | _signs(recipe, form, shape)).astype(bits_dtype(component))


def _specials(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    form = float_format(component)
    one = int(encode(np.ones(1), component)[0])
    least_normal = 1 << (form.precision - 1)
    codes = [0, one, form.maximum_code, form.nan_code, least_normal, least_normal - 1, 1]
    if form.infinity_code is not None:
        codes += [form.infinity_code, form.infinity_code + 1, form.sign_bit - 1]
    chosen = np.array(codes, np.uint64)[_below(recipe, shape, len(codes))]
    return (chosen | _signs(recipe, form, shape)).astype(bits_dtype(component))


def _index(recipe: Recipe, component: Component, shape: Shape) -> Bits:
    """Consecutive codes from the smallest normal on, starting over after the largest finite."""
    form = float_format(component)
    least = 1 << (form.precision - 1)
    return (_linear(shape) % (form.maximum_code - least + 1) + least).astype(bits_dtype(component))


_FLOATS: dict[Pattern, Make] = {
    Pattern.ZEROS: _number(_zeros),
    Pattern.ONES: _number(_ones),
    Pattern.IOTA: _number(_iota),
    Pattern.INDEX: _index,
    Pattern.IDENTITY: _number(_identity),
    Pattern.PERMUTATION: _number(_permutation),
    Pattern.SMALL: _number(_small),
    Pattern.SIGNED: _number(_signed),
    Pattern.POWERS: _powers,
    Pattern.HALVES: _number(_halves, steps=2),
    Pattern.NONZERO: _number(_nonzero),
    Pattern.TIES: _ties,
    Pattern.FULL: _full,
    Pattern.WIDE: _wide,
    Pattern.NEAR_MAX: _near_max,
    Pattern.SUBNORMALS: _subnormals,
    Pattern.SPECIALS: _specials,
    Pattern.BITS: _bits,
    Pattern.ALL_CODES: _all_codes,
}
