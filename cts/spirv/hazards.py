"""Which statements have to be kept apart by a barrier.

Which invocation reads or writes which element of a cooperative matrix is the implementation's
choice, so a store and a later access to the same bytes are made by different invocations and
race unless the invocations synchronise in between. A program reads as a sequence; the lowering
makes it one with barriers of the matrix scope, where two statements of a tile can meet.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cts.program.model import (
    Address,
    Barrier,
    Layout,
    Length,
    Load,
    MatrixType,
    Program,
    Statement,
    Storage,
    Store,
    walk,
)
from cts.program.qcom import FromArrays, ToArrays
from cts.program.tensor import TensorLoad, TensorStore


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


def _loads(program: Program, body: Iterable[Statement]) -> Iterator[Access]:
    """Accesses of statements that never store; those that move count as of the whole buffer."""
    for statement in walk(body):
        if not isinstance(statement, Load):
            continue
        address = statement.address
        if address.step or address.turn:
            buffer = program.buffer(address.buffer)
            yield Access(address.buffer, False, 0, buffer.size * buffer.pointee.bytes, _ANY)
        else:
            yield _access(program, statement.type, address, write=False)


_ANY = -1
"""The pitch of what may be any tile's."""


def accesses(program: Program) -> Iterator[tuple[Access, ...]]:
    """The accesses of every statement of the body."""
    types = program.types()
    for statement in program.body:
        match statement:
            case Store(value=value, address=address):
                yield (_access(program, types[value], address, write=True),)
            case Length(buffer=buffer):
                size = program.buffer(buffer).size * program.buffer(buffer).pointee.bytes
                yield (Access(buffer, True, 0, size, 0),)
            case FromArrays(buffer=name) | ToArrays(buffer=name):
                size = program.buffer(name).size * program.buffer(name).pointee.bytes
                yield (Access(name, isinstance(statement, ToArrays), 0, size, _ANY),)
            case TensorLoad(tensor=tensor) | TensorStore(tensor=tensor):
                whole = program.buffer(tensor.buffer)
                size = whole.size * whole.pointee.bytes
                stores = isinstance(statement, TensorStore)
                yield (Access(tensor.buffer, stores, 0, size, _ANY),)
            case _:
                yield tuple(_loads(program, (statement,)))


@dataclass(frozen=True)
class Ordering:
    """``barriers``: indices of the statements that a barrier goes before. ``shared``: buffers
    whose accesses have to be non-private, because other invocations' barriers order them."""

    barriers: frozenset[int]
    shared: frozenset[str]


def order(program: Program) -> Ordering:
    """Where barriers are needed so that each tile's statements act in sequence."""
    found = list(accesses(program))
    shared = {b.name for b in program.buffers if b.storage is Storage.WORKGROUP}
    flat = [access for group in found for access in group]
    shared |= {a.buffer for a, b in itertools.combinations(flat, 2) if a.conflicts(b)}
    open_accesses: list[Access] = []
    barriers: set[int] = set()
    for index, group in enumerate(found):
        if isinstance(program.body[index], Barrier):
            open_accesses.clear()
        if any(access.conflicts(before) for access in group for before in open_accesses):
            barriers.add(index)
            open_accesses.clear()
        open_accesses += group
    return Ordering(frozenset(barriers), frozenset(shared))
