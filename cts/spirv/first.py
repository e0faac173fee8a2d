"""Lowering to the instructions of the first extension, SPV_NV_cooperative_matrix.

Its types have no use, its layouts are booleans, and its multiply-add takes integers as their types
say. What else it allows are the instructions that the KHR extension has too.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from cts.program.model import Layout, Load, MulAdd, Store
from cts.spirv import core
from cts.spirv.context import Context
from cts.spirv.memory import Memories
from cts.spirv.opcodes import Op as Basic


class Op(enum.IntEnum):
    """Instructions."""

    ConstantTrue = 41
    ConstantFalse = 42
    CooperativeMatrixLoadNV = 5359
    CooperativeMatrixStoreNV = 5360
    CooperativeMatrixMulAddNV = 5361


def _column_major(context: Context, layout: Layout) -> int:
    boolean = context.builder.declare(Basic.TypeBool)
    op = Op.ConstantTrue if layout is Layout.COLUMN_MAJOR else Op.ConstantFalse
    return context.builder.constant_op(op, boolean)


def _load(context: Context, memories: Memories, it: Load) -> None:
    pointer = memories.tile_pointer(it.address, it.type.scope)
    context.values[it.result] = context.builder.value(
        Op.CooperativeMatrixLoadNV,
        context.matrix_type(it.type),
        pointer,
        context.number(it.address.stride),
        _column_major(context, it.address.layout),
        *memories.operands(it.address.buffer, core.Memory.MakePointerVisible),
    )


def _store(context: Context, memories: Memories, it: Store) -> None:
    pointer = memories.tile_pointer(it.address, context.types[it.value].scope)
    context.builder.emit(
        Op.CooperativeMatrixStoreNV,
        pointer,
        context.values[it.value],
        context.number(it.address.stride),
        _column_major(context, it.address.layout),
        *memories.operands(it.address.buffer, core.Memory.MakePointerAvailable),
    )


def _mul_add(context: Context, memories: Memories, it: MulAdd) -> None:
    values = context.values
    values[it.result] = context.builder.value(
        Op.CooperativeMatrixMulAddNV,
        context.matrix_type(it.type),
        values[it.a],
        values[it.b],
        values[it.c],
    )


LOWERINGS: dict[Any, Callable[[Context, Memories, Any], None]] = {
    Load: _load,
    Store: _store,
    MulAdd: _mul_add,
}
"""One function for each kind of statement that has an instruction of its own."""
