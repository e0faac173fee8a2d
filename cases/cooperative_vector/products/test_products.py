"""OpCooperativeVectorMatrixMulNV and OpCooperativeVectorMatrixMulAddNV: types, layouts, shapes."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.conversion import Converting, available
from cts.draw.vector_kinds import (
    FLOAT_RECORDS,
    INTEGER_RECORDS,
    OPTIMAL,
    RECORDS,
    Kinds,
    kinds_of,
    layouts_of,
    listed,
)
from cts.draw.vector_networks import networks
from cts.draw.vector_products import (
    Plan,
    plans,
)
from cts.findings import WrongValue
from cts.outcome import Level
from cts.program.types import Component, Numbers, Storage
from cts.program.vector import MatrixLayout
from cts.subject import Subject

MULTIPLY = "SPV_NV_cooperative_vector#OpCooperativeVectorMatrixMulAddNV"
LAYOUTS = "VkSpec#VkCooperativeVectorMatrixLayoutNV"
PRECISION = "VkSpec#spirvenv-op-prec"
OPERANDS = ("m", "k", "length", "layout", "transpose", "interpretation", "local_size")


def _check(
    subject: Subject,
    data: st.DataObject,
    plan: Plan,
    layout: MatrixLayout,
    *,
    transpose: bool = False,
) -> None:
    """Run a plan with its matrices in ``layout`` and judge the result."""
    converting = Converting(subject, ())
    padding = data.draw(st.sampled_from((0, 0, 1, 3)), label="padding")
    host = data.draw(st.booleans(), label="converted on the host")
    program, inputs = plan.build(
        converting, layout, transpose=transpose, padding=padding, host=host
    )
    subject.event("record", _label(plan.kinds))
    subject.check(program, inputs)


def _label(kinds: Kinds) -> str:
    fields = dataclasses.astuple(kinds)[:5]
    return " ".join(component.label for component in fields)


@case(
    id="cooperative_vector.products.integer",
    rows=("V-05", "Q-11"),
    spec=MULTIPLY,
    requirement="An integer product converts its input as the interpretation says (integers "
    "saturate, floats round to nearest even and saturate, packed types are bit casts with lower "
    "components in lower bits), multiplies and adds exactly, and wraps at the result's 32 bits.",
    axes={"record": INTEGER_RECORDS},
    examples=2.0,
)
def test_integer(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    plan = data.draw(plans(subject.info, kinds_of(subject, axes.record)))
    layout = data.draw(st.sampled_from(layouts_of(plan.kinds)), label="layout")
    _check(subject, data, plan, layout)


@case(
    id="cooperative_vector.products.exact",
    rows=("V-06", "Q-11"),
    spec=PRECISION,
    requirement="A float product whose partial sums are all representable, in every order and "
    "precision of the policy's class, is exact.",
    level=Level.POLICY,
    axes={"record": FLOAT_RECORDS},
    examples=2.0,
)
def test_exact(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    plan = data.draw(plans(subject.info, kinds_of(subject, axes.record)))
    layout = data.draw(st.sampled_from(layouts_of(plan.kinds)), label="layout")
    _check(subject, data, plan, layout)


@case(
    id="cooperative_vector.products.rounded",
    rows=("V-06",),
    spec=PRECISION,
    requirement="A float product is as accurate as sums in the narrowest type that takes part, in "
    "any order and direction of rounding; an input that an 8-bit interpretation can't hold is "
    "rounded to a neighbour or keeps its bits.",
    level=Level.POLICY,
    axes={"record": FLOAT_RECORDS},
    examples=2.0,
)
def test_rounded(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    plan = data.draw(plans(subject.info, kinds_of(subject, axes.record), exact=False))
    layout = data.draw(st.sampled_from(layouts_of(plan.kinds)), label="layout")
    _check(subject, data, plan, layout)


@case(
    id="cooperative_vector.products.layouts",
    rows=("V-07", "C-13"),
    spec=LAYOUTS,
    requirement="One matrix gives the same product, bit for bit on exact data, row-major, "
    "column-major and in both optimal layouts as the conversion commands make them.",
    axes={"record": RECORDS},
)
def test_layouts(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    plan = data.draw(plans(subject.info, kinds_of(subject, axes.record)))
    converting = Converting(subject, ())
    host = data.draw(st.booleans(), label="converted on the host")
    padding = data.draw(st.sampled_from((0, 1, 3)), label="padding")
    programs = {
        layout: plan.build(converting, layout, padding=padding, host=host)
        for layout in layouts_of(plan.kinds)
    }
    results = {}
    for layout, (program, inputs) in programs.items():
        names = [buffer.name for buffer in program.buffers]
        results[layout] = subject.run(program, inputs)[names.index("y")]
    first, *others = results
    for other in others:
        if results[other] != results[first]:
            pairs = zip(results[first], results[other], strict=True)
            at = next(i for i, (a, b) in enumerate(pairs) if a != b)
            subject.found(
                WrongValue(
                    f"{first.label} and {other.label} give different products of "
                    f"{plan.m}x{plan.k} {plan.kinds.matrix.label}, first at byte {at}",
                    {"row": "V-07", "byte": at, "record": _label(plan.kinds)},
                )
            )
    # One of them has to be right, so all of them are.
    subject.check(*programs[first])


@case(
    id="cooperative_vector.products.transposed",
    rows=("V-07",),
    spec=MULTIPLY,
    requirement="With Transpose a K x M matrix in an optimal layout is multiplied as its "
    "transpose, where the record allows it.",
    axes={"record": RECORDS, "layout": OPTIMAL},
)
def test_transposed(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    found = [kinds for kinds in kinds_of(subject, axes.record) if kinds.transpose]
    subject.require(bool(found), f"no record of the kind {axes.record.label} can transpose")
    plan = data.draw(plans(subject.info, found))
    _check(subject, data, plan, axes.layout, transpose=True)


@case(
    id="cooperative_vector.products.strides",
    rows=("V-07",),
    spec=MULTIPLY,
    requirement="Matrices may have any stride and offset of the right alignment, in storage "
    "buffers and physical storage buffers.",
    axes={
        "layout": (MatrixLayout.ROW_MAJOR, MatrixLayout.COLUMN_MAJOR),
        "storage": (Storage.STORAGE_BUFFER, Storage.PHYSICAL_STORAGE_BUFFER),
    },
)
def test_strides(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    found = [kinds for kinds in listed(subject.info) if axes.layout in layouts_of(kinds)]
    subject.require(bool(found), f"no record takes a {axes.layout.label} matrix")
    plan = data.draw(plans(subject.info, found))
    plan = dataclasses.replace(plan, storage=axes.storage)
    converting = Converting(subject, ())
    padding = data.draw(st.integers(0, 40), label="padding")
    program, inputs = plan.build(converting, axes.layout, padding=padding)
    subject.check(program, inputs)


@case(
    id="cooperative_vector.products.run_time_stride",
    rows=("V-07",),
    spec=MULTIPLY,
    requirement="The matrix stride need not be a constant: one that is loaded from memory does "
    "the same.",
    axes={
        "record": RECORDS,
        "layout": (MatrixLayout.ROW_MAJOR, MatrixLayout.COLUMN_MAJOR),
    },
)
def test_run_time_stride(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    found = [it for it in kinds_of(subject, axes.record) if axes.layout in layouts_of(it)]
    subject.require(bool(found), f"no record of the kind {axes.record.label} takes this layout")
    plan = data.draw(plans(subject.info, found))
    plan = dataclasses.replace(plan, run_time_stride=True, numbers=Numbers.BUFFER)
    padding = data.draw(st.integers(0, 3), label="padding")
    program, inputs = plan.build(Converting(subject, ()), axes.layout, padding=padding)
    subject.check(program, inputs)


@case(
    id="cooperative_vector.products.padding",
    rows=("V-07",),
    spec=MULTIPLY,
    requirement="Bytes that are no element of a strided matrix have no influence on a product, "
    "even where they would be NaN or infinity.",
    level=Level.POLICY,
    axes={
        "record": FLOAT_RECORDS,
        "layout": (MatrixLayout.ROW_MAJOR, MatrixLayout.COLUMN_MAJOR),
    },
)
def test_padding(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    found = [it for it in kinds_of(subject, axes.record) if axes.layout in layouts_of(it)]
    subject.require(bool(found), f"no record of the kind {axes.record.label} takes this layout")
    plan = dataclasses.replace(data.draw(plans(subject.info, found)), wild_padding=True)
    program, inputs = plan.build(Converting(subject, ()), axes.layout, padding=1)
    subject.check(program, inputs)


@case(
    id="cooperative_vector.products.specialized",
    rows=("V-07",),
    spec="SPV_NV_cooperative_vector#OpTypeCooperativeVectorNV",
    requirement="Component counts, M, K, the interpretations, the layout and Transpose may be "
    "specialization constants; the specialised module computes what the literal one does.",
    axes={
        "operand": (
            "m",
            "k",
            "length",
            "layout",
            "transpose",
            "interpretation",
            "local_size",
            "all",
        )
    },
    examples=0.5,
)
def test_specialized(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    # M and the count of the result's components have to agree, so they change together.
    names = {"m": {"m", "length"}, "k": {"k", "length"}, "all": set(OPERANDS)}.get(
        axes.operand, {axes.operand}
    )
    kinds = listed(subject.info)
    subject.require(bool(kinds), "no record that can be used")
    plan = data.draw(plans(subject.info, kinds))
    plan = dataclasses.replace(plan, specialized=frozenset(names))
    layout = data.draw(st.sampled_from(layouts_of(plan.kinds)), label="layout")
    _check(subject, data, plan, layout)


@case(
    id="cooperative_vector.products.network",
    rows=("V-06", "V-07"),
    spec=MULTIPLY,
    requirement="Products chained through activations, two and three layers deep, with matrices "
    "in different layouts, give what each layer gives by itself.",
    level=Level.POLICY,
    axes={"layers": (2, 3)},
)
def test_network(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    kinds = [
        one
        for one in listed(subject.info)
        if one.result is one.input and one.result is Component.FLOAT16
    ]
    subject.require(bool(kinds), "no record has a result that another product takes as input")
    program, inputs = data.draw(networks(Converting(subject, ()), kinds, axes.layers))
    subject.check(program, inputs)
