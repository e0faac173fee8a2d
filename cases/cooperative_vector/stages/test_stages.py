"""Cooperative vectors in every shader stage: each invocation's product is what compute gives."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.control import REPETITIONS, check_in_stage, control
from cts.conversion import Converting
from cts.draw.recipes import SEEDS, bit_recipes
from cts.draw.stages import (
    GROUP_STAGES,
    ONCE_STAGES,
    STAGES,
    in_stage,
    launches_of,
    require_stage,
)
from cts.draw.vector import (
    LOAD_SPREADS,
    NUMBERS,
    STORE_SPREADS,
    VECTOR_COMPONENTS,
    Draft,
    areas,
    lengths,
    reported,
)
from cts.draw.vector_kinds import (
    Kinds,
    layouts_of,
    listed,
)
from cts.draw.vector_lanes import Flow, divergent, doubled
from cts.draw.vector_networks import networks
from cts.draw.vector_products import (
    Plan,
    plans,
)
from cts.findings import QualityValue, WrongValue
from cts.outcome import Level
from cts.program.recipe import Pattern, Recipe
from cts.program.types import Component, Storage
from cts.program.vector import (
    ReduceSum,
    Spread,
    Stage,
    VectorLoad,
    VectorStore,
    VectorType,
)
from cts.program.vector_program import Helpers, Launch, VectorProgram
from cts.program.vector_records import PROPERTIES
from cts.subject import Subject
from reference.operands import realise

STAGE = "VkSpec#limits-cooperativeVectorSupportedStages"
MOST = 40
"""Components of the vectors here: the stages are what matters."""
OWN = (Spread.INVOCATION, Spread.TABLE, Spread.REVERSED, Spread.CLUSTERED)
TRAINING = "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVectorTraining"


def _kinds(subject: Subject, stage: Stage) -> tuple[Kinds, ...]:
    """The combinations that are listed, where the device has the stage."""
    require_stage(subject, stage)
    kinds = listed(subject.info)
    subject.require(bool(kinds), "no record has types that the suite knows")
    return kinds


def _built(
    subject: Subject, data: st.DataObject, plan: Plan, stage: Stage
) -> tuple[VectorProgram, dict[str, bytes]]:
    layout = data.draw(st.sampled_from(layouts_of(plan.kinds)), label="layout")
    program, inputs = plan.build(Converting(subject, ()), layout)
    return in_stage(program, stage), inputs


@case(
    id="cooperative_vector.stages.control",
    rows=("V-10",),
    spec="VkSpec#shaders-execution",
    requirement="Without cooperative vectors, every invocation of a launch writes its number. "
    "(Where this fails, what other cases find in the stage isn't counted against cooperative "
    "vectors.)",
    level=Level.QUALITY,
    axes={"stage": STAGES},
    examples=0.5,
)
def test_control(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_stage(subject, axes.stage)
    launch = data.draw(st.sampled_from(launches_of(axes.stage)), label="launch")
    for _ in range(REPETITIONS):
        subject.check(control(axes.stage, launch), {})


@case(
    id="cooperative_vector.stages.product",
    rows=("V-10",),
    spec=STAGE,
    requirement="In every supported stage each invocation's product is the one that compute "
    "gives, and no other byte changes.",
    axes={"stage": STAGES},
)
def test_product(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    kinds = _kinds(subject, axes.stage)
    launches = launches_of(axes.stage)
    plan = data.draw(plans(subject.info, kinds, launches=launches, most=128))
    program, inputs = _built(subject, data, plan, axes.stage)
    found = check_in_stage(subject, program, inputs)
    if axes.stage is Stage.COMPUTE:
        return
    compute = subject.check(in_stage(program, Stage.COMPUTE), inputs)
    if found != compute:
        # Both were judged: integers can't differ here, and floats in the sign of zero at most.
        kind = WrongValue if plan.kinds.is_integer else QualityValue
        subject.found(
            kind(
                f"the product in the {axes.stage.label} stage isn't the one in compute, on data "
                "that leaves nothing to rounding",
                {"row": "V-10", "stage": axes.stage.label},
            )
        )


@case(
    id="cooperative_vector.stages.own_matrix",
    rows=("V-10", "V-08"),
    spec=STAGE,
    requirement="In every supported stage the matrix and bias offsets may differ between "
    "invocations.",
    axes={"stage": STAGES},
)
def test_own_matrix(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    kinds = _kinds(subject, axes.stage)
    launches = launches_of(axes.stage)
    plan = data.draw(plans(subject.info, kinds, launches=launches, spreads=OWN, most=16, bias=True))
    program, inputs = _built(subject, data, plan, axes.stage)
    check_in_stage(subject, program, inputs)


@case(
    id="cooperative_vector.stages.divergent",
    rows=("V-10", "V-08"),
    spec=STAGE,
    requirement="In every supported stage control flow may diverge around products, and "
    "invocations may return before them.",
    axes={"stage": STAGES},
    examples=2.0,
)
def test_divergent(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    kinds = _kinds(subject, axes.stage)
    flow = data.draw(st.sampled_from(tuple(Flow)), label="flow")
    spreads = (Spread.TABLE, Spread.CLUSTERED, Spread.UNIFORM)
    launches = launches_of(axes.stage)
    plan = data.draw(plans(subject.info, kinds, launches=launches, spreads=spreads, most=MOST))
    draft = plan.draft()
    plan.load(draft)
    layout = data.draw(st.sampled_from(layouts_of(plan.kinds)), label="layout")
    both = dataclasses.replace(plan, weights=doubled(plan))
    weights = both.place(draft, Converting(subject, ()), layout)
    product = plan.multiply(draft, "y", "x", weights, plan.biases(draft))
    step = len(plan.weights) * weights.place.at.step
    draft.body += divergent(flow, data, plan, product, step)
    plan.store(draft)
    subject.event("flow", flow.label)
    check_in_stage(subject, in_stage(draft.program(), axes.stage), draft.inputs)


@case(
    id="cooperative_vector.stages.network",
    rows=("V-10",),
    spec=STAGE,
    requirement="In every supported stage products chained through activations give what each "
    "layer gives by itself.",
    level=Level.POLICY,
    axes={"stage": STAGES},
)
def test_network(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    kinds = [
        one
        for one in _kinds(subject, axes.stage)
        if one.result is one.input and one.result is Component.FLOAT16
    ]
    subject.require(bool(kinds), "no record has a result that another product takes as input")
    launches = launches_of(axes.stage)
    program, inputs = data.draw(
        networks(Converting(subject, ()), kinds, 2, launches=launches), label="network"
    )
    check_in_stage(subject, in_stage(program, axes.stage), inputs)


@case(
    id="cooperative_vector.stages.memory",
    rows=("V-10", "V-04"),
    spec=STAGE,
    requirement="In every supported stage a load followed by a store brings back every bit "
    "pattern, from storage buffers and by address.",
    axes={"stage": STAGES},
)
def test_memory(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_stage(subject, axes.stage)
    storage = (Storage.STORAGE_BUFFER, Storage.PHYSICAL_STORAGE_BUFFER)
    launch = data.draw(st.sampled_from(launches_of(axes.stage)), label="launch")
    ways = tuple(data.draw(st.sampled_from(storage), label="storage") for _ in range(2))
    _copy(subject, data, axes.stage, launch, ways)


@case(
    id="cooperative_vector.stages.workgroup_memory",
    rows=("V-10", "V-04"),
    spec=STAGE,
    requirement="Task and mesh shaders load vectors from workgroup memory and store them there.",
    axes={"stage": GROUP_STAGES},
)
def test_workgroup_memory(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_stage(subject, axes.stage)
    small = [launch for launch in launches_of(axes.stage) if launch.local_size <= 33]
    launch = data.draw(st.sampled_from(small), label="launch")
    _copy(subject, data, axes.stage, launch, (Storage.WORKGROUP,) * 2, most=MOST)


def _copy(
    subject: Subject,
    data: st.DataObject,
    stage: Stage,
    launch: Launch,
    storage: tuple[Storage, ...],
    most: int = 128,
) -> None:
    """Draw a copy of vectors and check every byte of both buffers."""
    usable = [one for one in VECTOR_COMPONENTS if one in reported(subject.info)]
    subject.require(bool(usable), "no record has vectors that can be copied")
    component = data.draw(st.sampled_from(usable), label="component")
    length = data.draw(lengths(subject.info, most), label="length")
    draft = Draft(launch, numbers=data.draw(NUMBERS, label="numbers"))
    places = []
    for name, kind, spreads in zip("ab", storage, (LOAD_SPREADS, STORE_SPREADS), strict=True):
        within = Launch(1, launch.local_size) if kind is Storage.WORKGROUP else launch
        area = data.draw(areas(within, length * component.bytes, spreads), label=name)
        bits = None
        if name == "a":
            recipe = data.draw(bit_recipes(component), label="recipe")
            bits = realise(recipe, component, area.slots, length, 1)[0]
        places.append(draft.vectors(name, area, bits, component, kind))
    draft.body = [
        VectorLoad("x", VectorType(component, length), places[0]),
        VectorStore("x", places[1]),
    ]
    check_in_stage(subject, in_stage(draft.program(), stage), draft.inputs)


# --- what is a stage's own ------------------------------------------------------------------


@case(
    id="cooperative_vector.stages.helper_stores",
    rows=("V-10",),
    spec="VkSpec#shaders-helper-invocations",
    requirement="Vectors that helper invocations of a fragment shader store change no memory.",
)
def test_helper_stores(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    kinds = _kinds(subject, Stage.FRAGMENT)
    launches = launches_of(Stage.FRAGMENT)
    plan = data.draw(plans(subject.info, kinds, launches=launches, most=MOST))
    layout = data.draw(st.sampled_from(layouts_of(plan.kinds)), label="layout")
    draft = plan.draft()
    plan.load(draft)
    weights = plan.place(draft, Converting(subject, ()), layout)
    draft.body.append(plan.multiply(draft, "y", "x", weights, plan.biases(draft)))
    plan.store(draft)
    # The place of invocations' results in a buffer that none of them touches.
    place = draft.vectors("untouched", plan.result, None, plan.kinds.result)
    draft.body.append(Helpers((VectorStore("y", place),)))
    check_in_stage(subject, in_stage(draft.program(), Stage.FRAGMENT), draft.inputs)


def _require_sums(subject: Subject, stage: Stage, component: Component) -> None:
    require_stage(subject, stage)
    info = subject.info
    subject.require(TRAINING in info.features, "cooperativeVectorTraining isn't supported")
    name = f"{PROPERTIES}cooperativeVectorTrainingFloat{component.bits}Accumulation"
    label = component.label
    subject.require(bool(info.properties.get(name)), f"accumulation in {label} isn't supported")
    subject.require(component in reported(info), f"no record has {label} vectors")


def _sum(
    data: st.DataObject, launch: Launch, component: Component, length: int
) -> tuple[Draft, ReduceSum]:
    """Vectors of 0 to 2 to load as ``x``, and their sum into one to three places."""
    draft = Draft(launch, numbers=data.draw(NUMBERS, label="numbers"))
    size = length * component.bytes
    given = data.draw(areas(launch, size, LOAD_SPREADS), label="given")
    goal = data.draw(
        areas(launch, size, (Spread.UNIFORM, Spread.CLUSTERED, Spread.TABLE), most=3), label="goal"
    )
    values = []
    for area in (given, goal):
        recipe = Recipe(Pattern.SMALL, data.draw(SEEDS, label="seed"), 2)
        values.append(realise(recipe, component, area.slots, length, 1)[0])
    place = draft.vectors("x", given, values[0], component)
    draft.body.append(VectorLoad("x", VectorType(component, length), place))
    return draft, ReduceSum("x", draft.vectors("sum", goal, values[1], component))


@case(
    id="cooperative_vector.stages.sum",
    rows=("V-10", "V-11"),
    spec=STAGE,
    requirement="In every supported stage that runs once for each invocation, vectors are added "
    "to memory once for each: sums of small integers are exact.",
    axes={"stage": ONCE_STAGES},
)
def test_sum(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = data.draw(st.sampled_from((Component.FLOAT16, Component.FLOAT32)), label="type")
    _require_sums(subject, axes.stage, component)
    launch = data.draw(st.sampled_from(launches_of(axes.stage)), label="launch")
    length = data.draw(lengths(subject.info, MOST), label="length")
    draft, addition = _sum(data, launch, component, length)
    draft.body.append(addition)
    check_in_stage(subject, in_stage(draft.program(), axes.stage), draft.inputs)


@case(
    id="cooperative_vector.stages.helper_sums",
    rows=("V-10", "V-11"),
    spec="VkSpec#shaders-helper-invocations",
    requirement="Vectors that helper invocations of a fragment shader add to memory change none.",
)
def test_helper_sums(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = data.draw(st.sampled_from((Component.FLOAT16, Component.FLOAT32)), label="type")
    _require_sums(subject, Stage.FRAGMENT, component)
    launch = data.draw(st.sampled_from(launches_of(Stage.FRAGMENT)), label="launch")
    length = data.draw(lengths(subject.info, MOST), label="length")
    draft, addition = _sum(data, launch, component, length)
    draft.body.append(Helpers((addition,)))
    check_in_stage(subject, in_stage(draft.program(), Stage.FRAGMENT), draft.inputs)


@case(
    id="cooperative_vector.stages.same_bits",
    rows=("V-10",),
    spec=STAGE,
    requirement="A float product that has to be rounded is rounded in every stage as in compute.",
    level=Level.QUALITY,
    axes={"stage": tuple(stage for stage in STAGES if stage is not Stage.COMPUTE)},
    examples=0.5,
)
def test_same_bits(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    kinds = [one for one in _kinds(subject, axes.stage) if not one.is_integer]
    subject.require(bool(kinds), "no record is of floats")
    launches = launches_of(axes.stage)
    plan = data.draw(plans(subject.info, kinds, exact=False, launches=launches, most=128))
    program, inputs = _built(subject, data, plan, axes.stage)
    found = check_in_stage(subject, program, inputs)
    compute = subject.check(in_stage(program, Stage.COMPUTE), inputs)
    if found != compute:
        subject.found(
            QualityValue(
                f"the product in the {axes.stage.label} stage is rounded otherwise than in compute",
                {"row": "V-10", "stage": axes.stage.label},
            )
        )
