"""Faults of multiply-adds that show only in some shapes, places or values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component, MulAdd
from reference.adders import Arithmetic, Order
from reference.component import Bits, Rounding, decode, encode, float_format
from reference.machine import Machine, clamped, lowest_bits
from reference.mutants.arithmetic import HAZARDS, SHAPE, SIGNS, Operands
from reference.mutants.base import Mutant, machine_mutant

PRECISION = "precision"


class LateProducts(Operands):
    """Products from k = 16 on are left out where K isn't 16, 32 or 64."""

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        a = np.array(self.values[statement.a])
        if a.shape[2] not in (16, 32, 64):
            a[:, :, 16:] = 0
        return {statement.a: a}


class FirstTwice(Machine):
    """The product of k = 0 is added twice in odd rows."""

    def multiply_add(self, statement: MulAdd) -> Bits:
        usual = super().multiply_add(statement)
        once = dict(self.values)
        a = np.zeros_like(once[statement.a])
        a[:, :, 0] = once[statement.a][:, :, 0]
        self.values[statement.a], self.values[statement.c] = a, usual
        types = dict(self.types)
        self.types = {**types, statement.c: statement.type}
        again = super().multiply_add(statement)
        self.values, self.types = once, types
        odd = (np.arange(usual.shape[1]) % 2 == 1)[None, :, None]
        return np.where(odd, again, usual)


class SquareB(Operands):
    """Square matrices B are used transposed."""

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        b = self.values[statement.b]
        if b.shape[1] == b.shape[2]:
            return {statement.b: np.ascontiguousarray(b.transpose(0, 2, 1))}
        return {}


class LastRowOfA(Operands):
    """The last row of A is the one before it where there are more rows than columns."""

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        a = np.array(self.values[statement.a])
        if a.shape[1] > a.shape[2]:
            a[:, -1] = a[:, -2]
        return {statement.a: a}


class TileOfC(Operands):
    """In odd tiles C is that of the tile before."""

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        c = np.array(self.values[statement.c])
        c[1::2] = c[::2][: len(c[1::2])]
        return {statement.c: c}


class ThroughFloat32(Machine):
    """Sums of integers are kept in float32."""

    def narrow(self, exact: NDArray[np.object_], statement: MulAdd) -> Bits:
        return super().narrow(_integers(exact.astype(np.float32)), statement)


def _integers(values: NDArray[np.float32]) -> NDArray[np.object_]:
    found: NDArray[np.object_] = np.vectorize(int, otypes=[object])(values)
    return found


class ShortProducts(Machine):
    """Each product of integers keeps 16 bits."""

    def product(self, a: NDArray[np.object_], b: NDArray[np.object_]) -> NDArray[np.object_]:
        total: NDArray[np.object_] = 0 * super().product(a, b)
        for k in range(a.shape[2]):
            one = super().product(a[:, :, k : k + 1], b[:, k : k + 1])
            total = total + ((one + 0x8000) % 0x10000 - 0x8000)
        return total


class LowerOnly(Machine):
    """Saturation clamps what is too large, and lets what is too small wrap."""

    def narrow(self, exact: NDArray[np.object_], statement: MulAdd) -> Bits:
        component = statement.type.component
        if statement.saturating:
            high = clamped(np.maximum(exact, 0), component)
            exact = np.where(exact > 0, high, exact)
        return lowest_bits(exact, component)


class Symmetric(Machine):
    """Saturation clamps to the negative of the largest value instead of the smallest."""

    def narrow(self, exact: NDArray[np.object_], statement: MulAdd) -> Bits:
        component = statement.type.component
        if statement.saturating and component.is_signed:
            largest = (1 << (component.bits - 1)) - 1
            exact = np.maximum(np.minimum(exact, largest), -largest)
            return lowest_bits(exact, component)
        return super().narrow(exact, statement)


class SignedClamp(Machine):
    """Saturation of unsigned results uses the signed range."""

    def narrow(self, exact: NDArray[np.object_], statement: MulAdd) -> Bits:
        component = statement.type.component
        if statement.saturating and not component.is_signed:
            return lowest_bits(np.clip(exact, 0, (1 << (component.bits - 1)) - 1), component)
        return super().narrow(exact, statement)


class SignOfB(Machine):
    """The sign of B is that of A."""

    def multiply_add(self, statement: MulAdd) -> Bits:
        changed = dataclasses.replace(statement, b_signed=statement.a_signed)
        return super().multiply_add(changed)


class CarryLost(Machine):
    """The carry out of the low 16 bits is lost when C is added."""

    def integer_multiply_add(self, statement: MulAdd) -> Bits:
        found = super().integer_multiply_add(statement)
        if statement.saturating or statement.type.component.bits <= 16:
            return found
        c = self.operand(statement.c, statement.c_signed)
        product = self.product(
            self.operand(statement.a, statement.a_signed),
            self.operand(statement.b, statement.b_signed),
        )
        carried = ((product & 0xFFFF) + (c & 0xFFFF)) >> 16
        return lowest_bits(product + c - (carried << 16), statement.type.component)


class Sums(Machine):
    """Uses another adder for floats."""

    def adder(self, statement: MulAdd) -> Arithmetic | None:
        """The adder to use; None for the device's own."""
        return None

    def float_multiply_add(self, statement: MulAdd) -> Bits:
        chosen = self.adder(statement)
        if chosen is None:
            return super().float_multiply_add(statement)
        kept = self.behaviour
        self.behaviour = dataclasses.replace(kept, arithmetic=chosen)
        found = super().float_multiply_add(statement)
        self.behaviour = kept
        return found


class TwentyBits(Sums):
    """float32 sums are truncated to 20 fraction bits of the largest addend."""

    def adder(self, statement: MulAdd) -> Arithmetic | None:
        if statement.type.component is not Component.FLOAT32:
            return None
        return Arithmetic(Order.FUSED, fraction_bits=20, block=4)


class BrainSums(Sums):
    """Sums of bfloat16 products are kept in bfloat16 where float32 is advertised."""

    def adder(self, statement: MulAdd) -> Arithmetic | None:
        inputs = self.types[statement.a].component
        if inputs is not Component.BFLOAT16 or statement.type.component is Component.BFLOAT16:
            return None
        return Arithmetic(Order.ASCENDING, accumulator=Component.BFLOAT16)


class CThroughFloat16(Operands):
    """C is rounded to float16 on its way into a float32 sum."""

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        component = self.types[statement.c].component
        if component is not Component.FLOAT32:
            return {}
        c = decode(self.values[statement.c], component)
        half = decode(encode(c, Component.FLOAT16, Rounding.TOWARD_ZERO), Component.FLOAT16)
        return {statement.c: encode(half, component)}


class ProductsThroughFloat16(Machine):
    """Products of float16 are rounded to float16 before a float32 sum."""

    def float_multiply_add(self, statement: MulAdd) -> Bits:
        kinds = (self.types[statement.a].component, statement.type.component)
        if kinds != (Component.FLOAT16, Component.FLOAT32):
            return super().float_multiply_add(statement)
        a, b, c = (
            decode(self.values[name], self.types[name].component)
            for name in (statement.a, statement.b, statement.c)
        )
        with np.errstate(all="ignore"):
            products = a[:, :, :, None] * b[:, None, :, :]
            short = decode(encode(products, Component.FLOAT16), Component.FLOAT16)
            return encode(short.sum(axis=2) + c, statement.type.component)


class NanSpreads(Machine):
    """A NaN anywhere in A makes the whole tile NaN."""

    def float_multiply_add(self, statement: MulAdd) -> Bits:
        found = super().float_multiply_add(statement)
        a = decode(self.values[statement.a], self.types[statement.a].component)
        ill = np.isnan(a).any(axis=(1, 2), keepdims=True)
        nan = found.dtype.type(float_format(statement.type.component).nan_code)
        return np.where(ill, nan, found)


class InfinityLost(Operands):
    """Infinities of B count as the largest finite value."""

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        component = self.types[statement.b].component
        b = self.values[statement.b]
        if not component.is_float:
            return {}
        infinite = np.isinf(decode(b, component))
        return {statement.b: np.where(infinite, b - b.dtype.type(1), b)}


class SecondOfMany(Operands):
    """From the second multiply-add of a program on, the first column of B is that of the first
    multiply-add with the same shape."""

    first: Bits | None = None

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        b = np.array(self.values[statement.b])
        if self.first is None or self.first.shape != b.shape or self.first.dtype != b.dtype:
            self.first = b
            return {}
        b[:, :, 0] = self.first[:, :, 0]
        return {statement.b: b}


class ThirdStale(Machine):
    """The third multiply-add onto one accumulator is lost."""

    depth: dict[str, int]

    def multiply_add(self, statement: MulAdd) -> Bits:
        if not hasattr(self, "depth"):
            self.depth = {}
        depth = self.depth.get(statement.c, 0) + 1
        self.depth[statement.result] = depth
        same = self.types[statement.c] == statement.type
        if depth == 3 and same:
            return self.values[statement.c]
        return super().multiply_add(statement)


MUTANTS: tuple[Mutant, ...] = (
    machine_mutant("k_beyond_16_dropped", SHAPE, LateProducts),
    machine_mutant("first_k_twice_in_odd_rows", SHAPE, FirstTwice),
    machine_mutant("square_b_transposed", SHAPE, SquareB),
    machine_mutant("last_row_of_tall_a", SHAPE, LastRowOfA),
    machine_mutant("c_of_tile_before", HAZARDS, TileOfC),
    machine_mutant("integer_sums_in_float32", SIGNS, ThroughFloat32),
    machine_mutant("integer_products_of_16_bits", SIGNS, ShortProducts),
    machine_mutant("saturates_upward_only", SIGNS, LowerOnly),
    machine_mutant("saturates_symmetrically", SIGNS, Symmetric),
    machine_mutant("unsigned_saturates_as_signed", SIGNS, SignedClamp),
    machine_mutant("sign_of_b_is_that_of_a", SIGNS, SignOfB),
    machine_mutant("carry_lost", SIGNS, CarryLost),
    machine_mutant("sums_of_20_bits", PRECISION, TwentyBits),
    machine_mutant("accumulates_in_bfloat16", PRECISION, BrainSums),
    machine_mutant("c_through_float16", PRECISION, CThroughFloat16),
    machine_mutant("products_through_float16", PRECISION, ProductsThroughFloat16),
    machine_mutant("nan_spreads_over_the_tile", PRECISION, NanSpreads),
    machine_mutant("infinity_becomes_largest", PRECISION, InfinityLost),
    machine_mutant("later_b_has_first_column", HAZARDS, SecondOfMany),
    machine_mutant("third_accumulation_lost", HAZARDS, ThirdStale),
)
