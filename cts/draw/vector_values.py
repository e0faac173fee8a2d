"""Strategies for element-wise instructions on cooperative vectors: operands that keep each
operation defined.

Excluded are what the specification calls undefined: division by zero, the smallest integer
divided by -1, shifts by the width or more, clamps with crossed bounds, and floats converted to
integers that can't hold them.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from cts.draw.recipes import SEEDS
from cts.program.arithmetic import Conversion
from cts.program.recipe import Pattern, Recipe
from cts.program.types import Component
from cts.program.vector_values import VectorOp
from reference.component import Bits, bits_dtype, decode, decode_int, encode, encode_int
from reference.operands import random_words, realise

_O = VectorOp
FLOATS = (Component.FLOAT16, Component.FLOAT32)
INTEGERS = (Component.SINT8, Component.UINT8, Component.SINT32, Component.UINT32)
_SIGNED = frozenset({_O.SNEGATE, _O.SDIV, _O.SMIN, _O.SMAX, _O.SCLAMP})
_UNSIGNED = frozenset({_O.UDIV, _O.UMIN, _O.UMAX, _O.UCLAMP})


def components_of(op: VectorOp) -> tuple[Component, ...]:
    """Component types that an instruction is checked with. OpUDiv takes unsigned types only; the
    others are of the instruction's signedness where it has one."""
    if op.floating:
        return FLOATS
    if op in _SIGNED:
        return tuple(c for c in INTEGERS if c.is_signed)
    if op in _UNSIGNED:
        return tuple(c for c in INTEGERS if not c.is_signed)
    return INTEGERS


_PATTERNS = (
    Pattern.SMALL,
    Pattern.ONES,
    Pattern.SIGNED,
    Pattern.HALVES,
    Pattern.POWERS,
    Pattern.FULL,
    Pattern.FULL,
    Pattern.SUBNORMALS,
    Pattern.NEAR_MAX,
    Pattern.SPECIALS,
)
_WHOLE = (Pattern.SMALL, Pattern.ONES, Pattern.SIGNED, Pattern.BITS, Pattern.SPECIALS)


@st.composite
def operand(draw: st.DrawFn, component: Component, count: int, length: int) -> Bits:
    """Bits [count, length]."""
    pattern = draw(st.sampled_from(_PATTERNS if component.is_float else _WHOLE), label="pattern")
    made: Bits = realise(Recipe(pattern, draw(SEEDS)), component, count, length, 1)[0]
    return made


@st.composite
def operands(
    draw: st.DrawFn, op: VectorOp, component: Component, count: int, length: int
) -> tuple[Bits, ...]:
    """The operands of ``op``, each [count, length], such that it is defined."""
    if op in (_O.EXP, _O.TANH, _O.ATAN, _O.LOG) and draw(st.booleans(), label="moderate"):
        return (_moderate(component, count, length, draw(SEEDS), positive=op is _O.LOG),)
    found = [draw(operand(component, count, length)) for _ in range(op.operands)]
    if op in (_O.SDIV, _O.UDIV):
        found[1] = _divisors(found[0], found[1], component)
    elif op in (_O.SHIFT_LEFT_LOGICAL, _O.SHIFT_RIGHT_LOGICAL, _O.SHIFT_RIGHT_ARITHMETIC):
        found[1] = (found[1] % component.bits).astype(bits_dtype(component))
    elif op in (_O.UCLAMP, _O.SCLAMP):
        found[1:] = _sorted_integers(found[1], found[2], component, op is _O.SCLAMP)
    elif op in (_O.FCLAMP, _O.NCLAMP):
        found[1:] = _sorted_floats(found[1], found[2], component)
    return tuple(found)


def _moderate(component: Component, count: int, length: int, seed: int, *, positive: bool) -> Bits:
    """Floats where exp, log, tanh and atan have something to say."""
    words = random_words(seed, (count, length))
    values = (words % np.uint64(1 << 20)).astype(np.float64) / (1 << 20) * 20 - 10
    if positive:
        values = np.exp2(values / 2)
    return encode(values, component)


def _divisors(dividend: Bits, divisor: Bits, component: Component) -> Bits:
    """Divisors without zeros, and without -1 under the smallest number."""
    one = divisor.dtype.type(1)
    found = np.where(divisor == 0, one, divisor)
    if component.is_signed:
        smallest = dividend == 1 << (component.bits - 1)
        minus_one = found == (1 << component.bits) - 1
        found = np.where(smallest & minus_one, one, found)
    return found


def _sorted_integers(left: Bits, right: Bits, component: Component, signed: bool) -> list[Bits]:
    x, y = (decode_int(bits, component, signed) for bits in (left, right))
    low, high = np.minimum(x, y), np.maximum(x, y)
    return [encode_int(np.ascontiguousarray(it).view(np.uint64), component) for it in (low, high)]


def _sorted_floats(left: Bits, right: Bits, component: Component) -> list[Bits]:
    """Bounds in order; NaNs would leave the clamp without meaning."""
    x, y = (np.nan_to_num(decode(bits, component), nan=0.0) for bits in (left, right))
    return [encode(np.minimum(x, y), component), encode(np.maximum(x, y), component)]


# --- conversions --------------------------------------------------------------------------------

_F16, _F32 = FLOATS
_S8, _U8, _S32, _U32 = INTEGERS

CONVERSIONS: tuple[tuple[Conversion, Component, Component], ...] = (
    (Conversion.F, _F16, _F32),
    (Conversion.F, _F32, _F16),
    *((Conversion.F_TO_S, a, b) for a in FLOATS for b in (_S8, _S32)),
    *((Conversion.F_TO_U, a, b) for a in FLOATS for b in (_U8, _U32)),
    *((Conversion.S_TO_F, a, b) for a in (_S8, _S32) for b in FLOATS),
    *((Conversion.U_TO_F, a, b) for a in (_U8, _U32) for b in FLOATS),
    (Conversion.U, _U8, _U32),
    (Conversion.U, _U32, _U8),
    (Conversion.S, _S8, _S32),
    (Conversion.S, _S32, _S8),
    (Conversion.BITS, _S32, _U32),
    (Conversion.BITS, _U32, _F32),
    (Conversion.BITS, _F32, _S32),
    (Conversion.BITS, _S8, _U8),
)
"""Conversions between the component types that vectors have."""


@st.composite
def convertible_operand(
    draw: st.DrawFn,
    by: Conversion,
    source: Component,
    target: Component,
    count: int,
    length: int,
) -> Bits:
    """Bits [count, length] whose conversion is defined."""
    if by not in (Conversion.F_TO_S, Conversion.F_TO_U):
        return draw(operand(source, count, length))
    words = random_words(draw(SEEDS), (count, length))
    low = -(2.0 ** (target.bits - 1)) if target.is_signed else 0.0
    high = 2.0 ** (target.bits - target.is_signed) - 1
    limit = 65504.0 if source is Component.FLOAT16 else 2.0**31 - 128
    low, high = max(low, -limit), min(high, limit)
    part = (words >> np.uint64(8)).astype(np.float64) / 2.0**56
    span = draw(st.sampled_from((4.0, 100.0, 2.0**20, 2.0**40)), label="span")
    bottom, top = max(low, -span), min(high, span)
    values = encode(bottom + (top - bottom) * part, source)
    # Rounding to the source may have passed a limit; quarters below it are exact again.
    numbers = np.clip(decode(values, source), low, high)
    return encode(np.trunc(numbers * 4) / 4, source)
