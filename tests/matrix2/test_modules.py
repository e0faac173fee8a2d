"""Modules of the extensions are valid SPIR-V, as far as the published validator knows them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cts.draw.tensor_programs import tensor_copies
from cts.draw.tensors import block_sizes, layouts, views
from cts.program.codec import from_json, to_json
from cts.program.expression import Apply, Axis, Choose, Condition, Element, Extra, Operator, Place
from cts.program.matrix2 import ConvertUse, Locate, PerElement, Reduce, Reduction
from cts.program.model import (
    Address,
    Buffer,
    Component,
    Dialect,
    Grid,
    Layout,
    Load,
    MatrixType,
    Numbers,
    Pointee,
    Program,
    Statement,
    Store,
    Use,
)
from cts.program.requires import requirements
from cts.program.tensor import Clamp, Code, Decode
from cts.program.text import describe
from cts.program.valid import invalid
from cts.spirv.lower import lower
from cts.spirv.tools import validate
from reference.device import ReferenceDevice

INFO = ReferenceDevice().info
COMPONENTS = tuple(it for it in Component if not it.name.endswith("PACKED"))
_BITS = {8: Component.UINT8, 16: Component.UINT16, 32: Component.UINT32, 64: Component.UINT64}


def program(
    component: Component, operator: Operator, reduction: Reduction, dialect: Dialect
) -> Program:
    """Everything that both dialects have, over one component type."""
    accumulator = MatrixType(component, 8, 8, Use.ACCUMULATOR)
    small = MatrixType(component, 4, 4, Use.ACCUMULATOR)
    a, b = (MatrixType(component, 8, 8, use) for use in (Use.A, Use.B))
    names = "mrpabt"
    buffers = tuple(Buffer(name, Pointee(_BITS[component.bits]), 256) for name in names)

    def at(name: str) -> Address:
        return Address(name, Layout.ROW_MAJOR, 16, 0, 128)

    function = Choose(
        Condition.BELOW_DIAGONAL,
        Apply(operator, Element(), Extra(0)),
        Apply(operator, Place(Axis.ROW), Extra(1)),
    )
    body: list[Statement] = [
        Load("m", accumulator, at("m")),
        Reduce(
            "r", small if reduction is Reduction.QUAD else accumulator, "m", reduction, operator
        ),
        PerElement("p", accumulator, "m", function, (1,), ("m",)),
        ConvertUse("a", a, "p"),
        ConvertUse("b", b, "m"),
        ConvertUse("t", b, "m", True),
    ]
    if dialect is Dialect.EXT:
        body.append(Locate("l", accumulator, "m", Place(Axis.COLUMN)))
    body += [Store(name, at(name)) for name in "rpabt"]
    return Program(Grid(1, 1, 8), buffers, tuple(body), Numbers.BUFFER, dialect=dialect)


def _programs(dialect: Dialect) -> Iterator[Program]:
    for index, component in enumerate(COMPONENTS):
        operators = [it for it in Operator if it.combines and it.takes(component)]
        for at, reduction in enumerate(Reduction):
            yield program(component, operators[(index + at) % len(operators)], reduction, dialect)


@pytest.mark.parametrize("dialect", Dialect)
def test_programs_are_valid_and_survive_being_written(dialect: Dialect) -> None:
    for one in _programs(dialect):
        assert invalid(one) is None
        assert from_json(to_json(one)) == one
        assert len(describe(one).splitlines()) > len(one.body)


def test_modules_of_matrix2_are_valid_and_of_its_version() -> None:
    for one in _programs(Dialect.NV):
        module = lower(one)
        assert validate(module.words) is None
        assert int.from_bytes(module.words[4:8], "little") == 0x00010600
        assert "SPV_NV_cooperative_matrix2" in module.extensions


def test_the_dialect_decides_extension_and_features() -> None:
    nv, ext = (
        requirements(lower(program(Component.FLOAT32, Operator.ADD, Reduction.ROW, dialect)))
        for dialect in Dialect
    )
    assert "VK_NV_cooperative_matrix2" in nv.extensions
    assert "VK_NV_cooperative_matrix2" not in ext.extensions
    assert "VK_EXT_cooperative_matrix_maintenance1" in ext.extensions
    assert not any("CooperativeMatrix2FeaturesNV" in feature for feature in ext.features)
    assert {feature.rpartition(".")[2] for feature in nv.features} <= {
        feature.rpartition(".")[2] for feature in ext.features
    }


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_modules_of_tensor_addressing_are_valid(data: st.DataObject) -> None:
    component = data.draw(st.sampled_from(COMPONENTS))
    matrix = MatrixType(component, 8, 16, data.draw(st.sampled_from(Use)))
    rank = data.draw(st.integers(1, 5))
    decodes = data.draw(st.booleans())
    storing = not decodes and data.draw(st.booleans())
    block = data.draw(block_sizes(rank)) if decodes else ()
    decode = Decode(data.draw(st.sampled_from(Code)), block, 3) if decodes else None
    clamp = data.draw(st.sampled_from(Clamp))
    drawn = data.draw(layouts(matrix, rank, clamp, storing=storing, block=block))
    view = data.draw(st.none() | views(matrix, drawn.layout, clip=True))
    sample = data.draw(tensor_copies(INFO, matrix, drawn, view, storing=storing, decode=decode))
    assert invalid(sample.program) is None
    assert from_json(to_json(sample.program)) == sample.program
    assert validate(lower(sample.program).words) is None
