"""Acceptance sets: which results the oracle permits, element by element.

An :class:`Accept` holds three nested bands. Outside ``required`` the specification is violated,
outside ``policy`` the suite's documented policy is, outside ``tight`` a quality warning is due.
Intervals are closed and rounded outward, so a band is never narrower than its rule.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from reference.component import (
    Bits,
    Flags,
    Floats,
    decode,
    float_format,
    number,
    spacing,
    text,
)

NAN, PLUS_INFINITY, MINUS_INFINITY, PLUS_MAXIMUM, MINUS_MAXIMUM, ZERO, ANYTHING = (
    *(1, 2, 4, 8, 16, 32),
    128,
)
"""Bits of :attr:`Band.flags`: what is permitted besides the bits and the interval."""

CHUNK = 16384
"""Elements looked at together: arrays of this size stay in the processor's cache."""


@dataclass(frozen=True)
class Band:
    """A set of results for each element; the union of its parts. Arrays broadcast to the shape of
    the matrices: [tiles, rows, columns]."""

    bits: Bits | None = None
    """Exactly these bits."""
    low: Floats | None = None
    high: Floats | None = None
    """Any number of the closed interval; +0 and -0 are the same number."""
    flags: NDArray[np.uint8] | int = 0
    center: Floats | None = None
    radius: Floats | float = 0.0
    """Any number within ``radius`` of ``center``."""

    def contains(self, actual: Bits, values: Floats | None, component: Component) -> Flags:
        """Where ``actual`` (decoded: ``values``, needed only if the band looks at numbers) lies in
        the band."""
        if isinstance(self.flags, int) and self.flags & ANYTHING:
            return np.ones(actual.shape, bool)
        parts: list[Flags] = []
        if self.bits is not None:
            parts.append(actual == self.bits)
        if values is not None and self.low is not None and self.high is not None:
            parts.append((values >= self.low) & (values <= self.high))
        if values is not None and self.center is not None:
            with np.errstate(invalid="ignore"):
                parts.append(np.abs(values - self.center) <= self.radius)
        if not isinstance(self.flags, int) or self.flags:
            parts.append(_flagged(np.asarray(self.flags, np.uint8), values, component))
        inside = parts[0] if parts else np.zeros(actual.shape, bool)
        for part in parts[1:]:
            inside = inside | part
        return inside

    @property
    def looks_at_numbers(self) -> bool:
        """Whether bits are not enough to decide."""
        if self.low is not None or self.center is not None:
            return True
        return bool(np.any(np.asarray(self.flags) & (ANYTHING - 1)))

    def interval(self) -> tuple[Floats, Floats] | None:
        """(lowest, highest) number of every element; None for bands without numbers."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        if self.center is not None:
            return self.center - self.radius, self.center + self.radius
        return None

    def at(self, index: tuple[int, ...], shape: tuple[int, ...], component: Component) -> str:
        """The band of one element, for people."""
        flags = int(np.broadcast_to(np.asarray(self.flags), shape)[index])
        if flags & ANYTHING:
            return "anything"
        parts = []
        if self.bits is not None:
            bits = int(np.broadcast_to(self.bits, shape)[index])
            parts.append(f"0x{bits:0{component.bytes * 2}x} ({text(bits, component)})")
        interval = self.interval()
        if interval is not None:
            low, high = (float(np.broadcast_to(end, shape)[index]) for end in interval)
            if low == high:
                parts.append(number(low))
            elif low < high:
                parts.append(f"[{number(low)}, {number(high)}]")
        names = ("NaN", "+infinity", "-infinity", "the largest value", "the smallest value", "zero")
        parts += [name for bit, name in enumerate(names) if flags & (1 << bit)]
        return " or ".join(parts) or "nothing"


def _flagged(flags: NDArray[np.uint8], values: Floats | None, component: Component) -> Flags:
    anything: Flags = (flags & ANYTHING) != 0
    if values is None:
        return anything
    largest = float_format(component).maximum
    inside: Flags = (
        anything
        | (((flags & NAN) != 0) & np.isnan(values))
        | (((flags & PLUS_INFINITY) != 0) & (values == np.inf))
        | (((flags & MINUS_INFINITY) != 0) & (values == -np.inf))
        | (((flags & PLUS_MAXIMUM) != 0) & (values == largest))
        | (((flags & MINUS_MAXIMUM) != 0) & (values == -largest))
        | (((flags & ZERO) != 0) & (values == 0))
    )
    return inside


_Any = TypeVar("_Any", bound=np.generic)
EVERYTHING = Band(flags=ANYTHING)


class Level(enum.IntEnum):
    """Which band an element lies outside of; the larger, the worse."""

    FINE = 0
    QUALITY = 1
    POLICY = 2
    REQUIRED = 3


Deferred = Callable[[], Band]


@dataclass(frozen=True)
class Accept:
    """The acceptance set of every element of a batch of matrices."""

    component: Component
    shape: tuple[int, int, int]
    """(tiles, rows, columns)."""
    required: Band
    policy: Band | Deferred
    """Made only when something lies outside ``tight``, if it is a function."""
    tight: Band
    exact: Floats | None = None
    """The mathematically exact result where the bands are intervals around it."""
    bound: Floats | float = 0.0
    """Largest error of the tight band, the denominator of the error / bound ratio."""
    reason: str = ""
    """Why the set is what it is, for the whole batch."""
    explain: Callable[[tuple[int, int, int]], str] | None = None
    """Why one element's set is what it is."""

    def band(self, level: Level) -> Band:
        """The band that an element of ``level`` lies outside of."""
        if level is Level.REQUIRED:
            return self.required
        if level is Level.POLICY:
            return self.policy if isinstance(self.policy, Band) else self.policy()
        return self.tight

    def part(self, tiles: slice) -> Accept:
        """The acceptance set of some of the tiles."""
        start, stop, _ = tiles.indices(self.shape[0])
        if (start, stop) == (0, self.shape[0]):
            return self
        cut = _Cut(start, stop)
        explain, policy = self.explain, self.policy
        return Accept(
            self.component,
            (stop - start, *self.shape[1:]),
            cut.band(self.required),
            cut.band(policy) if isinstance(policy, Band) else lambda: cut.band(policy()),
            cut.band(self.tight),
            None if self.exact is None else cut.array(self.exact),
            self.bound if isinstance(self.bound, float) else cut.array(self.bound),
            self.reason,
            None if explain is None else lambda i: explain((i[0] + start, i[1], i[2])),
        )

    def levels(self, actual: Bits) -> tuple[NDArray[np.uint8] | None, float]:
        """(the :class:`Level` of every element, or None where all are fine; worst ratio)."""
        values = decode(actual, self.component) if self.tight.looks_at_numbers else None
        if values is not None and self._plain:
            fine, ratio = self._near(values)
        else:
            fine = self.tight.contains(actual, values, self.component)
            ratio = self._worst_ratio(values)
        if fine.all():
            return None, ratio
        if values is None and self.component.is_float:
            values = decode(actual, self.component)
        levels = np.where(fine, np.uint8(Level.FINE), np.uint8(Level.QUALITY))
        for level in (Level.POLICY, Level.REQUIRED):
            levels[~self.band(level).contains(actual, values, self.component)] = level
        return levels, ratio

    @property
    def _plain(self) -> bool:
        """Whether the tight band is nothing but the bound around the exact result."""
        tight = self.tight
        plain = tight.center is self.exact and tight.radius is self.bound and tight.bits is None
        return plain and isinstance(tight.flags, int) and tight.flags == 0 and tight.low is None

    def _near(self, values: Floats) -> tuple[Flags, float]:
        """(where results are within the bound, worst ratio); the errors are needed but once."""
        with np.errstate(invalid="ignore", divide="ignore"):
            assert self.exact is not None
            error = np.abs(values - self.exact)
            fine: Flags = error <= self.bound
            if isinstance(self.bound, float):
                return fine, 0.0
            error /= self.bound
            worst = float(np.fmax.reduce(error, axis=None))
        if not worst < _MOST:
            worst = self._worst_ratio(values)
        return fine, worst

    def _worst_ratio(self, values: Floats | None) -> float:
        if values is None or self.exact is None or isinstance(self.bound, float):
            return 0.0
        with np.errstate(invalid="ignore", over="ignore"):
            ratio = np.abs(values - self.exact)
            ratio /= np.maximum(self.bound, _LEAST)
            worst = float(ratio.max(initial=0.0))
            if worst < _MOST:
                return worst
            return float(ratio.max(initial=0.0, where=ratio < _MOST))

    def ratios(self, actual: Bits) -> Floats:
        """Error / bound of every element; where the bound is 0, the error in units in the last
        place. Non-finite values count 0: the bands judge them."""
        if self.exact is None or not self.component.is_float:
            return np.zeros(actual.shape)
        values = decode(actual, self.component)
        bound = np.broadcast_to(self.bound, actual.shape)
        unit = np.where(bound == 0, spacing(self.exact, self.component), bound)
        with np.errstate(invalid="ignore", over="ignore"):
            ratio = np.abs(values - self.exact) / unit
        return np.where(np.isfinite(ratio), ratio, 0.0)

    def measured(self, actual: Bits) -> Flags:
        """Where a ratio of :meth:`ratios` says how far off an element is."""
        if self.exact is None or not self.component.is_float:
            return np.zeros(actual.shape, bool)
        finite: Flags = np.isfinite(decode(actual, self.component)) & np.isfinite(self.exact)
        return finite


_LEAST = 1e-300
_MOST = 1e30
"""Ratios at and above are no measurements: the bound was 0, or the result not finite."""


class Acceptance(Protocol):
    """Anything that can give the acceptance sets of a range of tiles."""

    @property
    def component(self) -> Component:
        """Component type of the matrices."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """(tiles, rows, columns)."""

    def part(self, tiles: slice) -> Accept:
        """The acceptance set of some of the tiles."""


@dataclass(frozen=True)
class Verdict:
    """What a comparison of a whole batch found."""

    level: Level
    """The worst of all elements."""
    worst_ratio: float
    levels: NDArray[np.uint8] | None
    """Every element's :class:`Level`; None where all are fine."""


def verdict(acceptance: Acceptance, actual: Bits) -> Verdict:
    """Compares ``actual`` [tiles, rows, columns] with its acceptance sets, some tiles at a time."""
    tiles, rows, columns = acceptance.shape
    step = max(1, CHUNK // (rows * columns))
    levels: NDArray[np.uint8] | None = None
    worst = 0.0
    for start in range(0, tiles, step):
        piece = slice(start, start + step)
        found, ratio = acceptance.part(piece).levels(actual[piece])
        worst = max(worst, ratio)
        if found is not None:
            if levels is None:
                levels = np.zeros(acceptance.shape, np.uint8)
            levels[piece] = found
    level = Level.FINE if levels is None else Level(int(levels.max()))
    return Verdict(level, worst, levels)


@dataclass(frozen=True)
class _Cut:
    """Takes some tiles out of arrays that may be broadcast along them."""

    start: int
    stop: int

    def array(self, array: NDArray[_Any]) -> NDArray[_Any]:
        if array.ndim < 3 or array.shape[0] == 1:
            return array
        return array[self.start : self.stop]

    def band(self, band: Band) -> Band:
        return Band(
            None if band.bits is None else self.array(band.bits),
            None if band.low is None else self.array(band.low),
            None if band.high is None else self.array(band.high),
            band.flags if isinstance(band.flags, int) else self.array(band.flags),
            None if band.center is None else self.array(band.center),
            band.radius if isinstance(band.radius, float) else self.array(band.radius),
        )
