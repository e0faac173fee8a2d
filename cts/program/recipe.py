"""How operands are made, as data.

Elements are never drawn one by one: a recipe (a pattern, a seed, a few planted values) shrinks
well, is readable in a finding, and costs Hypothesis a handful of draws whatever the size.
``reference.operands.realise`` turns a recipe into bits.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from cts.program.model import Address, MatrixType


class Pattern(enum.Enum):
    """From simple to nasty: strategies draw them in this order, so shrinking ends at ZEROS.

    Integers and floats take the same patterns where both make sense. ``limit`` in the recipe
    bounds magnitudes where the comment says so.
    """

    ZEROS = "zeros"
    ONES = "ones"
    IOTA = "iota"
    """row * columns + column, modulo ``limit`` + 1: exactly representable small integers."""
    INDEX = "index"
    """A code unique to (tile, row, column) as far as the component has bits; finite, normal,
    non-negative values for floats."""
    IDENTITY = "identity"
    """1 on the diagonal (column = row modulo columns), 0 elsewhere."""
    PERMUTATION = "permutation"
    """One 1 per row, at a seeded permutation of the columns; one-hot rows."""
    SMALL = "small"
    """Seeded integers in [0, limit]."""
    SIGNED = "signed"
    """Seeded integers in [-limit, limit]; like SMALL for unsigned components."""
    POWERS = "powers"
    """Seeded non-negative powers of two, 2^e with |e| <= limit; floats only."""
    HALVES = "halves"
    """Seeded multiples of 0.5 in [-limit, limit]; floats only."""
    FULL = "full"
    """Seeded normal floats of moderate exponent (|e| <= limit), all mantissa bits random, both
    signs; for integers uniformly random bits."""
    WIDE = "wide"
    """FULL with exponents over the whole normal range."""
    NONZERO = "nonzero"
    """Seeded integers of magnitude 1 to limit, both signs where there are signs."""
    TIES = "ties"
    """Seeded floats of moderate exponent: exactly half-way between two numbers of ``limit``
    significant bits, or the next number above or below half-way."""
    NEAR_MAX = "near_max"
    """Values near the largest (and for signed integers smallest) of the component."""
    SUBNORMALS = "subnormals"
    SPECIALS = "specials"
    """Seeded mixture of +-0, +-infinity, NaNs with payloads, extremes; integers: extremes."""
    BITS = "bits"
    """Uniformly random bit patterns."""
    ALL_CODES = "all_codes"
    """Counts through every bit pattern of an 8- or 16-bit component, row by row, tile by tile."""


@dataclass(frozen=True)
class Plant:
    """One element set to given bits, after the pattern and the transform. Tile, row and column
    count modulo what there is, so that a plant stays valid while sizes shrink."""

    tile: int
    row: int
    column: int
    bits: int


@dataclass(frozen=True)
class Recipe:
    """``pattern`` from ``seed``, values bounded by ``limit``, a fraction of elements kept
    (``keep`` of 8 eighths; the rest is zero), negated, scaled by 2^``scale`` (floats only),
    then the plants."""

    pattern: Pattern = Pattern.ZEROS
    seed: int = 0
    limit: int = 7
    keep: int = 8
    negate: bool = False
    scale: int = 0
    plants: tuple[Plant, ...] = ()


@dataclass(frozen=True)
class Operand:
    """What one buffer holds before the dispatch: a matrix for each tile, made by ``recipe``, at
    ``address``. Every byte that is no element of it is poison.

    ``tiles`` is the number of matrices; with ``address.pitch`` 0 all tiles share one.
    """

    address: Address
    type: MatrixType
    recipe: Recipe
    tiles: int
