"""Strategies for programs that load or store through tensor layouts."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.flexible import workgroups
from cts.draw.layouts import PointeeKind as Kind
from cts.draw.layouts import Style, place, pointee
from cts.draw.matrix2 import tiles_of
from cts.draw.programs import LAYOUTS, NUMBERS, Sample
from cts.draw.recipes import SEEDS
from cts.draw.tensors import Drawn
from cts.draw.variety import shape_of
from cts.program.model import (
    Buffer,
    Component,
    Load,
    MatrixType,
    Pointee,
    Program,
    Splat,
    Statement,
    Storage,
    Store,
)
from cts.program.recipe import Operand, Pattern, Recipe
from cts.program.tensor import Decode, Tensor, TensorLoad, TensorStore, TensorView


@st.composite
def tensor_copies(
    draw: st.DrawFn,
    info: DeviceInfo,
    matrix: MatrixType,
    drawn: Drawn,
    view: TensorView | None = None,
    *,
    storing: bool = False,
    storage: Storage = Storage.STORAGE_BUFFER,
    decode: Decode | None = None,
) -> Sample:
    """Load a matrix through the layout and store it row by row, or the other way round. What a
    tensor holds is poison, which depends on its place; what a clip leaves out is the other
    matrix."""
    shape = shape_of(draw)
    grid = draw(workgroups(info, shape, matrix.scope, 0, matrix.rows * matrix.columns))
    tiles = tiles_of(grid, matrix.scope)
    kind = pointee(matrix.component, Kind.SAME)
    assert kind is not None, "every component has a pointee of its own width"
    layout = shape.pick(draw, "layout", LAYOUTS)
    buffer, address = place(
        "M",
        matrix,
        layout,
        kind,
        draw(st.sampled_from((Style.TIGHT, Style.PADDED))),
        Storage.STORAGE_BUFFER,
        tiles,
    )
    unit = matrix.component.bytes if decode is None else 4 * decode.words
    aligned = -(-drawn.extent * unit // 16) * 16
    within = grid.subgroups if storage is Storage.WORKGROUP else tiles
    offset = draw(st.sampled_from((0, 16, 48)))
    shared = not storing and draw(st.booleans())
    pitch = 0 if shared else aligned + draw(st.sampled_from((0, 16)))
    held = Pointee(Component.UINT32) if decode is not None else kind
    size = offset + (0 if shared else (within - 1) * pitch) + aligned + 64
    tensor = Buffer("T", held, size // held.bytes, storage)
    where = Tensor("T", offset // held.bytes, pitch // held.bytes)
    body: list[Statement]
    operands = {}
    if storing:
        patterns = st.sampled_from((Pattern.INDEX, Pattern.BITS))
        recipe = draw(st.builds(Recipe, patterns, SEEDS))
        operands["M"] = Operand(address, matrix, recipe, tiles)
        body = [Load("m", matrix, address), TensorStore("m", where, drawn.layout, view)]
    else:
        bits = draw(st.sampled_from((0, 1)))
        body = [
            Splat("o", matrix, bits),
            TensorLoad("m", matrix, "o", where, drawn.layout, view, decode),
            Store("m", address),
        ]
    numbers = shape.pick(draw, "numbers", NUMBERS)
    return Sample(Program(grid, (buffer, tensor), tuple(body), numbers), operands)
