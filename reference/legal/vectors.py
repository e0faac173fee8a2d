"""Legal choices in the arithmetic of cooperative vectors."""

from __future__ import annotations

import dataclasses

import numpy as np

from cts.program.types import Buffer, Component
from cts.program.vector import MatrixMul, OuterProduct, ReduceSum
from reference.adders import Arithmetic, Order, multiply_add
from reference.component import Floats, Rounding, decode, encode, rounded
from reference.legal.base import LegalDevice
from reference.values import Exact, FloatSum
from reference.vector_machine import Positions, VectorMachine

_FLOAT8 = {Component.FLOAT8_E4M3, Component.FLOAT8_E5M2}


class _Summing(VectorMachine):
    """Sums products with an adder of its own."""

    def adder(self, chain: FloatSum) -> Arithmetic:
        """The adder."""
        return Arithmetic()

    def summed(self, chain: FloatSum) -> Exact:
        ((matrix, vector),) = chain.products
        a, b = (decode(it.bits, it.component) for it in (matrix, vector))
        c = decode(chain.c.bits, chain.c.component)
        found = multiply_add(self.adder(chain), a, b, c, chain.component)
        with np.errstate(all="ignore"):
            return Exact(chain.component, encode(found, chain.component))


class OneAfterAnother(_Summing):
    """One product after the other, each sum cut to the result's type."""

    def adder(self, chain: FloatSum) -> Arithmetic:
        return Arithmetic(Order.ASCENDING, Rounding.TOWARD_ZERO)


class Fused(_Summing):
    """Fused adders of 16 products; those of 8-bit floats have 13 fraction bits."""

    def adder(self, chain: FloatSum) -> Arithmetic:
        inputs = {operand.component for pair in chain.products for operand in pair}
        bits = 13 if inputs & _FLOAT8 else 24
        return Arithmetic(Order.FUSED, fraction_bits=bits, block=16)


class Flushing(_Summing):
    """Flushes subnormals."""

    def adder(self, chain: FloatSum) -> Arithmetic:
        return dataclasses.replace(Arithmetic(Order.PAIRWISE), flushes=True)


class InputsCut(VectorMachine):
    """Cuts inputs toward zero where their interpretation is a narrower float."""

    def given(self, it: MatrixMul) -> Exact:
        value = super().given(it)
        wide, narrow = value.component, it.interpretation
        if not (wide.is_float and narrow.is_float and narrow.bits < wide.bits):
            return value
        with np.errstate(all="ignore"):
            cut = rounded(decode(value.bits, wide), narrow, Rounding.TOWARD_ZERO)
            return Exact(wide, encode(cut, wide), value.undefined)


class Backwards(VectorMachine):
    """Adds to memory from the last invocation to the first; cuts products and sums."""

    def accumulate(self, it: ReduceSum, buffer: Buffer, positions: Positions, value: Exact) -> None:
        turned = Exact(value.component, value.bits[::-1])
        super().accumulate(it, buffer, positions[::-1], turned)

    def accumulate_product(
        self, it: OuterProduct, buffer: Buffer, at: Positions, a: Exact, b: Exact
    ) -> None:
        left, right = (Exact(one.component, one.bits[::-1]) for one in (a, b))
        super().accumulate_product(it, buffer, at[::-1], left, right)

    def add(self, buffer: Buffer, positions: Positions, numbers: Floats, kind: Component) -> None:
        before = decode(self.gathered(buffer, positions, kind), kind)
        with np.errstate(all="ignore"):
            addends = rounded(numbers, kind, Rounding.TOWARD_ZERO)
            after = rounded(before + addends, kind, Rounding.TOWARD_ZERO)
            self.write(buffer, positions, encode(after, kind), kind)


class VectorsOneAfterAnother(LegalDevice):
    """Cooperative vectors are multiplied in order, with truncation."""

    vector_machine = OneAfterAnother


class VectorsFused(LegalDevice):
    """Cooperative vectors are multiplied with fused adders."""

    vector_machine = Fused


class VectorsFlushing(LegalDevice):
    """Products of cooperative vectors flush subnormals."""

    vector_machine = Flushing


class VectorsBackwards(LegalDevice):
    """Cooperative vectors add to memory in the order of falling numbers, with truncation."""

    vector_machine = Backwards


class VectorsCut(LegalDevice):
    """Inputs of cooperative vector products are cut to a narrower float interpretation."""

    vector_machine = InputsCut
