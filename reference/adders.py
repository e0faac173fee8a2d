"""Simulated adders: how implementations are known to sum products.

The reference device takes its arithmetic from here, and the tests of the acceptance sets measure
them against every adder. All work on binary64 carriers; a sum that binary64 can't hold is rounded
to odd first, so that rounding it again to fewer bits is right in every direction.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cts.program.model import Component
from reference.component import Floats, Rounding, float_format, rounded


class Order(enum.Enum):
    """In which order, and by which kind of adder, the addends of an element are summed."""

    EXACT = "one rounding of the exact sum"
    ASCENDING = "c first, then k = 0, 1, ..."
    DESCENDING = "k = K-1, ..., 0, then c"
    PAIRWISE = "a balanced tree of the products, then c"
    FUSED = "blocks of products and the sum so far, aligned to the largest and truncated"
    UNIT_ERRORS = "two products and the sum so far; opposing addends are off by one unit"


@dataclass(frozen=True)
class Arithmetic:
    """How a device computes a float multiply-add."""

    order: Order = Order.EXACT
    rounding: Rounding = Rounding.NEAREST_EVEN
    accumulator: Component | None = None
    """The type in which partial sums are held; the result's if None."""
    fraction_bits: int = 24
    """Of the aligned addends of FUSED and UNIT_ERRORS."""
    block: int = 4
    """Products that a fused node takes."""
    flushes: bool = False
    """Subnormal operands, partial sums and results become zero."""


def multiply_add(
    arithmetic: Arithmetic, a: Floats, b: Floats, c: Floats, result: Component
) -> Floats:
    """``a b + c``, [tiles, M, N], as numbers of the component ``result``."""
    held = result if arithmetic.accumulator is None else arithmetic.accumulator
    with np.errstate(all="ignore"):
        if arithmetic.order is Order.EXACT:
            total = a @ b + c
        else:
            products = a[:, :, :, None] * b[:, None, :, :]
            products = np.moveaxis(products, 2, 0)
            total = _SUMS[arithmetic.order](arithmetic, products, c, held)
        return _flush(rounded(total, result, arithmetic.rounding), result, arithmetic)


def _flush(values: Floats, component: Component, arithmetic: Arithmetic) -> Floats:
    if not arithmetic.flushes:
        return values
    tiny = np.abs(values) < float_format(component).minimum_normal
    return np.where(tiny, np.copysign(0.0, values), values)


def _add(arithmetic: Arithmetic, x: Floats, y: Floats, held: Component) -> Floats:
    return _flush(rounded(odd_sum(x, y), held, arithmetic.rounding), held, arithmetic)


def odd_sum(x: Floats, y: Floats) -> Floats:
    """x + y in binary64, rounded to odd where it is inexact."""
    total = x + y
    part = total - x
    lost = (x - (total - part)) + (y - part)
    even = (total.view(np.int64) & 1) == 0
    nudge = (lost != 0) & even & np.isfinite(total)
    return np.where(nudge, np.nextafter(total, np.where(lost > 0, np.inf, -np.inf)), total)


def _ascending(arithmetic: Arithmetic, products: Floats, c: Floats, held: Component) -> Floats:
    total = _add(arithmetic, np.zeros_like(c), c, held)
    for product in products:
        total = _add(arithmetic, total, product, held)
    return total


def _descending(arithmetic: Arithmetic, products: Floats, c: Floats, held: Component) -> Floats:
    total = np.zeros_like(c)
    for product in products[::-1]:
        total = _add(arithmetic, total, product, held)
    return _add(arithmetic, total, c, held)


def _pairwise(arithmetic: Arithmetic, products: Floats, c: Floats, held: Component) -> Floats:
    level = [_add(arithmetic, np.zeros_like(c), product, held) for product in products]
    while len(level) > 1:
        odd = level[len(level) & ~1 :]
        level = [
            _add(arithmetic, x, y, held) for x, y in zip(level[::2], level[1::2], strict=False)
        ] + odd
    return _add(arithmetic, level[0], c, held)


def _aligned(addends: list[Floats], fraction_bits: int) -> tuple[list[Floats], Floats]:
    """(the addends cut to the grid of the largest, the exponent of the grid)."""
    _, exponents = np.frexp(np.max([np.abs(addend) for addend in addends], axis=0))
    grid = exponents - 1 - fraction_bits
    cut = [np.ldexp(np.trunc(np.ldexp(addend, -grid)), grid) for addend in addends]
    return cut, grid


def _fused(arithmetic: Arithmetic, products: Floats, c: Floats, held: Component) -> Floats:
    total = c
    precision = min(arithmetic.fraction_bits + 1, float_format(held).precision)
    for start in range(0, len(products), arithmetic.block):
        addends = [total, *products[start : start + arithmetic.block]]
        cut, _ = _aligned(addends, arithmetic.fraction_bits)
        total = _to_bits(np.sum(cut, axis=0), precision)
    return total


def _to_bits(values: Floats, precision: int) -> Floats:
    """Truncated to ``precision`` significant bits."""
    mantissa, exponent = np.frexp(values)
    cut: Floats = np.ldexp(np.trunc(np.ldexp(mantissa, precision)), exponent - precision)
    return cut


def _unit_errors(arithmetic: Arithmetic, products: Floats, c: Floats, held: Component) -> Floats:
    total = c
    for start in range(0, len(products), 2):
        addends = [total, *products[start : start + 2]]
        cut, grid = _aligned(addends, arithmetic.fraction_bits)
        frame = np.signbit(total)
        unit = np.where(frame, 1.0, -1.0) * np.ldexp(1.0, grid)
        moved = [x + np.where((x != 0) & (np.signbit(x) != frame), unit, 0.0) for x in cut]
        total = rounded(np.sum(moved, axis=0), held)
    return total


_SUMS: dict[Order, Callable[[Arithmetic, Floats, Floats, Component], Floats]] = {
    Order.ASCENDING: _ascending,
    Order.DESCENDING: _descending,
    Order.PAIRWISE: _pairwise,
    Order.FUSED: _fused,
    Order.UNIT_ERRORS: _unit_errors,
}
