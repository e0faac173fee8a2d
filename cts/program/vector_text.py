"""Readable listings of cooperative vector programs, for findings and reports."""

from __future__ import annotations

from collections.abc import Iterable

from cts.program.flow import Through
from cts.program.types import Component
from cts.program.vector import (
    Condition,
    Index,
    MatrixMul,
    OuterProduct,
    Place,
    ReduceSum,
    Spread,
    VectorLoad,
    VectorStore,
    VectorType,
    Weights,
    WriteNumber,
)
from cts.program.vector_program import Exit, Helpers, If, Loop, VectorProgram, VectorStatement
from cts.program.vector_values import (
    Constant,
    Construct,
    Elementwise,
    Extract,
    Insert,
    Pick,
    ScalarConstant,
    TimesScalar,
    VectorConvert,
)

SHOWN = 8
"""Constants and table entries that are written out."""


def describe_vectors(program: VectorProgram) -> str:
    """The listing: the dispatch, the buffers, one line for each statement. Offsets and strides
    count bytes; ``i`` is the number of the invocation."""
    grid = program.grid
    lines = [f"dispatch {grid.workgroups} x {grid.local_size} invocations, {program.stage.label}"]
    lines += [
        f"buffer {it.name}: {it.size} x {it.pointee} ({it.storage.label})" for it in program.buffers
    ]
    lines += [
        f"  {it.offset} bytes into {it.buffer}: {it.rows}x{it.columns} {it.component.label} "
        f"{it.layout.label} ({it.size} bytes)"
        for it in program.opaque
    ]
    for one in program.prepared:
        it = program.opaque[one.opaque]
        lines.append(
            f"before the shader: convert {it.rows}x{it.columns} row_major/{one.stride} at "
            f"{one.offset} of {one.buffer} to {it.layout.label} at {it.offset} of {it.buffer}"
        )
    lines += _body(program.body)
    lines.append(f"offsets and strides: {program.numbers.value}")
    if program.specialized:
        lines.append(f"specialization constants: {', '.join(sorted(program.specialized))}")
    return "\n".join(lines)


def _body(body: Iterable[VectorStatement]) -> list[str]:
    return [line for statement in body for line in _statement(statement)]


def _indented(body: Iterable[VectorStatement]) -> list[str]:
    return ["  " + line for line in _body(body)]


def index_text(index: Index) -> str:
    """``64 + 128 * (i / 3)``."""
    match index.spread:
        case Spread.UNIFORM:
            return str(index.base)
        case Spread.INVOCATION:
            k = "i"
        case Spread.CLUSTERED:
            k = f"(i / {index.cluster})"
        case Spread.REVERSED:
            k = "(n - 1 - i)"
        case Spread.TABLE:
            k = f"[{_few(index.table)}][i]"
    base = f"{index.base} + " if index.base else ""
    return f"{base}{index.step} * {k}"


def _few(values: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, values[:SHOWN]))
    return shown + (", ..." if len(values) > SHOWN else "")


def _place(place: Place) -> str:
    return f"{place.buffer} at {index_text(place.at)}"


def _type(type: VectorType | Component) -> str:
    return str(type) if isinstance(type, VectorType) else type.label


def _condition(condition: Condition) -> str:
    return f"{index_text(condition.index)} < {condition.below}"


def _weights(weights: Weights) -> str:
    stride = "" if weights.layout.optimal else f" stride {weights.stride}"
    stride += " (at run time)" if weights.run_time_stride else ""
    transposed = " transposed" if weights.transpose else ""
    return (
        f"{weights.interpretation.label} {weights.layout.label}{stride}{transposed} from "
        f"{_place(weights.place)}"
    )


def _product(it: MatrixMul) -> str:
    signs = [name for name, on in (("B", it.input_signed), ("result", it.result_signed)) if on]
    bias = ""
    if it.bias is not None:
        bias = f" + {it.bias.interpretation.label} from {_place(it.bias.place)}"
    signed = f", signed: {', '.join(signs)}" if signs else ""
    return (
        f"{it.result}: {it.type} = matrix [{it.type.length} x {it.k}] {_weights(it.weights)} x "
        f"{it.input} as {it.interpretation.label}{bias}{signed}"
    )


def _statement(it: VectorStatement) -> list[str]:
    match it:
        case VectorLoad():
            return [f"{it.result}: {it.type} = load {_place(it.place)}"]
        case VectorStore():
            return [f"store {it.value} to {_place(it.place)}"]
        case WriteNumber():
            return [f"write the number of the invocation to {_place(it.place)}"]
        case MatrixMul():
            return [_product(it)]
        case OuterProduct():
            return [
                f"add {it.a} x {it.b} to the {it.interpretation.label} matrix in {_place(it.place)}"
            ]
        case ReduceSum():
            return [f"add {it.value} to {_place(it.place)}"]
        case Constant():
            bits = _few(it.bits)
            return [f"{it.result}: {it.type} = {it.form.value} of bits {bits}"]
        case ScalarConstant():
            return [f"{it.result}: {it.type.label} = bits 0x{it.bits:x}"]
        case Elementwise():
            return [f"{it.result} = {it.op.value}({', '.join(it.operands)})"]
        case TimesScalar():
            return [f"{it.result} = OpVectorTimesScalar({it.vector}, {it.scalar})"]
        case VectorConvert():
            return [f"{it.result}: {it.type} = {it.by.value}({it.value})"]
        case Extract():
            how = "" if it.dynamic else " (constant)"
            return [f"{it.result} = {it.vector}[{index_text(it.index)}]{how}"]
        case Insert():
            how = "" if it.dynamic else " (constant)"
            return [f"{it.result} = {it.vector} with [{index_text(it.index)}] = {it.scalar}{how}"]
        case Construct():
            return [f"{it.result}: {it.type} = construct({', '.join(it.scalars)})"]
        case Through():
            return [f"{it.result} = ({', '.join(it.values)})[{it.index}] through {it.via.value}"]
        case Pick():
            return [f"{it.result} = [{', '.join(it.values)}][{index_text(it.index)}]"]
        case If():
            return _if(it)
        case Loop():
            carried = [
                f"  carry {c.name} = {c.initial}, then {c.following}; {c.result} after it"
                for c in it.carried
            ]
            return [f"repeat {index_text(it.times)} times", *carried, *_indented(it.body)]
        case Exit():
            return [f"return if {_condition(it.condition)}"]
        case Helpers():
            return ["in helper invocations alone", *_indented(it.body)]


def _if(it: If) -> list[str]:
    lines = [f"if {_condition(it.condition)}", *_indented(it.then)]
    if it.otherwise:
        lines += ["else", *_indented(it.otherwise)]
    how = "OpPhi" if it.phi else "a variable"
    lines += [f"{m.result} = {m.then} or {m.otherwise} ({how})" for m in it.merges]
    return lines
