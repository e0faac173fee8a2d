"""What the buffers of a cooperative vector program may hold, and what to say where they don't."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cts.program.types import Buffer
from reference.accept import Accept, Acceptance, Band, Level, Verdict, verdict
from reference.component import Bits, bits_dtype, decode, number, text
from reference.expectation import MAP_LIMIT, BandName, Judgement, Violation, error_map

_BANDS: dict[Level, BandName] = {
    Level.REQUIRED: "required",
    Level.POLICY: "policy",
    Level.QUALITY: "quality",
}
Image = NDArray[np.uint8]


@dataclass(frozen=True)
class StoredVectors:
    """Components that invocations wrote: ``positions`` are [invocations, components, bytes].

    ``lanes`` numbers the invocations; for a sum that several invocations added up there are
    none, and a component is an element in memory.
    """

    value: str
    lanes: NDArray[np.int64] | None
    positions: NDArray[np.int64]
    accept: Acceptance

    def read(self, image: Image) -> Bits:
        """The components, [invocations, components, 1]."""
        raw = np.ascontiguousarray(image[self.positions])
        bits: Bits = raw.view(bits_dtype(self.accept.component))
        return bits

    def judge(self, buffer: str, before: Image, after: Image) -> tuple[Violation | None, float]:
        """Compares the components; (the violation, the worst ratio)."""
        actual = self.read(after)
        outcome = verdict(self.accept, actual)
        if outcome.level is Level.FINE or outcome.levels is None:
            return None, outcome.worst_ratio
        found = self._violation(buffer, self.read(before), actual, outcome)
        return found, outcome.worst_ratio

    def name(self, tile: int) -> str:
        """Whose components the row ``tile`` holds."""
        return "memory" if self.lanes is None else f"invocation {int(self.lanes[tile])}"

    def _violation(self, buffer: str, before: Bits, actual: Bits, outcome: Verdict) -> Violation:
        assert outcome.levels is not None
        wrong = (outcome.levels == outcome.level)[..., 0]
        tile = int(wrong.sum(axis=1).argmax())
        accept = self.accept.part(slice(tile, tile + 1))
        ratios = accept.ratios(actual[tile : tile + 1])[0, :, 0]
        measured = accept.measured(actual[tile : tile + 1])[0, :, 0]
        component = int(np.where(wrong[tile], ratios + 1, -1.0).argmax())
        element = int(actual[tile, component, 0])
        kind = accept.component
        accepted = accept.band(outcome.level).at((0, component, 0), accept.shape, kind)
        bits = f"0x{element:0{kind.bytes * 2}x}"
        pattern = self._pattern(wrong, before, actual)
        message = (
            f"component {component} of {self.value} of {self.name(tile)} in {buffer} is {bits} "
            f"({text(element, kind)}), accepted: {accepted}; {int(wrong.sum())} of {wrong.size} "
            "components are wrong"
        )
        if pattern:
            message += f" ({pattern})"
        exact = ""
        if accept.exact is not None:
            exact = number(float(np.broadcast_to(accept.exact, accept.shape)[0, component, 0]))
        detail = {
            "worst": {
                "buffer": buffer,
                "value": self.value,
                "place": f"component {component} of {self.value} of {self.name(tile)}",
                "invocation": None if self.lanes is None else int(self.lanes[tile]),
                "row": tile,
                "column": component,
                "actual_bits": bits,
                "actual": text(element, kind),
                "exact": exact,
                "accepted": accepted,
                "ratio": float(ratios[component]) if measured[component] else math.inf,
            },
            "expected": accepted,
            "wrong": int(wrong.sum()),
            "elements": int(wrong.size),
            "invocations": self._wrong_lanes(wrong),
            "errors": self._map(wrong, actual),
            "pattern": pattern,
            "explanation": accept.reason,
        }
        ratio = float(ratios[component])
        return Violation(_BANDS[outcome.level], "value", message, detail, ratio)

    def _map(self, wrong: NDArray[np.bool_], actual: Bits) -> dict[str, Any]:
        """The errors of the components: a row for each vector, which is an invocation's."""
        cut = wrong[:MAP_LIMIT]
        accept, shown = self.accept.part(slice(len(cut))), actual[: len(cut)]
        found = error_map(cut, accept.ratios(shown)[..., 0], accept.measured(shown)[..., 0])
        if self.lanes is not None:
            found |= {"down": "vector", "across": "component"}
        return found

    def _wrong_lanes(self, wrong: NDArray[np.bool_]) -> list[int]:
        if self.lanes is None:
            return []
        return [int(lane) for lane in self.lanes[wrong.any(axis=1)][:64]]

    def _pattern(self, wrong: NDArray[np.bool_], before: Bits, actual: Bits) -> str:
        """What the wrong components have in common; empty where nothing stands out."""
        found = []
        if (actual[..., 0][wrong] == before[..., 0][wrong]).all():
            found.append("they weren't written")
        rows: NDArray[np.bool_] = np.asarray(wrong.any(axis=1))
        columns = wrong.any(axis=0)
        if columns.sum() == 1 and wrong.shape[1] > 1:
            found.append(f"all are component {int(columns.argmax())}")
        if rows.sum() == 1 and wrong.shape[0] > 1:
            found.append(f"all are of {self.name(int(rows.argmax()))}")
        if self.lanes is not None and not rows.all():
            found += _lane_pattern(self.lanes, rows)
        due = self.accept.part(slice(None)).exact
        if due is not None and self.lanes is not None and len(self.lanes) > 1:
            found += self._swapped(np.broadcast_to(due, actual.shape)[..., 0], wrong, actual)
        return "; ".join(found)

    def _swapped(
        self, due: NDArray[np.float64], wrong: NDArray[np.bool_], actual: Bits
    ) -> list[str]:
        """Whether wrong vectors are those of another invocation."""
        values = decode(actual, self.accept.component)[..., 0]
        rows = wrong.any(axis=1)
        found = []
        for label, source in (
            ("of invocation 0", np.zeros(len(due), int)),
            ("of the invocation before", np.maximum(np.arange(len(due)) - 1, 0)),
            ("of the invocation after", np.minimum(np.arange(len(due)) + 1, len(due) - 1)),
            ("of the last invocation", np.full(len(due), len(due) - 1)),
        ):
            other = due[source]
            if (values[rows] == other[rows]).all() and (other[rows] != due[rows]).any():
                found.append(f"each wrong vector is the one {label}")
        return found


def _lane_pattern(lanes: NDArray[np.int64], rows: NDArray[np.bool_]) -> list[str]:
    wrong = lanes[rows]
    right = lanes[~rows]
    if len(wrong) < 2:
        return []
    if wrong.min() > right.max():
        return [f"all are of invocations from {int(wrong.min())} on"]
    if (wrong % 2 == wrong[0] % 2).all() and (right % 2 != wrong[0] % 2).all():
        return [f"all are of {'odd' if wrong[0] % 2 else 'even'} invocations"]
    return []


@dataclass(frozen=True)
class VectorExpectation:
    """What one buffer may hold after a dispatch: the components that were written, each with its
    acceptance set, opaque matrices that were accumulated into, and every other byte as it was."""

    buffer: Buffer
    initial: bytes
    stores: Sequence[StoredVectors] = ()
    free: Sequence[tuple[int, int]] = ()
    """Ranges of bytes that say nothing by themselves."""
    vectors: int = 0
    """How many vectors were stored."""

    def check(self, actual: bytes) -> Judgement:
        """Compares ``actual`` with the expectation; violations come worst first. ValueError if
        its length differs."""
        if len(actual) != len(self.initial):
            raise ValueError(f"{self.buffer.name} has {len(self.initial)} bytes, got {len(actual)}")
        before, after = (np.frombuffer(b, np.uint8) for b in (self.initial, actual))
        violations: list[Violation] = []
        ratio = 0.0
        for stored in self.stores:
            found, worst = stored.judge(self.buffer.name, before, after)
            ratio = max(ratio, worst)
            if found is not None:
                violations.append(found)
        guard = self._guard(before, after)
        if guard is not None:
            violations.append(guard)
        order = ("required", "policy", "quality")
        violations.sort(key=lambda v: (order.index(v.band), v.kind == "guard"))
        return Judgement(tuple(violations), ratio, self.vectors)

    def _guard(self, before: Image, after: Image) -> Violation | None:
        """A byte that changed although no instruction writes it."""
        if np.array_equal(before, after):
            return None
        changed = before != after
        for stored in self.stores:
            changed[stored.positions] = False
        for start, end in self.free:
            changed[start:end] = False
        where = np.flatnonzero(changed)
        if not where.size:
            return None
        first = int(where[0])
        message = (
            f"{where.size} bytes of {self.buffer.name} changed that nothing writes; the first is "
            f"byte {first}: 0x{before[first]:02x} became 0x{after[first]:02x}"
        )
        detail = {
            "worst": {
                "buffer": self.buffer.name,
                "byte": first,
                "expected": f"0x{before[first]:02x}",
                "actual_bits": f"0x{after[first]:02x}",
            },
            "changed": int(where.size),
            "bytes": where[:64].tolist(),
            "pattern": "",
            "explanation": "an instruction writes the components of its vector and nothing else",
        }
        return Violation("required", "guard", message, detail)


def whole(accept: Accept, rows: int, columns: int) -> Accept:
    """The acceptance set of accumulated elements as that of one matrix."""
    if accept.shape != (1, rows * columns, 1):
        raise ValueError(f"{accept.shape} isn't a matrix of {rows} x {columns}")
    return _reshaped(accept, (1, rows, columns))


def _reshaped(accept: Accept, shape: tuple[int, int, int]) -> Accept:
    def band(one: Band) -> Band:
        return Band(
            None if one.bits is None else one.bits.reshape(shape),
            None if one.low is None else one.low.reshape(shape),
            None if one.high is None else one.high.reshape(shape),
            one.flags if isinstance(one.flags, int) else one.flags.reshape(shape),
        )

    policy = accept.policy if isinstance(accept.policy, Band) else accept.policy()
    return replace(
        accept,
        shape=shape,
        required=band(accept.required),
        policy=band(policy),
        tight=band(accept.tight),
        exact=None if accept.exact is None else accept.exact.reshape(shape),
        bound=accept.bound if isinstance(accept.bound, float) else accept.bound.reshape(shape),
    )
