"""Matrix-vector products (SPV_NV_cooperative_vector, OpCooperativeVectorMatrixMulAddNV).

All arrays have one tile for each invocation: matrices [invocations, M, K], inputs
[invocations, K, 1], biases and results [invocations, M, 1].
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cts.program.types import Component
from cts.program.vector import MatrixMul
from reference.accept import ANYTHING, EVERYTHING, Accept, Band, Level
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
    round_down,
    round_up,
)
from reference.exact import integer_products
from reference.floats import FloatAccept
from reference.matrix import Undetermined
from reference.values import Exact, FloatSum, Ranged

PACKED = {
    Component.SINT8_PACKED: Component.SINT8,
    Component.UINT8_PACKED: Component.UINT8,
}
"""What a packed interpretation's components are."""


def interpreted(it: MatrixMul, value: Exact) -> Exact:
    """The input converted to the type of its interpretation: integers saturate, floats become
    integers by rounding to nearest even and saturating, packed types are bit casts with the
    lower components in the lower bits. A narrower float is rounded to nearest even here; what
    else it may be is :func:`product`'s business. NaN is no integer: undefined."""
    source, target = value.component, it.interpretation
    if target in PACKED:
        raw = np.ascontiguousarray(value.bits, "<u4").view(np.uint8)
        unpacked = raw.reshape(len(raw), -1, 1)[:, : it.k]
        return Exact(PACKED[target], unpacked, None, value.assumed)
    if source == target:
        return value
    if target.is_float:
        numbers = _numbers(value, it.input_signed)
        bits = encode(numbers, target)
        return Exact(target, bits, value.undefined, value.assumed)
    low = -(1 << (target.bits - 1)) if target.is_signed else 0
    high = (1 << (target.bits - target.is_signed)) - 1
    undefined = value.undefined
    if source.is_float:
        numbers = decode(value.bits, source)
        nan = np.isnan(numbers)
        if nan.any():
            undefined = nan if undefined is None else undefined | nan
        whole = np.rint(np.clip(np.where(nan, 0.0, numbers), low, high)).astype(np.int64)
    else:
        # Every 32-bit integer fits in 64 signed bits, so one clip does for both signednesses.
        whole = np.clip(_integers(value.bits, source, it.input_signed), low, high)
    return Exact(target, encode_int(whole.view(np.uint64), target), undefined, value.assumed)


def _integers(bits: Bits, component: Component, signed: bool) -> np.ndarray:
    return decode_int(bits, component, signed).astype(np.int64)


def _numbers(value: Exact, signed: bool) -> Floats:
    if value.component.is_float:
        return decode(value.bits, value.component)
    return decode_int(value.bits, value.component, signed).astype(np.float64)


def product(
    it: MatrixMul, given: Exact, matrix: Exact, bias: Exact | None
) -> Exact | FloatSum | Ranged:
    """What the product may be, from the input as it was given, the matrix as it is multiplied
    (transposed already), and the bias."""
    vector = interpreted(it, given)
    component = it.type.component
    if component.is_integer:
        return _integer(component, vector, matrix, bias)
    zeros = np.zeros((len(vector.bits), it.type.length, 1), bits_dtype(component))
    c = bias if bias is not None else Exact(component, zeros)
    chain = FloatSum(component, ((matrix, vector),), c, (component,))
    kept = decode(given.bits, given.component)
    rounded = decode(vector.bits, vector.component)
    if given.component.is_float and not np.array_equal(kept, rounded, equal_nan=True):
        return _narrowed(chain, given, vector.component)
    return chain


def _integer(component: Component, vector: Exact, matrix: Exact, bias: Exact | None) -> Exact:
    """The low bits of the exact sum: integer operations wrap at the result's precision."""
    weights = decode_int(matrix.bits, matrix.component)
    words = integer_products(
        weights.astype(np.int64), decode_int(vector.bits, vector.component).astype(np.int64)
    )
    assumed = vector.assumed or matrix.assumed
    if bias is not None:
        addend = decode_int(bias.bits, bias.component).astype(np.int64)
        words = words + np.ascontiguousarray(addend).view(np.uint64)
        assumed = assumed or bias.assumed
    undefined: Flags | None = None
    if vector.undefined is not None:
        undefined = np.broadcast_to(
            vector.undefined.any(axis=(1, 2), keepdims=True), words.shape
        ).copy()
    return Exact(component, encode_int(words, component), undefined, assumed)


def _narrowed(chain: FloatSum, given: Exact, narrow: Component) -> Ranged:
    """An input that its interpretation can't hold should be rounded to it, but may keep its bits;
    each component anything from its lower to its upper neighbour.

    The exact sum then lies between the sums of the smallest and of the largest products. What
    the additions lose is bounded by the bound for the largest magnitudes.
    """
    ((matrix, _),) = chain.products
    numbers = decode(given.bits, given.component)
    with np.errstate(invalid="ignore"):
        low, high = round_down(numbers, narrow), round_up(numbers, narrow)
    usable = np.isfinite(numbers) & np.isfinite(low) & np.isfinite(high)
    numbers, low, high = (np.where(usable, it, 0.0) for it in (numbers, low, high))
    away = np.where(np.abs(low) > np.abs(high), low, high)
    away = np.where(np.abs(numbers) > np.abs(away), numbers, away)
    wide = Component.FLOAT32
    largest = replace(chain, products=((matrix, Exact(wide, encode(away, wide))),))
    radius = _radius(largest)
    weights = decode(matrix.bits, matrix.component)
    ends = weights * low.transpose(0, 2, 1), weights * high.transpose(0, 2, 1)
    c = decode(chain.c.bits, chain.c.component)
    component = chain.component
    slack = chain.slots * 2.0**-50
    size = np.maximum(np.abs(ends[0]), np.abs(ends[1])).sum(axis=2, keepdims=True) + np.abs(c)
    least = np.minimum(*ends).sum(axis=2, keepdims=True) + c - radius - size * slack
    most = np.maximum(*ends).sum(axis=2, keepdims=True) + c + radius + size * slack
    free = ~usable.all(axis=(1, 2), keepdims=True)
    free = (
        free | ~np.isfinite(radius) | (np.maximum(-least, most) > float_format(component).maximum)
    )
    least, most = np.where(free, 0.0, least), np.where(free, 0.0, most)
    flags = np.where(free, np.uint8(ANYTHING), np.uint8(0))
    band = Band(low=round_down(least, component), high=round_up(most, component), flags=flags)
    middle = weights @ numbers + c
    bound = np.maximum(most - middle, middle - least)
    return Ranged(
        Accept(
            component,
            chain.shape,
            EVERYTHING,
            band,
            band,
            middle,
            bound,
            "an input that its interpretation can't hold should be rounded, but may keep its bits",
        )
    )


def _radius(chain: FloatSum) -> Floats:
    """Half the width of the policy's interval."""
    accept = FloatAccept(chain).part(slice(None))
    interval = accept.band(Level.POLICY).interval()
    if interval is None:
        raise Undetermined("a float product without a bound")
    low, high = interval
    with np.errstate(invalid="ignore"):
        return np.broadcast_to((high - low) / 2, chain.shape)
