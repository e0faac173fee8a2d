"""Strategies for programs that hand matrices on: constructions, aggregates, functions, branches,
loops and barriers."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.bodies import (
    Around,
    Input,
    bodies,
    enlarged,
    finish,
    part_layouts,
    space_of,
    stepping,
)
from cts.draw.elements import COMPONENTS, types_of
from cts.draw.programs import Sample, Slot
from cts.draw.recipes import SEEDS, bit_recipes
from cts.draw.variety import members, shape_of
from cts.program.flow import Barrier, Through, Via
from cts.program.model import (
    Branch,
    Carry,
    Component,
    Form,
    Load,
    MatrixType,
    Merge,
    Rebuild,
    Repeat,
    Splat,
    Statement,
    Storage,
    Store,
)
from cts.program.recipe import Pattern, Recipe

MOST = 4
"""Matrices that pass something together."""

_ONE = {
    Component.FLOAT16: 0x3C00,
    Component.FLOAT32: 0x3F800000,
    Component.FLOAT64: 0x3FF0000000000000,
    Component.BFLOAT16: 0x3F80,
    Component.FLOAT8_E4M3: 0x38,
    Component.FLOAT8_E5M2: 0x3C,
}


def one(component: Component) -> int:
    """The bits of 1."""
    return _ONE.get(component, 1)


@st.composite
def any_types(draw: st.DrawFn, info: DeviceInfo) -> MatrixType | None:
    """A matrix type that the device has, with any component; None where it has none."""
    present = [component for component in COMPONENTS if types_of(info, component)]
    if not present:
        return None
    return draw(members(types_of(info, draw(members(present)))))


def plain_bits(component: Component) -> st.SearchStrategy[int]:
    """Bits of a finite, normal number."""
    if component.is_integer:
        return st.integers(0, (1 << component.bits) - 1)
    low = one(component)
    sign = 1 << (component.bits - 1)
    return st.integers(low, low + low // 4).flatmap(lambda it: st.sampled_from((it, it | sign)))


def coded_recipes(component: Component, count: int) -> st.SearchStrategy[list[Recipe]]:
    """Recipes for matrices that differ from each other in nearly every element."""
    others = bit_recipes(component, specials=False)
    coded = st.builds(Recipe, st.just(Pattern.BITS), SEEDS)
    if component.is_float:
        coded = st.builds(Recipe, st.just(Pattern.FULL), SEEDS, limit=st.just(6))
    return st.lists(st.one_of(coded, coded, others), min_size=count, max_size=count)


# --- constructions ------------------------------------------------------------------------


@st.composite
def constructions(draw: st.DrawFn, info: DeviceInfo, matrix: MatrixType, form: Form) -> Sample:
    """A matrix of one scalar, stored as it is or rebuilt component by component."""
    bits = 0 if form is Form.NULL else draw(plain_bits(matrix.component))
    body: list[Statement] = [Splat("s", matrix, bits, form)]
    result = "s"
    if shape_of(draw).pick(draw, "rebuild", (False, False, True)):
        body.append(Rebuild("r", "s"))
        result = "r"
    return draw(bodies(info, {}, body, {result: matrix}))


# --- aggregates, functions, variables -----------------------------------------------------


@st.composite
def passages(draw: st.DrawFn, info: DeviceInfo, matrix: MatrixType, via: Via) -> Sample:
    """Several matrices go through ``via``; the chosen one is stored, and another as it was."""
    shape = shape_of(draw)
    count = shape.pick(draw, "values", (1, 2, 3, MOST))
    recipes = draw(coded_recipes(matrix.component, count))
    index = shape.pick(draw, "index", range(count))
    names = [f"v{at}" for at in range(count)]
    inputs = {name: Input(matrix, recipe) for name, recipe in zip(names, recipes, strict=True)}
    body = [Through("r", tuple(names), index, via)]
    kept = names[(index + 1) % count]
    return draw(bodies(info, inputs, body, {"r": matrix, kept: matrix}))


@st.composite
def branches(draw: st.DrawFn, info: DeviceInfo, matrix: MatrixType, nested: bool) -> Sample:
    """A branch by a bit of the tile's index that loads from one of two places, each with a layout
    of its own; ``nested`` ones decide again inside."""
    recipes = draw(coded_recipes(matrix.component, 3))
    names = ("a", "b", "c")
    inputs = {name: Input(matrix, recipe) for name, recipe in zip(names, recipes, strict=True)}
    memory = space_of(draw, info, inputs, {"r": matrix})
    loads = {name: Load(name, matrix, memory.address(f"{name}.in")) for name in names}
    shape = shape_of(draw)
    bit = shape.pick(draw, "bit", (0, 1))
    then: tuple[Statement, ...] = (loads["a"],)
    otherwise: tuple[Statement, ...] = (loads["b"],)
    body: list[Statement] = [loads["c"]]
    merge = Merge("r", "a", "b")
    if nested:
        inner = Branch(1 - bit, (loads["b"],), (), (Merge("q", "b", "c"),))
        otherwise, merge = (inner,), Merge("r", "a", "q")
    if shape.pick(draw, "sides", (False, True)):
        then, otherwise = otherwise, then
        merge = Merge("r", merge.otherwise, merge.then)
    body.append(Branch(bit, then, otherwise, (merge,)))
    body.append(Store("r", memory.address("r.out")))
    return finish(memory, inputs, body)


@st.composite
def loops(draw: st.DrawFn, info: DeviceInfo, matrix: MatrixType) -> Sample:
    """A loop that rotates several matrices and loads one more each time, from a place that moves
    on; all of them are stored."""
    shape = shape_of(draw)
    count = draw(st.sampled_from((0, 1, 2, 3, 5)))
    carried = shape.pick(draw, "carried", (1, 2, 3))
    recipes = draw(coded_recipes(matrix.component, carried + 1))
    names = [f"v{at}" for at in range(carried)]
    inputs = {name: Input(matrix, recipe) for name, recipe in zip(names, recipes, strict=False)}
    # What the loop loads lies in one buffer, one matrix an iteration, before the next tile's.
    outputs = {f"r{at}": matrix for at in range(carried)}
    layouts = part_layouts(matrix, count, 1)
    inputs["m"] = Input(enlarged(matrix, max(count, 1), 1), recipes[-1], layouts)
    memory = space_of(draw, info, inputs, outputs)
    # A single iteration's matrix may have lines that no second one could start behind.
    place = stepping(memory, "m.in", matrix) if count > 1 else memory.address("m.in")
    load = Load("m", matrix, place)
    carries = tuple(
        Carry(f"w{at}", name, "m" if at == carried - 1 else f"w{at + 1}", f"r{at}")
        for at, name in enumerate(names)
    )
    body: list[Statement] = [Load(n, matrix, memory.address(f"{n}.in")) for n in names]
    body.append(Repeat(count, carries, (load,)))
    body += [Store(name, memory.address(f"{name}.out")) for name in outputs]
    return finish(memory, inputs, body)


# --- barriers -----------------------------------------------------------------------------


@st.composite
def exchanges(
    draw: st.DrawFn,
    info: DeviceInfo,
    matrix: MatrixType,
    storage: Storage,
    *,
    by_access: bool = False,
    rounds: int = 1,
) -> Sample:
    """Each subgroup stores its matrix, and after a barrier loads the one of another subgroup of
    its workgroup; ``rounds`` times, with a barrier before the memory is used again."""
    recipe = draw(coded_recipes(matrix.component, 1))[0]
    inputs, outputs = {"a": Input(matrix, recipe)}, {"r": matrix}
    shared = Slot("shared", matrix, stores=True, storage=storage)
    around = Around(subgroups=2)
    memory = space_of(draw, info, inputs, outputs, around, (shared,))
    turn = shape_of(draw).pick(draw, "turn", range(1, max(memory.grid.subgroups, 2)))
    place = memory.address("shared")
    barrier = Barrier(by_access=by_access)
    body: list[Statement] = [Load("a", matrix, memory.address("a.in"))]
    current = "a"
    for at in range(rounds):
        if at:
            body.append(barrier)
        body += [Store(current, place), barrier]
        current = f"b{at}"
        body.append(Load(current, matrix, replace(place, turn=turn)))
    body.append(Store(current, memory.address("r.out")))
    return finish(memory, inputs, body, around)


@st.composite
def revisits(draw: st.DrawFn, info: DeviceInfo, matrix: MatrixType, storage: Storage) -> Sample:
    """Each subgroup stores its matrix and loads it again, twice through the same memory."""
    recipes = draw(coded_recipes(matrix.component, 2))
    inputs = {name: Input(matrix, recipe) for name, recipe in zip("ab", recipes, strict=True)}
    outputs = {"c": matrix, "d": matrix}
    shared = Slot("shared", matrix, stores=True, storage=storage)
    memory = space_of(draw, info, inputs, outputs, extra=(shared,))
    place = memory.address("shared")
    body: list[Statement] = [
        Load("a", matrix, memory.address("a.in")),
        Load("b", matrix, memory.address("b.in")),
        Store("a", place),
        Load("c", matrix, place),
        Store("b", place),
        Load("d", matrix, place),
        Store("c", memory.address("c.out")),
        Store("d", memory.address("d.out")),
    ]
    return finish(memory, inputs, body)
