"""Strategies for cooperative vector programs: launches, places in memory, numbers.

Offsets keep the alignments that the validity rules ask for: matrices 64 bytes, everything else
16 (VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10097 to …OuterProductAccumulateNV-10101).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.recipes import SEEDS
from cts.program.records import VECTOR
from cts.program.sense import sensible
from cts.program.types import Buffer, Component, Numbers, Pointee, Storage
from cts.program.vector import Index, Opaque, Place, Prepared, Spread
from cts.program.vector_program import Launch, VectorProgram, VectorStatement
from cts.program.vector_records import MEMBERS, most_components
from reference.component import Bits, bits_dtype
from reference.layout import poison
from reference.operands import random_words

UNIT = 16
"""Alignment of vectors and biases in bytes."""
MATRIX_UNIT = 64
TAIL = 64
"""Bytes behind the last vector that nothing may touch."""

VECTOR_COMPONENTS = (
    Component.FLOAT16,
    Component.FLOAT32,
    Component.SINT8,
    Component.UINT8,
    Component.SINT32,
    Component.UINT32,
)
"""Component types that vectors of the required combinations, or of today's drivers, have."""

LAUNCHES = (
    Launch(1, 1),
    Launch(1, 3),
    Launch(2, 5),
    Launch(1, 32),
    Launch(1, 33),
    Launch(3, 17),
    Launch(1, 64),
    Launch(2, 71),
)
"""Whole and partly filled subgroups, one and several workgroups."""

LOAD_SPREADS = tuple(Spread)
STORE_SPREADS = (Spread.INVOCATION, Spread.REVERSED, Spread.TABLE)


def reported(info: DeviceInfo) -> set[int]:
    """Component types that vectors may have (VUID-RuntimeSpirv-OpTypeCooperativeVector-10095): of
    the records that make sense, and none where vectors may have no component."""
    if most_components(info) == 0:
        return set()
    listed = [record for record in info.records.get(VECTOR, ()) if sensible(record)]
    return {record[member] for record in listed for member in MEMBERS}


_LENGTHS = (15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128)


@st.composite
def lengths(draw: st.DrawFn, info: DeviceInfo, most: int = 1 << 30) -> int:
    """Numbers of components: small ones, edges of powers of two, the largest."""
    limit = min(most, most_components(info))
    found = draw(st.one_of(st.integers(1, 9), st.integers(1, 40), st.sampled_from(_LENGTHS)))
    if found > 120 and draw(st.booleans()):
        found = limit
    return min(found, limit)


NUMBERS = st.sampled_from(
    (
        Numbers.BUFFER,
        Numbers.BUFFER,
        Numbers.BUFFER,
        Numbers.LITERAL,
        Numbers.SPECIALIZATION,
    )
)
"""Mostly numbers from a buffer, so that pipelines are used again."""


# --- places -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Area:
    """Equal slots of ``size`` bytes in a buffer, ``pitch`` bytes apart from ``base`` on, and which
    of them each invocation uses."""

    index: Index
    base: int
    pitch: int
    size: int
    slots: int
    chosen: tuple[int, ...]
    """The slot of each invocation."""

    @property
    def length(self) -> int:
        """Bytes up to the end of the last slot, and the tail."""
        return self.base + (self.slots - 1) * self.pitch + self.size + TAIL

    def offset(self, slot: int) -> int:
        """Where a slot begins."""
        return self.base + slot * self.pitch

    def image(self, bits: Bits, component: Component, salt: int = 0) -> bytes:
        """Poison, with ``bits`` [slots, components] in the slots."""
        data = poison(self.length, salt)
        raw = np.ascontiguousarray(bits.astype(bits_dtype(component))).view(np.uint8)
        for slot in range(self.slots):
            start = self.offset(slot)
            data[start : start + raw.shape[1]] = raw[slot]
        return data.tobytes()


@st.composite
def areas(
    draw: st.DrawFn,
    launch: Launch,
    size: int,
    spreads: Sequence[Spread],
    *,
    unit: int = UNIT,
    most: int = 64,
    pitch: int | None = None,
) -> Area:
    """Where slots of ``size`` bytes lie. A TABLE for stores is a permutation; for loads every
    invocation takes any of at most ``most`` slots."""
    count = launch.invocations
    spread = draw(st.sampled_from(tuple(spreads)), label="spread")
    if pitch is None:
        gap = draw(st.sampled_from((0, 0, 1, 3)), label="gap")
        pitch = (-(-size // unit) + gap) * unit
    base = draw(st.sampled_from((0, 0, 1, 5)), label="base") * unit
    cluster = 1
    table: tuple[int, ...] = ()
    if spread is Spread.UNIFORM:
        slots, chosen = 1, (0,) * count
    elif spread is Spread.CLUSTERED:
        cluster = draw(st.sampled_from((2, 5, 3, 8)), label="cluster")
        slots, chosen = -(-count // cluster), tuple(i // cluster for i in range(count))
    elif spread is Spread.REVERSED:
        slots, chosen = count, tuple(range(count - 1, -1, -1))
    elif spread is Spread.TABLE:
        words = random_words(draw(SEEDS, label="table"), (count,))
        if Spread.UNIFORM in spreads:
            slots = min(count, most)
            chosen = tuple(int(word) for word in words % np.uint64(slots))
        else:
            slots, chosen = count, tuple(int(i) for i in np.argsort(words, kind="stable"))
        table = chosen
    else:
        slots, chosen = count, tuple(range(count))
    index = Index(base, pitch, spread, cluster, table)
    return Area(index, base, pitch, size, slots, chosen)


# --- programs -----------------------------------------------------------------------------------


@dataclass
class Draft:
    """A program and its inputs while they are put together."""

    launch: Launch
    body: list[VectorStatement] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    inputs: dict[str, bytes] = field(default_factory=dict)
    opaque: list[Opaque] = field(default_factory=list)
    prepared: list[Prepared] = field(default_factory=list)
    numbers: Numbers = Numbers.BUFFER
    specialized: frozenset[str] = frozenset()

    def memory(
        self,
        name: str,
        component: Component,
        data: bytes,
        storage: Storage = Storage.STORAGE_BUFFER,
        lanes: int = 1,
    ) -> None:
        """Add a buffer that begins as ``data``, rounded up to whole elements."""
        pointee = Pointee(component, lanes)
        whole = -(-len(data) // max(pointee.bytes, 4)) * max(pointee.bytes, 4)
        data += bytes(whole - len(data))
        size = len(data) // pointee.bytes
        if storage is Storage.WORKGROUP:
            data = data * self.launch.workgroups
        self.buffers.append(Buffer(name, pointee, size, storage))
        self.inputs[name] = data

    def vectors(
        self,
        name: str,
        area: Area,
        bits: Bits | None,
        component: Component,
        storage: Storage = Storage.STORAGE_BUFFER,
        lanes: int = 1,
    ) -> Place:
        """Add a buffer with vectors in the slots of ``area`` (None: poison alone)."""
        salt = len(self.buffers)
        if bits is None:
            data = poison(area.length, salt).tobytes()
        else:
            data = area.image(bits, component, salt)
        self.memory(name, component, data, storage, lanes)
        return Place(name, area.index)

    def program(self) -> VectorProgram:
        """The program."""
        return VectorProgram(
            self.launch,
            tuple(self.buffers),
            tuple(self.body),
            self.numbers,
            self.specialized,
            opaque=tuple(self.opaque),
            prepared=tuple(self.prepared),
        )
