"""Values that pass through control flow and aggregates, while a program is evaluated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cts.program.flow import Through
from reference.accept import Accept, Acceptance, Band, Level
from reference.component import Flags, Floats, decode
from reference.latitude import Latitude
from reference.matrix import Undetermined, acceptance
from reference.patterns import Hypothesis
from reference.values import Exact, Ranged, Reduced, Scattered, Value


def taken(tiles: int, bit: int) -> Flags:
    """Which tiles have ``bit`` set in their index, [tiles, 1, 1]."""
    found: Flags = (np.arange(tiles) >> bit & 1 == 1)[:, None, None]
    return found


def merged(mask: Flags, then: Value, otherwise: Value, latitude: Latitude) -> Value:
    """``then`` in the tiles of ``mask``, ``otherwise`` in the others."""
    if then is otherwise:
        return then
    if isinstance(then, Exact) and isinstance(otherwise, Exact):
        undefined = _undefined(mask, then, otherwise)
        bits = np.where(mask, then.bits, otherwise.bits)
        return Exact(then.component, bits, undefined, then.assumed or otherwise.assumed)
    one, other = _accept(then, latitude), _accept(otherwise, latitude)
    required, policy, tight = (
        _merged_band(mask, one.band(level), other.band(level), one)
        for level in (Level.REQUIRED, Level.POLICY, Level.QUALITY)
    )
    exact = None
    if one.exact is not None and other.exact is not None:
        exact = np.where(mask, one.exact, other.exact)
    reason = one.reason if one.reason == other.reason else f"{one.reason}; or: {other.reason}"
    bound = np.where(mask, one.bound, other.bound)
    return Ranged(Accept(one.component, one.shape, required, policy, tight, exact, bound, reason))


def _undefined(mask: Flags, then: Exact, otherwise: Exact) -> Flags | None:
    if then.undefined is None and otherwise.undefined is None:
        return None
    none = np.zeros(then.shape, bool)
    found: Flags = np.where(
        mask,
        none if then.undefined is None else then.undefined,
        none if otherwise.undefined is None else otherwise.undefined,
    )
    return found


def _accept(value: Value, latitude: Latitude) -> Accept:
    if isinstance(value, Scattered | Reduced):
        raise Undetermined("a branch decides between values of which little is known")
    found: Acceptance = acceptance(value, latitude)
    return found.part(slice(None))


def _merged_band(mask: Flags, one: Band, other: Band, accept: Accept) -> Band:
    """A band by intervals: bits are numbers, and numbers intervals of one."""
    low, high, flags = _as_interval(one, accept)
    other_low, other_high, other_flags = _as_interval(other, accept)
    return Band(
        low=np.where(mask, low, other_low),
        high=np.where(mask, high, other_high),
        flags=np.where(mask, flags, other_flags),
    )


def _as_interval(band: Band, accept: Accept) -> tuple[Floats, Floats, NDArray[np.uint8]]:
    flags = np.broadcast_to(np.asarray(band.flags, np.uint8), accept.shape)
    low, high = np.full(accept.shape, np.inf), np.full(accept.shape, -np.inf)
    if (interval := band.interval()) is not None:
        low, high = interval
    if band.bits is not None:
        values = decode(band.bits, accept.component)
        low, high = np.fmin(low, values), np.fmax(high, values)
    return low, high, flags


def others(statement: Through, value: Callable[[str], Value]) -> list[Hypothesis]:
    """What passing the wrong one of several values would give."""
    found = []
    for number, name in enumerate(statement.values):
        passed = value(name)
        if number != statement.index and isinstance(passed, Exact):
            numbers = decode(passed.bits, passed.component)
            found.append(Hypothesis(f"holds {name}, number {number} of the values", numbers))
    return found
