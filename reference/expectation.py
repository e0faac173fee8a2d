"""What a buffer may hold after a dispatch, and what to say where it doesn't."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cts.program.model import Buffer, MatrixType
from reference.accept import Accept, Acceptance, Level, Verdict, verdict
from reference.component import Bits, Flags, Floats, number, text
from reference.layout import Image, Region
from reference.patterns import Hypothesis, recognise
from reference.values import Scattered

BandName = Literal["required", "policy", "quality"]
_BANDS: dict[Level, BandName] = {
    Level.REQUIRED: "required",
    Level.POLICY: "policy",
    Level.QUALITY: "quality",
}
OWNERS = 8
"""More owners of one element than any implementation is known to have (four)."""
MAP_LIMIT = 64
"""Error maps show at most so many rows and columns."""


@dataclass(frozen=True)
class Violation:
    """Something in a buffer that a band excludes."""

    band: BandName
    kind: Literal["value", "guard"]
    message: str
    detail: dict[str, Any] = field(default_factory=dict)
    worst_ratio: float = 0.0


@dataclass(frozen=True)
class Judgement:
    """The outcome of comparing one buffer."""

    violations: tuple[Violation, ...]
    worst_ratio: float
    """Largest error as a multiple of the tight bound; 0 where nothing was inexact."""
    matrices: int
    """How many matrices were compared."""


@dataclass(frozen=True)
class Stored:
    """The elements that one store writes."""

    statement: int
    """Index in the program's body."""
    value: str
    type: MatrixType
    region: Region
    accept: Acceptance | Scattered
    hypotheses: Callable[[], list[Hypothesis]]
    """Other results that typical faults would give, to name what went wrong."""

    def judge(self, buffer: str, initial: Image, actual: Image) -> tuple[list[Violation], float]:
        """Compares the elements; (violations, worst ratio)."""
        bits = self.region.read(actual)
        if isinstance(self.accept, Scattered):
            found = judge_scattered(self.accept, bits, f"{buffer} ({self.value})")
            return ([] if found is None else [found]), 0.0
        outcome = verdict(self.accept, bits)
        if outcome.level is Level.FINE or outcome.levels is None:
            return [], outcome.worst_ratio
        found = self._violation(buffer, self.region.read(initial), bits, outcome)
        return [found], outcome.worst_ratio

    def _violation(self, buffer: str, initial: Bits, actual: Bits, outcome: Verdict) -> Violation:
        assert outcome.levels is not None
        assert not isinstance(self.accept, Scattered)
        wrong = outcome.levels == outcome.level
        tile = int(wrong.sum(axis=(1, 2)).argmax())
        accept = self.accept.part(slice(tile, tile + 1))
        ratios = accept.ratios(actual[tile : tile + 1])[0]
        measured = accept.measured(actual[tile : tile + 1])[0]
        row, column = (
            int(i)
            for i in np.unravel_index(
                np.where(wrong[tile], ratios + 1, -1.0).argmax(), wrong.shape[1:]
            )
        )
        found = recognise(wrong, initial, actual, self.accept, self.hypotheses(), tile)
        element = int(actual[tile, row, column])
        band = accept.band(outcome.level)
        accepted = band.at((0, row, column), accept.shape, accept.component)
        bits = f"0x{element:0{accept.component.bytes * 2}x}"
        shown = text(element, accept.component)
        message = (
            f"{self.value}[{row}, {column}] of tile {tile} in {buffer} is {bits} ({shown}), "
            f"accepted: {accepted}; {int(wrong.sum())} of {wrong.size} elements are wrong"
        )
        if found:
            message += f" ({found})"
        detail = {
            "worst": {
                "buffer": buffer,
                "value": self.value,
                "statement": self.statement,
                "type": str(self.type),
                "tile": tile,
                "row": row,
                "column": column,
                "actual_bits": bits,
                "actual": shown,
                "exact": _exact_text(accept, row, column),
                "accepted": accepted,
                "ratio": float(ratios[row, column]) if measured[row, column] else math.inf,
            },
            "expected": accepted,
            "wrong": int(wrong.sum()),
            "elements": int(wrong.size),
            "tiles": [int(t) for t in np.flatnonzero(wrong.any(axis=(1, 2)))[:64]],
            "errors": {"tile": tile, **error_map(wrong[tile], ratios, measured)},
            "pattern": found,
            "explanation": _explanation(accept, row, column),
        }
        return Violation(
            _BANDS[outcome.level], "value", message, detail, float(ratios[row, column])
        )


def _exact_text(accept: Accept, row: int, column: int) -> str:
    if accept.exact is not None:
        return number(float(np.broadcast_to(accept.exact, accept.shape)[0, row, column]))
    return accept.tight.at((0, row, column), accept.shape, accept.component)


def _explanation(accept: Accept, row: int, column: int) -> str:
    parts = [accept.reason]
    if accept.explain is not None:
        parts.append(accept.explain((0, row, column)))
    return ". ".join(part for part in parts if part)


def error_map(wrong: Flags, ratios: Floats, measured: Flags) -> dict[str, Any]:
    """The ratios of elements [rows, columns] for people: those of wrong ones never below 1, and
    infinite where they aren't ``measured``; those of others never above."""
    above = np.where(measured, np.maximum(ratios, 1.0), np.inf)
    shown = np.where(wrong, above, np.minimum(ratios, 1.0))
    cut = shown[:MAP_LIMIT, :MAP_LIMIT]
    return {
        "rows": int(cut.shape[0]),
        "columns": int(cut.shape[1]),
        "ratios": [[float(f"{value:.4g}") for value in row] for row in cut.tolist()],
        "wrong": np.argwhere(wrong[:MAP_LIMIT, :MAP_LIMIT]).tolist(),
    }


def judge_scattered(expected: Scattered, actual: Bits, name: str) -> Violation | None:
    """Whether the elements of each tile are codes of the matrix's components.

    Two elements never are one component, so codes that the component type can tell apart differ
    (required), and every element is some component (required). That an element is one component
    only isn't promised (docs/decisions/0004-component-ownership.md), so other codes than those of
    the first rows * columns components are a quality warning.
    """
    tiles, rows, columns = actual.shape
    found = np.sort(actual.reshape(tiles, -1), axis=1)
    codes = expected.codes()
    different = (found != codes).any(axis=1)
    if not different.any():
        return None
    elements = rows * columns
    wraps = OWNERS * elements >> expected.shift > 1 << expected.component.bits
    usual = int(np.unique(codes, return_counts=True)[1].max())
    limit = OWNERS * usual if wraps else 1 << expected.shift
    worst, found_in = -1, 0
    for tile in np.flatnonzero(different):
        most = int(np.unique(found[tile], return_counts=True)[1].max())
        if most > worst:
            worst, found_in = most, int(tile)
    values, counts = np.unique(found[found_in], return_counts=True)
    repeated = values[counts > limit].tolist()
    missing = sorted(set(codes.tolist()) - set(values.tolist()))
    last = (expected.invocations * elements - 1) >> expected.shift
    strange = [v for v in values.tolist() if v > last]
    band: BandName = "quality"
    if strange or repeated:
        band = "policy" if wraps and not strange else "required"
    message = (
        f"the components of {name} don't hold every element of tile {found_in} exactly once: "
        f"codes that occur too often: {repeated[:8]}, missing: {missing[:8]}, of no component: "
        f"{strange[:8]}"
    )
    detail = {
        "worst": {"tile": found_in, "value": name},
        "repeated": repeated[:64],
        "missing": missing[:64],
        "tiles": [int(t) for t in np.flatnonzero(different)[:64]],
        "explanation": "component i of invocation v was set to (i * invocations + v) >> "
        f"{expected.shift}; every element of the stored matrix is one of the components",
    }
    return Violation(band, "value", message, detail)


@dataclass(frozen=True)
class Lengths:
    """The uint32 that each invocation writes for OpCooperativeMatrixLengthKHR."""

    statement: int
    type: MatrixType
    region: Region
    """[scope instances, 1, invocations]."""

    def judge(self, buffer: str, initial: Image, actual: Image) -> tuple[list[Violation], float]:
        """Compares the sum of each scope instance's lengths with the number of elements."""
        found = self.region.read(actual)[:, 0].astype(np.int64)
        elements = self.type.rows * self.type.columns
        sums = found.sum(axis=1)
        detail: dict[str, Any] = {
            "lengths": found[0, :64].tolist(),
            "sums": sums[:64].tolist(),
            "elements": elements,
            "explanation": "the components of all invocations of the scope hold the matrix",
        }
        what = f"the lengths of {self.type} in {buffer} add up to"
        if (sums < elements).any():
            few = int(sums.min())
            message = f"{what} {few}, fewer than its {elements} elements"
            return [Violation("required", "value", message, detail)], 0.0
        if (sums > elements).any():
            message = f"{what} {int(sums.max())} for {elements} elements: some are held twice"
            return [Violation("quality", "value", message, detail)], 0.0
        if (found != found[:, :1]).any():
            message = f"the invocations hold unequal shares of {self.type}: {found[0, :8].tolist()}"
            return [Violation("quality", "value", message, detail)], 0.0
        return [], 0.0


@dataclass(frozen=True)
class Expectation:
    """What one buffer may hold after a dispatch: the elements that stores wrote, each with its
    acceptance set, and every other byte as it was."""

    buffer: Buffer
    initial: bytes
    stores: tuple[Stored | Lengths, ...] = ()

    def check(self, actual: bytes) -> Judgement:
        """Compares ``actual`` with the expectation; violations come worst first. ValueError if
        its length differs."""
        if len(actual) != len(self.initial):
            raise ValueError(f"{self.buffer.name} has {len(self.initial)} bytes, got {len(actual)}")
        before, after = (np.frombuffer(b, np.uint8) for b in (self.initial, actual))
        violations: list[Violation] = []
        ratio, matrices = 0.0, 0
        for stored in self.stores:
            found, worst = stored.judge(self.buffer.name, before, after)
            violations += found
            ratio = max(ratio, worst)
            matrices += stored.region.shape[0] if isinstance(stored, Stored) else 0
        guard = self._guard(before, after)
        if guard is not None:
            violations.append(guard)
        order = ("required", "policy", "quality")
        violations.sort(key=lambda v: (order.index(v.band), v.kind == "guard"))
        return Judgement(tuple(violations), ratio, matrices)

    def _guard(self, before: Image, after: Image) -> Violation | None:
        """A byte that changed although no store writes it."""
        if not self.stores and np.array_equal(before, after):
            return None
        rest = after.copy()
        for stored in self.stores:
            stored.region.copy(before, rest)
        changed = np.flatnonzero(rest != before)
        if not changed.size:
            return None
        first = int(changed[0])
        unit = self.buffer.pointee.bytes
        nearest = self._nearest(first)
        message = (
            f"{changed.size} bytes of {self.buffer.name} changed that no store writes; the first "
            f"is byte {first} (pointee element {first // unit}): 0x{before[first]:02x} became "
            f"0x{after[first]:02x}"
        )
        if nearest:
            message += f", {nearest}"
        detail = {
            "worst": {
                "buffer": self.buffer.name,
                "byte": first,
                "expected": f"0x{before[first]:02x}",
                "actual_bits": f"0x{after[first]:02x}",
            },
            "changed": int(changed.size),
            "bytes": changed[:64].tolist(),
            "pattern": nearest,
            "explanation": "a store writes the elements of its matrix and nothing else",
        }
        return Violation("required", "guard", message, detail)

    def _nearest(self, byte: int) -> str:
        """Where a byte lies, seen from the elements."""
        ends = [(stored.region.base, stored.region.end) for stored in self.stores]
        if not ends:
            return "the buffer is only read"
        if all(byte < base for base, _ in ends):
            return "before the first element"
        if all(byte >= end for _, end in ends):
            return "after the last element"
        return "between the elements"
