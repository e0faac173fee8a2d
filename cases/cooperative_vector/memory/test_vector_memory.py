"""OpCooperativeVectorLoadNV and OpCooperativeVectorStoreNV: bits, lengths, offsets, storage."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.conversion import available
from cts.draw.recipes import bit_recipes
from cts.draw.vector import (
    LAUNCHES,
    LOAD_SPREADS,
    NUMBERS,
    STORE_SPREADS,
    VECTOR_COMPONENTS,
    Draft,
    areas,
    lengths,
    reported,
)
from cts.program.types import Component, Storage
from cts.program.vector import Spread, VectorLoad, VectorStore, VectorType
from cts.program.vector_program import Launch
from cts.program.vector_records import most_components
from cts.subject import Subject
from reference.operands import realise

LOAD = "SPV_NV_cooperative_vector#OpCooperativeVectorLoadNV"
STORE = "SPV_NV_cooperative_vector#OpCooperativeVectorStoreNV"
SMALL = tuple(launch for launch in LAUNCHES if launch.local_size <= 33)
SHARED_MOST = 64
"""Components of vectors in workgroup memory, so that it holds one for each invocation."""


def _require(subject: Subject, component: Component) -> None:
    available(subject)
    subject.require(component in reported(subject.info), f"no record has {component.label} vectors")


def _copy(
    subject: Subject,
    data: st.DataObject,
    component: Component,
    *,
    length: int | None = None,
    storage: tuple[Storage, Storage] = (Storage.STORAGE_BUFFER, Storage.STORAGE_BUFFER),
    spreads: tuple[Sequence[Spread], Sequence[Spread]] = (LOAD_SPREADS, STORE_SPREADS),
    lanes: int = 1,
) -> None:
    """Draw a copy of vectors through memory and check every byte of both buffers."""
    shared = Storage.WORKGROUP in storage
    launch = data.draw(st.sampled_from(SMALL if shared else LAUNCHES), label="launch")
    if length is None:
        most = SHARED_MOST if shared else 1 << 30
        length = data.draw(lengths(subject.info, most), label="length")
    size = length * component.bytes
    draft = Draft(launch, numbers=data.draw(NUMBERS, label="numbers"))
    group = Launch(1, launch.local_size)
    places = []
    for name, kind, ways in (("a", storage[0], spreads[0]), ("b", storage[1], spreads[1])):
        within = group if kind is Storage.WORKGROUP else launch
        area = data.draw(areas(within, size, ways), label=name)
        bits = None
        if name == "a":
            recipe = data.draw(bit_recipes(component), label="recipe")
            bits = realise(recipe, component, area.slots, length, 1)[0]
        places.append(draft.vectors(name, area, bits, component, kind, lanes))
    kind = VectorType(component, length)
    draft.body = [VectorLoad("x", kind, places[0]), VectorStore("x", places[1])]
    subject.check(draft.program(), draft.inputs)


@case(
    id="cooperative_vector.memory.bits",
    rows=("V-04",),
    spec=LOAD,
    requirement="A load followed by a store brings back every bit pattern, at every length up to "
    "the largest.",
    axes={"component": VECTOR_COMPONENTS},
)
def test_bits(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _require(subject, axes.component)
    _copy(subject, data, axes.component)


@case(
    id="cooperative_vector.memory.lengths",
    rows=("V-04",),
    spec=STORE,
    requirement="A vector of every length from 1 to the largest is loaded and stored whole, and "
    "no byte behind its last component changes.",
    axes={"component": (Component.FLOAT16, Component.FLOAT32, Component.SINT8)},
    examples=2.0,
)
def test_lengths(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _require(subject, axes.component)
    length = data.draw(st.integers(1, most_components(subject.info)), label="length")
    _copy(subject, data, axes.component, length=length)


@case(
    id="cooperative_vector.memory.offsets",
    rows=("V-04",),
    spec=LOAD,
    requirement="The offset counts bytes from the start of the array and may differ between "
    "invocations in any way.",
    axes={"load": LOAD_SPREADS, "store": STORE_SPREADS},
)
def test_offsets(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _require(subject, Component.FLOAT16)
    _copy(subject, data, Component.FLOAT16, spreads=((axes.load,), (axes.store,)))


@dataclasses.dataclass(frozen=True)
class Classes:
    """A value of a ``storage`` axis."""

    load: Storage
    store: Storage

    @property
    def label(self) -> str:
        """``workgroup-storage_buffer``."""
        return f"{self.load.label}-{self.store.label}"


@case(
    id="cooperative_vector.memory.storage",
    rows=("V-04",),
    spec=LOAD,
    requirement="Vectors are loaded from and stored to storage buffers, physical storage buffers "
    "and workgroup memory alike.",
    axes={
        "component": (Component.FLOAT16, Component.SINT8, Component.UINT32),
        "storage": tuple(Classes(a, b) for a in Storage for b in Storage),
    },
)
def test_storage(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _require(subject, axes.component)
    _copy(subject, data, axes.component, storage=(axes.storage.load, axes.storage.store))


@case(
    id="cooperative_vector.memory.pointee",
    rows=("V-04",),
    spec=LOAD,
    requirement="The pointer may point to an array of scalars or of vectors; the offset counts "
    "bytes either way.",
    axes={"lanes": (2, 4)},
)
def test_pointee(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _require(subject, Component.FLOAT16)
    _copy(subject, data, Component.FLOAT16, lanes=axes.lanes)
