"""What vkConvertCooperativeVectorMatrixNV may make of the elements of a matrix.

Rules ("Cooperative Vectors", "Floating-Point Format Conversions" and "General Requirements" of
the Vulkan specification):

* equal component types: the elements keep their bits;
* unequal ones: round to nearest, ties to even, subnormals included, since the conversion runs in
  no shader and has no permission to flush;
* a finite value beyond the largest finite one becomes that or the infinity of its sign (NaN in
  E4M3, which has no infinity), and infinity and NaN give unspecified results. Policy narrows
  this: NaN stays NaN, infinity stays infinity where there is one;
* the sign of zero is worth a warning: -0 must give a deterministic result, not a negative one.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from reference.component import (
    Bits,
    Flags,
    Overflow,
    Rounding,
    bits_dtype,
    decode,
    encode,
    float_format,
    is_infinite,
    is_nan,
    magnitude_code,
    text,
)

NARROWING = (
    Component.FLOAT16,
    Component.BFLOAT16,
    Component.FLOAT8_E4M3,
    Component.FLOAT8_E5M2,
)


def convertible(source: Component, destination: Component) -> bool:
    """Whether the two component types may meet in one conversion
    (VUID-VkConvertCooperativeVectorMatrixInfoNV-srcComponentType-10081)."""
    if source == destination:
        return True
    pair = {source, destination}
    if not all(one.is_float for one in pair):
        return False
    wide = Component.FLOAT32 if Component.FLOAT32 in pair else Component.FLOAT16
    if wide not in pair:
        return False
    (other,) = pair - {wide}
    return float_format(other).precision < float_format(wide).precision


@cache
def _table(source: Component, destination: Component) -> Bits:
    codes = np.arange(1 << source.bits, dtype=bits_dtype(source))
    table = encode(decode(codes, source), destination)
    table.flags.writeable = False
    return table


def rounded_bits(bits: Bits, source: Component, destination: Component) -> Bits:
    """``bits`` converted by the rule: nearest even, beyond the range to infinity or NaN."""
    if source == destination:
        return bits
    if source.bits <= 16:
        return _table(source, destination)[bits]
    return encode(decode(bits, source), destination)


def saturated_bits(bits: Bits, source: Component, destination: Component) -> Bits:
    """As :func:`rounded_bits`, but what is beyond the range, infinity included, becomes the
    largest finite value of its sign."""
    if source == destination:
        return bits
    return encode(decode(bits, source), destination, Rounding.NEAREST_EVEN, Overflow.SATURATE)


class Grade(enum.IntEnum):
    """How an element was."""

    RIGHT = 0
    QUALITY = 1
    POLICY = 2
    WRONG = 3


@dataclass(frozen=True)
class Elements:
    """What the elements of a logical matrix may be: ``bits`` or ``other`` (the second choice
    on overflow, else the same bits), with two freedoms: any NaN stands for any other one once
    a conversion made it, and zeros of both signs are zero.

    ``free`` marks elements that no rule but policy speaks of.
    """

    component: Component
    bits: Bits
    other: Bits
    free: Flags
    payload: bool
    """Whether NaNs are still the ones that the matrix began with."""
    origin: Origin | None = None
    """None where the matrix began as these elements."""

    @staticmethod
    def exact(bits: Bits, component: Component) -> Elements:
        """The elements are known."""
        return Elements(component, bits, bits, np.zeros(bits.shape, bool), True)

    @property
    def rows(self) -> int:
        """Rows of the matrix."""
        return int(self.bits.shape[0])

    @property
    def columns(self) -> int:
        """Columns of the matrix."""
        return int(self.bits.shape[1])

    def converted(self, destination: Component, by: str = "") -> Elements:
        """What they may be after a conversion to ``destination`` in any layout; ``by`` says which
        one."""
        source, origin = self.component, Origin(self, by)
        free = self.free
        if source.is_float:
            free = free | is_nan(self.bits, source) | is_infinite(self.bits, source)
        if source == destination:
            return Elements(source, self.bits, self.other, free, self.payload, origin)
        bits = rounded_bits(self.bits, source, destination)
        clamped = saturated_bits(self.bits, source, destination)
        split = self.bits != self.other
        # What left the range: the two codes differ although the source was a number.
        beyond = (bits != clamped) & ~is_nan(self.bits, source)
        if float_format(destination).infinity_code is not None:
            beyond &= ~is_infinite(self.bits, source)
        second = saturated_bits(self.other, source, destination)
        other = np.where(split, second, np.where(beyond, clamped, bits))
        return Elements(destination, bits, other, free | beyond, False, origin)

    def grade(self, actual: Bits) -> NDArray[np.uint8]:
        """A :class:`Grade` for each element of ``actual`` (bits in the same shape)."""
        grades = np.full(actual.shape, Grade.WRONG, np.uint8)
        grades[self.free] = Grade.POLICY
        component = self.component
        if component.is_float:
            zeros = (magnitude_code(actual, component) == 0) & (
                (magnitude_code(self.bits, component) == 0)
                | (magnitude_code(self.other, component) == 0)
            )
            grades[zeros] = Grade.QUALITY
            due = is_nan(self.bits, component) | is_nan(self.other, component)
            nans = is_nan(actual, component) & due
            grades[nans] = Grade.QUALITY if self.payload else Grade.RIGHT
        grades[(actual == self.bits) | (actual == self.other)] = Grade.RIGHT
        return grades

    def way(self, row: int, column: int) -> str:
        """What the element was at first, and what each conversion has to make of it."""
        if self.origin is None:
            bits = int(self.bits[row, column])
            shown = text(bits, self.component)
            return f"The element began as {self.component.label} {shown} (0x{bits:x})."
        before = self.origin.elements.way(row, column)
        return f"{before} {self.origin.by} has to make {self.expected(row, column)} of it."

    def expected(self, row: int, column: int) -> str:
        """What the element may be, for people."""
        first = int(self.bits[row, column])
        second = int(self.other[row, column])
        words = [text(first, self.component)]
        if second != first:
            words.append(text(second, self.component))
        return " or ".join(words)


@dataclass(frozen=True)
class Origin:
    """Where elements come from: what they were, and the conversion that changed them."""

    elements: Elements
    by: str


def overflow_choices(elements: Elements, actual: Bits) -> dict[str, int]:
    """How often a device went to the special value and how often to the largest finite one,
    where both were open."""
    split = elements.bits != elements.other
    if not split.any():
        return {}
    taken = actual[split]
    largest = np.minimum(
        magnitude_code(elements.bits[split], elements.component),
        magnitude_code(elements.other[split], elements.component),
    )
    finite = int((magnitude_code(taken, elements.component) == largest).sum())
    return {"special": int(split.sum()) - finite, "largest": finite}


def pattern(elements: Elements, actual: Bits, wrong: Flags) -> str:
    """What the wrong elements have in common, in words; empty where nothing stands out.

    Looks for the mistakes that move elements about: transposition, rows or columns shifted,
    one row or column only.
    """
    expected = elements.bits
    found = []
    rows, columns = (np.unique(axis) for axis in np.nonzero(wrong))
    if expected.size > 1 and len(rows) == 1 and len(columns) > 1:
        found.append(f"every wrong element is in row {rows[0]}")
    if expected.size > 1 and len(columns) == 1 and len(rows) > 1:
        found.append(f"every wrong element is in column {columns[0]}")
    turned = expected.T.reshape(expected.shape)
    moves: list[tuple[str, Any]] = [("equals the matrix read in the other order", turned)]
    if expected.shape[0] == expected.shape[1]:
        moves.append(("equals the transposed matrix", expected.T))
    for step in (-1, 1):
        moves.append((f"equals the row {step:+d}", np.roll(expected, -step, axis=0)))
        moves.append((f"equals the column {step:+d}", np.roll(expected, -step, axis=1)))
    for words, moved in moves:
        if (moved[wrong] != expected[wrong]).any() and (actual[wrong] == moved[wrong]).all():
            found.append(f"each wrong element {words}")
    return "; ".join(found)


@cache
def boundaries(source: Component, destination: Component) -> Bits:
    """The source codes where a rounding could go wrong: every destination value, every midpoint
    between neighbours, the source's neighbours of both, the edges of the range, zeros,
    infinities and NaNs; for equal types the edges of each binade. Sorted, both signs."""
    form, dtype = float_format(source), bits_dtype(source)
    last = float_format(destination).maximum_code
    # Of a 32-bit destination the binades' edges stand for all values.
    step = 1 << 23 if destination.bits > 16 else 1
    codes = np.arange(0, last + 1, step, dtype=np.uint64)
    values = decode(codes.astype(bits_dtype(destination)), destination)
    largest = values[-1]
    gap = largest - values[-2]
    edges = np.concatenate([values, largest + gap * np.array([0.5, 1.0, 2.0])])
    points = np.concatenate([edges, (edges[:-1] + edges[1:]) / 2])
    points = points[points <= form.maximum]
    near = encode(points, source, Rounding.DOWN).astype(np.int64)
    near = np.concatenate([near - 1, near, near + 1])
    near = near[(near >= 0) & (near <= form.maximum_code)]
    top = np.arange(form.maximum_code - 2, form.maximum_code + 1)
    special = [form.nan_code, form.sign_bit - 1]
    if form.infinity_code is not None:
        special += [form.infinity_code, form.infinity_code + 1]
    found = np.unique(np.concatenate([near, top, np.array(special)])).astype(dtype)
    both = np.concatenate([found, found | dtype.type(form.sign_bit)])
    both.flags.writeable = False
    return both
