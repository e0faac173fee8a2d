"""Legal choices in the arithmetic of cooperative vectors."""

from __future__ import annotations

import dataclasses

import numpy as np

from cts.program.types import Component
from reference.adders import Arithmetic, Order, multiply_add
from reference.component import Rounding, decode, encode
from reference.legal.base import LegalDevice
from reference.values import Exact, FloatSum
from reference.vector_machine import VectorMachine

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


class VectorsOneAfterAnother(LegalDevice):
    """Cooperative vectors are multiplied in order, with truncation."""

    vector_machine = OneAfterAnother


class VectorsFused(LegalDevice):
    """Cooperative vectors are multiplied with fused adders."""

    vector_machine = Fused


class VectorsFlushing(LegalDevice):
    """Products of cooperative vectors flush subnormals."""

    vector_machine = Flushing
