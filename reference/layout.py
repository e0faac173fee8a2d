"""Where the elements of matrices lie in a buffer, and images of memory around them.

SPV_KHR_cooperative_matrix, section "Cooperative Matrix Layout": the elements of row ``r``
(column ``c`` for column-major) are contiguous, starting at ``Pointer[r * Stride]``; the index
counts elements of the type pointed to, which need not be the matrix's component.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Address, Buffer, Grid, Layout, MatrixType, Scope, Storage
from reference.component import Bits, bits_dtype

Image = NDArray[np.uint8]


class OutOfBounds(ValueError):
    """A matrix does not lie wholly inside its buffer."""


@dataclass(frozen=True)
class Region:
    """The byte positions of one matrix per tile: affine in workgroup, subgroup, row and column."""

    base: int
    extents: tuple[int, int, int, int]
    """(workgroups, subgroups, rows, columns); subgroups is 1 for workgroup scope."""
    steps: tuple[int, int, int, int]
    """Bytes from one to the next along each of them."""
    size: int
    """Bytes of an element."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """(tiles, rows, columns)."""
        groups, subgroups, rows, columns = self.extents
        return groups * subgroups, rows, columns

    @property
    def end(self) -> int:
        """One past the last byte of any element."""
        last = sum((n - 1) * step for n, step in zip(self.extents, self.steps, strict=True))
        return self.base + last + self.size

    def position(self, tile: int, row: int, column: int) -> int:
        """The first byte of one element."""
        group, subgroup = divmod(tile, self.extents[1])
        where = (group, subgroup, row, column)
        return self.base + sum(i * step for i, step in zip(where, self.steps, strict=True))

    def read(self, image: Image) -> Bits:
        """The elements, [tiles, rows, columns], as unsigned integers; a copy."""
        return self._view(image).copy().reshape(self.shape)

    def write(self, image: Image, bits: Bits) -> None:
        """Puts elements that broadcast to [tiles, rows, columns] into the image."""
        full = np.broadcast_to(bits, self.shape).reshape(self.extents)
        self._view(image)[...] = full

    def copy(self, source: Image, target: Image) -> None:
        """Copies the elements from one image to another."""
        self._view(target)[...] = self._view(source)

    def marks(self, array: NDArray[Any]) -> NDArray[Any]:
        """A view of an array with one entry for each byte of the image: [workgroups, subgroups,
        rows, columns, bytes of an element]."""
        width = array.itemsize
        steps = [step * width for step in (*self.steps, 1)]
        return np.lib.stride_tricks.as_strided(
            array[self.base :], (*self.extents, self.size), steps
        )

    def overlaps_itself(self) -> bool:
        """Whether two elements share a byte, which a store must not do."""
        covered = self.size
        for step, extent in sorted(zip(self.steps, self.extents, strict=True)):
            if extent > 1:
                if step < covered:
                    return self._counts_twice()
                covered = step * (extent - 1) + covered
        return False

    def _counts_twice(self) -> bool:
        counts = np.zeros(self.end - self.base, np.uint8)
        offsets = np.zeros((1,), np.int64)
        for step, extent in (*zip(self.steps, self.extents, strict=True), (1, self.size)):
            offsets = (offsets[:, None] + np.arange(extent) * step).reshape(-1)
        np.add.at(counts, offsets, 1)
        return bool((counts > 1).any())

    def _view(self, image: Image) -> Bits:
        bits: Bits = np.ndarray(
            self.extents, f"<u{self.size}", buffer=image.data, offset=self.base, strides=self.steps
        )
        return bits


def region(matrix: MatrixType, address: Address, buffer: Buffer, grid: Grid) -> Region:
    """Where the matrices of a dispatch lie; :class:`OutOfBounds` if not inside the buffer.

    ``grid.tiles`` matrices for subgroup scope, ``grid.workgroups`` for workgroup scope.
    """
    unit = buffer.pointee.bytes
    size = matrix.component.bytes
    subgroups = grid.subgroups if matrix.scope is Scope.SUBGROUP else 1
    pitch = address.pitch * unit
    if buffer.storage is Storage.WORKGROUP:
        slice_bytes = buffer.size * unit
        group_step = slice_bytes
    else:
        slice_bytes = buffer.backing_bytes(grid.workgroups)
        group_step = pitch * subgroups
    along = address.stride * unit
    rows = along if address.layout is Layout.ROW_MAJOR else size
    columns = size if address.layout is Layout.ROW_MAJOR else along
    found = Region(
        address.offset * unit,
        (grid.workgroups, subgroups, matrix.rows, matrix.columns),
        (group_step, pitch, rows, columns),
        size,
    )
    used = found.end - (grid.workgroups - 1) * group_step * (buffer.storage is Storage.WORKGROUP)
    if min(address.offset, address.stride, address.pitch) < 0 or used > slice_bytes:
        raise OutOfBounds(
            f"{matrix} at {address} needs {used} bytes of {buffer.name}, which has {slice_bytes}"
        )
    return found


def poison(length: int, salt: int = 0) -> Image:
    """Bytes that depend on their position, for memory that nothing may use or change."""
    position = np.arange(salt * 0x10001, salt * 0x10001 + length, dtype=np.uint64)
    mixed = (position + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(56)).astype(np.uint8)


def poisoned(buffer: Buffer, grid: Grid, salt: int = 0) -> Image:
    """A poisoned image of the memory behind ``buffer``."""
    return poison(buffer.backing_bytes(grid.workgroups), salt)


def place(
    bits: Bits, matrix: MatrixType, address: Address, buffer: Buffer, grid: Grid, image: Image
) -> None:
    """Writes matrices [tiles, rows, columns] into the image where ``address`` says.

    With stride 0 every row (column-major: column) is the same memory, so the first one is what is
    written and what a load repeats.
    """
    where = region(matrix, address, buffer, grid)
    full = np.broadcast_to(np.asarray(bits, bits_dtype(matrix.component)), where.shape)
    if address.stride == 0:
        axis = 1 if address.layout is Layout.ROW_MAJOR else 2
        full = np.take(full, [0], axis=axis)
    where.write(image, full)
