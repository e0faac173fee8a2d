"""Every module that the strategies here lead to is valid SPIR-V, and disassembles to the names
in the tables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from cts.program.arithmetic import Binary, Conversion, Convert, Negate, Operator, Scale
from cts.program.controls import WIDTHS, Control, Mode
from cts.program.element_rules import FLOAT8, NO_ARITHMETIC, fits
from cts.program.flow import Barrier, Through, Via
from cts.program.model import (
    Address,
    Branch,
    Buffer,
    Carry,
    Component,
    Form,
    Grid,
    Layout,
    Length,
    Load,
    MatrixType,
    Merge,
    MulAdd,
    Numbers,
    Pointee,
    Program,
    Rebuild,
    Repeat,
    Robust,
    Splat,
    Stamp,
    Statement,
    Storage,
    Store,
    Use,
)
from cts.program.records import record_needs
from cts.program.requires import requirements
from cts.program.valid import invalid
from cts.spirv import core
from cts.spirv import first as first_extension
from cts.spirv.lower import lower
from cts.spirv.tools import disassemble, validate
from reference.device import ReferenceDevice

COMPONENTS = tuple(it for it in Component if not it.name.endswith("PACKED"))
UNSIGNED = {
    8: Component.UINT8,
    16: Component.UINT16,
    32: Component.UINT32,
    64: Component.UINT64,
}
SINT32 = MatrixType(Component.SINT32, 8, 8, Use.ACCUMULATOR)


def matrix(component: Component) -> MatrixType:
    return MatrixType(component, 8, 8, Use.ACCUMULATOR)


def at(buffer: str, **more: int) -> Address:
    return Address(buffer, Layout.ROW_MAJOR, 8, 0, 64, **more)


def program(
    body: list[Statement], components: dict[str, Component], storage=Storage.STORAGE_BUFFER, **more
) -> Program:
    """``body`` over buffers of 64 tiles of these components."""
    buffers = []
    for name, component in components.items():
        kind = UNSIGNED[component.bits] if component in NO_ARITHMETIC else component
        buffers.append(Buffer(name, Pointee(kind), 64 * 40, storage))
    return Program(Grid(2, 2, 8), tuple(buffers), tuple(body), **more)


def around(component: Component, *statements: Statement, **more) -> Program:
    """Loads of a and b, the statements, a store of r."""
    kind = matrix(component)
    loads = [Load("a", kind, at("x")), Load("b", kind, at("x"))]
    types = {"x": component, "y": component}
    return program([*loads, *statements, Store("r", at("y"))], types, **more)


def conversions() -> Iterator[Program]:
    for by, source, target in itertools.product(Conversion, COMPONENTS, COMPONENTS):
        if not fits(by, source, target):
            continue
        into_float8 = target in FLOAT8 and by.name.endswith("F")
        for saturating in (False, True)[: 1 + into_float8]:
            body = [
                Load("a", matrix(source), at("x")),
                Convert("r", matrix(target), "a", by, saturating),
                Store("r", at("y")),
            ]
            yield program(body, {"x": source, "y": target})


def arithmetic() -> Iterator[Program]:
    for component in COMPONENTS:
        if component in NO_ARITHMETIC:
            continue
        for precise in (False, True):
            yield around(component, Negate("r", "a"), precise=precise)
            yield around(component, Scale("r", "a", 3), precise=precise)
            for operator in Operator:
                yield around(component, Binary("r", operator, "a", "b"), precise=precise)


def passages() -> Iterator[Program]:
    for component in (
        Component.FLOAT16,
        Component.BFLOAT16,
        Component.FLOAT8_E4M3,
        Component.SINT8,
    ):
        for via, numbers in itertools.product(Via, Numbers):
            yield around(component, Through("r", ("a", "b"), 1, via), numbers=numbers)


def constructions() -> Iterator[Program]:
    for form, component in itertools.product(Form, COMPONENTS):
        bits = 0 if form is Form.NULL else 1
        yield around(component, Splat("r", matrix(component), bits, form))


def control_flow() -> Iterator[Program]:
    inner = Repeat(2, (Carry("v", "u", "v2", "v3"),), (Negate("v2", "v"),))
    side = (Binary("u", Operator.ADD, "s", "q"), inner)
    branch = Branch(0, side, (), (Merge("s2", "v3", "s"),))
    loop = Repeat(3, (Carry("s", "a", "s2", "r"),), (Load("q", SINT32, at("x", step=64)), branch))
    for numbers in Numbers:
        yield around(Component.SINT32, loop, numbers=numbers)
    for by_access, storage in itertools.product((False, True), Storage):
        body: list[Statement] = [
            Load("a", SINT32, at("x")),
            Store("a", at("y")),
            Barrier(by_access=by_access),
            Load("b", SINT32, at("y", turn=1)),
            Store("b", at("z")),
        ]
        yield program(body, dict.fromkeys("xyz", Component.SINT32), storage)


def controlled() -> Iterator[Program]:
    for mode, width in itertools.product(Mode, WIDTHS):
        yield around(Component.FLOAT32, Negate("r", "a"), controls=(Control(mode, width),))


def first() -> Iterator[Program]:
    for component in (Component.FLOAT16, Component.SINT8, Component.UINT32, Component.FLOAT64):
        kinds = [MatrixType(component, 8, 8, use) for use in Use]
        body: list[Statement] = [
            Load("a", kinds[0], at("x")),
            Load("b", kinds[1], at("x")),
            Load("c", kinds[2], replace(at("x"), layout=Layout.COLUMN_MAJOR)),
            MulAdd("d", kinds[2], "a", "b", "c", *[component.is_signed] * 4),
            Splat("e", kinds[2], 1, Form.CONSTRUCT),
            Binary("f", Operator.ADD, "d", "e"),
            Through("g", ("f", "e"), 0, Via.ARRAY_DYNAMIC),
            Rebuild("h", "g"),
            Length(kinds[0], "l"),
            Store("h", at("y")),
        ]
        if component.is_integer:
            body.append(Stamp("s", kinds[2]))
        types = {"x": component, "y": component, "l": Component.UINT32}
        for storage in Storage:
            yield program(body, types, storage, first=True)
        sizes = frozenset({"rows", "columns", "scope", "local_size"})
        yield program(body, types, first=True, specialized=sizes)


FAMILIES = (
    conversions,
    arithmetic,
    passages,
    constructions,
    control_flow,
    controlled,
    first,
)


@pytest.mark.parametrize("family", FAMILIES)
def test_modules_are_valid(family) -> None:
    count = 0
    for one in family():
        assert invalid(one) is None
        assert validate(lower(one).words) is None, one
        count += 1
    assert count > 8


def test_instructions_disassemble_to_their_names() -> None:
    listed = set()
    for family in FAMILIES:
        for one in family():
            text = disassemble(lower(one).words)
            assert text is not None
            listed |= set(re.findall(r"\w+", text))
    tables = (core.Op, first_extension.Op)
    wanted = {f"Op{op.name}" for table in tables for op in table}
    wanted |= {it.name for table in (core.Capability, core.Decoration, core.Memory) for it in table}
    wanted |= {mode.value for mode in Mode}
    assert wanted <= listed


def test_only_first_modules_use_the_first_extension() -> None:
    one = next(first())
    old, new = lower(one), lower(replace(one, first=False))
    assert "SPV_NV_cooperative_matrix" in old.extensions
    assert "CooperativeMatrixKHR" not in old.capabilities
    assert "SPV_NV_cooperative_matrix" not in new.extensions


def test_a_barrier_orders_every_buffer_that_is_exchanged() -> None:
    """Also those whose conflict a later barrier would hide."""
    body: list[Statement] = [
        Load("a", SINT32, at("x")),
        Store("a", at("y")),
        Store("a", at("z")),
        Load("b", SINT32, at("y")),
        Load("c", SINT32, at("z")),
        Store("b", at("w")),
        Store("c", at("v")),
    ]
    words = lower(program(body, dict.fromkeys("xyzwv", Component.SINT32))).words
    text = disassemble(words)
    assert text is not None
    accesses = re.findall(r"OpCooperativeMatrix(?:Load|Store)KHR.*", text)
    shared = [line for line in accesses if "NonPrivatePointer" in line]
    assert len(shared) == 4


@pytest.mark.parametrize(
    ("more", "feature"),
    [
        ({}, "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrixRobustBufferAccess"),
        (
            {"first": True},
            "VkPhysicalDeviceCooperativeMatrixFeaturesNV.cooperativeMatrixRobustBufferAccess",
        ),
    ],
)
def test_robust_access_needs_the_features_of_its_extension(more, feature: str) -> None:
    one = around(Component.SINT32, Negate("r", "a"), robust=Robust.ONE, **more)
    features = requirements(lower(one)).features
    assert {feature, "VkPhysicalDeviceFeatures.robustBufferAccess"} <= set(features)
    assert not any(
        "Robust" in name for name in requirements(lower(replace(one, robust=None))).features
    )


@pytest.mark.parametrize("extension", ["VK_KHR_robustness2", "VK_EXT_robustness2"])
def test_robust_access_2_comes_by_the_extension_that_there_is(extension: str) -> None:
    info = replace(ReferenceDevice().info, extensions={extension: 1})
    one = around(Component.SINT32, Negate("r", "a"), robust=Robust.TWO)
    needs = record_needs(one, info)
    assert [need.extension for need in needs] == [extension]
