"""Faults of loads and stores: layouts, strides, offsets, tiles, padding."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Address, Layout, Load, MatrixType, Storage, Store
from reference.component import Bits
from reference.layout import Image, Region
from reference.machine import Machine
from reference.mutants.base import machine_mutant

ADDRESSING = "load and store addressing"
SUBGROUPS = "subgroup and wave size"


def positions(where: Region) -> NDArray[np.int64]:
    """Every byte's position, [workgroups, subgroups, rows, columns, bytes]."""
    found: NDArray[np.int64] = np.full((1,), where.base, np.int64)
    for extent, step in (*zip(where.extents, where.steps, strict=True), (where.size, 1)):
        found = found[..., None] + np.arange(extent) * step
    return found.reshape(*where.extents, where.size)


class Addressing(Machine):
    """Reads and writes through positions, so that a wrong address can't leave the buffer: what
    lies outside reads as zero and is not written."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        """The region that is used instead."""
        return where

    def region_of(self, matrix: MatrixType, address: Address, store: bool) -> Region:
        """The region that is used."""
        return self.wrong(self.region(matrix, address), matrix, address, store)

    def load(self, statement: Load) -> Bits:
        """Reads from the wrong region."""
        where = self.region_of(statement.type, statement.address, store=False)
        image = self.images[statement.address.buffer]
        at = positions(where)
        raw = np.where(at < len(image), image[np.minimum(at, len(image) - 1)], np.uint8(0))
        bits: Bits = np.ascontiguousarray(raw).view(f"<u{where.size}").reshape(where.shape)
        return self._loaded(bits, statement.type)

    def store(self, statement: Store) -> None:
        """Writes to the wrong region, in the order of the tiles."""
        where = self.region_of(self.types[statement.value], statement.address, store=True)
        image: Image = self.images[statement.address.buffer]
        values = np.ascontiguousarray(self.values[statement.value])
        at = positions(where).reshape(-1)
        inside = at < len(image)
        image[at[inside]] = values.view(np.uint8).reshape(-1)[inside]


def _mirrored(where: Region) -> Region:
    groups, subgroups, rows, columns = where.steps
    return dataclasses.replace(where, steps=(groups, subgroups, columns, rows))


class LoadIgnoresLayout(Addressing):
    """Loads read row-major matrices as column-major."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        mirrored = address.layout is Layout.ROW_MAJOR and not store
        return _mirrored(where) if mirrored else where


class BothIgnoreLayout(Addressing):
    """Loads and stores take row-major for column-major, so that square copies look right."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        return _mirrored(where) if address.layout is Layout.ROW_MAJOR else where


class StrideInComponents(Addressing):
    """The stride counts components of the matrix instead of elements of the pointed-to type."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        line = address.stride * matrix.component.bytes
        groups, subgroups, rows, columns = where.steps
        if address.layout is Layout.ROW_MAJOR:
            return dataclasses.replace(where, steps=(groups, subgroups, line, columns))
        return dataclasses.replace(where, steps=(groups, subgroups, rows, line))


class StrideZeroAsTight(Addressing):
    """A stride of 0 is taken for lines without padding."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        if address.stride:
            return where
        groups, subgroups, rows, columns = where.steps
        if address.layout is Layout.ROW_MAJOR:
            tight = (groups, subgroups, matrix.columns * where.size, columns)
        else:
            tight = (groups, subgroups, rows, matrix.rows * where.size)
        return dataclasses.replace(where, steps=tight)


class StrideRoundedUp(Addressing):
    """Strides are rounded up to a power of two."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        line = (1 << (address.stride - 1).bit_length()) if address.stride else 0
        line *= self.buffer(address.buffer).pointee.bytes
        groups, subgroups, rows, columns = where.steps
        if address.layout is Layout.ROW_MAJOR:
            return dataclasses.replace(where, steps=(groups, subgroups, line, columns))
        return dataclasses.replace(where, steps=(groups, subgroups, rows, line))


class OffsetIgnored(Addressing):
    """Loads from workgroup memory ignore the offset: all subgroups read the first tile."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        if store or self.buffer(address.buffer).storage is not Storage.WORKGROUP:
            return where
        return dataclasses.replace(where, base=0, steps=(where.steps[0], 0, *where.steps[2:]))


class FirstTileStored(Addressing):
    """The stores of a workgroup's second subgroup land on the first one's tile."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        if not store:
            return where
        return dataclasses.replace(where, steps=(where.steps[0], 0, *where.steps[2:]))


class FirstWorkgroupLoaded(Addressing):
    """Every workgroup loads the first workgroup's matrices."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        return where if store else dataclasses.replace(where, steps=(0, *where.steps[1:]))


class PaddingWritten(Machine):
    """A store also writes the byte after each line of the matrix, if it belongs to no line."""

    def store(self, statement: Store) -> None:
        super().store(statement)
        where = self.region(self.types[statement.value], statement.address)
        image = self.images[statement.address.buffer]
        own = positions(where).reshape(-1)
        after = np.setdiff1d(own + 1, own)
        image[after[after < len(image)]] ^= 0xFF


class LastRowLost(Machine):
    """A store leaves out the last row of matrices with more rows than columns."""

    def store(self, statement: Store) -> None:
        where = self.region(self.types[statement.value], statement.address)
        image = self.images[statement.address.buffer]
        bits = np.array(self.values[statement.value])
        if bits.shape[1] > bits.shape[2]:
            bits[:, -1] = where.read(image)[:, -1]
        where.write(image, bits)


MUTANTS = (
    machine_mutant("load_ignores_layout", ADDRESSING, LoadIgnoresLayout),
    machine_mutant("both_ignore_layout", ADDRESSING, BothIgnoreLayout),
    machine_mutant("stride_in_components", ADDRESSING, StrideInComponents),
    machine_mutant("stride_zero_as_tight", ADDRESSING, StrideZeroAsTight),
    machine_mutant("stride_rounded_up", ADDRESSING, StrideRoundedUp),
    machine_mutant("offset_ignored_in_workgroup", ADDRESSING, OffsetIgnored),
    machine_mutant("second_subgroup_stores_on_first", SUBGROUPS, FirstTileStored),
    machine_mutant("first_workgroup_loaded", SUBGROUPS, FirstWorkgroupLoaded),
    machine_mutant("store_writes_padding", "robustness", PaddingWritten),
    machine_mutant("last_row_lost", ADDRESSING, LastRowLost),
)
