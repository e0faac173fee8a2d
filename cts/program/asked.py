"""Requests that run no program, in words: what a query or a conversion asked for."""

from __future__ import annotations

from cts.device.protocol import Conversion, Convert, Matrix, Query
from cts.program.model import Component
from cts.program.vector import MatrixLayout


def describe_query(query: Query) -> str:
    """A call of an enumeration command, one fact a line."""
    lines = [query.command]
    lines += [f"  {name} = {value}" for name, value in query.parameters]
    if query.null:
        lines.append("  with a null array")
    else:
        lines.append(
            f"  with room for {query.capacity} records, in an array of {query.allocated} filled "
            f"with 0x{query.poison:02x}"
        )
    if query.threads > 1:
        lines.append(f"  in {query.threads} threads at once")
    if query.instance:
        lines.append("  on a second instance")
    return "\n".join(lines)


def describe_convert(request: Convert) -> str:
    """The conversions of a request, in the order in which they are made."""
    name = "vkConvertCooperativeVectorMatrixNV"
    if not request.host:
        name = "vkCmdConvertCooperativeVectorMatrixNV"
    lines = []
    steps = request.steps or (1,) * len(request.conversions)
    first = 0
    for step in steps:
        if first and not request.host:
            lines.append("barrier")
        lines.append(name if step == 1 else f"{name}, {step} conversions at once")
        lines += [f"  {_conversion(it)}" for it in request.conversions[first : first + step]]
        first += step
    return "\n".join(lines)


def _conversion(conversion: Conversion) -> str:
    source = _matrix(conversion.source, conversion.null_source)
    destination = _matrix(conversion.destination, conversion.null_destination)
    return f"{conversion.rows} rows x {conversion.columns} columns: {source} -> {destination}"


def _matrix(matrix: Matrix, null: bool) -> str:
    component = _label(Component, matrix.component)
    layout = MatrixLayout(matrix.layout)
    text = f"{component} {layout.label}"
    if not layout.optimal:
        text += f", stride {matrix.stride}"
    return text + (" (null)" if null else f", {matrix.size} bytes at offset {matrix.offset}")


def _label(kind: type[Component], value: int) -> str:
    return kind(value).label if value in set(kind) else str(value)
