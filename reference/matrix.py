"""Multiply-add and the acceptance of plain copies: the meaning of the matrix instructions.

SPV_KHR_cooperative_matrix, OpCooperativeMatrixMulAddKHR: integers are extended to the result's
width as the operands say; without saturation the result is the low bits of the exact one; with it
the product must not overflow, else the result is undefined, and the final addition clamps.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component, MulAdd
from reference.accept import (
    ANYTHING,
    EVERYTHING,
    MINUS_INFINITY,
    NAN,
    PLUS_INFINITY,
    Accept,
    Acceptance,
    Band,
)
from reference.component import Bits, Flags, decode, decode_int, encode_int
from reference.exact import integer_products, signed_parts
from reference.floats import FloatAccept
from reference.latitude import VULKAN, Latitude
from reference.values import Exact, FloatSum, Ranged, Reduced, Scattered, Value


class Undetermined(ValueError):
    """The program uses a value of which the oracle knows too little, or does something whose
    result the specification leaves undefined."""


def multiply_add(statement: MulAdd, a: Value, b: Value, c: Value) -> Value:
    """The value of ``statement``, given its operands'."""
    if (
        not isinstance(a, Exact)
        or not isinstance(b, Exact)
        or isinstance(c, Scattered | Reduced | Ranged)
    ):
        raise Undetermined(f"{statement.result}: an operand's elements are not known exactly")
    component = statement.type.component
    if component.is_float:
        return _float_sum(component, a, b, c)
    if not isinstance(c, Exact):
        raise Undetermined(f"{statement.result}: C is a sum of floats, the result integer")
    return _integer(statement, a, b, c)


def demand_in_range(statement: MulAdd, a: Exact, b: Exact, c: Exact) -> None:
    """Undetermined where some sum of products leaves the range of an integer result: the first
    extension (SPV_NV_cooperative_matrix) leaves overflow undefined."""
    component = statement.type.component
    left = decode_int(a.bits, a.component, statement.a_signed)
    right = decode_int(b.bits, b.component, statement.b_signed)
    third = decode_int(c.bits, c.component, statement.c_signed).astype(np.float64)
    positive, negative = signed_parts(left, right)
    lowest = -(2.0 ** (component.bits - 1)) if component.is_signed else 0.0
    highest = 2.0 ** (component.bits - component.is_signed) - 1
    above = positive + np.maximum(third, 0.0) > highest
    if (above | (negative + np.minimum(third, 0.0) < lowest)).any():
        raise Undetermined(f"{statement.result}: an integer sum overflows")


def _float_sum(component: Component, a: Exact, b: Exact, c: Exact | FloatSum) -> FloatSum:
    if isinstance(c, Exact):
        return FloatSum(component, ((a, b),), c, (component,))
    return FloatSum(component, (*c.products, (a, b)), c.c, (*c.results, component))


def _integer(statement: MulAdd, a: Exact, b: Exact, c: Exact) -> Exact:
    component = statement.type.component
    left = decode_int(a.bits, a.component, statement.a_signed)
    right = decode_int(b.bits, b.component, statement.b_signed)
    third = decode_int(c.bits, c.component, statement.c_signed)
    undefined = _reached(a, b, c)
    assumed = a.assumed or b.assumed or c.assumed
    words = integer_products(left, right)
    addend = np.ascontiguousarray(third).view(np.uint64)
    if not statement.saturating:
        return Exact(component, encode_int(words + addend, component), undefined, assumed)
    if statement.c_signed != statement.result_signed or (
        component.is_signed != statement.result_signed
    ):
        return Exact(component, encode_int(words, component), np.ones(words.shape, bool))
    bits = _saturated(words, addend, component)
    positive, negative = signed_parts(left, right)
    lowest = -(2.0 ** (component.bits - 1)) if component.is_signed else 0.0
    highest = 2.0 ** (component.bits - component.is_signed) - 1
    free = (positive > highest) | (negative < lowest)
    if component.bits == 64:
        free |= positive >= highest
    if undefined is not None:
        free |= undefined
    return Exact(component, bits, free if free.any() else None, assumed)


def _saturated(
    words: NDArray[np.uint64],
    addend: NDArray[np.uint64],
    component: Component,
) -> Bits:
    """The product plus C, clamped to the component."""
    if component.is_signed:
        x, y = words.view(np.int64), addend.view(np.int64)
        total = x + y
        over = ((x ^ total) & (y ^ total)) < 0
        low, high = -(1 << (component.bits - 1)), (1 << (component.bits - 1)) - 1
        total = np.where(over, np.where(x < 0, low, high), np.clip(total, low, high))
        return encode_int(total, component)
    unsigned = words + addend
    over = unsigned < words
    limit = np.uint64((1 << component.bits) - 1)
    unsigned = np.where(over, limit, np.minimum(unsigned, limit))
    return encode_int(unsigned, component)


def _reached(a: Exact, b: Exact, c: Exact) -> Flags | None:
    """Elements of the result that an undefined element of an operand reaches."""
    if a.undefined is None and b.undefined is None and c.undefined is None:
        return None
    reached = np.zeros(c.shape, bool)
    if a.undefined is not None:
        reached |= a.undefined.any(axis=2, keepdims=True)
    if b.undefined is not None:
        reached |= b.undefined.any(axis=1, keepdims=True)
    if c.undefined is not None:
        reached |= c.undefined
    return reached


def acceptance(value: Exact | FloatSum | Ranged, latitude: Latitude = VULKAN) -> Acceptance:
    """What may be found where ``value`` was stored."""
    if isinstance(value, FloatSum):
        return FloatAccept(value, latitude)
    if isinstance(value, Ranged):
        return value.accept
    if value.assumed:
        known = acceptance(dataclasses.replace(value, assumed=False), latitude)
        return dataclasses.replace(
            known.part(slice(None)),
            required=EVERYTHING,
            reason="only the policy on float multiply-adds says what this is",
        )
    if value.component.is_float:
        return _copied_floats(value, latitude)
    band = Band(bits=value.bits)
    if value.undefined is not None:
        flags = np.where(value.undefined, np.uint8(ANYTHING), np.uint8(0))
        band = Band(bits=value.bits, flags=flags)
    return Accept(
        value.component, value.shape, band, band, band, reason="integers are determined, bit by bit"
    )


def _copied_floats(value: Exact, latitude: Latitude) -> Accept:
    """Loads, stores and constants don't change bits, and never flush; but unless an execution
    mode says otherwise, they may assume that there are no NaNs and infinities and ignore the
    sign of a zero (docs/decisions/0003-float-bit-preservation.md)."""
    values = decode(value.bits, value.component)
    finite = np.isfinite(values)
    lowest, highest = np.where(finite, values, np.inf), np.where(finite, values, -np.inf)
    flags = np.where(np.isnan(values), np.uint8(NAN), np.uint8(0))
    flags |= np.where(values == np.inf, np.uint8(PLUS_INFINITY), np.uint8(0))
    flags |= np.where(values == -np.inf, np.uint8(MINUS_INFINITY), np.uint8(0))
    free = np.where(finite, np.uint8(0), np.uint8(ANYTHING))
    undefined = value.undefined
    if undefined is not None:
        flags = np.where(undefined, np.uint8(ANYTHING), flags)
        free = np.where(undefined, np.uint8(ANYTHING), free)
    policy = Band(low=lowest, high=highest, flags=flags)
    required = policy
    if latitude.assumes_no_specials.possible:
        required = Band(low=lowest, high=highest, flags=free)
    tight = Band(bits=value.bits, flags=0 if undefined is None else flags & np.uint8(ANYTHING))
    if not latitude.drops_zero_sign.possible:
        nonzero = np.where(values == 0, np.inf, lowest)
        policy = Band(value.bits, nonzero, highest, flags)
    return Accept(
        value.component,
        value.shape,
        required,
        policy,
        tight,
        exact=values,
        reason="loads, stores and constants keep bits; the sign of a zero, and what becomes of "
        "NaN and infinity, is free without an execution mode that says otherwise",
    )
