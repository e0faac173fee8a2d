"""The memory behind a buffer while a program is evaluated: bytes, and who wrote them.

Each tile's statements act in sequence, different tiles' in any order. So a tile may read what it
wrote, or overwrite it, but no tile may touch what another one writes, unless both are of one
workgroup and a barrier of the workgroup lies in between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from reference.component import Flags
from reference.expectation import Lengths, Stored
from reference.layout import Region
from reference.matrix import Undetermined
from reference.settle import single
from reference.values import Exact, Value

NOBODY = -1
_GROUP = 1 << 16
"""Tiles are numbered workgroup * _GROUP + subgroup here."""

Numbers = NDArray[np.int64]


@dataclass
class _Entry:
    """One store. ``value`` is its value while the bytes don't hold it: a sum of floats or a
    scattered matrix, of which no one result is expected."""

    where: Region
    stored: Stored | Lengths
    value: Value | None
    component: Component
    assumed: bool = False


@dataclass
class _Load:
    """One load, the tiles that read each byte, and whether a barrier followed it."""

    where: Region
    readers: Numbers
    fenced: bool = False


class Memory:
    """One buffer's bytes. Bytes whose value isn't determined belong to an open entry."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.image = np.frombuffer(bytearray(data), np.uint8)
        self.entries: list[_Entry] = []
        self.loads: list[_Load] = []
        self.writers: NDArray[np.int32] | None = None
        """The tile that writes each byte."""
        self.visible: Flags | None = None
        """Bytes that were written before a barrier of the workgroup."""

    def stored(self) -> tuple[Stored | Lengths, ...]:
        """The stores that the dispatch leaves visible, in order."""
        return tuple(entry.stored for entry in self.entries)

    def barrier(self) -> None:
        """A barrier of every workgroup."""
        for load in self.loads:
            load.fenced = True
        if self.writers is not None:
            self.visible = self.writers != NOBODY

    def load(self, where: Region, component: Component, turn: int = 0) -> Value:
        """The value of matrices read from ``where``; each tile takes the place of the subgroup
        ``turn`` further on in its workgroup."""
        readers = np.roll(_tile_numbers(where), turn, axis=1)
        self.loads.append(_Load(where, readers))
        self._demand_own(where, readers, "reads")
        assumed = False
        for entry in self.entries:
            if not self._overlap(entry.where, where):
                continue
            known = entry.value
            if known is not None:
                if entry.where == where and known.component is component and not turn:
                    return known
                self._settle(entry)
            if entry.component is not component and entry.component.is_float:
                # The sign of a zero and the bits of a NaN are open.
                raise Undetermined(f"floats in {self.name} are loaded as {component.label}")
            assumed = assumed or entry.assumed
        bits = where.read(self.image)
        if turn:
            grid = bits.reshape(*where.extents)
            bits = np.roll(grid, -turn, axis=1).reshape(where.shape)
        return Exact(component, bits, assumed=assumed)

    def store(
        self,
        where: Region,
        stored: Stored | Lengths,
        value: Value | None = None,
    ) -> None:
        """Writes matrices to ``where``; None for bytes of no single value."""
        if where.overlaps_itself():
            raise Undetermined(f"a store to {self.name} writes some of its bytes twice")
        numbers = _tile_numbers(where)
        self._demand_own(where, numbers, "writes")
        self.entries = [entry for entry in self.entries if entry.where != where]
        if any(self._overlap(entry.where, where) for entry in self.entries):
            raise Undetermined(f"two stores to {self.name} overlap in part")
        if self.writers is None:
            self.writers = np.full(len(self.image), NOBODY, np.int32)
        where.marks(self.writers)[...] = numbers
        if self.visible is not None:
            where.marks(self.visible)[...] = False
        for load in self.loads:
            self._demand_own(load.where, load.readers, "reads", load.fenced)
        still_open, assumed = value, False
        if isinstance(value, Exact):
            where.write(self.image, value.bits)
            still_open = None if value.undefined is None else value
            assumed = value.assumed
        component = Component.UINT32 if value is None else value.component
        self.entries.append(_Entry(where, stored, still_open, component, assumed))

    def claim(self, where: Region, stored: Stored, component: Component) -> None:
        """Notes a store to a buffer that has no other use."""
        if self.entries or self.loads:
            raise Undetermined(f"{self.name} is stored to, and used in another way")
        self.entries.append(_Entry(where, stored, None, component))

    def _demand_own(self, where: Region, tiles: Numbers, what: str, fenced: bool = False) -> None:
        """That no tile reads or writes what another one writes; those of one workgroup may after
        a barrier (``fenced``: the barrier follows)."""
        if self.writers is None:
            return
        owners = where.marks(self.writers)
        foreign = (owners != NOBODY) & (owners != tiles)
        if not foreign.any():
            return
        together = owners // _GROUP == tiles // _GROUP
        if not fenced:
            seen = np.zeros(len(self.image), bool) if self.visible is None else self.visible
            together = together & where.marks(seen)
        if (foreign & ~together).any():
            raise Undetermined(f"a tile {what} bytes of {self.name} that another tile writes")

    def _overlap(self, one: Region, other: Region) -> bool:
        """Whether two regions share a byte."""
        if one.base >= other.end or other.base >= one.end:
            return False
        mask = np.zeros(len(self.image), bool)
        one.marks(mask)[...] = True
        return bool(other.marks(mask).any())

    def _settle(self, entry: _Entry) -> None:
        """Puts an open value into the bytes, if there is only one."""
        known = None if entry.value is None else single(entry.value)
        if known is None or known.undefined is not None:
            raise Undetermined(f"what is loaded from {self.name} has no single value")
        entry.where.write(self.image, known.bits)
        entry.value, entry.assumed = None, known.assumed


def _tile_numbers(where: Region) -> Numbers:
    """The tile of every byte of a region, to compare with its marks."""
    groups, subgroups = np.arange(where.extents[0]), np.arange(where.extents[1])
    return (groups[:, None] * _GROUP + subgroups).reshape(*where.extents[:2], 1, 1, 1)
