"""Strategies for conversions of cooperative vector matrices: shapes, strides, elements.

Only valid requests are drawn: strides of row- and column-major matrices are multiples of the
element size and, as VUID-VkConvertCooperativeVectorMatrixInfoNV-srcLayout-10077 is worded,
greater than the line; only what is called ``tight`` has them equal.
"""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from cts.conversion import FLOAT8, Region, Side, source, tight
from cts.draw.recipes import SEEDS
from cts.program.model import Component
from cts.program.recipe import Pattern, Recipe
from cts.program.vector import MatrixLayout
from reference.component import Bits
from reference.convert import boundaries, convertible, rounded_bits
from reference.operands import random_words, realise

MATRIX_COMPONENTS = (
    Component.FLOAT16,
    Component.FLOAT32,
    Component.FLOAT8_E4M3,
    Component.FLOAT8_E5M2,
    Component.SINT8,
    Component.UINT8,
)
"""Component types that the required combinations or today's drivers have matrices of."""

STRIDED = (MatrixLayout.ROW_MAJOR, MatrixLayout.COLUMN_MAJOR)
OPTIMAL = (MatrixLayout.INFERENCING_OPTIMAL, MatrixLayout.TRAINING_OPTIMAL)

ELEMENTS = 1 << 14
"""Most elements of a drawn matrix, so that thousands of examples a minute stay possible."""


@dataclass(frozen=True)
class Pair:
    """A value of a ``types`` axis: two component types that may meet in a conversion."""

    source: Component
    destination: Component

    @property
    def label(self) -> str:
        """``float32-float16``."""
        return f"{self.source.label}-{self.destination.label}"


TYPE_PAIRS = tuple(
    Pair(a, b)
    for a in MATRIX_COMPONENTS
    for b in MATRIX_COMPONENTS
    if a is not b and convertible(a, b)
)

_IGNORED = st.sampled_from((0, 1, 16, 4096, 12345))
_EDGES = (15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257)
_SIZES = st.one_of(st.integers(1, 9), st.integers(10, 70), st.sampled_from(_EDGES))


@st.composite
def shapes(draw: st.DrawFn, most: int = ELEMENTS) -> tuple[int, int]:
    """Rows and columns: from 1 x 1 over small and odd sizes to past 256, at most ``most``
    elements."""
    rows, columns = draw(_SIZES), draw(_SIZES)
    if rows * columns > most:
        columns = max(1, most // rows)
    return rows, columns


def strides(
    rows: int, columns: int, component: Component, layout: MatrixLayout
) -> st.SearchStrategy[int]:
    """Strides in bytes, greater than the line: by one element, by odd multiples of the element
    size, up to whole cache lines, several lines. Optimal layouts ignore the stride, so any
    number will do."""
    if layout.optimal:
        return _IGNORED
    line = tight(rows, columns, component, layout)
    size = component.bytes
    more = [line + extra * size for extra in (1, 2, 3, 7, 40)]
    more += [(line // unit + 1) * unit for unit in (16, 64, 256)]
    more += [line * times + size for times in (2, 3)]
    return st.sampled_from(more)


@st.composite
def sides(
    draw: st.DrawFn, rows: int, columns: int, component: Component, layout: MatrixLayout
) -> Side:
    """A side with a drawn stride."""
    return Side(component, layout, draw(strides(rows, columns, component, layout)))


def layouts_for(component: Component) -> tuple[MatrixLayout, ...]:
    """The layouts that a destination may have: 8-bit floats are optimal only
    (VUID-VkConvertCooperativeVectorMatrixInfoNV-dstComponentType-10082)."""
    return OPTIMAL if component in FLOAT8 else tuple(MatrixLayout)


@st.composite
def elements(
    draw: st.DrawFn,
    component: Component,
    rows: int,
    columns: int,
    towards: Component | None = None,
    *,
    specials: bool = False,
) -> Bits:
    """Bits [rows, columns]: index-coded first, then random bits and rounding boundaries of the
    conversion to ``towards``. Infinities, NaNs, overflow and negative zero only where
    ``specials``."""
    way, pattern = draw(st.sampled_from(_ways(component, towards, specials)), label="elements")
    seed = draw(SEEDS, label="seed")
    if way is _Way.BOUNDARIES:
        assert towards is not None
        points = boundaries(component, towards)
        chosen = random_words(seed, (rows, columns)) % np.uint64(len(points))
        picked: Bits = np.take(points, chosen.astype(np.int64))
        return picked
    if way is _Way.LIFTED:
        assert towards is not None
        narrow = realise(Recipe(pattern, seed), towards, rows, columns, 1)[0]
        return rounded_bits(narrow, towards, component)
    made: Bits = realise(Recipe(pattern, seed), component, rows, columns, 1)[0]
    return made


class _Way(enum.Enum):
    """Where bits come from."""

    PATTERN = "a pattern of the component type itself"
    LIFTED = "a pattern of the narrower type, so that no value is lost in rounding"
    BOUNDARIES = "values where a rounding could go wrong"


@functools.cache
def _ways(
    component: Component, towards: Component | None, specials: bool
) -> tuple[tuple[_Way, Pattern], ...]:
    """What elements may be made of, simple ones first."""
    patterns = [Pattern.INDEX, Pattern.ZEROS, Pattern.ONES]
    if component.is_float:
        patterns += [Pattern.FULL, Pattern.SUBNORMALS]
        if specials:
            patterns += [Pattern.SPECIALS, Pattern.NEAR_MAX, Pattern.BITS]
    else:
        patterns += [Pattern.BITS]
        if component.bits <= 16:
            patterns.append(Pattern.ALL_CODES)
    ways = [(_Way.PATTERN, pattern) for pattern in patterns]
    if towards is None or not component.is_float:
        return tuple(ways)
    if towards.bits < component.bits:
        lifted = [(_Way.LIFTED, pattern) for pattern in (Pattern.INDEX, Pattern.SUBNORMALS)]
        ways = lifted + ways
    return (*ways, *[(_Way.BOUNDARIES, Pattern.BITS)] * (len(ways) // 2))


@st.composite
def sources(
    draw: st.DrawFn,
    component: Component,
    layout: MatrixLayout | None = None,
    *,
    towards: Component | None = None,
    specials: bool = False,
    most: int = ELEMENTS,
) -> Region:
    """A row- or column-major matrix in memory."""
    rows, columns = draw(shapes(most), label="shape")
    kind = layout if layout is not None else draw(st.sampled_from(STRIDED), label="source layout")
    side = draw(sides(rows, columns, component, kind), label="source")
    bits = draw(elements(component, rows, columns, towards, specials=specials))
    return source(rows, columns, side, bits)


def exact_component(component: Component) -> Component:
    """A component type that holds every value of ``component`` and may be read back in a
    strided layout."""
    return Component.FLOAT16 if component in FLOAT8 else component
