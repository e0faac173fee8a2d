"""Strategies for several multiply-adds in one program: blocked products as real kernels have them,
and chains in which a result becomes an operand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.bodies import (
    PLAIN,
    Around,
    Input,
    enlarged,
    finish,
    part,
    part_layouts,
    space_of,
    stepping,
)
from cts.draw.combinations import Combination
from cts.draw.elements import PRECISION, types_of
from cts.draw.programs import Memory, Sample, Slot, mul_add
from cts.draw.recipes import exact_limits, integer_recipes, small_recipes
from cts.draw.variety import shape_of
from cts.program.arithmetic import Conversion, Convert
from cts.program.flow import Through, Via
from cts.program.model import (
    Carry,
    Layout,
    Load,
    MatrixType,
    Repeat,
    Statement,
    Store,
)
from cts.program.recipe import Recipe

Strategy = st.SearchStrategy[Recipe]


def operand_recipes(combination: Combination, depth: int) -> tuple[Strategy, Strategy, Strategy]:
    """Operands of A, B and C whose sums of ``depth`` products are determined: any integers, or
    floats that are small and not negative."""
    types = combination.types
    if types.is_integer:
        if not combination.saturating:
            return integer_recipes(), integer_recipes(), integer_recipes()
        return small_recipes(3), small_recipes(3), integer_recipes()
    top, rest = exact_limits(types.a, types.b, types.c, types.result, depth)
    return small_recipes(top), small_recipes(top), small_recipes(rest)


# --- blocks ---------------------------------------------------------------------------------


@st.composite
def blocked(
    draw: st.DrawFn,
    info: DeviceInfo,
    combination: Combination,
    *,
    accumulators: Sequence[tuple[int, int]] = ((1, 1), (2, 2), (3, 2), (3, 4)),
    looped: bool = True,
    around: Around = PLAIN,
) -> Sample:
    """Each tile's product of blocks: several rows of A and columns of B, so many accumulators
    live at once, and several steps along K, ``looped`` or one after another."""
    shape = shape_of(draw)
    down, across = shape.pick(draw, "block", accumulators)
    most = 4 if down * across < 6 else 3
    steps = draw(st.integers(1, most)) if looped else shape.pick(draw, "steps", range(1, 3))
    blocks = {"a": (down, steps), "b": (steps, across), "c": (down, across), "d": (down, across)}
    types = {
        "a": combination.a,
        "b": combination.b,
        "c": combination.c,
        "d": combination.result,
    }
    layouts = {name: part_layouts(types[name], *blocks[name]) for name in types}
    if not all(layouts.values()):
        # Parts of these matrices can't start where matrices may: there's one block and one step.
        down = across = steps = 1
        blocks = dict.fromkeys(types, (1, 1))
        layouts = dict.fromkeys(types, tuple(Layout))
    recipes = operand_recipes(combination, combination.k * steps)
    inputs = {
        name: Input(enlarged(types[name], *blocks[name]), draw(recipe), layouts[name])
        for name, recipe in zip("abc", recipes, strict=True)
    }
    whole = Slot("d.out", enlarged(types["d"], *blocks["d"]), stores=True, layouts=layouts["d"])
    memory = space_of(draw, info, inputs, {}, around, (whole,))
    kernel = _Kernel(memory, combination, down, across)
    body = kernel.looped(steps) if looped else kernel.unrolled(steps)
    return finish(memory, inputs, body, around)


class _Kernel:
    """The statements of one blocked product."""

    def __init__(self, memory: Memory, combination: Combination, down: int, across: int) -> None:
        self.memory = memory
        self.combination = combination
        self.down, self.across = down, across

    def _load(self, name: str, slot: str, matrix: MatrixType, down: int, across: int) -> Load:
        buffer, address = self.memory.places[slot]
        return Load(name, matrix, part(address, matrix, buffer.pointee, down, across))

    def _first(self) -> list[Statement]:
        c = self.combination.c
        return [
            self._load(f"c{i}{j}", "c.in", c, i, j)
            for i in range(self.down)
            for j in range(self.across)
        ]

    def _operands(self, suffix: str, step: int, stride: tuple[int, int]) -> list[Statement]:
        found: list[Load] = []
        for i in range(self.down):
            load = self._load(f"a{i}{suffix}", "a.in", self.combination.a, i, step)
            found.append(replace(load, address=replace(load.address, step=stride[0])))
        for j in range(self.across):
            load = self._load(f"b{j}{suffix}", "b.in", self.combination.b, step, j)
            found.append(replace(load, address=replace(load.address, step=stride[1])))
        return [*found]

    def _products(self, suffix: str, before: str, after: str) -> list[Statement]:
        return [
            mul_add(
                self.combination,
                f"{after}{i}{j}",
                f"a{i}{suffix}",
                f"b{j}{suffix}",
                f"{before}{i}{j}",
            )
            for i in range(self.down)
            for j in range(self.across)
        ]

    def _stores(self, last: str) -> list[Statement]:
        buffer, address = self.memory.places["d.out"]
        result = self.combination.result
        return [
            Store(f"{last}{i}{j}", part(address, result, buffer.pointee, i, j))
            for i in range(self.down)
            for j in range(self.across)
        ]

    def unrolled(self, steps: int) -> list[Statement]:
        """All steps one after another; only the first may take a C of another type."""
        body = self._first()
        before = "c"
        for step in range(steps):
            body += self._operands(f"_{step}", step, (0, 0))
            body += self._products(f"_{step}", before, f"d{step}_")
            before = f"d{step}_"
        return [*body, *self._stores(before)]

    def looped(self, steps: int) -> list[Statement]:
        """The steps in a loop that carries all accumulators."""
        memory, combination = self.memory, self.combination
        stride = (0, 0)
        if steps > 1:
            stride = (
                stepping(memory, "a.in", combination.a, across=True).step,
                stepping(memory, "b.in", combination.b).step,
            )
        inside = [*self._operands("", 0, stride), *self._products("", "s", "t")]
        carried = tuple(
            Carry(f"s{i}{j}", f"c{i}{j}", f"t{i}{j}", f"d{i}{j}")
            for i in range(self.down)
            for j in range(self.across)
        )
        return [*self._first(), Repeat(steps, carried, tuple(inside)), *self._stores("d")]


# --- arrays ---------------------------------------------------------------------------------


_ARRAYS = (Via.ARRAY, Via.ARRAY_DYNAMIC, Via.PRIVATE_ARRAY, Via.ARRAY_VALUE)


@st.composite
def from_arrays(draw: st.DrawFn, info: DeviceInfo, combination: Combination) -> Sample:
    """A multiply-add of matrices that are elements of arrays, whose result goes through an array of
    accumulators."""
    shape = shape_of(draw)
    via = shape.pick(draw, "via", _ARRAYS)
    recipes = operand_recipes(combination, combination.k)
    types = {"a": combination.a, "b": combination.b, "c": combination.c}
    inputs, body = {}, []
    for (name, matrix), recipe in zip(types.items(), recipes, strict=True):
        count = shape.pick(draw, f"{name} values", (2, 1, 3))
        names = tuple(f"{name}{at}" for at in range(count))
        inputs.update({it: Input(matrix, draw(recipe)) for it in names})
        index = shape.pick(draw, f"{name} index", range(count))
        body.append(Through(name, names, index, via))
    loads = list(inputs)
    memory = space_of(draw, info, inputs, {"r": combination.result})
    statements: list[Statement] = [
        *(Load(name, inputs[name].matrix, memory.address(f"{name}.in")) for name in loads),
        *body,
        mul_add(combination, "d", "a", "b", "c"),
        Through("r", ("d", "d"), 1, via),
        Store("r", memory.address("r.out")),
    ]
    return finish(memory, inputs, statements)


# --- chains -------------------------------------------------------------------------------------


def chainable(info: DeviceInfo, combination: Combination) -> bool:
    """Whether a result can be stored, after a conversion if need be, and loaded as A again."""
    types, square = combination.types, combination.n == combination.k
    if not square or combination.saturating:
        return False
    if not types.is_integer and combination.k + 1 > _counted(combination):
        return False
    return types.a is types.result or _narrowed(info, combination) is not None


def _narrowed(info: DeviceInfo, combination: Combination) -> MatrixType | None:
    """The accumulator type that has A's component, where floats can be converted to it."""
    narrow = replace(combination.result, component=combination.types.a)
    both_floats = combination.types.result.is_float and combination.types.a.is_float
    if both_floats and narrow in types_of(info, narrow.component):
        return narrow
    return None


@st.composite
def chained(draw: st.DrawFn, info: DeviceInfo, combination: Combination) -> Sample:
    """D1 = A x B + C; D1 is stored and loaded as A of D2 = D1 x B + C; both are stored."""
    types = combination.types
    if types.is_integer:
        a_recipes = b_recipes = c_recipes = integer_recipes()
    else:
        a_recipes, b_recipes, c_recipes = _twice(combination)
    inputs = {
        "a": Input(combination.a, draw(a_recipes)),
        "b": Input(combination.b, draw(b_recipes)),
        "c": Input(combination.c, draw(c_recipes)),
    }
    outputs = {"d": combination.result, "e": combination.result}
    narrow = None if types.a is types.result else _narrowed(info, combination)
    kept = narrow or combination.result
    # The matrix lies in memory once, as the accumulator and as A: both have its shape.
    shared = Slot("shared", kept, stores=True)
    memory = space_of(draw, info, inputs, outputs, extra=(shared,))
    place = memory.address("shared")
    body: list[Statement] = [
        Load(name, it.matrix, memory.address(f"{name}.in")) for name, it in inputs.items()
    ]
    body.append(mul_add(combination, "d", "a", "b", "c"))
    stored = "d"
    if narrow is not None:
        body.append(Convert("n", narrow, "d", Conversion.F))
        stored = "n"
    body += [
        Store(stored, place),
        Load("a2", combination.a, place),
        mul_add(combination, "e", "a2", "b", "c"),
        Store("d", memory.address("d.out")),
        Store("e", memory.address("e.out")),
    ]
    return finish(memory, inputs, body)


def _twice(combination: Combination) -> tuple[Strategy, Strategy, Strategy]:
    """Floats so small that the products of products are exact: zeros, ones and permutations."""
    types = combination.types
    top, rest = exact_limits(types.a, types.b, types.c, types.result, combination.k**2)
    if (combination.k + 1) * top > _counted(combination):
        top = 1
    return small_recipes(top), small_recipes(1), small_recipes(min(rest, top))


def _counted(combination: Combination) -> int:
    """How far A's component and the result's count whole numbers exactly."""
    types = combination.types
    return 1 << min(PRECISION[types.a], PRECISION[types.result])
