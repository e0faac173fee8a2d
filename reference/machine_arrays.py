"""How the concrete machine makes matrices of the invocations' arrays, and back: invocation by
invocation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cts.program.qcom import FromArrays, ToArrays
from cts.program.types import MatrixType, Use
from reference.component import Bits, bits_dtype
from reference.layout import Image

if TYPE_CHECKING:
    from cts.program.model import Program


class ArraySteps:
    """The steps; :class:`reference.machine.Machine` has them, and mutants override them."""

    program: Program
    values: dict[str, Bits]
    types: dict[str, MatrixType]
    images: dict[str, Image]

    def from_arrays(self, statement: FromArrays) -> Bits:
        """A matrix for each tile, of the arrays of its invocations."""
        matrix = statement.type
        tiles = self.program.grid.tiles
        found = np.zeros((tiles, matrix.rows, matrix.columns), bits_dtype(matrix.component))
        lines, length = self.shares(matrix)
        size = matrix.component.bytes
        whole = statement.length or length
        image = self.images[statement.buffer]
        for tile in range(tiles):
            for lane in range(lines):
                at = ((tile * lines + lane) * whole + statement.start) * size
                line = image[at : at + length * size].view(found.dtype)
                if matrix.use is Use.B:
                    found[tile, :, lane] = line
                else:
                    found[tile, lane] = line
        return found

    def to_arrays(self, statement: ToArrays) -> None:
        """Every invocation stores its array."""
        matrix, bits = self.types[statement.value], self.values[statement.value]
        lines, length = self.shares(matrix)
        size = matrix.component.bytes
        image = self.images[statement.buffer]
        for tile in range(self.program.grid.tiles):
            for lane in range(lines):
                line = bits[tile, :, lane] if matrix.use is Use.B else bits[tile, lane]
                at = (tile * lines + lane) * length * size
                image[at : at + length * size] = np.ascontiguousarray(line).view(np.uint8)

    def shares(self, matrix: MatrixType) -> tuple[int, int]:
        """(invocations with a part of the matrix, elements of each)."""
        if matrix.use is Use.B:
            return matrix.columns, matrix.rows
        return matrix.rows, matrix.columns
