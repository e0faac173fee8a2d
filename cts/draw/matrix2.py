"""Strategies for programs with the statements of matrix2 and maintenance1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.flexible import workgroups
from cts.draw.layouts import LOAD_STYLES, STORE_STYLES, place, pointee
from cts.draw.programs import NUMBERS, Sample, Slot
from cts.draw.recipes import SEEDS, small_recipes
from cts.draw.shapes import matrix_types
from cts.draw.variety import Shape, shape_of
from cts.program.expression import Operator
from cts.program.matrix2 import Reduce, Reduction
from cts.program.model import (
    Address,
    Buffer,
    Component,
    Dialect,
    Grid,
    Load,
    MatrixType,
    Program,
    Scope,
    Statement,
    Store,
    Use,
)
from cts.program.recipe import Operand, Pattern, Plant, Recipe
from cts.program.requires import NEEDS
from reference.component import FORMATS, encode

Recipes = st.SearchStrategy[Recipe]


def dialects(info: DeviceInfo, need: str) -> tuple[Dialect, ...]:
    """The extensions whose feature ``need`` (``Reductions``, ``Conversions``, ``PerElement``) the
    device supports."""
    return tuple(
        dialect for dialect in Dialect if NEEDS[need + dialect.name].feature in info.features
    )


@st.composite
def places(
    draw: st.DrawFn, shape: Shape, slots: Sequence[Slot], grid: Grid
) -> dict[str, tuple[Buffer, Address]]:
    """A place in memory for each slot, layout and style drawn, for the tiles of ``grid``."""
    found = {}
    for at, slot in enumerate(slots):
        styles = slot.styles or (STORE_STYLES if slot.stores else LOAD_STYLES)
        layout = shape.pick(draw, f"layout {at}", slot.layouts)
        style = draw(st.sampled_from(styles))
        kind = pointee(slot.matrix.component, slot.pointee)
        if kind is None:
            raise ValueError(f"{slot.name}: {slot.matrix} has no {slot.pointee.label} pointee")
        tiles = tiles_of(grid, slot.matrix.scope)
        found[slot.name] = place(slot.name, slot.matrix, layout, kind, style, slot.storage, tiles)
    return found


def tiles_of(grid: Grid, scope: Scope) -> int:
    """Matrices of one slot in the whole dispatch."""
    return grid.workgroups if scope is Scope.WORKGROUP else grid.tiles


@st.composite
def transforms(
    draw: st.DrawFn,
    info: DeviceInfo,
    inputs: Mapping[str, tuple[MatrixType, Recipes]],
    body: Sequence[Statement],
    outputs: Mapping[str, MatrixType],
    dialect: Dialect,
    *,
    invocations: int = 0,
) -> Sample:
    """Load the inputs, run ``body``, store the outputs. A buffer has its value's name in capitals;
    where an input is stored as it is, the other buffer's name ends in 2."""
    targets = {name: name.upper() + ("2" if name in inputs else "") for name in outputs}
    slots = [Slot(name.upper(), matrix) for name, (matrix, _) in inputs.items()]
    slots += [Slot(targets[name], matrix, stores=True) for name, matrix in outputs.items()]
    scope = slots[0].matrix.scope
    elements = max(slot.matrix.rows * slot.matrix.columns for slot in slots)
    shape = shape_of(draw)
    grid = draw(workgroups(info, shape, scope, invocations, elements))
    where = draw(places(shape, slots, grid))
    loads = [Load(name, matrix, where[name.upper()][1]) for name, (matrix, _) in inputs.items()]
    stores = [Store(name, where[targets[name]][1]) for name in outputs]
    program = Program(
        grid,
        tuple(where[slot.name][0] for slot in slots),
        (*loads, *body, *stores),
        shape.pick(draw, "numbers", NUMBERS),
        dialect=dialect,
    )
    operands = {
        name.upper(): Operand(
            where[name.upper()][1], matrix, draw(recipes), tiles_of(grid, matrix.scope)
        )
        for name, (matrix, recipes) in inputs.items()
    }
    return Sample(program, operands)


# --- reductions -----------------------------------------------------------------------------


def reducible(
    info: DeviceInfo, component: Component, reduction: Reduction
) -> tuple[tuple[MatrixType, tuple[MatrixType, ...]], ...]:
    """Accumulators that can be reduced, each with the types that the result can have."""
    found = matrix_types(info, Use.ACCUMULATOR, component)
    pairs = []
    for source in found:
        if reduction is Reduction.QUAD:
            halves = (source.rows, source.columns)
            targets = [it for it in found if (2 * it.rows, 2 * it.columns) == halves]
        elif reduction is Reduction.ROW:
            targets = [it for it in found if it.rows == source.rows]
        elif reduction is Reduction.COLUMN:
            targets = [it for it in found if it.columns == source.columns]
        else:
            targets = list(found)
        if targets:
            ordered = sorted(targets, key=lambda it: it != source)
            pairs.append((source, tuple(ordered[:6])))
    return tuple(pairs)


def combined_elements(matrix: MatrixType, reduction: Reduction) -> int:
    """How many elements become one."""
    return {
        Reduction.ROW: matrix.columns,
        Reduction.COLUMN: matrix.rows,
        Reduction.ALL: matrix.rows * matrix.columns,
        Reduction.QUAD: 4,
    }[reduction]


def whole(value: float, component: Component) -> int:
    """The bits of a number that the component holds."""
    if component.is_integer:
        return int(value) & ((1 << component.bits) - 1)
    return int(encode(np.array([value]), component)[0])


def _factors(component: Component) -> Recipes:
    """Ones, with a few other factors in each matrix: their product stays representable."""
    numbers = (
        (2.0, 3.0, 0.0)
        if component.is_integer or FORMATS[component].precision < 8
        else (2.0, 0.5, 3.0, -1.0, 4.0)
    )
    spots = st.integers(0, 255)
    plant = st.builds(
        Plant, spots, spots, spots, st.sampled_from([whole(it, component) for it in numbers])
    )
    plants = st.lists(plant, min_size=1, max_size=3).map(tuple)
    return st.builds(Recipe, st.just(Pattern.ONES), SEEDS, plants=plants)


def reduction_recipes(component: Component, operator: Operator, elements: int) -> Recipes:
    """Operands of which a reduction has one legal result."""
    if component.is_integer:
        patterns = (
            Pattern.ZEROS,
            Pattern.ONES,
            Pattern.INDEX,
            Pattern.SMALL,
            Pattern.SIGNED,
            Pattern.BITS,
            Pattern.SPECIALS,
        )
        return st.builds(Recipe, st.sampled_from(patterns), SEEDS)
    if operator is Operator.MUL:
        return _factors(component)
    if operator is Operator.ADD:
        limit = max(1, (1 << FORMATS[component].precision) // elements)
        return small_recipes(min(limit, 63), signed=True)
    ordered = (Pattern.ZEROS, Pattern.IDENTITY, Pattern.INDEX, Pattern.SIGNED, Pattern.FULL)
    return st.builds(
        Recipe, st.sampled_from(ordered), SEEDS, limit=st.just(5), negate=st.booleans()
    )


def rounding_recipes(component: Component) -> Recipes:
    """Operands whose sums round: full significands of similar size, few or many of them."""
    exponent = 2 if FORMATS[component].precision < 8 else 3
    return st.builds(
        Recipe,
        st.sampled_from((Pattern.FULL, Pattern.POWERS)),
        SEEDS,
        limit=st.sampled_from((exponent, 1)),
        keep=st.sampled_from((8, 8, 5, 2)),
        negate=st.booleans(),
    )


@st.composite
def reductions(
    draw: st.DrawFn,
    info: DeviceInfo,
    component: Component,
    reduction: Reduction,
    operator: Operator,
    dialect: Dialect,
    *,
    rounding: bool = False,
) -> Sample:
    """Reduce an accumulator and store the result."""
    shape = shape_of(draw)
    pairs = reducible(info, component, reduction)
    square = tuple(pair for pair in pairs if pair[0].rows == pair[0].columns)
    # Half of the modules are square, so that neither rows nor columns can stand for the other;
    # cases differ, so that a run with one module for each still has all kinds of sizes.
    name = f"{component.label} {reduction.label} {operator.label}"
    source, targets = shape.pick(
        draw, f"source of {name}", (square or pairs) if shape.index % 2 else pairs
    )
    target = shape.pick(draw, f"target of {name}", targets)
    elements = combined_elements(source, reduction)
    recipes = (
        rounding_recipes(component)
        if rounding
        else reduction_recipes(component, operator, elements)
    )
    body = [Reduce("r", target, "m", reduction, operator)]
    return draw(transforms(info, {"m": (source, recipes)}, body, {"r": target}, dialect))


def small_exact(component: Component, depth: int) -> int:
    """The largest whole number of which ``depth`` add up exactly."""
    if component.is_integer:
        return 7
    return max(1, min(7, (1 << FORMATS[component].precision) // max(1, depth)))


def root(component: Component) -> int:
    """The largest whole number whose square the component holds exactly; at most 15."""
    if component.is_integer:
        return 7
    return min(15, math.isqrt(1 << FORMATS[component].precision))
