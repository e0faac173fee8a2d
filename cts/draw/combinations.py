"""The combinations of types and sizes that a device advertises, as things to draw from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cts.device.protocol import DeviceInfo
from cts.program.model import Component, MatrixType, Scope, Use
from cts.program.sense import sensible

KHR = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"
NV = "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV"


@dataclass(frozen=True)
class Types:
    """Component types of A, B, C and the result of a multiply-add."""

    a: Component
    b: Component
    c: Component
    result: Component

    @property
    def label(self) -> str:
        """``uint8_sint8_sint32``; the result is named only where it isn't C's type."""
        parts = [self.a, self.b, self.c] + ([self.result] if self.result != self.c else [])
        return "_".join(part.label for part in parts)

    @property
    def is_integer(self) -> bool:
        """Whether all four are integers."""
        return all(part.is_integer for part in (self.a, self.b, self.c, self.result))


@dataclass(frozen=True)
class Combination:
    """One advertised multiply-add: an element of a property array."""

    types: Types
    m: int
    n: int
    k: int
    scope: Scope
    saturating: bool
    record: str
    """``command#index``."""

    @property
    def a(self) -> MatrixType:
        """M x K, use A."""
        return MatrixType(self.types.a, self.m, self.k, Use.A, self.scope)

    @property
    def b(self) -> MatrixType:
        """K x N, use B."""
        return MatrixType(self.types.b, self.k, self.n, Use.B, self.scope)

    @property
    def c(self) -> MatrixType:
        """M x N accumulator."""
        return MatrixType(self.types.c, self.m, self.n, Use.ACCUMULATOR, self.scope)

    @property
    def result(self) -> MatrixType:
        """M x N accumulator of the result type."""
        return MatrixType(self.types.result, self.m, self.n, Use.ACCUMULATOR, self.scope)


_NEWER = {Component.BFLOAT16, Component.FLOAT8_E4M3, Component.FLOAT8_E5M2}


def combinations(info: DeviceInfo) -> tuple[Combination, ...]:
    """The subgroup-scope elements of the KHR property array, smallest matrices first.

    Elements that no program of this suite can use are left to the property cases.
    """
    found = []
    for index, record in enumerate(info.records.get(KHR, ())):
        parts = (record["AType"], record["BType"], record["CType"], record["ResultType"])
        if record["scope"] != Scope.SUBGROUP or not sensible(record):
            continue
        found.append(
            Combination(
                Types(*(Component(part) for part in parts)),
                record["MSize"],
                record["NSize"],
                record["KSize"],
                Scope.SUBGROUP,
                bool(record["saturatingAccumulation"]),
                f"{KHR}#{index}",
            )
        )
    return tuple(sorted(found, key=lambda it: (it.m * it.n * it.k, it.m, it.n, it.record)))


def first_combinations(info: DeviceInfo) -> tuple[Combination, ...]:
    """The subgroup-scope elements of the property array of VK_NV_cooperative_matrix.

    Those with bfloat16 or an 8-bit float are left out: SPV_KHR_bfloat16 and SPV_EXT_float8 have
    them in OpTypeCooperativeMatrixKHR only.
    """
    named = tuple(
        {**record, "ResultType": record["DType"], "saturatingAccumulation": 0}
        for record in info.records.get(NV, ())
    )
    listed = combinations(replace(info, records={KHR: named}))
    return tuple(
        replace(it, record=it.record.replace(KHR, NV))
        for it in listed
        if _NEWER.isdisjoint((it.types.a, it.types.b, it.types.c, it.types.result))
    )


def matrix_types(
    info: DeviceInfo, component: Component, *, first: bool = False
) -> tuple[MatrixType, ...]:
    """Every advertised matrix type with ``component``, each once, smallest first; with ``first``
    those of VK_NV_cooperative_matrix."""
    found: dict[MatrixType, None] = {}
    for combination in first_combinations(info) if first else combinations(info):
        for matrix in _matrices(combination):
            if matrix.component is component:
                found.setdefault(matrix)
    return tuple(sorted(found, key=lambda it: (it.rows * it.columns, it.use)))


def _matrices(combination: Combination) -> Iterator[MatrixType]:
    yield from (combination.a, combination.b, combination.c, combination.result)
