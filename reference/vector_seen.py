"""What one invocation of a cooperative vector program works with: for people who look for what
made a result wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cts.program.types import Component
from cts.program.vector import MatrixMul, VectorLoad
from cts.program.vector_program import VectorProgram, VectorStatement
from reference.component import Bits
from reference.matrix import Undetermined
from reference.values import Exact
from reference.vector_oracle import follow
from reference.vector_product import interpreted
from reference.vector_walk import Walk


@dataclass(frozen=True)
class Seen:
    """A vector or a matrix. ``bits`` are [rows, columns]; a vector has one row. ``product`` says
    that its rows are the components of a product."""

    name: str
    component: Component
    bits: Bits
    product: bool = False


def seen_by(program: VectorProgram, inputs: Mapping[str, bytes], invocation: int) -> list[Seen]:
    """The vectors that ``invocation`` loads, and the input that is multiplied if it isn't the one
    that was given, the matrix and the bias of each of its products, in their order. Of a loop it is
    what the last round works with; where the oracle can't follow the program, what comes before."""
    found: dict[str, Seen] = {}

    def see(walk: Walk, it: VectorStatement) -> None:
        here = np.flatnonzero(walk.lanes == invocation)
        if not isinstance(it, VectorLoad | MatrixMul) or not len(here):
            return
        at = int(here[0])
        if isinstance(it, VectorLoad):
            add(it.result, walk.exact(it.result), at)
            return
        given = walk.given(it)
        taken = interpreted(it, given)
        if taken.component is not given.component:
            add(f"input of {it.result}", taken, at)
        name = f"matrix of {it.result}"
        found[name] = Seen(name, it.weights.interpretation, walk.matrix(it)[at], product=True)
        bias = walk.bias(it)
        if bias is not None:
            add(f"bias of {it.result}", bias, at)

    def add(name: str, vector: Exact, at: int) -> None:
        found[name] = Seen(name, vector.component, vector.bits[at].T)

    with contextlib.suppress(Undetermined):
        follow(program, inputs, see)
    return list(found.values())
