"""The rules of the list of combinations, each broken by hand, and the cases that report them."""

from __future__ import annotations

import dataclasses

import pytest

from cts.outcome import Outcome
from cts.program.model import Component
from reference.device import ReferenceDevice
from reference.queries import VECTOR
from reference.vector_info import RECORDS
from reference.vector_properties import (
    MOST_COMPONENTS,
    STAGES,
    limits,
    packed_types,
    required_combinations,
)
from tests.vector.bench import ids, mutant, run


@pytest.mark.parametrize("case_id", ids("properties."))
def test_the_reference_device_passes(case_id: str) -> None:
    result = run(case_id, ReferenceDevice())
    assert result.outcome is Outcome.PASS, result.reason + result.trace


@pytest.mark.parametrize("missing", range(6))
def test_each_missing_combination_is_named(missing: int) -> None:
    rest = [record for index, record in enumerate(RECORDS) if index != missing]
    (violation,) = required_combinations(rest)
    assert Component(RECORDS[missing]["matrixInterpretation"]).label in violation.message
    assert required_combinations(RECORDS) == []


def test_packed_types_belong_to_inputs() -> None:
    assert packed_types(RECORDS) == []
    wrong = {**RECORDS[0], "matrixInterpretation": int(Component.SINT8_PACKED)}
    (violation,) = packed_types([RECORDS[1], wrong])
    assert "record 1: matrixInterpretation is sint8_packed" in violation.message


def test_limits_reach_their_minimum() -> None:
    info = ReferenceDevice().info

    def having(**changes: int) -> list[str]:
        properties = {**info.properties, **changes}
        found = limits(dataclasses.replace(info, properties=properties))
        return [violation.message for violation in found]

    assert having() == []
    assert "127, less than 128" in having(**{MOST_COMPONENTS: 127})[0]
    assert "without VK_SHADER_STAGE_COMPUTE_BIT" in having(**{STAGES: 0x10})[0]


def test_a_dropped_record_is_caught() -> None:
    device = mutant("last_record_dropped")
    found = run("cooperative_vector.properties.count", device)
    assert found.outcome is Outcome.FAIL, found.reason


def test_records_come_in_the_order_of_the_list() -> None:
    assert ReferenceDevice().info.records[VECTOR] == RECORDS
