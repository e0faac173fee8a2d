"""What the specification demands of the statements of matrix2 and maintenance1.

SPV_NV_cooperative_matrix2, the descriptions of the instructions; maintenance1 has the same rules
and further conversions: from an operand to an accumulator, and transposed to A.
"""

from __future__ import annotations

from collections.abc import Mapping

from cts.program.expression import Apply, Expression, Extra, Number, parts
from cts.program.matrix2 import ConvertUse, Locate, Matrix2, PerElement, Reduce, Reduction
from cts.program.types import Dialect, MatrixType, Use


def broken(statement: Matrix2, types: Mapping[str, MatrixType], dialect: Dialect) -> str | None:
    """The first rule that ``statement`` breaks, as a sentence; None if it breaks none."""
    used = (statement.value, *(statement.matrices if isinstance(statement, PerElement) else ()))
    for name in used:
        if name not in types:
            return f"{statement.result} uses {name}, which has no value yet."
    source = types[statement.value]
    match statement:
        case Reduce():
            return _reduce(statement, source)
        case ConvertUse():
            return _convert_use(statement, source, dialect)
        case PerElement():
            return _per_element(statement, source, types)
        case Locate():
            return _locate(statement, source)


def _reduce(it: Reduce, source: MatrixType) -> str | None:
    target = it.type
    if source.use is not Use.ACCUMULATOR or target.use is not Use.ACCUMULATOR:
        return f"{it.result}: reductions are of accumulators."
    if source.component is not target.component or source.scope is not target.scope:
        return f"{it.result}: a reduction keeps component type and scope."
    if not it.operator.combines or not it.operator.takes(source.component):
        return f"{it.result}: {it.operator.value} can't combine {source.component.label}."
    keeps = {
        Reduction.ROW: target.rows == source.rows,
        Reduction.COLUMN: target.columns == source.columns,
        Reduction.ALL: True,
        Reduction.QUAD: (2 * target.rows, 2 * target.columns) == (source.rows, source.columns),
    }
    return None if keeps[it.reduction] else f"{it.result}: {source} can't reduce to {target}."


def _convert_use(it: ConvertUse, source: MatrixType, dialect: Dialect) -> str | None:
    target = it.type
    shape = (source.columns, source.rows) if it.transpose else (source.rows, source.columns)
    if (target.rows, target.columns) != shape or target.scope is not source.scope:
        return f"{it.result}: {source} can't become {target}."
    to_operand = source.use is Use.ACCUMULATOR and target.use is not Use.ACCUMULATOR
    back = source.use is not Use.ACCUMULATOR and target.use is Use.ACCUMULATOR
    if not (to_operand or (back and dialect is Dialect.EXT and not it.transpose)):
        return f"{it.result}: the use can't change from {source.use.name} to {target.use.name}."
    if source.component is not target.component:
        both = source.component, target.component
        if all(one.is_integer for one in both) and both[0].bits == both[1].bits:
            return f"{it.result}: a bit cast keeps the use."
        if it.transpose and dialect is Dialect.NV:
            return f"{it.result}: OpCooperativeMatrixTransposeNV keeps the component type."
    if it.transpose and dialect is Dialect.NV and target.use is not Use.B:
        return f"{it.result}: OpCooperativeMatrixTransposeNV makes a B matrix."
    return None


def _per_element(it: PerElement, source: MatrixType, types: Mapping[str, MatrixType]) -> str | None:
    if it.type != source or any(types[name] != source for name in it.matrices):
        return f"{it.result}: all matrices of a per-element operation have one type."
    if any(bits >> source.component.bits for bits in it.scalars):
        return f"{it.result}: a scalar doesn't fit {source.component.label}."
    return _function(it.result, it.function, source, len(it.scalars) + len(it.matrices))


def _locate(it: Locate, source: MatrixType) -> str | None:
    if it.type != source:
        return f"{it.result}: the type of a matrix with its components replaced is its own."
    return _function(it.result, it.function, source, 0)


def _function(name: str, function: Expression, type: MatrixType, extras: int) -> str | None:
    for part in parts(function):
        match part:
            case Extra(index=index) if not 0 <= index < extras:
                return f"{name}: its function has no parameter x{index}."
            case Number(bits=bits) if not 0 <= bits < 1 << type.component.bits:
                return f"{name}: 0x{bits:x} doesn't fit {type.component.label}."
            case Apply(operator=operator) if not operator.takes(type.component):
                return f"{name}: {type.component.label} has no {operator.value}."
            case _:
                pass
    return None
