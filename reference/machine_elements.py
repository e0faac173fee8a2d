"""How the concrete machine works on elements: conversions and arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cts.program.arithmetic import Binary, Conversion, Convert, Negate, Operator, Scale
from cts.program.controls import Control, Mode
from cts.program.model import MatrixType, Program
from cts.program.types import Component
from reference.adders import odd_sum
from reference.component import (
    Bits,
    Flags,
    Floats,
    Overflow,
    Rounding,
    bits_dtype,
    decode,
    decode_int,
    encode,
    float_format,
    is_subnormal,
)

if TYPE_CHECKING:
    from reference.machine import Behaviour

_IEEE = {Component.FLOAT16, Component.FLOAT32, Component.FLOAT64}
_FLOAT8 = {Component.FLOAT8_E4M3, Component.FLOAT8_E5M2}


class ElementSteps:
    """The steps; :class:`reference.machine.Machine` has them, and mutants override them."""

    program: Program
    values: dict[str, Bits]
    types: dict[str, MatrixType]
    behaviour: Behaviour

    # --- what the program's float controls ask for -------------------------------------------

    def controlled(self, mode: Mode, component: Component) -> bool:
        """Whether the program asks for ``mode`` for a component."""
        return component in _IEEE and Control(mode, component.bits) in self.program.controls

    def direction(self, component: Component) -> Rounding:
        """How results are rounded to a component."""
        if self.controlled(Mode.TO_EVEN, component):
            return Rounding.NEAREST_EVEN
        if self.controlled(Mode.TO_ZERO, component):
            return Rounding.TOWARD_ZERO
        return self.behaviour.arithmetic.rounding

    def flushes(self, component: Component) -> bool:
        """Whether subnormals of a component become zero."""
        if self.controlled(Mode.DENORM_FLUSH, component):
            return True
        if self.controlled(Mode.DENORM_PRESERVE, component):
            return False
        return self.behaviour.arithmetic.flushes

    def keeps_specials(self, component: Component) -> bool:
        """Whether the program asks that NaN and the sign of zero count."""
        return Control(Mode.SPECIALS, component.bits) in self.program.controls

    # --- conversions ---------------------------------------------------------------------------

    def convert_elements(self, statement: Convert) -> Bits:
        """The elements of a conversion."""
        source = self.types[statement.value].component
        bits, target = self.values[statement.value], statement.type.component
        match statement.by:
            case Conversion.BITS:
                return bits
            case Conversion.U | Conversion.S:
                signed = statement.by is Conversion.S
                return _low(decode_int(bits, source, signed).astype(object), target)
            case Conversion.F_TO_U | Conversion.F_TO_S:
                whole = np.vectorize(int, otypes=[object])(np.trunc(decode(bits, source)))
                return _low(whole, target)
            case Conversion.U_TO_F | Conversion.S_TO_F:
                signed = statement.by is Conversion.S_TO_F
                whole = decode_int(bits, source, signed).astype(object)
                if target is Component.FLOAT64:  # as wide as the carrier: it is rounded here
                    nearest = self.direction(target) is Rounding.NEAREST_EVEN
                    numbers = (whole if nearest else _cut_number(whole)).astype(np.float64)
                else:
                    numbers = _odd_number(whole).astype(np.float64)
                return self.to_float(numbers, target, statement.saturating)
            case Conversion.F:
                keeps = target is Component.FLOAT16 and source in _FLOAT8
                numbers = decode(bits, source)
                if self.flushes(source) and not keeps:
                    numbers = _vanished(numbers, is_subnormal(bits, source))
                return self.to_float(numbers, target, statement.saturating, keeps)

    def to_float(
        self, numbers: Floats, target: Component, saturating: bool = False, keeps: bool = False
    ) -> Bits:
        """Numbers rounded to a component; bfloat16 goes by way of float32."""
        if target is Component.BFLOAT16:
            through = encode(numbers, Component.FLOAT32, self.direction(Component.FLOAT32))
            numbers = decode(through, Component.FLOAT32)
        if self.flushes(target) and not keeps:
            least = float_format(target).minimum_normal
            numbers = _vanished(numbers, np.abs(numbers) < least)
        direction = self.direction(target)
        overflow = Overflow.IEEE
        if target in _FLOAT8:
            overflow = Overflow.SATURATE if saturating else self.beyond(direction)
        return encode(numbers, target, direction, overflow)

    def beyond(self, direction: Rounding) -> Overflow:
        """What becomes of numbers out of the range of a float8."""
        nearest = direction is Rounding.NEAREST_EVEN
        return Overflow.IEEE if nearest else Overflow.SPECIAL

    # --- arithmetic ------------------------------------------------------------------------------

    def negate(self, statement: Negate) -> Bits:
        """The negative of every element."""
        component = self.types[statement.value].component
        bits = self.values[statement.value]
        if component.is_integer:
            return bits.dtype.type(0) - bits
        flipped = bits ^ bits.dtype.type(float_format(component).sign_bit)
        if not self.flushes(component):
            return flipped
        zero = flipped & flipped.dtype.type(float_format(component).sign_bit)
        return np.where(is_subnormal(bits, component), zero, flipped)

    def binary(self, statement: Binary) -> Bits:
        """Two matrices, element by element."""
        left, right = self.values[statement.left], self.values[statement.right]
        return self.compute(statement.operator, left, right, self.types[statement.left].component)

    def scale(self, statement: Scale) -> Bits:
        """A matrix times a scalar."""
        bits, component = self.values[statement.value], self.types[statement.value].component
        scalar = np.full((1, 1, 1), statement.bits, bits_dtype(component))
        return self.compute(Operator.MULTIPLY, bits, scalar, component)

    def compute(self, operator: Operator, left: Bits, right: Bits, component: Component) -> Bits:
        """``left operator right`` element by element."""
        if component.is_integer:
            x, y = (decode_int(it, component).astype(object) for it in (left, right))
            return _low(_INTEGERS[operator](x, y), component)
        numbers = [decode(it, component) for it in (left, right)]
        if self.flushes(component):
            tiny = (is_subnormal(it, component) for it in (left, right))
            numbers = [_vanished(n, t) for t, n in zip(tiny, numbers, strict=True)]
        x, y = numbers
        with np.errstate(all="ignore"):
            match operator:
                case Operator.ADD:
                    found = odd_sum(x, y)
                case Operator.SUBTRACT:
                    found = odd_sum(x, np.negative(y))
                case Operator.MULTIPLY:
                    found = x * y
                case Operator.DIVIDE:
                    found = x / y
        if component is Component.FLOAT64:
            found = self._double(operator, x, y)
        least = float_format(component).minimum_normal
        if self.flushes(component):
            found = _vanished(found, np.abs(found) < least)
        return encode(found, component, self.direction(component))

    def _double(self, operator: Operator, x: Floats, y: Floats) -> Floats:
        """binary64 is as wide as the carrier, so it has to be rounded here."""
        with np.errstate(all="ignore"):
            found: Floats = _NATIVE[operator](x, y)
        if self.direction(Component.FLOAT64) is Rounding.NEAREST_EVEN:
            return found
        cut: Callable[..., Floats] = np.vectorize(_cut, excluded={0}, otypes=[np.float64])
        return cut(operator, x, y, found)


def _vanished(numbers: Floats, where: Flags) -> Floats:
    """Numbers with zeros of the same sign in some places."""
    return np.where(where, np.copysign(0.0, numbers), numbers)


def _cut(operator: Operator, x: float, y: float, found: float) -> float:
    """``found``, the number nearest to the exact result, moved toward zero if it is beyond it."""
    if not (np.isfinite(x) and np.isfinite(y)) or (operator is Operator.DIVIDE and y == 0):
        return found
    exact = _NATIVE[operator](Fraction(x), Fraction(y))
    if np.isinf(found) or abs(Fraction(found)) > abs(exact):
        return float(np.nextafter(found, 0.0))
    return found


_NATIVE: dict[Operator, Callable[[Any, Any], Any]] = {
    Operator.ADD: lambda x, y: x + y,
    Operator.SUBTRACT: lambda x, y: x - y,
    Operator.MULTIPLY: lambda x, y: x * y,
    Operator.DIVIDE: lambda x, y: x / y,
}

Wholes = NDArray[np.object_]


def _quotient(x: int, y: int) -> int:
    """x / y of integers, cut toward zero."""
    found = abs(x) // abs(y)
    return found if (x < 0) == (y < 0) else -found


_INTEGERS: dict[Operator, Callable[[Any, Any], Any]] = {
    **_NATIVE,
    Operator.DIVIDE: np.vectorize(_quotient, otypes=[object]),
}


def _low(exact: Wholes, component: Component) -> Bits:
    """The low bits of integers of any size."""
    mask = (1 << component.bits) - 1
    found: Bits = (exact & mask).astype(np.uint64).astype(bits_dtype(component))
    return found


@np.vectorize
def _odd_number(exact: int) -> float:
    """An integer as binary64, rounded to odd where it has too many bits."""
    excess = max(abs(exact).bit_length() - 53, 0)
    kept = abs(exact) >> excess
    if excess and abs(exact) & ((1 << excess) - 1):
        kept |= 1
    return float(kept << excess) * (-1 if exact < 0 else 1)


@np.vectorize(otypes=[object])
def _cut_number(exact: int) -> int:
    """An integer without the bits that binary64 has no room for."""
    excess = max(abs(exact).bit_length() - 53, 0)
    kept = abs(exact) >> excess << excess
    return -kept if exact < 0 else kept
