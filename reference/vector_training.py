"""Sums that many invocations accumulate in memory (V-11).

OpCooperativeVectorReduceSumAccumulateNV and OpCooperativeVectorOuterProductAccumulateNV act as
atomic additions in the type of the memory: each addition is correctly rounded, the order is
free. Where every partial sum in every order is representable, the result is the sum.
"""

from __future__ import annotations

from math import expm1, log1p

import numpy as np
from numpy.typing import NDArray

from cts.program.types import Component
from reference.accept import ANYTHING, Accept, Band
from reference.component import (
    Bits,
    Flags,
    Floats,
    decode,
    float_format,
    lowest_bit,
    round_down,
    round_up,
)


def accumulated(
    component: Component, initial: Bits, elements: NDArray[np.int64], addends: Floats
) -> Accept:
    """What the elements, which begin as ``initial`` [E], may be after ``addends`` [T] were added,
    addend t to element ``elements[t]``; the set has the shape (1, E, 1).

    The addends are exact: products may be rounded to the component first, which counts as one
    more rounding of each.
    """
    form = float_format(component)
    start = decode(initial, component)
    count = len(start)
    sums, sizes, terms = start.copy(), np.abs(start), (start != 0).astype(np.int64)
    finite = np.isfinite(addends)
    safe = np.where(finite, addends, 0.0)
    np.add.at(sums, elements, safe)
    np.add.at(sizes, elements, np.abs(safe))
    np.add.at(terms, elements, (safe != 0).astype(np.int64))
    free: Flags = ~np.isfinite(start)
    free[elements[~finite]] = True
    grid = lowest_bit(start)
    np.minimum.at(grid, elements, lowest_bit(safe))
    with np.errstate(over="ignore"):
        fits = sizes <= np.ldexp(1.0, np.minimum(grid, 1000) + form.precision)
    # Below the smallest normal value a partial sum may be flushed to zero.
    exact = fits & (grid >= form.minimum_exponent) & (sizes <= form.maximum)
    unit = 2.0 ** (1 - form.precision)
    growth = np.array([expm1(2 * n * log1p(unit)) for n in terms.tolist()])
    tail = terms * form.minimum_normal
    slack = sizes * (terms + 1) * 2.0**-50
    radius = np.where(exact, 0.0, sizes * growth + tail + slack)
    free |= ~exact & (sizes + radius > form.maximum)
    low = np.where(free, 0.0, round_down(sums - radius, component))
    high = np.where(free, 0.0, round_up(sums + radius, component))
    flags = np.where(free, np.uint8(ANYTHING), np.uint8(0))

    def shaped(array: Floats) -> Floats:
        return array.reshape(1, count, 1)

    band = Band(low=shaped(low), high=shaped(high), flags=flags.reshape(1, count, 1))
    return Accept(
        component,
        (1, count, 1),
        band,
        band,
        band,
        shaped(np.where(free, 0.0, sums)),
        shaped(radius),
        "additions are rounded in the type of the memory, in any order; where every partial sum "
        "is representable the result is the sum",
    )
