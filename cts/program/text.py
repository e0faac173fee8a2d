"""A program as a short listing that engineers can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cts.program import expression
from cts.program.matrix2 import ConvertUse, Locate, PerElement, Reduce
from cts.program.model import (
    Address,
    Barrier,
    Binary,
    Branch,
    Buffer,
    Convert,
    Form,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Negate,
    Numbers,
    Program,
    Rebuild,
    Repeat,
    Scale,
    Scope,
    Splat,
    Stamp,
    Statement,
    Storage,
    Store,
    Through,
)
from cts.program.qcom import FromArrays, ToArrays
from cts.program.tensor import TensorLoad, TensorStore
from cts.program.vector_program import VectorProgram
from cts.program.vector_text import describe_vectors

_STORAGE = {
    Storage.STORAGE_BUFFER: "storage buffer",
    Storage.WORKGROUP: "workgroup memory",
    Storage.PHYSICAL_STORAGE_BUFFER: "physical storage buffer",
}
_NUMBERS = {
    Numbers.LITERAL: "literals",
    Numbers.SPECIALIZATION: "specialization constants",
    Numbers.BUFFER: "read from a buffer",
}


def describe(program: Program | VectorProgram) -> str:
    """The listing: the dispatch, the buffers, one line for each statement.

    Strides, offsets and pitches count elements of the buffer's type.
    """
    if isinstance(program, VectorProgram):
        return describe_vectors(program)
    lines = [_grid(program), *map(_buffer, program.buffers)]
    lines += _body(program, program.body)
    lines.append(f"strides and offsets: {_NUMBERS[program.numbers]}")
    if program.controls:
        modes = ", ".join(f"{it.mode.value} {it.width}" for it in program.controls)
        lines.append(f"execution modes: {modes}")
    if program.robust is not None:
        lines.append(f"robust access: {program.robust.value}")
    if program.first:
        lines.append("instructions of the first extension, VK_NV_cooperative_matrix")
    if program.precise:
        lines.append("float arithmetic on elements is not contracted")
    if program.specialized:
        lines.append(f"specialization constants: {', '.join(sorted(program.specialized))}")
    return "\n".join(lines)


def _body(program: Program, body: Iterable[Statement]) -> list[str]:
    return [
        line
        for statement in body
        for line in _STATEMENTS[type(statement)](program, statement).split("\n")
    ]


def _indented(program: Program, body: Iterable[Statement]) -> list[str]:
    return ["  " + line for line in _body(program, body)]


def matrix(type: MatrixType) -> str:
    """``float16[8x8] A``, with the scope where it isn't the subgroup."""
    scope = "" if type.scope is Scope.SUBGROUP else f" of the {type.scope.name.lower()}"
    return f"{type.component.label}[{type.rows}x{type.columns}] {_use(type)}{scope}"


def _use(type: MatrixType) -> str:
    return type.use.name if len(type.use.name) == 1 else type.use.name.lower()


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


def _grid(program: Program) -> str:
    grid = program.grid
    required = " (required)" if grid.required else " or more (varying)" if grid.varying else ""
    return (
        f"dispatch {_count(grid.workgroups, 'workgroup')} of "
        f"{_count(grid.subgroups, 'subgroup')} of {grid.subgroup_size}{required}"
    )


def _buffer(buffer: Buffer) -> str:
    where = _STORAGE[buffer.storage]
    seen = "" if buffer.visible is None else f", the first {buffer.visible} in bounds"
    return f"buffer {buffer.name}: {buffer.size} x {buffer.pointee} ({where}){seen}"


def _place(program: Program, address: Address) -> str:
    buffer = program.buffer(address.buffer)
    layout = address.layout.name.lower().replace("_", " ")
    return (
        f"{buffer.name} ({_STORAGE[buffer.storage]} of {buffer.pointee}), {layout}, "
        f"stride {address.stride}, offset {address.offset}, {address.pitch} per tile"
        + (f", {address.step} per iteration" if address.step else "")
        + (f", the tile of the subgroup {address.turn} further on" if address.turn else "")
    )


def _load(program: Program, it: Load) -> str:
    return f"{it.result} = load {matrix(it.type)} from {_place(program, it.address)}"


def _store(program: Program, it: Store) -> str:
    return f"store {it.value} to {_place(program, it.address)}"


def _splat(program: Program, it: Splat) -> str:
    bits = "" if it.form is Form.NULL else f" of 0x{it.bits:0{it.type.component.bytes * 2}x}"
    return f"{it.result} = {matrix(it.type)}{bits} by {it.form.value}"


def _mul_add(program: Program, it: MulAdd) -> str:
    flags = [
        name
        for name, given in (
            ("A", it.a_signed),
            ("B", it.b_signed),
            ("C", it.c_signed),
            ("result", it.result_signed),
        )
        if given
    ]
    text = f"{it.result} = {it.a} x {it.b} + {it.c} as {matrix(it.type)}"
    if flags:
        text += f", signed {' '.join(flags)}"
    return text + (", saturating" if it.saturating else "")


def _length(program: Program, it: Length) -> str:
    return f"{it.buffer}[invocation] = length of {matrix(it.type)}"


def _stamp(program: Program, it: Stamp) -> str:
    shift = f" >> {it.shift}" if it.shift else ""
    return f"{it.result} = {matrix(it.type)} of a code for each component{shift}"


def _rebuild(program: Program, it: Rebuild) -> str:
    return f"{it.result} = {it.value}, copied component by component"


def _reduce(program: Program, it: Reduce) -> str:
    what = it.reduction.label.replace("quad", "2x2")
    return f"{it.result} = {it.value} reduced by {what} with {it.operator.value}" + (
        f" as {matrix(it.type)}"
    )


def _convert_use(program: Program, it: ConvertUse) -> str:
    how = "transposed" if it.transpose else "converted"
    return f"{it.result} = {it.value} {how} to {matrix(it.type)}"


def _per_element(program: Program, it: PerElement) -> str:
    given = [f"0x{bits:x}" for bits in it.scalars] + [f"its element of {m}" for m in it.matrices]
    extras = "".join(f", x{i} = {one}" for i, one in enumerate(given))
    return (
        f"{it.result} = {expression.text(it.function)} of each element m of {it.value}{extras}, "
        f"by {program.dialect.name}"
    )


def _locate(program: Program, it: Locate) -> str:
    return f"{it.result} = {expression.text(it.function)} of each component m of {it.value}"


def _convert(program: Program, it: Convert) -> str:
    saturating = ", saturating" if it.saturating else ""
    return f"{it.result} = {it.value} as {matrix(it.type)} by {it.by.value}{saturating}"


def _negate(program: Program, it: Negate) -> str:
    return f"{it.result} = -{it.value}"


def _binary(program: Program, it: Binary) -> str:
    return f"{it.result} = {it.left} {it.operator.value} {it.right}, element by element"


def _scale(program: Program, it: Scale) -> str:
    return f"{it.result} = {it.value} times the scalar 0x{it.bits:x}"


def _through(program: Program, it: Through) -> str:
    if len(it.values) == 1:
        return f"{it.result} = {it.values[0]} through {it.via.value}"
    return f"{it.result} = number {it.index} of {', '.join(it.values)} through {it.via.value}"


def _barrier(program: Program, it: Barrier) -> str:
    by = "the accesses" if it.by_access else "the barrier"
    return f"barrier of the {it.scope.name.lower()}, made available and visible by {by}"


def _branch(program: Program, it: Branch) -> str:
    lines = [f"if bit {it.bit} of the tile's index is set", *_indented(program, it.then)]
    lines += ["else", *_indented(program, it.otherwise), "end"]
    lines += [f"{m.result} = {m.then} if it was, else {m.otherwise}" for m in it.results]
    return "\n".join(lines)


def _repeat(program: Program, it: Repeat) -> str:
    first = "".join(f", {carry.name} = {carry.initial}" for carry in it.carried)
    lines = [f"repeat {it.count} times{first} at first", *_indented(program, it.body)]
    lines += [f"  {carry.name} becomes {carry.following}" for carry in it.carried]
    lines += ["end", *(f"{carry.result} = {carry.name} at last" for carry in it.carried)]
    return "\n".join(lines)


def _steps(steps: Iterable[Any]) -> str:
    """The instructions that make a layout or a view."""
    parts = []
    for step in steps:
        values = ", ".join(f"{name} {_plain(value)}" for name, value in vars(step).items())
        parts.append(f"{type(step).__name__.lower()} ({values})")
    return "; ".join(parts)


def _plain(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _tensor(it: TensorLoad | TensorStore) -> str:
    where = f"{it.tensor.buffer}, offset {it.tensor.offset}, {it.tensor.pitch} per tile"
    text = f"{where}, layout of {it.layout.rank} ({it.layout.clamp.label}): "
    text += _steps(it.layout.steps)
    if it.view is not None:
        own = "with dimensions" if it.view.has_dimensions else "of the span"
        text += f", view {_plain(it.view.permutation)} {own} {_steps(it.view.steps)}".rstrip()
    return text


def _tensor_load(program: Program, it: TensorLoad) -> str:
    text = f"{it.result} = load {matrix(it.type)} from tensor {_tensor(it)}, else {it.original}"
    if it.decode is not None:
        lanes = f", {it.decode.lanes} at once" if it.decode.lanes else ""
        text += f", decoding {it.decode.code.label} + {it.decode.factor} x block{lanes}"
    return text


def _tensor_store(program: Program, it: TensorStore) -> str:
    return f"store {it.value} to tensor {_tensor(it)}"


def _how(it: FromArrays | ToArrays) -> str:
    if it.packed:
        return " of uint32"
    return " of uint32, cast" if it.cast else ""


def _from_arrays(program: Program, it: FromArrays) -> str:
    part = f", from element {it.start} of {it.length}" if it.length else ""
    return f"{it.result} = {matrix(it.type)} of the arrays{_how(it)} in {it.buffer}{part}"


def _to_arrays(program: Program, it: ToArrays) -> str:
    return f"store {it.value} as arrays{_how(it)} to {it.buffer}"


_STATEMENTS: dict[Any, Callable[[Program, Any], str]] = {
    Load: _load,
    Store: _store,
    Splat: _splat,
    MulAdd: _mul_add,
    Length: _length,
    Stamp: _stamp,
    Rebuild: _rebuild,
    Reduce: _reduce,
    ConvertUse: _convert_use,
    PerElement: _per_element,
    Locate: _locate,
    TensorLoad: _tensor_load,
    FromArrays: _from_arrays,
    ToArrays: _to_arrays,
    TensorStore: _tensor_store,
    Convert: _convert,
    Negate: _negate,
    Binary: _binary,
    Scale: _scale,
    Through: _through,
    Barrier: _barrier,
    Branch: _branch,
    Repeat: _repeat,
}
"""One function for each kind of statement."""
