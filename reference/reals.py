"""Exact results of one operation, as brackets of binary64 numbers.

Every float component but binary64 itself is coarser than binary64, so knowing between which two
neighbouring binary64 numbers a result lies is enough to round it to any of them in any direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from reference.component import Flags, Floats, Rounding, decode, encode, float_format

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Real:
    """Numbers in ``[low, high]``: equal where they are known exactly, else neighbours (at the
    ends of binary64's range a little further apart). ``nearest`` is the one that binary64 rounds
    to, with the sign that IEEE 754 gives a zero."""

    low: Floats
    high: Floats
    nearest: Floats

    @property
    def odd(self) -> Floats:
        """``low`` where it is exact, else the neighbour with an odd last bit: rounding that again
        to fewer bits, in any direction, rounds the number itself."""
        even = (self.low.view(np.int64) & 1) == 0
        return np.where(self.low == self.high, self.nearest, np.where(even, self.high, self.low))

    @property
    def smallest(self) -> Floats:
        """The lower bound of the magnitude; 0 only for zero."""
        return np.where(
            self.low == self.high,
            np.abs(self.low),
            np.minimum(np.abs(self.low), np.abs(self.high)),
        )

    @property
    def zero(self) -> Flags:
        """Where the number is 0."""
        found: Flags = (self.low == 0) & (self.high == 0)
        return found


def exactly(values: Floats) -> Real:
    """Numbers that are known."""
    return Real(values, values, values)


def _around(nearest: Floats, lost: Floats) -> Real:
    """``nearest + lost``, with ``lost`` below one unit in the last place."""
    finite = np.clip(nearest, -LARGEST, LARGEST)
    with np.errstate(over="ignore"):
        low = np.where(lost < 0, np.nextafter(finite, -np.inf), finite)
        high = np.where(lost > 0, np.nextafter(finite, np.inf), finite)
    over = np.isinf(nearest)
    low = np.where(over & (nearest > 0), LARGEST, np.where(over, -np.inf, low))
    high = np.where(over & (nearest > 0), np.inf, np.where(over, -LARGEST, high))
    return Real(low, high, nearest)


def total(x: Floats, y: Floats) -> Real:
    """x + y of finite numbers (error-free transformation of Knuth)."""
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = x + y
        part = nearest - x
        lost = (x - (nearest - part)) + (y - part)
    return _around(nearest, np.where(np.isfinite(lost), lost, 0.0))


def product(x: Floats, y: Floats) -> Real:
    """x * y of finite numbers (error-free transformation of Dekker, on scaled numbers)."""
    left, left_exponent = np.frexp(x)
    right, right_exponent = np.frexp(y)
    rounded = left * right
    left_high, left_low = _split(left)
    right_high, right_low = _split(right)
    lost = left_high * right_high - rounded
    lost = ((lost + left_high * right_low) + left_low * right_high) + left_low * right_low
    exponent = left_exponent + right_exponent
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        nearest = x * y
        back = np.ldexp(nearest, -exponent)
        # Below the normal range ``nearest`` has fewer bits than ``rounded``.
        lost = np.where(np.isfinite(nearest), lost + (rounded - back), lost)
    return _around(nearest, np.where((x == 0) | (y == 0), 0.0, lost))


def _split(values: Floats) -> tuple[Floats, Floats]:
    scaled = values * 134217729.0
    high = scaled - (scaled - values)
    return high, values - high


def quotient(x: Floats, y: Floats) -> Real:
    """x / y of finite numbers, y not 0."""
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        nearest = x / y
        back = product(nearest, y)
        below = np.nextafter(np.clip(nearest, -LARGEST, LARGEST), -np.inf)
        above = np.nextafter(np.clip(nearest, -LARGEST, LARGEST), np.inf)
    exact = (back.low == back.high) & (back.low == x)
    return Real(np.where(exact, nearest, below), np.where(exact, nearest, above), nearest)


def whole(values: NDArray[np.int64] | NDArray[np.uint64]) -> Real:
    """64-bit integers."""
    with np.errstate(over="ignore"):
        nearest = values.astype(np.float64)
    if not (np.abs(nearest) > 2.0**53).any():
        return exactly(nearest)
    numbers = values.astype(object)
    lost = numbers - np.vectorize(int, otypes=[object])(nearest)
    return _around(nearest, lost.astype(np.float64))


def nearest_even(real: Real, component: Component) -> Floats:
    """Rounded to nearest, ties to even; infinity (or NaN) beyond the largest value."""
    if component is Component.FLOAT64:
        return real.nearest
    return decode(encode(real.odd, component), component)


def toward_zero(real: Real, component: Component) -> Floats:
    """Rounded toward zero."""
    if component is Component.FLOAT64:
        return np.where(real.low >= 0, real.low, real.high)
    return decode(encode(real.odd, component, Rounding.TOWARD_ZERO), component)


def downward(real: Real, component: Component) -> Floats:
    """The largest value of the component that isn't above; minus infinity is one of them."""
    if component is Component.FLOAT64:
        return real.low
    return _capped(real.low, component, Rounding.DOWN)


def upward(real: Real, component: Component) -> Floats:
    """The smallest value of the component that isn't below; infinity is one of them."""
    if component is Component.FLOAT64:
        return real.high
    return _capped(real.high, component, Rounding.UP)


def _capped(values: Floats, component: Component, rounding: Rounding) -> Floats:
    """Rounded; infinity also where the component has none and would be NaN."""
    largest = float_format(component).maximum
    inside = np.clip(values, -largest, largest)
    found = decode(encode(inside, component, rounding), component)
    beyond = values < -largest if rounding is Rounding.DOWN else values > largest
    return np.where(beyond, -np.inf if rounding is Rounding.DOWN else np.inf, found)
