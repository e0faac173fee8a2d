"""Acceptance sets of float multiply-adds; the bound is derived in :mod:`reference.bounds`.

Where every partial sum in every order is representable ("collapse": all addends are multiples of
some 2^g and their magnitudes add up to at most 2^(g + bits)), the class of adders gives one
result: exactly the sum, if no addend is negative. Elements that NaN or infinity can reach are
anything by policy (NotNaN and NotInf are assumed), and what IEEE 754 says in the tight band.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
from reference.bounds import SHORT_INPUT, Adder, adder
from reference.component import (
    NO_BITS,
    Flags,
    Floats,
    decode,
    float_format,
    is_negative,
    is_subnormal,
    lowest_bit,
    lowest_bit_of,
    number,
    round_down,
    round_up,
    rounded,
)
from reference.exact import ProductSum, sum_products
from reference.latitude import VULKAN, Latitude
from reference.values import Exact, FloatSum

Exponents = NDArray[np.int32]


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

    def part(self, tiles: slice) -> Accept:
        """The acceptance set of some of the tiles."""
        return accept_chain(self.chain.part(tiles), self.latitude)


# --- facts about the addends ----------------------------------------------------------------


@dataclass(frozen=True)
class _Factor:
    """One factor and facts about its rows (axis 2) or columns (axis 1), which keep that axis."""

    values: Floats
    """With zeros in place of NaN and infinity."""
    special: Flags | None
    """Rows or columns with NaN or infinity; None if there are none."""
    negative: Flags | None
    """Rows or columns with a sign bit, of a zero too; None if there are none."""
    subnormal: Flags | None
    """Subnormal elements; None if there are none."""
    zeros: bool
    lowest: Exponents
    """All elements of the row or column are multiples of 2^lowest."""
    largest: Exponents
    """Exponent of the largest element, at least that of the smallest normal value."""
    length: int
    """Upper bound of the significant bits of any element."""
    normal: int
    """Exponent of the component's smallest normal value."""


def _factor(exact: Exact, axis: int) -> _Factor:
    component, bits = exact.component, exact.bits
    values = decode(bits, component)
    special = None
    finite = np.isfinite(values)
    if not finite.all():
        special = (~finite).any(axis=axis, keepdims=True)
        values = np.where(finite, values, 0.0)
    signs = is_negative(bits, component)
    tiny = is_subnormal(bits, component)
    lowest = lowest_bit_of(bits, component)
    _, exponent = np.frexp(np.abs(values).max(axis=axis, keepdims=True))
    low: Exponents = lowest.min(axis=axis, keepdims=True)
    span = int((exponent - low).max(initial=0))
    form = float_format(component)
    return _Factor(
        values,
        special,
        signs.any(axis=axis, keepdims=True) if signs.any() else None,
        tiny if tiny.any() else None,
        not bool(np.all(values)),
        low,
        np.maximum(exponent - 1, form.minimum_exponent),
        min(form.precision, max(span, 0)),
        form.minimum_exponent,
    )


@dataclass(frozen=True)
class _Addends:
    """Facts about all addends of every element, [tiles, M, N]; None stands for "nowhere"."""

    sums: ProductSum
    c: Floats
    count: NDArray[np.int64] | int
    """Addends that are not zero."""
    lowest: Exponents
    """All addends are multiples of 2^lowest."""
    negative: Flags | None
    special: Flags | None
    subnormal: Flags | None
    lossy: Floats | None
    """Magnitudes of addends that may not fit the narrowest sums."""
    flushed: Floats | None
    """Magnitudes of addends that vanish if subnormal operands do."""
    floor: Floats | float
    """Exponent ranges of subnormal factors may exceed M; this is how far."""


def _either(flags: list[Flags | None]) -> Flags | None:
    found = [flag for flag in flags if flag is not None]
    if not found:
        return None
    result = found[0]
    for flag in found[1:]:
        result = result | flag
    return result


def _addends(chain: FloatSum, pairs: list[tuple[_Factor, _Factor]], plan: Adder) -> _Addends:
    c_type = chain.c.component
    c = decode(chain.c.bits, c_type)
    c_special = None
    if not np.isfinite(c).all():
        c_special = ~np.isfinite(c)
        c = np.where(c_special, 0.0, c)
    narrow = all(f.component is not Component.FLOAT64 for pair in chain.products for f in pair)
    sums = sum_products([(a.values, b.values) for a, b in pairs], c, narrow)
    count: NDArray[np.int64] | int = int(chain.slots - 1)
    if any(a.zeros or b.zeros for a, b in pairs):
        counts = sum((a.values != 0).astype(np.float32) @ (b.values != 0) for a, b in pairs)
        count = np.asarray(counts).astype(np.int64)
    c_signs, c_tiny = is_negative(chain.c.bits, c_type), is_subnormal(chain.c.bits, c_type)
    signs = [flag for pair in pairs for flag in (pair[0].negative, pair[1].negative)]
    specials = [flag for pair in pairs for flag in (pair[0].special, pair[1].special)]
    negative = _either([*signs, c_signs if c_signs.any() else None])
    shape = sums.value.shape
    subnormal, flushed, floor = _subnormals(pairs, c, c_tiny if c_tiny.any() else None, shape)
    return _Addends(
        sums,
        c,
        count + (c != 0),
        _common_grid(pairs, c),
        None if negative is None else np.broadcast_to(negative, shape),
        _either([*specials, c_special]),
        subnormal,
        _lossy(chain, pairs, sums, c, plan),
        flushed,
        floor,
    )


def _common_grid(pairs: list[tuple[_Factor, _Factor]], c: Floats) -> Exponents:
    """The exponent of a grid on which all addends lie, by row of A and column of B."""
    grid = np.minimum.reduce([np.minimum(a.lowest + b.lowest, NO_BITS) for a, b in pairs])
    if not c.any():
        return grid
    with np.errstate(over="ignore"):
        scaled = np.ldexp(c, -np.clip(grid, -1100, 1100))
    fits = scaled == np.rint(scaled)
    fits &= np.isfinite(scaled)
    if fits.all():
        return grid
    return np.where(fits, grid, np.minimum(grid, lowest_bit(c))).astype(np.int32)


def _subnormals(
    pairs: list[tuple[_Factor, _Factor]],
    c: Floats,
    c_tiny: Flags | None,
    shape: tuple[int, ...],
) -> tuple[Flags | None, Floats | None, Floats | float]:
    """(elements with a subnormal addend or factor, what flushing them loses, exponent floor)."""
    found: list[Flags | None] = [c_tiny]
    flushed: Floats | None = None if c_tiny is None else np.where(c_tiny, np.abs(c), 0.0)
    floor: Floats | float = 0.0
    for a, b in pairs:
        if a.subnormal is None and b.subnormal is None:
            continue
        left, right = np.abs(a.values), np.abs(b.values)
        kept_left = left if a.subnormal is None else np.where(a.subnormal, 0.0, left)
        kept_right = right if b.subnormal is None else np.where(b.subnormal, 0.0, right)
        lost = np.maximum(left @ right - kept_left @ kept_right, 0.0)
        lost += (left @ right) * 2.0**-40
        flushed = lost if flushed is None else flushed + lost
        if a.subnormal is not None:
            found.append(a.subnormal.any(axis=2, keepdims=True))
        if b.subnormal is not None:
            found.append(b.subnormal.any(axis=1, keepdims=True))
        floor = np.maximum(floor, np.ldexp(1.0, a.largest + b.largest))
    flags = _either(found)
    return (None if flags is None else np.broadcast_to(flags, shape)), flushed, floor


def _lossy(
    chain: FloatSum,
    pairs: list[tuple[_Factor, _Factor]],
    sums: ProductSum,
    c: Floats,
    plan: Adder,
) -> Floats | None:
    longest = max(a.length + b.length - (min(a.length, b.length) <= 1) for a, b in pairs)
    if longest > plan.precision:
        return sums.size
    if float_format(chain.c.component).precision > plan.precision and c.any():
        _, exponent = np.frexp(c)
        fits = (exponent - lowest_bit(c) <= plan.precision) | (c == 0)
        return None if fits.all() else np.where(fits, 0.0, np.abs(c))
    return None


# --- from facts to bands --------------------------------------------------------------------


def accept_chain(chain: FloatSum, latitude: Latitude = VULKAN) -> Accept:
    """The acceptance sets of all elements of a chain of float multiply-adds."""
    plan = adder(chain, latitude)
    with np.errstate(over="ignore", invalid="ignore"):
        pairs = [(_factor(a, 2), _factor(b, 1)) for a, b in chain.products]
        facts = _addends(chain, pairs, plan)
        shortened = latitude.rounds_float32_inputs.possible and any(
            factor.length > 11 for pair in pairs for factor in pair
        )
        collapsed = _collapsed(facts, plan)
        if shortened:
            collapsed = np.zeros_like(collapsed)
        tight, loose = _radii(facts, plan, latitude, collapsed, shortened, pairs)
        return _bands(facts, plan, latitude, chain, collapsed, tight, loose)


def _collapsed(facts: _Addends, plan: Adder) -> Flags:
    """Elements whose every partial sum, in every order, every adder represents exactly (but for
    adders with unit errors)."""
    size, grid = facts.sums.size, facts.lowest
    found = (size <= np.ldexp(1.0, np.minimum(grid + plan.collapse, 1023))) & (
        grid >= plan.minimum_exponent
    )
    single = np.asarray(facts.count <= 1) & ~found
    if single.any():
        alone = np.broadcast_to(single, size.shape)
        values = size[alone]
        lowest = lowest_bit(values)
        _, exponent = np.frexp(values)
        found = np.array(found)
        found[alone] = (exponent - lowest <= plan.collapse) & (lowest >= plan.minimum_exponent)
    found &= size <= plan.maximum
    if facts.subnormal is not None:
        found &= ~facts.subnormal
    return found


def _radii(
    facts: _Addends,
    plan: Adder,
    latitude: Latitude,
    collapsed: Flags,
    shortened: bool,
    pairs: list[tuple[_Factor, _Factor]],
) -> tuple[Floats, Floats]:
    """Largest error of (every adder without, every adder with unit errors)."""
    sums = facts.sums
    reach = np.maximum((sums.size + np.abs(sums.value)) / 2, facts.floor)
    unit = plan.rounding
    extra: Floats = sums.error
    if facts.flushed is not None and latitude.flushes_subnormals.possible:
        extra = extra + facts.flushed
    if shortened:
        extra = extra + sums.size * (SHORT_INPUT * (2 + SHORT_INPUT))
    if facts.lossy is not None:
        extra = extra + facts.lossy * unit
    tail = plan.slots * plan.quantum
    if latitude.flushes_subnormals.possible:
        tail += 2 * plan.slots * 2.0**plan.minimum_exponent
    extra = extra + np.where(facts.lowest < plan.minimum_exponent, tail, 0.0)
    roundings = 2 * plan.slots
    growth = plan.growth(roundings)
    counts = np.arange(plan.slots + 1)
    steps = np.array([plan.growth(max(int(n) - 1, 0)) for n in counts])[facts.count]
    tight = np.where(collapsed, 0.0, reach * steps + extra * (1 + steps))
    if not latitude.unit_errors.possible:
        return tight, tight
    loose = reach * growth + extra * (1 + growth)
    if facts.negative is None:
        return tight, np.where(collapsed, 0.0, loose)
    empty = facts.negative & (sums.size == 0)
    if empty.any():
        zeros = [
            np.broadcast_to(np.maximum(a.normal + b.largest, a.largest + b.normal), empty.shape)
            for a, b in pairs
        ]
        reach = np.where(empty, np.ldexp(1.0, np.maximum.reduce(zeros)), reach)
    exact_wide = reach * plan.growth(roundings, plan.wide) + sums.error
    return tight, np.where(collapsed, np.where(facts.negative, exact_wide, 0.0), loose)


def _bands(
    facts: _Addends,
    plan: Adder,
    latitude: Latitude,
    chain: FloatSum,
    collapsed: Flags,
    tight: Floats,
    loose: Floats,
) -> Accept:
    value, component = facts.sums.value, chain.component
    tight_band = _interval(value - tight, value + tight, component, plan)
    policy = (
        tight_band if loose is tight else _interval(value - loose, value + loose, component, plan)
    )
    if facts.negative is not None and loose is not tight and not plan.rounds_last:
        policy = _nearest_where(collapsed & facts.negative, policy, component, plan)
    tight_band, policy = _overflowing(facts, plan, latitude, component, loose, tight_band, policy)
    tight_band, policy = _with_specials(facts, latitude, chain, tight_band, policy)
    return Accept(
        component,
        chain.shape,
        EVERYTHING,
        policy,
        tight_band,
        value,
        tight,
        "float multiply-add: the policy is a class of adders (order and precision are free)",
        _explainer(facts, plan, collapsed, tight, loose),
    )


def _interval(low: Floats, high: Floats, component: Component, plan: Adder) -> Band:
    """[low, high], rounded to the result type in any direction where that is the last step."""
    if component is Component.FLOAT64:
        return Band(low=np.nextafter(low, -np.inf), high=np.nextafter(high, np.inf))
    if not plan.rounds_last:
        return Band(low=low, high=high)
    least = float_format(component).minimum_normal
    low, high = round_down(low, component), round_up(high, component)
    return Band(
        low=np.where((low > 0) & (low < least), 0.0, low),
        high=np.where((high < 0) & (high > -least), 0.0, high),
    )


def _nearest_where(where: Flags, band: Band, component: Component, plan: Adder) -> Band:
    """Where sums are exact but for unit errors of a wide adder, the result is what these round
    to, which for a narrow type is nearly always the sum itself."""
    if plan.precision >= plan.wide or not where.any():
        return band
    assert band.low is not None
    assert band.high is not None
    low, high = band.low.copy(), band.high.copy()
    low[where] = rounded(low[where], component)
    high[where] = rounded(high[where], component)
    return Band(low=low, high=high)


def _overflowing(
    facts: _Addends,
    plan: Adder,
    latitude: Latitude,
    component: Component,
    loose: Floats,
    tight: Band,
    policy: Band,
) -> tuple[Band, Band]:
    """Where a partial sum may pass the largest finite value, it may stick there or become
    infinite, and where the signs differ nothing closer than the range of partial sums holds."""
    value, size = facts.sums.value, facts.sums.size
    largest = plan.maximum
    peak = size if latitude.overflows_early.possible else np.abs(value)
    over = np.broadcast_to(peak + loose > largest, value.shape)
    if not over.any():
        return tight, policy
    infinite = float_format(component).infinity_code is not None
    positive = np.where(over, (size + value) / 2 + loose, 0.0)
    negative = np.where(over, (size - value) / 2 + loose, 0.0)
    up, down = over & (positive > largest), over & (negative > largest)
    plus, minus = (PLUS_INFINITY, MINUS_INFINITY) if infinite else (NAN, NAN)
    flags = np.where(up, np.uint8(plus | PLUS_MAXIMUM), np.uint8(0))
    flags |= np.where(down, np.uint8(minus | MINUS_MAXIMUM), np.uint8(0))
    flags |= np.where(up & down, np.uint8(NAN), np.uint8(0))
    mixed = (up | down) & (size > np.abs(value))
    bands = []
    for band in (tight, policy):
        low = np.where(mixed, np.minimum(-negative, _low(band)), _low(band))
        high = np.where(mixed, np.maximum(positive, _high(band)), _high(band))
        bands.append(Band(low=low, high=high, flags=flags))
    return bands[0], bands[1]


def _low(band: Band) -> Floats:
    assert band.low is not None
    return band.low


def _high(band: Band) -> Floats:
    assert band.high is not None
    return band.high


def _with_specials(
    facts: _Addends, latitude: Latitude, chain: FloatSum, tight: Band, policy: Band
) -> tuple[Band, Band]:
    """Elements that a NaN or infinity reaches, or an undefined value, or that binary64 can't
    hold."""
    shape = chain.shape
    undefined = _either(
        [
            ~np.isfinite(facts.sums.value) if not np.isfinite(facts.sums.value).all() else None,
            chain.c.undefined,
            *(_spread(a.undefined, 2) for a, _ in chain.products),
            *(_spread(b.undefined, 1) for _, b in chain.products),
        ]
    )
    if facts.special is None and undefined is None:
        return tight, policy
    special = np.zeros(shape, bool)
    if facts.special is not None:
        special |= facts.special
    result = decode(chain.c.bits, chain.c.component)
    for a, b in chain.products:
        result = result + decode(a.bits, a.component) @ decode(b.bits, b.component)
    infinite = float_format(chain.component).infinity_code is not None
    expected = np.where(np.isnan(result), np.uint8(NAN), np.uint8(0))
    expected |= np.where(result == np.inf, np.uint8(PLUS_INFINITY if infinite else NAN), 0)
    expected |= np.where(result == -np.inf, np.uint8(MINUS_INFINITY if infinite else NAN), 0)
    anything = np.zeros(shape, bool) if undefined is None else undefined
    everything = np.uint8(ANYTHING)
    free = latitude.assumes_no_specials.possible
    bands = []
    for band, spared in ((tight, False), (policy, free)):
        flags = np.where(special, everything if spared else expected, np.uint8(0) | band.flags)
        flags = np.where(anything, everything, flags).astype(np.uint8)
        low = np.where(special, np.inf, _low(band))
        high = np.where(special, -np.inf, _high(band))
        bands.append(Band(low=low, high=high, flags=flags))
    return bands[0], bands[1]


def _spread(undefined: Flags | None, axis: int) -> Flags | None:
    return None if undefined is None else undefined.any(axis=axis, keepdims=True)


def _explainer(
    facts: _Addends, plan: Adder, collapsed: Flags, tight: Floats, loose: Floats
) -> Callable[[tuple[int, int, int]], str]:
    def explain(index: tuple[int, int, int]) -> str:
        shape = facts.sums.value.shape
        value, size = float(facts.sums.value[index]), float(facts.sums.size[index])
        count = int(np.broadcast_to(facts.count, shape)[index])
        text = f"{count} of {plan.slots} addends are not zero, their sum is {number(value)}, "
        text += f"their magnitudes add up to {number(size)}. "
        if facts.special is not None and np.broadcast_to(facts.special, shape)[index]:
            return text + "A NaN or an infinity is among them."
        if not np.broadcast_to(collapsed, shape)[index]:
            return text + (
                f"Sums of {plan.precision} bits in any order, rounded in any direction, err by at "
                f"most {float(tight[index]):.4g}; with an error of one unit for each addend by "
                f"{float(loose[index]):.4g}."
            )
        grid = int(np.broadcast_to(facts.lowest, shape)[index])
        why = f"All are multiples of 2^{grid}" if grid < NO_BITS // 2 else "All are zero"
        text += f"{why}, so that every partial sum fits {plan.collapse} bits and is exact"
        if float(loose[index]) == 0.0:
            return text + "."
        return text + (
            "; only an adder that errs by a unit for addends of the other sign differs, by at most "
            f"{float(loose[index]):.4g}."
        )

    return explain
