"""The optimal matrix layouts of the reference device.

An implementation may choose any. These two are legal and differ from everything that a naive
test might take for granted: elements are not in row-major order, there is padding that isn't
zero, the size is not a multiple of 64, the two layouts differ from each other, and elements of
the inferencing-optimal layout are not even contiguous.

Training-optimal is what the specification asks of it, an array of elements: tiles of 4 rows by
8 columns, tile columns first, each tile column by column with its rows rotated; whole tiles are
stored, and six more elements in front. Padding is a finite, non-zero value.

Inferencing-optimal has blocks of 8 rows by 32 bytes of one row, the rows of a block from the
last to the first, each row split into byte planes (all low bytes first). Padding is 0xFF, which
is a NaN in every floating-point format, and 16 bytes of it follow.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from cts.program.vector import MatrixLayout

_TILE_ROWS, _TILE_COLUMNS, _PREFIX = 4, 8, 6
_BLOCK_ROWS, _BLOCK_BYTES, _TAIL = 8, 32, 16

_FINITE = {
    Component.FLOAT16: 0x4400,  # 4.0
    Component.FLOAT32: 0xC0000000,  # -2.0
    Component.FLOAT8_E4M3: 0x38,  # 1.0
    Component.FLOAT8_E5M2: 0xBC,  # -1.0
}


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def optimal_bytes(rows: int, columns: int, component: Component, layout: MatrixLayout) -> int:
    """Bytes that a matrix takes in one of the reference device's optimal layouts."""
    size = component.bytes
    if layout is MatrixLayout.TRAINING_OPTIMAL:
        return (_PREFIX + _up(rows, _TILE_ROWS) * _up(columns, _TILE_COLUMNS)) * size
    return _up(rows, _BLOCK_ROWS) * _up(columns * size, _BLOCK_BYTES) + _TAIL


def padding(component: Component, layout: MatrixLayout) -> bytes:
    """One component's worth of the bytes that fill what is no element."""
    if layout is MatrixLayout.TRAINING_OPTIMAL:
        value = _FINITE.get(component, 0x55)
        return value.to_bytes(component.bytes, "little")
    return b"\xff" * component.bytes


@lru_cache(maxsize=512)
def optimal_positions(
    rows: int, columns: int, layout: MatrixLayout, size: int
) -> NDArray[np.int64]:
    """Byte offset of each byte of each element: int64 [rows, columns, size]. Read-only."""
    row = np.arange(rows, dtype=np.int64)[:, None, None]
    column = np.arange(columns, dtype=np.int64)[None, :, None]
    byte = np.arange(size, dtype=np.int64)
    if layout is MatrixLayout.TRAINING_OPTIMAL:
        tile = (column // _TILE_COLUMNS) * -(-rows // _TILE_ROWS) + row // _TILE_ROWS
        inner_column = column % _TILE_COLUMNS
        inner_row = (row + inner_column) % _TILE_ROWS
        inner = inner_column * _TILE_ROWS + inner_row
        element = _PREFIX + tile * (_TILE_ROWS * _TILE_COLUMNS) + inner
        found = element * size + byte
    elif layout is MatrixLayout.INFERENCING_OPTIMAL:
        per_block = _BLOCK_BYTES // size
        blocks = -(-columns // per_block)
        block = (row // _BLOCK_ROWS) * blocks + column // per_block
        inner_row = _BLOCK_ROWS - 1 - row % _BLOCK_ROWS
        plane = byte * per_block + column % per_block
        found = (block * _BLOCK_ROWS + inner_row) * _BLOCK_BYTES + plane
    else:
        raise ValueError(f"{layout.name} is no optimal layout")
    found.flags.writeable = False
    return found
