"""Listings read well, and tell programs apart."""

from __future__ import annotations

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
    Numbers,
    Pointee,
    Program,
    Rebuild,
    Scope,
    Splat,
    Stamp,
    Storage,
    Store,
    Use,
)
from cts.program.text import describe
from tests.spirv.everything import PROGRAMS


def test_a_listing_has_a_line_for_each_thing() -> None:
    s8, s32 = Component.SINT8, Component.SINT32
    accumulator = MatrixType(s32, 8, 8, Use.ACCUMULATOR)
    program = Program(
        Grid(1, 2, 8, required=True),
        (
            Buffer("x", Pointee(Component.UINT16, 2), 256),
            Buffer("y", Pointee(s32), 512, Storage.PHYSICAL_STORAGE_BUFFER),
            Buffer("l", Pointee(Component.UINT32), 16, Storage.WORKGROUP),
        ),
        (
            Load("a", MatrixType(s8, 8, 8, Use.A), Address("x", Layout.ROW_MAJOR, 12, 4, 64)),
            Splat("b", MatrixType(s8, 8, 8, Use.B), 0x7F),
            Splat("c", accumulator, 0, Form.NULL),
            MulAdd("d", accumulator, "a", "b", "c", True, True, True, True, True),
            Stamp("s", accumulator, 8),
            Rebuild("e", "d"),
            Length(MatrixType(s8, 8, 8, Use.A, Scope.WORKGROUP), "l"),
            Store("e", Address("y", Layout.COLUMN_MAJOR, 8, 0, 64)),
        ),
        Numbers.LITERAL,
        frozenset({"rows", "columns"}),
    )
    assert describe(program).splitlines() == [
        "dispatch 1 workgroup of 2 subgroups of 8 (required)",
        "buffer x: 256 x uint16x2 (storage buffer)",
        "buffer y: 512 x sint32 (physical storage buffer)",
        "buffer l: 16 x uint32 (workgroup memory)",
        "a = load sint8[8x8] A from x (storage buffer of uint16x2), row major, "
        "stride 12, offset 4, 64 per tile",
        "b = sint8[8x8] B of 0x7f by OpConstantComposite",
        "c = sint32[8x8] accumulator by OpConstantNull",
        "d = a x b + c as sint32[8x8] accumulator, signed A B C result, saturating",
        "s = sint32[8x8] accumulator of a code for each component >> 8",
        "e = d, copied component by component",
        "l[invocation] = length of sint8[8x8] A of the workgroup",
        "store e to y (physical storage buffer of sint32), column major, "
        "stride 8, offset 0, 64 per tile",
        "strides and offsets: literals",
        "specialization constants: columns, rows",
    ]


def test_different_programs_have_different_listings() -> None:
    assert len({describe(program) for program in PROGRAMS}) == len(set(PROGRAMS))
