"""Runs cooperative vector programs concretely: the reference device.

Each step is a method, so that a mutant can get one of them wrong. Of results with more than one
legal value this machine takes the nearest.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cts.program.types import Buffer, Component
from cts.program.vector import MatrixLayout, OuterProduct, ReduceSum, VectorStore, Weights
from cts.program.vector_program import VectorProgram
from reference.accept import (
    ANYTHING,
    MINUS_INFINITY,
    MINUS_MAXIMUM,
    NAN,
    PLUS_INFINITY,
    PLUS_MAXIMUM,
    Accept,
    Level,
)
from reference.component import Bits, bits_dtype, decode, encode, float_format
from reference.exact import sum_products
from reference.values import Exact, FloatSum, Ranged
from reference.vector_lanes import LaneValue, Pieces, exactly
from reference.vector_opaque import optimal_positions
from reference.vector_walk import Walk

Positions = NDArray[np.int64]


class VectorMachine(Walk):
    """One run of a program on its buffers."""

    def __init__(self, program: VectorProgram, inputs: Mapping[str, bytes]) -> None:
        super().__init__(program, inputs)

    def results(self) -> dict[str, bytes]:
        """Run the program; the bytes of every buffer afterwards."""
        self.run()
        return {name: memory.tobytes() for name, memory in self.memory.items()}

    # --- values -----------------------------------------------------------------------------

    def kept(self, value: LaneValue) -> LaneValue:
        """One of the legal results."""
        if isinstance(value, FloatSum):
            return self.summed(value)
        if isinstance(value, Ranged):
            return Exact(value.component, _nearest(value.accept))
        return value

    def summed(self, chain: FloatSum) -> Exact:
        """A float product: the sum rounded once."""
        pairs = [
            (decode(a.bits, a.component), decode(b.bits, b.component)) for a, b in chain.products
        ]
        c = decode(chain.c.bits, chain.c.component)
        with np.errstate(all="ignore"):
            total = sum_products(pairs, c, True, True).value
        return Exact(chain.component, encode(total, chain.component))

    # --- memory -----------------------------------------------------------------------------

    def store(self, it: VectorStore, buffer: Buffer, positions: Positions, pieces: Pieces) -> None:
        """Write vectors."""
        value = exactly(pieces, self.lanes, it.value)
        self.write(buffer, positions, value.bits, value.component)

    def store_numbers(self, buffer: Buffer, positions: Positions) -> None:
        """Write the number of each invocation."""
        self.write(buffer, positions, self.number().bits, Component.UINT32)

    def write(self, buffer: Buffer, positions: Positions, bits: Bits, component: Component) -> None:
        """Write components, whose bytes lie at ``positions`` [..., bytes]."""
        data = np.ascontiguousarray(bits.astype(bits_dtype(component)))
        self.memory[buffer.name][positions] = data.view(np.uint8).reshape(positions.shape)

    def optimal(self, weights: Weights, at: Positions, rows: int, columns: int) -> Bits:
        """Matrices in one of this device's optimal layouts."""
        component = weights.interpretation
        inner = optimal_positions(rows, columns, weights.layout, component.bytes)
        distinct, which = np.unique(at, return_inverse=True)
        buffer = self.program.buffer(weights.place.buffer)
        # A device that understates sizes gets too little memory and reads on behind it.
        last = len(self.memory[buffer.name]) - 1
        positions = np.minimum(distinct[:, None, None, None] + inner, last)
        return self.gathered(buffer, positions, component)[which]

    # --- accumulation -----------------------------------------------------------------------

    def accumulate(self, it: ReduceSum, buffer: Buffer, positions: Positions, value: Exact) -> None:
        """Add vectors to memory, one invocation after the other."""
        numbers = decode(value.bits, value.component)[..., 0]
        for lane in range(len(positions)):
            self.add(buffer, positions[lane], numbers[lane], value.component)

    def accumulate_product(
        self, it: OuterProduct, buffer: Buffer, at: Positions, a: Exact, b: Exact
    ) -> None:
        """Add outer products to matrices, one invocation after the other."""
        left, right = decode(a.bits, a.component), decode(b.bits, b.component)
        inner = optimal_positions(
            left.shape[1],
            right.shape[1],
            MatrixLayout.TRAINING_OPTIMAL,
            it.interpretation.bytes,
        )
        for lane in range(len(at)):
            products = left[lane] @ right[lane].T
            self.add(buffer, at[lane] + inner, products, it.interpretation)

    def add(
        self, buffer: Buffer, positions: Positions, numbers: NDArray[np.float64], kind: Component
    ) -> None:
        """Add numbers to memory, one rounding each."""
        before = decode(self.gathered(buffer, positions, kind), kind)
        with np.errstate(all="ignore"):
            after = encode(before + numbers, kind)
        self.write(buffer, positions, after, kind)


def _nearest(accept: Accept) -> Bits:
    """The exact result rounded to nearest, or one of the specials that are expected."""
    component = accept.component
    form = float_format(component)
    assert accept.exact is not None
    bits = np.broadcast_to(encode(accept.exact, component), accept.shape).copy()
    band = accept.band(Level.POLICY)
    good = accept.tight.contains(bits, decode(bits, component), component)
    flags = np.broadcast_to(np.asarray(band.flags), accept.shape)
    infinity = form.infinity_code if form.infinity_code is not None else form.nan_code
    for flag, code in (
        (ANYTHING, form.nan_code),
        (PLUS_MAXIMUM, form.maximum_code),
        (MINUS_MAXIMUM, form.maximum_code | form.sign_bit),
        (PLUS_INFINITY, infinity),
        (MINUS_INFINITY, infinity | form.sign_bit),
        (NAN, form.nan_code),
    ):
        chosen = ~good & ((flags & flag) != 0)
        bits[chosen] = code
    return bits
