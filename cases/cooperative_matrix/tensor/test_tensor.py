"""OpCooperativeMatrixLoadTensorNV and …StoreTensorNV: tensor layouts and views of one to five
dimensions, slices, strides, clamp modes, permutations and clips."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import COMPONENTS
from cts.draw.programs import Sample
from cts.draw.shapes import matrix_types
from cts.draw.tensor_programs import tensor_copies
from cts.draw.tensors import layouts, views
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import Component, MatrixType, Storage, Use
from cts.program.tensor import Clamp
from cts.subject import Subject

LOAD = "SPV_NV_cooperative_matrix2#OpCooperativeMatrixLoadTensorNV"
STORE = "SPV_NV_cooperative_matrix2#OpCooperativeMatrixStoreTensorNV"
LAYOUT = "SPV_NV_tensor_addressing#OpTypeTensorLayoutNV"
VIEW = "SPV_NV_tensor_addressing#OpTypeTensorViewNV"
RANKS = (1, 2, 3, 4, 5)
WHOLE = tuple(it for it in COMPONENTS if it.is_integer)


def _matrix(
    subject: Subject, data: st.DataObject, components: Sequence[Component] = COMPONENTS
) -> MatrixType:
    subject.require_needs("TensorAddressing")
    found = [
        matrix
        for component in components
        for use in Use
        for matrix in matrix_types(subject.info, use, component)
    ]
    subject.require(bool(found), "no matrix of these components is advertised")
    component = data.draw(members(sorted({it.component for it in found})), label="component")
    use = data.draw(members(sorted({it.use for it in found if it.component is component})))
    return data.draw(
        members([it for it in found if it.component is component and it.use is use][:8]),
        label="matrix",
    )


def _check(subject: Subject, sample: Sample) -> None:
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.tensor.load",
    rows=("M-23",),
    spec=LOAD,
    requirement="A load through a layout takes the elements of its slice in order; a coordinate "
    "outside of the tensor is what the clamp mode says.",
    level=Level.REQUIRED,
    axes={"clamp": tuple(Clamp), "rank": RANKS},
)
def test_load(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data)
    drawn = data.draw(layouts(matrix, axes.rank, axes.clamp), label="layout")
    _check(subject, data.draw(tensor_copies(subject.info, matrix, drawn), label="program"))


@case(
    id="cooperative_matrix.tensor.component",
    rows=("M-23", "M-01"),
    spec=LOAD,
    requirement="Loads and stores through tensor layouts keep the bits of every component type.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS},
)
def test_component(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, (axes.component,))
    rank = data.draw(st.integers(1, 3), label="rank")
    storing = data.draw(st.booleans(), label="storing")
    drawn = data.draw(layouts(matrix, rank, Clamp.UNDEFINED, storing=storing), label="layout")
    sample = data.draw(tensor_copies(subject.info, matrix, drawn, storing=storing), label="program")
    _check(subject, sample)


@case(
    id="cooperative_matrix.tensor.clamp_value",
    rows=("M-23",),
    spec="SPV_NV_tensor_addressing#OpTensorLayoutSetClampValueNV",
    requirement="With the constant clamp mode, what is outside of the tensor has the clamp value.",
    level=Level.REQUIRED,
    axes={"rank": RANKS},
)
def test_clamp_value(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, WHOLE)
    drawn = data.draw(layouts(matrix, axes.rank, Clamp.CONSTANT), label="layout")
    _check(subject, data.draw(tensor_copies(subject.info, matrix, drawn), label="program"))


@case(
    id="cooperative_matrix.tensor.store",
    rows=("M-23",),
    spec=STORE,
    requirement="A store through a layout writes the elements of its slice and discards what lies "
    "outside of the tensor, whatever the clamp mode; nothing else changes.",
    level=Level.REQUIRED,
    axes={"clamp": tuple(Clamp), "rank": RANKS},
)
def test_store(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data)
    drawn = data.draw(layouts(matrix, axes.rank, axes.clamp, storing=True), label="layout")
    sample = data.draw(tensor_copies(subject.info, matrix, drawn, storing=True), label="program")
    _check(subject, sample)


@case(
    id="cooperative_matrix.tensor.permutation",
    rows=("M-23",),
    spec=VIEW,
    requirement="A view without dimensions of its own takes those of the slice in the order of its "
    "permutation.",
    level=Level.REQUIRED,
    axes={"rank": RANKS[1:], "storing": (False, True)},
)
def test_permutation(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data)
    drawn = data.draw(
        layouts(matrix, axes.rank, Clamp.UNDEFINED, storing=axes.storing), label="layout"
    )
    view = data.draw(views(matrix, drawn.layout), label="view")
    sample = data.draw(
        tensor_copies(subject.info, matrix, drawn, view, storing=axes.storing), label="program"
    )
    _check(subject, sample)


@case(
    id="cooperative_matrix.tensor.view_dimensions",
    rows=("M-23",),
    spec=VIEW,
    requirement="A view with dimensions of its own reinterprets the slice, by its strides and its "
    "permutation.",
    level=Level.REQUIRED,
    axes={"rank": RANKS, "storing": (False, True)},
)
def test_view_dimensions(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data)
    of_layout = data.draw(st.integers(1, 3), label="rank of the layout")
    drawn = data.draw(
        layouts(matrix, of_layout, Clamp.UNDEFINED, storing=axes.storing), label="layout"
    )
    view = data.draw(views(matrix, drawn.layout, rank=axes.rank), label="view")
    sample = data.draw(
        tensor_copies(subject.info, matrix, drawn, view, storing=axes.storing), label="program"
    )
    _check(subject, sample)


@case(
    id="cooperative_matrix.tensor.clip",
    rows=("M-23",),
    spec="SPV_NV_tensor_addressing#OpTensorViewSetClipNV",
    requirement="Elements outside of the clip are not loaded, and keep those of the object given, "
    "or not stored; the others count from the clip's corner.",
    level=Level.REQUIRED,
    axes={"clamp": (Clamp.UNDEFINED, Clamp.CONSTANT, Clamp.REPEAT), "storing": (False, True)},
)
def test_clip(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data)
    rank = data.draw(st.integers(1, 3), label="rank")
    drawn = data.draw(layouts(matrix, rank, axes.clamp, storing=axes.storing), label="layout")
    own = data.draw(st.sampled_from((0, 0, 2)), label="rank of the view")
    view = data.draw(views(matrix, drawn.layout, clip=True, rank=own), label="view")
    sample = data.draw(
        tensor_copies(subject.info, matrix, drawn, view, storing=axes.storing), label="program"
    )
    _check(subject, sample)


@case(
    id="cooperative_matrix.tensor.storage",
    rows=("M-23", "M-04"),
    spec=LOAD,
    requirement="Tensors lie in storage buffers, physical storage buffers or workgroup memory.",
    level=Level.REQUIRED,
    axes={"storage": tuple(Storage)[1:], "storing": (False, True)},
)
def test_storage(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data)
    rank = data.draw(st.integers(1, 3), label="rank")
    drawn = data.draw(layouts(matrix, rank, Clamp.UNDEFINED, storing=axes.storing), label="layout")
    sample = data.draw(
        tensor_copies(subject.info, matrix, drawn, storing=axes.storing, storage=axes.storage),
        label="program",
    )
    _check(subject, sample)
