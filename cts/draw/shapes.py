"""Which matrix types a device has, exact sizes and small multiples of granularities alike."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping

from cts.device.protocol import DeviceInfo
from cts.draw.combinations import combinations
from cts.draw.flexible import Flexible, flexible
from cts.program.model import Component, MatrixType, Scope, Use

Shape = tuple[int, int]
Shapes = Mapping[tuple[Use, Component], tuple[Shape, ...]]

MOST = 6
"""Granularities that make up one matrix, at most."""
_kept: list[tuple[DeviceInfo, Scope, int, Shapes]] = []


def shapes(info: DeviceInfo, scope: Scope = Scope.SUBGROUP, invocations: int = 0) -> Shapes:
    """(rows, columns) of the matrices of each use and component type, smallest first: those of
    the KHR records, and small multiples of flexible granularities (at workgroup scope those for
    workgroups of ``invocations``)."""
    for known, for_scope, size, found in _kept:
        if known is info and for_scope is scope and size == invocations:
            return found
    found = _shapes(info, scope, invocations)
    _kept.append((info, scope, invocations, found))
    del _kept[:-8]
    return found


def _shapes(info: DeviceInfo, scope: Scope, invocations: int) -> Shapes:
    found: defaultdict[tuple[Use, Component], set[Shape]] = defaultdict(set)
    if scope is Scope.SUBGROUP:
        for combination in combinations(info):
            for matrix in (combination.a, combination.b, combination.c, combination.result):
                found[matrix.use, matrix.component].add((matrix.rows, matrix.columns))
    for record in flexible(info, scope):
        if record.invocations == invocations:
            for use, component, unit in _uses(record):
                found[use, component].update(_small(unit, record.limit))
    return {
        key: tuple(sorted(some, key=lambda it: (it[0] * it[1], it))) for key, some in found.items()
    }


def _uses(record: Flexible) -> list[tuple[Use, Component, Shape]]:
    m, n, k = record.granularity
    types = record.types
    return [
        (Use.A, types.a, (m, k)),
        (Use.B, types.b, (k, n)),
        (Use.ACCUMULATOR, types.c, (m, n)),
        (Use.ACCUMULATOR, types.result, (m, n)),
    ]


def _small(unit: Shape, limit: int) -> set[Shape]:
    """Up to MOST granularities of both dimensions together: compilers work for each of them."""
    return {
        (unit[0] * down, unit[1] * across)
        for down, across in itertools.product(range(1, MOST + 1), repeat=2)
        if down * across <= MOST and max(unit[0] * down, unit[1] * across) <= limit
    }


def matrix_types(
    info: DeviceInfo,
    use: Use,
    component: Component,
    scope: Scope = Scope.SUBGROUP,
    invocations: int = 0,
) -> tuple[MatrixType, ...]:
    """The matrix types of one use and component, smallest first."""
    found = shapes(info, scope, invocations).get((use, component), ())
    return tuple(MatrixType(component, rows, columns, use, scope) for rows, columns in found)


def components(info: DeviceInfo, use: Use) -> tuple[Component, ...]:
    """The component types that matrices of a use have, at subgroup scope."""
    return tuple(sorted({kind for key, kind in shapes(info) if key is use}))
