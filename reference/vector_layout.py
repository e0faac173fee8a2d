"""Where the elements of a cooperative vector's matrix lie in memory.

Row- and column-major are the specification's ("Cooperative Vectors"): strides count bytes. The
two optimal layouts are an implementation's own; those of the reference device are in
:mod:`reference.vector_opaque`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from cts.program.vector import MatrixLayout

WORDS = {8: np.dtype("<u1"), 16: np.dtype("<u2"), 32: np.dtype("<u4"), 64: np.dtype("<u8")}
"""The unsigned integer that holds the bits of a component, by its width."""


def word(component: Component) -> np.dtype[np.unsignedinteger]:
    """The dtype that holds the bits of one component."""
    return WORDS[component.bits]  # type: ignore[return-value]


def line_bytes(rows: int, columns: int, component: Component, layout: MatrixLayout) -> int:
    """Bytes of the elements of one row (row-major) or column (column-major)."""
    line = columns if layout is MatrixLayout.ROW_MAJOR else rows
    return line * component.bytes


def strided_bytes(
    rows: int, columns: int, component: Component, layout: MatrixLayout, stride: int
) -> int:
    """Bytes from the first byte of the first element to the last byte of the last one."""
    lines = rows if layout is MatrixLayout.ROW_MAJOR else columns
    return (lines - 1) * stride + line_bytes(rows, columns, component, layout)


@lru_cache(maxsize=512)
def strided_positions(
    rows: int, columns: int, layout: MatrixLayout, stride: int, size: int
) -> NDArray[np.int64]:
    """Byte offset of each byte of each element: int64 [rows, columns, size].

    ``size`` is that of a component. ValueError for an optimal layout. Read-only: it is cached.
    """
    if layout.optimal:
        raise ValueError(f"{layout.name} has no order that anybody may rely on")
    row = np.arange(rows, dtype=np.int64)[:, None, None]
    column = np.arange(columns, dtype=np.int64)[None, :, None]
    byte = np.arange(size, dtype=np.int64)
    if layout is MatrixLayout.ROW_MAJOR:
        found = row * stride + column * size + byte
    else:
        found = column * stride + row * size + byte
    found.flags.writeable = False
    return found


def gather(
    memory: NDArray[np.uint8], positions: NDArray[np.int64], component: Component
) -> NDArray[np.unsignedinteger]:
    """The bits of the elements whose bytes lie at ``positions`` [..., bytes]."""
    data = np.ascontiguousarray(memory[positions])
    return data.view(word(component))[..., 0]


def scatter(
    memory: NDArray[np.uint8],
    positions: NDArray[np.int64],
    bits: NDArray[np.unsignedinteger],
    component: Component,
) -> None:
    """Write ``bits`` to the bytes at ``positions`` [..., bytes] of ``memory``, in place."""
    data = np.ascontiguousarray(bits.astype(word(component)))[..., None].view(np.uint8)
    memory[positions] = data
