"""Lowering of conversions between matrices and the invocations' arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cts.program.qcom import FromArrays, ToArrays, lines
from cts.program.types import Component, MatrixType, Scope
from cts.spirv import extended
from cts.spirv.context import Context
from cts.spirv.matrix2 import grant
from cts.spirv.memory import Memories
from cts.spirv.opcodes import BuiltIn, Op


def _array(context: Context, component: Component, length: int) -> int:
    builder = context.builder
    return builder.array_type(context.component_type(component), builder.u32(length))


def _held(type: MatrixType, words: bool, length: int) -> tuple[Component, int]:
    """(component, length) of the arrays in memory."""
    if words:
        return Component.UINT32, length * type.component.bytes // 4
    return type.component, length


def _first(context: Context, lane: int, count: int, length: int) -> int:
    """The index of the first element of the array of invocation ``lane``."""
    builder = context.builder
    tile = context.tile(Scope.SUBGROUP, False)
    line = builder.value(Op.IMul, context.u32, tile, builder.u32(count))
    line = builder.value(Op.IAdd, context.u32, line, lane)
    return builder.value(Op.IMul, context.u32, line, builder.u32(length))


def _from_arrays(context: Context, memories: Memories, statement: FromArrays) -> None:
    grant(context, extended.QCOM)
    builder, type = context.builder, statement.type
    count, length = lines(type)
    whole = statement.length or length
    component, held = _held(type, statement.packed or statement.cast, whole)
    scalar = context.component_type(component)
    lane = context.builtin(BuiltIn.SubgroupLocalInvocationId)
    # Invocations beyond the last line load the first one; what they have is ignored.
    boolean = builder.declare(Op.TypeBool)
    inside = builder.value(Op.ULessThan, boolean, lane, builder.u32(count))
    mine = builder.value(extended.Op.Select, context.u32, inside, lane, builder.u32(0))
    first = _first(context, mine, count, held)
    loaded = []
    for at in range(held):
        index = builder.value(Op.IAdd, context.u32, first, builder.u32(at))
        pointer = memories.pointer(statement.buffer, index)
        operands = memories.operands(statement.buffer)
        loaded.append(builder.value(Op.Load, scalar, pointer, *operands))
    array = builder.value(Op.CompositeConstruct, _array(context, component, held), *loaded)
    if statement.cast:
        array = builder.value(
            extended.Op.BitCastArrayQCOM, _array(context, type.component, whole), array
        )
    if statement.length:
        s32 = builder.int_type(32, signed=True)
        start = builder.constant_op(Op.Constant, s32, statement.start)
        part = _array(context, type.component, length)
        array = builder.value(extended.Op.ExtractSubArrayQCOM, part, array, start)
    context.values[statement.result] = builder.value(
        extended.Op.CompositeConstructCoopMatQCOM, context.matrix_type(type), array
    )


def _to_arrays(context: Context, memories: Memories, statement: ToArrays) -> None:
    grant(context, extended.QCOM)
    builder, type = context.builder, context.types[statement.value]
    count, length = lines(type)
    component, held = _held(type, statement.packed or statement.cast, length)
    given = (Component.UINT32, held) if statement.packed else (type.component, length)
    array = builder.value(
        extended.Op.CompositeExtractCoopMatQCOM,
        _array(context, *given),
        context.values[statement.value],
    )
    if statement.cast:
        array = builder.value(extended.Op.BitCastArrayQCOM, _array(context, component, held), array)
    lane = context.builtin(BuiltIn.SubgroupLocalInvocationId)
    boolean = builder.declare(Op.TypeBool)
    inside = builder.value(Op.ULessThan, boolean, lane, builder.u32(count))
    first = _first(context, lane, count, held)
    store, after = builder.new_id(), builder.new_id()
    builder.emit(extended.Op.SelectionMerge, after, 0)
    builder.emit(Op.BranchConditional, inside, store, after)
    builder.label(store)
    scalar = context.component_type(component)
    for at in range(held):
        index = builder.value(Op.IAdd, context.u32, first, builder.u32(at))
        pointer = memories.pointer(statement.buffer, index)
        element = builder.value(Op.CompositeExtract, scalar, array, at)
        builder.emit(Op.Store, pointer, element, *memories.operands(statement.buffer))
    builder.emit(Op.Branch, after)
    builder.label(after)


LOWERINGS: dict[Any, Callable[[Context, Memories, Any], None]] = {
    FromArrays: _from_arrays,
    ToArrays: _to_arrays,
}
"""One function for each kind of statement."""
