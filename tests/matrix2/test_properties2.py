"""The rules of properties2, over lists made for them."""

from __future__ import annotations

import dataclasses

from cts.outcome import Level
from cts.program.model import Component, Scope
from reference import properties2
from reference.catalog import properties2 as listed
from reference.device import ReferenceDevice
from reference.properties2 import Parameters

INFO = ReferenceDevice().info
MATRIX2 = "VkPhysicalDeviceCooperativeMatrix2FeaturesNV."
DEFAULT = Parameters(Scope.SUBGROUP, 32)


def rows(violations: list[properties2.Violation]) -> list[str]:
    return [violation.row for violation in violations]


def test_required_parameters_have_every_power_of_two_of_invocations() -> None:
    found = properties2.required(INFO)
    assert found[:2] == (Parameters(Scope.SUBGROUP, 0), Parameters(Scope.SUBGROUP, 32))
    assert {it.invocations for it in found[2:]} == {32, 64, 128, 256}
    assert {it.subgroup_size for it in found[2:]} == {0, 32}


def test_without_workgroup_scope_none_is_asked_for() -> None:
    bare = dataclasses.replace(
        INFO, features=INFO.features - {MATRIX2 + "cooperativeMatrixWorkgroupScope"}
    )
    assert all(it.scope == Scope.SUBGROUP for it in properties2.valid(bare))


def test_valid_parameters_obey_the_rules_of_the_structure() -> None:
    for it in properties2.valid(INFO):
        assert it.subgroup_size in (0, 8, 16, 32, 64)
        if it.scope == Scope.SUBGROUP:
            assert it.invocations == 0
        else:
            assert it.invocations & (it.invocations - 1) == 0
            assert 32 <= it.invocations <= 256
            assert not it.subgroup_size or it.invocations % it.subgroup_size == 0


def test_without_size_control_only_the_one_size_is_valid() -> None:
    control = {feature for feature in INFO.features if feature.endswith("subgroupSizeControl")}
    bare = dataclasses.replace(INFO, features=INFO.features - control)
    assert properties2.subgroup_sizes(bare) == (0, 32)


def test_the_reference_lists_break_nothing() -> None:
    for it in properties2.required(INFO):
        records = listed(False, it.subgroup_size, it.invocations)
        assert not properties2.not_empty(it, len(records))
        assert not properties2.combinations(it, records)
        assert not properties2.powers_of_two(it, records)


def test_an_empty_required_list_is_a_violation() -> None:
    (found,) = properties2.not_empty(DEFAULT, 0)
    assert (found.row, found.level) == ("E-01", Level.REQUIRED)


def test_each_required_product_is_missed_by_its_row() -> None:
    for component, row in (
        (Component.FLOAT16, "E-02"),
        (Component.UINT8, "E-03"),
        (Component.SINT8, "E-04"),
    ):
        records = [it for it in listed() if it["AType"] != component]
        assert row in rows(properties2.combinations(DEFAULT, records))


def test_one_of_two_alternatives_is_enough_but_worth_a_word() -> None:
    records = [
        it
        for it in listed()
        if (it["AType"], it["CType"]) != (Component.FLOAT16, Component.FLOAT16)
    ]
    (found,) = properties2.combinations(DEFAULT, records)
    assert (found.row, found.level) == ("E-05", Level.QUALITY)


def test_no_power_of_two_among_the_granularities_is_a_violation() -> None:
    records = [{**it, "NGranularity": 12} for it in listed()]
    assert rows(properties2.powers_of_two(DEFAULT, records)) == ["E-06"]
    assert not properties2.powers_of_two(DEFAULT, [])


def test_unknown_component_types_are_named_by_number() -> None:
    odd = {**listed()[0], "ResultType": 1000999999}
    khr = {**odd, "saturatingAccumulation": 0, "scope": int(Scope.SUBGROUP)}
    (found,) = properties2.saturation(DEFAULT, [], [], [khr])
    assert "1000999999" in found.message
