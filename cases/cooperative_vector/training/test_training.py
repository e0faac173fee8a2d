"""OpCooperativeVectorOuterProductAccumulateNV, OpCooperativeVectorReduceSumAccumulateNV, and
training-optimal matrices as arrays of elements."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping

import numpy as np
from hypothesis import strategies as st

from cts.case import Axes, case
from cts.conversion import Converting, Region, Side, available
from cts.draw.recipes import SEEDS
from cts.draw.vector import (
    LAUNCHES,
    MATRIX_UNIT,
    NUMBERS,
    Area,
    Draft,
    areas,
    lengths,
    reported,
)
from cts.draw.vector_kinds import (
    listed,
)
from cts.draw.vector_products import (
    optimal_regions,
    plans,
)
from cts.findings import WrongValue
from cts.program.recipe import Pattern, Recipe
from cts.program.types import Component, Storage
from cts.program.vector import (
    MatrixLayout,
    Opaque,
    OuterProduct,
    Place,
    ReduceSum,
    Spread,
    VectorLoad,
    VectorType,
)
from cts.program.vector_program import VectorProgram
from cts.program.vector_records import PROPERTIES
from cts.subject import Subject
from reference.accept import Accept, Level, verdict
from reference.component import Bits, bits_dtype, decode, encode, text
from reference.layout import poison
from reference.operands import realise
from reference.vector_oracle import evaluate_vectors

OUTER = "SPV_NV_cooperative_vector#OpCooperativeVectorOuterProductAccumulateNV"
SUM = "SPV_NV_cooperative_vector#OpCooperativeVectorReduceSumAccumulateNV"
LAYOUTS = "VkSpec#VkCooperativeVectorMatrixLayoutNV"
TRAINING = MatrixLayout.TRAINING_OPTIMAL
FEATURE = "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVectorTraining"
FLOATS = (Component.FLOAT16, Component.FLOAT32)
MOST = 40
"""Components of the vectors here."""


class Target(enum.Enum):
    """Who adds to what."""

    CONTENDED = "all invocations add to one place"
    CLUSTERED = "neighbours share a place"
    UNIQUE = "every invocation has a place of its own"
    SCATTERED = "any invocation adds to any of a few places"

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


_SPREADS: Mapping[Target, Spread] = {
    Target.CONTENDED: Spread.UNIFORM,
    Target.CLUSTERED: Spread.CLUSTERED,
    Target.UNIQUE: Spread.INVOCATION,
    Target.SCATTERED: Spread.TABLE,
}


def _require(subject: Subject, component: Component) -> None:
    available(subject)
    subject.require(FEATURE in subject.info.features, "cooperativeVectorTraining isn't supported")
    name = f"{PROPERTIES}cooperativeVectorTrainingFloat{component.bits}Accumulation"
    subject.require(
        bool(subject.info.properties.get(name)),
        f"accumulation in {component.label} isn't supported",
    )
    subject.require(component in reported(subject.info), f"no record has {component.label} vectors")


def _numbers(component: Component, shape: tuple[int, int], seed: int, *, exact: bool) -> Bits:
    """Small integers of both signs, or floats with all their bits."""
    recipe = Recipe(Pattern.SIGNED, seed, 2, 6) if exact else Recipe(Pattern.FULL, seed, 2)
    made: Bits = realise(recipe, component, *shape, 1)[0]
    return made


def _target(data: st.DataObject, draft: Draft, target: Target, size: int, unit: int) -> Area:
    pitch = -(-size // unit) * unit
    return data.draw(
        areas(draft.launch, size, (_SPREADS[target],), unit=unit, most=3, pitch=pitch),
        label="target",
    )


# --- sums -----------------------------------------------------------------------------------


def _sum(
    subject: Subject, data: st.DataObject, component: Component, target: Target, *, exact: bool
) -> None:
    _require(subject, component)
    launch = data.draw(st.sampled_from(LAUNCHES), label="launch")
    length = data.draw(lengths(subject.info, MOST), label="length")
    draft = Draft(launch, numbers=data.draw(NUMBERS, label="numbers"))
    size = length * component.bytes
    given = data.draw(areas(launch, size, (Spread.INVOCATION,)))
    values = _numbers(component, (given.slots, length), data.draw(SEEDS), exact=exact)
    place = draft.vectors("x", given, values, component)
    area = _target(data, draft, target, size, 16)
    start = _numbers(component, (area.slots, length), data.draw(SEEDS), exact=exact)
    storage = data.draw(
        st.sampled_from((Storage.STORAGE_BUFFER, Storage.PHYSICAL_STORAGE_BUFFER)), label="storage"
    )
    goal = draft.vectors("sum", area, start, component, storage)
    draft.body += [
        VectorLoad("x", VectorType(component, length), place),
        ReduceSum("x", goal),
    ]
    subject.check(draft.program(), draft.inputs)


@case(
    id="cooperative_vector.training.sum",
    rows=("V-11",),
    spec=SUM,
    requirement="Vectors are added to memory atomically, component by component: sums whose "
    "partial sums are all representable are exact, however many invocations add to one place.",
    axes={"component": FLOATS, "target": tuple(Target)},
)
def test_sum(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _sum(subject, data, axes.component, axes.target, exact=True)


@case(
    id="cooperative_vector.training.sum_rounded",
    rows=("V-11",),
    spec=SUM,
    requirement="Sums that have to be rounded err by no more than one rounding for each addition.",
    axes={"component": FLOATS},
)
def test_sum_rounded(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(tuple(Target)), label="target")
    _sum(subject, data, axes.component, target, exact=False)


# --- outer products -------------------------------------------------------------------------


def _outer(
    subject: Subject, data: st.DataObject, component: Component, target: Target, *, exact: bool
) -> None:
    _require(subject, component)
    _require_float16(subject)
    converting = Converting(subject, ())
    launch = data.draw(st.sampled_from(LAUNCHES), label="launch")
    rows = data.draw(lengths(subject.info, MOST), label="M")
    columns = data.draw(lengths(subject.info, MOST), label="N")
    if launch.invocations > 64:
        rows, columns = min(rows, 17), min(columns, 17)
    draft = Draft(launch, numbers=data.draw(NUMBERS, label="numbers"))
    for name, length in (("a", rows), ("b", columns)):
        area = data.draw(areas(launch, length * 2, (Spread.INVOCATION,)))
        bits = _numbers(Component.FLOAT16, (area.slots, length), data.draw(SEEDS), exact=exact)
        place = draft.vectors(name, area, bits, Component.FLOAT16)
        kind = VectorType(Component.FLOAT16, length)
        draft.body.append(VectorLoad(name, kind, place))
    (size,) = converting.sizes([(rows, columns, Side(component, TRAINING))])
    area = _target(data, draft, target, size, MATRIX_UNIT)
    start = _numbers(component, (area.slots * rows, columns), data.draw(SEEDS), exact=exact)
    regions = optimal_regions(
        converting, start.reshape(area.slots, rows, columns), component, TRAINING, True
    )
    _place(draft, area, regions, start.reshape(area.slots, rows, columns))
    draft.body.append(OuterProduct("a", "b", Place("g", area.index), component))
    program = draft.program()
    buffers = subject.check(program, draft.inputs)
    after = buffers[[buffer.name for buffer in program.buffers].index("g")]
    host = data.draw(st.booleans(), label="converted on the host")
    _judge(subject, converting, program, draft.inputs, after, host=host)


def _require_float16(subject: Subject) -> None:
    subject.require(Component.FLOAT16 in reported(subject.info), "no record has float16 vectors")


def _place(draft: Draft, area: Area, regions: list[Region], elements: Bits) -> None:
    """Put training-optimal matrices into a buffer ``g``."""
    component = regions[0].side.component
    image = poison(area.length, salt=11)
    for slot, region in enumerate(regions):
        start = area.offset(slot)
        image[start : start + len(region.data)] = np.frombuffer(region.data, np.uint8)
        made = np.ascontiguousarray(elements[slot].astype(bits_dtype(component))).tobytes()
        draft.opaque.append(
            Opaque(
                "g",
                start,
                len(region.data),
                component,
                TRAINING,
                region.rows,
                region.columns,
                made,
            )
        )
    draft.memory("g", component, image.tobytes())


def _judge(
    subject: Subject,
    converting: Converting,
    program: VectorProgram,
    inputs: Mapping[str, bytes],
    after: bytes,
    *,
    host: bool,
) -> None:
    """Bring the matrices that were added to back to rows and columns and judge them."""
    expected = evaluate_vectors(program, inputs).matrices
    for it in program.opaque:
        side = Side(it.component, TRAINING)
        region = Region(it.rows, it.columns, side, after[it.offset : it.offset + it.size])
        numbers = converting.numbers(region, host=host)
        actual = encode(numbers, it.component)[None]
        accept = expected.get((it.buffer, it.offset))
        if accept is None:
            due = np.frombuffer(it.elements, bits_dtype(it.component))
            wrong = decode(due, it.component).reshape(numbers.shape) != numbers
        else:
            levels = verdict(accept, actual).levels
            wrong = np.zeros(numbers.shape, bool)
            if levels is not None:
                wrong = levels[0] == Level.REQUIRED
        if wrong.any():
            subject.found(_finding(it, actual[0], wrong, accept))


def _finding(it: Opaque, actual: Bits, wrong: np.ndarray, accept: Accept | None) -> WrongValue:
    row, column = (int(axis[0]) for axis in np.nonzero(wrong))
    value = text(int(actual[row, column]), it.component)
    due = "what it was"
    if accept is not None:
        due = accept.required.at((0, row, column), accept.shape, it.component)
    return WrongValue(
        f"element ({row}, {column}) of the {it.rows}x{it.columns} {it.component.label} matrix "
        f"{it.offset} bytes into {it.buffer} is {value}, accepted: {due}; {int(wrong.sum())} of "
        f"{wrong.size} elements are wrong",
        {
            "row": "V-11",
            "worst": {
                "buffer": it.buffer,
                "row": row,
                "column": column,
                "actual": value,
                "actual_bits": f"0x{int(actual[row, column]):x}",
                "accepted": due,
            },
            "expected": due,
            "wrong": int(wrong.sum()),
        },
    )


@case(
    id="cooperative_vector.training.outer_product",
    rows=("V-11",),
    spec=OUTER,
    requirement="Outer products are added to a training-optimal matrix atomically: exact where "
    "every partial sum is representable, however many invocations add to one matrix.",
    axes={"component": FLOATS, "target": tuple(Target)},
)
def test_outer_product(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _outer(subject, data, axes.component, axes.target, exact=True)


@case(
    id="cooperative_vector.training.outer_product_rounded",
    rows=("V-11",),
    spec=OUTER,
    requirement="Outer products that have to be rounded err by no more than one rounding for each "
    "product and each addition.",
    axes={"component": FLOATS},
)
def test_outer_product_rounded(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(tuple(Target)), label="target")
    _outer(subject, data, axes.component, target, exact=False)


# --- training-optimal matrices as arrays of elements ----------------------------------------


def _array(data: bytes, component: Component) -> Bits:
    """The whole elements of a matrix in memory."""
    whole = len(data) // component.bytes * component.bytes
    return np.frombuffer(data[:whole], bits_dtype(component))


def _halved(data: bytes, component: Component) -> bytes:
    """Every element halved, padding included."""
    array = _array(data, component)
    halves = encode(decode(array, component) * 0.5, component)
    return halves.tobytes() + data[halves.nbytes :]


@case(
    id="cooperative_vector.training.scaled",
    rows=("V-12",),
    spec=LAYOUTS,
    requirement="A training-optimal float matrix may be treated as an array of elements: halving "
    "every element halves the matrix that conversions and products see.",
    axes={"component": FLOATS},
)
def test_scaled(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = axes.component
    available(subject)
    kinds = [one for one in listed(subject.info) if one.matrix is component and not one.is_integer]
    subject.require(bool(kinds), f"no record has a {component.label} matrix")
    plan = data.draw(plans(subject.info, kinds))
    converting = Converting(subject, ())
    program, inputs = plan.build(converting, TRAINING)
    image = bytearray(inputs["w"])
    opaque = []
    for number, it in enumerate(program.opaque):
        made = _halved(inputs["w"][it.offset : it.offset + it.size], component)
        image[it.offset : it.offset + it.size] = made
        opaque.append(dataclasses.replace(it, elements=_halved(it.elements, component)))
        region = Region(it.rows, it.columns, Side(component, TRAINING), bytes(made))
        seen = converting.numbers(region, host=data.draw(st.booleans(), label="host"))
        due = decode(plan.weights[number], component) * 0.5
        if (seen != due).any():
            row, column = (int(axis[0]) for axis in np.nonzero(seen != due))
            subject.found(
                WrongValue(
                    f"element ({row}, {column}) is {seen[row, column]} instead of "
                    f"{due[row, column]} after every element was halved",
                    {"row": "V-12", "element": f"({row}, {column})"},
                )
            )
    program = dataclasses.replace(program, opaque=tuple(opaque))
    subject.check(program, {**inputs, "w": bytes(image)})


@case(
    id="cooperative_vector.training.padding",
    rows=("V-12",),
    spec=LAYOUTS,
    requirement="Finite values in the padding of a training-optimal float matrix don't change a "
    "product.",
    axes={"component": FLOATS, "value": ("one", "largest", "lowest")},
)
def test_padding(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = axes.component
    available(subject)
    kinds = [one for one in listed(subject.info) if one.matrix is component and not one.is_integer]
    subject.require(bool(kinds), f"no record has a {component.label} matrix")
    plan = data.draw(plans(subject.info, kinds))
    converting = Converting(subject, ())
    program, inputs = plan.build(converting, TRAINING)
    largest = {Component.FLOAT16: 65504.0, Component.FLOAT32: float(np.finfo(np.float32).max)}
    value = {"one": 1.0, "largest": largest[component], "lowest": -largest[component]}[axes.value]
    filler = encode(np.array([value]), component)
    unused = _padding(converting, plan.m, plan.k, component)
    subject.event("padding elements", bool(unused.any()))
    image = bytearray(inputs["w"])
    for it in program.opaque:
        array = _array(inputs["w"][it.offset : it.offset + it.size], component).copy()
        array[unused] = filler
        image[it.offset : it.offset + array.nbytes] = array.tobytes()
    subject.check(program, {**inputs, "w": bytes(image)})


def _padding(converting: Converting, rows: int, columns: int, component: Component) -> Bits:
    """Which elements of a training-optimal matrix are padding: those that are the same in a
    matrix of ones as in one of twos."""
    ones, twos = (encode(np.full((1, rows, columns), value), component) for value in (1.0, 2.0))
    made = [
        _array(optimal_regions(converting, bits, component, TRAINING, True)[0].data, component)
        for bits in (ones, twos)
    ]
    return made[0] == made[1]
