"""Combinations of component types that products may have, and operands for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from cts.device.protocol import DeviceInfo
from cts.draw.recipes import exact_limits
from cts.program.recipe import Pattern, Recipe
from cts.program.records import VECTOR
from cts.program.sense import sensible
from cts.program.types import Component
from cts.program.vector import MatrixLayout
from cts.program.vector_records import MEMBERS, most_components
from cts.subject import Subject
from reference.component import Bits, encode
from reference.operands import random_words, realise

PACKED = {Component.SINT8_PACKED: Component.SINT8, Component.UINT8_PACKED: Component.UINT8}
OPTIMAL = (MatrixLayout.INFERENCING_OPTIMAL, MatrixLayout.TRAINING_OPTIMAL)
FLOAT8 = (Component.FLOAT8_E4M3, Component.FLOAT8_E5M2)


@dataclass(frozen=True)
class Kinds:
    """The component types of one record."""

    input: Component
    interpretation: Component
    matrix: Component
    bias: Component
    result: Component
    transpose: bool = False

    @property
    def packed(self) -> bool:
        """Whether four components of the input are one component of its vector."""
        return self.interpretation in PACKED

    @property
    def is_integer(self) -> bool:
        """Whether the product is one of integers."""
        return self.result.is_integer


_C = Component
REQUIRED: Mapping[str, tuple[Component, ...]] = {
    "float16": (_C.FLOAT16,) * 5,
    "packed": (_C.UINT32, _C.SINT8_PACKED, _C.SINT8, _C.SINT32, _C.SINT32),
    "sint8": (_C.SINT8, _C.SINT8, _C.SINT8, _C.SINT32, _C.SINT32),
    "float32_as_sint8": (_C.FLOAT32, _C.SINT8, _C.SINT8, _C.SINT32, _C.SINT32),
    "float8_e4m3": (_C.FLOAT16, _C.FLOAT8_E4M3, _C.FLOAT8_E4M3, _C.FLOAT16, _C.FLOAT16),
    "float8_e5m2": (_C.FLOAT16, _C.FLOAT8_E5M2, _C.FLOAT8_E5M2, _C.FLOAT16, _C.FLOAT16),
}
"""The required combinations, by the names that case ids have for them."""


@dataclass(frozen=True)
class Family:
    """A value of a ``record`` axis: one required combination, or all other listed ones."""

    label: str
    accepts: Callable[[Kinds], bool]


def _is(types: tuple[Component, ...]) -> Callable[[Kinds], bool]:
    return lambda kinds: _types(kinds) == types


def _types(kinds: Kinds) -> tuple[Component, ...]:
    return (kinds.input, kinds.interpretation, kinds.matrix, kinds.bias, kinds.result)


def _other(*, integer: bool) -> Callable[[Kinds], bool]:
    known = set(REQUIRED.values())
    return lambda kinds: _types(kinds) not in known and kinds.is_integer is integer


INTEGER_RECORDS = (
    *(Family(name, _is(types)) for name, types in REQUIRED.items() if types[4].is_integer),
    Family("other", _other(integer=True)),
)
FLOAT_RECORDS = (
    *(Family(name, _is(types)) for name, types in REQUIRED.items() if types[4].is_float),
    Family("other", _other(integer=False)),
)
RECORDS = (
    *(Family(name, _is(types)) for name, types in REQUIRED.items()),
    Family("other_integer", _other(integer=True)),
    Family("other_float", _other(integer=False)),
)


def listed(info: DeviceInfo) -> tuple[Kinds, ...]:
    """The records of a device as kinds, each once; those that no program of the suite can use, and
    all where vectors may have no component, are left to the property cases."""
    if most_components(info) == 0:
        return ()
    found: dict[tuple[Component, Component, Component, Component, Component], bool] = {}
    for record in info.records.get(VECTOR, ()):
        values = [record[member] for member in MEMBERS]
        if not sensible(record):
            continue
        given, interpretation, matrix, bias, result = map(Component, values)
        types = (given, interpretation, matrix, bias, result)
        found[types] = found.get(types, False) or bool(record["transpose"])
    return tuple(
        Kinds(given, interpretation, matrix, bias, result, transpose)
        for (given, interpretation, matrix, bias, result), transpose in found.items()
    )


def kinds_of(subject: Subject, family: Family) -> tuple[Kinds, ...]:
    """The listed combinations of a family; not supported if there are none."""
    found = tuple(kinds for kinds in listed(subject.info) if family.accepts(kinds))
    subject.require(bool(found), f"no record of the kind {family.label}")
    return found


def layouts_of(kinds: Kinds) -> tuple[MatrixLayout, ...]:
    """Layouts that a product may use (VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10090)."""
    return OPTIMAL if kinds.matrix in FLOAT8 else tuple(MatrixLayout)


# --- numbers ------------------------------------------------------------------------------------


def _small(component: Component, rows: int, columns: int, seed: int, limit: int) -> Bits:
    keep = 8 if seed % 3 else 5
    pattern = Pattern.SMALL if seed else Pattern.ONES
    made: Bits = realise(Recipe(pattern, seed, limit, keep), component, rows, columns, 1)[0]
    return made


def _ties(component: Component, rows: int, columns: int, seed: int) -> Bits:
    """Floats that are hard to turn into 8-bit integers: halves, neighbours of halves, numbers
    around and beyond the limits."""
    words = random_words(seed, (rows, columns))
    whole = (words % np.uint64(300)).astype(np.int64) - 150
    part = np.array([0.0, 0.5, -0.5, 0.25, 0.49951171875, 0.50048828125])[
        ((words >> np.uint64(16)) % np.uint64(6)).astype(np.int64)
    ]
    values = whole + part
    wild = (words >> np.uint64(32)) % np.uint64(16) == 0
    values = np.where(wild, np.sign(values) * 60000.0, values)
    return encode(values, component)


def _any_integers(component: Component, rows: int, columns: int, seed: int) -> Bits:
    pattern = (Pattern.BITS, Pattern.SPECIALS, Pattern.SIGNED, Pattern.INDEX)[seed % 4]
    made: Bits = realise(Recipe(pattern, seed), component, rows, columns, 1)[0]
    return made


@dataclass(frozen=True)
class Numbering:
    """How operands are made: whether every float sum is exact, and the seeds."""

    exact: bool
    seeds: tuple[int, int, int]


def given_bits(kinds: Kinds, k: int, count: int, numbering: Numbering) -> Bits:
    """Input vectors [count, length]."""
    seed = numbering.seeds[0]
    if kinds.packed:
        raw = _any_integers(PACKED[kinds.interpretation], count, -(-k // 4) * 4, seed)
        return np.ascontiguousarray(raw).view("<u4")
    if kinds.is_integer:
        if kinds.input.is_float:
            return _ties(kinds.input, count, k, seed)
        return _any_integers(kinds.input, count, k, seed)
    if numbering.exact:
        top, _ = _limits(kinds, k)
        return _small(kinds.input, count, k, seed, top)
    return _rough(kinds.input, count, k, seed)


def _limits(kinds: Kinds, k: int) -> tuple[int, int]:
    return exact_limits(kinds.matrix, kinds.interpretation, kinds.bias, kinds.result, k)


def _rough(component: Component, rows: int, columns: int, seed: int) -> Bits:
    pattern = (Pattern.FULL, Pattern.HALVES, Pattern.POWERS)[seed % 3]
    limit = 2 if component.bits == 8 else 3
    made: Bits = realise(Recipe(pattern, seed, limit), component, rows, columns, 1)[0]
    return made


def matrix_bits(kinds: Kinds, m: int, k: int, numbering: Numbering) -> Bits:
    """One matrix [M, K]."""
    seed = numbering.seeds[1]
    if kinds.is_integer:
        return _any_integers(kinds.matrix, m, k, seed)
    if numbering.exact:
        return _small(kinds.matrix, m, k, seed, _limits(kinds, k)[0])
    return _rough(kinds.matrix, m, k, seed)


def bias_bits(kinds: Kinds, m: int, k: int, count: int, numbering: Numbering) -> Bits:
    """Bias vectors [count, M]."""
    seed = numbering.seeds[2]
    if kinds.is_integer:
        return _any_integers(kinds.bias, count, m, seed)
    if numbering.exact:
        return _small(kinds.bias, count, m, seed, _limits(kinds, k)[1])
    return _rough(kinds.bias, count, m, seed)
