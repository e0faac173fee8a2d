"""Where matrices lie in memory: strides, offsets, pitches and pointee types.

One draw picks a :class:`Style`, a named combination of stride, offset and pitch, ordered from
simple to nasty. All numbers follow from the matrix type, so that they keep the alignment that
VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986 asks for: pointer and stride are multiples
of the smaller of 16 bytes and the size of one row (row-major) or column (column-major).
"""

from __future__ import annotations

import enum
import math

from cts.program.model import Address, Buffer, Component, Layout, MatrixType, Pointee, Storage

TAIL = 64
"""Bytes behind the last element that no instruction may touch."""


class Style(enum.Enum):
    """How the tiles of one operand share a buffer."""

    TIGHT = "tight"
    """Tile after tile, no gap anywhere."""
    OFFSET = "offset"
    """As TIGHT, starting one alignment unit into the buffer."""
    PADDED = "padded"
    """One alignment unit of padding after every line."""
    SIDE_BY_SIDE = "side_by_side"
    """All tiles are parts of one big matrix: the first lines of all, then the second lines."""
    ODD = "odd"
    """Stride, offset and pitch that are multiples of the alignment and of nothing else."""
    FAR = "far"
    """A stride several times the line, tiles and offset wide apart."""
    SHARED = "shared"
    """Every tile reads the same matrix. Loads only."""
    REPEATED = "repeated"
    """Stride 0: every line of a tile is the same memory. Loads only."""


STORE_STYLES = (
    Style.TIGHT,
    Style.OFFSET,
    Style.PADDED,
    Style.SIDE_BY_SIDE,
    Style.ODD,
    Style.FAR,
)
LOAD_STYLES = (*STORE_STYLES, Style.SHARED)


class PointeeKind(enum.Enum):
    """What the pointer points to, compared with the matrix component."""

    SAME = "same"
    PAIR = "pair"
    QUAD = "quad"
    WIDER = "wider"
    WIDER_QUAD = "wider_quad"
    NARROWER = "narrower"

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.value


_UINT = {8: Component.UINT8, 16: Component.UINT16, 32: Component.UINT32, 64: Component.UINT64}
_OPAQUE = (Component.BFLOAT16, Component.FLOAT8_E4M3, Component.FLOAT8_E5M2)


def pointee(component: Component, kind: PointeeKind) -> Pointee | None:
    """The pointee type of ``kind`` for a matrix of ``component``; None if there is none.

    Formats that shaders can't do arithmetic on travel as unsigned integers of their width.
    """
    same = _UINT[component.bits] if component in _OPAQUE else component
    match kind:
        case PointeeKind.SAME:
            return Pointee(same)
        case PointeeKind.PAIR:
            return Pointee(same, 2)
        case PointeeKind.QUAD:
            return Pointee(same, 4)
        case PointeeKind.WIDER:
            return Pointee(Component.UINT32) if component.bits < 32 else None
        case PointeeKind.WIDER_QUAD:
            return Pointee(Component.UINT32, 4) if component.bits < 32 else None
        case PointeeKind.NARROWER:
            return Pointee(_UINT[component.bits // 2]) if component.bits > 8 else None


def alignment(matrix: MatrixType, layout: Layout) -> int:
    """Bytes that pointer and stride must be multiples of (VUID 08986)."""
    return min(16, _line(matrix, layout) * matrix.component.bytes)


def _line(matrix: MatrixType, layout: Layout) -> int:
    """Components in one contiguous line."""
    return matrix.columns if layout is Layout.ROW_MAJOR else matrix.rows


def place(
    name: str,
    matrix: MatrixType,
    layout: Layout,
    kind: Pointee,
    style: Style,
    storage: Storage,
    tiles: int,
) -> tuple[Buffer, Address]:
    """A buffer for ``tiles`` matrices and the address they have in it.

    ``tiles`` counts the tiles that share one array: all of the dispatch, or those of a
    workgroup for WORKGROUP storage.
    """
    unit = math.lcm(alignment(matrix, layout), kind.bytes)
    line = _line(matrix, layout) * matrix.component.bytes
    lines = matrix.rows if layout is Layout.ROW_MAJOR else matrix.columns
    tight = -(-line // unit) * unit
    stride, offset, gap = tight, 0, 0
    match style:
        case Style.OFFSET:
            offset = unit
        case Style.PADDED:
            stride = tight + unit
        case Style.ODD:
            stride, offset, gap = tight + 3 * unit, 5 * unit, unit
        case Style.FAR:
            stride, offset, gap = 4 * tight + 7 * unit, 32 * unit, 16 * unit
        case Style.SIDE_BY_SIDE:
            stride = tight * tiles
        case Style.REPEATED:
            stride = 0
        case Style.TIGHT | Style.SHARED:
            pass
    extent = (lines - 1) * stride + line
    pitch = -(-extent // unit) * unit + gap
    if style is Style.SIDE_BY_SIDE:
        pitch = tight
    elif style is Style.SHARED:
        pitch = 0
    size = offset + (tiles - 1) * pitch + extent + TAIL
    count = -(-size // kind.bytes)
    return (
        Buffer(name, kind, count, storage),
        Address(name, layout, stride // kind.bytes, offset // kind.bytes, pitch // kind.bytes),
    )
