"""Faults of loads and stores that show only in some shapes, places or values."""

from __future__ import annotations

import dataclasses

import numpy as np

from cts.program.model import Address, Layout, Load, MatrixType, Storage, Store, Use
from cts.program.types import Component
from reference.component import Bits
from reference.layout import Region
from reference.machine import Machine
from reference.mutants.base import Mutant, machine_mutant
from reference.mutants.memory import Addressing, positions

ADDRESSING = "load and store addressing"
SHAPE = "shape"
WAVES = "subgroup and wave size"
ROBUSTNESS = "robustness"


class Loads(Machine):
    """Changes what a load gives."""

    def changed(self, statement: Load, bits: Bits) -> Bits:
        """The elements that arrive instead; ``bits`` is a copy."""
        return bits

    def load(self, statement: Load) -> Bits:
        return self.changed(statement, np.array(super().load(statement)))


class Stores(Machine):
    """Changes what a store writes."""

    def changed(self, statement: Store, bits: Bits) -> Bits:
        """The elements that are written instead; ``bits`` is a copy."""
        return bits

    def store(self, statement: Store) -> None:
        kept = self.values[statement.value]
        self.values[statement.value] = self.changed(statement, np.array(kept))
        super().store(statement)
        self.values[statement.value] = kept


class OddLinesOfB(Loads):
    """Odd rows of matrices for B are those above them."""

    def changed(self, statement: Load, bits: Bits) -> Bits:
        if statement.type.use is Use.B:
            bits[:, 1::2] = bits[:, ::2][:, : bits[:, 1::2].shape[1]]
        return bits


class LastColumnOfPadded(Loads):
    """The last column of a row-major matrix with padded rows is the one before it."""

    def changed(self, statement: Load, bits: Bits) -> Bits:
        address, matrix = statement.address, statement.type
        line = address.stride * self.buffer(address.buffer).pointee.bytes
        padded = line > matrix.columns * matrix.component.bytes
        if padded and address.layout is Layout.ROW_MAJOR and matrix.columns > 1:
            bits[:, :, -1] = bits[:, :, -2]
        return bits


class TwentyFourColumns(Loads):
    """Matrices with 24 columns lose the last eight."""

    def changed(self, statement: Load, bits: Bits) -> Bits:
        if statement.type.columns == 24:
            bits[:, :, 16:] = 0
        return bits


class NotAPowerOfTwo(Stores):
    """A store of a matrix whose number of rows is no power of two repeats the first row as the
    last."""

    def changed(self, statement: Store, bits: Bits) -> Bits:
        rows = bits.shape[1]
        if rows & (rows - 1):
            bits[:, -1] = bits[:, 0]
        return bits


class LastWorkgroupLost(Stores):
    """The last of several workgroups stores zeros."""

    def changed(self, statement: Store, bits: Bits) -> Bits:
        grid = self.program.grid
        if grid.workgroups > 1:
            bits[-len(bits) // grid.workgroups :] = 0
        return bits


class ThirdSubgroup(Loads):
    """The third subgroup of each workgroup loads the second one's matrix."""

    def changed(self, statement: Load, bits: Bits) -> Bits:
        subgroups = self.program.grid.subgroups
        if subgroups > 2 and len(bits) == self.program.grid.tiles:
            bits[2::subgroups] = bits[1::subgroups]
        return bits


class ManySubgroups(Stores):
    """With more than four subgroups in a workgroup the fifth stores in the place of nobody."""

    def store(self, statement: Store) -> None:
        grid = self.program.grid
        where = self.region(self.types[statement.value], statement.address)
        before = where.read(self.images[statement.address.buffer])
        super().store(statement)
        if grid.subgroups > 4 and len(before) == grid.tiles:
            kept = np.array(where.read(self.images[statement.address.buffer]))
            kept[4 :: grid.subgroups] = before[4 :: grid.subgroups]
            where.write(self.images[statement.address.buffer], kept)


class UnalignedOffset(Addressing):
    """The byte offset of column-major loads is rounded down to a multiple of 16."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        if store or address.layout is Layout.ROW_MAJOR:
            return where
        return dataclasses.replace(where, base=where.base // 16 * 16)


class PhysicalOffset(Addressing):
    """Loads through physical pointers ignore the offset of the first tile."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        physical = self.buffer(address.buffer).storage is Storage.PHYSICAL_STORAGE_BUFFER
        return where if store or not physical else dataclasses.replace(where, base=0)


class StoreStrideOfLoad(Addressing):
    """A column-major store takes the stride for one of rows where it is tight."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        groups, subgroups, rows, _ = where.steps
        if not store or address.layout is Layout.ROW_MAJOR or matrix.rows == matrix.columns:
            return where
        return dataclasses.replace(
            where, steps=(groups, subgroups, rows, matrix.columns * where.size)
        )


class NarrowPointee(Loads):
    """Through a pointer to narrower elements only the low half of each component arrives."""

    def changed(self, statement: Load, bits: Bits) -> Bits:
        component = statement.type.component
        pointee = self.buffer(statement.address.buffer).pointee
        if pointee.component.bits >= component.bits:
            return bits
        return bits & bits.dtype.type((1 << component.bits // 2) - 1)


class VectorPointee(Addressing):
    """Strides through a pointer to vectors count the vector's components."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        pointee = self.buffer(address.buffer).pointee
        if pointee.bytes == pointee.component.bytes:
            return where
        line = address.stride * pointee.component.bytes
        groups, subgroups, rows, columns = where.steps
        if address.layout is Layout.ROW_MAJOR:
            return dataclasses.replace(where, steps=(groups, subgroups, line, columns))
        return dataclasses.replace(where, steps=(groups, subgroups, rows, line))


class PaddingCleared(Machine):
    """A store clears the bytes between its lines."""

    def store(self, statement: Store) -> None:
        where = self.region(self.types[statement.value], statement.address)
        image = self.images[statement.address.buffer]
        own = positions(where)
        lines = (3, 4) if statement.address.layout is Layout.ROW_MAJOR else (2, 4)
        first, last = own.min(axis=lines), own.max(axis=lines)
        ends, starts = last[..., :-1].reshape(-1), first[..., 1:].reshape(-1)
        for end, start in zip(ends.tolist(), starts.tolist(), strict=True):
            image[end + 1 : start] = 0
        super().store(statement)


class TailWritten(Machine):
    """The store of the last tile writes four more bytes."""

    def store(self, statement: Store) -> None:
        super().store(statement)
        where = self.region(self.types[statement.value], statement.address)
        image = self.images[statement.address.buffer]
        image[where.end : where.end + 4] = 0


class OneCode(Loads):
    """A single bit pattern of 16-bit components is read as the next one."""

    def changed(self, statement: Load, bits: Bits) -> Bits:
        if statement.type.component.bits == 16:
            bits[bits == 0x83FF] = 0x8400
        return bits


class MinimumByte(Loads):
    """-128 is read as -127 from 8-bit signed matrices for A."""

    def changed(self, statement: Load, bits: Bits) -> Bits:
        if statement.type.component is Component.SINT8 and statement.type.use is Use.A:
            bits[bits == 0x80] = 0x81
        return bits


class HighWordLost(Stores):
    """64-bit components lose their high half in odd columns."""

    def changed(self, statement: Store, bits: Bits) -> Bits:
        if bits.dtype.itemsize == 8:
            bits[:, :, 1::2] &= np.uint64(0xFFFFFFFF)
        return bits


class WorkgroupRowsSwapped(Loads):
    """Column-major loads from workgroup memory swap the first two columns."""

    def changed(self, statement: Load, bits: Bits) -> Bits:
        address = statement.address
        shared = self.buffer(address.buffer).storage is Storage.WORKGROUP
        if shared and address.layout is Layout.COLUMN_MAJOR:
            bits[:, :, :2] = bits[:, :, 1::-1] if bits.shape[2] == 2 else bits[:, :, [1, 0]]
        return bits


class RepeatedLine(Loads):
    """A column-major load with stride 0 repeats the first element of the column instead of the
    column."""

    def changed(self, statement: Load, bits: Bits) -> Bits:
        address = statement.address
        if address.stride == 0 and address.layout is Layout.COLUMN_MAJOR:
            bits[...] = bits[:, :1]
        return bits


class LargeOffsets(Addressing):
    """The distance between workgroups keeps its low 12 bits only, in column-major loads."""

    def wrong(self, where: Region, matrix: MatrixType, address: Address, store: bool) -> Region:
        if store or address.layout is Layout.ROW_MAJOR:
            return where
        groups, subgroups, rows, columns = where.steps
        return dataclasses.replace(where, steps=(groups & 0xFFF, subgroups, rows, columns))


class CornerLost(Stores):
    """The last element of the last tile isn't written where there is more than one tile."""

    def store(self, statement: Store) -> None:
        where = self.region(self.types[statement.value], statement.address)
        image = self.images[statement.address.buffer]
        before = where.read(image)[-1, -1, -1]
        super().store(statement)
        after = np.array(where.read(image))
        if len(after) > 1:
            after[-1, -1, -1] = before
            where.write(image, after)


MUTANTS: tuple[Mutant, ...] = (
    machine_mutant("odd_rows_of_b_repeat", ADDRESSING, OddLinesOfB),
    machine_mutant("last_column_of_padded_rows", ADDRESSING, LastColumnOfPadded),
    machine_mutant("columns_beyond_16_of_24_lost", SHAPE, TwentyFourColumns),
    machine_mutant("rows_no_power_of_two", SHAPE, NotAPowerOfTwo),
    machine_mutant("last_workgroup_lost", WAVES, LastWorkgroupLost),
    machine_mutant("third_subgroup_loads_second", WAVES, ThirdSubgroup),
    machine_mutant("fifth_subgroup_lost", WAVES, ManySubgroups),
    machine_mutant("offset_rounded_to_16", ADDRESSING, UnalignedOffset),
    machine_mutant("physical_offset_ignored", ADDRESSING, PhysicalOffset),
    machine_mutant("column_major_store_tight", ADDRESSING, StoreStrideOfLoad),
    machine_mutant("narrow_pointee_low_half", ADDRESSING, NarrowPointee),
    machine_mutant("vector_pointee_stride", ADDRESSING, VectorPointee),
    machine_mutant("store_clears_padding", ROBUSTNESS, PaddingCleared),
    machine_mutant("store_writes_tail", ROBUSTNESS, TailWritten),
    machine_mutant("one_code_of_65536", ADDRESSING, OneCode),
    machine_mutant("smallest_byte_of_a", "signedness, saturation", MinimumByte),
    machine_mutant("high_word_lost_in_odd_columns", ADDRESSING, HighWordLost),
    machine_mutant("workgroup_columns_swapped", ADDRESSING, WorkgroupRowsSwapped),
    machine_mutant("stride_zero_repeats_element", ADDRESSING, RepeatedLine),
    machine_mutant("tile_offset_keeps_12_bits", ADDRESSING, LargeOffsets),
    machine_mutant("last_element_not_stored", ADDRESSING, CornerLost),
)
