"""Drives the conversion commands of VK_NV_cooperative_vector for cases: asks for sizes, lays
matrices out in one block of memory with poison between them, and reports what the judge finds.

The rules are in :mod:`reference.convert_judge`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cts.device.protocol import Conversion, Convert, DeviceInfo, Matrix, Reply
from cts.findings import (
    Finding,
    GuardTouched,
    PolicyProperty,
    PolicyValue,
    QualityProperty,
    QualityValue,
    WrongProperty,
    WrongValue,
)
from cts.outcome import Level
from cts.program.model import Component
from cts.program.sense import sensible
from cts.program.vector import MatrixLayout
from cts.subject import Subject
from reference.component import Bits, decode
from reference.convert import Elements, convertible
from reference.convert_judge import Judgement, judge, judge_size
from reference.layout import poison
from reference.queries import VECTOR
from reference.rules import Violation
from reference.vector_layout import (
    gather,
    line_bytes,
    scatter,
    strided_bytes,
    strided_positions,
)

EXTENSION = "VK_NV_cooperative_vector"
FEATURE = "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVector"
FLOAT8 = (Component.FLOAT8_E4M3, Component.FLOAT8_E5M2)
GUARD = 64
"""Bytes of poison before, between and behind the matrices of a request."""

LARGEST = 1 << 28
"""Bytes of one matrix that the suite is ready to set aside."""

_PROPERTIES: Mapping[Level, type[Finding]] = {
    Level.REQUIRED: WrongProperty,
    Level.POLICY: PolicyProperty,
    Level.QUALITY: QualityProperty,
}
_VALUES: Mapping[Level, type[Finding]] = {
    Level.REQUIRED: WrongValue,
    Level.POLICY: PolicyValue,
    Level.QUALITY: QualityValue,
}


@dataclass(frozen=True)
class Side:
    """How a matrix is stored. ``stride`` counts bytes; an optimal layout ignores it."""

    component: Component
    layout: MatrixLayout
    stride: int = 0


@dataclass(frozen=True)
class Region:
    """A matrix that lies in memory: its bytes, and its elements where only its history tells
    them (optimal layouts)."""

    rows: int
    columns: int
    side: Side
    data: bytes
    elements: Elements | None = None


@dataclass(frozen=True)
class Hop:
    """One conversion to make: from a region to ``side``, in a destination ``room`` bytes larger
    than needed."""

    source: Region
    side: Side
    room: int = 0


def available(subject: Subject) -> None:
    """Not supported unless the device has the extension and its feature."""
    info = subject.info
    subject.require(EXTENSION in info.extensions, f"the device doesn't list {EXTENSION}")
    subject.require(FEATURE in info.features, "cooperativeVector isn't supported")


def matrix_components(info: DeviceInfo) -> set[Component]:
    """Component types that conversions may use: FLOAT32, and what some combination has as
    matrixInterpretation (VUID-VkConvertCooperativeVectorMatrixInfoNV-srcComponentType-10079).
    Those of records that no program of the suite can use are left out."""
    listed = [record for record in info.records.get(VECTOR, ()) if sensible(record)]
    return {Component(record["matrixInterpretation"]) for record in listed} | {Component.FLOAT32}


def require_types(subject: Subject, *components: Component) -> None:
    """Not supported unless conversions may use all these component types, in this order."""
    available(subject)
    usable = matrix_components(subject.info)
    for component in components:
        subject.require(
            component in usable, f"no combination has {component.label} as matrixInterpretation"
        )
    for source, destination in itertools.pairwise(components):
        if not convertible(source, destination):
            raise ValueError(f"{source.label} can't be converted to {destination.label}")


def tight(rows: int, columns: int, component: Component, layout: MatrixLayout) -> int:
    """The stride in bytes with no padding."""
    return line_bytes(rows, columns, component, layout)


def source(rows: int, columns: int, side: Side, bits: Bits) -> Region:
    """A row- or column-major matrix that holds ``bits`` [rows, columns], poison around."""
    size = strided_bytes(rows, columns, side.component, side.layout, side.stride)
    memory = poison(size)
    at = strided_positions(rows, columns, side.layout, side.stride, side.component.bytes)
    scatter(memory, at, bits, side.component)
    return Region(rows, columns, side, memory.tobytes())


class Converting:
    """The conversion commands of one subject. ``rows`` are the requirement rows whose lesser
    findings the case reports; what breaks a required rule is always reported, as no worse than
    ``most``."""

    def __init__(
        self, subject: Subject, rows: Sequence[str], *, most: Level = Level.REQUIRED
    ) -> None:
        self.subject = subject
        self.rows = tuple(rows)
        self.most = most
        self.choices: dict[str, int] = {}
        self._sizes: dict[tuple[int, int, Side], int] = {}

    def size_request(self, wanted: Iterable[tuple[int, int, Side]]) -> Convert:
        """Size queries with null source and destination."""
        conversions = []
        for rows, columns, side in wanted:
            matrix = _matrix(side, 0, 0)
            conversions.append(Conversion(rows, columns, matrix, matrix, True, True))
        return Convert(tuple(conversions), b"", True)

    def sizes(self, wanted: Sequence[tuple[int, int, Side]]) -> list[int]:
        """The destination sizes that the device states, asked once each. A wrong one is raised,
        whatever the case would go on from: with it no request is known to be valid."""
        missing = [it for it in dict.fromkeys(wanted) if it not in self._sizes]
        if missing:
            request = self.size_request(missing)
            reply = self.subject.convert(request)
            for key, conversion, result, count in zip(
                missing, request.conversions, reply.results, reply.counts, strict=True
            ):
                found = judge_size(conversion, result, count)
                for violation in found:
                    if violation.level is Level.REQUIRED:
                        raise self._finding(violation)
                self.report(found)
                rows, columns, _ = key
                self.subject.require(
                    count < LARGEST, f"the device wants {count} bytes for a {rows}x{columns} matrix"
                )
                self._sizes[key] = count
        return [self._sizes[key] for key in wanted]

    def run(
        self, hops: Sequence[Hop], *, host: bool, skew: int = 0, together: bool = False
    ) -> list[Region]:
        """Make independent conversions in one request and judge the reply; the new regions.

        On the host every address is ``skew`` bytes past a multiple of 64. On the device
        (where that isn't allowed) all conversions are in one command if ``together``, else in
        one command each.
        """
        request, sizes, known = self.request(hops, host=host, skew=skew, together=together)
        reply = self.subject.convert(request)
        return self.accept(hops, request, reply, sizes, known)

    def run_chained(self, hops: Sequence[Hop], backs: Sequence[Side]) -> None:
        """Two device commands in one request, with a barrier between them: all ``hops``, then
        the conversion of each result to the side in ``backs``; both are judged."""
        first, sizes, known = self.request(hops, host=False, together=True)
        shapes = [
            (hop.source.rows, hop.source.columns, side)
            for hop, side in zip(hops, backs, strict=True)
        ]
        sizes += self.sizes(shapes)
        conversions = list(first.conversions)
        memory = np.frombuffer(first.memory, np.uint8)
        for made, side, size in zip(first.conversions, backs, sizes[len(hops) :], strict=True):
            start = -(-len(memory) // 64) * 64
            memory = np.concatenate([memory, poison(start + size + GUARD)[len(memory) :]])
            conversions.append(
                dataclasses.replace(
                    made, source=made.destination, destination=_matrix(side, size, start)
                )
            )
        request = Convert(
            tuple(conversions), memory.tobytes(), False, (len(hops), len(conversions) - len(hops))
        )
        reply = self.subject.convert(request)
        judgement = judge(request, reply, sizes, known)
        self._count(judgement)
        self.report(judgement.violations)

    def request(
        self, hops: Sequence[Hop], *, host: bool, skew: int = 0, together: bool = False
    ) -> tuple[Convert, list[int], dict[int, Elements]]:
        """The request of :meth:`run`, its destination sizes, and the elements of its optimal
        sources by offset."""
        shapes = [(hop.source.rows, hop.source.columns, hop.side) for hop in hops]
        sizes = self.sizes(shapes)
        skew = skew if host else 0
        known: dict[int, Elements] = {}
        images: list[tuple[int, bytes]] = []
        conversions = []
        end = 0

        def place(size: int) -> int:
            nonlocal end
            start = -(-(end + GUARD) // 64) * 64 + skew
            end = start + size
            return start

        for hop, size in zip(hops, sizes, strict=True):
            region = hop.source
            start = place(len(region.data))
            images.append((start, region.data))
            if region.elements is not None:
                known[start] = region.elements
            target = place(size + hop.room)
            conversions.append(
                Conversion(
                    region.rows,
                    region.columns,
                    _matrix(region.side, len(region.data), start),
                    _matrix(hop.side, size + hop.room, target),
                )
            )
        memory = poison(end + GUARD)
        for start, data in images:
            memory[start : start + len(data)] = np.frombuffer(data, np.uint8)
        steps = () if together or host else (1,) * len(conversions)
        return Convert(tuple(conversions), memory.tobytes(), host, steps), sizes, known

    def accept(
        self,
        hops: Sequence[Hop],
        request: Convert,
        reply: Reply,
        sizes: Sequence[int],
        known: Mapping[int, Elements],
    ) -> list[Region]:
        """Judge the reply to a request of :meth:`request`; the new regions."""
        judgement = judge(request, reply, sizes, known)
        self._count(judgement)
        self.report(judgement.violations)
        made = []
        for hop, conversion, size in zip(hops, request.conversions, sizes, strict=True):
            start = conversion.destination.offset
            made.append(
                Region(
                    hop.source.rows,
                    hop.source.columns,
                    hop.side,
                    reply.buffers[0][start : start + size],
                    judgement.known.get(start),
                )
            )
        return made

    def numbers(self, region: Region, *, host: bool) -> NDArray[Any]:
        """The elements of ``region`` as numbers [rows, columns]: what one of the commands reads
        where the layout is optimal. Nothing is judged."""
        component, data = region.side.component, region.data
        side = region.side
        if side.layout.optimal:
            component = Component.FLOAT16 if component in FLOAT8 else component
            stride = (region.columns + 1) * component.bytes
            side = Side(component, MatrixLayout.ROW_MAJOR, stride)
            request, _, _ = self.request([Hop(region, side)], host=host)
            destination = request.conversions[0].destination
            reply = self.subject.convert(request)
            data = reply.buffers[0][destination.offset : destination.offset + destination.size]
        at = strided_positions(
            region.rows, region.columns, side.layout, side.stride, component.bytes
        )
        bits = gather(np.frombuffer(data, np.uint8), at, component)
        return decode(bits, component) if component.is_float else bits

    def report(self, violations: Iterable[Violation]) -> None:
        """Hand violations to the subject as findings: all of required rules, others only of
        this case's rows."""
        for violation in violations:
            if violation.level is not Level.REQUIRED and violation.row not in self.rows:
                continue
            self.subject.found(self._finding(violation))

    def _finding(self, violation: Violation) -> Finding:
        if violation.level is Level.REQUIRED:
            violation = dataclasses.replace(violation, level=self.most)
        detail = {"row": violation.row, **violation.detail}
        return _kind(violation)(violation.message, detail)

    def _count(self, judgement: Judgement) -> None:
        for choice, times in judgement.choices.items():
            if times:
                self.choices[choice] = self.choices.get(choice, 0) + times
                self.subject.event("overflow", choice)


def _matrix(side: Side, size: int, offset: int) -> Matrix:
    return Matrix(int(side.component), int(side.layout), side.stride, size, offset)


def _kind(violation: Violation) -> type[Finding]:
    if violation.row in ("C-01", "C-02", "C-04", "C-05", "C-10"):
        return _PROPERTIES[violation.level]
    if violation.row == "C-03":
        return GuardTouched if "before" in violation.detail else _PROPERTIES[violation.level]
    return _VALUES[violation.level]
