"""Strategies for accesses out of bounds, where they are robust.

A single tile loads from, or stores to, a buffer of which the descriptor covers only the first
lines of the matrix, or none. The range ends between two lines, sixteen bytes and more away from
both: what shares an access with what is out of bounds isn't defined.
"""

from __future__ import annotations

import math

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.flow import coded_recipes
from cts.draw.layouts import PointeeKind, alignment, pointee
from cts.draw.programs import NUMBERS, Sample
from cts.draw.variety import shape_of
from cts.program.model import (
    Address,
    Buffer,
    Grid,
    Layout,
    Load,
    MatrixType,
    Program,
    Robust,
    Store,
)
from cts.program.recipe import Operand

GAP = 32
"""Bytes between two lines, at least."""
BEHIND = 256
"""Bytes of memory behind the matrix."""


def _place(
    name: str, matrix: MatrixType, layout: Layout, inside: int | None
) -> tuple[Buffer, Address]:
    """A matrix of spread lines, of which the first ``inside`` are in bounds (all if None)."""
    kind = pointee(matrix.component, PointeeKind.SAME)
    assert kind is not None
    row_major = layout is Layout.ROW_MAJOR
    lines, length = (matrix.rows, matrix.columns) if row_major else (matrix.columns, matrix.rows)
    unit = math.lcm(alignment(matrix, layout), kind.bytes, 16)
    line = -(-length * matrix.component.bytes // unit) * unit
    stride = line + -(-GAP // unit) * unit
    size = (64 + lines * stride + BEHIND) // kind.bytes
    visible = None
    if inside is not None:
        visible = max(16, 64 + inside * stride - 16) // kind.bytes
    address = Address(name, layout, stride // kind.bytes, 64 // kind.bytes)
    return Buffer(name, kind, size, visible=visible), address


@st.composite
def accesses(
    draw: st.DrawFn, info: DeviceInfo, matrix: MatrixType, robust: Robust, *, stores: bool
) -> Sample:
    """A copy of a matrix whose load, or store, leaves the bounds."""
    shape = shape_of(draw)
    layouts = [shape.pick(draw, f"layout {at}", tuple(Layout)) for at in range(2)]
    bounded = layouts[1] if stores else layouts[0]
    lines = matrix.rows if bounded is Layout.ROW_MAJOR else matrix.columns
    inside = draw(st.integers(0, lines))
    recipe = draw(coded_recipes(matrix.component, 1))[0]
    x, load = _place("x", matrix, layouts[0], None if stores else inside)
    y, store = _place("y", matrix, layouts[1], inside if stores else None)
    program = Program(
        Grid(1, 1, info.subgroup_size),
        (x, y),
        (Load("a", matrix, load), Store("a", store)),
        shape.pick(draw, "numbers", NUMBERS),
        robust=robust,
    )
    return Sample(program, {"x": Operand(load, matrix, recipe, 1)})
