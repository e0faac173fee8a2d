"""Programs around a body: loads of named inputs before it, stores of named values after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.layouts import Style
from cts.draw.programs import LAYOUTS, Memory, Sample, Slot, memory_of
from cts.program.controls import Control
from cts.program.model import (
    Address,
    Layout,
    Load,
    MatrixType,
    Numbers,
    Pointee,
    Program,
    Statement,
    Storage,
    Store,
)
from cts.program.recipe import Operand, Recipe


@dataclass(frozen=True)
class Input:
    """A matrix that a program loads under a name of its own."""

    matrix: MatrixType
    recipe: Recipe
    layouts: Sequence[Layout] = LAYOUTS
    styles: Sequence[Style] = ()
    storage: Storage = Storage.STORAGE_BUFFER


@dataclass(frozen=True)
class Around:
    """What a program has besides its body."""

    controls: tuple[Control, ...] = ()
    precise: bool = False
    numbers: Numbers | None = None
    """Drawn if None."""
    specialized: frozenset[str] = frozenset()
    required: int | None = None
    """The subgroup size that is asked for; the device's default if None."""
    tiles: int = 32
    subgroups: int = 1
    """The least in a workgroup, where so many fit."""


PLAIN = Around()


@st.composite
def bodies(
    draw: st.DrawFn,
    info: DeviceInfo,
    inputs: Mapping[str, Input],
    body: Sequence[Statement],
    outputs: Mapping[str, MatrixType],
    around: Around = PLAIN,
) -> Sample:
    """Loads the inputs, runs ``body`` and stores the outputs. The buffer of the value ``a`` is
    called ``a.in`` or ``a.out``."""
    memory = space_of(draw, info, inputs, outputs, around)
    loads = [Load(name, it.matrix, memory.address(f"{name}.in")) for name, it in inputs.items()]
    stores = [Store(name, memory.address(f"{name}.out")) for name in outputs]
    return finish(memory, inputs, (*loads, *body, *stores), around)


def space_of(
    draw: st.DrawFn,
    info: DeviceInfo,
    inputs: Mapping[str, Input],
    outputs: Mapping[str, MatrixType],
    around: Around = PLAIN,
    extra: Sequence[Slot] = (),
) -> Memory:
    """Places for inputs (``a.in``), outputs (``a.out``) and what is ``extra``."""
    slots = [
        Slot(f"{name}.in", it.matrix, False, it.layouts, it.styles, storage=it.storage)
        for name, it in inputs.items()
    ]
    slots += [Slot(f"{name}.out", matrix, stores=True) for name, matrix in outputs.items()]
    slots += extra
    memory = memory_of(
        draw, info, slots, around.tiles, size=around.required, least=around.subgroups
    )
    grid = memory.grid
    if around.required is not None:
        grid = replace(grid, required=True)
    return replace(memory, grid=grid, numbers=around.numbers or memory.numbers)


def finish(
    memory: Memory, inputs: Mapping[str, Input], body: Sequence[Statement], around: Around = PLAIN
) -> Sample:
    """The program with ``body``, and what its input buffers hold."""
    program = Program(
        memory.grid,
        memory.buffers(),
        tuple(body),
        memory.numbers,
        around.specialized,
        controls=around.controls,
        precise=around.precise,
    )
    operands = {
        f"{name}.in": Operand(memory.address(f"{name}.in"), it.matrix, it.recipe, memory.grid.tiles)
        for name, it in inputs.items()
    }
    return Sample(program, operands)


def part(address: Address, matrix: MatrixType, kind: Pointee, down: int, across: int) -> Address:
    """The address of the part of a larger matrix at ``address`` that starts ``down * rows`` rows
    and ``across * columns`` columns into it; ``matrix`` is the type of the part."""
    lines, along = down * matrix.rows, across * matrix.columns
    if address.layout is Layout.COLUMN_MAJOR:
        lines, along = along, lines
    offset = lines * address.stride + along * matrix.component.bytes // kind.bytes
    return replace(address, offset=address.offset + offset)


def part_layouts(matrix: MatrixType, down: int, across: int) -> tuple[Layout, ...]:
    """The layouts in which every part of ``down`` x ``across`` parts starts where a matrix may
    start (VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986); perhaps none."""
    size = matrix.component.bytes
    found = []
    for layout, parts, line in (
        (Layout.ROW_MAJOR, across, matrix.columns * size),
        (Layout.COLUMN_MAJOR, down, matrix.rows * size),
    ):
        if parts == 1 or line % min(16, line) == 0:
            found.append(layout)
    return tuple(found)


def stepping(memory: Memory, slot: str, matrix: MatrixType, across: bool = False) -> Address:
    """The address of ``matrix`` in a slot that holds several, below each other or ``across``, one
    for each iteration of a loop."""
    buffer, address = memory.places[slot]
    down, along = (0, 1) if across else (1, 0)
    moved = part(address, matrix, buffer.pointee, down, along)
    return replace(address, step=moved.offset - address.offset)


def enlarged(matrix: MatrixType, down: int, across: int) -> MatrixType:
    """A matrix of ``down`` x ``across`` parts, for the memory that holds them."""
    return replace(matrix, rows=matrix.rows * down, columns=matrix.columns * across)
