"""Operands as small tables, cut round the elements that a wrong one depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.text import TIMES, show_value

WINDOW = 16
"""Operands are shown up to this many rows and columns, around the elements that matter."""

WHOLE = 64
"""Up to so many elements of a row or a column are shown where the whole of it matters."""


@dataclass(frozen=True)
class Cell:
    """One element of an operand."""

    value: str
    bits: str
    style: str
    """Class names: ``z`` for zero, ``f`` where the worst element depends on it."""


@dataclass(frozen=True)
class Operand:
    """A small table of an operand, or one sentence where all elements are equal."""

    name: str
    note: str
    uniform: str
    columns: tuple[int, ...]
    rows: tuple[tuple[int, tuple[Cell, ...]], ...]
    cut: str


def operand(data: Mapping[str, Any]) -> Operand:
    """The view of one operand: at most :data:`WINDOW` rows and columns of it."""
    values, bits = data["values"], data["bits"]
    rows = max(len(values), len(bits))
    columns = max((len(row) for row in (*values, *bits)), default=0)
    focus = data["focus"] or {"row": None, "column": None}
    note = ", ".join(
        text
        for text in (
            data["recipe"],
            data["component"],
            f"tile {data['tile']}" if data["tile"] is not None else "",
        )
        if text
    )
    uniform = _uniform(values, bits, rows, columns)
    row, column = focus["row"], focus["column"]
    across, down = row is not None and column is None, column is not None and row is None
    shown_rows = _window(rows, row, WHOLE if down else WINDOW)
    shown_columns = _window(columns, column, WHOLE if across else WINDOW)
    cut = ""
    if uniform:
        shown_rows = shown_columns = range(0)
    elif len(shown_rows) < rows or len(shown_columns) < columns:
        cut = (
            f"Rows {_span(shown_rows)} of {rows}, columns {_span(shown_columns)} of {columns}; "
            "the witness holds all."
        )
    table = tuple(
        (r, tuple(_cell(values, bits, r, c, focus, bool(data["focus"])) for c in shown_columns))
        for r in shown_rows
    )
    return Operand(data["name"], note, uniform, tuple(shown_columns), table, cut)


def _uniform(
    values: Sequence[Sequence[Any]], bits: Sequence[Sequence[str]], rows: int, columns: int
) -> str:
    """A sentence if all of at least two elements are equal, bit for bit where bits are given."""
    if rows * columns < 2:
        return ""
    seen = {(_at(values, r, c), _at(bits, r, c)) for r in range(rows) for c in range(columns)}
    if len(seen) > 1:
        return ""
    value, pattern = seen.pop()
    shown = " = ".join(text for text in (show_value(value), _hex(pattern)) if text)
    return f"all {rows} {TIMES} {columns} elements are {shown}"


def _window(count: int, centre: int | None, size: int) -> range:
    start = min(max(0, (centre or 0) - size // 2), max(0, count - size))
    return range(start, min(count, start + size))


def _span(shown: range) -> str:
    return f"{shown.start} to {shown.stop - 1}" if shown else "none"


def _at(table: Sequence[Sequence[Any]], r: int, c: int) -> Any:
    return table[r][c] if r < len(table) and c < len(table[r]) else None


def _hex(pattern: str | None) -> str:
    return "" if not pattern else pattern if pattern.startswith("0x") else f"0x{pattern}"


def _cell(
    values: Sequence[Sequence[Any]],
    bits: Sequence[Sequence[str]],
    r: int,
    c: int,
    focus: Mapping[str, Any],
    focused: bool,
) -> Cell:
    value, pattern = _at(values, r, c), _at(bits, r, c) or ""
    here = focused and focus["row"] in (None, r) and focus["column"] in (None, c)
    zero = show_value(value) == "0"
    style = " ".join(name for name, on in (("z", zero), ("f", here)) if on)
    return Cell(show_value(value), pattern.removeprefix("0x"), style)
