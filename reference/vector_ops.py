"""Element-wise instructions on cooperative vectors: which results the specification permits.

Precision is that of the scalar instruction (Vulkan specification, appendix "Vulkan Environment
for SPIR-V", tables "Precision of core SPIR-V Instructions" and "Precision of GLSL.std.450
Instructions"). Vectors are [invocations, components, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cts.program.arithmetic import Operator
from cts.program.types import Component
from cts.program.vector_values import VectorOp
from reference import reals
from reference.accept import ANYTHING, MINUS_INFINITY, PLUS_INFINITY, ZERO, Accept, Band
from reference.component import (
    Bits,
    Flags,
    Floats,
    bits_dtype,
    decode,
    decode_int,
    encode,
    encode_int,
    float_format,
    is_subnormal,
    round_down,
    round_up,
    spacing,
)
from reference.elementwise import binary, negate
from reference.matrix import Undetermined
from reference.values import Exact, Ranged

Result = Exact | Ranged
_O = VectorOp

_OPERATORS = {
    _O.FADD: Operator.ADD,
    _O.FSUB: Operator.SUBTRACT,
    _O.FMUL: Operator.MULTIPLY,
    _O.FDIV: Operator.DIVIDE,
    _O.IADD: Operator.ADD,
    _O.ISUB: Operator.SUBTRACT,
    _O.IMUL: Operator.MULTIPLY,
}
_SLACK = 2.0**-50
"""Relative error of the binary64 functions of the standard library and NumPy, generously."""


def apply(op: VectorOp, operands: Sequence[Exact]) -> Result:
    """``op(operands...)``. Undetermined for what the specification leaves undefined."""
    if op in (_O.FNEGATE, _O.SNEGATE):
        return negate(operands[0])
    if op in _OPERATORS:
        with np.errstate(all="ignore"):
            return binary(_OPERATORS[op], operands[0], operands[1])
    if op in (_O.SDIV, _O.UDIV):
        return _divided(op is _O.SDIV, operands[0], operands[1])
    if op in _INTEGERS:
        return _whole(op, operands)
    if op in _FUNCTIONS:
        return _bounded(op, operands[0])
    if op is _O.FMA:
        return _fused(operands)
    return _selected(op, operands)


def times_scalar(vector: Exact, scalar: Exact) -> Result:
    """OpVectorTimesScalar; the scalar is [invocations, 1, 1]."""
    with np.errstate(all="ignore"):
        return binary(Operator.MULTIPLY, vector, scalar)


# --- integers -------------------------------------------------------------------------------


def _known(bits: Bits, operands: Sequence[Exact]) -> Exact:
    undefined: Flags | None = None
    for operand in operands:
        if operand.undefined is not None:
            found = operand.undefined
            undefined = found if undefined is None else undefined | found
    assumed = any(operand.assumed for operand in operands)
    return Exact(operands[0].component, bits, undefined, assumed)


def _divided(signed: bool, left: Exact, right: Exact) -> Exact:
    """The instruction decides on the sign, not the type."""
    component = left.component
    kind = _with_sign(component, signed)
    found = binary(
        Operator.DIVIDE,
        Exact(kind, left.bits, left.undefined, left.assumed),
        Exact(kind, right.bits, right.undefined, right.assumed),
    )
    assert isinstance(found, Exact)
    return Exact(component, found.bits, found.undefined, found.assumed)


def _with_sign(component: Component, signed: bool) -> Component:
    return Component[("SINT" if signed else "UINT") + str(component.bits)]


def _shifts(operands: Sequence[Exact]) -> tuple[Bits, Bits]:
    base, shift = operands
    amount = shift.bits
    if (amount >= base.component.bits).any():
        raise Undetermined("a shift by as many bits as the component has, or more")
    return base.bits, amount


def _shift_right_arithmetic(operands: Sequence[Exact]) -> Bits:
    base, amount = _shifts(operands)
    component = operands[0].component
    moved = decode_int(base, component, True) >> amount.astype(np.int64)
    return encode_int(moved.view(np.uint64), component)


def _signed_choice(choose: Callable[..., Floats], signed: bool) -> Callable[..., Bits]:
    def chosen(operands: Sequence[Exact]) -> Bits:
        component = operands[0].component
        numbers = [decode_int(one.bits, component, signed) for one in operands]
        found = np.ascontiguousarray(choose(*numbers)).view(np.uint64)
        return encode_int(found, component)

    return chosen


def _clamp(x: Floats, low: Floats, high: Floats) -> Floats:
    """min(max(x, low), high): what the Clamp instructions are defined as."""
    found: Floats = np.minimum(np.maximum(x, low), high)
    return found


def _bitwise(operation: Callable[..., Bits]) -> Callable[[Sequence[Exact]], Bits]:
    return lambda operands: operation(*(one.bits for one in operands))


_INTEGERS: dict[VectorOp, Callable[[Sequence[Exact]], Bits]] = {
    _O.SHIFT_LEFT_LOGICAL: lambda it: np.left_shift(*_shifts(it)),
    _O.SHIFT_RIGHT_LOGICAL: lambda it: np.right_shift(*_shifts(it)),
    _O.SHIFT_RIGHT_ARITHMETIC: _shift_right_arithmetic,
    _O.BITWISE_OR: _bitwise(np.bitwise_or),
    _O.BITWISE_XOR: _bitwise(np.bitwise_xor),
    _O.BITWISE_AND: _bitwise(np.bitwise_and),
    _O.NOT: _bitwise(np.invert),
    _O.UMIN: _signed_choice(np.minimum, False),
    _O.SMIN: _signed_choice(np.minimum, True),
    _O.UMAX: _signed_choice(np.maximum, False),
    _O.SMAX: _signed_choice(np.maximum, True),
    _O.UCLAMP: _signed_choice(_clamp, False),
    _O.SCLAMP: _signed_choice(_clamp, True),
}


def _whole(op: VectorOp, operands: Sequence[Exact]) -> Exact:
    if op in (_O.UCLAMP, _O.SCLAMP):
        _ordered(op is _O.SCLAMP, operands)
    bits = _INTEGERS[op](operands).astype(bits_dtype(operands[0].component))
    return _known(bits, operands)


def _ordered(signed: bool, operands: Sequence[Exact]) -> None:
    _, low, high = (decode_int(one.bits, one.component, signed) for one in operands)
    if (low > high).any():
        raise Undetermined("a clamp whose lower bound is above the upper one")


# --- floats -----------------------------------------------------------------------------------


def _step(edge: Floats, x: Floats) -> Floats:
    return np.where(x < edge, 0.0, 1.0)


_SELECTIONS: dict[VectorOp, Callable[..., Floats]] = {
    _O.FMIN: np.fmin,
    _O.NMIN: np.fmin,
    _O.FMAX: np.fmax,
    _O.NMAX: np.fmax,
    _O.FCLAMP: lambda x, low, high: np.fmin(np.fmax(x, low), high),
    _O.NCLAMP: lambda x, low, high: np.fmin(np.fmax(x, low), high),
    _O.STEP: _step,
}
"""What an instruction selects; a NaN among the operands is passed over."""
_NAN_AWARE = frozenset({_O.NMIN, _O.NMAX, _O.NCLAMP})


def _selected(op: VectorOp, operands: Sequence[Exact]) -> Result:
    """Selections are exact. NaN leaves the result open, but to the instructions that are defined
    for it; NaN and infinity may be ignored in any case (NotNaN and NotInf are assumed)."""
    component = operands[0].component
    select = _SELECTIONS[op]
    given = [decode(one.bits, component) for one in operands]
    if op in (_O.FCLAMP, _O.NCLAMP) and (given[1] > given[2]).any():
        raise Undetermined("a clamp whose lower bound is above the upper one")
    tiny = [is_subnormal(one.bits, component) for one in operands]
    results = []
    for flush in range(1 << len(given)) if any(flags.any() for flags in tiny) else (0,):
        flushed = (
            np.where(flags & bool(flush >> number & 1), 0.0, numbers)
            for number, (flags, numbers) in enumerate(zip(tiny, given, strict=True))
        )
        results.append(select(*flushed))
    low, high = np.fmin.reduce(results), np.fmax.reduce(results)
    nan = np.logical_or.reduce([np.isnan(numbers) for numbers in given])
    special = np.logical_or.reduce([~np.isfinite(numbers) for numbers in given])
    plain = not (special.any() or np.logical_or.reduce(tiny).any() or (low == 0).any())
    if plain:
        return _known(encode(low, component), operands)
    free = nan if op not in _NAN_AWARE else nan & np.isnan(low)
    return _selection(component, low, high, free, special, operands)


def _selection(
    component: Component,
    low: Floats,
    high: Floats,
    free: Flags,
    special: Flags,
    operands: Sequence[Exact],
) -> Ranged:
    form = float_format(component)
    small = (low < form.minimum_normal) & (high > -form.minimum_normal)
    small = small & ((low != 0) | (high != 0))
    flags = np.where(small, np.uint8(ZERO), np.uint8(0))
    flags |= np.where(low == np.inf, np.uint8(PLUS_INFINITY), np.uint8(0))
    flags |= np.where(high == -np.inf, np.uint8(MINUS_INFINITY), np.uint8(0))
    for operand in operands:
        if operand.undefined is not None:
            free = free | operand.undefined
    flags = np.where(free, np.uint8(ANYTHING), flags)
    finite = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(finite, low, np.inf), np.where(finite, high, -np.inf)
    policy = Band(low=low, high=high, flags=flags)
    required = replace(policy, flags=np.where(special, np.uint8(ANYTHING), flags))
    if any(operand.assumed for operand in operands):
        required = Band(flags=ANYTHING)
    shape = (low.shape[0], low.shape[1], low.shape[2])
    return Ranged(
        Accept(
            component,
            shape,
            required,
            policy,
            policy,
            np.where(finite, high, 0.0),
            0.0,
            "the instruction gives one of its operands",
        )
    )


def _fused(operands: Sequence[Exact]) -> Result:
    """Inherited from a multiplication followed by an addition: rounded twice, or once."""
    component = operands[0].component
    given = [decode(one.bits, component) for one in operands]
    with np.errstate(all="ignore"):
        middle = given[0] * given[1] + given[2]
    special = ~np.isfinite(middle)
    for numbers in given:
        special = special | ~np.isfinite(numbers)
    tiny = [is_subnormal(one.bits, component) for one in operands]
    lows, highs = [], []
    for flush in range(8) if any(flags.any() for flags in tiny) else (0,):
        x, y, z = (
            np.where(special | (flags & bool(flush >> number & 1)), 0.0, numbers)
            for number, (flags, numbers) in enumerate(zip(tiny, given, strict=True))
        )
        exact = reals.product(x, y)
        twice = reals.downward(exact, component), reals.upward(exact, component)
        limit = float_format(component).maximum
        beyond = ~(np.abs(twice[0]) <= limit) | ~(np.abs(twice[1]) <= limit)
        special = special | beyond
        low, high = (np.where(beyond, 0.0, end) for end in twice)
        lows += [reals.total(exact.low, z).low, reals.total(low, z).low]
        highs += [reals.total(exact.high, z).high, reals.total(high, z).high]
    low, high = np.minimum.reduce(lows), np.maximum.reduce(highs)
    return _between(component, low, high, middle, special, operands)


# --- functions with an error bound ----------------------------------------------------------


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


_FUNCTIONS: dict[VectorOp, Callable[[Floats, Component], tuple[Floats, Floats]]] = {
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


def _bounded(op: VectorOp, operand: Exact) -> Result:
    component = operand.component
    x = decode(operand.bits, component)
    tiny = is_subnormal(operand.bits, component)
    special = ~np.isfinite(x)
    if op is _O.LOG:
        special = special | (x <= 0) | tiny  # undefined, or flushed to what is
    with np.errstate(all="ignore"):
        middle = _EXACT[op](np.where(special, 1.0, x))
        low, high = _FUNCTIONS[op](np.where(special, 1.0, x), component)
        if tiny.any() and op is not _O.LOG:
            zero = _FUNCTIONS[op](np.where(special | tiny, 0.0, x), component)
            low = np.where(tiny, np.minimum(low, zero[0]), low)
            high = np.where(tiny, np.maximum(high, zero[1]), high)
        if op is _O.TANH:
            # Once an exponential may overflow NaN is among the results, and so is anything.
            special = special | (np.exp(np.abs(x)) >= float_format(component).maximum / 2)
    return _between(component, low, high, middle, special, (operand,))


def _between(
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
