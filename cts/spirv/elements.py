"""Lowering of the statements that work on matrices element by element, and of float controls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cts.program.arithmetic import Binary, Conversion, Convert, Negate, Operator, Scale
from cts.program.types import MatrixType
from cts.spirv.context import Context
from cts.spirv.core import EXECUTION_MODES, Capability, Decoration, Op
from cts.spirv.memory import Memories
from cts.spirv.opcodes import Op as Basic

_CONVERSIONS = {
    Conversion.F_TO_U: Op.ConvertFToU,
    Conversion.F_TO_S: Op.ConvertFToS,
    Conversion.S_TO_F: Op.ConvertSToF,
    Conversion.U_TO_F: Op.ConvertUToF,
    Conversion.U: Op.UConvert,
    Conversion.S: Op.SConvert,
    Conversion.F: Op.FConvert,
    Conversion.BITS: Op.Bitcast,
}
_FLOATS = {
    Operator.ADD: Op.FAdd,
    Operator.SUBTRACT: Op.FSub,
    Operator.MULTIPLY: Op.FMul,
    Operator.DIVIDE: Op.FDiv,
}
_INTEGERS = {
    Operator.ADD: Op.IAdd,
    Operator.SUBTRACT: Op.ISub,
    Operator.MULTIPLY: Op.IMul,
    Operator.DIVIDE: Op.UDiv,
}


def control(context: Context) -> None:
    """The execution modes that the program asks for."""
    for chosen in context.program.controls:
        context.builder.require(Capability[chosen.mode.value])
        context.builder.mode(Basic.ExecutionMode, EXECUTION_MODES[chosen.mode], chosen.width)


def _result(context: Context, name: str, op: int, type: MatrixType, *operands: int) -> int:
    """Emit an instruction on matrices whose result is the value called ``name``."""
    found = context.builder.value(op, context.matrix_type(type), *operands)
    context.values[name] = found
    return found


def _convert(context: Context, memories: Memories, it: Convert) -> None:
    found = _result(context, it.result, _CONVERSIONS[it.by], it.type, context.values[it.value])
    if it.saturating:
        context.builder.decorate(found, Decoration.SaturatedToLargestFloat8NormalConversionEXT)


def _arithmetic(context: Context, name: str, op: int, type: MatrixType, *operands: int) -> None:
    found = _result(context, name, op, type, *operands)
    if context.program.precise and type.component.is_float:
        context.builder.decorate(found, Decoration.NoContraction)


def _negate(context: Context, memories: Memories, it: Negate) -> None:
    type = context.types[it.value]
    op = Op.FNegate if type.component.is_float else Op.SNegate
    _arithmetic(context, it.result, op, type, context.values[it.value])


def _binary(context: Context, memories: Memories, it: Binary) -> None:
    type = context.types[it.left]
    op = (_FLOATS if type.component.is_float else _INTEGERS)[it.operator]
    if op is Op.UDiv and type.component.is_signed:
        op = Op.SDiv
    values = context.values
    _arithmetic(context, it.result, op, type, values[it.left], values[it.right])


def _scale(context: Context, memories: Memories, it: Scale) -> None:
    type = context.types[it.value]
    scalar = context.runtime_scalar(type.component, it.bits)
    value = context.values[it.value]
    _arithmetic(context, it.result, Op.MatrixTimesScalar, type, value, scalar)


LOWERINGS: dict[Any, Callable[[Context, Memories, Any], None]] = {
    Convert: _convert,
    Negate: _negate,
    Binary: _binary,
    Scale: _scale,
}
"""One function for each kind of statement."""
