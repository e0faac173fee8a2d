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
    """Bytes [first, last) of ``buffer`` that one tile may touch, seen from its tile's base."""

    buffer: str
    write: bool
    first: int
    last: int

    def conflicts(self, other: Access) -> bool:
        """Whether the order of the two matters."""
        return (
            self.buffer == other.buffer
            and (self.write or other.write)
            and self.first < other.last
            and other.first < self.last
        )


def span(program: Program, type: MatrixType, address: Address) -> tuple[int, int]:
    """The bytes [first, last) that a matrix at ``address`` covers in tile 0."""
    unit = program.buffer(address.buffer).pointee.bytes
    rows, columns = type.rows, type.columns
    lines, length = (rows, columns) if address.layout is Layout.ROW_MAJOR else (columns, rows)
    first = address.offset * unit
    return first, first + (lines - 1) * address.stride * unit + length * type.component.bytes


def accesses(program: Program) -> Iterator[Access | None]:
    """The access of every statement of the body; None where there is none."""
    types = program.types()
    whole = (0, 1 << 62)
    for statement in program.body:
        match statement:
            case Load(type=type, address=address):
                yield Access(address.buffer, False, *span(program, type, address))
            case Store(value=value, address=address):
                yield Access(address.buffer, True, *span(program, types[value], address))
            case Length(buffer=buffer):
                yield Access(buffer, True, *whole)
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
