"""Strategies for matrix-vector products: combinations of types, shapes, operands, layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from cts.conversion import Converting, Hop, Region, Side, source
from cts.device.protocol import DeviceInfo
from cts.draw.recipes import SEEDS
from cts.draw.vector import (
    LAUNCHES,
    LOAD_SPREADS,
    MATRIX_UNIT,
    NUMBERS,
    STORE_SPREADS,
    TAIL,
    Area,
    Draft,
    areas,
    lengths,
)
from cts.draw.vector_kinds import (
    FLOAT8,
    Kinds,
    Numbering,
    bias_bits,
    given_bits,
    matrix_bits,
)
from cts.program.types import Component, Numbers, Storage
from cts.program.vector import (
    Bias,
    MatrixLayout,
    MatrixMul,
    Opaque,
    Place,
    Spread,
    VectorLoad,
    VectorStore,
    VectorType,
    Weights,
)
from cts.program.vector_program import Launch, VectorProgram
from reference.component import Bits, bits_dtype
from reference.layout import poison
from reference.vector_layout import line_bytes, scatter, strided_bytes, strided_positions

TAME = np.uint8(0x3B)
"""Bits that a byte of padding may have so that no float made of such bytes reaches 1."""
ELEMENTS = 1 << 16
"""Most elements of all matrices that one example multiplies with, counted for each invocation."""


# --- plans --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """A product for each invocation, with everything but the layout of the matrices decided."""

    launch: Launch
    kinds: Kinds
    m: int
    k: int
    given: Area
    bias: Area | None
    result: Area
    matrices: Area
    """Which matrix each invocation takes; sizes and places follow from the layout."""
    x: Bits
    weights: Bits
    """[matrices, M, K]."""
    v: Bits | None
    numbers: Numbers
    specialized: frozenset[str] = frozenset()
    storage: Storage = Storage.STORAGE_BUFFER
    run_time_stride: bool = False
    wild_padding: bool = False
    """Bytes that are no element of a strided float matrix may be NaN and infinity."""

    @property
    def input_type(self) -> VectorType:
        """The type of the input vector."""
        length = -(-self.k // 4) if self.kinds.packed else self.k
        return VectorType(self.kinds.input, length)

    def load(self, draft: Draft) -> str:
        """Add the input vectors and load them as ``x``."""
        place = draft.vectors("x", self.given, self.x, self.kinds.input)
        draft.body.append(VectorLoad("x", self.input_type, place))
        return "x"

    def multiply(
        self, draft: Draft, result: str, given: str, weights: Weights, bias: Bias | None
    ) -> MatrixMul:
        """The product statement."""
        kinds = self.kinds
        signed = kinds.input.is_signed and not kinds.packed
        return MatrixMul(
            result,
            VectorType(kinds.result, self.m),
            given,
            kinds.interpretation,
            self.k,
            weights,
            bias,
            signed,
            kinds.result.is_signed,
        )

    def biases(self, draft: Draft, name: str = "v") -> Bias | None:
        """Add the bias vectors."""
        if self.bias is None or self.v is None:
            return None
        place = draft.vectors(name, self.bias, self.v, self.kinds.bias, self.storage)
        return Bias(place, self.kinds.bias)

    def draft(self) -> Draft:
        """An empty program for this launch."""
        return Draft(self.launch, numbers=self.numbers, specialized=self.specialized)

    def build(
        self,
        converting: Converting,
        layout: MatrixLayout,
        *,
        transpose: bool = False,
        padding: int = 0,
        host: bool = True,
    ) -> tuple[VectorProgram, dict[str, bytes]]:
        """The program with its matrices in ``layout``, and its inputs."""
        draft = self.draft()
        self.load(draft)
        weights = self.place(draft, converting, layout, transpose, padding, host)
        bias = self.biases(draft)
        draft.body.append(self.multiply(draft, "y", "x", weights, bias))
        self.store(draft)
        return draft.program(), draft.inputs

    def store(self, draft: Draft) -> None:
        """Add the results' buffer and store ``y``."""
        place = draft.vectors("y", self.result, None, self.kinds.result)
        draft.body.append(VectorStore("y", place))

    def place(
        self,
        draft: Draft,
        converting: Converting,
        layout: MatrixLayout,
        transpose: bool = False,
        padding: int = 0,
        host: bool = True,
        name: str = "w",
    ) -> Weights:
        """Add the matrices in ``layout``, those of an optimal one made by the device."""
        stored = self.weights.transpose(0, 2, 1) if transpose else self.weights
        kind = self.kinds.matrix
        rows, columns = stored.shape[1:]
        stride = 0
        if layout.optimal:
            regions = optimal_regions(converting, stored, kind, layout, host)
            size = max(len(region.data) for region in regions)
        else:
            line = line_bytes(rows, columns, kind, layout)
            stride = (-(-line // 16) + padding) * 16
            size = strided_bytes(rows, columns, kind, layout, stride)
        pitch = (-(-size // MATRIX_UNIT) + padding) * MATRIX_UNIT
        base = self.matrices.base
        image = poison(base + len(stored) * pitch + size + TAIL, salt=97)
        if kind.is_float and not layout.optimal and not self.wild_padding:
            image &= TAME
        for number, matrix in enumerate(stored):
            start = base + number * pitch
            if layout.optimal:
                region = regions[number]
                image[start : start + len(region.data)] = np.frombuffer(region.data, np.uint8)
                draft.opaque.append(
                    Opaque(
                        name,
                        start,
                        len(region.data),
                        kind,
                        layout,
                        rows,
                        columns,
                        np.ascontiguousarray(matrix.astype(bits_dtype(kind))).tobytes(),
                    )
                )
            else:
                at = start + strided_positions(rows, columns, layout, stride, kind.bytes)
                scatter(image, at, matrix, kind)
        pointee = Component.UINT8 if kind in FLOAT8 else kind
        draft.memory(name, pointee, image.tobytes(), self.storage)
        index = replace(self.matrices.index, base=base, step=pitch)
        late = self.run_time_stride and not layout.optimal
        return Weights(Place(name, index), kind, layout, stride, transpose, late)


def optimal_regions(
    converting: Converting, matrices: Bits, kind: Component, layout: MatrixLayout, host: bool
) -> list[Region]:
    """Matrices [n, rows, columns] in an optimal layout, as the device makes it."""
    rows, columns = matrices.shape[1:]
    plain = Side(kind, MatrixLayout.ROW_MAJOR, (columns + 1) * kind.bytes)
    hops = [Hop(source(rows, columns, plain, one), Side(kind, layout)) for one in matrices]
    return converting.run(hops, host=host)


# --- strategies ---------------------------------------------------------------------------------


def matrix_spreads(count: int, elements: int) -> tuple[Spread, ...]:
    """Spreads of matrices that keep their number bearable."""
    spreads = [Spread.UNIFORM, Spread.TABLE, Spread.CLUSTERED]
    if count * elements <= ELEMENTS:
        spreads += [Spread.INVOCATION, Spread.REVERSED]
    return tuple(spreads)


@st.composite
def plans(
    draw: st.DrawFn,
    info: DeviceInfo,
    choices: Sequence[Kinds],
    *,
    exact: bool = True,
    launches: Sequence[Launch] = LAUNCHES,
    spreads: Sequence[Spread] | None = None,
    most: int = 1 << 30,
    bias: bool | None = None,
) -> Plan:
    """A product of one of the combinations."""
    kinds = draw(st.sampled_from(tuple(choices)), label="record")
    launch = draw(st.sampled_from(tuple(launches)), label="launch")
    m, k = draw(lengths(info, most), label="M"), draw(lengths(info, most), label="K")
    while launch.invocations * m * k > ELEMENTS * 16:
        m, k = max(1, m // 2), max(1, k // 2)
    seeds = tuple(draw(SEEDS, label="seed") for _ in range(3))
    numbering = Numbering(exact, (seeds[0], seeds[1], seeds[2]))
    length = -(-k // 4) if kinds.packed else k
    given = draw(areas(launch, length * kinds.input.bytes, LOAD_SPREADS))
    result = draw(areas(launch, m * kinds.result.bytes, STORE_SPREADS))
    chosen = spreads or matrix_spreads(launch.invocations, m * k)
    matrices = draw(areas(launch, MATRIX_UNIT, chosen, unit=MATRIX_UNIT, most=4, pitch=MATRIX_UNIT))
    added, v = None, None
    if draw(st.booleans(), label="bias") if bias is None else bias:
        added = draw(areas(launch, m * kinds.bias.bytes, LOAD_SPREADS))
        v = bias_bits(kinds, m, k, added.slots, numbering)
    weights = matrix_bits(kinds, matrices.slots * m, k, numbering).reshape(matrices.slots, m, k)
    x = given_bits(kinds, k, given.slots, numbering)
    numbers = draw(NUMBERS, label="numbers")
    return Plan(launch, kinds, m, k, given, added, result, matrices, x, weights, v, numbers)
