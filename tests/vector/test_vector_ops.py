"""Acceptance of element-wise instructions, against arithmetic done another way."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cts.program.types import Component
from cts.program.vector_values import VectorOp
from reference.accept import Level
from reference.component import bits_dtype, decode, encode
from reference.matrix import Undetermined
from reference.values import Exact, Ranged
from reference.vector_ops import apply, times_scalar

F16, F32 = Component.FLOAT16, Component.FLOAT32
S8, U8, S32, U32 = Component.SINT8, Component.UINT8, Component.SINT32, Component.UINT32
O = VectorOp  # noqa: E741


def floats(*values: float, component: Component = F32) -> Exact:
    return Exact(component, encode(np.array(values)[:, None, None], component))


def ints(*values: int, component: Component = S32) -> Exact:
    mask = (1 << component.bits) - 1
    bits = np.array([value & mask for value in values], bits_dtype(component))
    return Exact(component, bits[:, None, None])


def accepted(op: VectorOp, operands: tuple[Exact, ...], result: float) -> bool:
    """Whether the policy band of a one-component operation has ``result``."""
    value = apply(op, operands)
    bits = encode(np.array([[[result]]]), value.component)
    if isinstance(value, Exact):
        return bool((decode(value.bits, value.component) == result).all())
    band = value.accept.band(Level.POLICY)
    return bool(band.contains(bits, decode(bits, value.component), value.component).all())


def exact(op: VectorOp, *operands: Exact) -> list[int]:
    value = apply(op, operands)
    assert isinstance(value, Exact)
    return [int(b) for b in value.bits.ravel()]


def test_integer_instructions() -> None:
    a, b = ints(7, -8, 100), ints(3, 3, -7)
    assert exact(O.IADD, a, b) == [10, 2**32 - 5, 93]
    assert exact(O.ISUB, a, b) == [4, 2**32 - 11, 107]
    assert exact(O.IMUL, a, b) == [21, 2**32 - 24, 2**32 - 700]
    assert exact(O.SDIV, a, b) == [2, 2**32 - 2, 2**32 - 14]
    assert exact(O.SNEGATE, a) == [2**32 - 7, 8, 2**32 - 100]
    assert exact(O.SMIN, a, b) == [3, 2**32 - 8, 2**32 - 7]
    assert exact(O.UMIN, a, b) == [3, 3, 100]
    assert exact(O.UMAX, a, b) == [7, 2**32 - 8, 2**32 - 7]
    assert exact(O.SCLAMP, a, ints(0, 0, 0), ints(5, 5, 5)) == [5, 0, 5]
    assert exact(O.NOT, ints(0, component=U8)) == [255]
    assert exact(O.UDIV, ints(200, component=U8), ints(3, component=U8)) == [66]


def test_shifts_of_narrow_components() -> None:
    a, by = ints(-128, 64, component=S8), ints(3, 1, component=S8)
    assert exact(O.SHIFT_RIGHT_ARITHMETIC, a, by) == [0xF0, 32]
    assert exact(O.SHIFT_RIGHT_LOGICAL, a, by) == [16, 32]
    assert exact(O.SHIFT_LEFT_LOGICAL, a, by) == [0, 128]


def test_what_is_undefined_is_refused() -> None:
    with pytest.raises(Undetermined):
        apply(O.UDIV, (ints(1), ints(0)))
    with pytest.raises(Undetermined):
        apply(O.SHIFT_LEFT_LOGICAL, (ints(1), ints(32)))
    with pytest.raises(Undetermined):
        apply(O.UCLAMP, (ints(1), ints(3), ints(2)))
    with pytest.raises(Undetermined):
        apply(O.FCLAMP, (floats(1), floats(3), floats(2)))


def test_selections_are_exact() -> None:
    x, y = floats(1.5, -2.0), floats(0.5, 3.0)
    assert exact(O.FMIN, x, y) == [0x3F000000, 0xC0000000]
    assert exact(O.NMAX, x, y) == [0x3FC00000, 0x40400000]
    assert accepted(O.STEP, (floats(1.5), floats(0.5)), 0.0)
    assert not accepted(O.STEP, (floats(1.5), floats(0.5)), 1.0)
    assert exact(O.STEP, y, floats(0.5, 4.0)) == [0x3F800000, 0x3F800000]
    assert exact(O.FCLAMP, x, floats(-1, -1), floats(1, 1)) == [0x3F800000, 0xBF800000]


def test_selections_of_specials() -> None:
    nan, inf = floats(float("nan")), floats(float("inf"))
    assert accepted(O.NMIN, (nan, floats(2.0)), 2.0)
    assert not accepted(O.NMIN, (nan, floats(2.0)), 3.0)
    assert accepted(O.FMIN, (nan, floats(2.0)), 3.0)
    assert accepted(O.FMIN, (inf, floats(2.0)), 2.0)
    assert not accepted(O.FMAX, (inf, floats(2.0)), 2.0)
    assert accepted(O.FMAX, (inf, floats(2.0)), float("inf"))


def test_selections_may_flush_subnormals() -> None:
    tiny = floats(2.0**-130)
    for result in (0.0, 2.0**-130):
        assert accepted(O.FMAX, (tiny, floats(0.0)), result)
    assert not accepted(O.FMAX, (tiny, floats(0.0)), 1.0)


def test_a_scalar_multiplies_every_component() -> None:
    vector = Exact(F16, encode(np.array([[[1.0], [2.0], [3.0]]]), F16))
    found = times_scalar(vector, floats(0.5, component=F16))
    assert isinstance(found, Exact)
    assert decode(found.bits, F16).ravel().tolist() == [0.5, 1.0, 1.5]


@given(*(st.floats(-100, 100, width=16) for _ in range(3)))
def test_fma_takes_both_roundings_and_no_more(a: float, b: float, c: float) -> None:
    operands = tuple(floats(value, component=F16) for value in (a, b, c))
    whole = Fraction(a) * Fraction(b) + Fraction(c)
    once = float(np.float16(float(whole)))
    twice = float(np.float16(np.float16(np.float64(a) * b) + np.float64(c)))
    small = any(0 < abs(v) < 2**-14 for v in (a, b, c, once, a * b))
    if math.isfinite(once) and abs(once) < 60000 and not small:
        assert accepted(O.FMA, operands, once)
        assert accepted(O.FMA, operands, twice)
        unit = max(abs(once), abs(a * b), abs(c), 2**-14) * 2**-10
        assert not accepted(O.FMA, operands, once + 4 * unit + 2**-13)


@pytest.mark.parametrize("x", [-20.0, -1.5, 0.0, 0.3, 1.0, 10.0, 80.0])
def test_exp_within_its_units(x: float) -> None:
    operand = (floats(x),)
    value = math.exp(x)
    unit = 2.0 ** (math.floor(math.log2(value)) - 23)
    reach = 3 + 2 * abs(x)
    for offset in (0.0, reach - 1, 1 - reach):
        assert accepted(O.EXP, operand, value + offset * unit)
    assert not accepted(O.EXP, operand, value + (2 * reach + 2) * unit)
    assert not accepted(O.EXP, operand, value * 1.01)


def test_exp_of_a_large_number_is_free() -> None:
    assert accepted(O.EXP, (floats(89.0),), 1.0)


@pytest.mark.parametrize("x", [0.51, 0.9, 1.0, 1.9])
def test_log_has_an_absolute_bound_around_one(x: float) -> None:
    value = float(np.log(np.float64(np.float32(x))))
    assert accepted(O.LOG, (floats(x),), value + 0.9 * 2**-21)
    assert not accepted(O.LOG, (floats(x),), value + 1.5 * 2**-21)


def test_log_of_zero_and_below_is_free() -> None:
    assert accepted(O.LOG, (floats(0.0),), 5.0)
    assert accepted(O.LOG, (floats(-1.0),), 5.0)


def test_atan_of_float16_has_five_units() -> None:
    operand = (floats(1.0, component=F16),)
    value, unit = math.pi / 4, 2.0**-11
    assert accepted(O.ATAN, operand, value + 4.5 * unit)
    assert not accepted(O.ATAN, operand, value + 7 * unit)


@pytest.mark.parametrize("x", [-3.0, -0.5, 0.25, 1.0, 4.0])
def test_tanh_holds_its_value_and_excludes_others(x: float) -> None:
    for component in (F16, F32):
        operand = (floats(x, component=component),)
        assert accepted(O.TANH, operand, math.tanh(x))
        assert not accepted(O.TANH, operand, math.tanh(x) * (0.9 if component is F16 else 0.999))
        assert not accepted(O.TANH, operand, 1.5)


def test_tanh_is_free_once_exp_overflows() -> None:
    assert accepted(O.TANH, (floats(100.0),), 7.0)
    assert not accepted(O.TANH, (floats(50.0),), 7.0)


def test_nan_frees_an_element_alone() -> None:
    value = apply(O.EXP, (floats(float("nan"), 1.0),))
    assert isinstance(value, Ranged)
    bits = encode(np.array([7.0, 7.0])[:, None, None], F32)
    inside = value.accept.band(Level.REQUIRED).contains(bits, decode(bits, F32), F32)
    assert inside.ravel().tolist() == [True, False]
