"""Strategies for tensor layouts and views.

A layout is made backwards: from the matrix, the spans whose product has its elements; from these,
dimensions around a slice; from these, strides. What a clamp mode is for is then drawn: a slice that
leaves the tensor on either side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from cts.program.tensor import (
    BlockSize,
    Clamp,
    ClampValue,
    Clip,
    Dimensions,
    LayoutStep,
    Slice,
    Strides,
    TensorLayout,
    TensorView,
    ViewStep,
)
from cts.program.types import Component, MatrixType


def _factors(number: int) -> list[int]:
    found, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1
    return found


@st.composite
def spans(draw: st.DrawFn, elements: int, rank: int) -> tuple[int, ...]:
    """``rank`` numbers whose product is ``elements``."""
    found = [1] * rank
    for factor in _factors(elements):
        found[draw(st.integers(0, rank - 1))] *= factor
    return tuple(found)


def matrix_spans(matrix: MatrixType, rank: int) -> tuple[int, ...]:
    """The simplest spans: rows and columns are the last two dimensions."""
    if rank == 1:
        return (matrix.rows * matrix.columns,)
    return (*(1,) * (rank - 2), matrix.rows, matrix.columns)


@dataclass(frozen=True)
class Drawn:
    """A layout, and how many elements (or blocks) of memory it can reach."""

    layout: TensorLayout
    extent: int


def clamp_values(component: Component) -> st.SearchStrategy[int]:
    """Values that mean the same as bits and as a number: small ones for integers, zero for
    floats."""
    if component.is_float:
        return st.just(0)
    return st.sampled_from((0, 1, 5, (1 << min(component.bits - 1, 31)) - 1))


@st.composite
def layouts(
    draw: st.DrawFn,
    matrix: MatrixType,
    rank: int,
    clamp: Clamp,
    *,
    storing: bool = False,
    block: Sequence[int] = (),
    inside: bool = False,
) -> Drawn:
    """A layout that a matrix can be loaded or stored through. With ``inside`` the slice stays in
    the tensor whatever the clamp mode."""
    elements = matrix.rows * matrix.columns
    simple = st.just(matrix_spans(matrix, rank))
    span = draw(st.one_of(simple, spans(elements, rank), spans(elements, rank)))
    units = tuple(block) or (1,) * rank
    offsets, sizes = [], []
    for size, unit in zip(span, units, strict=True):
        before, after = draw(st.integers(0, 3)), draw(st.integers(0, 5))
        if clamp is not Clamp.UNDEFINED and not inside:
            before = draw(st.one_of(st.integers(-size, size + 2), st.just(before)))
            after = draw(st.one_of(st.integers(-size, 3), st.just(after)))
        total = max(before + size + after, 2 if clamp is Clamp.MIRROR else 1)
        total = -(-total // unit) * unit if draw(st.booleans()) else total
        offsets.append(before)
        sizes.append(total)
    steps: list[LayoutStep] = []
    if block:
        steps.append(BlockSize(units))
    steps.append(Dimensions(tuple(sizes)))
    counts = [-(-size // unit) for size, unit in zip(sizes, units, strict=True)]
    strides = [1] * rank
    for at in reversed(range(rank - 1)):
        strides[at] = strides[at + 1] * counts[at + 1]
    if draw(st.booleans()):
        strides[rank - 1] = draw(st.sampled_from((1, 1, 2, 3)))
        for at in reversed(range(rank - 1)):
            least = strides[at + 1] * counts[at + 1]
            strides[at] = least + draw(st.sampled_from((0, 1, 4)))
        steps.append(Strides(tuple(strides)))
    if draw(st.booleans()):
        # Slices add up: the first one moves, the second one moves on and has the spans.
        first = tuple(draw(st.integers(-2, 2)) for _ in range(rank))
        steps.append(Slice(first, tuple(sizes)))
        offsets = [a - b for a, b in zip(offsets, first, strict=True)]
    steps.append(Slice(tuple(offsets), span))
    if clamp is Clamp.CONSTANT and not storing and draw(st.booleans()):
        steps.insert(
            draw(st.integers(0, len(steps))), ClampValue(draw(clamp_values(matrix.component)))
        )
    extent = 1 + sum((n - 1) * s for n, s in zip(counts, strides, strict=True))
    return Drawn(TensorLayout(rank, clamp, tuple(steps)), extent)


@st.composite
def views(
    draw: st.DrawFn,
    matrix: MatrixType,
    layout: TensorLayout,
    *,
    clip: bool = False,
    rank: int = 0,
) -> TensorView:
    """A view that gives the elements of the slice in another order, each once: a permutation of
    its dimensions, or (``rank`` > 0) of dimensions of its own; with ``clip``, of a part of the
    matrix."""
    steps: list[ViewStep] = []
    if rank:
        elements = matrix.rows * matrix.columns
        sizes = draw(spans(elements, rank))
        steps.append(Dimensions(sizes))
        if draw(st.booleans()):
            # The same strides, said explicitly: another order than that of the dimensions.
            order = draw(st.permutations(range(rank)))
            strides, step = [1] * rank, 1
            for at in order:
                strides[at] = step
                step *= sizes[at]
            steps.append(Strides(tuple(strides)))
    count = rank or layout.rank
    permutation = tuple(draw(st.permutations(range(count))))
    if clip:
        row = draw(st.integers(0, matrix.rows - 1))
        column = draw(st.integers(0, matrix.columns - 1))
        down = draw(st.integers(1, matrix.rows - row))
        across = draw(st.integers(1, matrix.columns - column))
        steps.append(Clip(row, down, column, across))
    return TensorView(permutation, bool(rank), tuple(steps))


def block_sizes(rank: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Sizes of blocks with at most 64 elements."""
    size = st.sampled_from((1, 2, 4, 8))
    return st.tuples(*[size] * rank).filter(lambda sizes: 1 < math.prod(sizes) <= 64)
