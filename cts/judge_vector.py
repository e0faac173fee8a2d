"""What :mod:`cts.judge` does for cooperative vector programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cts.program.vector import MatrixMul, VectorType
from cts.program.vector_program import VectorProgram, walk_vectors

if TYPE_CHECKING:
    from reference.vector_expect import VectorExpectation


def images(program: VectorProgram, operands: Mapping[str, object]) -> dict[str, bytes]:
    """The bytes of every buffer before the dispatch: those given, else poison."""
    from reference.layout import poison

    found: dict[str, bytes] = {}
    for index, buffer in enumerate(program.buffers):
        given = operands.get(buffer.name)
        if isinstance(given, bytes):
            found[buffer.name] = given
        else:
            size = buffer.backing_bytes(program.grid.workgroups)
            found[buffer.name] = poison(size, salt=index).tobytes()
    return found


def expect(program: VectorProgram, inputs: Mapping[str, bytes]) -> Mapping[str, VectorExpectation]:
    """What each buffer may hold afterwards."""
    from reference.vector_oracle import evaluate_vectors

    return evaluate_vectors(program, inputs).buffers


def product_types(program: VectorProgram) -> str:
    """The component types of the first product, or nothing."""
    types = program.types()
    for it in walk_vectors(program.body):
        if isinstance(it, MatrixMul):
            given = types[it.input]
            component = given.component if isinstance(given, VectorType) else given
            source = component.label
            if component is not it.interpretation:
                source += f" as {it.interpretation.label}"
            bias = "" if it.bias is None else f" + {it.bias.interpretation.label}"
            matrix = it.weights.interpretation.label
            return f"{matrix} x {source}{bias} -> {it.type.component.label}"
    return ""


def features(program: VectorProgram) -> list[tuple[str, str]]:
    """What an example exercised, as (distribution, value) pairs."""
    grid = program.grid
    found = [
        ("grid", f"{grid.workgroups}x{grid.local_size}"),
        ("numbers", program.numbers.value),
        ("stage", program.stage.label),
    ]
    for kind in program.types().values():
        if isinstance(kind, VectorType):
            found.append(("vector", kind.component.label))
            found.append(("length", _size(kind.length)))
    for it in walk_vectors(program.body):
        found.append(("operation", type(it).__name__))
        if isinstance(it, MatrixMul):
            found += [
                ("layout", it.weights.layout.label),
                ("matrix offset", it.weights.place.at.spread.label),
                ("transposed", str(it.weights.transpose)),
                ("shape", f"{_size(it.type.length)} x {_size(it.k)}"),
            ]
    return found


def _size(length: int) -> str:
    """A class of sizes."""
    for limit, name in ((1, "1"), (8, "2-8"), (32, "9-32"), (64, "33-64"), (128, "65-128")):
        if length <= limit:
            return name
    return "more than 128"
