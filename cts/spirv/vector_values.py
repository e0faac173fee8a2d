"""Lowering of the statements on cooperative vectors that touch no memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cts.program.arithmetic import Conversion
from cts.program.vector_values import (
    Constant,
    Construct,
    Elementwise,
    Extract,
    Insert,
    Make,
    Pick,
    ScalarConstant,
    TimesScalar,
    VectorConvert,
    VectorOp,
)
from cts.spirv.core import Op as Core
from cts.spirv.opcodes import Capability, Op, StorageClass
from cts.spirv.vector_context import VectorContext, VectorMemories
from cts.spirv.vector_opcodes import EXTENDED_SET, Extended
from cts.spirv.vector_opcodes import Op as Vector

_CONVERSIONS = {
    Conversion.F_TO_U: Core.ConvertFToU,
    Conversion.F_TO_S: Core.ConvertFToS,
    Conversion.S_TO_F: Core.ConvertSToF,
    Conversion.U_TO_F: Core.ConvertUToF,
    Conversion.U: Core.UConvert,
    Conversion.S: Core.SConvert,
    Conversion.F: Core.FConvert,
    Conversion.BITS: Core.Bitcast,
}

_OPS: dict[VectorOp, int] = {
    VectorOp.FNEGATE: Core.FNegate,
    VectorOp.SNEGATE: Core.SNegate,
    VectorOp.FADD: Core.FAdd,
    VectorOp.FSUB: Core.FSub,
    VectorOp.FMUL: Core.FMul,
    VectorOp.FDIV: Core.FDiv,
    VectorOp.IADD: Core.IAdd,
    VectorOp.ISUB: Core.ISub,
    VectorOp.IMUL: Core.IMul,
    VectorOp.SDIV: Core.SDiv,
    VectorOp.UDIV: Core.UDiv,
    VectorOp.SHIFT_RIGHT_LOGICAL: Vector.ShiftRightLogical,
    VectorOp.SHIFT_RIGHT_ARITHMETIC: Vector.ShiftRightArithmetic,
    VectorOp.SHIFT_LEFT_LOGICAL: Vector.ShiftLeftLogical,
    VectorOp.BITWISE_OR: Vector.BitwiseOr,
    VectorOp.BITWISE_XOR: Vector.BitwiseXor,
    VectorOp.BITWISE_AND: Vector.BitwiseAnd,
    VectorOp.NOT: Vector.Not,
}


def _constant(context: VectorContext, memories: VectorMemories, it: Constant) -> None:
    context.values[it.result] = _made(context, it)


def _made(context: VectorContext, it: Constant) -> int:
    builder, component = context.builder, it.type.component
    kind = context.vector_type(it.type)
    if it.form is Make.NULL:
        return builder.null(kind)
    if it.form.splat:
        return _replicated(context, it, kind)
    bits = it.bits * it.type.length if len(it.bits) == 1 else it.bits
    if len(bits) != it.type.length:
        raise ValueError(f"{len(bits)} constants for {it.type}")
    match it.form:
        case Make.CONSTRUCT:
            made = {value: context.runtime_scalar(component, value) for value in set(bits)}
            parts = [made[value] for value in bits]
            return builder.value(Op.CompositeConstruct, kind, *parts)
        case Make.SPEC_CONSTANT:
            scalar = context.component_type(component)
            made = {
                value: context.spec_constant(scalar, component.bytes, 0, value)
                for value in dict.fromkeys(bits)
            }
            return builder.global_op(Op.SpecConstantComposite, kind, *(made[b] for b in bits))
        case _:
            parts = [context.scalar(component, value) for value in bits]
            found = builder.constant_op(Op.ConstantComposite, kind, *parts)
            if it.form is Make.CONSTANT:
                return found
            return builder.value(Op.Load, kind, builder.local(kind, found))


def _replicated(context: VectorContext, it: Constant, kind: int) -> int:
    builder, component = context.builder, it.type.component
    (bits,) = it.bits
    builder.require(Capability.ReplicatedCompositesEXT)
    match it.form:
        case Make.REPLICATE:
            scalar = context.runtime_scalar(component, bits)
            return builder.value(Op.CompositeConstructReplicateEXT, kind, scalar)
        case Make.SPEC_REPLICATE:
            scalar_type = context.component_type(component)
            scalar = context.spec_constant(scalar_type, component.bytes, 0, bits)
            return builder.global_op(Vector.SpecConstantCompositeReplicateEXT, kind, scalar)
        case _:
            scalar = context.scalar(component, bits)
            return builder.constant_op(Vector.ConstantCompositeReplicateEXT, kind, scalar)


def _scalar_constant(context: VectorContext, memories: VectorMemories, it: ScalarConstant) -> None:
    context.values[it.result] = context.runtime_scalar(it.type, it.bits)


def _elementwise(context: VectorContext, memories: VectorMemories, it: Elementwise) -> None:
    builder = context.builder
    kind = context.vector_type(context.vector_of(it.operands[0]))
    operands = [context.values[name] for name in it.operands]
    if it.op.extended:
        instructions = builder.import_set(EXTENDED_SET)
        number = Extended[it.op.value]
        found = builder.value(Vector.ExtInst, kind, instructions, number, *operands)
    else:
        found = builder.value(_OPS[it.op], kind, *operands)
    context.values[it.result] = found


def _times_scalar(context: VectorContext, memories: VectorMemories, it: TimesScalar) -> None:
    values = context.values
    values[it.result] = context.builder.value(
        Vector.VectorTimesScalar,
        context.vector_type(context.vector_of(it.vector)),
        values[it.vector],
        values[it.scalar],
    )


def _convert(context: VectorContext, memories: VectorMemories, it: VectorConvert) -> None:
    kind = context.vector_type(it.type)
    value = context.values[it.value]
    context.values[it.result] = context.builder.value(_CONVERSIONS[it.by], kind, value)


def _extract(context: VectorContext, memories: VectorMemories, it: Extract) -> None:
    builder = context.builder
    kind = context.component_type(context.vector_of(it.vector).component)
    vector = context.values[it.vector]
    if it.dynamic:
        index = context.index(it.index)
        found = builder.value(Vector.VectorExtractDynamic, kind, vector, index)
    else:
        found = builder.value(Op.CompositeExtract, kind, vector, it.index.base)
    context.values[it.result] = found


def _insert(context: VectorContext, memories: VectorMemories, it: Insert) -> None:
    builder = context.builder
    kind = context.vector_type(context.vector_of(it.vector))
    vector, scalar = context.values[it.vector], context.values[it.scalar]
    if it.dynamic:
        index = context.index(it.index)
        found = builder.value(Vector.VectorInsertDynamic, kind, vector, scalar, index)
    else:
        found = builder.value(Core.CompositeInsert, kind, scalar, vector, it.index.base)
    context.values[it.result] = found


def _construct(context: VectorContext, memories: VectorMemories, it: Construct) -> None:
    parts = [context.values[name] for name in it.scalars]
    kind = context.vector_type(it.type)
    context.values[it.result] = context.builder.value(Op.CompositeConstruct, kind, *parts)


def _pick(context: VectorContext, memories: VectorMemories, it: Pick) -> None:
    builder = context.builder
    kind = context.vector_type(context.vector_of(it.values[0]))
    array = builder.array_type(kind, builder.u32(len(it.values)))
    variable = builder.local(array)
    pointer = builder.pointer_type(StorageClass.Function, kind)
    for number, name in enumerate(it.values):
        place = builder.value(Op.AccessChain, pointer, variable, builder.u32(number))
        builder.emit(Op.Store, place, context.values[name])
    chosen = builder.value(Op.AccessChain, pointer, variable, context.index(it.index))
    context.values[it.result] = builder.value(Op.Load, kind, chosen)


LOWERINGS: dict[Any, Callable[[Any, Any, Any], None]] = {
    Constant: _constant,
    ScalarConstant: _scalar_constant,
    Elementwise: _elementwise,
    TimesScalar: _times_scalar,
    VectorConvert: _convert,
    Extract: _extract,
    Insert: _insert,
    Construct: _construct,
    Pick: _pick,
}
"""One function for each kind of statement."""
