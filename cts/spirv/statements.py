"""How each kind of statement is lowered: one function a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cts.program.model import (
    Address,
    Form,
    Layout,
    Length,
    Load,
    MulAdd,
    Rebuild,
    Splat,
    Stamp,
    Storage,
    Store,
)
from cts.spirv import core
from cts.spirv.context import Context
from cts.spirv.memory import Memories
from cts.spirv.opcodes import Op, Operands, StorageClass


def _layout(context: Context, address: Address) -> int:
    other = Layout.COLUMN_MAJOR if address.layout is Layout.ROW_MAJOR else Layout.ROW_MAJOR
    return context.operand("layout", address.layout, other)


def _load(context: Context, memories: Memories, statement: Load) -> None:
    address = statement.address
    pointer = memories.tile_pointer(address, statement.type.scope)
    stride = context.number(address.stride)
    context.values[statement.result] = context.builder.value(
        Op.CooperativeMatrixLoadKHR,
        context.matrix_type(statement.type),
        pointer,
        _layout(context, address),
        stride,
        *memories.operands(address.buffer, core.Memory.MakePointerVisible),
    )


def _store(context: Context, memories: Memories, statement: Store) -> None:
    address = statement.address
    pointer = memories.tile_pointer(address, context.types[statement.value].scope)
    stride = context.number(address.stride)
    context.builder.emit(
        Op.CooperativeMatrixStoreKHR,
        pointer,
        context.values[statement.value],
        _layout(context, address),
        stride,
        *memories.operands(address.buffer, core.Memory.MakePointerAvailable),
    )


def _splat(context: Context, memories: Memories, statement: Splat) -> None:
    context.values[statement.result] = _FORMS[statement.form](context, statement)


def _splat_constant(context: Context, statement: Splat, op: Op = Op.ConstantComposite) -> int:
    scalar = context.scalar(statement.type.component, statement.bits)
    return context.builder.constant_op(op, context.matrix_type(statement.type), scalar)


def _splat_constant_replicate(context: Context, statement: Splat) -> int:
    return _splat_constant(context, statement, Op.ConstantCompositeReplicateEXT)


def _splat_spec_constant(
    context: Context, statement: Splat, op: Op = Op.SpecConstantComposite
) -> int:
    component = statement.type.component
    scalar = context.spec_constant(
        context.component_type(component), component.bytes, 0, statement.bits
    )
    return context.builder.global_op(op, context.matrix_type(statement.type), scalar)


def _splat_spec_constant_replicate(context: Context, statement: Splat) -> int:
    return _splat_spec_constant(context, statement, Op.SpecConstantCompositeReplicateEXT)


def _splat_null(context: Context, statement: Splat) -> int:
    if statement.bits:
        raise ValueError(f"{statement.result}: OpConstantNull can't hold bits {statement.bits:#x}.")
    return context.builder.null(context.matrix_type(statement.type))


def _splat_construct(context: Context, statement: Splat) -> int:
    scalar = context.runtime_scalar(statement.type.component, statement.bits)
    return context.builder.value(Op.CompositeConstruct, context.matrix_type(statement.type), scalar)


def _splat_initializer(context: Context, statement: Splat) -> int:
    type_id = context.matrix_type(statement.type)
    variable = context.builder.local(type_id, _splat_constant(context, statement))
    return context.builder.value(Op.Load, type_id, variable)


def _splat_private(context: Context, statement: Splat) -> int:
    type_id = context.matrix_type(statement.type)
    constant = _splat_constant(context, statement)
    variable = context.builder.variable(StorageClass.Private, type_id, constant)
    return context.builder.value(Op.Load, type_id, variable)


def _splat_replicate(context: Context, statement: Splat) -> int:
    scalar = context.runtime_scalar(statement.type.component, statement.bits)
    return context.builder.value(
        Op.CompositeConstructReplicateEXT, context.matrix_type(statement.type), scalar
    )


_FORMS: dict[Form, Callable[[Context, Splat], int]] = {
    Form.CONSTANT: _splat_constant,
    Form.SPEC_CONSTANT: _splat_spec_constant,
    Form.NULL: _splat_null,
    Form.CONSTRUCT: _splat_construct,
    Form.INITIALIZER: _splat_initializer,
    Form.REPLICATE: _splat_replicate,
    Form.CONSTANT_REPLICATE: _splat_constant_replicate,
    Form.SPEC_CONSTANT_REPLICATE: _splat_spec_constant_replicate,
    Form.PRIVATE: _splat_private,
}


def _mul_add(context: Context, memories: Memories, statement: MulAdd) -> None:
    mask = Operands(0)
    for given, flag in (
        (statement.a_signed, Operands.MatrixASignedComponentsKHR),
        (statement.b_signed, Operands.MatrixBSignedComponentsKHR),
        (statement.c_signed, Operands.MatrixCSignedComponentsKHR),
        (statement.result_signed, Operands.MatrixResultSignedComponentsKHR),
        (statement.saturating, Operands.SaturatingAccumulationKHR),
    ):
        if given:
            mask |= flag
    context.values[statement.result] = context.builder.value(
        Op.CooperativeMatrixMulAddKHR,
        context.matrix_type(statement.type),
        context.values[statement.a],
        context.values[statement.b],
        context.values[statement.c],
        *((int(mask),) if mask else ()),
    )


def _length(context: Context, memories: Memories, statement: Length) -> None:
    builder = context.builder
    scope = statement.type.scope
    length = context.length(statement.type)
    in_workgroup = context.program.buffer(statement.buffer).storage is Storage.WORKGROUP
    tile = context.tile(scope, in_workgroup)
    lane, lanes = context.lane(scope)
    before = builder.value(Op.IMul, context.u32, tile, lanes)
    index = builder.value(Op.IAdd, context.u32, before, lane)
    pointer = memories.pointer(statement.buffer, index)
    builder.emit(Op.Store, pointer, length, *memories.operands(statement.buffer))


def _narrow(context: Context, type_id: int, bits: int, value: int) -> int:
    """The low ``bits`` of a uint32 value, as the integer type ``type_id``."""
    builder = context.builder
    unsigned = builder.int_type(bits)
    if bits != 32:
        value = builder.value(Op.UConvert, unsigned, value)
    return value if unsigned == type_id else builder.value(Op.Bitcast, type_id, value)


def _stamp(context: Context, memories: Memories, statement: Stamp) -> None:
    builder = context.builder
    component = statement.type.component
    if component.is_float:
        raise ValueError(f"{statement.result}: a stamp needs an integer type, not {component}.")
    type_id, scalar = context.matrix_type(statement.type), context.component_type(component)
    pointer_type = builder.pointer_type(StorageClass.Function, scalar)
    variable = builder.local(type_id)
    length = context.length(statement.type)
    lane, lanes = context.lane(statement.type.scope)

    def stamp(index: int) -> None:
        before = builder.value(Op.IMul, context.u32, index, lanes)
        code = builder.value(Op.IAdd, context.u32, before, lane)
        shift = builder.u32(statement.shift)
        shifted = builder.value(Op.ShiftRightLogical, context.u32, code, shift)
        target = builder.value(Op.AccessChain, pointer_type, variable, index)
        builder.emit(Op.Store, target, _narrow(context, scalar, component.bits, shifted))

    builder.loop(builder.u32(0), length, builder.u32(1), stamp)
    context.values[statement.result] = builder.value(Op.Load, type_id, variable)


def _rebuild(context: Context, memories: Memories, statement: Rebuild) -> None:
    builder = context.builder
    type = context.types[statement.value]
    type_id, scalar = context.matrix_type(type), context.component_type(type.component)
    pointer_type = builder.pointer_type(StorageClass.Function, scalar)
    source, target = builder.local(type_id), builder.local(type_id)
    builder.emit(Op.Store, source, context.values[statement.value])
    length = context.length(type)

    def copy(index: int) -> None:
        taken = builder.value(Op.AccessChain, pointer_type, source, index)
        component = builder.value(Op.Load, scalar, taken)
        given = builder.value(Op.AccessChain, pointer_type, target, index)
        builder.emit(Op.Store, given, component)

    builder.loop(builder.u32(0), length, builder.u32(1), copy)
    context.values[statement.result] = builder.value(Op.Load, type_id, target)


LOWERINGS: dict[Any, Callable[[Context, Memories, Any], None]] = {
    Load: _load,
    Store: _store,
    Splat: _splat,
    MulAdd: _mul_add,
    Length: _length,
    Stamp: _stamp,
    Rebuild: _rebuild,
}
"""One function for each kind of statement."""
