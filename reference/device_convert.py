"""vkConvertCooperativeVectorMatrixNV and vkCmdConvertCooperativeVectorMatrixNV of the reference
device.

It is a driver, so it also refuses what no caller may ask (the validity rules of
VkConvertCooperativeVectorMatrixInfoNV): a request that breaks one raises ValueError with the
rule's name, which ends a case as the suite's own error.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cts.device.protocol import Conversion, Convert, Dispatch, Matrix, Reply
from cts.program.model import Component
from cts.program.vector import MatrixLayout
from reference.component import Bits
from reference.convert import convertible, rounded_bits
from reference.convert_judge import INCOMPLETE, SUCCESS
from reference.vector_layout import (
    gather,
    line_bytes,
    scatter,
    strided_bytes,
    strided_positions,
)
from reference.vector_opaque import optimal_bytes, optimal_positions, padding

_FLOAT8 = (Component.FLOAT8_E4M3, Component.FLOAT8_E5M2)
_COMMAND_ALIGNMENT = 64


def _with_room(data: bytes, end: int) -> NDArray[np.uint8]:
    """A copy of ``data``, with zeros behind it up to ``end``. A device that states too small a
    size writes there, into what belongs to others."""
    memory = np.zeros(max(len(data), end), np.uint8)
    memory[: len(data)] = np.frombuffer(data, np.uint8)
    return memory


class Converter:
    """Runs conversions. The methods are the steps of a conversion, so that a mutant can get one
    of them wrong. ``matrices`` are the component types that some advertised combination has as
    matrixInterpretation."""

    def __init__(self, matrices: Collection[Component]) -> None:
        self.matrices = frozenset(matrices)

    def run(self, request: Convert) -> Reply:
        """Answer a request; ValueError where it is invalid usage."""
        for broken in self.invalid(request):
            raise ValueError(f"invalid usage: {broken}")
        ends = (
            side.offset + self._size(conversion, side)
            for conversion in request.conversions
            for side in (conversion.source, conversion.destination)
        )
        memory = _with_room(request.memory, max(ends, default=0))
        results, counts = [], []
        for number, conversion in enumerate(request.conversions):
            result, count = self.convert(memory, conversion, request.host, number)
            results.append(result)
            counts.append(count if request.host else conversion.destination.size)
        return Reply(
            buffers=(memory[: len(request.memory)].tobytes(),),
            counts=tuple(counts),
            results=tuple(results) if request.host else (),
        )

    def prepare(self, request: Dispatch) -> list[bytes]:
        """The buffers of a dispatch after the conversions before its shader. ValueError where
        one is invalid usage."""
        buffers = [one.data for one in request.buffers]
        for number, one in enumerate(request.preparations):
            conversion = one.conversion
            for rule in self._rules(conversion, False):
                raise ValueError(f"invalid usage: {rule} by preparation {number}")
            source, destination = conversion.source, conversion.destination
            memory = _with_room(buffers[one.source], source.offset + self._size(conversion, source))
            bits = self.read(memory, source, conversion.rows, conversion.columns)
            changed = self.change(
                bits, Component(source.component), Component(destination.component), conversion
            )
            before = buffers[one.destination]
            end = destination.offset + self._size(conversion, destination)
            memory = _with_room(before, end)
            self.write(memory, destination, changed)
            buffers[one.destination] = memory[: len(before)].tobytes()
        return buffers

    def convert(
        self, memory: NDArray[np.uint8], conversion: Conversion, host: bool, number: int
    ) -> tuple[int, int]:
        """One conversion in place: (VkResult, *pDstSize). ``number`` is its position in the
        request."""
        size = self.size(conversion)
        if conversion.null_destination:
            return SUCCESS, size
        if conversion.destination.size < size:
            return INCOMPLETE, 0
        bits = self.read(memory, conversion.source, conversion.rows, conversion.columns)
        source = Component(conversion.source.component)
        destination = Component(conversion.destination.component)
        changed = self.change(bits, source, destination, conversion)
        self.write(memory, conversion.destination, changed)
        return SUCCESS, size

    def size(self, conversion: Conversion) -> int:
        """Bytes of the destination."""
        return self._size(conversion, conversion.destination)

    def stated(self, conversion: Conversion, side: Matrix) -> int:
        """The bytes of a side that a caller knows of: what a size query says."""
        return self.size(replace(conversion, source=side, destination=side))

    def read(self, memory: NDArray[np.uint8], side: Matrix, rows: int, columns: int) -> Bits:
        """The bits of a matrix [rows, columns]."""
        component = Component(side.component)
        return gather(memory, side.offset + self.positions(side, rows, columns), component)

    def change(
        self, bits: Bits, source: Component, destination: Component, conversion: Conversion
    ) -> Bits:
        """The bits in the destination's component type."""
        return rounded_bits(bits, source, destination)

    def write(self, memory: NDArray[np.uint8], side: Matrix, bits: Bits) -> None:
        """Write a matrix, and in an optimal layout its padding."""
        rows, columns = bits.shape
        component, layout = Component(side.component), MatrixLayout(side.layout)
        if layout.optimal:
            size = optimal_bytes(rows, columns, component, layout)
            fill = np.frombuffer(padding(component, layout), np.uint8)
            memory[side.offset : side.offset + size] = np.resize(fill, size)
        at = self.positions(side, rows, columns)
        scatter(memory, side.offset + at, bits, component)

    def positions(self, side: Matrix, rows: int, columns: int) -> NDArray[np.int64]:
        """Where the bytes of a matrix are, from its start: [rows, columns, bytes]."""
        layout, size = MatrixLayout(side.layout), Component(side.component).bytes
        if layout.optimal:
            return optimal_positions(rows, columns, layout, size)
        return strided_positions(rows, columns, layout, side.stride, size)

    @staticmethod
    def _size(conversion: Conversion, side: Matrix) -> int:
        rows, columns = conversion.rows, conversion.columns
        component, layout = Component(side.component), MatrixLayout(side.layout)
        if layout.optimal:
            return optimal_bytes(rows, columns, component, layout)
        return strided_bytes(rows, columns, component, layout, side.stride)

    # --- validity ---------------------------------------------------------------------------

    def invalid(self, request: Convert) -> list[str]:
        """The validity rules that a request breaks, each with the conversion that does."""
        broken = []
        for number, conversion in enumerate(request.conversions):
            for rule in self._rules(conversion, request.host):
                broken.append(f"{rule} by conversion {number}")
        first = 0
        for step in request.steps or (len(request.conversions),):
            group = request.conversions[first : first + step]
            first += step
            if self._overlap(group, request.host, len(request.memory)):
                broken.append("VUID-vkCmdConvertCooperativeVectorMatrixNV-None-10088")
        if first != len(request.conversions):
            broken.append("the steps don't add up to the conversions")
        return broken

    def _rules(self, conversion: Conversion, host: bool) -> list[str]:
        source, destination = conversion.source, conversion.destination
        name = "VUID-VkConvertCooperativeVectorMatrixInfoNV-"
        command = "VUID-vkCmdConvertCooperativeVectorMatrixNV-pInfo-"
        into = Component(destination.component)
        checks = {
            name + "srcLayout-10077": self._stride(conversion, source),
            name + "dstLayout-10078": self._stride(conversion, destination),
            name + "srcComponentType-10079": self._known(Component(source.component)),
            name + "dstComponentType-10080": self._known(into),
            name + "srcComponentType-10081": convertible(Component(source.component), into),
            name + "dstComponentType-10082": into not in _FLOAT8
            or MatrixLayout(destination.layout).optimal,
            "VUID-vkConvertCooperativeVectorMatrixNV-pInfo-10073": conversion.null_destination
            or not conversion.null_source,
            "VUID-vkConvertCooperativeVectorMatrixNV-pInfo-10074": conversion.null_source
            or source.size >= self.stated(conversion, source),
            command + "10895": host or not (conversion.null_source or conversion.null_destination),
            command + "10084": host or source.offset % _COMMAND_ALIGNMENT == 0,
            command + "10085": host or destination.offset % _COMMAND_ALIGNMENT == 0,
            # The host command's text gives a result for this call; see row C-02.
            command + "10087": host or destination.size >= self.stated(conversion, destination),
        }
        return [rule for rule, kept in checks.items() if not kept]

    def _stride(self, conversion: Conversion, side: Matrix) -> bool:
        component, layout = Component(side.component), MatrixLayout(side.layout)
        if layout.optimal:
            return True
        # "Greater than" in the text; equal is what every caller uses, and the suite tests both.
        line = line_bytes(conversion.rows, conversion.columns, component, layout)
        return side.stride >= line and side.stride % component.bytes == 0

    def _known(self, component: Component) -> bool:
        return component is Component.FLOAT32 or component in self.matrices

    def _overlap(self, group: tuple[Conversion, ...], host: bool, memory: int) -> bool:
        """Whether ranges meet that must not: all of one command, or the two of a host call."""
        used: list[tuple[int, int]] = []
        for conversion in group:
            if host:
                used = []
            for side, null in (
                (conversion.source, conversion.null_source),
                (conversion.destination, conversion.null_destination),
            ):
                if null:
                    continue
                size = max(self.stated(conversion, side), side.size)
                start, end = side.offset, side.offset + size
                if end > memory or any(start < e and s < end for s, e in used):
                    return True
                used.append((start, end))
        return False
