"""What becomes of NaN, infinities and numbers beyond the largest finite value.

IEEE 754 for the IEEE formats and bfloat16. SPV_EXT_float8, "Conversion Instructions": values out of
range and infinities become NaN in E4M3 and an infinity in E5M2, or the largest value where the
conversion saturates. Whether 450 is out of E4M3's range, whose largest value it would be rounded
to, isn't said, so between the largest value and its next neighbour both are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from reference.accept import (
    MINUS_INFINITY,
    MINUS_MAXIMUM,
    NAN,
    PLUS_INFINITY,
    PLUS_MAXIMUM,
    ZERO,
)
from reference.component import Flags, Floats, float_format

FLOAT8 = frozenset({Component.FLOAT8_E4M3, Component.FLOAT8_E5M2})
_NEXT = {Component.FLOAT8_E4M3: 480.0, Component.FLOAT8_E5M2: 65536.0}
"""What would follow the largest value."""


@dataclass(frozen=True)
class Expected:
    """Bits of ``Band.flags`` for elements that aren't finite, and which elements may be."""

    flags: NDArray[np.uint8]
    outside: Flags
    """Elements for which the largest value is no good result."""
    free: Flags
    """Elements of which nothing can be demanded where NaN and infinities don't count."""


def expected(
    component: Component,
    number: Floats,
    ieee: Sequence[Floats],
    special: Flags | None,
    overflow: Flags,
    saturating: bool,
) -> Expected:
    """What is expected of a result that is ``number``, which may ``overflow``; where ``special``,
    an operand isn't finite and the result is one of ``ieee``."""
    shape = np.broadcast_shapes(number.shape, overflow.shape)
    none = np.uint8(0)
    plus, minus = PLUS_INFINITY, MINUS_INFINITY
    if saturating:
        plus, minus = PLUS_MAXIMUM, MINUS_MAXIMUM
    elif float_format(component).infinity_code is None:
        plus = minus = NAN
    flags = np.where(overflow, np.where(number > 0, np.uint8(plus), np.uint8(minus)), none)
    outside: Flags = np.zeros(shape, bool)
    if component in FLOAT8 and not saturating:
        outside = overflow & (np.abs(number) >= _NEXT[component])
    free: Flags = np.array(overflow)
    if special is not None:
        found = np.zeros(shape, np.uint8)
        for result in ieee:
            found |= np.where(np.isnan(result), np.uint8(NAN), none)
            found |= np.where(result == np.inf, np.uint8(plus), none)
            found |= np.where(result == -np.inf, np.uint8(minus), none)
            found |= np.where(result == 0, np.uint8(ZERO), none)
        flags = np.where(special, found, flags)
        outside = outside | special
        free = free | special
    return Expected(flags.astype(np.uint8), outside, free)
