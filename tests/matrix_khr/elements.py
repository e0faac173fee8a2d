"""Programs with one statement on elements, run on the concrete machine and judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cts.program.controls import Control
from cts.program.element_rules import NO_ARITHMETIC
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
    Store,
    Use,
)
from cts.program.recipe import Recipe
from reference.component import bits_dtype
from reference.evaluate import evaluate
from reference.expectation import Violation
from reference.layout import place, poisoned
from reference.machine import Behaviour, Machine
from reference.operands import realise

GRID = Grid(1, 2, 8)
SIZE = 8
UNSIGNED = {
    8: Component.UINT8,
    16: Component.UINT16,
    32: Component.UINT32,
    64: Component.UINT64,
}


def matrix(component: Component) -> MatrixType:
    return MatrixType(component, SIZE, SIZE, Use.ACCUMULATOR)


def at(buffer: str) -> Address:
    return Address(buffer, Layout.ROW_MAJOR, SIZE, 0, SIZE * SIZE)


def buffer(name: str, component: Component) -> Buffer:
    kind = UNSIGNED[component.bits] if component in NO_ARITHMETIC else component
    return Buffer(name, Pointee(kind), GRID.tiles * SIZE * SIZE)


class Bench:
    """Inputs a, b, ... of one component; the statements define r of another."""

    def __init__(
        self,
        source: Component,
        target: Component,
        statements: Sequence[Statement],
        controls: tuple[Control, ...] = (),
        inputs: str = "a",
        precise: bool = False,
    ) -> None:
        self.source, self.target, self.inputs = source, target, inputs
        loads = [Load(name, matrix(source), at(name.upper())) for name in inputs]
        buffers = [buffer(name.upper(), source) for name in inputs]
        self.program = Program(
            GRID,
            (*buffers, buffer("R", target)),
            (*loads, *statements, Store("r", at("R"))),
            controls=controls,
            precise=precise,
        )

    def memory(self, operands: Mapping[str, Recipe | Sequence[int]]) -> dict[str, bytes]:
        """The bytes of all buffers: each operand from a recipe, or from codes that repeat."""
        found = {}
        for index, one in enumerate(self.program.buffers):
            image = poisoned(one, GRID, index)
            given = operands.get(one.name.lower())
            if given is not None:
                kind = matrix(self.source)
                if isinstance(given, Recipe):
                    bits = realise(given, self.source, SIZE, SIZE, GRID.tiles)
                else:
                    shape = (GRID.tiles, SIZE, SIZE)
                    bits = np.resize(np.array(given, bits_dtype(self.source)), shape)
                place(bits, kind, at(one.name), one, GRID, image)
            found[one.name] = image.tobytes()
        return found

    def run(
        self, operands: Mapping[str, Recipe | Sequence[int]], behaviour: Behaviour | None = None
    ) -> tuple[Violation, ...]:
        """What is wrong with what the machine makes of the operands."""
        memory = self.memory(operands)
        after = Machine(self.program, memory, behaviour).run()
        return tuple(evaluate(self.program, memory)["R"].check(after["R"]).violations)

    def judge(self, operands: Mapping[str, Recipe | Sequence[int]], code: int) -> str | None:
        """The band that a result of ``code`` everywhere violates; None if none."""
        memory = self.memory(operands)
        size = GRID.tiles * SIZE * SIZE
        after = np.full(size, code, bits_dtype(self.target)).tobytes()
        found = evaluate(self.program, memory)["R"].check(after).violations
        return found[0].band if found else None
