"""Rules of the statements that work element by element or hand matrices on, as reasons.

SPV_KHR_cooperative_matrix ("Conversion Instructions", "Arithmetic Instructions"), SPV_KHR_bfloat16
and SPV_EXT_float8 (section "Validation Rules": no arithmetic on their components but
multiply-adds), and the core specification of each instruction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cts.program.arithmetic import Binary, Conversion, Convert, Negate, Operator, Scale
from cts.program.flow import Through
from cts.program.matrix2 import ConvertUse, Locate, PerElement, Reduce
from cts.program.model import Branch, MulAdd, Program, Repeat, Splat, Statement, walk
from cts.program.types import Component, MatrixType, Storage

FLOAT8 = frozenset({Component.FLOAT8_E4M3, Component.FLOAT8_E5M2})
NO_ARITHMETIC = FLOAT8 | {Component.BFLOAT16}
"""Components with conversions and multiply-adds only."""

Types = Mapping[str, MatrixType]
_TO_FLOAT8 = frozenset({Conversion.F, Conversion.S_TO_F, Conversion.U_TO_F})


def fits(by: Conversion, source: Component, target: Component) -> bool:
    """Whether the instruction ``by`` converts ``source`` to ``target``."""
    match by:
        case Conversion.F:
            return source.is_float and target.is_float and source is not target
        case Conversion.F_TO_U:
            return source.is_float and target.is_integer and not target.is_signed
        case Conversion.F_TO_S:
            return source.is_float and target.is_signed
        case Conversion.S_TO_F | Conversion.U_TO_F:
            return source.is_integer and target.is_float
        case Conversion.BITS:
            integers = source.is_integer and target.is_integer
            return integers and source is not target and source.bits == target.bits
        case Conversion.U | Conversion.S:
            integers = source.is_integer and target.is_integer
            unsigned = by is Conversion.S or not target.is_signed
            return integers and source.bits != target.bits and unsigned


def broken_convert(it: Convert, types: Types) -> str | None:
    """Why a conversion is invalid; None if it isn't."""
    source = types.get(it.value)
    if source is None:
        return f"{it.result}: {it.value} has no value yet."
    same = (it.type.rows, it.type.columns, it.type.use, it.type.scope)
    if same != (source.rows, source.columns, source.use, source.scope):
        return f"{it.result}: a conversion changes the component alone."
    if not fits(it.by, source.component, it.type.component):
        return f"{it.result}: {it.by.value} doesn't convert {source} to {it.type}."
    if it.saturating and not (it.type.component in FLOAT8 and it.by in _TO_FLOAT8):
        return f"{it.result}: only conversions to float8 saturate."
    return None


def _broken_arithmetic(name: str, value: str, types: Types) -> str | None:
    if value not in types:
        return f"{name}: {value} has no value yet."
    component = types[value].component
    if component in NO_ARITHMETIC:
        return f"{name}: there is no arithmetic on elements of {component.label}."
    return None


def broken_negate(it: Negate, types: Types) -> str | None:
    """Why a negation is invalid; None if it isn't."""
    return _broken_arithmetic(it.result, it.value, types)


def broken_binary(it: Binary, types: Types) -> str | None:
    """Why arithmetic on two matrices is invalid; None if it isn't."""
    reason = _broken_arithmetic(it.result, it.left, types)
    if reason is None and it.right not in types:
        reason = f"{it.result}: {it.right} has no value yet."
    if reason is None and types[it.left] != types[it.right]:
        reason = f"{it.result}: the operands' types differ."
    return reason


def broken_scale(it: Scale, types: Types) -> str | None:
    """Why a product with a scalar is invalid; None if it isn't."""
    reason = _broken_arithmetic(it.result, it.value, types)
    if reason is None and not 0 <= it.bits < 1 << types[it.value].component.bits:
        reason = f"{it.result}: {it.bits:#x} doesn't fit {types[it.value].component.label}."
    return reason


def broken_through(it: Through, types: Types) -> str | None:
    """Why values can't pass together; None if they can."""
    for value in it.values:
        if value not in types:
            return f"{it.result}: {value} has no value yet."
    if len({types[value] for value in it.values}) != 1:
        return f"{it.result}: what passes together has one type."
    if not 0 <= it.index < len(it.values):
        return f"{it.result}: there is no value number {it.index}."
    return None


def not_first(program: Program) -> str | None:
    """What a program has that the first extension doesn't (SPV_NV_cooperative_matrix); None if it
    has nothing such, or isn't one of that extension."""
    if not program.first:
        return None
    if program.specialized & {"use", "layout"}:
        return "Types of the first extension have no use, and its layouts are literals."
    for statement in walk(program.body):
        match statement:
            case MulAdd(saturating=True):
                return f"{statement.result}: multiply-adds of the first extension don't saturate."
            case Convert(by=Conversion.BITS) | Binary(operator=Operator.MULTIPLY):
                return f"{statement.result}: the first extension doesn't allow this."
            case Splat(form=form) if "REPLICATE" in form.name:
                return f"{statement.result}: the first extension doesn't allow {form.value}."
            case Reduce() | ConvertUse() | PerElement() | Locate():
                return f"{statement.result}: the first extension has no such instruction."
            case _:
                pass
    return None


def unbounded(program: Program) -> str | None:
    """Why a program's accesses out of bounds are undefined, or can't be judged; None if they
    aren't."""
    for buffer in program.buffers:
        if buffer.visible is None:
            continue
        if program.robust is None:
            return f"{buffer.name}: only robust access leaves the bounds."
        if program.grid.tiles != 1:
            return f"{buffer.name}: a single tile makes accesses out of bounds."
        inside = 0 < buffer.visible <= buffer.size
        if buffer.storage is not Storage.STORAGE_BUFFER or not inside:
            return f"{buffer.name}: the descriptor of a storage buffer covers a part of it."
    return None


def repeated_name(body: Iterable[Statement]) -> str | None:
    """A name that two values share, also where only a branch or a loop sees them."""
    seen: set[str] = set()
    for statement in walk(body):
        match statement:
            case Branch():
                names = [merge.result for merge in statement.results]
            case Repeat():
                names = [name for it in statement.carried for name in (it.name, it.result)]
            case _:
                names = [getattr(statement, "result", "")]
        for name in filter(None, names):
            if name in seen:
                return name
            seen.add(name)
    return None
