"""The rules of the enumeration commands: each broken by hand, each found by name."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from cts.device.protocol import DeviceInfo, Query, Reply
from cts.outcome import Level
from reference import queries
from reference.queries import SHAPES, decode, judge, judge_agreement, plan
from reference.query_values import judge_records
from reference.rules import Violation

RECORDS = [
    {name: 1 + (i if name.endswith(("Size", "Granularity")) else 0) for name in shape.members}
    | {"scope": 3}
    for shape in (SHAPES[queries.KHR],)
    for i in range(5)
]


def answer(query: Query, records: list[dict[str, int]] = RECORDS) -> Reply:
    """A correct implementation of a query on prepared memory."""
    if query.null:
        return Reply(counts=(len(records),), results=(0,), buffers=(b"",))
    shape = SHAPES[query.command]
    memory = bytearray(queries.untouched(query))
    count = min(query.capacity, len(records))
    for index in range(count):
        values = [records[index][name] for name in shape.members]
        struct.pack_into(f"<{len(values)}I", memory, index * shape.bytes + 16, *values)
    result = 5 if count < len(records) else 0
    return Reply(counts=(count,), results=(result,), buffers=(bytes(memory),))


def rows(found: list[Violation]) -> set[str]:
    return {violation.row for violation in found}


def all_rows(device: Callable[[Query], Reply]) -> set[str]:
    return set().union(
        *(rows(judge(query, device(query), len(RECORDS))) for query in plan(queries.KHR, 5))
    )


def test_structure_sizes_are_those_of_a_64_bit_c_compiler() -> None:
    sizes = {command: shape.bytes for command, shape in SHAPES.items()}
    assert sizes == {
        queries.KHR: 56,
        queries.NV: 48,
        queries.FLEXIBLE: 56,
        queries.MAINTENANCE1: 48,
        queries.VECTOR: 40,
    }


def test_the_plan_has_every_capacity_and_both_poisons() -> None:
    calls = plan(queries.KHR, 5)
    assert calls[0].null
    assert {(q.capacity, q.poison) for q in calls[1:]} == {
        (capacity, poison) for capacity in range(7) for poison in (0xA5, 0)
    }
    many = plan(queries.KHR, 1000)
    assert {0, 1, 999, 1000, 1001} <= {q.capacity for q in many}
    assert len(many) < 70


def test_a_correct_device_breaks_nothing() -> None:
    assert all_rows(answer) == set()


def test_records_come_back_as_they_were_written() -> None:
    query = Query(queries.KHR, capacity=5, allocated=7)
    assert decode(queries.KHR, answer(query).buffers[0], 5) == RECORDS
    with pytest.raises(ValueError, match="can't hold"):
        decode(queries.KHR, b"", 1)


def changed(query: Query, at: int, value: int) -> Reply:
    reply = answer(query)
    if query.null:
        return reply
    memory = bytearray(reply.buffers[0])
    memory[at] = value
    return Reply(counts=reply.counts, results=reply.results, buffers=(bytes(memory),))


@pytest.mark.parametrize(
    ("row", "device"),
    [
        (
            "Q-01",
            lambda q: Reply(counts=(6,), results=(0,), buffers=(b"",)) if q.null else answer(q),
        ),
        (
            "Q-01",
            lambda q: Reply(counts=(5,), results=(5,), buffers=(b"",)) if q.null else answer(q),
        ),
        (
            "Q-02",
            lambda q: Reply(counts=answer(q).counts, results=(0,), buffers=answer(q).buffers),
        ),
        (
            "Q-02",
            lambda q: Reply(counts=(5,), results=answer(q).results, buffers=answer(q).buffers),
        ),
        ("Q-03", lambda q: answer(q, RECORDS[:-1])),
        ("Q-04", lambda q: changed(q, -1, 1)),
        ("Q-04", lambda q: changed(q, q.capacity * 56 + 20, 1)),
        ("Q-05", lambda q: changed(q, 0, 1) if q.capacity else answer(q)),
        ("Q-05", lambda q: changed(q, 9, 1) if q.capacity else answer(q)),
    ],
    ids=[
        "null count too small",
        "null count fails",
        "short is complete",
        "short counts too many",
        "last record dropped",
        "guard touched",
        "record touched",
        "sType changed",
        "pNext changed",
    ],
)
def test_each_fault_is_found_under_its_row(row: str, device: Callable[[Query], Reply]) -> None:
    assert row in all_rows(device)


def test_padding_between_stype_and_pnext_may_change() -> None:
    assert all_rows(lambda q: changed(q, 4, 9) if q.capacity else answer(q)) == set()


def test_one_record_too_many_is_found_where_it_lands() -> None:
    query = Query(queries.KHR, capacity=3, allocated=5)
    full = answer(Query(queries.KHR, capacity=4, allocated=5))
    reply = Reply(counts=(3,), results=(5,), buffers=full.buffers)
    (violation,) = judge(query, reply, 5)
    assert violation.row == "Q-04"
    assert "record 3" in violation.message


def test_fewer_records_than_fit_are_only_a_warning() -> None:
    query = Query(queries.KHR, capacity=3, allocated=5)
    two = answer(Query(queries.KHR, capacity=2, allocated=5))
    (violation,) = judge(query, Reply(counts=(2,), results=(5,), buffers=two.buffers), 5)
    assert violation.level is Level.QUALITY


def info(**more: object) -> DeviceInfo:
    return DeviceInfo("reference", "r", "r", "1", "1.4", "u", **more)  # type: ignore[arg-type]


def test_values_duplicates_and_features_are_judged() -> None:
    good = dict(
        zip(SHAPES[queries.VECTOR].members, (0, 1000491002, 1000491002, 0, 0, 1), strict=True)
    )
    able = info(
        extensions={"VK_NV_cooperative_vector": 4},
        features=frozenset({"VkPhysicalDeviceVulkan12Features.shaderFloat16"}),
    )
    assert judge_records(queries.VECTOR, [good], able) == []
    assert rows(judge_records(queries.VECTOR, [good, good], able)) == {"Q-08"}
    assert rows(judge_records(queries.VECTOR, [good | {"transpose": 2}], able)) == {"Q-07"}
    assert rows(judge_records(queries.VECTOR, [good | {"biasInterpretation": 77}], able)) == {
        "Q-07"
    }
    assert rows(judge_records(queries.VECTOR, [good], info())) == {"Q-07", "Q-09"}
    matrix = RECORDS[0] | {"saturatingAccumulation": 0}
    assert judge_records(queries.KHR, [matrix], able) == []
    (violation,) = judge_records(queries.KHR, [RECORDS[0]], able)  # floats that saturate
    assert (violation.row, violation.level) == ("Q-07", Level.POLICY)
    assert rows(judge_records(queries.KHR, [matrix | {"MSize": 0}], able)) == {"Q-07"}
    assert rows(judge_records(queries.KHR, [matrix | {"scope": 4}], able)) == {"Q-07"}
    assert rows(judge_records(queries.KHR, [matrix | {"AType": 8}], able)) == {"Q-09"}
    assert rows(judge_records(queries.KHR, [matrix | {"AType": 1000491002}], able)) == {"Q-09"}


@pytest.mark.parametrize(
    ("member", "value", "level"),
    [
        ("AType", 77, Level.REQUIRED),
        ("scope", 77, Level.REQUIRED),
        ("scope", 0xA5A5A5A5, Level.REQUIRED),  # poison, which no enumerant can be
        ("saturatingAccumulation", 2, Level.REQUIRED),
        ("AType", 1000999007, Level.QUALITY),  # of an extension that is younger than the suite
        ("scope", 1000999007, Level.QUALITY),
        ("AType", 1000141000, Level.QUALITY),  # bfloat16, whose extension isn't listed
    ],
)
def test_only_values_of_no_extension_are_violations(member: str, value: int, level: Level) -> None:
    found = judge_records(queries.KHR, [RECORDS[0] | {member: value}], info())
    assert [it.level for it in found if it.row == "Q-07"] == [level]


def test_answers_must_agree_in_order() -> None:
    turned = list(reversed(RECORDS))
    assert judge_agreement(queries.KHR, [("first", RECORDS), ("again", RECORDS)]) == []
    (violation,) = judge_agreement(queries.KHR, [("first", RECORDS), ("again", turned)])
    assert "another order" in violation.message
    (violation,) = judge_agreement(queries.KHR, [("first", RECORDS), ("again", RECORDS[:-1])])
    assert "other records" in violation.message
