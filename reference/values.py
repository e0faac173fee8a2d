"""What the value of a name in a program is known to be, while the program is evaluated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cts.program.matrix2 import Reduction
from cts.program.model import Component, MatrixType
from reference.accept import Accept
from reference.component import Bits, Flags, Floats

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Exact:
    """Known bits, [tiles, rows, columns]. ``undefined`` marks elements that an undefined
    operation produced, of which nothing is known."""

    component: Component
    bits: Bits
    undefined: Flags | None = None
    assumed: bool = False
    """Only the suite's policy says so: a float multiply-add, whose result the specification
    leaves open, is among what the bits come from."""

    @property
    def shape(self) -> Shape:
        """(tiles, rows, columns)."""
        tiles, rows, columns = self.bits.shape
        return tiles, rows, columns

    def part(self, tiles: slice) -> Exact:
        """Some of the tiles."""
        undefined = None if self.undefined is None else self.undefined[tiles]
        return Exact(self.component, self.bits[tiles], undefined, self.assumed)


@dataclass(frozen=True)
class FloatSum:
    """The result of one or more chained float multiply-adds, kept as what it sums.

    A chain is one bigger sum: without NoContraction, implementations may reassociate across its
    members, so its error is bounded as a whole.
    """

    component: Component
    products: tuple[tuple[Exact, Exact], ...]
    """The factors of each multiply-add."""
    c: Exact
    """The first accumulator."""
    results: tuple[Component, ...]
    """The result type of each multiply-add; the last is ``component``."""

    @property
    def shape(self) -> Shape:
        """(tiles, rows, columns)."""
        return self.c.shape

    @property
    def slots(self) -> int:
        """Addends of one element, zeros included."""
        return 1 + sum(a.shape[2] for a, _ in self.products)

    @property
    def kept(self) -> frozenset[Component]:
        """Component types in which partial sums may be held."""
        return frozenset({self.c.component, *self.results})

    def part(self, tiles: slice) -> FloatSum:
        """Some of the tiles."""
        products = tuple((a.part(tiles), b.part(tiles)) for a, b in self.products)
        return FloatSum(self.component, products, self.c.part(tiles), self.results)


@dataclass(frozen=True)
class Scattered:
    """A matrix of which only the collection of its elements is known: component ``i`` of
    invocation ``v`` holds ``(i * invocations + v) >> shift``, wrapped."""

    type: MatrixType
    tiles: int
    invocations: int
    """How many invocations share the matrix."""
    shift: int

    @property
    def component(self) -> Component:
        """Component type of the matrix."""
        return self.type.component

    @property
    def shape(self) -> Shape:
        """(tiles, rows, columns)."""
        return self.tiles, self.type.rows, self.type.columns

    def codes(self) -> Bits:
        """The collection, sorted, if every element is one component of one invocation."""
        count = self.type.rows * self.type.columns
        mask = np.uint64((1 << self.component.bits) - 1)
        codes = (np.arange(count, dtype=np.uint64) >> np.uint64(self.shift)) & mask
        return np.sort(codes)


@dataclass(frozen=True)
class Reduced:
    """A float reduction with more than one legal result.

    ``low`` and ``high`` are [tiles, groups down, groups across] and broadcast to the result, whose
    elements are the same throughout a group.
    """

    type: MatrixType
    reduction: Reduction
    tiles: int
    sums: Floats
    """The sums of the elements, in binary64."""
    low: Floats
    high: Floats
    free: Flags
    """Groups of which nothing is known: a NaN, an infinity or an overflow may be among them."""
    addends: int
    assumed: bool = False
    """As for :class:`Exact`: only the suite's policy says what was reduced."""

    @property
    def component(self) -> Component:
        """Component type of the matrix."""
        return self.type.component

    @property
    def shape(self) -> tuple[int, int, int]:
        """(tiles, rows, columns)."""
        return self.tiles, self.type.rows, self.type.columns


@dataclass(frozen=True)
class Ranged:
    """A matrix of which the acceptance sets are known, but no single value."""

    accept: Accept

    @property
    def component(self) -> Component:
        """Component type of the matrix."""
        return self.accept.component

    @property
    def shape(self) -> Shape:
        """(tiles, rows, columns)."""
        return self.accept.shape


Value = Exact | FloatSum | Scattered | Reduced | Ranged
