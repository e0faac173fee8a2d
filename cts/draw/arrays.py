"""Strategies for programs that make matrices of the invocations' arrays, and back."""

from __future__ import annotations

import enum

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.layouts import PointeeKind, Style, place, pointee
from cts.draw.programs import LAYOUTS, NUMBERS, Sample
from cts.draw.recipes import SEEDS
from cts.draw.shapes import matrix_types
from cts.draw.variety import members, shape_of
from cts.program.model import (
    Address,
    Buffer,
    Component,
    Grid,
    Layout,
    Load,
    MatrixType,
    Pointee,
    Program,
    Statement,
    Storage,
    Store,
    Use,
)
from cts.program.qcom import FromArrays, ToArrays, castable, convertible, lines, packable
from cts.program.recipe import Operand, Pattern, Recipe
from cts.program.sense import sensible


class Way(enum.Enum):
    """What the arrays hold."""

    SAME = "same"
    """Elements of the matrix's component type."""
    PACKED = "packed"
    """uint32, converted by the instruction."""
    CAST = "cast"
    """uint32, cast to the component type and back by OpBitCastArrayQCOM."""
    PART = "part"
    """Parts of longer arrays, by OpExtractSubArrayQCOM."""

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.value


def takes(matrix: MatrixType, way: Way, lengths: frozenset[int]) -> bool:
    """Whether a matrix can be converted so; ``lengths`` are the advertised column counts N."""
    if way is Way.PACKED:
        return packable(matrix)
    if way is Way.CAST:
        return castable(matrix)
    if way is Way.PART:
        _, length = lines(matrix)
        return (
            matrix.use is not Use.ACCUMULATOR
            and castable(matrix)
            and any(it > length and it % length == 0 for it in lengths)
        )
    return True


def candidates(info: DeviceInfo, use: Use, component: Component, way: Way) -> list[MatrixType]:
    """Advertised matrices that can be converted so."""
    lengths = advertised_columns(info)
    return [
        matrix
        for matrix in matrix_types(info, use, component)
        if convertible(matrix, info.subgroup_size) and takes(matrix, way, lengths)
    ]


def advertised_columns(info: DeviceInfo) -> frozenset[int]:
    """NSize of the KHR records that make sense: lengths that an array may have that a part is
    taken of."""
    listed = info.records.get("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", ())
    return frozenset(record["NSize"] for record in listed if sensible(record))


def _buffer(matrix: MatrixType, way: Way, tiles: int, length: int) -> Buffer:
    count, _ = lines(matrix)
    size = tiles * count * length * matrix.component.bytes + 64
    kind = pointee(matrix.component, PointeeKind.SAME)
    assert kind is not None
    if way in (Way.PACKED, Way.CAST):
        kind = Pointee(Component.UINT32)
    return Buffer("X", kind, -(-size // kind.bytes))


@st.composite
def conversions(
    draw: st.DrawFn,
    info: DeviceInfo,
    use: Use,
    component: Component,
    way: Way,
    *,
    back: bool,
) -> Sample:
    """Arrays to a matrix, which is stored (``back``: a loaded matrix to arrays)."""
    shape = shape_of(draw)
    matrix = draw(members(candidates(info, use, component, way)))
    grid = Grid(
        draw(st.sampled_from((1, 2, 3))), shape.pick(draw, "subgroups", (1, 2)), info.subgroup_size
    )
    count, length = lines(matrix)
    whole, start = length, 0
    if way is Way.PART:
        longer = [n for n in sorted(advertised_columns(info)) if n > length and n % length == 0]
        whole = draw(st.sampled_from(longer))
        start = length * draw(st.integers(0, whole // length - 1))
    arrays = _buffer(matrix, way, grid.tiles, whole)
    kind = pointee(matrix.component, PointeeKind.SAME)
    assert kind is not None
    layout = shape.pick(draw, "layout", LAYOUTS)
    buffer, address = place(
        "M",
        matrix,
        layout,
        kind,
        draw(st.sampled_from((Style.TIGHT, Style.PADDED))),
        Storage.STORAGE_BUFFER,
        grid.tiles,
    )
    packed, cast = way is Way.PACKED, way is Way.CAST
    recipe = draw(st.builds(Recipe, st.sampled_from((Pattern.INDEX, Pattern.FULL)), SEEDS))
    body: tuple[Statement, ...]
    if back:
        operand = Operand(address, matrix, recipe, grid.tiles)
        body = (Load("m", matrix, address), ToArrays("m", "X", packed, cast))
        operands = {"M": operand}
    else:
        by_column = Layout.COLUMN_MAJOR if use is Use.B else Layout.ROW_MAJOR
        unit = arrays.pointee.bytes
        line = whole * matrix.component.bytes // unit
        first = start * matrix.component.bytes // unit
        held = Address("X", by_column, line, first, count * line)
        operands = {"X": Operand(held, matrix, recipe, grid.tiles)}
        part = (whole, start) if way is Way.PART else (0, 0)
        body = (FromArrays("m", matrix, "X", packed, cast, *part), Store("m", address))
    numbers = shape.pick(draw, "numbers", NUMBERS)
    return Sample(Program(grid, (buffer, arrays), body, numbers), operands)
