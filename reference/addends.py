"""What is known of the addends of float multiply-adds: signs, grids, sizes, specials.

An element of ``a1 b1 + a2 b2 + ... + c`` is a sum of products and one element of ``c``. Facts are
kept for rows of the left factors and columns of the right ones, which is enough to say for every
element on which grid its addends lie, and cheap: these run for every element that is ever judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

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
    magnitude_code,
)
from reference.exact import ProductSum, sum_products
from reference.values import Exact, FloatSum

Exponents = NDArray[np.int16]
Marks = NDArray[np.uint8]

NONZERO, NEGATIVE, SUBNORMAL, SPECIAL = 1, 2, 4, 8
"""Marks of an element. Zeros can be NEGATIVE, SPECIAL is NaN or infinity."""
_NONE = 2000
"""Lowest bit of values that have none: above every exponent."""


def _survey(bits: Bits, component: Component) -> tuple[Exponents, Marks]:
    """(exponent of the lowest set bit, marks) of every element."""
    values = decode(bits, component)
    lowest = lowest_bit(values)
    marks = np.where(values != 0, np.uint8(NONZERO), np.uint8(0))
    marks |= np.where(is_negative(bits, component), np.uint8(NEGATIVE), np.uint8(0))
    marks |= np.where(is_subnormal(bits, component), np.uint8(SUBNORMAL), np.uint8(0))
    marks |= np.where(np.isfinite(values), np.uint8(0), np.uint8(SPECIAL))
    return np.where(lowest == NO_BITS, _NONE, lowest).astype(np.int16), marks


@cache
def _table(component: Component) -> tuple[Exponents, Marks]:
    """:func:`_survey` of every bit pattern of a narrow component."""
    return _survey(np.arange(1 << component.bits).astype(bits_dtype(component)), component)


def survey(bits: Bits, component: Component) -> tuple[Exponents, Marks]:
    """(exponent of the lowest set bit, 2000 where there is none; marks) of every element."""
    if component.bits > 16:
        return _survey(bits, component)
    lowest, marks = _table(component)
    return lowest[bits], marks[bits]


def folded(ufunc: np.ufunc, array: NDArray[np.generic], axis: int) -> NDArray[np.generic]:
    """An idempotent reduction (minimum, bitwise or) along a short axis, which is kept. Halving
    is several times faster than NumPy's own reduction of a short last axis."""
    rest = np.moveaxis(array, axis, 0)
    while len(rest) > 1:
        half = (len(rest) + 1) // 2
        rest = ufunc(rest[:half], rest[-half:])
    return np.moveaxis(rest, 0, axis)


@dataclass(frozen=True)
class Factor:
    """A left factor and its rows (``axis`` 2), or a right one and its columns (``axis`` 1)."""

    component: Component
    axis: int
    values: Floats
    """With zeros in place of NaN and infinity."""
    marks: Marks
    lowest_bits: Exponents
    seen: int
    """The marks that any element has."""
    zeros: bool
    """Whether any element is zero."""

    @cached_property
    def grid(self) -> NDArray[np.int64]:
        """All elements of the row or column are multiples of 2^grid; 0 if all are zero."""
        lowest = folded(np.minimum, self.lowest_bits, self.axis).astype(np.int64)
        return np.where(lowest == _NONE, 0, lowest)

    def lines(self, mark: int) -> Flags | None:
        """The rows or columns in which some element has ``mark``; None if there are none."""
        if not self.seen & mark:
            return None
        return (folded(np.bitwise_or, self.marks, self.axis) & np.uint8(mark)).astype(bool)

    @cached_property
    def length(self) -> int:
        """Upper bound of the significant bits of any element."""
        _, exponent = np.frexp(self.values)
        spans = exponent - self.lowest_bits
        return int(spans.max(initial=0, where=self.lowest_bits != _NONE))

    @cached_property
    def largest(self) -> NDArray[np.int32]:
        """Exponent of the largest element of the row or column, at least that of the smallest
        normal value."""
        _, exponent = np.frexp(np.abs(self.values).max(axis=self.axis, keepdims=True))
        return np.maximum(exponent - 1, self.normal)

    @property
    def normal(self) -> int:
        """Exponent of the component's smallest normal value."""
        return float_format(self.component).minimum_exponent


def factor(exact: Exact, axis: int) -> Factor:
    """The facts of one factor."""
    component = exact.component
    values = decode(exact.bits, component)
    lowest, marks = survey(exact.bits, component)
    seen = int(np.bitwise_or.reduce(marks, axis=None))
    if seen & SPECIAL:
        values = np.where(marks & np.uint8(SPECIAL), 0.0, values)
    zeros = not int(np.bitwise_and.reduce(marks, axis=None)) & NONZERO
    return Factor(component, axis, values, marks, lowest, seen, zeros or bool(seen & SPECIAL))


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
    def special(self) -> Flags | None:
        """Elements that a NaN or an infinity reaches."""
        return self._either([self.c_special, *self._lines(SPECIAL)])

    @cached_property
    def negative(self) -> Flags | None:
        """Elements with a factor or addend whose sign bit is set, be it a zero's."""
        return self._either([self.c_negative, *self._lines(NEGATIVE)])

    @cached_property
    def subnormal(self) -> Flags | None:
        """Elements with a subnormal factor or addend."""
        return self._either([self._c_tiny, *self._lines(SUBNORMAL)])

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
        return own + np.add.reduce(ones).astype(np.int64)

    @cached_property
    def fineness(self) -> Floats:
        """2^-g such that all products of the element are multiples of 2^g."""
        scales = [np.ldexp(1.0, -a.grid) * np.ldexp(1.0, -b.grid) for a, b in self.pairs]
        return scales[0] if len(scales) == 1 else np.maximum.reduce(scales)

    @cached_property
    def c_lowest(self) -> NDArray[np.int32]:
        """Exponents of the lowest bits of C."""
        return lowest_bit(self.c)

    @cached_property
    def may_underflow(self) -> Flags | None:
        """Elements whose addends are not all multiples of the smallest normal value."""
        limit = 2.0**-self.plan.minimum_exponent
        found: list[Flags | None] = [self.fineness > limit if self._finest > limit else None]
        form = float_format(self.chain.c.component)
        largest = np.abs(self.c) < 2.0 ** (self.plan.minimum_exponent + form.precision)
        largest &= self.c != 0
        if largest.any():
            found.append(largest & (self.c_lowest < self.plan.minimum_exponent))
        return self._either(found)

    @cached_property
    def _finest(self) -> float:
        return float(self.fineness.max())

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
        fits = (exponent - self.c_lowest <= precision) | (self.c == 0)
        return None if fits.all() else np.where(fits, 0.0, np.abs(self.c))

    @cached_property
    def flushed(self) -> Floats | None:
        """Magnitudes of addends that vanish if subnormal operands do."""
        found = None
        tiny = self._c_tiny
        if tiny is not None:
            found = np.where(tiny, np.abs(self.c), 0.0)
        for a, b in self.pairs:
            if (a.seen | b.seen) & SUBNORMAL:
                left, right = np.abs(a.values), np.abs(b.values)
                whole = left @ right
                kept_left = np.where(a.marks & np.uint8(SUBNORMAL), 0.0, left)
                kept_right = np.where(b.marks & np.uint8(SUBNORMAL), 0.0, right)
                lost = np.maximum(whole - kept_left @ kept_right, 0.0) + whole * 2.0**-40
                found = lost if found is None else found + lost
        return found

    @cached_property
    def floor(self) -> Floats | float:
        """The grid of an adder depends on exponents of factors, and that of a subnormal factor
        exceeds its value; this is by how much at most."""
        floor: Floats | float = 0.0
        for a, b in self.pairs:
            if (a.seen | b.seen) & SUBNORMAL:
                floor = np.maximum(floor, np.ldexp(1.0, a.largest + b.largest))
        return floor

    @cached_property
    def zero_floor(self) -> Floats:
        """The same for products with a zero, where adders count those."""
        exponents = [np.maximum(a.normal + b.largest, a.largest + b.normal) for a, b in self.pairs]
        return np.ldexp(1.0, np.maximum.reduce(exponents))

    @cached_property
    def collapsed(self) -> Flags:
        """Elements whose every partial sum, in every order, every adder represents exactly (but
        for adders with unit errors)."""
        size, plan = self.sums.size, self.plan
        smallest = 2.0**-plan.minimum_exponent
        fits = size * self.fineness <= 2.0**plan.collapse
        if self._finest > smallest:
            fits &= self.fineness <= smallest
        if fits.any() and self.c.any():
            steps = self.c * self.fineness
            whole = steps == np.rint(steps)
            if not whole.all():
                fits = self._on_the_grid_of_c(fits, ~whole)
        if np.any(self.count == 1):
            fits = self._alone(fits)
        if self._largest > plan.maximum:
            fits &= size <= plan.maximum
        if self.subnormal is not None:
            fits &= ~self.subnormal
        return fits

    @cached_property
    def _largest(self) -> float:
        return float(self.sums.size.max())

    def _on_the_grid_of_c(self, fits: Flags, finer: Flags) -> Flags:
        """``fits``, where C is not a multiple of the products' grid: its own may do."""
        limit = np.ldexp(1.0, np.minimum(self.c_lowest + self.plan.collapse, 1023))
        enough = (self.sums.size <= limit) & (self.c_lowest >= self.plan.minimum_exponent)
        return np.where(finer, fits & enough, fits)

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

    def _lines(self, mark: int) -> list[Flags | None]:
        return [side.lines(mark) for pair in self.pairs for side in pair]

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
    c = decode(chain.c.bits, component)
    special = None
    if not np.isfinite(c).all():
        special = ~np.isfinite(c)
        c = np.where(special, 0.0, c)
    negative = None
    if int(chain.c.bits.max()) >= float_format(component).sign_bit:
        negative = is_negative(chain.c.bits, component)
    signed = negative is not None or any(side.seen & NEGATIVE for pair in pairs for side in pair)
    narrow = all(side.component is not Component.FLOAT64 for pair in pairs for side in pair)
    sums = sum_products([(a.values, b.values) for a, b in pairs], c, narrow, signed)
    return Addends(chain, plan, pairs, c, special, negative, sums)
