"""Machines that make other legal choices than the reference device where it works on values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from cts.device.protocol import Dispatch, Reply
from cts.program.arithmetic import Operator
from cts.program.controls import Mode
from cts.program.expression import Apply, Choose, Element, Expression, Extra, Number
from cts.program.expression import Operator as Combine
from cts.program.matrix2 import ConvertUse, PerElement, Reduce
from cts.program.model import Address, Load, MatrixType, MulAdd, Robust, Store
from cts.program.types import Component
from reference.adders import Arithmetic, Order
from reference.component import (
    Bits,
    Flags,
    Floats,
    Overflow,
    Rounding,
    bits_dtype,
    decode,
    encode,
    float_format,
    is_nan,
    is_subnormal,
)
from reference.legal.base import LegalDevice
from reference.machine import Machine

_FLOAT8 = {Component.FLOAT8_E4M3, Component.FLOAT8_E5M2}


class _ByTypes(Machine):
    """Chooses the adder of a multiply-add by its types."""

    def adder(self, a: Component, b: Component, result: Component) -> Arithmetic | None:
        """The adder, if it isn't the device's usual one."""
        return None

    def float_multiply_add(self, statement: MulAdd) -> Bits:
        a, b = self.types[statement.a].component, self.types[statement.b].component
        chosen = self.adder(a, b, statement.type.component)
        if chosen is None:
            return super().float_multiply_add(statement)
        kept = self.behaviour
        self.behaviour = dataclasses.replace(kept, arithmetic=chosen)
        found = super().float_multiply_add(statement)
        self.behaviour = kept
        return found


class WideEnough(_ByTypes):
    """Keeps sums of an 8-bit result in float16 at least, and has no short adders for float64, as
    the suite's policy asks."""

    def adder(self, a: Component, b: Component, result: Component) -> Arithmetic | None:
        arithmetic = self.behaviour.arithmetic
        if result is Component.FLOAT64 and arithmetic.order in (Order.FUSED, Order.UNIT_ERRORS):
            return Arithmetic(Order.ASCENDING)
        if result not in _FLOAT8 or arithmetic.accumulator is not None:
            return None
        return dataclasses.replace(arithmetic, accumulator=Component.FLOAT16)


class ShortFloat8Sums(_ByTypes):
    """Sums products of 8-bit floats with 13 fraction bits, and all others with 25."""

    def adder(self, a: Component, b: Component, result: Component) -> Arithmetic | None:
        bits = 13 if {a, b} & _FLOAT8 else 25
        if Component.FLOAT64 in (a, b):
            return None
        return Arithmetic(Order.FUSED, fraction_bits=bits, block=16)


class ShortFloat32Inputs(Machine):
    """Rounds float32 operands of a product to 11 significant bits."""

    def float_multiply_add(self, statement: MulAdd) -> Bits:
        kept = dict(self.values)
        for name in (statement.a, statement.b):
            if self.types[name].component is Component.FLOAT32:
                self.values[name] = kept[name] & np.uint32(0xFFFFE000)
        found = super().float_multiply_add(statement)
        self.values = kept
        return found


class NoSpecials(Machine):
    """Takes it that operands of multiply-adds are no NaN and no infinity: they count as zero."""

    def float_multiply_add(self, statement: MulAdd) -> Bits:
        kept = dict(self.values)
        for name in (statement.a, statement.b, statement.c):
            bits, component = kept[name], self.types[name].component
            special = ~np.isfinite(decode(bits, component))
            self.values[name] = np.where(special, bits.dtype.type(0), bits)
        found = super().float_multiply_add(statement)
        self.values = kept
        return found


class MixedDirections(Machine):
    """Rounds every second element of element-wise arithmetic and of conversions up, the others
    down."""

    way: Rounding | None = None

    def direction(self, component: Component) -> Rounding:
        asked = any(self.controlled(mode, component) for mode in (Mode.TO_EVEN, Mode.TO_ZERO))
        return super().direction(component) if self.way is None or asked else self.way

    def compute(self, operator: Operator, left: Bits, right: Bits, component: Component) -> Bits:
        found = []
        for self.way in (Rounding.UP, Rounding.DOWN):
            found.append(super().compute(operator, left, right, component))
        self.way = None
        return _alternating(*found)

    def to_float(
        self, numbers: Floats, target: Component, saturating: bool = False, keeps: bool = False
    ) -> Bits:
        found = []
        for self.way in (Rounding.UP, Rounding.DOWN):
            found.append(super().to_float(numbers, target, saturating, keeps))
        self.way = None
        return _alternating(*found)


def _alternating(one: Bits, other: Bits) -> Bits:
    places = np.indices(one.shape).sum(axis=0)
    return np.where(places % 2 == 1, one, other)


class InexactDivision(Machine):
    """Divides float16 and float32 with an error of two units in the last place."""

    def compute(self, operator: Operator, left: Bits, right: Bits, component: Component) -> Bits:
        found = super().compute(operator, left, right, component)
        if operator is not Operator.DIVIDE or component not in _DIVIDED:
            return found
        form = float_format(component)
        codes = (found & found.dtype.type(form.sign_bit - 1)).astype(np.int64)
        lowest = 1 << (form.precision - 1)
        moved = np.where(codes % 2 == 0, found + found.dtype.type(2), found - found.dtype.type(2))
        inside = (codes >= lowest + 2) & (codes <= form.maximum_code - 2)
        return np.where(inside, moved, found)


_DIVIDED = {Component.FLOAT16, Component.FLOAT32}


class Contracting(Machine):
    """Evaluates functions of elements with wide intermediate values, as contraction and
    rearrangement allow where nothing is decorated NoContraction."""

    def function(
        self,
        expression: Expression,
        component: Component,
        where: Mapping[str, Bits],
        element: Bits,
        extras: list[Bits],
    ) -> Bits:
        if self.program.precise or not component.is_float:
            return super().function(expression, component, where, element, extras)
        with np.errstate(all="ignore"):
            numbers = self._wide(expression, component, where, element, extras)
        plain = isinstance(expression, Element | Extra | Number | Choose)
        if plain:  # what only moves bits keeps them
            return super().function(expression, component, where, element, extras)
        return encode(numbers, component)

    def _wide(
        self,
        expression: Expression,
        component: Component,
        where: Mapping[str, Bits],
        element: Bits,
        extras: list[Bits],
    ) -> Floats:
        if not isinstance(expression, Apply):
            exact = super().function(expression, component, where, element, extras)
            return decode(exact, component)
        left = self._wide(expression.left, component, where, element, extras)
        right = self._wide(expression.right, component, where, element, extras)
        found: Floats = _WIDE[expression.operator](left, right)
        return found


_WIDE: dict[Combine, Callable[[Floats, Floats], Floats]] = {
    Combine.ADD: lambda x, y: x + y,
    Combine.SUB: lambda x, y: x - y,
    Combine.MUL: lambda x, y: x * y,
    Combine.MIN: np.minimum,
    Combine.MAX: np.maximum,
}


class FlushesEverywhere(Machine):
    """Flushes subnormals wherever an instruction isn't listed as preserving bits: reductions,
    per-element operations, conversions of use and transposes too."""

    def reduce(self, statement: Reduce) -> Bits:
        return self._flushed(super().reduce(statement), statement.type.component)

    def per_element(self, statement: PerElement) -> Bits:
        return self._flushed(super().per_element(statement), statement.type.component)

    def convert_use(self, statement: ConvertUse) -> Bits:
        return self._flushed(super().convert_use(statement), statement.type.component)

    def _flushed(self, bits: Bits, component: Component) -> Bits:
        if not component.is_float:
            return bits
        return np.where(is_subnormal(bits, component), bits.dtype.type(0), bits)


class OverflowsToSpecial(Machine):
    """Turns what is out of the range of an 8-bit float into NaN or infinity before rounding."""

    def beyond(self, direction: Rounding) -> Overflow:
        return Overflow.SPECIAL


class OtherNaNs(Machine):
    """Loads change the payload and the sign of every NaN."""

    def load(self, statement: Load) -> Bits:
        bits, component = super().load(statement), statement.type.component
        if not component.is_float:
            return bits
        form = float_format(component)
        other = bits_dtype(component).type(form.sign_bit | form.sign_bit - 1)
        return np.where(is_nan(bits, component), other, bits)


class Elsewhere(Machine):
    """With robustBufferAccess alone, loads out of bounds repeat an element of the buffer, and
    stores out of bounds go over its first line."""

    def load(self, statement: Load) -> Bits:
        found = super().load(statement)
        inside = self._inside(statement.type, statement.address)
        return found if inside is None else np.where(inside, found, found[inside][-1])

    def store(self, statement: Store) -> None:
        super().store(statement)
        type = self.types[statement.value]
        inside = self._inside(type, statement.address)
        if inside is None:
            return
        where, image = self.region(type, statement.address), self.images[statement.address.buffer]
        bits, stored = where.read(image), self.values[statement.value]
        rows, columns = inside[0].all(axis=1), inside[0].all(axis=0)
        if rows.all() or not rows.any():
            bits[:, :, 0] = stored[:, :, int(columns.argmin())]
        else:
            bits[:, 0] = stored[:, int(rows.argmin())]
        where.write(image, np.where(inside, bits, where.read(image)))

    def _inside(self, type: MatrixType, address: Address) -> Flags | None:
        """Which elements are in bounds, where that makes a difference."""
        if self.program.robust is not Robust.ONE:
            return None
        inside = self.in_bounds(self.region(type, address), address.buffer)
        return None if inside is None or inside.all() or not inside.any() else inside


class Restless(LegalDevice):
    """Sums in another order at every run."""

    ORDERS = (Order.ASCENDING, Order.PAIRWISE, Order.DESCENDING)
    _runs = 0

    def _dispatch(self, request: Dispatch) -> Reply:
        buffers: tuple[bytes, ...] = ()
        for _ in range(request.repeat):
            self._runs += 1
            order = self.ORDERS[self._runs % len(self.ORDERS)]
            arithmetic = dataclasses.replace(self.behaviour.arithmetic, order=order)
            self.behaviour = dataclasses.replace(self.behaviour, arithmetic=arithmetic)
            once = super()._dispatch(dataclasses.replace(request, repeat=1))
            buffers += once.buffers
        return Reply(buffers=buffers)
