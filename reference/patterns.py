"""Recognises what went wrong from which elements are wrong and what they hold instead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cts.program.model import Component
from reference.accept import Acceptance
from reference.component import Bits, Flags, Floats, decode

MANY = 8
"""So many wrong elements agree with a hypothesis hardly by chance."""


@dataclass(frozen=True)
class Hypothesis:
    """What a typical fault would have given."""

    label: str
    values: Floats
    """[tiles, rows, columns], as decoded numbers; NaN where the fault gives nothing."""


def recognise(
    wrong: Flags,
    initial: Bits,
    actual: Bits,
    accept: Acceptance,
    hypotheses: list[Hypothesis],
    tile: int,
) -> str:
    """A line such as "every element of column 7" or "transposed"; empty if nothing fits."""
    parts = [_where(wrong, tile)]
    what = _what(wrong, initial, actual, accept, hypotheses, tile)
    if what:
        parts.append(what)
    return "; ".join(part for part in parts if part)


def _where(wrong: Flags, tile: int) -> str:
    tiles = np.flatnonzero(wrong.any(axis=(1, 2)))
    name = ""
    if wrong.shape[0] > 1:
        name = "in every tile" if len(tiles) == wrong.shape[0] else _listed("tile", tiles)
    return " ".join(part for part in (_shape(wrong[tile]), name) if part)


def _shape(wrong: Flags) -> str:
    rows, columns = np.flatnonzero(wrong.any(axis=1)), np.flatnonzero(wrong.any(axis=0))
    if wrong.sum() == 1:
        return f"only element ({rows[0]}, {columns[0]})"
    if wrong.all():
        return "every element"
    block = wrong[np.ix_(rows, columns)].all()
    if block and len(columns) == wrong.shape[1]:
        return "every element of " + _listed("row", rows)
    if block and len(rows) == wrong.shape[0]:
        return "every element of " + _listed("column", columns)
    if len(rows) == 1:
        return f"only in row {rows[0]}"
    if len(columns) == 1:
        return f"only in column {columns[0]}"
    if not wrong[: rows[0]].any() and block:
        return f"rows {rows[0]} to {rows[-1]}, columns {columns[0]} to {columns[-1]}"
    return ""


def _listed(noun: str, numbers: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> str:
    if len(numbers) == 1:
        return f"{noun} {numbers[0]}"
    if len(numbers) > 2 and len(set(np.diff(numbers))) == 1:
        step = int(numbers[1] - numbers[0])
        every = "" if step == 1 else f" in steps of {step}"
        return f"{noun}s {numbers[0]} to {numbers[-1]}{every}"
    return f"{noun}s " + ", ".join(str(n) for n in numbers[:8]) + (", ..." * (len(numbers) > 8))


def _what(
    wrong: Flags,
    initial: Bits,
    actual: Bits,
    accept: Acceptance,
    hypotheses: list[Hypothesis],
    tile: int,
) -> str:
    mask = wrong[tile]
    found = actual[tile]
    if (found[mask] == initial[tile][mask]).all():
        return "memory was left as it was"
    values = decode(found, accept.component)
    expected = _expected(accept, tile)

    def same(other: Floats) -> bool:
        return _explains(values[mask], other[mask], expected[mask], accept.component)

    if expected.shape[0] == expected.shape[1] and same(expected.T):
        return "transposed"
    for other in range(min(wrong.shape[0], 64)):
        if other != tile and same(_expected(accept, other)):
            return f"tile {tile} holds tile {other}'s values"
    for hypothesis in hypotheses:
        if same(hypothesis.values[tile]):
            return hypothesis.label
    for axis, name in ((0, "row"), (1, "column")):
        for step in (1, -1, 2, -2):
            if same(np.roll(expected, -step, axis=axis)):
                side = "after" if step > 0 else "before"
                return f"each element is the one {abs(step)} {name}(s) {side} it"
    if mask.sum() > 1 and len(np.unique(found[mask])) == 1:
        return f"all of them hold 0x{int(found[mask][0]):x}"
    ratio = common_factor(values[mask], expected[mask])
    if ratio:
        return ratio
    return _place_of(values, expected, mask)


def _expected(accept: Acceptance, tile: int) -> Floats:
    """The exact values of one tile."""
    part = accept.part(slice(tile, tile + 1))
    if part.exact is not None:
        exact: Floats = np.broadcast_to(part.exact, part.shape)[0]
        return exact
    assert part.tight.bits is not None
    return decode(np.broadcast_to(part.tight.bits, part.shape)[0], part.component)


def _explains(values: Floats, supposed: Floats, expected: Floats, component: Component) -> bool:
    """Whether the wrong elements are what a hypothesis supposes: integers exactly, floats far
    closer to it than to what was expected, the fewer there are the closer."""
    if component.is_integer:
        return bool(np.array_equal(values, supposed))
    share = 2.0**-3 if len(values) >= MANY else 2.0**-10
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(values - supposed) <= np.abs(values - expected) * share
    return bool(np.all(near | (values == supposed) | (np.isnan(values) & np.isnan(supposed))))


def common_factor(values: Floats, expected: Floats) -> str:
    """What says that all values are the expected ones times the same number; nothing if not."""
    # Where there is no quotient, or none that is finite, there is no common factor either.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factors = values / expected
    if len(factors) < 2 or not np.isfinite(factors).all():
        return ""
    if np.ptp(factors) <= 2.0**-8 * abs(factors[0]) and factors[0] != 0:
        return f"each is about {factors[0]:.4g} times what it should be"
    return ""


def _place_of(values: Floats, expected: Floats, mask: Flags) -> str:
    """Where the first wrong element's value belongs, if it is somewhere in the same tile."""
    row, column = (int(i) for i in np.argwhere(mask)[0])
    places = np.argwhere(expected == values[row, column])
    if len(places) != 1:
        return ""
    return f"({row}, {column}) holds the element of ({places[0][0]}, {places[0][1]})"
