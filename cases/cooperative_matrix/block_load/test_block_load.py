"""Block loads: OpCooperativeMatrixLoadTensorNV with a DecodeFunc, and with a DecodeVectorFunc.

An implementation may call the functions more than once, and with a vector function either of the
two for each element; both give the same here.
"""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.shapes import matrix_types
from cts.draw.tensor_programs import tensor_copies
from cts.draw.tensors import block_sizes, layouts, views
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.model import Component, MatrixType, Storage, Use
from cts.program.tensor import Clamp, Code, Decode
from cts.subject import Subject

BLOCK = "SPV_NV_cooperative_matrix2#OpCooperativeMatrixLoadTensorNV"
VECTOR = "SPV_NV_cooperative_matrix_decode_vector#DecodeVectorFunc"
COMPONENTS = (
    Component.FLOAT16,
    Component.BFLOAT16,
    Component.FLOAT32,
    Component.FLOAT8_E4M3,
    Component.FLOAT8_E5M2,
    Component.SINT8,
    Component.UINT8,
    Component.SINT32,
    Component.UINT32,
)


def _matrix(subject: Subject, data: st.DataObject, component: Component) -> MatrixType:
    found = [it for use in Use for it in matrix_types(subject.info, use, component)[:6]]
    subject.require(bool(found), f"no matrix of {component.label} is advertised")
    return data.draw(members(found), label="matrix")


def _check(
    subject: Subject,
    data: st.DataObject,
    component: Component,
    *,
    clamp: Clamp = Clamp.UNDEFINED,
    rank: int | None = None,
    lanes: int = 0,
    viewed: bool = False,
    storage: Storage = Storage.STORAGE_BUFFER,
) -> None:
    needs = ("DecodeVector", "LongVector") if lanes else ()
    subject.require_needs("TensorAddressing", "BlockLoads", *needs)
    matrix = _matrix(subject, data, component)
    rank = rank or data.draw(st.integers(1, 3), label="rank")
    block = data.draw(
        block_sizes(rank).filter(lambda sizes: not lanes or sizes[-1] % lanes == 0),
        label="block",
    )
    # 8-bit floats hold all fields of 4 bits only up to 8 or 16.
    code = data.draw(st.sampled_from(Code), label="code") if component.bits > 8 else Code.NIBBLES
    factor = data.draw(st.sampled_from((0, 0, 1, 3)), label="factor")
    decode = Decode(code, block, factor, lanes)
    drawn = data.draw(layouts(matrix, rank, clamp, block=block), label="layout")
    view = data.draw(views(matrix, drawn.layout, clip=True), label="view") if viewed else None
    sample = data.draw(
        tensor_copies(subject.info, matrix, drawn, view, storage=storage, decode=decode),
        label="program",
    )
    subject.event("block", "x".join(map(str, block)))
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.block_load.decode",
    rows=("M-24",),
    spec=BLOCK,
    requirement="The decode function gets a pointer to the block of an element, the coordinates of "
    "the block and those in the block; what it returns is the element.",
    level=Level.REQUIRED,
    axes={"component": COMPONENTS},
)
def test_decode(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, axes.component)


@case(
    id="cooperative_matrix.block_load.rank",
    rows=("M-24", "M-23"),
    spec=BLOCK,
    requirement="Blocks have as many dimensions as their tensor; strides count blocks.",
    level=Level.REQUIRED,
    axes={"rank": (1, 2, 3, 4, 5)},
)
def test_rank(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, Component.FLOAT16, rank=axes.rank)


@case(
    id="cooperative_matrix.block_load.clamp",
    rows=("M-24", "M-23"),
    spec=BLOCK,
    requirement="Coordinates outside of a tensor of blocks are clamped before they are split into "
    "block and element.",
    level=Level.REQUIRED,
    axes={"clamp": tuple(Clamp)[1:]},
)
def test_clamp(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, Component.FLOAT16, clamp=axes.clamp)


@case(
    id="cooperative_matrix.block_load.view",
    rows=("M-24", "M-23"),
    spec=BLOCK,
    requirement="A view permutes and clips a block load as it does any load.",
    level=Level.REQUIRED,
)
def test_view(subject: Subject, data: st.DataObject) -> None:
    _check(subject, data, Component.FLOAT16, viewed=True)


@case(
    id="cooperative_matrix.block_load.storage",
    rows=("M-24", "M-04"),
    spec=BLOCK,
    requirement="Blocks are loaded from storage buffers and physical storage buffers.",
    level=Level.REQUIRED,
    axes={"storage": (Storage.STORAGE_BUFFER, Storage.PHYSICAL_STORAGE_BUFFER)},
)
def test_storage(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, Component.FLOAT16, storage=axes.storage)


@case(
    id="cooperative_matrix.block_load.vector",
    rows=("M-24",),
    spec=VECTOR,
    requirement="A vector decode function gives neighbours in the innermost dimension, from that "
    "element on whose coordinates it gets.",
    level=Level.REQUIRED,
    axes={"lanes": (2, 4, 8), "component": COMPONENTS[:1] + COMPONENTS[5:7]},
)
def test_vector(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, axes.component, lanes=axes.lanes)
