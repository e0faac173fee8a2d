"""Judges a reply to a :class:`cts.device.protocol.Convert` request (rows C-01 to C-12).

The judge knows nothing of the optimal layouts. What a matrix in one of them holds is carried
along as :class:`reference.convert.Elements` from the conversion that made it, and becomes
visible when it is converted back to row- or column-major.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cts.device.protocol import Conversion, Convert, Matrix, Reply
from cts.outcome import Level
from cts.program.model import Component
from cts.program.vector import MatrixLayout
from reference.component import text
from reference.convert import Elements, Grade, overflow_choices, pattern
from reference.expectation import error_map
from reference.rules import Violation, worst_first
from reference.vector_layout import gather, strided_bytes, strided_positions

SUCCESS = 0
INCOMPLETE = 5

_LEVELS = {
    Grade.WRONG: Level.REQUIRED,
    Grade.POLICY: Level.POLICY,
    Grade.QUALITY: Level.QUALITY,
}


@dataclass(frozen=True)
class Judgement:
    """What a reply broke, and what its memory holds now: the elements of each optimal matrix
    by its offset, and how the device chose on overflow."""

    violations: list[Violation]
    known: Mapping[int, Elements]
    choices: Mapping[str, int] = field(default_factory=dict)


def needed(conversion: Conversion) -> int | None:
    """Bytes of a row- or column-major destination, first element to last; None for an optimal
    layout, whose size only the implementation knows."""
    side = conversion.destination
    layout = MatrixLayout(side.layout)
    if layout.optimal:
        return None
    return strided_bytes(
        conversion.rows, conversion.columns, Component(side.component), layout, side.stride
    )


def describe(conversion: Conversion) -> str:
    """One line for people: ``3x5 float32 row_major/20 -> float16 training_optimal``."""

    def side(matrix: Matrix) -> str:
        layout = MatrixLayout(matrix.layout)
        stride = "" if layout.optimal else f"/{matrix.stride}"
        return f"{Component(matrix.component).label} {layout.label}{stride}"

    return (
        f"{conversion.rows}x{conversion.columns} {side(conversion.source)} -> "
        f"{side(conversion.destination)}"
    )


def judge_size(conversion: Conversion, result: int, count: int) -> list[Violation]:
    """C-01 and C-05 for a call with a null destination."""
    detail = {"conversion": describe(conversion), "result": result, "size": count}
    if result != SUCCESS:
        message = f"a size query gave VkResult {result}"
        return [Violation("C-01", Level.REQUIRED, message, detail)]
    rows, columns = conversion.rows, conversion.columns
    side = conversion.destination
    layout, component = MatrixLayout(side.layout), Component(side.component)
    exact = needed(conversion)
    if exact is None:
        least = rows * columns * component.bytes
        if count < least:
            message = f"{count} bytes can't hold {rows}x{columns} {component.label} elements"
            return [Violation("C-01", Level.REQUIRED, message, {**detail, "least": least})]
        return []
    lines = rows if layout is MatrixLayout.ROW_MAJOR else columns
    detail |= {"exact": exact, "whole lines": lines * side.stride}
    if not exact <= count <= lines * side.stride:
        message = f"the size is {count}, but the strided matrix has {exact} bytes"
        return [Violation("C-05", Level.REQUIRED, message, detail)]
    if count != exact:
        # The padding behind the last line is no byte that the matrix needs.
        message = f"the size is {count}, more than the {exact} bytes up to the last element"
        return [Violation("C-05", Level.QUALITY, message, detail)]
    return []


def judge(
    request: Convert,
    reply: Reply,
    sizes: Sequence[int],
    known: Mapping[int, Elements] | None = None,
) -> Judgement:
    """Judge conversions that all have a destination. ``sizes`` are the destination sizes that
    the device gave for each; ``known`` the elements of the optimal matrices that lie in the
    request's memory already, by offset.

    Raises KeyError where an optimal source was neither made here nor is in ``known``.
    """
    before = np.frombuffer(request.memory, np.uint8)
    after = np.frombuffer(reply.buffers[0], np.uint8)
    if len(after) != len(before):
        raise ValueError(f"the reply has {len(after)} bytes of {len(before)}")
    found: list[Violation] = []
    elements = dict(known or {})
    choices: dict[str, int] = {}
    writable = np.zeros(len(before), bool)
    padding = np.zeros(len(before), bool)
    written: set[int] = set()
    for number, conversion in enumerate(request.conversions):
        source = _source(conversion, before, after, written, elements)
        by = f"{_command(request)} of {describe(conversion)}"
        due = source.converted(Component(conversion.destination.component), by)
        found += _call(request, reply, number, sizes[number])
        start = conversion.destination.offset
        end = start + sizes[number]
        written.add(start)
        if MatrixLayout(conversion.destination.layout).optimal:
            writable[start:end] = True
            elements[start] = due
            continue
        at = start + _positions(conversion.destination, conversion)
        padding[start:end] = True
        writable[at] = True
        got = gather(after, at, due.component)
        found += _elements(conversion, number, due, got)
        for choice, times in overflow_choices(due, got).items():
            name = f"{due.component.label} {choice}"
            choices[name] = choices.get(name, 0) + times
    found += _bystanders(request, before, after, writable, padding)
    return Judgement(worst_first(found), elements, choices)


def _command(request: Convert) -> str:
    name = "Convert" if request.host else "CmdConvert"
    return f"vk{name}CooperativeVectorMatrixNV"


def _positions(side: Matrix, conversion: Conversion) -> NDArray[np.int64]:
    component = Component(side.component)
    return strided_positions(
        conversion.rows,
        conversion.columns,
        MatrixLayout(side.layout),
        side.stride,
        component.bytes,
    )


def _source(
    conversion: Conversion,
    before: NDArray[np.uint8],
    after: NDArray[np.uint8],
    written: set[int],
    elements: Mapping[int, Elements],
) -> Elements:
    side = conversion.source
    if MatrixLayout(side.layout).optimal:
        return elements[side.offset]
    # A strided matrix is read as it was found in memory: what an earlier conversion got wrong
    # is reported once, there.
    memory = after if side.offset in written else before
    component = Component(side.component)
    return Elements.exact(
        gather(memory, side.offset + _positions(side, conversion), component), component
    )


def _call(request: Convert, reply: Reply, number: int, size: int) -> list[Violation]:
    """C-03: the result and *pDstSize of one host call."""
    if not request.host:
        return []
    conversion = request.conversions[number]
    result, count = reply.results[number], reply.counts[number]
    detail = {
        "conversion": describe(conversion),
        "result": result,
        "given": conversion.destination.size,
        "size query": size,
        "written": count,
    }
    if result != SUCCESS:
        message = f"a conversion into {conversion.destination.size} bytes gave VkResult {result}"
        return [Violation("C-03", Level.REQUIRED, message, detail)]
    least = conversion.rows * conversion.columns * Component(conversion.destination.component).bytes
    if not least <= count <= size:
        message = f"*pDstSize became {count} for a matrix of {size} bytes"
        return [Violation("C-03", Level.REQUIRED, message, detail)]
    if count != size:
        message = f"*pDstSize became {count}, but the size query said {size}"
        return [Violation("C-03", Level.POLICY, message, detail)]
    return []


def _elements(
    conversion: Conversion,
    number: int,
    due: Elements,
    got: NDArray[np.unsignedinteger],
) -> list[Violation]:
    """C-06 to C-09: the elements of a strided destination; one violation for each grade."""
    grades = due.grade(got)
    found = []
    for grade, level in _LEVELS.items():
        wrong = grades == grade
        if not wrong.any():
            continue
        row, column = (int(axis[0]) for axis in np.nonzero(wrong))
        actual = int(got[row, column])
        value = text(actual, due.component)
        words = pattern(due, got, wrong) if grade is Grade.WRONG else ""
        message = (
            f"{describe(conversion)}: element ({row}, {column}) is {value} "
            f"instead of {due.expected(row, column)}"
        )
        detail = {
            "conversion": describe(conversion),
            "number": number,
            "worst": {
                "place": f"element ({row}, {column})",
                "row": row,
                "column": column,
                "component": due.component.label,
                "actual_bits": f"0x{actual:0{due.component.bytes * 2}x}",
                "actual": value,
                "accepted": due.expected(row, column),
            },
            "wrong elements": int(wrong.sum()),
            # Conversions have no bounds: an element is right or wrong, but for the sign of zeros.
            "errors": error_map(wrong, np.zeros(wrong.shape), grades == Grade.QUALITY),
            "pattern": words,
            "explanation": f"{due.way(row, column)}{_doubt(due)}",
        }
        found.append(Violation(_row(grade, due, row, column), level, message, detail))
    return found


def _doubt(due: Elements) -> str:
    """A remark where more than one conversion may have been wrong."""
    if due.origin is None or due.origin.elements.origin is None:
        return ""
    return (
        " Any of them may be wrong: what a matrix in an optimal layout holds shows only after a "
        "conversion back."
    )


def _row(grade: Grade, due: Elements, row: int, column: int) -> str:
    if grade is Grade.POLICY:
        return "C-08"
    if grade is Grade.QUALITY:
        # A NaN that kept being one but not its bits belongs to layout conversion.
        zero = text(int(due.bits[row, column]), due.component) in ("0", "-0")
        return "C-09" if zero else "C-06"
    return "C-06" if due.payload else "C-07"


def _bystanders(
    request: Convert,
    before: NDArray[np.uint8],
    after: NDArray[np.uint8],
    writable: NDArray[np.bool_],
    padding: NDArray[np.bool_],
) -> list[Violation]:
    """C-03 (nothing else changes) and C-12 (row padding keeps its value)."""
    changed = (before != after) & ~writable
    found = []
    for mask, row, level, what in (
        (changed & ~padding, "C-03", Level.REQUIRED, "outside every destination"),
        (changed & padding, "C-12", Level.POLICY, "in the padding of a strided destination"),
    ):
        if mask.any():
            at = int(np.flatnonzero(mask)[0])
            message = f"{int(mask.sum())} bytes changed {what}, the first at offset {at}"
            detail = {
                "offset": at,
                "before": int(before[at]),
                "after": int(after[at]),
                "where": _nearest(request, at),
            }
            found.append(Violation(row, level, message, detail))
    return found


def _nearest(request: Convert, at: int) -> str:
    """The matrix that an offset lies in or behind."""
    best, words = -1, "before every matrix"
    for number, conversion in enumerate(request.conversions):
        for side, name in ((conversion.source, "source"), (conversion.destination, "destination")):
            if best < side.offset <= at:
                best = side.offset
                words = f"{at - side.offset} bytes after the start of {name} {number}"
    return words
