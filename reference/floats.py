"""Acceptance sets of float multiply-adds; the bound is derived in :mod:`reference.bounds`.

Where every partial sum in every order is representable ("collapse": all addends are multiples of
some 2^g and their magnitudes add up to at most 2^(g + bits)), the class of adders gives one
result: exactly the sum, if no addend is negative. Elements that NaN or infinity can reach are
anything by policy (NotNaN and NotInf are assumed), and what IEEE 754 says in the tight band.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from reference.accept import (
    ANYTHING,
    EVERYTHING,
    MINUS_INFINITY,
    MINUS_MAXIMUM,
    NAN,
    PLUS_INFINITY,
    PLUS_MAXIMUM,
    Accept,
    Band,
)
from reference.addends import Addends, addends
from reference.bounds import SHORT_INPUT, Adder, adder
from reference.component import (
    Flags,
    Floats,
    decode,
    float_format,
    round_down,
    round_nearest,
    round_up,
)
from reference.explain import explanation
from reference.latitude import VULKAN, Latitude
from reference.values import FloatSum

REASON = "float multiply-add: order and precision are free, the policy is a class of adders"


_NOWHERE = np.zeros(1, bool)
_IMMEASURABLE = 2.0**1000
"""Sums of magnitudes above leave too little room in binary64 to say anything of the result."""


@dataclass(frozen=True)
class FloatAccept:
    """The acceptance sets of a chain, made for some tiles at a time."""

    chain: FloatSum
    latitude: Latitude = VULKAN

    @property
    def component(self) -> Component:
        """Component type of the result."""
        return self.chain.component

    @property
    def shape(self) -> tuple[int, int, int]:
        """(tiles, rows, columns)."""
        return self.chain.shape

    @cached_property
    def plan(self) -> Adder:
        """The arithmetic that is granted."""
        return adder(self.chain, self.latitude)

    def part(self, tiles: slice) -> Accept:
        """The acceptance set of some of the tiles."""
        return _accept(self.chain.part(tiles), self.plan, self.latitude)


def accept_chain(chain: FloatSum, latitude: Latitude = VULKAN) -> Accept:
    """The acceptance sets of all elements of a chain of float multiply-adds."""
    return _accept(chain, adder(chain, latitude), latitude)


def _accept(chain: FloatSum, plan: Adder, latitude: Latitude) -> Accept:
    with np.errstate(over="ignore", invalid="ignore"):
        sets = _Sets(addends(chain, plan), plan, latitude)
        tight = sets.tight
    return Accept(
        chain.component,
        chain.shape,
        EVERYTHING,
        sets.policy,
        tight,
        sets.facts.sums.value,
        sets.bound,
        REASON,
        sets.explain,
    )


@dataclass(frozen=True)
class _Sets:
    """The bands of some tiles."""

    facts: Addends
    plan: Adder
    latitude: Latitude

    # --- how far results may be from the sum --------------------------------------------------

    @cached_property
    def shortened(self) -> bool:
        """Whether operands may lose bits before they are multiplied."""
        return self.latitude.rounds_float32_inputs.possible and any(
            side.length > 11 for pair in self.facts.pairs for side in pair
        )

    @cached_property
    def collapsed(self) -> Flags | None:
        """Elements that every adder without unit errors gives exactly; None for all of them."""
        return np.zeros(self.facts.shape, bool) if self.shortened else self.facts.collapsed

    @cached_property
    def reach(self) -> Floats:
        """M: the larger of the sum of the positive and the sum of the negative addends."""
        sums = self.facts.sums
        reach = sums.size
        if reach is not sums.value:
            reach = (sums.size + np.abs(sums.value)) * 0.5
        floor = self.facts.floor
        return reach if isinstance(floor, float) else np.maximum(reach, floor)

    @cached_property
    def losses(self) -> Floats:
        """What the addends themselves may lose, in all."""
        facts, plan = self.facts, self.plan
        size = facts.sums.size
        flushes = self.latitude.flushes_subnormals.possible
        losses = size * (facts.sums.error + (3 * SHORT_INPUT if self.shortened else 0.0))
        if facts.flushed is not None and flushes:
            losses = losses + facts.flushed
        if facts.lossy is not None:
            losses = losses + facts.lossy * plan.rounding
        if facts.may_underflow is not None:
            tail = plan.slots * plan.quantum
            if flushes:
                tail += 2 * plan.slots * 2.0**plan.minimum_exponent
            losses = losses + np.where(facts.may_underflow, tail, 0.0)
        return losses

    @cached_property
    def _only_sums_lose(self) -> bool:
        """Whether addends lose nothing by themselves and M has no floor, as nearly always."""
        facts = self.facts
        losses = (facts.flushed, facts.lossy, facts.may_underflow)
        nothing = all(loss is None for loss in losses)
        return nothing and isinstance(facts.floor, float) and not self.shortened

    def _radius(self, growth: Floats | float) -> Floats:
        if not self._only_sums_lose:
            return self.reach * growth + self.losses * (1 + growth)
        sums, half = self.facts.sums, growth * 0.5
        radius: Floats = sums.size * (half + sums.error * (1 + growth))
        return radius + np.abs(sums.value) * half

    @cached_property
    def tight_radius(self) -> Floats | float:
        """Largest error of adders without unit errors."""
        if self.collapsed is None:
            return 0.0
        count = self.facts.count
        if isinstance(count, int):
            radius = self._radius(self.plan.growth(max(count - 1, 0)))
        else:
            steps = [self.plan.growth(max(n - 1, 0)) for n in range(self.plan.slots + 1)]
            radius = self._radius(np.array(steps)[count])
        return np.where(self.collapsed, 0.0, radius) if self.collapsed.any() else radius

    @cached_property
    def loose_radius(self) -> Floats | float:
        """Largest error of all adders of the class."""
        if not self.latitude.unit_errors.possible:
            return self.tight_radius
        negative = self.facts.negative
        roundings = 2 * self.plan.slots
        exact: Floats | float = 0.0
        if negative is not None:
            sums = self.facts.sums
            reach = self.reach
            empty = negative & (sums.size == 0)
            if empty.any():
                reach = np.where(empty, self.facts.zero_floor, reach)
            errors = reach * self.plan.growth(roundings, self.plan.wide) + sums.size * sums.error
            exact = np.where(negative, errors, 0.0)
        if self.collapsed is None:
            return exact
        return np.where(self.collapsed, exact, self._radius(self.plan.growth(roundings)))

    @cached_property
    def bound(self) -> Floats | float:
        """Largest distance of tight results from the sum; infinite where nothing is measured."""
        bound = self.tight_radius
        if self.plan.rounds_last:
            low, high = _ends(self.tight)
            value = self.facts.sums.value
            bound = np.maximum(high - value, value - low)
        unmeasured = self._may_overflow
        if self.facts.special is not None:
            unmeasured = unmeasured | self.facts.special
        return np.where(unmeasured, np.inf, bound) if unmeasured.any() else bound

    # --- bands --------------------------------------------------------------------------------

    @cached_property
    def tight(self) -> Band:
        """What adders without unit errors, and IEEE 754's rules for specials, give."""
        band = self._around(self.tight_radius)
        if self._may_overflow.any():
            band = self._overflowing(band)
        return self._with_specials(band, spared=False)

    def policy(self) -> Band:
        """What the class of adders gives; anything where a special is among the addends."""
        with np.errstate(over="ignore", invalid="ignore"):
            band = self._around(self.loose_radius)
            narrow = float_format(self.facts.chain.component).precision < self.plan.wide
            if self.facts.negative is not None and self.latitude.unit_errors.possible and narrow:
                band = self._nearest(band)
            if self._may_overflow.any():
                band = self._overflowing(band)
            free = self.latitude.assumes_no_specials.possible
            return self._with_specials(band, spared=free)

    def _around(self, radius: Floats | float) -> Band:
        """The numbers within ``radius`` of the sum, rounded to the result type where that is a step
        of its own."""
        value, component = self.facts.sums.value, self.facts.chain.component
        if component is Component.FLOAT64:
            inexact = np.asarray(radius) != 0
            low, high = value - radius, value + radius
            return Band(
                low=np.where(inexact, np.nextafter(low, -np.inf), low),
                high=np.where(inexact, np.nextafter(high, np.inf), high),
            )
        if not self.plan.rounds_last:
            return Band(center=value, radius=radius)
        low, high = value - radius, value + radius
        return self._with_flushed(self._down(low), self._up(high))

    def _down(self, values: Floats) -> Floats:
        """The least that the last rounding makes of ``values``."""
        rounding = round_nearest if self.plan.nearest else round_down
        return rounding(values, self.facts.chain.component)

    def _up(self, values: Floats) -> Floats:
        """The most that the last rounding makes of ``values``."""
        rounding = round_nearest if self.plan.nearest else round_up
        return rounding(values, self.facts.chain.component)

    def _nearest(self, band: Band) -> Band:
        """Where sums are exact but for unit errors of a wide adder, the result is what these round
        to, which for a narrow type is nearly always what the sum itself does."""
        where = self.facts.negative
        assert where is not None
        if self.collapsed is not None:
            where = where & self.collapsed
        component, value = self.facts.chain.component, self.facts.sums.value[where]
        radius = np.broadcast_to(self.loose_radius, where.shape)[where]
        low, high = (np.array(end) for end in _ends(band))
        low[where] = np.minimum(round_nearest(value - radius, component), self._down(value))
        high[where] = np.maximum(round_nearest(value + radius, component), self._up(value))
        return self._with_flushed(low, high)

    def _with_flushed(self, low: Floats, high: Floats) -> Band:
        """The interval, and zero if it has subnormal results and these may be flushed."""
        if not self.latitude.flushes_subnormals.possible:
            return Band(low=low, high=high)
        least = float_format(self.facts.chain.component).minimum_normal
        return Band(
            low=np.where((low > 0) & (low < least), 0.0, low),
            high=np.where((high < 0) & (high > -least), 0.0, high),
        )

    @cached_property
    def _may_overflow(self) -> Flags:
        """Elements with a partial sum that may pass the largest finite value."""
        sums, largest = self.facts.sums, self.plan.maximum
        if self.facts.largest < largest / 4:
            return _NOWHERE
        peak = sums.size if self.latitude.overflows_early.possible else np.abs(sums.value)
        return np.broadcast_to(peak + self.loose_radius > largest, sums.value.shape)

    def _overflowing(self, band: Band) -> Band:
        """A partial sum beyond the largest finite value may stick there or become infinite, and
        where signs differ nothing closer than the range of partial sums can be said."""
        value, size = self.facts.sums.value, self.facts.sums.size
        largest = self.plan.maximum
        over = self._may_overflow
        positive = np.where(over, (size + value) / 2 + self.loose_radius, 0.0)
        negative = np.where(over, (size - value) / 2 + self.loose_radius, 0.0)
        up, down = over & (positive > largest), over & (negative > largest)
        infinite = float_format(self.facts.chain.component).infinity_code is not None
        plus, minus = (PLUS_INFINITY, MINUS_INFINITY) if infinite else (NAN, NAN)
        flags = np.where(up, np.uint8(plus | PLUS_MAXIMUM), np.uint8(0))
        flags |= np.where(down, np.uint8(minus | MINUS_MAXIMUM), np.uint8(0))
        flags |= np.where(up & down, np.uint8(NAN), np.uint8(0))
        signs = self.facts.negative
        mixed = np.zeros(1, bool) if signs is None else (up | down) & signs
        low, high = _ends(band)
        return Band(
            low=np.where(mixed, np.minimum(-negative, low), low),
            high=np.where(mixed, np.maximum(positive, high), high),
            flags=flags,
        )

    def _with_specials(self, band: Band, spared: bool) -> Band:
        """``band`` but for elements that a NaN, an infinity or an undefined value reaches, or whose
        sum binary64 can't hold: these are anything if ``spared``, else as IEEE 754 says."""
        special, undefined = self.facts.special, self._undefined
        if special is None and undefined is None:
            return band
        chain = self.facts.chain
        flags = np.zeros(chain.shape, np.uint8) | np.asarray(band.flags, np.uint8)
        low, high = _ends(band)
        if special is not None:
            free = np.uint8(ANYTHING)
            expected = free if spared else np.where(self._may_overflow, free, self._ieee())
            flags = np.where(special, expected, flags)
            low, high = np.where(special, np.inf, low), np.where(special, -np.inf, high)
        if undefined is not None:
            flags = np.where(undefined, np.uint8(ANYTHING), flags)
        return Band(low=low, high=high, flags=flags.astype(np.uint8))

    @cached_property
    def _undefined(self) -> Flags | None:
        """Elements that nothing can be said of."""
        chain = self.facts.chain
        found: list[Any] = []
        sums = self.facts.sums
        if not self.facts.largest < _IMMEASURABLE or chain.component is Component.FLOAT64:
            found.append(~((sums.size < _IMMEASURABLE) & np.isfinite(sums.value)))
        if chain.c.undefined is not None:
            found.append(chain.c.undefined)
        for a, b in chain.products:
            if a.undefined is not None:
                found.append(a.undefined.any(axis=2, keepdims=True))
            if b.undefined is not None:
                found.append(b.undefined.any(axis=1, keepdims=True))
        if not found:
            return None
        result = np.zeros(chain.shape, bool)
        for flags in found:
            result |= flags
        return result

    def _ieee(self) -> NDArray[np.uint8]:
        """The class of special that IEEE 754 arithmetic gives, as flags; NaN, too, where infinity
        may be multiplied by a subnormal that becomes zero."""
        chain = self.facts.chain
        result = decode(chain.c.bits, chain.c.component)
        for a, b in chain.products:
            result = result + decode(a.bits, a.component) @ decode(b.bits, b.component)
        infinite = float_format(chain.component).infinity_code is not None
        flags = np.where(np.isnan(result), np.uint8(NAN), np.uint8(0))
        flags |= np.where(result == np.inf, np.uint8(PLUS_INFINITY if infinite else NAN), 0)
        flags |= np.where(result == -np.inf, np.uint8(MINUS_INFINITY if infinite else NAN), 0)
        if self.facts.subnormal is not None:
            flags |= np.where(self.facts.subnormal, np.uint8(NAN), np.uint8(0))
        return flags

    def explain(self, index: tuple[int, int, int]) -> str:
        """Why the set of one element is what it is."""
        return explanation(self.facts, self.collapsed, self.tight_radius, self.loose_radius, index)


def _ends(band: Band) -> tuple[Floats, Floats]:
    ends = band.interval()
    assert ends is not None
    return ends
