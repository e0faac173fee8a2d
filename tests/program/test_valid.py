"""Rules that a program must not break, whatever the device."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from cts.program.model import (
    Address,
    Buffer,
    Component,
    Form,
    Grid,
    Layout,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Pointee,
    Program,
    Rebuild,
    Scope,
    Splat,
    Stamp,
    Statement,
    Storage,
    Store,
    Use,
)
from cts.program.valid import invalid
from tests.spirv.everything import PROGRAMS

F16, U8, S32, U32 = Component.FLOAT16, Component.UINT8, Component.SINT32, Component.UINT32
A = MatrixType(F16, 8, 4, Use.A)
B = MatrixType(F16, 4, 8, Use.B)
C = MatrixType(F16, 8, 8, Use.ACCUMULATOR)
HALVES, TWO_BY_TWO = Pointee(F16), Grid(2, 2, 8)
ROW, COLUMN = Layout.ROW_MAJOR, Layout.COLUMN_MAJOR


def program(
    *body: Statement,
    pointee: Pointee = HALVES,
    size: int = 1024,
    storage: Storage = Storage.STORAGE_BUFFER,
    grid: Grid = TWO_BY_TWO,
) -> Program:
    return Program(grid, (Buffer("x", pointee, size, storage),), body)


def load(type: MatrixType = C, layout: Layout = ROW, **numbers: int) -> Load:
    return Load("m", type, Address("x", layout, **{"stride": 8, "pitch": 64, **numbers}))


def store(**numbers: int) -> tuple[Statement, Statement]:
    return (
        Splat("m", C),
        Store("m", Address("x", ROW, **{"stride": 8, "pitch": 64, **numbers})),
    )


def mul_add(
    a: MatrixType = A, b: MatrixType = B, c: MatrixType = C, d: MatrixType = C, **flags: Any
) -> Program:
    splats = (Splat("a", a), Splat("b", b), Splat("c", c))
    return program(*splats, MulAdd("d", d, "a", "b", "c", **flags))


def test_sound_programs_break_nothing() -> None:
    for sound in (*PROGRAMS, program(load()), program(*store()), mul_add()):
        assert invalid(sound) is None


@pytest.mark.parametrize(
    ("type", "layout", "numbers", "sound"),
    [
        (C, ROW, {"stride": 16}, True),
        (C, ROW, {"stride": 12}, False),
        (C, ROW, {"stride": 0}, True),
        (C, ROW, {"offset": 8}, True),
        (C, ROW, {"offset": 4}, False),
        (C, ROW, {"pitch": 68}, False),
        (A, ROW, {"stride": 12}, True),  # rows of 8 bytes
        (A, ROW, {"stride": 10}, False),
        (A, COLUMN, {"stride": 12}, False),  # columns of 16 bytes
    ],
)
def test_pointer_and_stride_are_aligned(
    type: MatrixType, layout: Layout, numbers: dict[str, int], sound: bool
) -> None:
    reason = invalid(program(load(type, layout, **numbers)))
    assert (reason is None) == sound
    assert sound or (reason is not None and "multiple of" in reason)


def test_strides_count_pointees() -> None:
    wide = {"pointee": Pointee(U32, 4), "size": 64}
    assert invalid(program(load(stride=1, pitch=8), **wide)) is None
    narrow = {"pointee": Pointee(U8), "size": 4096}
    assert invalid(program(load(stride=16, pitch=128), **narrow)) is None
    assert invalid(program(load(stride=8, pitch=128), **narrow)) is not None


def test_matrices_lie_in_their_buffer() -> None:
    assert invalid(program(load(), size=256)) is None
    assert "don't fit" in str(invalid(program(load(), size=255)))
    assert invalid(program(load(pitch=0), size=64)) is None
    shared = {"storage": Storage.WORKGROUP}
    assert invalid(program(load(), size=128, **shared)) is None
    assert invalid(program(load(), size=127, **shared)) is not None
    whole = dataclasses.replace(C, scope=Scope.WORKGROUP)
    assert invalid(program(load(whole), size=128)) is None
    assert invalid(program(load(whole), size=64, **shared)) is None
    assert "no buffer" in str(invalid(program(Load("m", C, Address("y", ROW, 8)))))
    assert "negative" in str(invalid(program(load(offset=-8))))


@pytest.mark.parametrize(
    ("numbers", "sound"),
    [
        ({}, True),
        ({"stride": 16, "pitch": 128}, True),
        ({"stride": 0}, False),
        ({"stride": 8, "pitch": 32}, False),
        ({"pitch": 0}, False),
        ({"stride": 32, "pitch": 8}, True),  # tiles side by side
        ({"stride": 24, "pitch": 8}, False),
        ({"stride": 16, "pitch": 8}, False),
        ({"stride": 16, "pitch": 120}, True),
        ({"stride": 16, "pitch": 112}, False),
    ],
)
def test_stores_do_not_overlap_themselves(numbers: dict[str, int], sound: bool) -> None:
    assert (invalid(program(*store(**numbers))) is None) == sound


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (mul_add(a=dataclasses.replace(A, use=Use.B)), "uses"),
        (mul_add(d=dataclasses.replace(C, use=Use.A)), "uses"),
        (mul_add(b=dataclasses.replace(B, rows=8)), "sizes"),
        (mul_add(c=dataclasses.replace(C, columns=4)), "sizes"),
        (mul_add(d=dataclasses.replace(C, rows=4)), "sizes"),
        (mul_add(b=dataclasses.replace(B, scope=Scope.WORKGROUP)), "scopes"),
        (mul_add(a_signed=True), "signedness"),
        (mul_add(c=dataclasses.replace(C, component=S32)), "signedness"),
        (mul_add(saturating=True), "saturate"),
        (program(MulAdd("d", C, "a", "b", "c")), "no value"),
        (program(Store("m", Address("x", ROW, 8))), "no value"),
        (program(Rebuild("n", "m")), "no value"),
        (program(Splat("m", C), Splat("m", C)), "twice"),
        (program(Splat("m", C), Rebuild("m", "m")), "twice"),
        (program(Splat("m", C, 1 << 16)), "fit"),
        (program(Splat("m", C, -1)), "fit"),
        (program(Splat("m", C, 1, Form.NULL)), "zeros"),
        (program(Stamp("m", C)), "integers"),
        (program(Splat("m", dataclasses.replace(C, rows=0))), "empty"),
        (program(Splat("m", dataclasses.replace(C, component=Component.UINT8_PACKED))), "has no"),
        (program(Length(C, "x")), "uint32"),
        (program(Length(C, "y")), "no buffer"),
        (program(Length(C, "x"), pointee=Pointee(U32), size=31), "small"),
        (program(pointee=Pointee(Component.BFLOAT16)), "point"),
        (program(pointee=Pointee(F16, 3)), "point"),
        (program(size=0), "empty"),
        (program(grid=Grid(0, 1, 8)), "empty"),
        (Program(Grid(1, 1, 8), (Buffer("x", Pointee(F16), 1),) * 2, ()), "share"),
    ],
)
def test_broken_rules_are_named(broken: Program, words: str) -> None:
    reason = invalid(broken)
    assert reason is not None and words in reason
