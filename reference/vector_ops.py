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
)
from reference.elementwise import binary, negate
from reference.matrix import Undetermined
from reference.values import Exact, Ranged
from reference.vector_functions import FUNCTIONS, between, bounded

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
    if op in FUNCTIONS:
        return bounded(op, operands[0])
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
    return between(component, low, high, middle, special, operands)
