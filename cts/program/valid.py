"""Whether a program obeys the rules that no device may be asked to break.

A program that doesn't would be undefined behaviour on a driver, so it must never be sent; a
strategy that makes one is at fault. Every rule here is one of the specification's, and the
reason names it.
"""

from __future__ import annotations

import functools
import itertools
import math

from cts.program.model import (
    Address,
    Component,
    Form,
    Layout,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Program,
    Rebuild,
    Scope,
    Splat,
    Stamp,
    Storage,
    Store,
    Use,
)

_NO_MEMORY = frozenset(
    {
        Component.BFLOAT16,
        Component.FLOAT8_E4M3,
        Component.FLOAT8_E5M2,
        Component.SINT8_PACKED,
        Component.UINT8_PACKED,
    }
)
"""Components that pointers of a program never point to: their bits travel as integers."""


class _Broken(Exception):
    """A rule that the program breaks, as a sentence."""


@functools.lru_cache(maxsize=256)
def invalid(program: Program) -> str | None:
    """The first rule that ``program`` breaks, as a sentence; None if it breaks none."""
    try:
        _check(program)
    except _Broken as broken:
        return str(broken)
    return None


def _demand(condition: bool, reason: str) -> None:
    if not condition:
        raise _Broken(reason)


def _check(program: Program) -> None:
    grid = program.grid
    _demand(min(grid.workgroups, grid.subgroups, grid.subgroup_size) > 0, "The grid is empty.")
    names = [buffer.name for buffer in program.buffers]
    _demand(len(set(names)) == len(names), "Two buffers share a name.")
    for buffer in program.buffers:
        pointee = buffer.pointee
        _demand(
            pointee.component not in _NO_MEMORY and pointee.lanes in (1, 2, 4),
            f"Nothing can point to {pointee} (buffer {buffer.name}).",
        )
        _demand(buffer.size > 0, f"Buffer {buffer.name} is empty.")
    types: dict[str, MatrixType] = {}
    for statement in program.body:
        match statement:
            case Load(type=type, address=address):
                _address(program, type, address, f"Load of {statement.result}")
            case Store(value=value, address=address):
                _demand(value in types, f"Store of {value}, which has no value yet.")
                _store(program, types[value], address, value)
            case Splat():
                _splat(statement)
            case MulAdd():
                _mul_add(statement, types)
            case Length(buffer=name):
                _length(program, statement, name)
            case Stamp(type=type):
                _demand(type.component.is_integer, f"{statement.result}: stamps are integers.")
            case Rebuild(value=value):
                _demand(value in types, f"Rebuild of {value}, which has no value yet.")
                types[statement.result] = types[value]
        if isinstance(statement, Load | Splat | MulAdd | Stamp):
            _demand(statement.result not in types, f"{statement.result} is assigned twice.")
            types[statement.result] = statement.type


def _tiles(program: Program, scope: Scope, storage: Storage) -> int:
    """How many tiles share one array."""
    grid = program.grid
    if storage is Storage.WORKGROUP:
        return 1 if scope is Scope.WORKGROUP else grid.subgroups
    return grid.workgroups if scope is Scope.WORKGROUP else grid.tiles


def _shape(type: MatrixType, layout: Layout) -> tuple[int, int]:
    """(number of lines, bytes of one line): rows or columns, as the layout says."""
    row_major = layout is Layout.ROW_MAJOR
    lines, length = (type.rows, type.columns) if row_major else (type.columns, type.rows)
    return lines, length * type.component.bytes


def _address(program: Program, type: MatrixType, address: Address, what: str) -> None:
    """In bounds, and aligned (VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986)."""
    names = {buffer.name: buffer for buffer in program.buffers}
    _demand(address.buffer in names, f"{what}: there is no buffer {address.buffer}.")
    buffer = names[address.buffer]
    unit = buffer.pointee.bytes
    lines, line = _shape(type, address.layout)
    tiles = _tiles(program, type.scope, buffer.storage)
    alignment = min(16, line)
    _demand(
        min(address.stride, address.offset, address.pitch) >= 0,
        f"{what}: strides, offsets and pitches aren't negative.",
    )
    _demand(
        address.stride * unit % alignment == 0,
        f"{what}: a stride of {address.stride * unit} bytes isn't a multiple of {alignment}.",
    )
    pitch = address.pitch if tiles > 1 else 0
    _demand(
        math.gcd(address.offset * unit, pitch * unit) % alignment == 0,
        f"{what}: a matrix doesn't start at a multiple of {alignment} bytes.",
    )
    last = address.offset + (tiles - 1) * address.pitch + (lines - 1) * address.stride
    _demand(
        last * unit + line <= buffer.size * unit,
        f"{what}: {last * unit + line} bytes don't fit {buffer.name}, which has "
        f"{buffer.size * unit}.",
    )


def _store(program: Program, type: MatrixType, address: Address, value: str) -> None:
    """As a load; further, no two elements share memory (they'd race)."""
    what = f"Store of {value}"
    _address(program, type, address, what)
    buffer = program.buffer(address.buffer)
    unit = buffer.pointee.bytes
    lines, line = _shape(type, address.layout)
    tiles = _tiles(program, type.scope, buffer.storage)
    stride, pitch = address.stride * unit, address.pitch * unit
    _demand(stride > 0, f"{what}: the stride of a store is greater than 0.")
    apart = stride >= line or lines == 1
    if not (apart and (tiles == 1 or pitch >= (lines - 1) * stride + line)):
        starts = sorted(t * pitch + i * stride for t in range(tiles) for i in range(lines))
        apart = all(b - a >= line for a, b in itertools.pairwise(starts))
    _demand(apart, f"{what}: lines or tiles of it share memory.")


def _splat(statement: Splat) -> None:
    component = statement.type.component
    _demand(
        0 <= statement.bits < 1 << component.bits,
        f"{statement.result}: {statement.bits:#x} doesn't fit {component.label}.",
    )
    _demand(
        statement.form is not Form.NULL or statement.bits == 0,
        f"{statement.result}: OpConstantNull holds zeros.",
    )


def _mul_add(statement: MulAdd, types: dict[str, MatrixType]) -> None:
    """Shapes, uses and scopes agree (OpCooperativeMatrixMulAddKHR); signedness operands are
    those of the types (VUID-RuntimeSpirv-OpCooperativeMatrixMulAddKHR-10060)."""
    name = statement.result
    for operand in (statement.a, statement.b, statement.c):
        _demand(operand in types, f"{name}: {operand} has no value yet.")
    a, b, c = types[statement.a], types[statement.b], types[statement.c]
    result = statement.type
    _demand(
        (a.use, b.use, c.use, result.use) == (Use.A, Use.B, Use.ACCUMULATOR, Use.ACCUMULATOR),
        f"{name}: the operands' uses aren't A, B and accumulator.",
    )
    _demand(
        a.columns == b.rows
        and (c.rows, c.columns) == (result.rows, result.columns) == (a.rows, b.columns),
        f"{name}: the sizes of the operands don't agree.",
    )
    _demand(len({a.scope, b.scope, c.scope, result.scope}) == 1, f"{name}: scopes differ.")
    for type, signed in (
        (a, statement.a_signed),
        (b, statement.b_signed),
        (c, statement.c_signed),
        (result, statement.result_signed),
    ):
        _demand(
            signed == type.component.is_signed,
            f"{name}: the signedness operand of {type} isn't its component's.",
        )
    _demand(
        not statement.saturating or result.component.is_integer,
        f"{name}: only integers saturate.",
    )


def _length(program: Program, statement: Length, name: str) -> None:
    names = {buffer.name: buffer for buffer in program.buffers}
    _demand(name in names, f"Length: there is no buffer {name}.")
    buffer = names[name]
    grid = program.grid
    _demand(
        buffer.pointee.component is Component.UINT32 and buffer.pointee.lanes == 1,
        "Length: lengths are uint32.",
    )
    shared = buffer.storage is Storage.WORKGROUP
    invocations = grid.local_size * (1 if shared else grid.workgroups)
    _demand(buffer.size >= invocations, f"Length: {name} is too small.")
