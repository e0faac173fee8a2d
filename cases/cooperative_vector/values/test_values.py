"""What else vectors can do: element-wise instructions, conversions, components, constants, and
ways to travel."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.conversion import available
from cts.draw.recipes import SEEDS, bit_recipes
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
from cts.draw.vector_values import (
    CONVERSIONS,
    components_of,
    convertible_operand,
    operand,
    operands,
)
from cts.program.arithmetic import Conversion
from cts.program.flow import Through, Via
from cts.program.types import Component
from cts.program.vector import Index, Spread, VectorLoad, VectorStore, VectorType
from cts.program.vector_program import Launch
from cts.program.vector_values import (
    Constant,
    Construct,
    Elementwise,
    Extract,
    Insert,
    Make,
    Pick,
    ScalarConstant,
    TimesScalar,
    VectorConvert,
    VectorOp,
)
from cts.subject import Subject
from reference.component import Bits
from reference.operands import random_words, realise

SPEC = "SPV_NV_cooperative_vector#OpTypeCooperativeVectorNV"
PRECISION = "VkSpec#precision-of-glsl-std-450-instructions"
FEW = tuple(launch for launch in LAUNCHES if launch.invocations <= 64)
MOST = 70
"""Components of vectors here, but for a case about long ones."""


class _Trial:
    """One drawn program: vectors in, one vector out."""

    def __init__(self, subject: Subject, data: st.DataObject, *kinds: Component) -> None:
        available(subject)
        for kind in kinds:
            subject.require(kind in reported(subject.info), f"no record has {kind.label} vectors")
        self.subject, self.data = subject, data
        self.launch: Launch = data.draw(st.sampled_from(FEW), label="launch")
        self.length: int = data.draw(lengths(subject.info, MOST), label="length")
        self.draft = Draft(self.launch, numbers=data.draw(NUMBERS, label="numbers"))

    @property
    def count(self) -> int:
        """How many vectors of each operand there are: one for each invocation."""
        return self.launch.invocations

    def load(
        self,
        name: str,
        component: Component,
        bits: Bits,
        spreads: tuple[Spread, ...] = (Spread.INVOCATION,),
    ) -> str:
        """Add one vector for each invocation and load it."""
        area = self.data.draw(areas(self.launch, self.length * component.bytes, spreads))
        place = self.draft.vectors(name, area, bits[: area.slots], component)
        self.draft.body.append(VectorLoad(name, VectorType(component, self.length), place))
        return name

    def drawn(self, name: str, component: Component) -> str:
        """Load random vectors, by any way to choose them."""
        bits = self.data.draw(operand(component, self.count, self.length))
        return self.load(name, component, bits, LOAD_SPREADS)

    def finish(self, value: str, component: Component) -> None:
        """Store ``value``, run, judge."""
        size = self.length * component.bytes
        area = self.data.draw(areas(self.launch, size, STORE_SPREADS))
        place = self.draft.vectors("result", area, None, component)
        self.draft.body.append(VectorStore(value, place))
        self.subject.check(self.draft.program(), self.draft.inputs)


OPERATIONS = tuple((op, component) for op in VectorOp for component in components_of(op))


@dataclasses.dataclass(frozen=True)
class Operation:
    """A value of an ``operation`` axis."""

    op: VectorOp
    component: Component

    @property
    def label(self) -> str:
        """``fadd-float16``."""
        return f"{self.op.label}-{self.component.label}"


@case(
    id="cooperative_vector.values.elementwise",
    rows=("V-09",),
    spec=PRECISION,
    requirement="An element-wise instruction gives for every component what the scalar instruction "
    "may give.",
    axes={"operation": tuple(Operation(op, component) for op, component in OPERATIONS)},
)
def test_elementwise(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    op, component = axes.operation.op, axes.operation.component
    trial = _Trial(subject, data, component)
    bits = data.draw(operands(op, component, trial.count, trial.length))
    names = tuple(trial.load(f"x{i}", component, one) for i, one in enumerate(bits))
    trial.draft.body.append(Elementwise("y", op, names))
    trial.finish("y", component)


@case(
    id="cooperative_vector.values.times_scalar",
    rows=("V-09",),
    spec=SPEC,
    requirement="OpVectorTimesScalar multiplies every component, correctly rounded.",
    axes={"component": (Component.FLOAT16, Component.FLOAT32)},
)
def test_times_scalar(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    trial = _Trial(subject, data, axes.component)
    vector = trial.drawn("x", axes.component)
    bits = int(data.draw(operand(axes.component, 1, 1))[0, 0])
    trial.draft.body += [ScalarConstant("s", axes.component, bits), TimesScalar("y", vector, "s")]
    trial.finish("y", axes.component)


@dataclasses.dataclass(frozen=True)
class Converted:
    """A value of a ``conversion`` axis."""

    by: Conversion
    source: Component
    target: Component

    @property
    def label(self) -> str:
        """``f_to_s-float16-sint8``."""
        return f"{self.by.label}-{self.source.label}-{self.target.label}"


@case(
    id="cooperative_vector.values.convert",
    rows=("V-09",),
    spec="SPV_NV_cooperative_vector#OpFConvert",
    requirement="Conversions and bit casts act on every component as the scalar instructions do.",
    axes={"conversion": tuple(Converted(*one) for one in CONVERSIONS)},
)
def test_convert(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    it = axes.conversion
    trial = _Trial(subject, data, it.source, it.target)
    bits = data.draw(convertible_operand(it.by, it.source, it.target, trial.count, trial.length))
    value = trial.load("x", it.source, bits)
    kind = VectorType(it.target, trial.length)
    trial.draft.body.append(VectorConvert("y", kind, value, it.by))
    trial.finish("y", it.target)


@case(
    id="cooperative_vector.values.constants",
    rows=("V-09",),
    spec=SPEC,
    requirement="A vector of constants holds them, however it is made.",
    axes={"form": tuple(Make), "component": VECTOR_COMPONENTS},
)
def test_constants(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    form, component = axes.form, axes.component
    trial = _Trial(subject, data, component)
    recipe = data.draw(bit_recipes(component, specials=False), label="recipe")
    made = realise(recipe, component, 1, trial.length, 1)[0, 0]
    bits = tuple(int(b) for b in made)
    if form is Make.NULL:
        bits = ()
    elif form.splat or data.draw(st.booleans(), label="all equal"):
        bits = bits[:1]
    kind = VectorType(component, trial.length)
    trial.draft.body.append(Constant("c", kind, bits, form))
    trial.finish("c", component)


@case(
    id="cooperative_vector.values.constants_used",
    rows=("V-09",),
    spec=SPEC,
    requirement="A constant vector is an operand like any other.",
    axes={"form": tuple(Make)},
)
def test_constants_used(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = Component.FLOAT16
    trial = _Trial(subject, data, component)
    recipe = realise_small(data, trial.length)
    bits = () if axes.form is Make.NULL else recipe[:1] if axes.form.splat else recipe
    trial.draft.body.append(Constant("c", VectorType(component, trial.length), bits, axes.form))
    value = trial.drawn("x", component)
    trial.draft.body.append(Elementwise("y", VectorOp.FADD, (value, "c")))
    trial.finish("y", component)


def realise_small(data: st.DataObject, length: int) -> tuple[int, ...]:
    """Small float16 numbers, as bits."""
    words = random_words(data.draw(SEEDS, label="seed"), (length,))
    return tuple((0x0000, 0x3C00, 0x4000, 0x4200, 0xBC00)[int(word % 5)] for word in words)


@case(
    id="cooperative_vector.values.extract_insert",
    rows=("V-09",),
    spec="SPV_NV_cooperative_vector#OpVectorExtractDynamic",
    requirement="Single components are extracted and inserted by constant indices and by indices "
    "that differ between invocations.",
    axes={"component": VECTOR_COMPONENTS, "dynamic": (False, True)},
)
def test_extract_insert(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component, dynamic = axes.component, axes.dynamic
    trial = _Trial(subject, data, component)
    value = trial.drawn("x", component)
    other = trial.drawn("z", component)

    def index() -> Index:
        if not dynamic:
            return Index(data.draw(st.integers(0, trial.length - 1), label="index"))
        words = random_words(data.draw(SEEDS, label="indices"), (trial.count,))
        table = tuple(int(word % trial.length) for word in words)
        return Index(0, 1, Spread.TABLE, table=table)

    trial.draft.body += [
        Extract("s", value, index(), dynamic),
        Extract("t", other, index(), dynamic),
        Insert("i", other, "s", index(), dynamic),
        Insert("y", "i", "t", index(), dynamic),
    ]
    trial.finish("y", component)


@case(
    id="cooperative_vector.values.construct",
    rows=("V-09",),
    spec=SPEC,
    requirement="A vector constructed from scalars holds them in their order.",
    axes={"component": VECTOR_COMPONENTS},
)
def test_construct(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = axes.component
    trial = _Trial(subject, data, component)
    value = trial.drawn("x", component)
    order = [data.draw(st.integers(0, trial.length - 1)) for _ in range(min(trial.length, 6))]
    names = tuple(f"s{i}" for i in range(len(order)))
    trial.draft.body += [
        Extract(name, value, Index(at), False) for name, at in zip(names, order, strict=True)
    ]
    scalars = tuple(names[i % len(names)] for i in range(trial.length))
    trial.draft.body.append(Construct("y", VectorType(component, trial.length), scalars))
    trial.finish("y", component)


@case(
    id="cooperative_vector.values.through",
    rows=("V-09",),
    spec=SPEC,
    requirement="A vector flows unchanged through functions, variables, arrays, structures and "
    "control flow.",
    axes={"via": tuple(Via)},
)
def test_through(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = data.draw(st.sampled_from((Component.FLOAT16, Component.FLOAT32)), label="type")
    trial = _Trial(subject, data, component)
    values = tuple(trial.drawn(name, component) for name in ("p", "q", "r"))
    chosen = data.draw(st.integers(0, 2), label="which")
    trial.draft.body.append(Through("y", values, chosen, axes.via))
    trial.finish("y", component)


@case(
    id="cooperative_vector.values.array",
    rows=("V-09",),
    spec=SPEC,
    requirement="Each invocation reads the element of an array of vectors that its own index "
    "names.",
    axes={"component": (Component.FLOAT16, Component.SINT32)},
)
def test_array(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = axes.component
    trial = _Trial(subject, data, component)
    values = tuple(trial.drawn(name, component) for name in ("p", "q", "r"))
    words = random_words(data.draw(SEEDS, label="indices"), (trial.count,))
    table = tuple(int(word % 3) for word in words)
    trial.draft.body.append(Pick("y", values, Index(0, 1, Spread.TABLE, table=table)))
    trial.finish("y", component)
