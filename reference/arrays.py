"""Conversions between matrices and the invocations' arrays: what is where in memory.

SPV_QCOM_cooperative_matrix_conversion moves bits: row ``i`` (column ``i`` of a B matrix) is the
array of invocation ``i``, and arrays of uint32 hold the elements in order, low bits first.
"""

from __future__ import annotations

from cts.program.model import Address, Buffer, Grid, Layout
from cts.program.qcom import FromArrays, QcomStatement
from cts.program.types import MatrixType, Use
from reference.layout import Region, region


def array_region(
    statement: QcomStatement, matrix: MatrixType, buffer: Buffer, grid: Grid
) -> Region:
    """The bytes of the matrices of all tiles; OutOfBounds where they aren't in the buffer."""
    by_column = matrix.use is Use.B
    count, length = matrix.rows, matrix.columns
    if by_column:
        count, length = length, count
    start = 0
    if isinstance(statement, FromArrays) and statement.length:
        length, start = statement.length, statement.start
    unit = buffer.pointee.bytes
    line = length * matrix.component.bytes // unit
    where = Address(
        buffer.name,
        Layout.COLUMN_MAJOR if by_column else Layout.ROW_MAJOR,
        line,
        start * matrix.component.bytes // unit,
        count * line,
    )
    return region(matrix, where, buffer, grid)
