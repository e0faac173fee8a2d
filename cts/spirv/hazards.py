"""Which statements have to be kept apart by a barrier.

Which invocation reads or writes which element of a cooperative matrix is the implementation's
choice, so a store and a later access to the same bytes are made by different invocations and
race unless the invocations synchronise in between. A program reads as a sequence; the lowering
makes it one with barriers of the matrix scope, where two statements of a tile can meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cts.program.model import Address, Layout, Length, Load, MatrixType, Program, Storage, Store


@dataclass(frozen=True)
class Access:
    """Bytes [first, last) of ``buffer`` that tile 0 may touch; tile t's are ``t * pitch`` bytes
    further on."""

    buffer: str
    write: bool
    first: int
    last: int
    pitch: int

    def conflicts(self, other: Access) -> bool:
        """Whether the order of the two may matter to some tile."""
        if self.buffer != other.buffer or not (self.write or other.write):
            return False
        if self.pitch != other.pitch:
            return True
        return self.first < other.last and other.first < self.last


def _access(program: Program, type: MatrixType, address: Address, write: bool) -> Access:
    unit = program.buffer(address.buffer).pointee.bytes
    row_major = address.layout is Layout.ROW_MAJOR
    lines, length = (type.rows, type.columns) if row_major else (type.columns, type.rows)
    first = address.offset * unit
    last = first + (lines - 1) * address.stride * unit + length * type.component.bytes
    return Access(address.buffer, write, first, last, address.pitch * unit)


def accesses(program: Program) -> Iterator[Access | None]:
    """The access of every statement of the body; None where there is none."""
    types = program.types()
    for statement in program.body:
        match statement:
            case Load(type=type, address=address):
                yield _access(program, type, address, write=False)
            case Store(value=value, address=address):
                yield _access(program, types[value], address, write=True)
            case Length(buffer=buffer):
                size = program.buffer(buffer).size * program.buffer(buffer).pointee.bytes
                yield Access(buffer, True, 0, size, 0)
            case _:
                yield None


@dataclass(frozen=True)
class Ordering:
    """``barriers``: indices of the statements that a barrier goes before. ``shared``: buffers
    whose accesses have to be non-private, because other invocations' barriers order them."""

    barriers: frozenset[int]
    shared: frozenset[str]


def order(program: Program) -> Ordering:
    """Where barriers are needed so that each tile's statements act in sequence."""
    open_accesses: list[Access] = []
    barriers: set[int] = set()
    shared = {b.name for b in program.buffers if b.storage is Storage.WORKGROUP}
    for index, access in enumerate(accesses(program)):
        if access is None:
            continue
        if any(access.conflicts(before) for before in open_accesses):
            barriers.add(index)
            shared.add(access.buffer)
            open_accesses.clear()
        open_accesses.append(access)
    return Ordering(frozenset(barriers), frozenset(shared))
