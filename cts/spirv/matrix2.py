"""Lowering of the statements of matrix2 and maintenance1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cts.program.matrix2 import ConvertUse, Locate, PerElement, Reduce
from cts.program.types import Component, Dialect
from cts.spirv import extended
from cts.spirv.context import Context
from cts.spirv.functions import combiner, element_function, evaluate
from cts.spirv.memory import Memories
from cts.spirv.opcodes import Op, StorageClass


def grant(context: Context, given: extended.Grant) -> None:
    """Declare what an instruction needs."""
    context.builder.require(given.capability, given.extension)
    context.needs.add(given.need)


def _reduce(context: Context, memories: Memories, statement: Reduce) -> None:
    grant(context, extended.REDUCTIONS[context.program.dialect])
    context.values[statement.result] = context.builder.value(
        extended.Op.CooperativeMatrixReduceEXT,
        context.matrix_type(statement.type),
        context.values[statement.value],
        statement.reduction,
        combiner(context, statement.type.component, statement.operator),
    )


def conversion(source: Component, target: Component) -> int:
    """The instruction that converts between two component types of different width or kind.
    ValueError for integers that differ in signedness alone."""
    if source.is_float:
        if target.is_float:
            return extended.Op.FConvert
        return extended.Op.ConvertFToS if target.is_signed else extended.Op.ConvertFToU
    if target.is_float:
        return extended.Op.ConvertSToF if source.is_signed else extended.Op.ConvertUToF
    if source.bits == target.bits:
        raise ValueError(f"OpBitcast of {source.label} to {target.label} keeps the use.")
    return extended.Op.SConvert if target.is_signed else Op.UConvert


def _convert_use(context: Context, memories: Memories, statement: ConvertUse) -> None:
    builder, dialect = context.builder, context.program.dialect
    grant(context, extended.CONVERSIONS[dialect])
    source, target = context.types[statement.value].component, statement.type.component
    op: int = extended.Op.CooperativeMatrixConvertUseEXT
    decorated = statement.transpose and dialect is Dialect.EXT
    if source is not target:
        op = conversion(source, target)
    elif statement.transpose and not decorated:
        op = extended.Op.CooperativeMatrixTransposeNV
    result = builder.value(op, context.matrix_type(statement.type), context.values[statement.value])
    if decorated:
        builder.decorate(result, extended.Decoration.CooperativeMatrixTransposeEXT)
    context.values[statement.result] = result


def _per_element(context: Context, memories: Memories, statement: PerElement) -> None:
    grant(context, extended.PER_ELEMENT[context.program.dialect])
    component = statement.type.component
    scalars = [context.runtime_scalar(component, bits) for bits in statement.scalars]
    matrices = [context.values[name] for name in statement.matrices]
    context.values[statement.result] = context.builder.value(
        extended.Op.CooperativeMatrixPerElementOpEXT,
        context.matrix_type(statement.type),
        context.values[statement.value],
        element_function(context, component, statement.function, len(scalars) + len(matrices)),
        *scalars,
        *matrices,
    )


def _locate(context: Context, memories: Memories, statement: Locate) -> None:
    grant(context, extended.COORDINATE)
    builder, component = context.builder, statement.type.component
    type_id, scalar = context.matrix_type(statement.type), context.component_type(component)
    pointer_type = builder.pointer_type(StorageClass.Function, scalar)
    pair = builder.vector_type(context.u32, 2)
    matrix = context.values[statement.value]
    variable = builder.local(type_id)
    builder.emit(Op.Store, variable, matrix)
    length = builder.value(Op.CooperativeMatrixLengthKHR, context.u32, type_id)

    def place(index: int) -> None:
        where = builder.value(extended.Op.CooperativeMatrixGetCoordinateEXT, pair, matrix, index)
        row = builder.value(Op.CompositeExtract, context.u32, where, 0)
        column = builder.value(Op.CompositeExtract, context.u32, where, 1)
        target = builder.value(Op.AccessChain, pointer_type, variable, index)
        element = builder.value(Op.Load, scalar, target)
        made = evaluate(context, component, statement.function, row, column, element)
        builder.emit(Op.Store, target, made)

    builder.loop(builder.u32(0), length, builder.u32(1), place)
    context.values[statement.result] = builder.value(Op.Load, type_id, variable)


LOWERINGS: dict[Any, Callable[[Context, Memories, Any], None]] = {
    Reduce: _reduce,
    ConvertUse: _convert_use,
    PerElement: _per_element,
    Locate: _locate,
}
"""One function for each kind of statement."""
