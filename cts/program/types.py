"""What statements of a program are about: components, matrix types, buffers and addresses.

They stand apart from :mod:`cts.program.model`, which gathers the statements of every area into
one program and names all of these too.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Component(enum.IntEnum):
    """VkComponentTypeKHR; the value is the enumerant."""

    FLOAT16 = 0
    FLOAT32 = 1
    FLOAT64 = 2
    SINT8 = 3
    SINT16 = 4
    SINT32 = 5
    SINT64 = 6
    UINT8 = 7
    UINT16 = 8
    UINT32 = 9
    UINT64 = 10
    BFLOAT16 = 1000141000
    SINT8_PACKED = 1000491000
    UINT8_PACKED = 1000491001
    FLOAT8_E4M3 = 1000491002
    FLOAT8_E5M2 = 1000491003

    @property
    def bits(self) -> int:
        """Width of one component in bits (32 for the packed types: four components)."""
        return _BITS[self]

    @property
    def bytes(self) -> int:
        """Width of one component in bytes."""
        return _BITS[self] // 8

    @property
    def is_float(self) -> bool:
        """Whether the component is a floating-point number."""
        return self.name.startswith(("FLOAT", "BFLOAT"))

    @property
    def is_signed(self) -> bool:
        """Whether the component is a signed integer."""
        return self.name.startswith("SINT")

    @property
    def is_integer(self) -> bool:
        """Whether the component is an integer, signed or not."""
        return not self.is_float

    @property
    def label(self) -> str:
        """Lower-case name, as used in case ids and reports: ``float16``, ``uint8``."""
        return self.name.lower()


_BITS = {
    Component.FLOAT16: 16,
    Component.FLOAT32: 32,
    Component.FLOAT64: 64,
    Component.SINT8: 8,
    Component.SINT16: 16,
    Component.SINT32: 32,
    Component.SINT64: 64,
    Component.UINT8: 8,
    Component.UINT16: 16,
    Component.UINT32: 32,
    Component.UINT64: 64,
    Component.BFLOAT16: 16,
    Component.SINT8_PACKED: 32,
    Component.UINT8_PACKED: 32,
    Component.FLOAT8_E4M3: 8,
    Component.FLOAT8_E5M2: 8,
}


class Scope(enum.IntEnum):
    """VkScopeKHR and SPIR-V Scope; the two share their values."""

    DEVICE = 1
    WORKGROUP = 2
    SUBGROUP = 3
    QUEUE_FAMILY = 5


class Use(enum.IntEnum):
    """SPIR-V Cooperative Matrix Use."""

    A = 0
    B = 1
    ACCUMULATOR = 2


class Layout(enum.IntEnum):
    """SPIR-V Cooperative Matrix Layout."""

    ROW_MAJOR = 0
    COLUMN_MAJOR = 1

    @property
    def label(self) -> str:
        """Lower-case name, as used in case ids."""
        return self.name.lower()


class Storage(enum.IntEnum):
    """SPIR-V storage class of the memory that a pointer points into."""

    STORAGE_BUFFER = 12
    WORKGROUP = 4
    PHYSICAL_STORAGE_BUFFER = 5349

    @property
    def label(self) -> str:
        """Lower-case name, as used in case ids."""
        return self.name.lower()


class Numbers(enum.Enum):
    """How strides, offsets and pitches reach the shader."""

    LITERAL = "literal"
    SPECIALIZATION = "specialization"
    BUFFER = "buffer"
    """Loaded at run time from a buffer of uint32 in the binding after the last buffer."""


class Robust(enum.Enum):
    """What becomes of accesses out of bounds."""

    ONE = "robustBufferAccess"
    TWO = "robustBufferAccess2"

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


class Dialect(enum.Enum):
    """Which of two extensions an instruction that both have is taken from."""

    NV = "nv"
    """VK_NV_cooperative_matrix2."""
    EXT = "ext"
    """VK_EXT_cooperative_matrix_maintenance1."""

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.value


@dataclass(frozen=True)
class MatrixType:
    """OpTypeCooperativeMatrixKHR."""

    component: Component
    rows: int
    columns: int
    use: Use
    scope: Scope = Scope.SUBGROUP

    def __str__(self) -> str:
        return f"{self.component.label}[{self.rows}x{self.columns}] {self.use.name}"


@dataclass(frozen=True)
class Pointee:
    """The type that a pointer points to: a scalar, or a vector of ``lanes`` of them.

    bfloat16 and float8 components never appear here: their bits travel as UINT16 or UINT8.
    """

    component: Component
    lanes: int = 1

    @property
    def bytes(self) -> int:
        """Size of one array element in bytes."""
        return self.component.bytes * self.lanes

    def __str__(self) -> str:
        return self.component.label + (f"x{self.lanes}" if self.lanes > 1 else "")


@dataclass(frozen=True)
class Buffer:
    """An array of ``size`` pointee elements that a program can address.

    A WORKGROUP buffer is an array in workgroup memory. Every workgroup has its own, filled
    before the body from its slice of a backing storage buffer and copied back, whole, after
    the body; the backing buffer therefore has ``size * workgroups`` elements.
    """

    name: str
    pointee: Pointee
    size: int
    storage: Storage = Storage.STORAGE_BUFFER
    visible: int | None = None
    """The descriptor covers so many elements, if not all; the others are out of bounds."""

    def backing_bytes(self, workgroups: int) -> int:
        """Bytes of the memory behind this buffer for a dispatch of ``workgroups``."""
        copies = workgroups if self.storage is Storage.WORKGROUP else 1
        return self.size * self.pointee.bytes * copies


@dataclass(frozen=True)
class Address:
    """Where a matrix lies: element (r, c) starts ``offset + tile * pitch`` pointee elements
    into the buffer, plus ``r * stride`` (row-major) or ``c * stride`` (column-major) pointee
    elements, plus ``c`` or ``r`` *components* of the matrix.

    In a WORKGROUP buffer ``tile`` is the index of the subgroup in its workgroup.

    In a loop the matrix moves on by ``step`` pointee elements with each iteration of the
    innermost one. A load may take the place of another subgroup's tile: that of the subgroup
    ``turn`` further on in its workgroup, the first following the last.
    """

    buffer: str
    layout: Layout
    stride: int
    offset: int = 0
    pitch: int = 0
    step: int = 0
    turn: int = 0
