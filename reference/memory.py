"""The memory behind a buffer while a program is evaluated: bytes, and who wrote them.

Each tile's statements act in sequence, different tiles' in any order. So a tile may read what it
wrote, or overwrite it, but no tile may touch what another one writes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cts.program.model import Component
from reference.accept import Level
from reference.component import encode
from reference.expectation import Lengths, Stored
from reference.floats import FloatAccept
from reference.layout import Region
from reference.matrix import Undetermined
from reference.values import Exact, FloatSum, Value

NOBODY = -1


@dataclass
class _Entry:
    """One store. ``value`` is its value while the bytes don't hold it: a sum of floats or a
    scattered matrix, of which no one result is expected."""

    where: Region
    stored: Stored | Lengths
    value: Value | None


class Memory:
    """One buffer's bytes. Bytes whose value isn't determined belong to an open entry."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.image = np.frombuffer(bytearray(data), np.uint8)
        self.entries: list[_Entry] = []
        self.loads: list[Region] = []
        self.writers: NDArray[np.int32] | None = None
        """The tile that writes each byte."""

    def stored(self) -> tuple[Stored | Lengths, ...]:
        """The stores that the dispatch leaves visible, in order."""
        return tuple(entry.stored for entry in self.entries)

    def load(self, where: Region, component: Component) -> Value:
        """The value of matrices read from ``where``."""
        self.loads.append(where)
        self._demand_own(where, "reads")
        for entry in self.entries:
            if entry.value is None or not self._overlap(entry.where, where):
                continue
            if entry.where == where and entry.value.component is component:
                return entry.value
            self._settle(entry)
        return Exact(component, where.read(self.image))

    def store(self, where: Region, stored: Stored | Lengths, value: Value | None = None) -> None:
        """Writes matrices to ``where``; None for bytes of no single value."""
        if where.overlaps_itself():
            raise Undetermined(f"a store to {self.name} writes some of its bytes twice")
        self._demand_own(where, "writes")
        self.entries = [entry for entry in self.entries if entry.where != where]
        if any(self._overlap(entry.where, where) for entry in self.entries):
            raise Undetermined(f"two stores to {self.name} overlap in part")
        if self.writers is None:
            self.writers = np.full(len(self.image), NOBODY, np.int32)
        where.marks(self.writers)[...] = _tile_numbers(where)
        for load in self.loads:
            self._demand_own(load, "reads")
        still_open = value
        if isinstance(value, Exact):
            where.write(self.image, value.bits)
            still_open = None if value.undefined is None else value
        self.entries.append(_Entry(where, stored, still_open))

    def _demand_own(self, where: Region, what: str) -> None:
        """That no tile reads or writes what another one writes."""
        if self.writers is None:
            return
        owners = where.marks(self.writers)
        if ((owners != NOBODY) & (owners != _tile_numbers(where))).any():
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
        value = entry.value
        if isinstance(value, FloatSum):
            band = FloatAccept(value).part(slice(None)).band(Level.POLICY)
            interval = band.interval()
            if interval is not None and np.array_equal(*interval) and not np.any(band.flags):
                entry.where.write(self.image, encode(interval[0], value.component))
                entry.value = None
                return
        raise Undetermined(f"what is loaded from {self.name} has no single value")


def _tile_numbers(where: Region) -> NDArray[np.int64]:
    """The tile of every byte of a region, to compare with its marks."""
    return np.arange(where.shape[0]).reshape(*where.extents[:2], 1, 1, 1)
