"""Strategies for small neural networks: products chained through activations.

Every number is a small non-negative multiple of one half, so that each layer is exact in every
precision and order that the policy grants, and the next one can be judged from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from cts.conversion import Converting
from cts.draw.recipes import SEEDS
from cts.draw.vector import (
    LAUNCHES,
    LOAD_SPREADS,
    MATRIX_UNIT,
    NUMBERS,
    STORE_SPREADS,
    areas,
)
from cts.draw.vector_kinds import (
    Kinds,
    layouts_of,
)
from cts.draw.vector_products import (
    Plan,
    matrix_spreads,
)
from cts.program.types import Component
from cts.program.vector import VectorType
from cts.program.vector_program import Launch, VectorProgram, VectorStatement
from cts.program.vector_values import (
    Constant,
    Elementwise,
    Make,
    ScalarConstant,
    TimesScalar,
    VectorOp,
)
from reference.component import Bits, encode
from reference.operands import random_words

MOST = 40
"""Components of a layer: sums stay far below what float16 holds exactly."""

_ZERO, _HALF, _ONE, _TWO = 0x0000, 0x3800, 0x3C00, 0x4000
"""float16 bits."""


def _ones(seed: int, shape: tuple[int, ...], kind: Component, eighths: int) -> Bits:
    """Zeros and ones, so many eighths of them ones."""
    words = random_words(seed, shape) % np.uint64(8)
    return encode((words < np.uint64(eighths)).astype(np.float64), kind)


def _clamped(name: str, value: str, kind: VectorType) -> list[VectorStatement]:
    """max(0, min(2, x)): between layers numbers stay small."""
    return [
        Constant(f"{name}_low", kind, (), Make.NULL),
        Constant(f"{name}_high", kind, (_TWO,)),
        Elementwise(name, VectorOp.FCLAMP, (value, f"{name}_low", f"{name}_high")),
    ]


def _relu_min(name: str, value: str, kind: VectorType) -> list[VectorStatement]:
    return [
        Constant(f"{name}_low", kind, (_ZERO,)),
        Constant(f"{name}_high", kind, (_ONE,), Make.INITIALIZER),
        Elementwise(f"{name}_relu", VectorOp.NMAX, (value, f"{name}_low")),
        Elementwise(name, VectorOp.FMIN, (f"{name}_relu", f"{name}_high")),
    ]


def _stepped(name: str, value: str, kind: VectorType) -> list[VectorStatement]:
    return [
        Constant(f"{name}_edge", kind, (_ONE,), Make.CONSTRUCT),
        Elementwise(name, VectorOp.STEP, (f"{name}_edge", value)),
    ]


def _halved(name: str, value: str, kind: VectorType) -> list[VectorStatement]:
    return [
        *_clamped(f"{name}_whole", value, kind),
        ScalarConstant(f"{name}_half", kind.component, _HALF),
        TimesScalar(name, f"{name}_whole", f"{name}_half"),
    ]


ACTIVATIONS = (_clamped, _relu_min, _stepped, _halved)


@st.composite
def networks(
    draw: st.DrawFn,
    converting: Converting,
    choices: Sequence[Kinds],
    layers: int,
    *,
    launches: Sequence[Launch] = LAUNCHES,
) -> tuple[VectorProgram, dict[str, bytes]]:
    """A network of ``layers`` products and its inputs. All ``choices`` take float16 vectors and
    give them."""
    launch = draw(st.sampled_from(tuple(launches)), label="launch")
    sizes = [draw(st.integers(1, MOST), label="size") for _ in range(layers + 1)]
    numbers = draw(NUMBERS, label="numbers")
    draft = None
    value = "x"
    for layer in range(layers):
        kinds = draw(st.sampled_from(tuple(choices)), label="record")
        k, m = sizes[layer : layer + 2]
        spreads = matrix_spreads(launch.invocations, m * k)
        matrices = draw(
            areas(launch, MATRIX_UNIT, spreads, unit=MATRIX_UNIT, most=3, pitch=MATRIX_UNIT)
        )
        bias = draw(areas(launch, m * kinds.bias.bytes, LOAD_SPREADS))
        given = draw(areas(launch, k * kinds.input.bytes, LOAD_SPREADS))
        result = draw(areas(launch, m * kinds.result.bytes, STORE_SPREADS))
        seed = draw(SEEDS, label="seed")
        plan = Plan(
            launch,
            kinds,
            m,
            k,
            given,
            bias,
            result,
            matrices,
            _ones(seed, (given.slots, k), kinds.input, 5),
            _ones(seed + 1, (matrices.slots, m, k), kinds.matrix, 2),
            _ones(seed + 2, (bias.slots, m), kinds.bias, 3),
            numbers,
        )
        if draft is None:
            draft = plan.draft()
            plan.load(draft)
        layout = draw(st.sampled_from(layouts_of(kinds)), label="layout")
        host = draw(st.booleans(), label="converted on the host")
        weights = plan.place(draft, converting, layout, host=host, name=f"w{layer}")
        product = plan.multiply(draft, f"y{layer}", value, weights, plan.biases(draft, f"v{layer}"))
        last = layer == layers - 1
        draft.body.append(replace(product, result="y") if last else product)
        if last:
            plan.store(draft)
        else:
            activation = draw(st.sampled_from(ACTIVATIONS), label="activation")
            value = f"a{layer}"
            draft.body += activation(value, f"y{layer}", VectorType(kinds.result, m))
    assert draft is not None
    return draft.program(), draft.inputs
