"""Expressions and operators as SPIR-V, inside functions of the module.

bfloat16 and float8 allow no arithmetic but conversions (SPV_KHR_bfloat16, SPV_EXT_float8), so
theirs is done in float32; which of two operands a minimum is, is then chosen without converting.
"""

from __future__ import annotations

from collections.abc import Sequence

from cts.program.expression import (
    Apply,
    Axis,
    Choose,
    Condition,
    Element,
    Expression,
    Extra,
    Number,
    Operator,
    Place,
)
from cts.program.types import Component
from cts.spirv import extended
from cts.spirv.context import Context
from cts.spirv.opcodes import Op

_WIDENED = frozenset({Component.BFLOAT16, Component.FLOAT8_E4M3, Component.FLOAT8_E5M2})
_ARITHMETIC: dict[Operator, tuple[int, int]] = {
    Operator.ADD: (Op.IAdd, extended.Op.FAdd),
    Operator.SUB: (extended.Op.ISub, extended.Op.FSub),
    Operator.MUL: (Op.IMul, extended.Op.FMul),
}
_BITWISE: dict[Operator, int] = {
    Operator.AND: extended.Op.BitwiseAnd,
    Operator.OR: extended.Op.BitwiseOr,
    Operator.XOR: extended.Op.BitwiseXor,
}


def _wide(context: Context, component: Component, value: int) -> int:
    """``value`` as float32 where its own type has no arithmetic."""
    if component not in _WIDENED:
        return value
    f32 = context.component_type(Component.FLOAT32)
    return context.builder.value(extended.Op.FConvert, f32, value)


def operate(context: Context, component: Component, operator: Operator, x: int, y: int) -> int:
    """``operator`` of two scalars of ``component``. ValueError where there is none."""
    if not operator.takes(component):
        raise ValueError(f"{component.label} has no {operator.value}.")
    builder, type_id = context.builder, context.component_type(component)
    if operator in _BITWISE:
        return builder.value(_BITWISE[operator], type_id, x, y)
    wide_x, wide_y = _wide(context, component, x), _wide(context, component, y)
    if operator in (Operator.MIN, Operator.MAX):
        boolean = builder.declare(Op.TypeBool)
        if component.is_float:
            less: int = extended.Op.FOrdLessThan
        else:
            less = extended.Op.SLessThan if component.is_signed else Op.ULessThan
        smaller = builder.value(less, boolean, wide_x, wide_y)
        chosen = (x, y) if operator is Operator.MIN else (y, x)
        return builder.value(extended.Op.Select, type_id, smaller, *chosen)
    op = _ARITHMETIC[operator][component.is_float]
    if component not in _WIDENED:
        return builder.value(op, type_id, x, y)
    f32 = context.component_type(Component.FLOAT32)
    return builder.value(extended.Op.FConvert, type_id, builder.value(op, f32, wide_x, wide_y))


def combiner(context: Context, component: Component, operator: Operator) -> int:
    """A function of two scalars: the CombineFunc of a reduction."""
    scalar = context.component_type(component)
    return context.builder.function(
        scalar, (scalar, scalar), lambda x, y: operate(context, component, operator, x, y)
    )


def element_function(
    context: Context, component: Component, function: Expression, extras: int
) -> int:
    """A function of row, column, element and ``extras`` further scalars."""
    scalar, u32 = context.component_type(component), context.u32

    def body(row: int, column: int, element: int, *given: int) -> int:
        return evaluate(context, component, function, row, column, element, given)

    return context.builder.function(scalar, (u32, u32, scalar, *[scalar] * extras), body)


def evaluate(
    context: Context,
    component: Component,
    function: Expression,
    row: int,
    column: int,
    element: int,
    extras: Sequence[int] = (),
) -> int:
    """The id of an expression's value, given the ids of what it is made of."""
    builder = context.builder

    def value(it: Expression) -> int:
        match it:
            case Element():
                return element
            case Place(axis=axis):
                return number(context, component, row if axis is Axis.ROW else column)
            case Extra(index=index):
                return extras[index]
            case Number(bits=bits):
                return context.scalar(component, bits)
            case Apply(operator=operator, left=left, right=right):
                return operate(context, component, operator, value(left), value(right))
            case Choose(test=test, yes=yes, no=no):
                chosen = value(yes), value(no)
                type_id = context.component_type(component)
                holds = _test(context, test, row, column)
                return builder.value(extended.Op.Select, type_id, holds, *chosen)

    return value(function)


def _test(context: Context, test: Condition, row: int, column: int) -> int:
    builder = context.builder
    boolean = builder.declare(Op.TypeBool)
    if test is Condition.BELOW_DIAGONAL:
        return builder.value(extended.Op.UGreaterThan, boolean, row, column)
    if test is Condition.DIAGONAL:
        return builder.value(extended.Op.IEqual, boolean, row, column)
    one = builder.u32(1)
    place = row if test is Condition.ODD_ROW else column
    low = builder.value(extended.Op.BitwiseAnd, context.u32, place, one)
    return builder.value(extended.Op.IEqual, boolean, low, one)


def number(context: Context, component: Component, value: int) -> int:
    """A uint32 converted to a component; its low bits for an integer."""
    builder, type_id = context.builder, context.component_type(component)
    if component in _WIDENED:
        f32 = context.component_type(Component.FLOAT32)
        exact = builder.value(extended.Op.ConvertUToF, f32, value)
        return builder.value(extended.Op.FConvert, type_id, exact)
    if component.is_float:
        return builder.value(extended.Op.ConvertUToF, type_id, value)
    unsigned = builder.int_type(component.bits)
    if component.bits != 32:
        value = builder.value(Op.UConvert, unsigned, value)
    return value if unsigned == type_id else builder.value(Op.Bitcast, type_id, value)
