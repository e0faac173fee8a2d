"""Strategies for whole programs over the KHR instructions, with their operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.combinations import Combination
from cts.draw.grids import MAX_SUBGROUPS, MAX_TILES, grid_of
from cts.draw.layouts import LOAD_STYLES, STORE_STYLES, PointeeKind, Style, place, pointee
from cts.draw.variety import shape_of
from cts.program.model import (
    Address,
    Buffer,
    Component,
    Grid,
    Layout,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Numbers,
    Pointee,
    Program,
    Rebuild,
    Stamp,
    Statement,
    Storage,
    Store,
)
from cts.program.recipe import Operand, Recipe

LAYOUTS = (Layout.ROW_MAJOR, Layout.COLUMN_MAJOR)
STORAGES = (Storage.STORAGE_BUFFER, Storage.PHYSICAL_STORAGE_BUFFER, Storage.WORKGROUP)
NUMBERS = (Numbers.BUFFER, Numbers.BUFFER, Numbers.SPECIALIZATION, Numbers.LITERAL)


@dataclass(frozen=True)
class Sample:
    """A program and what its input buffers hold; buffers that aren't named hold poison."""

    program: Program
    operands: Mapping[str, Operand]


@dataclass(frozen=True)
class Slot:
    """A matrix in memory that a program needs: fixed where a case fixes it, else drawn."""

    name: str
    matrix: MatrixType
    stores: bool = False
    layouts: Sequence[Layout] = LAYOUTS
    styles: Sequence[Style] = ()
    pointee: PointeeKind = PointeeKind.SAME
    storage: Storage = Storage.STORAGE_BUFFER


def _pointee(slot: Slot) -> Pointee:
    kind = pointee(slot.matrix.component, slot.pointee)
    if kind is None:
        raise ValueError(f"{slot.matrix.component.label} has no {slot.pointee.label} pointee")
    return kind


def _shared_limit(info: DeviceInfo, slots: Sequence[Slot]) -> int:
    """How many subgroups' tiles of all WORKGROUP slots fit into workgroup memory, tightly."""
    limit = int(info.properties["VkPhysicalDeviceLimits.maxComputeSharedMemorySize"])
    fit = 0
    for count in range(1, MAX_SUBGROUPS + 1):
        used = sum(_bytes(slot, Layout.ROW_MAJOR, Style.TIGHT, count) for slot in slots)
        if used <= limit:
            fit = count
    return fit


def _bytes(slot: Slot, layout: Layout, style: Style, tiles: int) -> int:
    buffer, _ = place(slot.name, slot.matrix, layout, _pointee(slot), style, slot.storage, tiles)
    return buffer.size * buffer.pointee.bytes


def fits(info: DeviceInfo, slots: Sequence[Slot]) -> bool:
    """Whether one tile of every slot in workgroup memory fits there at once."""
    shared = [slot for slot in slots if slot.storage is Storage.WORKGROUP]
    return not shared or _shared_limit(info, shared) > 0


@dataclass(frozen=True)
class Memory:
    """A grid, a place in memory for each slot by name, and how numbers reach the shader."""

    grid: Grid
    places: Mapping[str, tuple[Buffer, Address]]
    numbers: Numbers

    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers, in the order of their slots."""
        return tuple(buffer for buffer, _ in self.places.values())

    def address(self, name: str) -> Address:
        """Where the slot called ``name`` lies."""
        return self.places[name][1]


def memory_of(
    draw: st.DrawFn,
    info: DeviceInfo,
    slots: Sequence[Slot],
    tiles: int,
    *,
    size: int | None = None,
    least: int = 1,
) -> Memory:
    """A :class:`Memory` for ``slots``, with at most ``tiles`` tiles in all, for subgroups of
    ``size`` (the device's default if None), ``least`` in a workgroup where so many fit."""
    shape = shape_of(draw)
    numbers = shape.pick(draw, "numbers", NUMBERS)
    baked = numbers is not Numbers.BUFFER
    shared = [slot for slot in slots if slot.storage is Storage.WORKGROUP]
    most = _shared_limit(info, shared) if shared else MAX_SUBGROUPS
    limit = min(most, MAX_SUBGROUPS)
    grid = grid_of(
        draw, info, shape, tiles=tiles, subgroups=limit, baked=baked, size=size, least=least
    )
    room = int(info.properties["VkPhysicalDeviceLimits.maxComputeSharedMemorySize"])
    reserve = sum(_bytes(slot, Layout.ROW_MAJOR, Style.TIGHT, grid.subgroups) for slot in shared)
    places = {}
    for at, slot in enumerate(slots):
        inside = slot.storage is Storage.WORKGROUP
        count = grid.subgroups if inside else grid.tiles
        layout = shape.pick(draw, f"layout {at}", slot.layouts)
        styles = slot.styles or (STORE_STYLES if slot.stores else LOAD_STYLES)
        if inside:
            free = room - reserve
            fitting = [s for s in styles if _excess(slot, layout, s, count) <= free]
            styles = fitting or (Style.TIGHT,)
        if inside or baked:
            style = shape.pick(draw, f"style {at}", styles)
        else:
            style = draw(st.sampled_from(tuple(styles)))
        if inside:
            reserve += _excess(slot, layout, style, count)
        places[slot.name] = place(
            slot.name, slot.matrix, layout, _pointee(slot), style, slot.storage, count
        )
    return Memory(grid, places, numbers)


def _excess(slot: Slot, layout: Layout, style: Style, tiles: int) -> int:
    """Bytes that a style takes beyond the tight placement that is already reserved."""
    return _bytes(slot, layout, style, tiles) - _bytes(slot, Layout.ROW_MAJOR, Style.TIGHT, tiles)


def _operand(slot: Slot, grid: Grid, address: Address, recipe: Recipe) -> Operand:
    return Operand(address, slot.matrix, recipe, grid.tiles)


@st.composite
def copies(
    draw: st.DrawFn,
    info: DeviceInfo,
    source: Slot,
    target: Slot,
    recipes: st.SearchStrategy[Recipe],
    *,
    tiles: int = MAX_TILES,
    rebuild: bool = False,
) -> Sample:
    """Load a matrix and store it, through memory of two kinds, layouts and styles; with
    ``rebuild``, taken apart and put together by component index in between."""
    memory = memory_of(draw, info, (source, target), tiles)
    load = memory.address(source.name)
    body: list[Statement] = [Load("m", source.matrix, load)]
    if rebuild:
        body.append(Rebuild("n", "m"))
    body.append(Store("n" if rebuild else "m", memory.address(target.name)))
    program = Program(memory.grid, memory.buffers(), tuple(body), memory.numbers)
    return Sample(program, {source.name: _operand(source, memory.grid, load, draw(recipes))})


@dataclass(frozen=True)
class Recipes:
    """Strategies for the three operands of a multiply-add."""

    a: st.SearchStrategy[Recipe]
    b: st.SearchStrategy[Recipe]
    c: st.SearchStrategy[Recipe]


@st.composite
def mul_adds(
    draw: st.DrawFn,
    info: DeviceInfo,
    combination: Combination,
    recipes: Recipes,
    *,
    tiles: int = MAX_TILES,
    storage: Storage = Storage.STORAGE_BUFFER,
    chain: int = 1,
    input_styles: Sequence[Style] = (),
) -> Sample:
    """D = A x B + C for each tile; with ``chain`` > 1 the same A and B are multiplied again
    onto the result, so that each multiply depends on the one before."""
    slots = (
        Slot("a", combination.a, storage=storage, styles=input_styles),
        Slot("b", combination.b, storage=storage, styles=input_styles),
        Slot("c", combination.c, storage=storage, styles=input_styles),
        Slot("d", combination.result, stores=True, storage=storage),
    )
    memory = memory_of(draw, info, slots, tiles)
    body: list[Statement] = [
        Load(f"{slot.name}0", slot.matrix, memory.address(slot.name)) for slot in slots[:3]
    ]
    accumulator = "c0"
    for step in range(chain):
        body.append(mul_add(combination, f"d{step}", "a0", "b0", accumulator))
        accumulator = f"d{step}"
    body.append(Store(accumulator, memory.address("d")))
    program = Program(memory.grid, memory.buffers(), tuple(body), memory.numbers)
    drawn = {"a": draw(recipes.a), "b": draw(recipes.b), "c": draw(recipes.c)}
    operands = {
        slot.name: _operand(slot, memory.grid, memory.address(slot.name), drawn[slot.name])
        for slot in slots[:3]
    }
    return Sample(program, operands)


def mul_add(combination: Combination, result: str, a: str, b: str, c: str) -> MulAdd:
    """The multiply-add of ``combination``, with the signedness flags its types ask for
    (VUID-RuntimeSpirv-OpCooperativeMatrixMulAddKHR-10060)."""
    types = combination.types
    return MulAdd(
        result,
        combination.result,
        a,
        b,
        c,
        a_signed=types.a.is_signed,
        b_signed=types.b.is_signed,
        c_signed=types.c.is_signed,
        result_signed=types.result.is_signed,
        saturating=combination.saturating,
    )


@st.composite
def lengths(draw: st.DrawFn, info: DeviceInfo, matrix: MatrixType) -> Sample:
    """Every invocation writes the length of ``matrix``."""
    grid = grid_of(draw, info, shape_of(draw), tiles=32)
    count = grid.tiles * grid.subgroup_size
    buffer = Buffer("lengths", Pointee(Component.UINT32), count + 16)
    return Sample(Program(grid, (buffer,), (Length(matrix, "lengths"),)), {})


@st.composite
def stamps(draw: st.DrawFn, info: DeviceInfo, matrix: MatrixType) -> Sample:
    """Every component gets a code of its own; the stored matrix shows all of them once."""
    slot = Slot("y", matrix, stores=True)
    memory = memory_of(draw, info, (slot,), 32)
    digits = range(
        0, max(1, (matrix.rows * matrix.columns - 1).bit_length()), matrix.component.bits
    )
    shift = draw(st.sampled_from(tuple(digits)))
    body = (Stamp("m", matrix, shift), Store("m", memory.address("y")))
    return Sample(Program(memory.grid, memory.buffers(), body, memory.numbers), {})
