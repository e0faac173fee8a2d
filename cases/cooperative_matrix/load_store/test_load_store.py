"""OpCooperativeMatrixLoadKHR and OpCooperativeMatrixStoreKHR: bits, layouts, strides, pointee
types, storage classes, and the bytes that must stay as they were."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import COMPONENTS, LAYOUT_PAIRS, POINTED, STORAGE_PAIRS
from cts.draw.combinations import matrix_types
from cts.draw.grids import MAX_TILES
from cts.draw.layouts import PointeeKind, Style
from cts.draw.programs import LAYOUTS, Slot, copies, fits
from cts.draw.recipes import bit_recipes
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import Component, Layout, MatrixType, Storage
from cts.subject import Subject

LOAD = "SPV_KHR_cooperative_matrix#OpCooperativeMatrixLoadKHR"
STORE = "SPV_KHR_cooperative_matrix#OpCooperativeMatrixStoreKHR"
PRESERVING = "VkSpec#spirvenv-precision-operation"


def _matrices(subject: Subject, component: Component) -> tuple[MatrixType, ...]:
    """Advertised matrix types with ``component``; not supported if there are none."""
    found = matrix_types(subject.info, component)
    subject.require(bool(found), f"no advertised subgroup matrix has {component.label} components")
    return found


def _copy(
    subject: Subject,
    data: st.DataObject,
    component: Component,
    *,
    specials: bool = False,
    load: Sequence[Layout] = LAYOUTS,
    store: Sequence[Layout] = LAYOUTS,
    kind: PointeeKind = PointeeKind.SAME,
    storage: tuple[Storage, Storage] = (Storage.STORAGE_BUFFER, Storage.STORAGE_BUFFER),
    load_styles: Sequence[Style] = (),
    store_styles: Sequence[Style] = (),
    tiles: int = MAX_TILES,
) -> None:
    """Draw a copy of matrices through memory and check every byte of both buffers."""

    def slots(matrix: MatrixType) -> tuple[Slot, Slot]:
        return (
            Slot("x", matrix, False, load, load_styles, kind, storage[0]),
            Slot("y", matrix, True, store, store_styles, kind, storage[1]),
        )

    found = [it for it in _matrices(subject, component) if fits(subject.info, slots(it))]
    subject.require(bool(found), f"no {component.label} matrix fits into workgroup memory")
    source, target = slots(data.draw(members(found), label="matrix"))
    recipes = bit_recipes(component, specials=specials)
    sample = data.draw(copies(subject.info, source, target, recipes, tiles=tiles), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.load_store.bits",
    rows=("M-01",),
    spec=PRESERVING,
    requirement="A load followed by a store brings back every bit pattern of the component type.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS},
)
def test_bits(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _copy(subject, data, axes.component, specials=True)


@case(
    id="cooperative_matrix.load_store.layout",
    rows=("M-02",),
    spec=LOAD,
    requirement="Element (r, c) lies r strides and c components (row-major) or c strides and r "
    "components (column-major) after the pointer, for loads and stores independently.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS, "layouts": LAYOUT_PAIRS},
)
def test_layout(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    pair = axes.layouts
    _copy(subject, data, axes.component, load=(pair.first,), store=(pair.second,))


@case(
    id="cooperative_matrix.load_store.pointee",
    rows=("M-02",),
    spec=LOAD,
    requirement="The stride counts elements of the type that the pointer points to, which may be "
    "wider, narrower or a vector, whatever the component type of the matrix.",
    level=Level.REQUIRED,
    axes={"pointed": POINTED},
)
def test_pointee(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _copy(subject, data, axes.pointed.component, kind=axes.pointed.kind)


@case(
    id="cooperative_matrix.load_store.storage",
    rows=("M-04",),
    spec="VkSpec#VUID-StandaloneSpirv-Pointer-08973",
    requirement="Matrices are loaded from and stored to storage buffers, physical storage buffers "
    "and workgroup memory alike.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS, "storage": STORAGE_PAIRS},
)
def test_storage(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    pair = axes.storage
    _copy(subject, data, axes.component, storage=(pair.first, pair.second))


@case(
    id="cooperative_matrix.load_store.repeated",
    rows=("M-03",),
    spec=LOAD,
    requirement="A load with stride 0 repeats one row (row-major) or column (column-major).",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS},
)
def test_repeated(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _copy(subject, data, axes.component, load_styles=(Style.REPEATED,))


@case(
    id="cooperative_matrix.load_store.untouched",
    rows=("M-03",),
    spec=STORE,
    requirement="A store writes the elements of the matrix and nothing else: padding between "
    "lines, the space between tiles and whatever follows keep their bytes.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS, "storage": tuple(Storage)},
)
def test_untouched(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    styles = (Style.PADDED, Style.SIDE_BY_SIDE, Style.ODD, Style.FAR)
    storage = (Storage.STORAGE_BUFFER, axes.storage)
    _copy(subject, data, axes.component, storage=storage, store_styles=styles)
