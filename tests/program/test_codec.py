"""What is written is read back equal; what was tampered with is refused with a sentence."""

from __future__ import annotations

import base64
import json
import time
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cts.device.protocol import (
    BufferData,
    Conversion,
    Convert,
    Describe,
    DeviceInfo,
    Dispatch,
    Matrix,
    Query,
    Reply,
)
from cts.program import codec
from cts.program.model import Address, Component, Layout, MatrixType, Program, Use
from cts.program.plain import codec_of
from cts.program.recipe import Operand, Pattern, Plant, Recipe
from cts.spirv.request import dispatch
from tests.program.devices import INFO
from tests.spirv.everything import PROGRAMS, product
from tests.spirv.programs import programs


def request(program: Program) -> Dispatch:
    workgroups = program.grid.workgroups
    return dispatch(
        program,
        {buffer.name: bytes(buffer.backing_bytes(workgroups)) for buffer in program.buffers},
    )


SIDE = Matrix(Component.FLOAT16, 0, 16, 512, 64)
OBJECTS = [
    Recipe(),
    Recipe(Pattern.WIDE, 7, 3, 5, True, -4, (Plant(0, 1, 2, 0x7C00),)),
    Operand(
        Address("a", Layout.COLUMN_MAJOR, 8, 1, 64),
        MatrixType(Component.FLOAT16, 8, 8, Use.A),
        Recipe(),
        4,
    ),
    request(product()),
    Dispatch(b"\x03\x02", (BufferData(b"ab", True), BufferData(b"")), (1, 2, 3), repeat=4),
    Query("vkGetPhysicalDeviceCooperativeMatrixProperties2EXT", parameters=(("scope", 3),)),
    Convert((Conversion(8, 8, SIDE, SIDE, null_source=True),), b"\x00" * 40, True, (1, 2)),
    Describe(),
    Reply(-4, "fence", (b"\xff" * 9,), (1,), (0, 5), {"fence": 0.25, "submit": 0.0}),
    INFO,
]
NAMES = [f"{type(it).__name__}{index}" for index, it in enumerate(OBJECTS)]


@pytest.mark.parametrize("thing", OBJECTS, ids=NAMES)
def test_everything_comes_back_equal(thing: object) -> None:
    text = json.dumps(codec.to_json(thing))
    assert codec.from_json(json.loads(text)) == thing


@settings(max_examples=100, deadline=None)
@given(programs())
def test_programs_come_back_equal(program: Program) -> None:
    assert codec.from_json(json.loads(json.dumps(codec.to_json(program)))) == program


def test_members_with_their_default_are_left_out() -> None:
    assert codec.to_json(Recipe()) == {"$type": "Recipe"}
    assert codec.to_json(Recipe(Pattern.ONES)) == {"$type": "Recipe", "pattern": "ONES"}


def test_long_runs_of_bytes_are_small() -> None:
    document = json.dumps(codec.to_json(Dispatch(b"", (BufferData(bytes(1 << 20)),), (1, 1, 1))))
    assert len(document) < 4096


class TestDigest:
    def test_equal_requests_have_equal_digests(self) -> None:
        assert codec.digest(request(product())) == codec.digest(request(product()))

    def test_every_part_of_a_request_counts(self) -> None:
        variants = [request(program) for program in PROGRAMS]
        variants += [
            Dispatch(b"\x00", (), (1, 1, 1)),
            Dispatch(b"\x01", (), (1, 1, 1)),
            Dispatch(b"\x00", (), (1, 1, 2)),
            Dispatch(b"\x00", (BufferData(b"\x00"),), (1, 1, 1)),
            Dispatch(b"\x00", (BufferData(b"\x00", True),), (1, 1, 1)),
            Dispatch(b"\x00", (), (1, 1, 1), repeat=2),
        ]
        digests = {codec.digest(variant) for variant in variants}
        assert len(digests) == len({json.dumps(codec.to_json(it)) for it in variants})
        assert len(digests) > len(PROGRAMS)


def changed(path: tuple[str | int, ...], value: object) -> Any:
    document = json.loads(json.dumps(codec.to_json(request(product()))))
    target = document
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return document


BOMB = base64.b64encode(zlib.compress(bytes(1 << 20)) + b"more").decode()


@pytest.mark.parametrize(
    "document",
    [
        None,
        3,
        "Program",
        [],
        {},
        {"$type": "Program"},
        {"$type": 7},
        {"$type": ["Program"]},
        {"$type": "os.system", "command": "true"},
        {"$type": "MatrixType", "component": "FLOAT16"},
        {"$type": "Recipe", "seed": "1"},
        {"$type": "Recipe", "seed": True},
        {"$type": "Recipe", "seed": 1.5},
        {"$type": "Recipe", "seed": 1 << 200},
        {"$type": "Recipe", "seed": None},
        {"$type": "Recipe", "negate": 1},
        {"$type": "Recipe", "pattern": "__class__"},
        {"$type": "Recipe", "pattern": 0},
        {"$type": "Recipe", "plants": {"$type": "Plant"}},
        {"$type": "Recipe", "plants": [{"$type": "Recipe"}]},
        {"$type": "Recipe", "colour": "red"},
        {"$type": "Reply", "seconds": {"fence": float("nan")}},
        {"$type": "Reply", "seconds": [1]},
        {"$type": "Reply", "buffers": "AAAA"},
        changed(("words",), 5),
        changed(("words",), "not base64!"),
        changed(("words",), base64.b64encode(b"not zlib").decode()),
        changed(("words",), BOMB),
        changed(("workgroups",), [1, 1]),
        changed(("workgroups",), [1, 1, 1, 1]),
        changed(("program", "body", 0), {"$type": "Program"}),
        changed(("program", "body", 0), "Load"),
        changed(("program", "body", 0, "type", "use"), "D"),
        changed(("program", "numbers"), None),
        changed(("required_subgroup_size",), "8"),
    ],
)
def test_tampered_documents_are_refused(document: object) -> None:
    with pytest.raises(ValueError, match=r"^This isn't a document of the suite: .*\.$"):
        codec.from_json(document)


def test_refusals_say_where() -> None:
    with pytest.raises(ValueError, match=r"Dispatch\.program Program\.body Load\.type MatrixType"):
        codec.from_json(changed(("program", "body", 0, "type", "use"), "D"))


def test_depth_is_bounded() -> None:
    nested: Any = 1
    for _ in range(500):
        nested = [nested]
    document = {**codec.to_json(INFO), "properties": {"deep": nested}}
    with pytest.raises(ValueError, match="deep"):
        codec.from_json(document)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(JSON, st.data())
def test_any_replaced_member_is_read_or_refused(value: Any, data: st.DataObject) -> None:
    document = json.loads(json.dumps(codec.to_json(product())))
    target = document
    while True:
        keys = list(target) if isinstance(target, dict) else list(range(len(target)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(target[key], dict | list) or data.draw(st.booleans()):
            target[key] = value
            break
        target = target[key]
    try:
        read = codec.from_json(document)
    except ValueError as error:
        assert str(error).startswith("This isn't a document of the suite")
    else:
        assert isinstance(read, codec.ROOTS)


def test_only_roots_can_be_written() -> None:
    with pytest.raises(TypeError, match="no JSON form"):
        codec.to_json(MatrixType(Component.FLOAT16, 8, 8, Use.A))
    with pytest.raises(TypeError, match="JSON"):
        codec.to_json(DeviceInfo("a", "b", "c", "d", "e", "f", properties={"x": b"bytes"}))


@pytest.mark.parametrize("annotation", [object, set[str], dict[int, str], int | bool | float])
def test_annotations_without_a_form_are_a_fault_of_the_suite(annotation: Any) -> None:
    with pytest.raises(TypeError):
        codec_of(annotation)


def test_a_digest_is_quick_to_make() -> None:
    big = request(product())
    durations = []
    for _ in range(50):
        start = time.perf_counter()
        codec.digest(big)
        durations.append(time.perf_counter() - start)
    assert min(durations) < 2e-3
