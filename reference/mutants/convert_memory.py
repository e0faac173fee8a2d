"""Faults of converting cooperative vector matrices: sizes, places, commands."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from cts.device.protocol import Conversion, Convert, Dispatch, Matrix, Reply
from cts.program.model import Component
from cts.program.vector import MatrixLayout
from reference.component import Bits, bits_dtype
from reference.convert import saturated_bits
from reference.convert_judge import SUCCESS
from reference.device_convert import Converter
from reference.mutants.base import Executor, Fault, Mutant
from reference.mutants.converter import converter_mutant
from reference.vector_layout import line_bytes, strided_bytes, strided_positions

_ROW, _COLUMN, _INFERENCING, _TRAINING = MatrixLayout


class SizeOffByARow(Converter):
    """The size query counts one row too few."""

    def size(self, conversion: Conversion) -> int:
        short = conversion.columns * Component(conversion.destination.component).bytes
        return max(1, super().size(conversion) - short)


class SizeFromSource(Converter):
    """The size is worked out with the source's component type."""

    def size(self, conversion: Conversion) -> int:
        return super().size(
            dataclasses.replace(
                conversion,
                destination=dataclasses.replace(
                    conversion.destination, component=conversion.source.component
                ),
            )
        )


class SizeFromIgnoredStride(Converter):
    """The size of an optimal layout grows with the stride, which it should ignore."""

    def size(self, conversion: Conversion) -> int:
        ignored = conversion.destination.stride
        return super().size(conversion) + (
            ignored if MatrixLayout(conversion.destination.layout).optimal else 0
        )


class NullSourceRefused(Converter):
    """A size query without a source gives VK_ERROR_UNKNOWN."""

    def convert(
        self, memory: NDArray[np.uint8], conversion: Conversion, host: bool, number: int
    ) -> tuple[int, int]:
        if conversion.null_source:
            return -13, 0
        return super().convert(memory, conversion, host, number)


class SuccessWhenTooSmall(Converter):
    """Too small a destination is filled anyway, with VK_SUCCESS."""

    def convert(
        self, memory: NDArray[np.uint8], conversion: Conversion, host: bool, number: int
    ) -> tuple[int, int]:
        given = conversion.destination.size
        if conversion.null_destination or given >= self.size(conversion):
            return super().convert(memory, conversion, host, number)
        wide = np.resize(memory, len(memory) + self.size(conversion))
        enough = dataclasses.replace(conversion.destination, size=self.size(conversion))
        super().convert(wide, dataclasses.replace(conversion, destination=enough), host, number)
        memory[:] = wide[: len(memory)]
        return SUCCESS, given


class CapacityAsWritten(Converter):
    """*pDstSize stays what the caller gave."""

    def convert(
        self, memory: NDArray[np.uint8], conversion: Conversion, host: bool, number: int
    ) -> tuple[int, int]:
        result, count = super().convert(memory, conversion, host, number)
        given = conversion.destination.size
        return result, count if conversion.null_destination else given


class ColumnAsRow(Converter):
    """A column-major source is read as if it were row-major."""

    def read(self, memory: NDArray[np.uint8], side: Matrix, rows: int, columns: int) -> Bits:
        if side.layout != _COLUMN:
            return super().read(memory, side, rows, columns)
        turned = dataclasses.replace(side, layout=int(_ROW))
        size = Component(side.component).bytes
        at = side.offset + strided_positions(columns, rows, _ROW, side.stride, size)
        raw = np.ascontiguousarray(memory[at]).view(bits_dtype(Component(turned.component)))
        return raw[..., 0].reshape(rows, columns)


class BothSidesTransposed(Converter):
    """Rows and columns are exchanged wherever a matrix is column-major, on both sides alike."""

    def positions(self, side: Matrix, rows: int, columns: int) -> NDArray[np.int64]:
        at = super().positions(side, rows, columns)
        if side.layout != _COLUMN or rows != columns:
            return at
        return at.transpose(1, 0, 2)


class StrideIgnored(Converter):
    """The lines of a strided destination are packed tightly."""

    def write(self, memory: NDArray[np.uint8], side: Matrix, bits: Bits) -> None:
        layout, component = MatrixLayout(side.layout), Component(side.component)
        if not layout.optimal:
            tight = line_bytes(len(bits), bits.shape[1], component, layout)
            side = dataclasses.replace(side, stride=tight)
        super().write(memory, side, bits)


class TightRefused(Converter):
    """A stride that is equal to the line gives VK_ERROR_UNKNOWN."""

    def convert(
        self, memory: NDArray[np.uint8], conversion: Conversion, host: bool, number: int
    ) -> tuple[int, int]:
        shape = conversion.rows, conversion.columns
        for side in (conversion.source, conversion.destination):
            layout, component = MatrixLayout(side.layout), Component(side.component)
            if not layout.optimal and side.stride == line_bytes(*shape, component, layout):
                return -13, 0
        return super().convert(memory, conversion, host, number)


class PaddingOverwritten(Converter):
    """The padding of a strided destination is zeroed."""

    def write(self, memory: NDArray[np.uint8], side: Matrix, bits: Bits) -> None:
        layout, component = MatrixLayout(side.layout), Component(side.component)
        if not layout.optimal:
            size = strided_bytes(len(bits), bits.shape[1], component, layout, side.stride)
            memory[side.offset : side.offset + size] = 0
        super().write(memory, side, bits)


class GuardWritten(Converter):
    """The byte after the destination is written too."""

    def convert(
        self, memory: NDArray[np.uint8], conversion: Conversion, host: bool, number: int
    ) -> tuple[int, int]:
        result, count = super().convert(memory, conversion, host, number)
        if not conversion.null_destination and result == SUCCESS:
            memory[conversion.destination.offset + self.size(conversion)] ^= 0xFF
        return result, count


class LastRowDropped(Converter):
    """The last row is lost where the rows are no multiple of four."""

    def write(self, memory: NDArray[np.uint8], side: Matrix, bits: Bits) -> None:
        if len(bits) % 4 and MatrixLayout(side.layout).optimal:
            bits = bits.copy()
            bits[-1] = 0
        super().write(memory, side, bits)


class ColumnsWrap(Converter):
    """Columns from 256 on start over at 0 in the training-optimal layout."""

    def write(self, memory: NDArray[np.uint8], side: Matrix, bits: Bits) -> None:
        if side.layout == _TRAINING and bits.shape[1] > 256:
            bits = bits[:, np.arange(bits.shape[1]) % 256]
        super().write(memory, side, bits)


class HostAddressAligned(Converter):
    """A host source address is rounded down to a multiple of four."""

    def read(self, memory: NDArray[np.uint8], side: Matrix, rows: int, columns: int) -> Bits:
        aligned = dataclasses.replace(side, offset=side.offset // 4 * 4)
        return super().read(memory, aligned, rows, columns)


class SecondIgnored(Converter):
    """Of the conversions in one device command only the first is made."""

    def run(self, request: Convert) -> Reply:
        self._command = {0}
        first = 0
        for step in request.steps:
            self._command.add(first)
            first += step
        return super().run(request)

    def convert(
        self, memory: NDArray[np.uint8], conversion: Conversion, host: bool, number: int
    ) -> tuple[int, int]:
        if not host and number not in self._command:
            return SUCCESS, conversion.destination.size
        return super().convert(memory, conversion, host, number)


class OnlyHost(Converter):
    """Whatever the mutant does to the host command; the device command is right."""

    _host = False

    def convert(
        self, memory: NDArray[np.uint8], conversion: Conversion, host: bool, number: int
    ) -> tuple[int, int]:
        self._host = host
        return super().convert(memory, conversion, host, number)


class HostSaturates(OnlyHost):
    """The host saturates where the device goes to infinity or NaN."""

    def change(
        self, bits: Bits, source: Component, destination: Component, conversion: Conversion
    ) -> Bits:
        if self._host and destination.is_float:
            return saturated_bits(bits, source, destination)
        return super().change(bits, source, destination, conversion)


class HostOrder(OnlyHost):
    """The host's training-optimal layout has the rows of a tile in another order."""

    def positions(self, side: Matrix, rows: int, columns: int) -> NDArray[np.int64]:
        at = super().positions(side, rows, columns)
        return at[::-1] if self._host and side.layout == _TRAINING else at


class _NotSeen(Fault):
    """A shader doesn't see what a conversion in the same command buffer made."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        """The reply where the conversion came too late."""
        if not request.preparations:
            return execute(request)
        late = execute(request)
        stale = execute(dataclasses.replace(request, preparations=()))
        kept = {one.destination for one in request.preparations}
        buffers = [
            late.buffers[i] if i % len(request.buffers) in kept else data
            for i, data in enumerate(stale.buffers)
        ]
        return dataclasses.replace(late, buffers=tuple(buffers))


MUTANTS = (
    Mutant("convert_not_seen_by_shader", "conversion", (_NotSeen.__doc__ or "").strip(), _NotSeen),
    converter_mutant("convert_size_off_by_a_row", SizeOffByARow),
    converter_mutant("convert_size_from_source", SizeFromSource),
    converter_mutant("convert_size_from_ignored_stride", SizeFromIgnoredStride),
    converter_mutant("convert_null_source_refused", NullSourceRefused),
    converter_mutant("convert_success_when_too_small", SuccessWhenTooSmall),
    converter_mutant("convert_capacity_as_written", CapacityAsWritten),
    converter_mutant("convert_column_as_row", ColumnAsRow),
    converter_mutant("convert_both_sides_transposed", BothSidesTransposed),
    converter_mutant("convert_stride_ignored", StrideIgnored),
    converter_mutant("convert_tight_refused", TightRefused),
    converter_mutant("convert_padding_overwritten", PaddingOverwritten),
    converter_mutant("convert_guard_written", GuardWritten),
    converter_mutant("convert_last_row_dropped", LastRowDropped),
    converter_mutant("convert_columns_wrap", ColumnsWrap),
    converter_mutant("convert_host_address_aligned", HostAddressAligned),
    converter_mutant("convert_second_ignored", SecondIgnored),
    converter_mutant("convert_host_saturates", HostSaturates),
    converter_mutant("convert_host_order", HostOrder),
)
