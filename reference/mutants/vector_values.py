"""Faults of cooperative vectors: element-wise instructions, constants, single components."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cts.program.types import Component
from cts.program.vector import Index
from cts.program.vector_program import VectorStatement
from cts.program.vector_values import Constant, Elementwise, Extract, Insert, Make, Pick, VectorOp
from reference.component import bits_dtype, decode, encode
from reference.mutants.vector import vector_mutant
from reference.values import Exact
from reference.vector_lanes import LaneValue
from reference.vector_machine import VectorMachine

_O = VectorOp


class _Swapped(VectorMachine):
    """Takes one instruction for another."""

    wrong: ClassVar[dict[VectorOp, VectorOp]]

    def statement(self, it: VectorStatement) -> None:
        if isinstance(it, Elementwise) and it.op in self.wrong:
            it = dataclasses.replace(it, op=self.wrong[it.op])
        super().statement(it)


class ArithmeticShiftIsLogical(_Swapped):
    """An arithmetic shift to the right fills with zeros."""

    wrong: ClassVar = {_O.SHIFT_RIGHT_ARITHMETIC: _O.SHIFT_RIGHT_LOGICAL}


class SignedMinimumUnsigned(_Swapped):
    """SMin compares as UMin does."""

    wrong: ClassVar = {_O.SMIN: _O.UMIN}


class StepReversed(VectorMachine):
    """Step takes its edge for the value."""

    def statement(self, it: VectorStatement) -> None:
        if isinstance(it, Elementwise) and it.op is _O.STEP:
            it = dataclasses.replace(it, operands=it.operands[::-1])
        super().statement(it)


class _Inexact(VectorMachine):
    """Results of an instruction off by a relative error."""

    ops: tuple[VectorOp, ...]
    error: float

    def statement(self, it: VectorStatement) -> None:
        super().statement(it)
        if not isinstance(it, Elementwise) or it.op not in self.ops:
            return
        value = self.exact(it.result)
        numbers = decode(value.bits, value.component)
        with np.errstate(all="ignore"):
            self.assign(
                it.result,
                Exact(value.component, encode(numbers * (1 + self.error), value.component)),
            )


class FunctionsInaccurate(_Inexact):
    """Exp, Tanh and Atan have an error of one percent."""

    ops = (_O.EXP, _O.TANH, _O.ATAN)
    error = 0.01


class DivisionInaccurate(_Inexact):
    """OpFDiv has an error of a thousandth."""

    ops = (_O.FDIV,)
    error = 0.001


class NullIsGarbage(VectorMachine):
    """OpConstantNull holds ones."""

    def statement(self, it: VectorStatement) -> None:
        if isinstance(it, Constant) and it.form is Make.NULL:
            it = dataclasses.replace(it, form=Make.CONSTANT, bits=(1,))
        super().statement(it)


class SpecConstantsIgnored(VectorMachine):
    """Specialised constants in a vector keep their default, zero."""

    def statement(self, it: VectorStatement) -> None:
        forms = (Make.SPEC_CONSTANT, Make.SPEC_REPLICATE)
        if isinstance(it, Constant) and it.form in forms:
            it = dataclasses.replace(it, bits=(0,))
        super().statement(it)


class ReplicateFirstOnly(VectorMachine):
    """A replicated constant fills the first component only."""

    def statement(self, it: VectorStatement) -> None:
        if isinstance(it, Constant) and it.form.splat and it.bits:
            bits = (it.bits[0],) + (0,) * (it.type.length - 1)
            it = dataclasses.replace(it, form=Make.CONSTANT, bits=bits)
        super().statement(it)


class DynamicIndexUniform(VectorMachine):
    """A dynamic index is that of the first active invocation."""

    _dynamic = False

    def statement(self, it: VectorStatement) -> None:
        self._dynamic = isinstance(it, Extract | Insert)
        super().statement(it)
        self._dynamic = False

    def index(self, index: Index, in_workgroup: bool = False) -> NDArray[np.int64]:
        found = super().index(index, in_workgroup)
        return np.broadcast_to(found[:1], found.shape) if self._dynamic else found


class ArrayElementZero(VectorMachine):
    """An array of vectors gives its first element whatever the index."""

    def statement(self, it: VectorStatement) -> None:
        if isinstance(it, Pick):
            it = dataclasses.replace(it, index=Index(0))
        super().statement(it)


class SubnormalsGarbage(VectorMachine):
    """Subnormal float16 results become the smallest normal number."""

    def kept(self, value: LaneValue) -> LaneValue:
        found = super().kept(value)
        if not isinstance(found, Exact) or found.component is not Component.FLOAT16:
            return found
        code = found.bits & bits_dtype(found.component).type(0x7FFF)
        tiny = (code > 0) & (code < 0x400)
        bits = np.where(tiny, found.bits.dtype.type(0x400), found.bits)
        return dataclasses.replace(found, bits=bits)


MUTANTS = (
    vector_mutant("vector_arithmetic_shift_is_logical", ArithmeticShiftIsLogical),
    vector_mutant("vector_signed_minimum_unsigned", SignedMinimumUnsigned),
    vector_mutant("vector_step_reversed", StepReversed),
    vector_mutant("vector_functions_inaccurate", FunctionsInaccurate),
    vector_mutant("vector_division_inaccurate", DivisionInaccurate),
    vector_mutant("vector_null_is_garbage", NullIsGarbage),
    vector_mutant("vector_spec_constants_ignored", SpecConstantsIgnored),
    vector_mutant("vector_replicate_first_only", ReplicateFirstOnly),
    vector_mutant("vector_dynamic_index_uniform", DynamicIndexUniform),
    vector_mutant("vector_array_element_zero", ArrayElementZero),
    vector_mutant("vector_subnormals_garbage", SubnormalsGarbage),
)
