"""Accesses out of bounds where they are robust (VkSpec, "Robust Buffer Access").

A descriptor's range ends between two lines of a matrix, far enough from both that no access to one
of them counts as near the other. Lines in bounds are as ever. What lies out of bounds:

* robustBufferAccess: a load gives zeros, or values from anywhere in the buffer's memory, or one of
  a few constants, so anything is taken; a store is dropped or goes anywhere in that memory, so
  nothing of the buffer is known any more. No other memory changes.
* robustBufferAccess2: a load gives zeros, and a store changes nothing.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from cts.program.model import Address, Buffer, Component, Layout, MatrixType, Robust, Use
from reference.accept import EVERYTHING, Accept
from reference.expectation import Stored
from reference.layout import Region
from reference.matrix import Undetermined
from reference.values import Exact, Value

NEAR = 16
"""Accesses less than so many bytes apart may share their fate."""


def lines_inside(where: Region, address: Address, matrix: MatrixType, buffer: Buffer) -> int:
    """How many lines (rows for row-major, else columns) lie in bounds. Undetermined where the
    end of the range is near a line."""
    if buffer.visible is None:
        raise ValueError(f"all of {buffer.name} is in bounds")
    row_major = address.layout is Layout.ROW_MAJOR
    axis, length = (2, matrix.columns) if row_major else (3, matrix.rows)
    limit, line = buffer.visible * buffer.pointee.bytes, length * matrix.component.bytes
    starts = where.base + where.steps[axis] * np.arange(where.extents[axis])
    inside = starts + line <= limit
    count = int(inside.sum())
    # The last line in bounds and the first one out of bounds keep away from each other.
    last = int(starts[inside][-1]) + line if count else 0
    first = int(starts[~inside][0]) if count < len(starts) else limit + NEAR
    if first < limit or (0 < count < len(starts) and first - last < NEAR):
        raise Undetermined(f"a line of {matrix} is near the end of {buffer.name}'s range")
    return count


def loaded(bits: Exact, count: int, address: Address, robust: Robust) -> Exact:
    """What is loaded where all lines from number ``count`` on are out of bounds."""
    outside = np.zeros(bits.shape, bool)
    if address.layout is Layout.ROW_MAJOR:
        outside[:, count:] = True
    else:
        outside[:, :, count:] = True
    if robust is Robust.ONE:
        return dataclasses.replace(bits, undefined=outside)
    return dataclasses.replace(bits, bits=np.where(outside, bits.bits.dtype.type(0), bits.bits))


def shortened(
    where: Region, matrix: MatrixType, value: Value, count: int, address: Address
) -> tuple[Region, MatrixType, Exact]:
    """The part of a store that lies in bounds: its first ``count`` lines."""
    if not isinstance(value, Exact):
        raise Undetermined("what is stored out of bounds has no single value")
    groups, subgroups, rows, columns = where.extents
    if address.layout is Layout.ROW_MAJOR:
        rows = count
    else:
        columns = count
    bits = value.bits[:, :rows, :columns]
    undefined = None if value.undefined is None else value.undefined[:, :rows, :columns]
    cut = dataclasses.replace(where, extents=(groups, subgroups, rows, columns))
    type = dataclasses.replace(matrix, rows=rows, columns=columns)
    return cut, type, dataclasses.replace(value, bits=bits, undefined=undefined)


def unknown(statement: int, name: str, buffer: Buffer) -> tuple[Region, Stored]:
    """A store that leaves nothing of its buffer known."""
    size = buffer.size * buffer.pointee.bytes
    where = Region(0, (1, 1, 1, size), (0, 0, 0, 1), 1)
    matrix = MatrixType(Component.UINT8, 1, size, Use.ACCUMULATOR)
    reason = "a store out of bounds may change any byte of the buffer's memory"
    accept = Accept(
        Component.UINT8, (1, 1, size), EVERYTHING, EVERYTHING, EVERYTHING, reason=reason
    )
    return where, Stored(statement, name, matrix, where, accept, list)
