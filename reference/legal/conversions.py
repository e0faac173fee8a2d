"""Legal choices in the conversion of cooperative vector matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cts.device.protocol import Conversion, Matrix
from cts.program.model import Component
from cts.program.types import Buffer
from cts.program.vector import MatrixLayout, OuterProduct, Weights
from reference.component import Bits, decode, float_format, is_nan
from reference.device_convert import Converter
from reference.legal.base import LegalDevice
from reference.values import Exact
from reference.vector_layout import strided_bytes, strided_positions
from reference.vector_machine import VectorMachine

Positions = NDArray[np.int64]


class Saturates(Converter):
    """What overflows becomes the largest finite value."""

    def change(
        self, bits: Bits, source: Component, destination: Component, conversion: Conversion
    ) -> Bits:
        found = super().change(bits, source, destination, conversion)
        if source is destination:
            return found
        form = float_format(destination)
        values = decode(bits, source)
        beyond = np.isfinite(values) & (np.abs(values) > form.maximum)
        sign = np.where(values < 0, form.sign_bit, 0).astype(found.dtype)
        largest = sign | found.dtype.type(form.maximum_code)
        return np.where(beyond, largest, found)


class OneNan(Converter):
    """Every NaN becomes the same one."""

    def change(
        self, bits: Bits, source: Component, destination: Component, conversion: Conversion
    ) -> Bits:
        found = super().change(bits, source, destination, conversion)
        if not destination.is_float:
            return found
        one = found.dtype.type(float_format(destination).nan_code)
        return np.where(is_nan(found, destination), one, found)


class PositiveZeros(Converter):
    """-0 becomes +0."""

    def change(
        self, bits: Bits, source: Component, destination: Component, conversion: Conversion
    ) -> Bits:
        found = super().change(bits, source, destination, conversion)
        if not destination.is_float:
            return found
        return np.where(decode(found, destination) == 0, found.dtype.type(0), found)


class PaddingCleared(Converter):
    """The bytes between the lines of a strided destination become zero."""

    def write(self, memory: NDArray[np.uint8], side: Matrix, bits: Bits) -> None:
        layout = MatrixLayout(side.layout)
        if not layout.optimal:
            component = Component(side.component)
            size = strided_bytes(len(bits), bits.shape[1], component, layout, side.stride)
            memory[side.offset : side.offset + size] = 0
        super().write(memory, side, bits)


LINE = 256
"""Bytes of a row in the wide layout."""


def _wide_positions(rows: int, columns: int, size: int) -> Positions:
    return strided_positions(
        rows, columns, MatrixLayout.ROW_MAJOR, _wide_stride(columns, size), size
    )


def _wide_stride(columns: int, size: int) -> int:
    return -(-columns * size // LINE) * LINE


class WideRows(Converter):
    """Both optimal layouts are row-major with rows of whole 256 bytes, zeros behind each row."""

    @staticmethod
    def _size(conversion: Conversion, side: Matrix) -> int:
        if not MatrixLayout(side.layout).optimal:
            return Converter._size(conversion, side)
        size = Component(side.component).bytes
        return conversion.rows * _wide_stride(conversion.columns, size)

    def positions(self, side: Matrix, rows: int, columns: int) -> Positions:
        if not MatrixLayout(side.layout).optimal:
            return super().positions(side, rows, columns)
        return _wide_positions(rows, columns, Component(side.component).bytes)

    def write(self, memory: NDArray[np.uint8], side: Matrix, bits: Bits) -> None:
        if not MatrixLayout(side.layout).optimal:
            super().write(memory, side, bits)
            return
        rows, columns = bits.shape
        size = Component(side.component).bytes
        memory[side.offset : side.offset + rows * _wide_stride(columns, size)] = 0
        data = np.ascontiguousarray(bits).view(np.uint8).reshape(rows, columns, size)
        memory[side.offset + self.positions(side, rows, columns)] = data


class WideRowsMachine(VectorMachine):
    """Multiplies with matrices in the layouts of :class:`WideRows`, and accumulates into them."""

    def optimal(self, weights: Weights, at: Positions, rows: int, columns: int) -> Bits:
        component = weights.interpretation
        inner = _wide_positions(rows, columns, component.bytes)
        buffer = self.program.buffer(weights.place.buffer)
        return self.gathered(buffer, at[:, None, None, None] + inner, component)

    def accumulate_product(
        self, it: OuterProduct, buffer: Buffer, at: Positions, a: Exact, b: Exact
    ) -> None:
        left, right = decode(a.bits, a.component), decode(b.bits, b.component)
        inner = _wide_positions(left.shape[1], right.shape[1], it.interpretation.bytes)
        for lane in reversed(range(len(at))):
            self.add(buffer, at[lane] + inner, left[lane] @ right[lane].T, it.interpretation)


class WideRowsDevice(LegalDevice):
    """Has other optimal layouts."""

    converter = WideRows
    vector_machine = WideRowsMachine
