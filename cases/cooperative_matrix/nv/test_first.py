"""VK_NV_cooperative_matrix, the first extension: its own types and instructions.

Integers are exact "unless there is overflow or underflow", and then undefined: nothing wraps here.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import COMPONENTS, FLOAT_FAMILIES, INTEGER_FAMILIES, Family
from cts.draw.combinations import Combination, first_combinations, matrix_types
from cts.draw.elements import ARITHMETIC, arithmetic, negations, scalings
from cts.draw.flow import constructions, passages
from cts.draw.products import operand_recipes
from cts.draw.programs import Recipes, Sample, Slot, copies, lengths, mul_adds, stamps
from cts.draw.recipes import bit_recipes, small_recipes
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.arithmetic import Operator
from cts.program.flow import Via
from cts.program.model import Component, Form, MatrixType, Storage
from cts.subject import Subject

FIRST = "SPV_NV_cooperative_matrix"
OLD_COMPONENTS = tuple(
    it for it in COMPONENTS if it is not Component.BFLOAT16 and not it.name.startswith("FLOAT8")
)
FORMS = tuple(form for form in Form if "REPLICATE" not in form.name)
OPERATORS = (Operator.ADD, Operator.SUBTRACT, Operator.DIVIDE)


def _matrix(subject: Subject, data: st.DataObject, component: Component) -> MatrixType:
    found = matrix_types(subject.info, component, first=True)
    kind = component.label
    subject.require(bool(found), f"no matrix of the first extension has {kind} components")
    return data.draw(members(found), label="matrix")


def _check(subject: Subject, sample: Sample) -> None:
    subject.check(replace(sample.program, first=True), sample.operands)


@case(
    id="cooperative_matrix.nv.load_store",
    rows=("M-19",),
    spec=f"{FIRST}#OpCooperativeMatrixLoadNV",
    requirement="A matrix is loaded from and stored to the elements that the stride and the "
    "column-major operand say, bit by bit, in every storage class.",
    level=Level.REQUIRED,
    axes={"component": OLD_COMPONENTS, "storage": tuple(Storage)},
)
def test_load_store(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    source = Slot("x", matrix, storage=axes.storage)
    target = Slot("y", matrix, stores=True)
    recipes = bit_recipes(axes.component)
    _check(subject, data.draw(copies(subject.info, source, target, recipes), label="program"))


def _choose(subject: Subject, data: st.DataObject, family: Family) -> Combination:
    found = [it for it in first_combinations(subject.info) if family.accepts(it)]
    subject.require(bool(found), f"no combination of the first extension is {family.label}")
    return data.draw(members(found), label="combination")


def _integers(combination: Combination) -> Recipes:
    """Operands whose sums stay in the range of the result."""
    types = combination.types
    bits = min(types.result.bits, types.c.bits) - 1 - types.result.is_signed
    top = max(1, min(127, int(((1 << bits) // combination.k) ** 0.5)))
    signed = types.result.is_signed
    inputs = small_recipes(top, signed=signed)
    return Recipes(inputs, inputs, small_recipes(min((1 << bits) - 1, 1 << 40), signed=signed))


@case(
    id="cooperative_matrix.nv.mul_add.integer",
    rows=("M-19",),
    spec=f"{FIRST}#OpCooperativeMatrixMulAddNV",
    requirement="A multiply-add of integers is exact where nothing overflows, each operand as "
    "signed as its component type.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES},
)
def test_mul_add_integer(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types)
    drawn = mul_adds(subject.info, combination, _integers(combination))
    _check(subject, data.draw(drawn, label="program"))


@case(
    id="cooperative_matrix.nv.mul_add.float",
    rows=("M-07", "M-19"),
    spec=f"{FIRST}#OpCooperativeMatrixMulAddNV",
    requirement="A multiply-add of floats is exact where no order of addition can round.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_mul_add_float(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    combination = _choose(subject, data, axes.types)
    recipes = Recipes(*operand_recipes(combination, combination.k))
    _check(subject, data.draw(mul_adds(subject.info, combination, recipes), label="program"))


@case(
    id="cooperative_matrix.nv.length",
    rows=("M-09", "M-19"),
    spec=f"{FIRST}#OpCooperativeMatrixLengthNV",
    requirement="The lengths that the invocations see add up to at least the number of elements, "
    "and a matrix taken apart by index and put together again is the same.",
    level=Level.REQUIRED,
    axes={"component": OLD_COMPONENTS, "how": ("length", "rebuild", "cover")},
    where=lambda axes: axes.how != "cover" or axes.component.is_integer,
)
def test_length(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix, info = _matrix(subject, data, axes.component), subject.info
    if axes.how == "length":
        drawn = lengths(info, matrix)
    elif axes.how == "cover":
        drawn = stamps(info, matrix)
    else:
        source, target = Slot("x", matrix), Slot("y", matrix, stores=True)
        recipes = bit_recipes(axes.component, specials=False)
        drawn = copies(info, source, target, recipes, rebuild=True)
    _check(subject, data.draw(drawn, label="program"))


@case(
    id="cooperative_matrix.nv.construct",
    rows=("M-10", "M-19"),
    spec=f"{FIRST}#OpConstantComposite",
    requirement="A matrix made of one scalar holds it in every element.",
    level=Level.REQUIRED,
    axes={"form": FORMS, "component": OLD_COMPONENTS},
    examples=0.5,
)
def test_construct(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix = _matrix(subject, data, axes.component)
    _check(subject, data.draw(constructions(subject.info, matrix, axes.form), label="program"))


@case(
    id="cooperative_matrix.nv.arithmetic",
    rows=("M-11", "M-19"),
    spec=f"{FIRST}#OpTypeCooperativeMatrixNV",
    requirement="Negation, addition, subtraction, division and products with a scalar work on "
    "each element as the scalar instructions do.",
    level=Level.REQUIRED,
    axes={"component": tuple(it for it in ARITHMETIC if it in OLD_COMPONENTS)},
)
def test_arithmetic(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    matrix, info = _matrix(subject, data, axes.component), subject.info
    operators: tuple[Operator | str, ...] = (*OPERATORS, "negate", "scale")
    operator = data.draw(members(operators), label="operator")
    if operator == "negate":
        drawn = negations(info, matrix)
    elif operator == "scale":
        drawn = scalings(info, matrix)
    else:
        assert isinstance(operator, Operator)
        drawn = arithmetic(info, matrix, operator)
    _check(subject, data.draw(drawn, label="program"))


@case(
    id="cooperative_matrix.nv.flow",
    rows=("M-12", "M-19"),
    spec=f"{FIRST}#OpTypeCooperativeMatrixNV",
    requirement="A matrix passes unchanged through functions, aggregates, variables and OpPhi.",
    level=Level.REQUIRED,
    axes={"via": tuple(Via)},
)
def test_flow(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    found = [
        matrix
        for component in OLD_COMPONENTS
        for matrix in matrix_types(subject.info, component, first=True)
    ]
    subject.require(bool(found), "no matrix of the first extension is advertised")
    matrix = data.draw(members(found), label="matrix")
    _check(subject, data.draw(passages(subject.info, matrix, axes.via), label="program"))
