"""Sums of products: exactly, or with a proven error far below any bound that matters.

All arrays are [tiles, M, K] x [tiles, K, N].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference.component import Floats

Ints = NDArray[np.int64] | NDArray[np.uint64]

UNIT = 2.0**-53
"""Unit roundoff of binary64."""


# --- integers -------------------------------------------------------------------------------


def largest_magnitude(values: Ints) -> int:
    """The largest absolute value of an array, as a Python integer."""
    if values.size == 0:
        return 0
    return max(abs(int(values.max())), abs(int(values.min())))


def integer_products(a: Ints, b: Ints) -> NDArray[np.uint64]:
    """The low 64 bits (two's complement) of the exact products of integer matrices.

    Where no partial sum can leave the 53 bits that binary64 holds, a float matrix product is
    exact in any order and much faster than an integer one.
    """
    if largest_magnitude(a) * largest_magnitude(b) * a.shape[-1] < 1 << 53:
        return _as_words((a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64))
    return _as_words(a) @ _as_words(b)


def _as_words(values: Ints) -> NDArray[np.uint64]:
    return np.ascontiguousarray(values).view(np.uint64)


def signed_parts(a: Ints, b: Ints) -> tuple[Floats, Floats]:
    """(upper bound of the sum of the positive products, lower bound of the sum of the negative
    ones). Both are exact where binary64 holds every partial sum, else rounded outward."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    total, size = x @ y, np.abs(x) @ np.abs(y)
    positive, negative = (size + total) / 2, (total - size) / 2
    if largest_magnitude(a) * largest_magnitude(b) * a.shape[-1] < 1 << 53:
        return positive, negative
    slack = size * (4 * (a.shape[-1] + 4) * UNIT)
    return positive + slack, negative - slack


# --- floats ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProductSum:
    """``c`` plus one or more matrix products, in binary64 (see :func:`sum_products`)."""

    value: Floats
    """The sum; it errs by at most ``error`` times ``size``."""
    size: Floats
    """The sum of the absolute values of all addends."""
    error: float
    """Zero is not claimed: where the exact sum is known to have few enough bits, the caller may
    know that ``value`` is exact."""


def sum_products(
    pairs: list[tuple[Floats, Floats]], c: Floats, narrow: bool, signed: bool
) -> ProductSum:
    """``c + a1 b1 + a2 b2 + ...`` of finite numbers; ``signed`` if any of them has a sign bit.

    ``narrow`` says that all operands of the products have at most 24 significant bits, so that
    each product is exact and a binary64 matrix product, in whatever order the library adds,
    errs by at most (terms - 1) roundings. Otherwise the sum is carried in pairs of binary64
    numbers (error-free transformations of Dekker and Knuth) and rounded once.
    """
    terms = 1 + sum(a.shape[-1] for a, _ in pairs)
    if narrow:
        value = c
        for a, b in pairs:
            value = value + a @ b
    else:
        value = _doubled_sum(pairs, c)
    size = value
    if signed:
        size = np.abs(c)
        for a, b in pairs:
            size = size + np.abs(a) @ np.abs(b)
    error = (terms + 1) * UNIT if narrow else UNIT + 4 * (terms * UNIT) ** 2
    return ProductSum(value, size, error)


def _doubled_sum(pairs: list[tuple[Floats, Floats]], c: Floats) -> Floats:
    """The sum in twice the working precision, rounded once at the end."""
    high = np.array(c, dtype=np.float64)
    low = np.zeros_like(high)
    for a, b in pairs:
        for k in range(a.shape[-1]):
            product, rest = _two_product(a[..., :, k, None], b[..., None, k, :])
            high, lost = _two_sum(high, product)
            low = low + (lost + rest)
    value: Floats = high + low
    return value


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a + b rounded, and exactly what that lost."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a * b rounded, and exactly what that lost (no overflow, no underflow of the rest)."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, rest


def _split(a: Floats) -> tuple[Floats, Floats]:
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high
