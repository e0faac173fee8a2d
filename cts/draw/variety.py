"""How many different modules the examples of a case are spread over.

A driver compiles a module once and runs it as often as one likes; on a software driver the
compilation costs twenty dispatches. What is baked into a module (layouts, local size, storage,
how numbers arrive) is therefore drawn from a small pool of combinations, while what isn't
(strides, offsets, tiles, operands) is new in every example. The pool depends on the run's seed
and not on the case, so cases that need the same module share its pipeline.

Each part of a combination is once in a while replaced by its simplest option. Those draws are
where shrinking goes: a minimal example is simple in every part that doesn't matter.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

_HAND = 8
"""Among so many members of the pool the options of a part are shared out evenly."""
_CHANCE = st.integers(0, 199)
"""Where it is 0, a part is the simplest option instead of the pool's."""


@dataclass(frozen=True)
class Variety:
    """The size of the pool, and the seed of the run that it comes from."""

    modules: int = 8
    seed: int = 0


_DEFAULT = Variety()
_VARIETY: ContextVar[Variety] = ContextVar("variety")


@contextmanager
def variety(value: Variety) -> Iterator[None]:
    """Draw from a pool of this size while the block runs."""
    token = _VARIETY.set(value)
    try:
        yield
    finally:
        _VARIETY.reset(token)


@dataclass(frozen=True)
class Shape:
    """One member of the pool."""

    seed: int
    index: int

    def pick(self, draw: st.DrawFn, part: str, options: Sequence[T]) -> T:
        """The option that this member has for ``part``; ``options`` go from simple to nasty.

        All come equally often among so many members as :data:`_HAND`, or the next multiple of
        their number, so that a small pool has all of them, in company that differs by part.
        """
        count = len(options)
        if count == 1 or draw(_CHANCE) == 0:
            return options[0]
        hand = list(range(count)) * -(-_HAND // count)
        turn, place = divmod(self.index, len(hand))
        random.Random(f"{self.seed}/{part}/{turn}").shuffle(hand)
        return options[hand[place]]


@functools.cache
def _indices(modules: int) -> st.SearchStrategy[int]:
    return st.shared(st.integers(0, modules - 1), key=("module", modules))


def shape_of(draw: st.DrawFn) -> Shape:
    """The member of the pool that the running example uses: the same one each time.

    A function of ``draw``, as are others that most examples call: a strategy made for each
    example costs Hypothesis as much as what is drawn from it.
    """
    current = _VARIETY.get(_DEFAULT)
    return Shape(current.seed, draw(_indices(current.modules)))


def rich_shape_of(draw: st.DrawFn, factor: int) -> Shape:
    """A member of a pool ``factor`` times as large, for programs whose structure is what they are
    about."""
    current = _VARIETY.get(_DEFAULT)
    return Shape(current.seed, draw(st.integers(0, current.modules * factor - 1)))


@st.composite
def members(draw: st.DrawFn, options: Sequence[T]) -> T:
    """One of ``options``, simplest first, by the pool: for what decides a module, such as the
    type of a matrix."""
    return shape_of(draw).pick(draw, f"one of {len(options)}", options)
