"""The heat map of a tile's error / bound ratios, as inline SVG.

Cells of one bucket share one path, so that a 64 x 64 tile costs some 60 kB and not half a
megabyte. Buckets differ in lightness as well as in hue, those outside the bound have a
border, and those without a finite ratio are hatched: the map reads in greyscale.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from reports.result import ratio
from reports.text import TIMES, plural

BUCKETS: tuple[tuple[str, str], ...] = (
    ("h-none", "not judged"),
    ("h-0", "exact"),
    ("h-1", "up to half the bound"),
    ("h-2", "up to the bound"),
    ("h-3", f"up to 2 {TIMES} the bound"),
    ("h-4", f"up to 16 {TIMES} the bound"),
    ("h-5", f"beyond 16 {TIMES} the bound"),
    ("h-inf", "outside, without a finite ratio"),
)
"""Class and meaning, from best to worst."""

HATCH = Markup(
    '<svg class="off" aria-hidden="true"><pattern id="hatch" width="0.3" height="0.3" '
    'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect class="hatch-a" width="0.3" height="0.3"/>'
    '<rect class="hatch-b" width="0.12" height="0.3"/></pattern></svg>'
)
"""The pattern that ``h-inf`` is filled with; a page holds it once, where it is never folded."""

NUMBERED = 16
"""Up to this many columns the cells outside the bound carry their ratio, where it is finite."""


@dataclass(frozen=True)
class HeatMap:
    """``svg`` is safe markup; ``legend`` has (class, meaning, cells) of the
    buckets that occur; ``text`` says the same in words."""

    svg: Markup
    legend: tuple[tuple[str, str, int], ...]
    text: str


def bucket(value: float | None) -> str:
    """The class of one ratio."""
    if value is None:
        return "h-none"
    if math.isinf(value):
        return "h-inf"
    limits = (("h-0", 0.0), ("h-1", 0.5), ("h-2", 1.0), ("h-3", 2.0), ("h-4", 16.0))
    return next((name for name, limit in limits if value <= limit), "h-5")


def heat_map(
    errors: Mapping[str, Any] | None, worst: Mapping[str, Any] | None = None
) -> HeatMap | None:
    """The map of ``errors`` (a finding's member of that name) with the worst element ringed;
    None where there is nothing to draw."""
    if errors is None:
        return None
    rows = [[ratio(value) for value in row] for row in errors["ratios"]]
    columns = max((len(row) for row in rows), default=0)
    if not columns:
        return None
    cells: dict[str, list[tuple[int, int]]] = {}
    for r, row in enumerate(rows):
        for c, value in enumerate(row):
            cells.setdefault(bucket(value), []).append((r, c))
    seen = Counter({name: len(places) for name, places in cells.items()})
    outside = sum(seen[name] for name in ("h-3", "h-4", "h-5", "h-inf"))
    tile, down, across = (errors[name] for name in ("tile", "down", "across"))
    text = f"Error / bound, {plural(len(rows), down)} {TIMES} {plural(columns, across)}"
    text += f" of tile {tile}" if tile is not None else ""
    text += f": {plural(outside, 'element')} outside"
    parts = [_cells(name, cells[name]) for name, _ in BUCKETS if name in cells]
    parts += _axes(len(rows), columns)
    if columns <= NUMBERED:
        parts += _numbers(rows)
    place = _place(worst, tile, rows)
    if place is not None:
        r, c = place
        text += f"; the worst in {down} {r}, {across} {c}"
        parts.append(f'<rect class="h-ring" x="{c}" y="{r}" width="1" height="1"/>')
    legend = tuple((name, label, seen[name]) for name, label in BUCKETS if seen[name])
    return HeatMap(_svg(parts, len(rows), columns, text), legend, text + ".")


def _svg(parts: Sequence[str], rows: int, columns: int, text: str) -> Markup:
    left, top = _margin(rows), _margin(columns)
    unit = 26 if columns <= NUMBERED else 14 if columns <= 32 else 9
    box = f"{-left} {-top} {columns + left + 0.1} {rows + top + 0.1}"
    # The width is a wish: the style sheet lets the map shrink with the page.
    width = round((columns + left) * unit)
    return Markup(
        f'<svg class="heat" role="img" aria-label="{escape(text)}" width="{width}" viewBox="{box}">'
        f"{''.join(parts)}</svg>"
    )


def _margin(count: int) -> float:
    return 1.2 if count <= NUMBERED else 2.6 if count <= 32 else 4.2


def _cells(name: str, places: Sequence[tuple[int, int]]) -> str:
    path = "".join(f"M{c} {r}h1v1h-1z" for r, c in places)
    return f'<path class="{name}" d="{path}"/>'


def _numbers(rows: Sequence[Sequence[float | None]]) -> list[str]:
    return [
        f'<text class="h-n n-{bucket(value)}" x="{c + 0.5}" y="{r + 0.62}">{_short(value)}</text>'
        for r, row in enumerate(rows)
        for c, value in enumerate(row)
        if value is not None and 1 < value < math.inf
    ]


def _short(value: float) -> str:
    if value < 9.95:
        return f"{value:.1f}"
    return f"{value:.0f}" if value < 1000 else f"1e{math.floor(math.log10(value))}"


def _axes(rows: int, columns: int) -> list[str]:
    size = 0.42 if columns <= NUMBERED else 0.85 if columns <= 32 else 1.3
    parts = []
    for count, across in ((columns, True), (rows, False)):
        step = 1 if count <= NUMBERED else 4 if count <= 32 else 8
        for index in range(0, count, step):
            x, y = (index + 0.5, -0.3) if across else (-0.3, index + 0.5 + size * 0.35)
            anchor = "middle" if across else "end"
            parts.append(
                f'<text class="h-axis" font-size="{size}" text-anchor="{anchor}" '
                f'x="{x:.2f}" y="{y:.2f}">{index}</text>'
            )
    return parts


def _place(
    worst: Mapping[str, Any] | None, tile: int | None, rows: Sequence[Sequence[float | None]]
) -> tuple[int, int] | None:
    """The worst element, if it lies in the tile that is shown."""
    if worst is None or worst["row"] is None or worst["column"] is None:
        return None
    if None not in (tile, worst["tile"]) and tile != worst["tile"]:
        return None
    r, c = int(worst["row"]), int(worst["column"])
    return (r, c) if 0 <= r < len(rows) and 0 <= c < len(rows[r]) else None
