"""Faults of multiply-adds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component, MulAdd, Program
from reference.adders import Order
from reference.component import Bits
from reference.machine import Behaviour, Machine, clamped, lowest_bits
from reference.mutants.base import machine_mutant

SHAPE = "shape"
SIGNS = "signedness, saturation"
HAZARDS = "hazards and register pressure"


class Operands(Machine):
    """Multiplies operands that may be changed just for the multiplication."""

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        """Replacements for operands, by name."""
        return {}

    def multiply_add(self, statement: MulAdd) -> Bits:
        kept = dict(self.values)
        self.values.update(self.changed(statement))
        result = super().multiply_add(statement)
        self.values = kept
        return result


class SecondTileZero(Operands):
    """Columns from the ninth on see B = 0."""

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        b = np.array(self.values[statement.b])
        b[:, :, 8:] = 0
        return {statement.b: b}


class LastDropped(Operands):
    """The products of the last k are left out."""

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        a = np.array(self.values[statement.a])
        a[:, :, -1] = 0
        return {statement.a: a}


class CIgnored(Operands):
    """C counts as zero where the matrices are not square."""

    def changed(self, statement: MulAdd) -> Mapping[str, Bits]:
        c = self.values[statement.c]
        return {statement.c: np.zeros_like(c)} if c.shape[1] != c.shape[2] else {}


class Swapped(Machine):
    """Where M and N differ, the result is laid out as if it had N rows and M columns."""

    def multiply_add(self, statement: MulAdd) -> Bits:
        result = super().multiply_add(statement)
        if result.shape[1] == result.shape[2]:
            return result
        return np.ascontiguousarray(result.transpose(0, 2, 1)).reshape(result.shape)


class WrongSign(Machine):
    """Integer elements of A are zero-extended, signed or not."""

    def multiply_add(self, statement: MulAdd) -> Bits:
        return super().multiply_add(dataclasses.replace(statement, a_signed=False))


class SameSign(Machine):
    """A and B are extended as C is."""

    def multiply_add(self, statement: MulAdd) -> Bits:
        signed = statement.c_signed
        changed = dataclasses.replace(statement, a_signed=signed, b_signed=signed)
        return super().multiply_add(changed)


class Wraps(Machine):
    """Saturating multiply-adds wrap."""

    def narrow(self, exact: NDArray[np.object_], statement: MulAdd) -> Bits:
        return lowest_bits(exact, statement.type.component)


class Saturates(Machine):
    """Multiply-adds that should wrap saturate."""

    def narrow(self, exact: NDArray[np.object_], statement: MulAdd) -> Bits:
        return lowest_bits(clamped(exact, statement.type.component), statement.type.component)


class SaturatesEachStep(Machine):
    """Saturation is applied after each product, to the sum so far with C in it."""

    def integer_multiply_add(self, statement: MulAdd) -> Bits:
        if not statement.saturating:
            return super().integer_multiply_add(statement)
        component = statement.type.component
        a = self.operand(statement.a, statement.a_signed)
        b = self.operand(statement.b, statement.b_signed)
        total = self.operand(statement.c, statement.c_signed)
        for k in range(a.shape[2]):
            total = clamped(total + self.product(a[:, :, k : k + 1], b[:, k : k + 1]), component)
        return lowest_bits(total, component)


class SixteenBitProducts(Machine):
    """The product of integer matrices is clamped to 16 bits before C is added."""

    def product(self, a: NDArray[np.object_], b: NDArray[np.object_]) -> NDArray[np.object_]:
        return clamped(super().product(a, b), Component.SINT16)


class HalfSums(Machine):
    """float32 sums are kept in float16."""

    def float_multiply_add(self, statement: MulAdd) -> Bits:
        if statement.type.component is not Component.FLOAT32:
            return super().float_multiply_add(statement)
        kept = self.behaviour
        half = dataclasses.replace(
            kept.arithmetic, order=Order.ASCENDING, accumulator=Component.FLOAT16
        )
        self.behaviour = dataclasses.replace(kept, arithmetic=half)
        result = super().float_multiply_add(statement)
        self.behaviour = kept
        return result


class StaleAccumulator(Machine):
    """A multiply-add that takes the previous one's result as C sees that one's own C."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, bytes],
        behaviour: Behaviour | None = None,
    ) -> None:
        super().__init__(program, inputs, behaviour)
        self.previous: MulAdd | None = None

    def multiply_add(self, statement: MulAdd) -> Bits:
        used = statement
        last = self.previous
        if (
            last is not None
            and statement.c == last.result
            and self.types[last.c] == self.types[last.result]
        ):
            used = dataclasses.replace(statement, c=last.c)
        self.previous = statement
        return super().multiply_add(used)


class NinthLosesOne(Machine):
    """From the ninth multiply-add of a program on, the last element of the result is lost."""

    count = 0

    def multiply_add(self, statement: MulAdd) -> Bits:
        result = np.array(super().multiply_add(statement))
        self.count += 1
        if self.count >= 9:
            result[:, -1, -1] = 0
        return result


MUTANTS = (
    machine_mutant("second_n_tile_sees_zero", SHAPE, SecondTileZero),
    machine_mutant("last_k_dropped", SHAPE, LastDropped),
    machine_mutant("c_ignored_unless_square", SHAPE, CIgnored),
    machine_mutant("m_and_n_swapped", SHAPE, Swapped),
    machine_mutant("sign_of_a_ignored", SIGNS, WrongSign),
    machine_mutant("sign_of_c_used", SIGNS, SameSign),
    machine_mutant("wraps_instead_of_saturating", SIGNS, Wraps),
    machine_mutant("saturates_instead_of_wrapping", SIGNS, Saturates),
    machine_mutant("saturates_each_step", SIGNS, SaturatesEachStep),
    machine_mutant("product_clamped_to_16_bits", SIGNS, SixteenBitProducts),
    machine_mutant("accumulates_in_float16", "precision", HalfSums),
    machine_mutant("stale_accumulator", HAZARDS, StaleAccumulator),
    machine_mutant("ninth_accumulator_loses_one", HAZARDS, NinthLosesOne),
)
