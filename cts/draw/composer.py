"""What a generated sequence knows of its values while it is composed.

Every value carries a bound on the magnitude of its elements and whether some may be negative, so
that a statement is only added where its result is determined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.bodies import Input
from cts.draw.combinations import combinations
from cts.draw.elements import PRECISION
from cts.draw.flow import one
from cts.draw.programs import Slot
from cts.draw.recipes import SEEDS
from cts.draw.variety import Shape
from cts.program.element_rules import NO_ARITHMETIC
from cts.program.model import (
    Address,
    Component,
    Form,
    Layout,
    Load,
    MatrixType,
    Splat,
    Statement,
)
from cts.program.recipe import Pattern, Recipe

T = TypeVar("T")

INPUTS = 5
"""Buffers that a sequence loads from at most."""
RECENT = 6
"""How far back values are used again."""


@dataclass(frozen=True)
class Known:
    """A value of the sequence: its elements are whole numbers of magnitude ``bound`` at most."""

    name: str
    type: MatrixType
    bound: int
    negative: bool

    @property
    def component(self) -> Component:
        """Component type of the matrix."""
        return self.type.component


def capacity(component: Component) -> int:
    """Up to where a component counts exactly; the end of its range for integers."""
    if component.is_integer:
        return 1 << (component.bits - component.is_signed)
    return int(min(1 << PRECISION[component], 1 << 24))


def anything(name: str, type: MatrixType) -> Known:
    """An integer value of which only the type is known."""
    return Known(name, type, capacity(type.component), type.component.is_signed)


class Composer:
    """A sequence being composed: statements go to ``body``, values to ``values``."""

    def __init__(self, draw: st.DrawFn, info: DeviceInfo, shape: Shape) -> None:
        self.draw, self.info, self.shape = draw, info, shape
        self.combinations = [it for it in combinations(info) if not it.saturating]
        self.body: list[Statement] = []
        self.values: list[Known] = []
        self.inputs: dict[str, Input] = {}
        self.scratches: list[Slot] = []
        """Memory that is stored to and loaded from."""
        self.depth = 0
        self._choices = 0
        self._names = 0

    # --- choosing ---------------------------------------------------------------------------

    def pick(self, options: Sequence[T]) -> T:
        """One of ``options``, simplest first, by the pool's member."""
        self._choices += 1
        return self.shape.pick(self.draw, f"choice {self._choices}", options)

    def likely(self) -> bool:
        """Yes, two times out of three."""
        return self.pick((True, True, False))

    def recent(self, values: Sequence[Known]) -> Known | None:
        """One of the last values, if there are any."""
        return self.pick(values[-RECENT:]) if values else None

    def arithmetical(self) -> list[Known]:
        """Values that element-wise arithmetic works on."""
        return [it for it in self.values if it.component not in NO_ARITHMETIC]

    # --- adding -----------------------------------------------------------------------------

    def name(self) -> str:
        """A fresh name."""
        self._names += 1
        return f"v{self._names}"

    def add(self, make: Callable[[str], Statement], like: Known) -> Known:
        """Append the statement that ``make`` makes for a name; its value is as ``like`` says."""
        name = self.name()
        self.body.append(make(name))
        found = replace(like, name=name)
        self.values.append(found)
        return found

    @contextmanager
    def inside(self) -> Iterator[list[Statement]]:
        """Statements of the block go to the list; what they define is forgotten afterwards."""
        outer, values = self.body, list(self.values)
        self.body = []
        self.depth += 1
        yield self.body
        self.depth -= 1
        self.body, self.values = outer, values

    def fresh(self, type: MatrixType, bound: int) -> Known:
        """A value of ``type`` from memory or, where no buffer is left, from a constant."""
        bound = max(1, min(bound, capacity(type.component) - 1))
        if len(self.inputs) < INPUTS and self.depth == 0 and self.likely():
            return self._loaded(type, bound)
        value = self.pick((1, 0, 1))
        form = self.pick((Form.CONSTANT, Form.CONSTRUCT, Form.INITIALIZER, Form.SPEC_CONSTANT))
        bits = one(type.component) if value else 0
        return self.add(lambda name: Splat(name, type, bits, form), Known("", type, value, False))

    def _loaded(self, type: MatrixType, bound: int) -> Known:
        name, component = self.name(), type.component
        pattern: Pattern = self.pick((Pattern.SMALL, Pattern.PERMUTATION, Pattern.ONES))
        found = Known(name, type, bound, False)
        if component.is_integer and self.pick((False, True)):
            pattern, found = Pattern.BITS, anything(name, type)
        elif component.is_signed and self.pick((False, True)):
            pattern, found = Pattern.SIGNED, replace(found, negative=True)
        recipe = Recipe(pattern, self.draw(SEEDS), limit=min(bound, 1 << 20))
        self.inputs[name] = Input(type, recipe)
        self.body.append(Load(name, type, placeholder(f"{name}.in")))
        self.values.append(found)
        return found

    def operand(self, type: MatrixType, limit: int, positive: bool) -> Known:
        """A value of ``type`` within ``limit``, an old one if there is one."""
        old = [
            it
            for it in self.values
            if it.type == type and it.bound <= limit and not (positive and it.negative)
        ]
        if old and self.likely():
            return self.pick(old[-RECENT:])
        return self.fresh(type, limit)


def placeholder(buffer: str) -> Address:
    """An address that is filled in when the memory is drawn."""
    return Address(buffer, Layout.ROW_MAJOR, 0)
