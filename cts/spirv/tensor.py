"""Lowering of tensor layouts and views, and of the loads and stores that use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cts.program.model import Storage
from cts.program.tensor import (
    BlockSize,
    ClampValue,
    Clip,
    Decode,
    Dimensions,
    Slice,
    Strides,
    Tensor,
    TensorLayout,
    TensorLoad,
    TensorStore,
    TensorView,
)
from cts.program.types import Component, Scope
from cts.spirv import extended
from cts.spirv.context import Context
from cts.spirv.functions import number
from cts.spirv.matrix2 import grant
from cts.spirv.memory import Memories
from cts.spirv.opcodes import Memory, Op, StorageClass

_WORD = 0xFFFFFFFF


def _numbers(context: Context, values: Sequence[int]) -> list[int]:
    return [context.number(value & _WORD) for value in values]


def _layout(context: Context, layout: TensorLayout) -> int:
    builder = context.builder
    type_id = builder.declare(
        extended.Op.TypeTensorLayoutNV, builder.u32(layout.rank), builder.u32(layout.clamp)
    )
    current = builder.value(extended.Op.CreateTensorLayoutNV, type_id)
    for step in layout.steps:
        match step:
            case BlockSize(sizes=sizes):
                op, operands = extended.Op.TensorLayoutSetBlockSizeNV, _numbers(context, sizes)
            case Dimensions(sizes=sizes):
                op, operands = extended.Op.TensorLayoutSetDimensionNV, _numbers(context, sizes)
            case Strides(strides=strides):
                op, operands = extended.Op.TensorLayoutSetStrideNV, _numbers(context, strides)
            case Slice(offsets=offsets, spans=spans):
                mixed = [it for pair in zip(offsets, spans, strict=True) for it in pair]
                op, operands = extended.Op.TensorLayoutSliceNV, _numbers(context, mixed)
            case ClampValue(value=value):
                op = extended.Op.TensorLayoutSetClampValueNV
                operands = _numbers(context, (value,))
        current = builder.value(op, type_id, current, *operands)
    return current


def _view(context: Context, view: TensorView) -> int:
    builder = context.builder
    boolean = builder.declare(Op.TypeBool)
    given = extended.Op.ConstantTrue if view.has_dimensions else extended.Op.ConstantFalse
    type_id = builder.declare(
        extended.Op.TypeTensorViewNV,
        builder.u32(len(view.permutation)),
        builder.constant_op(given, boolean),
        *(builder.u32(it) for it in view.permutation),
    )
    current = builder.value(extended.Op.CreateTensorViewNV, type_id)
    for step in view.steps:
        match step:
            case Dimensions(sizes=sizes):
                op, operands = extended.Op.TensorViewSetDimensionNV, _numbers(context, sizes)
            case Strides(strides=strides):
                op, operands = extended.Op.TensorViewSetStrideNV, _numbers(context, strides)
            case Clip():
                op = extended.Op.TensorViewSetClipNV
                ends = (step.row_offset, step.row_span, step.column_offset, step.column_span)
                operands = _numbers(context, ends)
        current = builder.value(op, type_id, current, *operands)
    return current


def _pointer(context: Context, memories: Memories, tensor: Tensor, scope: Scope) -> int:
    builder = context.builder
    inside = context.program.buffer(tensor.buffer).storage is Storage.WORKGROUP
    tile = context.tile(scope, inside)
    pitch, offset = context.number(tensor.pitch), context.number(tensor.offset)
    before = builder.value(Op.IMul, context.u32, tile, pitch)
    return memories.pointer(tensor.buffer, builder.value(Op.IAdd, context.u32, before, offset))


def _operands(
    context: Context, memories: Memories, statement: TensorLoad | TensorStore
) -> list[int]:
    """The mask of memory operands with what follows it, and that of tensor addressing."""
    for given in extended.TENSORS:
        grant(context, given)
    mask, tail = extended.TensorOperands(0), []
    if statement.view is not None:
        mask |= extended.TensorOperands.TensorView
        tail.append(_view(context, statement.view))
    if isinstance(statement, TensorLoad) and statement.decode is not None:
        grant(context, extended.BLOCK_LOADS)
        rank, component = statement.layout.rank, statement.type.component
        mask |= extended.TensorOperands.DecodeFunc
        tail.append(_decoder(context, statement.decode, rank, component, 1))
        if statement.decode.lanes:
            grant(context, extended.DECODE_VECTOR)
            mask |= extended.TensorOperands.DecodeVectorFunc
            lanes = statement.decode.lanes
            if lanes > 4:
                grant(context, extended.LONG_VECTOR)
            tail.append(_decoder(context, statement.decode, rank, component, lanes))
    memory = memories.operands(statement.tensor.buffer) or (0,)
    return [*memory, int(mask), *tail]


def _decoder(context: Context, decode: Decode, rank: int, component: Component, lanes: int) -> int:
    """A function of (pointer to the block, block coordinates, coordinates in the block)."""
    builder, u32 = context.builder, context.u32
    words = builder.laid_out_array_type(u32, decode.words, 4)
    pointer_type = builder.pointer_type(
        StorageClass.PhysicalStorageBuffer, builder.block_type((words, 0))
    )
    word_pointer = builder.pointer_type(StorageClass.PhysicalStorageBuffer, u32)
    coordinates = builder.array_type(u32, builder.u32(rank))
    scalar = context.component_type(component)
    result = builder.vector_type(scalar, lanes)
    width = decode.code.value

    def field(pointer: int, block: int, position: int, lane: int) -> int:
        linear = builder.u32(0)
        for axis, size in enumerate(decode.block):
            place = builder.value(Op.CompositeExtract, u32, position, axis)
            scaled = builder.value(Op.IMul, u32, linear, builder.u32(size))
            linear = builder.value(Op.IAdd, u32, scaled, place)
        if lane:
            linear = builder.value(Op.IAdd, u32, linear, builder.u32(lane))
        bit = builder.value(Op.IMul, u32, linear, builder.u32(width))
        word = builder.value(Op.ShiftRightLogical, u32, bit, builder.u32(5))
        shift = builder.value(extended.Op.BitwiseAnd, u32, bit, builder.u32(31))
        where = builder.value(Op.AccessChain, word_pointer, pointer, builder.u32(0), word)
        loaded = builder.value(Op.Load, u32, where, int(Memory.Aligned), 4)
        shifted = builder.value(Op.ShiftRightLogical, u32, loaded, shift)
        found = builder.value(extended.Op.BitwiseAnd, u32, shifted, builder.u32((1 << width) - 1))
        if decode.factor:
            outer = builder.value(Op.CompositeExtract, u32, block, 0)
            more = builder.value(Op.IMul, u32, outer, builder.u32(decode.factor))
            found = builder.value(Op.IAdd, u32, found, more)
        return number(context, component, found)

    def body(pointer: int, block: int, position: int) -> int:
        fields = [field(pointer, block, position, lane) for lane in range(lanes)]
        if lanes == 1:
            return fields[0]
        return builder.value(Op.CompositeConstruct, result, *fields)

    return builder.function(result, (pointer_type, coordinates, coordinates), body)


def _load(context: Context, memories: Memories, statement: TensorLoad) -> None:
    pointer = _pointer(context, memories, statement.tensor, statement.type.scope)
    layout = _layout(context, statement.layout)
    operands = _operands(context, memories, statement)
    context.values[statement.result] = context.builder.value(
        extended.Op.CooperativeMatrixLoadTensorNV,
        context.matrix_type(statement.type),
        pointer,
        context.values[statement.original],
        layout,
        *operands,
    )


def _store(context: Context, memories: Memories, statement: TensorStore) -> None:
    scope = context.types[statement.value].scope
    pointer = _pointer(context, memories, statement.tensor, scope)
    layout = _layout(context, statement.layout)
    operands = _operands(context, memories, statement)
    context.builder.emit(
        extended.Op.CooperativeMatrixStoreTensorNV,
        pointer,
        context.values[statement.value],
        layout,
        *operands,
    )


LOWERINGS: dict[Any, Callable[[Context, Memories, Any], None]] = {
    TensorLoad: _load,
    TensorStore: _store,
}
"""One function for each kind of statement."""
