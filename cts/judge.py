"""From a program and what a device replied to the worst violation: where the pieces meet.

Pure functions over data, used by :class:`cts.subject.Subject` while a case runs and again when
a stored request is replayed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cts import judge_vector
from cts.device.protocol import DeviceInfo, Dispatch
from cts.findings import Finding, GuardTouched, PolicyValue, QualityValue, WrongValue
from cts.program import vector_records
from cts.program.model import Load, MatrixType, MulAdd, Program, Store
from cts.program.recipe import Operand
from cts.program.vector_program import VectorProgram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reference.expectation import Expectation, Violation
    from reference.vector_expect import VectorExpectation

AnyProgram = Program | VectorProgram
"""What a dispatch can be made from."""

_BANDS = ("quality", "policy", "required")
_CLASSES: Mapping[str, type[Finding]] = {
    "required": WrongValue,
    "policy": PolicyValue,
    "quality": QualityValue,
}


@dataclass(frozen=True)
class Verdict:
    """``violations`` of all runs, the worst error / bound ratio, how many matrices were
    compared, and how many runs gave other bytes than the first."""

    violations: tuple[Violation, ...]
    worst_ratio: float
    matrices: int
    differing: int = 0


def demand_valid(program: AnyProgram) -> None:
    """ValueError if ``program`` breaks a rule of validity: a fault of the suite. The oracle sees
    to that for vector programs, whose offsets it has to work out."""
    if isinstance(program, VectorProgram):
        return
    from cts.program.valid import invalid

    broken = invalid(program)
    if broken is not None:
        raise ValueError(f"a case made an invalid program: {broken}")


def unsupported(program: AnyProgram, info: DeviceInfo) -> str | None:
    """Why no advertised record covers ``program``; None if the records do."""
    if isinstance(program, VectorProgram):
        return vector_records.unsupported_vectors(program, info)
    from cts.program import records

    return records.unsupported(program, info)


def lacking(request: Dispatch, info: DeviceInfo) -> list[str]:
    """The features and extensions that ``request`` needs and the device lacks, as reasons."""
    from cts.program.requires import Requires, combine, missing

    asked = Requires(frozenset(request.features), frozenset(request.extensions))
    return missing(combine(asked), info)


def images(program: AnyProgram, operands: Mapping[str, Operand | bytes]) -> dict[str, bytes]:
    """The bytes of every buffer of ``program`` before the dispatch."""
    if isinstance(program, VectorProgram):
        return judge_vector.images(program, operands)
    from reference import layout

    found: dict[str, bytes] = {}
    for index, buffer in enumerate(program.buffers):
        operand = operands.get(buffer.name)
        if isinstance(operand, bytes):
            found[buffer.name] = operand
            continue
        image = layout.poisoned(buffer, program.grid, salt=index)
        if operand is not None:
            bits = realised(operand)
            layout.place(bits, operand.type, operand.address, buffer, program.grid, image)
        found[buffer.name] = image.tobytes()
    return found


def realised(operand: Operand) -> NDArray[Any]:
    """The bits of an operand's matrices, [tiles, rows, columns]."""
    from reference.operands import realise

    kind = operand.type
    return realise(operand.recipe, kind.component, kind.rows, kind.columns, operand.tiles)


def request(
    program: AnyProgram, inputs: Mapping[str, bytes], info: DeviceInfo, repeat: int = 1
) -> Dispatch:
    """The whole request that runs ``program`` on ``inputs`` on the device of ``info``."""
    from cts.spirv.request import dispatch

    made = dispatch(program, inputs, info)
    return dataclasses.replace(made, repeat=repeat) if repeat > 1 else made


def expect(
    program: AnyProgram, inputs: Mapping[str, bytes]
) -> Mapping[str, Expectation] | Mapping[str, VectorExpectation]:
    """What each buffer may hold afterwards."""
    if isinstance(program, VectorProgram):
        return judge_vector.expect(program, inputs)
    from reference.evaluate import evaluate

    return evaluate(program, inputs)


def compare(
    asked: Dispatch,
    expected: Mapping[str, Expectation] | Mapping[str, VectorExpectation],
    buffers: Sequence[bytes],
) -> Verdict:
    """Judge the buffers of a reply to a dispatch of a program. Runs that gave the same bytes as
    the first are judged once. ValueError where the request has no program."""
    if asked.program is None:
        raise ValueError("a dispatch can be judged only with the program that it was made from")
    size = len(asked.buffers)
    runs = [buffers[size * run : size * (run + 1)] for run in range(asked.repeat)]
    distinct = [run for at, run in enumerate(runs) if at == 0 or run != runs[0]]
    violations: list[Violation] = []
    ratio, compared = 0.0, 0
    for run in distinct:
        for buffer, actual in zip(asked.program.buffers, run, strict=False):
            found = expected[buffer.name].check(actual)
            violations += found.violations
            ratio = max(ratio, found.worst_ratio)
            compared += found.matrices
        violations += _numbers_touched(asked, run)
    compared = compared * asked.repeat // len(distinct)
    return Verdict(tuple(violations), ratio, compared, len(distinct) - 1)


def _numbers_touched(asked: Dispatch, run: Sequence[bytes]) -> list[Violation]:
    """A violation if the buffer of numbers, behind the program's own, changed."""
    from reference.expectation import Violation

    assert asked.program is not None
    own = len(asked.program.buffers)
    if all(given.data == run[own + at] for at, given in enumerate(asked.buffers[own:])):
        return []
    message = "the buffer that the shader reads its strides and offsets from changed"
    return [Violation("required", "guard", message)]


def as_finding(verdict: Verdict) -> Finding | None:
    """The worst violation as a finding; None if there is none."""
    if not verdict.violations:
        return None
    worst = max(verdict.violations, key=lambda it: _BANDS.index(it.band))
    guard = worst.kind == "guard" and worst.band == "required"
    kind = GuardTouched if guard else _CLASSES[worst.band]
    return kind(worst.message, worst.detail)


# --- describing -----------------------------------------------------------------------------


def used_records(program: AnyProgram, info: DeviceInfo) -> tuple[str, ...]:
    """``command#index`` of the advertised records that ``program`` uses."""
    if isinstance(program, VectorProgram):
        return vector_records.used_records(program, info)
    from cts.program import records

    return records.used(program, info)


def product_types(program: AnyProgram) -> str:
    """The component types of the first product, ``float16 x float16 + float32``, or nothing."""
    if isinstance(program, VectorProgram):
        return judge_vector.product_types(program)
    types = program.types()
    for statement in program.body:
        if isinstance(statement, MulAdd):
            a, b, c = (
                types[name].component.label for name in (statement.a, statement.b, statement.c)
            )
            result = statement.type.component.label
            return f"{a} x {b} + {c}" + (f" -> {result}" if result != c else "")
    return ""


def features(program: AnyProgram, operands: Mapping[str, Operand | bytes]) -> list[tuple[str, str]]:
    """What an example exercised, as (distribution, value) pairs."""
    if isinstance(program, VectorProgram):
        return judge_vector.features(program)
    grid = program.grid
    found = [
        ("grid", f"{grid.workgroups}x{grid.subgroups}x{grid.subgroup_size}"),
        ("numbers", program.numbers.value),
    ]
    found += [("matrix", str(kind)) for kind in program.matrix_types()]
    found += [("operation", type(it).__name__) for it in program.body]
    for way, address, kind in _addresses(program):
        buffer = program.buffer(address.buffer)
        found += [
            (f"{way} layout", address.layout.name.lower()),
            (f"{way} storage", buffer.storage.name.lower()),
            (f"{way} pointee", str(buffer.pointee)),
            (f"{way} stride", _stride(address.stride * buffer.pointee.bytes, address.layout, kind)),
        ]
    for operand in operands.values():
        if isinstance(operand, Operand):
            found.append(("pattern", operand.recipe.pattern.value))
    return found


def _addresses(program: Program) -> Iterator[tuple[str, Any, MatrixType]]:
    types = program.types()
    for statement in program.body:
        match statement:
            case Load():
                yield "load", statement.address, statement.type
            case Store():
                yield "store", statement.address, types[statement.value]
            case _:
                pass


def _stride(stride: int, layout: Any, kind: MatrixType) -> str:
    """The class of a stride in bytes: zero, tight, or how it is padded."""
    length = kind.columns if layout == 0 else kind.rows
    line = length * kind.component.bytes
    if stride == 0:
        return "zero"
    if stride <= line:
        return "tight" if stride == line else "overlapping"
    return "padded to a power of two" if stride & (stride - 1) == 0 else "padded"
