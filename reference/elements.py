"""Per-element operations, element coordinates and use conversions: exact where every step is.

An element that some step would round, flush or take to infinity counts as undefined: of these
functions only the exact results are judged. None of the three instructions is on the list of those
that keep bits (VkSpec, "Precision and Operation of SPIR-V Instructions"), so a subnormal may be
flushed and a NaN may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cts.program.expression import (
    Apply,
    Axis,
    Choose,
    Condition,
    Element,
    Expression,
    Extra,
    Number,
    Operator,
    Place,
)
from cts.program.matrix2 import ConvertUse, Locate, PerElement
from cts.program.types import Component
from reference.component import (
    Bits,
    Flags,
    bits_dtype,
    decode,
    decode_int,
    encode,
    encode_int,
    is_subnormal,
)
from reference.settle import settled
from reference.values import Exact, Value


def per_element(statement: PerElement, values: Mapping[str, Value]) -> Exact:
    """The value of a per-element operation."""
    name = statement.result
    element = settled(values[statement.value], name)
    scalars = [
        Exact(element.component, np.full((1, 1, 1), bits, bits_dtype(element.component)))
        for bits in statement.scalars
    ]
    extras = [*scalars, *(settled(values[m], name) for m in statement.matrices)]
    return _Function(element, extras).run(statement.function)


def located(statement: Locate, values: Mapping[str, Value]) -> Exact:
    """The value of a matrix whose components are functions of their coordinates."""
    return _Function(settled(values[statement.value], statement.result), ()).run(statement.function)


def use_converted(statement: ConvertUse, values: Mapping[str, Value]) -> Exact:
    """The value of a use conversion."""
    source = settled(values[statement.value], statement.result)
    component = statement.type.component
    bits = source.bits
    unknown = np.zeros(bits.shape, bool) if source.undefined is None else source.undefined
    if source.component is not component:
        bits, changed = _converted(source, component)
        unknown = unknown | changed
    elif component.is_float:
        unknown = unknown | _unkept(bits, component)
    if statement.transpose:
        bits, unknown = bits.transpose(0, 2, 1), unknown.transpose(0, 2, 1)
    return Exact(component, bits, unknown if unknown.any() else None, source.assumed)


def _unkept(bits: Bits, component: Component) -> Flags:
    """Where a float isn't kept for sure."""
    return ~np.isfinite(decode(bits, component)) | is_subnormal(bits, component)


def _converted(source: Exact, component: Component) -> tuple[Bits, Flags]:
    """(the converted elements, where the conversion isn't exact)."""
    if source.component.is_integer and component.is_integer:
        return encode_int(decode_int(source.bits, source.component), component), np.zeros(
            source.bits.shape, bool
        )
    numbers = decode(source.bits, source.component)
    inexact = np.zeros(numbers.shape, bool)
    if source.component.is_float:
        inexact |= _unkept(source.bits, source.component)
    else:
        inexact |= np.abs(numbers) > 2.0**53
    if component.is_float:
        bits = encode(np.where(inexact, 0.0, numbers), component)
        inexact |= (decode(bits, component) != numbers) | _unkept(bits, component)
        return bits, inexact
    low = -(2.0 ** (component.bits - 1)) if component.is_signed else 0.0
    high = min(2.0 ** (component.bits - component.is_signed) - 1, 2.0**53)
    whole = np.trunc(numbers)
    inexact |= ~((whole >= low) & (whole <= high))
    return encode_int(np.where(inexact, 0.0, whole).astype(np.int64), component), inexact


class _Function:
    """One expression over all elements of all tiles."""

    def __init__(self, element: Exact, extras: Sequence[Exact]) -> None:
        self.element = element
        self.extras = extras
        self.component = element.component
        self.shape = element.shape
        self.unknown: Flags = np.zeros(self.shape, bool)

    def run(self, function: Expression) -> Exact:
        bits = self._value(function)
        if self.component.is_float:
            self.unknown = self.unknown | _unkept(bits, self.component)
        bits = np.broadcast_to(bits, self.shape)
        unknown = np.broadcast_to(self.unknown, self.shape)
        assumed = self.element.assumed or any(it.assumed for it in self.extras)
        return Exact(self.component, bits, unknown if unknown.any() else None, assumed)

    def _known(self, given: Exact) -> Bits:
        if given.undefined is not None:
            self.unknown = self.unknown | given.undefined
        return given.bits

    def _places(self, axis: Axis) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        _, rows, columns = self.shape
        if axis is Axis.ROW:
            return np.arange(rows).reshape(1, rows, 1)
        return np.arange(columns).reshape(1, 1, columns)

    def _value(self, it: Expression) -> Bits:
        match it:
            case Element():
                return self._known(self.element)
            case Extra(index=index):
                return self._known(self.extras[index])
            case Number(bits=bits):
                return np.full((1, 1, 1), bits, bits_dtype(self.component))
            case Place(axis=axis):
                places = self._places(axis)
                if self.component.is_integer:
                    return encode_int(places, self.component)
                return self._exact(places.astype(np.float64))
            case Choose(test=test, yes=yes, no=no):
                return np.where(self._holds(test), self._value(yes), self._value(no))
            case Apply(operator=operator, left=left, right=right):
                x, y = self._value(left), self._value(right)
                if self.component.is_integer:
                    return self._integers(operator, x, y)
                return self._floats(operator, x, y)

    def _holds(self, test: Condition) -> Flags:
        rows, columns = self._places(Axis.ROW), self._places(Axis.COLUMN)
        match test:
            case Condition.BELOW_DIAGONAL:
                return np.greater(rows, columns)
            case Condition.DIAGONAL:
                return np.equal(rows, columns)
            case Condition.ODD_ROW:
                return np.equal(rows % 2, 1)
            case Condition.ODD_COLUMN:
                return np.equal(columns % 2, 1)

    def _integers(self, operator: Operator, x: Bits, y: Bits) -> Bits:
        a, b = decode_int(x, self.component), decode_int(y, self.component)
        with np.errstate(over="ignore"):
            match operator:
                case Operator.ADD:
                    found = a + b
                case Operator.SUB:
                    found = a - b
                case Operator.MUL:
                    found = a * b
                case Operator.MIN:
                    found = np.minimum(a, b)
                case Operator.MAX:
                    found = np.maximum(a, b)
                case Operator.AND:
                    found = a & b
                case Operator.OR:
                    found = a | b
                case Operator.XOR:
                    found = a ^ b
        return encode_int(found, self.component)

    def _floats(self, operator: Operator, x: Bits, y: Bits) -> Bits:
        a, b = decode(x, self.component), decode(y, self.component)
        self.unknown = self.unknown | _unkept(x, self.component) | _unkept(y, self.component)
        with np.errstate(all="ignore"):
            match operator:
                case Operator.ADD:
                    return self._exact(a + b)
                case Operator.SUB:
                    return self._exact(a - b)
                case Operator.MUL:
                    return self._exact(a * b)
                case Operator.MIN:
                    return np.where(a < b, x, y)
                case _:
                    return np.where(a < b, y, x)

    def _exact(self, numbers: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Bits:
        """Numbers as the component holds them; unknown where it would round."""
        bits = encode(numbers, self.component)
        inexact = decode(bits, self.component) != numbers
        if self.component is Component.FLOAT64:
            # binary64 can't tell whether it rounded: only whole numbers are taken for exact.
            inexact |= (numbers != np.rint(numbers)) | (np.abs(numbers) > 2.0**52)
        self.unknown = self.unknown | inexact
        return bits
