"""Programs that are built rather than drawn, for cases that go through a list once."""

from __future__ import annotations

from collections.abc import Mapping

from cts.draw.combinations import Combination
from cts.draw.layouts import PointeeKind as Kind
from cts.draw.layouts import Style, place, pointee
from cts.draw.programs import Sample, mul_add
from cts.draw.recipes import exact_limits
from cts.program.model import (
    Grid,
    Layout,
    Load,
    MatrixType,
    Program,
    Scope,
    Statement,
    Storage,
    Store,
)
from cts.program.recipe import Operand, Pattern, Recipe


def product(combination: Combination, grid: Grid, *, seed: int = 1) -> Sample:
    """D = A x B + C of small whole numbers, exact by construction: the least that a combination
    has to be good for. At workgroup scope every workgroup has a matrix of its own."""
    types = combination.types
    top, third = 7, 7
    if not types.is_integer:
        top, third = exact_limits(types.a, types.b, types.c, types.result, combination.k)
    slots: Mapping[str, tuple[MatrixType, int]] = {
        "a": (combination.a, top),
        "b": (combination.b, top),
        "c": (combination.c, third),
        "d": (combination.result, 0),
    }
    tiles = grid.workgroups if combination.scope is Scope.WORKGROUP else grid.tiles
    where = {}
    for name, (matrix, _) in slots.items():
        kind = pointee(matrix.component, Kind.SAME)
        assert kind is not None, "every component has a pointee of its own width"
        where[name] = place(
            name.upper(),
            matrix,
            Layout.ROW_MAJOR,
            kind,
            Style.PADDED,
            Storage.STORAGE_BUFFER,
            tiles,
        )
    body: tuple[Statement, ...] = (
        *(Load(name, slots[name][0], where[name][1]) for name in "abc"),
        mul_add(combination, "d", "a", "b", "c"),
        Store("d", where["d"][1]),
    )
    operands = {
        name.upper(): Operand(
            where[name][1],
            slots[name][0],
            Recipe(Pattern.SMALL, seed + at, limit=slots[name][1]),
            tiles,
        )
        for at, name in enumerate("abc")
    }
    return Sample(Program(grid, tuple(where[name][0] for name in "abcd"), body), operands)
