"""Instructions of GLSL.std.450 whose precision is a bound: Exp, Log, Tanh, Atan.

Vulkan specification, table "Precision of GLSL.std.450 Instructions".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cts.program.types import Component
from cts.program.vector_values import VectorOp
from reference.accept import ANYTHING, ZERO, Accept, Band
from reference.component import (
    Flags,
    Floats,
    decode,
    float_format,
    is_subnormal,
    round_down,
    round_up,
    spacing,
)
from reference.values import Exact, Ranged

_O = VectorOp
_SLACK = 2.0**-50
"""Relative error of the binary64 functions of the standard library and NumPy, generously."""


def _exp(x: Floats, component: Component) -> tuple[Floats, Floats]:
    fixed = 1.0 if component is Component.FLOAT16 else 3.0
    with np.errstate(over="ignore", under="ignore"):
        value = np.exp(x)
        return _units(value, (fixed + 2 * np.abs(x)), component)


def _log(x: Floats, component: Component) -> tuple[Floats, Floats]:
    absolute = 2.0**-7 if component is Component.FLOAT16 else 2.0**-21
    with np.errstate(all="ignore"):
        value = np.log(x)
        low, high = _units(value, np.full_like(x, 3.0), component)
    inside = (x >= 0.5) & (x <= 2.0)
    return np.where(inside, value - absolute, low), np.where(inside, value + absolute, high)


def _atan(x: Floats, component: Component) -> tuple[Floats, Floats]:
    units = 5.0 if component is Component.FLOAT16 else 4096.0
    return _units(np.arctan(x), np.full_like(x, units), component)


def _tanh(x: Floats, component: Component) -> tuple[Floats, Floats]:
    """sinh(x) / cosh(x), which are (exp(x) -+ exp(-x)) * 0.5: every step with its error."""
    up_low, up_high = _exp(x, component)
    down_low, down_high = _exp(np.negative(x), component)
    least = float_format(component).minimum_normal
    # A subnormal exponential may be flushed.
    up_low, down_low = (np.where(low < least, 0.0, low) for low in (up_low, down_low))
    sinh = _halved(_rounded(up_low - down_high, up_high - down_low, component), component)
    cosh = _halved(_rounded(up_low + down_low, up_high + down_high, component), component)
    with np.errstate(all="ignore"):
        corners = np.array([s / c for s in sinh for c in cosh])
    low, high = corners.min(axis=0), corners.max(axis=0)
    unit = 2.5 * spacing(np.maximum(np.abs(low), np.abs(high)), component)
    return low - unit, high + unit


def _rounded(low: Floats, high: Floats, component: Component) -> tuple[Floats, Floats]:
    """An interval after one correctly rounded step, whose subnormal results may be flushed."""
    down, up = round_down(low, component), round_up(high, component)
    least = float_format(component).minimum_normal
    down = np.where((down > 0) & (down < least), 0.0, down)
    up = np.where((up < 0) & (up > -least), 0.0, up)
    return down, up


def _halved(interval: tuple[Floats, Floats], component: Component) -> tuple[Floats, Floats]:
    low, high = interval
    return _rounded(low * 0.5, high * 0.5, component)


def _units(value: Floats, units: Floats, component: Component) -> tuple[Floats, Floats]:
    """The interval within ``units`` units in the last place of ``value``."""
    safe = np.where(np.isfinite(value), value, 0.0)
    reach = units * spacing(safe, component) + np.abs(safe) * _SLACK
    return value - reach, value + reach


FUNCTIONS: dict[VectorOp, Callable[[Floats, Component], tuple[Floats, Floats]]] = {
    _O.EXP: _exp,
    _O.LOG: _log,
    _O.TANH: _tanh,
    _O.ATAN: _atan,
}
_EXACT: dict[VectorOp, Callable[[Floats], Floats]] = {
    _O.EXP: np.exp,
    _O.LOG: np.log,
    _O.TANH: np.tanh,
    _O.ATAN: np.arctan,
}


def bounded(op: VectorOp, operand: Exact) -> Ranged:
    """Exp, Log, Tanh or Atan of every component."""
    component = operand.component
    x = decode(operand.bits, component)
    tiny = is_subnormal(operand.bits, component)
    special = ~np.isfinite(x)
    if op is _O.LOG:
        special = special | (x <= 0) | tiny  # undefined, or flushed to what is
    with np.errstate(all="ignore"):
        middle = _EXACT[op](np.where(special, 1.0, x))
        low, high = FUNCTIONS[op](np.where(special, 1.0, x), component)
        if tiny.any() and op is not _O.LOG:
            zero = FUNCTIONS[op](np.where(special | tiny, 0.0, x), component)
            low = np.where(tiny, np.minimum(low, zero[0]), low)
            high = np.where(tiny, np.maximum(high, zero[1]), high)
        if op is _O.TANH:
            # Once an exponential may overflow NaN is among the results, and so is anything.
            special = special | (np.exp(np.abs(x)) >= float_format(component).maximum / 2)
    return between(component, low, high, middle, special, (operand,))


def between(
    component: Component,
    low: Floats,
    high: Floats,
    middle: Floats,
    free: Flags,
    operands: Sequence[Exact],
) -> Ranged:
    """Any value of the component in the interval, rounded outward; subnormal results may be
    flushed, and beyond the largest value, or where ``free``, anything goes."""
    form = float_format(component)
    with np.errstate(invalid="ignore"):
        free = free | ~(high <= form.maximum) | ~(low >= -form.maximum)
    low, high = np.where(free, 0.0, low), np.where(free, 0.0, high)
    low, high = round_down(low, component), round_up(high, component)
    small = (low < form.minimum_normal) & (high > -form.minimum_normal)
    flags = np.where(small, np.uint8(ZERO), np.uint8(0))
    for operand in operands:
        if operand.undefined is not None:
            free = free | operand.undefined
    flags = np.where(free, np.uint8(ANYTHING), flags)
    band = Band(low=low, high=high, flags=flags)
    required = band
    if any(operand.assumed for operand in operands):
        required = Band(flags=ANYTHING)
    exact = np.where(free, 0.0, middle)
    return Ranged(
        Accept(
            component,
            (low.shape[0], low.shape[1], low.shape[2]),
            required,
            band,
            band,
            exact,
            np.maximum(np.abs(high - exact), np.abs(exact - low)),
            "the result lies within the instruction's error bound",
        )
    )
