"""Programs and operands for the tests of the oracle."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, settings

from cts.device.protocol import BufferData, Device, Dispatch
from cts.program.model import (
    Address,
    Buffer,
    Component,
    Grid,
    Layout,
    Load,
    MatrixType,
    MulAdd,
    Pointee,
    Program,
    Storage,
    Store,
    Use,
)
from cts.program.recipe import Pattern, Recipe
from reference.component import Bits
from reference.evaluate import Judgement, evaluate
from reference.layout import place, poisoned
from reference.operands import realise
from reference.values import Exact, FloatSum

_CARRIERS = {
    Component.BFLOAT16: Component.UINT16,
    Component.FLOAT8_E4M3: Component.UINT8,
    Component.FLOAT8_E5M2: Component.UINT8,
}

Types = tuple[Component, Component, Component]


def carrier(component: Component) -> Pointee:
    return Pointee(_CARRIERS.get(component, component))


def exact(recipe: Recipe, component: Component, rows: int, columns: int, tiles: int = 2) -> Exact:
    return Exact(component, realise(recipe, component, rows, columns, tiles))


def chain(types: Types, a: Recipe, b: Recipe, c: Recipe, size: int = 8, tiles: int = 2) -> FloatSum:
    """One multiply-add of ``size`` cubed."""
    factor, third, result = types
    left, right = (exact(recipe, factor, size, size, tiles) for recipe in (a, b))
    return FloatSum(result, ((left, right),), exact(c, third, size, size, tiles), (result,))


def product(
    types: Types,
    sizes: tuple[int, int, int] = (16, 16, 16),
    *,
    saturating: bool = False,
    storage: Storage = Storage.STORAGE_BUFFER,
    load: Layout = Layout.ROW_MAJOR,
    grid: Grid | None = None,
    padding: int = 16,
) -> Program:
    """load a, b and c, multiply-add, store d; each tile has its own matrices, lines are padded."""
    factor, third, result = types
    m, n, k = sizes
    grid = grid or Grid(2, 2, 32)
    kinds = {
        "a": MatrixType(factor, m, k, Use.A),
        "b": MatrixType(factor, k, n, Use.B),
        "c": MatrixType(third, m, n, Use.ACCUMULATOR),
        "d": MatrixType(result, m, n, Use.ACCUMULATOR),
    }
    copies = grid.subgroups if storage is Storage.WORKGROUP else grid.tiles
    buffers, addresses = [], {}
    for name, kind in kinds.items():
        layout = Layout.ROW_MAJOR if name == "d" else load
        row_major = layout is Layout.ROW_MAJOR
        lines, length = (kind.rows, kind.columns) if row_major else (kind.columns, kind.rows)
        stride = length + padding
        buffers.append(Buffer(name, carrier(kind.component), lines * stride * copies + 16, storage))
        addresses[name] = Address(name, layout, stride, 16, lines * stride)
    signs = [c.is_signed for c in (factor, factor, third, result)]
    body = (
        *(Load(name.upper(), kinds[name], addresses[name]) for name in "abc"),
        MulAdd("D", kinds["d"], "A", "B", "C", *signs, saturating),
        Store("D", addresses["d"]),
    )
    return Program(grid, tuple(buffers), body)


def inputs(program: Program, **recipes: Recipe) -> dict[str, bytes]:
    """The bytes of every buffer; recipes by buffer name, all else is poison."""
    loads = {s.address.buffer: s for s in program.body if isinstance(s, Load)}
    found = {}
    for index, buffer in enumerate(program.buffers):
        image = poisoned(buffer, program.grid, index)
        if buffer.name in recipes:
            load = loads[buffer.name]
            kind = load.type
            tiles = program.grid.tiles
            bits = realise(recipes[buffer.name], kind.component, kind.rows, kind.columns, tiles)
            place(bits, kind, load.address, buffer, program.grid, image)
        found[buffer.name] = image.tobytes()
    return found


def dispatch(program: Program, data: dict[str, bytes], repeat: int = 1) -> Dispatch:
    """A request without SPIR-V: the reference device needs the program only."""
    buffers = tuple(BufferData(data[buffer.name]) for buffer in program.buffers)
    return Dispatch(b"", buffers, (program.grid.workgroups, 1, 1), repeat=repeat, program=program)


def judge(program: Program, data: dict[str, bytes], device: Device) -> dict[str, Judgement]:
    """What the oracle says of a device's answer, by buffer."""
    reply = device.execute(dispatch(program, data))
    expected = evaluate(program, data)
    names = [buffer.name for buffer in program.buffers]
    return {
        name: expected[name].check(after) for name, after in zip(names, reply.buffers, strict=False)
    }


def bands(judgements: dict[str, Judgement]) -> set[str]:
    """The bands that anything lies outside of."""
    return {v.band for judgement in judgements.values() for v in judgement.violations}


def same(recipe: Recipe) -> dict[str, Recipe]:
    """The recipe for a, b and c, with different seeds."""
    return {
        name: Recipe(recipe.pattern, recipe.seed + index, recipe.limit, recipe.keep)
        for index, name in enumerate("abc")
    }


def altered(data: bytes, at: int, value: int) -> bytes:
    changed = np.frombuffer(data, np.uint8).copy()
    changed[at] ^= value
    return changed.tobytes()


def element(bits: Bits, *index: int) -> int:
    return int(bits[index])


relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Machines under load are slow, which is no fault of the oracle."""

SMALL = Recipe(Pattern.SMALL, 1, 3)
SIGNED = Recipe(Pattern.SIGNED, 1, 3)
FULL = Recipe(Pattern.FULL, 1, 2)
