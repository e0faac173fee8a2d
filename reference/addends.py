"""What is known of the addends of float multiply-adds: signs, grids, sizes, specials.

An element of ``a1 b1 + a2 b2 + ... + c`` is a sum of products and one element of ``c``. Facts are
kept for rows of the left factors and columns of the right ones, which is enough to say for every
element on which grid its addends lie, and cheap: these run for every element that is ever judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

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
    is_subnormal,
    lowest_bit,
    lowest_bit_of,
    power_of_two,
)
from reference.exact import ProductSum, sum_products
from reference.values import Exact, FloatSum

Exponents = NDArray[np.int16]


@dataclass(frozen=True)
class Factor:
    """A left factor and its rows (``axis`` 2), or a right one and its columns (``axis`` 1)."""

    component: Component
    axis: int
    bits: Bits
    values: Floats
    """With zeros in place of NaN and infinity."""
    seen: _Codes

    @property
    def zeros(self) -> bool:
        """Whether any element is zero, or became zero because it was special."""
        return self.seen.zeros or self.seen.special

    @cached_property
    def lowest(self) -> Exponents:
        """Exponent of each element's lowest bit."""
        return lowest_bit_of(self.bits, self.component)

    @cached_property
    def finest(self) -> int:
        """All elements are multiples of 2^finest."""
        return int(self.lowest.min())

    @cached_property
    def sample(self) -> Exponents:
        """A bound from above of ``grid``, from one element of each row or column."""
        first = self.bits[:, :, :1] if self.axis == 2 else self.bits[:, :1]
        return lowest_bit_of(first, self.component)

    @cached_property
    def grid(self) -> Exponents:
        """All elements of the row or column are multiples of 2^grid; 0 if all are zero."""
        lowest: Exponents = self.lowest.min(axis=self.axis, keepdims=True)
        return np.where(lowest == NO_BITS, np.int16(0), lowest)

    @property
    def special_lines(self) -> Flags | None:
        """The rows or columns with NaN or infinity; None if there are none."""
        limit = self.bits.dtype.type(float_format(self.component).maximum_code)
        return self._lines(self.seen.codes > limit) if self.seen.special else None

    @property
    def negative_lines(self) -> Flags | None:
        """The rows or columns with a sign bit; None if there are none."""
        return self._lines(self.bits != self.seen.codes) if self.seen.negative else None

    @property
    def subnormals(self) -> Flags:
        """Subnormal elements."""
        return is_subnormal(self.bits, self.component)

    @property
    def subnormal_lines(self) -> Flags | None:
        """The rows or columns with subnormal elements; None if there are none."""
        return self._lines(self.subnormals) if self.seen.subnormal else None

    def _lines(self, flags: Flags) -> Flags:
        lines: Flags = np.asarray(flags.any(axis=self.axis, keepdims=True))
        return lines

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
    def quantum(self) -> int:
        """Exponent of the component's smallest value."""
        return float_format(self.component).quantum_exponent

    @property
    def normal(self) -> int:
        """Exponent of the component's smallest normal value."""
        return float_format(self.component).minimum_exponent


@dataclass(frozen=True)
class _Codes:
    """Bits without their signs, and what occurs among them."""

    codes: Bits
    negative: bool
    special: bool
    subnormal: bool
    zeros: bool


def _codes(bits: Bits, component: Component) -> _Codes:
    form = float_format(component)
    whole = bits.dtype.type
    top = int(bits.max())
    negative = top >= form.sign_bit
    codes = bits & whole(form.sign_bit - 1) if negative else bits
    special = (int(codes.max()) if negative else top) > form.maximum_code
    least = int(codes.min())
    hidden = 1 << (form.precision - 1)
    subnormal = least < hidden and bool((codes - whole(1) < whole(hidden - 1)).any())
    return _Codes(codes, negative, special, subnormal, least == 0)


def factor(exact: Exact, axis: int) -> Factor:
    """The facts of one factor."""
    component = exact.component
    bits = np.ascontiguousarray(exact.bits, bits_dtype(component))
    seen = _codes(bits, component)
    values = decode(bits, component, not seen.special)
    if seen.special:
        values = np.where(np.isfinite(values), values, 0.0)
    return Factor(component, axis, bits, values, seen)


@dataclass(frozen=True)
class Addends:
    """The addends of every element of a chain; flags that are None hold nowhere."""

    chain: FloatSum
    plan: Adder
    pairs: tuple[tuple[Factor, Factor], ...]
    c: Floats
    """With zeros in place of NaN and infinity."""
    seen: _Codes
    """Of C."""
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
        limit = float_format(self.chain.c.component).maximum_code
        own = self.seen.codes > limit if self.seen.special else None
        return self._either([own, *(side.special_lines for side in self.sides)])

    @cached_property
    def negative(self) -> Flags | None:
        """Elements with a factor or addend whose sign bit is set, be it a zero's."""
        own = self.chain.c.bits != self.seen.codes if self.seen.negative else None
        return self._either([own, *(side.negative_lines for side in self.sides)])

    @cached_property
    def subnormal(self) -> Flags | None:
        """Elements with a subnormal factor or addend."""
        return self._either([self._own_subnormals, *(side.subnormal_lines for side in self.sides)])

    @property
    def _own_subnormals(self) -> Flags | None:
        """Subnormal elements of C."""
        own = self.chain.c
        return is_subnormal(own.bits, own.component) if self.seen.subnormal else None

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
        if any(a.quantum + b.quantum < least for a, b in self.pairs) and self.finest < least:
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
        tiny = self._own_subnormals
        if tiny is not None:
            found = np.where(tiny, np.abs(self.c), 0.0)
        for a, b in self.pairs:
            if a.seen.subnormal or b.seen.subnormal:
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
            if a.seen.subnormal or b.seen.subnormal:
                floor = np.maximum(floor, np.ldexp(1.0, a.largest + b.largest))
        return floor

    @cached_property
    def zero_floor(self) -> Floats:
        """The same for products with a zero, where adders count those."""
        exponents = [np.maximum(a.normal + b.largest, a.largest + b.normal) for a, b in self.pairs]
        return power_of_two(np.maximum.reduce(exponents))

    @cached_property
    def largest(self) -> float:
        """The largest of all sums of magnitudes."""
        return float(self.sums.size.max())

    @cached_property
    def collapsed(self) -> Flags | None:
        """Elements whose every partial sum, in every order, every adder represents exactly (but
        for adders with unit errors); None for all of them."""
        largest = self.largest
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
        return bool(self._whole(self.c * 2.0**-grid).all())

    def _whole(self, steps: Floats) -> Flags:
        """Where C, given in steps of a grid, is a whole number of them. Tiny values of float64
        underflow here, and those are not."""
        whole: Flags = steps == np.rint(steps)
        if self.chain.c.component is Component.FLOAT64:
            whole &= (steps != 0) | (self.c == 0)
        return whole

    def _on_grids(self) -> Flags:
        """The same for every element with a grid of its own."""
        size, plan = self.sums.size, self.plan
        if not any(a.zeros or b.zeros for a, b in self.pairs):
            a, b = self.pairs[0]
            bound = power_of_two(a.sample + np.int16(plan.collapse)) * power_of_two(b.sample)
            if (size > bound).all():
                return np.zeros(self.shape, bool)
        _, exponent = np.frexp(size)
        finest = power_of_two(
            plan.collapse - np.maximum(exponent, plan.collapse + plan.minimum_exponent)
        )
        fits = self.fineness <= finest
        if self.c.any() and fits.any():
            fits &= self._whole(self.c * finest)
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


def addends(chain: FloatSum, plan: Adder) -> Addends:
    """The facts of a chain's addends."""
    pairs = tuple((factor(a, 2), factor(b, 1)) for a, b in chain.products)
    component = chain.c.component
    bits = np.ascontiguousarray(chain.c.bits, bits_dtype(component))
    seen = _codes(bits, component)
    c = decode(bits, component, not seen.special)
    if seen.special:
        c = np.where(np.isfinite(c), c, 0.0)
    sides = [side for pair in pairs for side in pair]
    signed = seen.negative or any(side.seen.negative for side in sides)
    narrow = all(side.component is not Component.FLOAT64 for side in sides)
    sums = sum_products([(a.values, b.values) for a, b in pairs], c, narrow, signed)
    return Addends(chain, plan, pairs, c, seen, sums)
