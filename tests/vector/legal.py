"""Converters that a conforming device might have, and that differ from the reference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cts.device.protocol import Conversion, Matrix
from cts.program.model import Component
from cts.program.vector import MatrixLayout
from reference.component import Bits, decode
from reference.convert import saturated_bits
from reference.device_convert import Converter
from reference.vector_layout import strided_positions


class Saturating(Converter):
    """Finite values beyond the range become the largest finite value, everywhere."""

    def change(
        self, bits: Bits, source: Component, destination: Component, conversion: Conversion
    ) -> Bits:
        right = super().change(bits, source, destination, conversion)
        if source is destination:
            return right
        finite = np.isfinite(decode(bits, source))
        return np.where(finite, saturated_bits(bits, source, destination), right)


class OtherOrder(Converter):
    """Optimal layouts are column-major without padding."""

    def positions(self, side: Matrix, rows: int, columns: int) -> NDArray[np.int64]:
        size = Component(side.component).bytes
        if MatrixLayout(side.layout).optimal:
            return strided_positions(rows, columns, MatrixLayout.COLUMN_MAJOR, rows * size, size)
        return super().positions(side, rows, columns)


LEGAL = (Saturating, OtherOrder)
