"""What is known of the addends of float multiply-adds: signs, grids, sizes, specials.

An element of ``a1 b1 + a2 b2 + ... + c`` is a sum of products and one element of ``c``. Facts are
kept for rows of the left factors and columns of the right ones, which is enough to say for every
element on which grid its addends lie, and cheap: these run for every element that is ever judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from reference.bounds import Adder
from reference.component import (
    NO_BITS,
    Bits,
    Flags,
    Floats,
    bits_dtype,
    decode,
    float_format,
    is_negative,
    is_subnormal,
    lowest_bit,
    lowest_bit_of,
    magnitude_code,
    power_of_two,
)
from reference.exact import ProductSum, sum_products
from reference.values import Exact, FloatSum

Exponents = NDArray[np.int16]
_Item = TypeVar("_Item", bound=np.generic)


def folded(ufunc: np.ufunc, array: NDArray[_Item], axis: int) -> NDArray[_Item]:
    """An idempotent reduction (minimum, logical or) of [tiles, rows, columns] along the rows (axis
    1) or columns (axis 2), which are kept as 1. Halving is several times faster than NumPy's own
    reduction of a short axis."""
    while array.shape[axis] > 1:
        half = (array.shape[axis] + 1) // 2
        if axis == 1:
            array = ufunc(array[:, :half], array[:, -half:])
        else:
            array = ufunc(array[:, :, :half], array[:, :, -half:])
    return array


@dataclass(frozen=True)
class Factor:
    """A left factor and its rows (``axis`` 2), or a right one and its columns (``axis`` 1)."""

    component: Component
    axis: int
    bits: Bits
    values: Floats
    """With zeros in place of NaN and infinity."""
    codes: Bits
    """The bits without the sign."""
    special: bool
    """Whether any element is NaN or infinity."""
    negative: bool
    """Whether any element has its sign bit set; zeros can."""
    subnormal: bool
    """Whether any element is subnormal."""
    zeros: bool
    """Whether any element is zero or special."""

    @cached_property
    def lowest(self) -> Exponents:
        """Exponent of each element's lowest bit."""
        return lowest_bit_of(self.bits, self.component)

    @cached_property
    def finest(self) -> int:
        """All elements are multiples of 2^finest."""
        return int(self.lowest.min())

    @cached_property
    def grid(self) -> Exponents:
        """All elements of the row or column are multiples of 2^grid; 0 if all are zero."""
        lowest = folded(np.minimum, self.lowest, self.axis)
        return np.where(lowest == NO_BITS, np.int16(0), lowest)

    @property
    def special_lines(self) -> Flags | None:
        """The rows or columns with NaN or infinity; None if there are none."""
        limit = self.codes.dtype.type(float_format(self.component).maximum_code)
        return self._lines(self.codes > limit) if self.special else None

    @property
    def negative_lines(self) -> Flags | None:
        """The rows or columns with a sign bit; None if there are none."""
        return self._lines(self.bits != self.codes) if self.negative else None

    @property
    def subnormals(self) -> Flags:
        """Subnormal elements."""
        return is_subnormal(self.bits, self.component)

    @property
    def subnormal_lines(self) -> Flags | None:
        """The rows or columns with subnormal elements; None if there are none."""
        return self._lines(self.subnormals) if self.subnormal else None

    def _lines(self, flags: Flags) -> Flags:
        return folded(np.logical_or, flags, self.axis)

    @cached_property
    def length(self) -> int:
        """Upper bound of the significant bits of any element."""
        _, exponent = np.frexp(self.values)
        return int((exponent - self.lowest).max(initial=0, where=self.lowest != NO_BITS))

    @cached_property
    def largest(self) -> NDArray[np.int32]:
        """Exponent of the largest element of the row or column, at least that of the smallest
        normal value."""
        _, exponent = np.frexp(np.abs(self.values).max(axis=self.axis, keepdims=True))
        largest: NDArray[np.int32] = np.maximum(exponent - 1, self.normal)
        return largest

    @property
    def normal(self) -> int:
        """Exponent of the component's smallest normal value."""
        return float_format(self.component).minimum_exponent


def factor(exact: Exact, axis: int) -> Factor:
    """The facts of one factor."""
    component = exact.component
    form = float_format(component)
    bits = np.ascontiguousarray(exact.bits, bits_dtype(component))
    codes = magnitude_code(bits, component)
    values = decode(bits, component)
    special = int(codes.max()) > form.maximum_code
    if special:
        values = np.where(codes > codes.dtype.type(form.maximum_code), 0.0, values)
    hidden = codes.dtype.type((1 << (form.precision - 1)) - 1)
    return Factor(
        component,
        axis,
        bits,
        values,
        codes,
        special,
        int(bits.max()) >= form.sign_bit,
        bool((codes - codes.dtype.type(1) < hidden).any()),
        special or int(codes.min()) == 0,
    )


@dataclass(frozen=True)
class Addends:
    """The addends of every element of a chain; flags that are None hold nowhere."""

    chain: FloatSum
    plan: Adder
    pairs: tuple[tuple[Factor, Factor], ...]
    c: Floats
    c_special: Flags | None
    c_negative: Flags | None
    sums: ProductSum

    @property
    def shape(self) -> tuple[int, int, int]:
        """(tiles, rows, columns)."""
        return self.chain.shape

    @cached_property
    def sides(self) -> tuple[Factor, ...]:
        """All factors, left and right."""
        return tuple(side for pair in self.pairs for side in pair)

    @cached_property
    def special(self) -> Flags | None:
        """Elements that a NaN or an infinity reaches."""
        return self._either([self.c_special, *(side.special_lines for side in self.sides)])

    @cached_property
    def negative(self) -> Flags | None:
        """Elements with a factor or addend whose sign bit is set, be it a zero's."""
        return self._either([self.c_negative, *(side.negative_lines for side in self.sides)])

    @cached_property
    def subnormal(self) -> Flags | None:
        """Elements with a subnormal factor or addend."""
        return self._either([self._c_tiny, *(side.subnormal_lines for side in self.sides)])

    @cached_property
    def _c_tiny(self) -> Flags | None:
        code = magnitude_code(self.chain.c.bits, self.chain.c.component)
        limit = 1 << (float_format(self.chain.c.component).precision - 1)
        tiny = code - code.dtype.type(1) < code.dtype.type(limit - 1)
        return tiny if tiny.any() else None

    @cached_property
    def count(self) -> NDArray[np.int64] | int:
        """Addends that are not zero."""
        present = self.c != 0
        own: NDArray[np.int64] | int = present.astype(np.int64)
        if present.all() or not present.any():
            own = int(present.all())
        if not any(a.zeros or b.zeros for a, b in self.pairs):
            return own + self.chain.slots - 1
        ones = [(a.values != 0).astype(np.float32) @ (b.values != 0) for a, b in self.pairs]
        count: NDArray[np.int64] = own + np.add.reduce(ones).astype(np.int64)
        return count

    @cached_property
    def fineness(self) -> Floats:
        """2^-g such that all products of the element are multiples of 2^g."""
        scales = [power_of_two(-a.grid) * power_of_two(-b.grid) for a, b in self.pairs]
        return scales[0] if len(scales) == 1 else np.maximum.reduce(scales)

    @cached_property
    def finest(self) -> int:
        """All products of all elements are multiples of 2^finest."""
        return min(min(a.finest + b.finest, NO_BITS) for a, b in self.pairs)

    @cached_property
    def may_underflow(self) -> Flags | None:
        """Elements whose addends are not all multiples of the smallest normal value."""
        least = self.plan.minimum_exponent
        found: list[Flags | None] = []
        if self.finest < least:
            found.append(self.fineness > 2.0**-least)
        near = np.abs(self.c) < 2.0 ** (least + float_format(self.chain.c.component).precision)
        near &= self.c != 0
        if near.any():
            found.append(near & (lowest_bit(self.c) < least))
        return self._either(found)

    @cached_property
    def lossy(self) -> Floats | None:
        """Magnitudes of addends that may not fit the narrowest sums."""
        precision = self.plan.precision
        for a, b in self.pairs:
            most = float_format(a.component).precision + float_format(b.component).precision
            if most > precision and a.length + b.length - (min(a.length, b.length) <= 1) > (
                precision
            ):
                return self.sums.size
        if float_format(self.chain.c.component).precision <= precision or not self.c.any():
            return None
        _, exponent = np.frexp(self.c)
        fits = (exponent - lowest_bit(self.c) <= precision) | (self.c == 0)
        return None if fits.all() else np.where(fits, 0.0, np.abs(self.c))

    @cached_property
    def flushed(self) -> Floats | None:
        """Magnitudes of addends that vanish if subnormal operands do."""
        found = None
        tiny = self._c_tiny
        if tiny is not None:
            found = np.where(tiny, np.abs(self.c), 0.0)
        for a, b in self.pairs:
            if a.subnormal or b.subnormal:
                left, right = np.abs(a.values), np.abs(b.values)
                whole = left @ right
                kept = np.where(a.subnormals, 0.0, left) @ np.where(b.subnormals, 0.0, right)
                lost = np.maximum(whole - kept, 0.0) + whole * 2.0**-40
                found = lost if found is None else found + lost
        return found

    @cached_property
    def floor(self) -> Floats | float:
        """The grid of an adder depends on exponents of factors, and that of a subnormal factor
        exceeds its value; this is by how much at most."""
        floor: Floats | float = 0.0
        for a, b in self.pairs:
            if a.subnormal or b.subnormal:
                floor = np.maximum(floor, np.ldexp(1.0, a.largest + b.largest))
        return floor

    @cached_property
    def zero_floor(self) -> Floats:
        """The same for products with a zero, where adders count those."""
        exponents = [np.maximum(a.normal + b.largest, a.largest + b.normal) for a, b in self.pairs]
        return power_of_two(np.maximum.reduce(exponents))

    @cached_property
    def collapsed(self) -> Flags | None:
        """Elements whose every partial sum, in every order, every adder represents exactly (but
        for adders with unit errors); None for all of them."""
        largest = float(self.sums.size.max())
        subnormal = self.subnormal
        if subnormal is None and largest <= self.plan.maximum and self._all_on_one_grid(largest):
            return None
        fits = self._on_grids()
        if np.any(self.count == 1):
            fits = self._alone(fits)
        if largest > self.plan.maximum:
            fits = fits & (self.sums.size <= self.plan.maximum)
        return fits if subnormal is None else fits & ~subnormal

    def _all_on_one_grid(self, largest: float) -> bool:
        """Whether the finest grid on which ``largest`` has few enough bits holds all addends."""
        grid = max(math.frexp(largest)[1] - self.plan.collapse, self.plan.minimum_exponent)
        if self.finest < grid:
            return False
        return bool(_whole(self.c, self.c * 2.0**-grid).all())

    def _on_grids(self) -> Flags:
        """The same for every element with a grid of its own."""
        size, plan = self.sums.size, self.plan
        _, exponent = np.frexp(size)
        finest = power_of_two(
            plan.collapse - np.maximum(exponent, plan.collapse + plan.minimum_exponent)
        )
        fits = self.fineness <= finest
        if self.c.any() and fits.any():
            fits &= _whole(self.c, self.c * finest)
        return fits

    def _alone(self, fits: Flags) -> Flags:
        """``fits``, and elements with one addend only, which nothing is added to."""
        single = np.broadcast_to(self.count == 1, fits.shape) & ~fits
        if not single.any():
            return fits
        values = self.sums.size[single]
        lowest = lowest_bit(values)
        _, exponent = np.frexp(values)
        fits = fits.copy()
        fits[single] = (exponent - lowest <= self.plan.collapse) & (
            lowest >= self.plan.minimum_exponent
        )
        return fits

    def _either(self, flags: list[Flags | None]) -> Flags | None:
        found = [flag for flag in flags if flag is not None]
        if not found:
            return None
        result = found[0]
        for flag in found[1:]:
            result = result | flag
        return np.broadcast_to(result, self.shape)


def _whole(c: Floats, steps: Floats) -> Flags:
    """Where C, given in steps of a grid, is a whole number of them; one that underflows is not."""
    whole: Flags = (steps == np.rint(steps)) & ((steps != 0) | (c == 0))
    return whole


def addends(chain: FloatSum, plan: Adder) -> Addends:
    """The facts of a chain's addends."""
    pairs = tuple((factor(a, 2), factor(b, 1)) for a, b in chain.products)
    component = chain.c.component
    c = decode(chain.c.bits, component)
    special = None
    if not np.isfinite(c).all():
        special = ~np.isfinite(c)
        c = np.where(special, 0.0, c)
    negative = None
    if int(chain.c.bits.max()) >= float_format(component).sign_bit:
        negative = is_negative(chain.c.bits, component)
    signed = negative is not None or any(side.negative for pair in pairs for side in pair)
    narrow = all(side.component is not Component.FLOAT64 for pair in pairs for side in pair)
    sums = sum_products([(a.values, b.values) for a, b in pairs], c, narrow, signed)
    return Addends(chain, plan, pairs, c, special, negative, sums)
