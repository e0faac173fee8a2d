"""Faults of arithmetic on elements, of conversions and of constructions."""

from __future__ import annotations

import dataclasses

import numpy as np

from cts.program.arithmetic import Binary, Conversion, Convert, Negate, Operator, Scale
from cts.program.model import Component, Form, Splat
from reference.component import (
    Bits,
    Floats,
    Rounding,
    decode,
    decode_int,
    encode,
    float_format,
    is_nan,
)
from reference.machine import Machine, lowest_bits
from reference.mutants.base import machine_mutant

CONVERSION = "conversion"
ARITHMETIC = "arithmetic on elements"
CONSTANTS = "constants"
FLOAT8 = {Component.FLOAT8_E4M3, Component.FLOAT8_E5M2}


class Source(Machine):
    """Converts sources that may be changed just for the conversion."""

    def changed(self, statement: Convert, bits: Bits, component: Component) -> Bits:
        """What is converted instead."""
        return bits

    def convert_elements(self, statement: Convert) -> Bits:
        kept = self.values[statement.value]
        component = self.types[statement.value].component
        self.values[statement.value] = self.changed(statement, kept, component)
        result = super().convert_elements(statement)
        self.values[statement.value] = kept
        return result


class TiesAway(Machine):
    """Conversions round ties away from zero, even where ties to even is asked for."""

    def direction(self, component: Component) -> Rounding:
        found = super().direction(component)
        return Rounding.NEAREST_AWAY if found is Rounding.NEAREST_EVEN else found


class TowardZero(Machine):
    """Conversions and arithmetic cut toward zero where ties to even is asked for."""

    def direction(self, component: Component) -> Rounding:
        found = super().direction(component)
        return Rounding.TOWARD_ZERO if found is Rounding.NEAREST_EVEN else found


class LowBitsLost(Source):
    """The low 16 bits of float32 elements don't reach the conversion."""

    def changed(self, statement: Convert, bits: Bits, component: Component) -> Bits:
        if component is not Component.FLOAT32:
            return bits
        return bits & np.uint32(0xFFFF0000)


class OddRowsOff(Machine):
    """Conversions to float16 are off by one unit in odd rows."""

    def convert_elements(self, statement: Convert) -> Bits:
        result = np.array(super().convert_elements(statement))
        if statement.type.component is Component.FLOAT16:
            odd = result[:, 1::2]
            plain = np.isfinite(decode(odd, Component.FLOAT16)) & (odd & 0x7FFF != 0)
            odd[plain] ^= np.uint16(1)
        return result


class NanToInfinity(Machine):
    """A NaN that is converted from bfloat16 becomes an infinity."""

    def convert_elements(self, statement: Convert) -> Bits:
        result = np.array(super().convert_elements(statement))
        component = statement.type.component
        source = self.types[statement.value].component
        if source is Component.BFLOAT16 and component.is_float:
            lost = is_nan(self.values[statement.value], source)
            result[lost] = encode(np.full(1, np.inf), component)[0]
        return result


class NeighbourSaturates(Machine):
    """A conversion to float8 saturates if the one before it should."""

    before = False

    def convert_elements(self, statement: Convert) -> Bits:
        used = statement
        if statement.type.component in FLOAT8:
            used = dataclasses.replace(statement, saturating=self.before)
            self.before = statement.saturating
        return super().convert_elements(used)


class NeverSaturates(Machine):
    """Only positive elements saturate in conversions to float8."""

    def to_float(
        self, numbers: Floats, target: Component, saturating: bool = False, keeps: bool = False
    ) -> Bits:
        plain = super().to_float(numbers, target, False, keeps)
        if not saturating:
            return plain
        return np.where(numbers < 0, plain, super().to_float(numbers, target, True, keeps))


class Nearest(Source):
    """Floats are rounded to the nearest integer on their way to signed integers."""

    def changed(self, statement: Convert, bits: Bits, component: Component) -> Bits:
        if statement.by is not Conversion.F_TO_S:
            return bits
        whole = np.rint(decode(bits, component))
        limit = 2.0 ** (statement.type.component.bits - 1)
        inside = (whole >= -limit) & (whole < limit)
        return np.where(inside, encode(whole, component), bits)


class NegativeBytes(Source):
    """Negative 8-bit integers are taken for unsigned ones on their way to floats."""

    def convert_elements(self, statement: Convert) -> Bits:
        source = self.types[statement.value].component
        if statement.by is Conversion.S_TO_F and source.bits == 8:
            statement = dataclasses.replace(statement, by=Conversion.U_TO_F)
        return super().convert_elements(statement)


class SignExtended(Machine):
    """Unsigned integers of 8 bits are sign-extended when they become wider."""

    def convert_elements(self, statement: Convert) -> Bits:
        source = self.types[statement.value].component
        if statement.by is Conversion.U and source.bits == 8:
            statement = dataclasses.replace(statement, by=Conversion.S)
        return super().convert_elements(statement)


class SignOfType(Machine):
    """Integers are converted as signed as their types are, whatever the instruction says."""

    def convert_elements(self, statement: Convert) -> Bits:
        signed = self.types[statement.value].component.is_signed
        for pair in ((Conversion.U, Conversion.S), (Conversion.U_TO_F, Conversion.S_TO_F)):
            if statement.by in pair:
                statement = dataclasses.replace(statement, by=pair[signed])
        return super().convert_elements(statement)


class ByHalf(Source):
    """float32 becomes bfloat16 by way of float16."""

    def changed(self, statement: Convert, bits: Bits, component: Component) -> Bits:
        target = statement.type.component
        if component is not Component.FLOAT32 or target is not Component.BFLOAT16:
            return bits
        half = encode(decode(bits, component), Component.FLOAT16)
        return encode(decode(half, Component.FLOAT16), component)


class Keeps16(Machine):
    """Conversions between integers of 32 bits keep the low 16 of negative ones."""

    def convert_elements(self, statement: Convert) -> Bits:
        result = super().convert_elements(statement)
        if statement.by is not Conversion.BITS or statement.type.component.bits != 32:
            return result
        return np.where(result >> np.uint32(31) == 1, result & np.uint32(0xFFFF), result)


class EightColumns(Machine):
    """A scalar multiplies the first eight columns only."""

    def scale(self, statement: Scale) -> Bits:
        result = np.array(super().scale(statement))
        result[:, :, 8:] = self.values[statement.value][:, :, 8:]
        return result


class ScaledTwice(Machine):
    """A scalar multiplies the last row twice."""

    def scale(self, statement: Scale) -> Bits:
        result = np.array(super().scale(statement))
        component = self.types[statement.value].component
        scalar = np.full((1, 1, 1), statement.bits, result.dtype)
        again = self.compute(Operator.MULTIPLY, result[:, -1:], scalar, component)
        result[:, -1:] = again
        return result


class SecondWorkgroup(Machine):
    """Subtraction swaps its operands in every workgroup but the first."""

    def binary(self, statement: Binary) -> Bits:
        result = super().binary(statement)
        if statement.operator is not Operator.SUBTRACT:
            return result
        swapped = dataclasses.replace(statement, left=statement.right, right=statement.left)
        other = super().binary(swapped)
        first = np.arange(len(result)) < self.program.grid.subgroups
        return np.where(first[:, None, None], result, other)


class Floors(Machine):
    """Quotients of signed integers are rounded down."""

    def binary(self, statement: Binary) -> Bits:
        component = self.types[statement.left].component
        if statement.operator is not Operator.DIVIDE or not component.is_signed:
            return super().binary(statement)
        x, y = (
            decode_int(self.values[name], component).astype(object)
            for name in (statement.left, statement.right)
        )
        return lowest_bits(x // y, component)


class CoarseQuotients(Machine):
    """Quotients of floats are off by three units."""

    def binary(self, statement: Binary) -> Bits:
        result = super().binary(statement)
        component = self.types[statement.left].component
        if statement.operator is not Operator.DIVIDE or not component.is_float:
            return result
        form = float_format(component)
        code = result & result.dtype.type(form.sign_bit - 1)
        least = result.dtype.type(1 << (form.precision - 1))
        plain = (code > least + 8) & (code < form.maximum_code - 8)
        return np.where(plain, result + result.dtype.type(3), result)


class ShortMultiplier(Machine):
    """Products of 32-bit integers use the low 24 bits of the operands."""

    def binary(self, statement: Binary) -> Bits:
        component = self.types[statement.left].component
        result = super().binary(statement)
        if statement.operator is not Operator.MULTIPLY or component.bits != 32:
            return result
        if component.is_float:
            return result
        mask = np.uint32(0xFFFFFF)
        left, right = (self.values[it] & mask for it in (statement.left, statement.right))
        return self.compute(Operator.MULTIPLY, left, right, component)


class SaturatingNegation(Machine):
    """The negative of the smallest integer is the largest."""

    def negate(self, statement: Negate) -> Bits:
        result = super().negate(statement)
        component = self.types[statement.value].component
        lowest = result.dtype.type(1 << (component.bits - 1))
        if not component.is_signed:
            return result
        return np.where(result == lowest, lowest - result.dtype.type(1), result)


class DefaultScalar(Machine):
    """Composites of specialization constants hold the constant's default."""

    def splat(self, statement: Splat) -> Bits:
        bits = super().splat(statement)
        return np.zeros_like(bits) if statement.form is Form.SPEC_CONSTANT else bits


class EvenColumns(Machine):
    """Replicated composites fill the even columns only."""

    def splat(self, statement: Splat) -> Bits:
        bits = np.array(super().splat(statement))
        if statement.form is Form.REPLICATE:
            bits[:, :, 1::2] = 0
        return bits


class InitializerLost(Machine):
    """Initializers of variables fill the first tile of a workgroup only."""

    def splat(self, statement: Splat) -> Bits:
        bits = np.array(super().splat(statement))
        if statement.form in (Form.INITIALIZER, Form.PRIVATE):
            first = np.arange(len(bits)) % self.program.grid.subgroups == 0
            bits[~first] = 0
        return bits


MUTANTS = (
    machine_mutant("convert_ties_away", CONVERSION, TiesAway),
    machine_mutant("rounding_mode_ignored", CONVERSION, TowardZero),
    machine_mutant("convert_low_16_bits_lost", CONVERSION, LowBitsLost),
    machine_mutant("convert_odd_rows_off_by_one", CONVERSION, OddRowsOff),
    machine_mutant("convert_bfloat16_nan_to_infinity", CONVERSION, NanToInfinity),
    machine_mutant("convert_neighbour_saturates", CONVERSION, NeighbourSaturates),
    machine_mutant("convert_negative_never_saturates", CONVERSION, NeverSaturates),
    machine_mutant("convert_to_integer_nearest", CONVERSION, Nearest),
    machine_mutant("convert_negative_bytes_unsigned", CONVERSION, NegativeBytes),
    machine_mutant("convert_unsigned_sign_extended", CONVERSION, SignExtended),
    machine_mutant("convert_sign_of_type", CONVERSION, SignOfType),
    machine_mutant("convert_bfloat16_by_way_of_float16", CONVERSION, ByHalf),
    machine_mutant("bitcast_negative_keeps_16_bits", CONVERSION, Keeps16),
    machine_mutant("scale_first_eight_columns", ARITHMETIC, EightColumns),
    machine_mutant("scale_last_row_twice", ARITHMETIC, ScaledTwice),
    machine_mutant("subtract_swapped_in_second_workgroup", ARITHMETIC, SecondWorkgroup),
    machine_mutant("divide_rounds_down", ARITHMETIC, Floors),
    machine_mutant("divide_off_by_three_units", ARITHMETIC, CoarseQuotients),
    machine_mutant("multiply_low_24_bits", ARITHMETIC, ShortMultiplier),
    machine_mutant("negate_saturates", ARITHMETIC, SaturatingNegation),
    machine_mutant("spec_constant_composite_default", CONSTANTS, DefaultScalar),
    machine_mutant("replicate_even_columns", CONSTANTS, EvenColumns),
    machine_mutant("initializer_first_tile_only", CONSTANTS, InitializerLost),
)
