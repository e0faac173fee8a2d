"""Whether a program obeys the rules that no device may be asked to break.

A program that doesn't would be undefined behaviour on a driver, so it must never be sent; a
strategy that makes one is at fault. Every rule here is one of the specification's, and the
reason names it.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from cts.program import extension_rules
from cts.program.controls import contradiction
from cts.program.element_rules import (
    broken_binary,
    broken_convert,
    broken_negate,
    broken_scale,
    broken_through,
    not_first,
    repeated_name,
    unbounded,
)
from cts.program.model import (
    Address,
    Barrier,
    Binary,
    Branch,
    Component,
    Convert,
    Form,
    Layout,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Negate,
    Program,
    Rebuild,
    Repeat,
    Scale,
    Scope,
    Splat,
    Stamp,
    Statement,
    Storage,
    Store,
    Through,
    Use,
    walk,
)

_PACKED = frozenset({Component.SINT8_PACKED, Component.UINT8_PACKED})
_NO_MEMORY = _PACKED | {Component.BFLOAT16, Component.FLOAT8_E4M3, Component.FLOAT8_E5M2}
"""Components that pointers of a program never point to: their bits travel as integers."""


Types = dict[str, MatrixType]
"""Types of the values so far, by name."""


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
    for reason in (contradiction(program.controls), not_first(program), unbounded(program)):
        _demand(reason is None, reason or "")
    twice = repeated_name(program.body)
    _demand(twice is None, f"{twice} is assigned twice.")
    _check_body(program, program.body, {})
    for load in _unlooped(program.body):
        _demand(load.address.step == 0, f"Load of {load.result}: only in a loop is there a step.")


def _check_body(program: Program, body: Iterable[Statement], types: Types) -> Types:
    """Checks the statements of a body, and adds what they define to ``types``."""
    for statement in body:
        _CHECKS[type(statement)](program, statement, types)
    return types


def _check_load(program: Program, it: Load, types: Types) -> None:
    _matrix(it.type)
    _address(program, it.type, it.address, f"Load of {it.result}")
    _demand(it.address.turn >= 0, f"Load of {it.result}: a turn isn't negative.")
    _demand(
        it.address.turn == 0 or it.type.scope is Scope.SUBGROUP,
        f"Load of {it.result}: only subgroups take turns.",
    )
    _assign(it.result, it.type, types)


def _check_store(program: Program, it: Store, types: Types) -> None:
    _demand(it.value in types, f"Store of {it.value}, which has no value yet.")
    _demand(it.address.step == it.address.turn == 0, f"Store of {it.value}: stores stay in place.")
    _store(program, types[it.value], it.address, it.value)


def _check_splat(program: Program, it: Splat, types: Types) -> None:
    _matrix(it.type)
    component = it.type.component
    _demand(
        0 <= it.bits < 1 << component.bits,
        f"{it.result}: {it.bits:#x} doesn't fit {component.label}.",
    )
    _demand(it.form is not Form.NULL or it.bits == 0, f"{it.result}: OpConstantNull holds zeros.")
    _assign(it.result, it.type, types)


def _check_stamp(program: Program, it: Stamp, types: Types) -> None:
    _matrix(it.type)
    _demand(it.type.component.is_integer, f"{it.result}: stamps are integers.")
    _assign(it.result, it.type, types)


def _check_rebuild(program: Program, it: Rebuild, types: Types) -> None:
    _demand(it.value in types, f"Rebuild of {it.value}, which has no value yet.")
    _assign(it.result, types[it.value], types)


def _assign(name: str, type: MatrixType, types: Types) -> None:
    _demand(name not in types, f"{name} is assigned twice.")
    types[name] = type


def _matrix(type: MatrixType) -> None:
    _demand(min(type.rows, type.columns) > 0, f"The matrix {type} is empty.")
    _demand(type.component not in _PACKED, f"A matrix has no {type.component.label}.")


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


def _check_mul_add(program: Program, statement: MulAdd, types: Types) -> None:
    """Shapes, uses and scopes agree (OpCooperativeMatrixMulAddKHR); signedness operands are
    those of the types (VUID-RuntimeSpirv-OpCooperativeMatrixMulAddKHR-10060)."""
    name = statement.result
    _matrix(statement.type)
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
    _assign(name, result, types)


def _check_length(program: Program, statement: Length, types: Types) -> None:
    _matrix(statement.type)
    name = statement.buffer
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


def _check_extended(program: Program, it: extension_rules.Extended, types: Types) -> None:
    reason = extension_rules.broken(program, it, types)
    _demand(reason is None, reason or "")
    for name, type in it.defines(types):
        _matrix(type)
        _assign(name, type, types)


def _check_element(rule: Callable[[Any, Types], str | None]) -> Callable[..., None]:
    """The check of a statement that defines one value, by a rule that gives a reason."""

    def check(program: Program, it: Any, types: Types) -> None:
        reason = rule(it, types)
        _demand(reason is None, reason or "")
        for name, type in it.defines(types):
            _assign(name, type, types)

    return check


def _check_barrier(program: Program, it: Barrier, types: Types) -> None:
    _demand(
        it.scope in (Scope.WORKGROUP, Scope.SUBGROUP), "A barrier is of a workgroup or a subgroup."
    )
    ways = {other.by_access for other in program.body if isinstance(other, Barrier)}
    _demand(len(ways) == 1, "Accesses are ordered by all barriers of a program or by none.")


def _inside(body: Iterable[Statement]) -> None:
    for statement in walk(body):
        _demand(
            not isinstance(statement, Store | Length | Barrier),
            "Branches and loops hold no stores and no barriers.",
        )


def _check_branch(program: Program, it: Branch, types: Types) -> None:
    _demand(0 <= it.bit < 32, "A branch is taken by one of 32 bits.")
    _inside((*it.then, *it.otherwise))
    then = _check_body(program, it.then, dict(types))
    otherwise = _check_body(program, it.otherwise, dict(types))
    for merge in it.results:
        _demand(merge.then in then, f"{merge.result}: {merge.then} has no value there.")
        _demand(
            merge.otherwise in otherwise, f"{merge.result}: {merge.otherwise} has no value there."
        )
        _demand(
            then[merge.then] == otherwise[merge.otherwise], f"{merge.result}: the types differ."
        )
    for merge in it.results:
        _assign(merge.result, then[merge.then], types)


def _unlooped(body: Iterable[Statement]) -> Iterator[Load]:
    """The loads that no loop inside ``body`` holds."""
    for statement in body:
        match statement:
            case Load():
                yield statement
            case Branch():
                yield from _unlooped((*statement.then, *statement.otherwise))
            case _:
                pass


def _check_repeat(program: Program, it: Repeat, types: Types) -> None:
    _demand(it.count >= 0, "A loop has no negative number of iterations.")
    _inside(it.body)
    for carry in it.carried:
        _demand(carry.initial in types, f"{carry.name}: {carry.initial} has no value yet.")
    inner = dict(types)
    for carry in it.carried:
        _assign(carry.name, types[carry.initial], inner)
    inner = _check_body(program, it.body, inner)
    for carry in it.carried:
        _demand(carry.following in inner, f"{carry.name}: {carry.following} has no value there.")
        _demand(inner[carry.following] == types[carry.initial], f"{carry.name}: the types differ.")
    for load in _unlooped(it.body):
        address, what = load.address, f"Load of {load.result}"
        _demand(address.step >= 0, f"{what}: steps aren't negative.")
        unit = program.buffer(address.buffer).pointee.bytes
        alignment = min(16, _shape(load.type, address.layout)[1])
        _demand(
            address.step * unit % alignment == 0,
            f"{what}: a step of {address.step * unit} bytes isn't a multiple of {alignment}.",
        )
        end = address.offset + max(0, it.count - 1) * address.step
        _address(program, load.type, replace(address, offset=end), what)
    for carry in it.carried:
        _assign(carry.result, types[carry.initial], types)


_CHECKS: dict[Any, Callable[[Program, Any, Types], None]] = {
    Load: _check_load,
    Store: _check_store,
    Splat: _check_splat,
    MulAdd: _check_mul_add,
    Length: _check_length,
    Stamp: _check_stamp,
    Rebuild: _check_rebuild,
    **dict.fromkeys(extension_rules.KINDS, _check_extended),
    Convert: _check_element(broken_convert),
    Negate: _check_element(broken_negate),
    Binary: _check_element(broken_binary),
    Scale: _check_element(broken_scale),
    Through: _check_element(broken_through),
    Barrier: _check_barrier,
    Branch: _check_branch,
    Repeat: _check_repeat,
}
"""One function for each kind of statement."""
