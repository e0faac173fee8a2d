"""The class of adders that the suite's policy grants float multiply-adds, and its error bound.

The specification gives float multiply-adds no accuracy at all ("implementation-dependent order and
internal precision"). The policy is a class that covers every published model of matrix hardware:

* trees of additions in any order, each rounded in any direction to ``p`` significant bits;
* fused nodes that align their addends to the largest exponent, cut what is below ``p - 1``
  fraction bits of it, add exactly and round once: a node of ``n`` addends obeys the bound of
  ``n - 1`` single additions, so both kinds share one bound;
* adders that are off by one unit for each addend (negation by inverting bits; zeros may count).

Let ``s`` be the exact sum, M the larger of the sum of its positive and the sum of its negative
addends, e = 2^(1-p), and n the number of roundings. Every exact partial sum lies within M of
zero, and a node whose children err by d in total errs by at most d + k e (M + d) for k roundings.
Solving that recursion over any tree gives, with E what rounding the addends themselves costs,

    |result - s| <= M ((1 + e)^n - 1) + E (1 + e)^n
"""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, log1p

from cts.program.model import Component
from reference.component import FORMATS, float_format
from reference.latitude import Latitude
from reference.values import FloatSum

FLOAT8 = frozenset({Component.FLOAT8_E4M3, Component.FLOAT8_E5M2})
WIDE_SUM = FORMATS[Component.FLOAT32].precision
SHORT_SUM = 14
"""Significant bits in which some units sum products of 8-bit floats."""
FUSED_SLACK = 1 + 2.0**-10
"""Covers a last rounding to a narrow type on top of wide sums: 2^-23 against 2^-10 or more."""
SHORT_INPUT = 2.0**-10
"""Relative error of a float32 operand that is rounded to 11 bits, any direction."""


@dataclass(frozen=True)
class Adder:
    """The arithmetic that a chain of multiply-adds is granted."""

    wide: int
    """Significant bits of a wide adder's sums."""
    precision: int
    """Significant bits of the narrowest sums in the class."""
    collapse: int
    """A sum of at most so many bits is exact in every adder but those with unit errors."""
    rounds_last: bool
    """The result type has fewer bits than the sums: its rounding is judged by itself."""
    minimum_exponent: int
    """Partial sums below 2^this may be subnormal in some type in which sums are kept."""
    quantum: float
    """The coarsest of the smallest subnormals of these types."""
    maximum: float
    """The smallest of the largest finite values of these types and the result."""
    slots: int
    """Addends of an element, zeros included."""
    extra: float
    """Roundings between the members of a chain to fewer bits than the sums have, counted in
    roundings of the sums."""

    nearest: bool
    """Whether all roundings are to nearest, which halves their errors."""

    @property
    def rounding(self) -> float:
        """Relative error of one rounding of the narrowest sums."""
        return self._rounding(self.precision)

    def _rounding(self, precision: int) -> float:
        return 2.0 ** (1 - precision - self.nearest) * FUSED_SLACK

    def growth(self, roundings: float, precision: int | None = None) -> float:
        """(1 + e)^n - 1 for n roundings of sums of ``precision`` bits (default: the narrowest)."""
        unit = self._rounding(self.precision if precision is None else precision)
        return expm1((roundings + self.extra) * log1p(unit))


def adder(chain: FloatSum, latitude: Latitude) -> Adder:
    """The arithmetic that ``latitude`` grants ``chain``."""
    inputs = {operand.component for pair in chain.products for operand in pair}
    kept = [float_format(held) for held in chain.kept if held not in FLOAT8]
    if FLOAT8 & set(chain.results):
        kept.append(float_format(Component.FLOAT16))
    result = float_format(chain.component)
    wide = WIDE_SUM
    if inputs & FLOAT8 and latitude.short_float8_sums.possible:
        wide = SHORT_SUM
    elif inputs <= {Component.FLOAT64} and chain.component is Component.FLOAT64:
        wide = result.precision
    narrow = min([wide, *(held.precision for held in kept)])
    precision = narrow if latitude.narrow_accumulation.possible else wide
    between = [float_format(held) for held in chain.results[:-1]]
    kept += between
    return Adder(
        wide,
        precision,
        min([narrow, *(held.precision for held in between)]),
        result.precision < precision,
        max((held.minimum_exponent for held in kept), default=result.minimum_exponent),
        max((held.minimum_subnormal for held in kept), default=result.minimum_subnormal),
        min(result.maximum, *(float_format(held).maximum for held in chain.kept)),
        chain.slots,
        sum(2.0 ** max(precision - held.precision, 0) for held in between),
        not latitude.directed_rounding.possible,
    )
