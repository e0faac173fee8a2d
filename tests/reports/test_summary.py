"""The verdict, and what a finding counts as."""

from __future__ import annotations

from typing import Any

import pytest

from reports import check
from reports.summary import (
    BANDS,
    band,
    bare_cases,
    base_id,
    caveats,
    counts,
    device_name,
    listed,
    sorted_findings,
    verdict,
)
from tests.reports import factory


def result(**changes: Any) -> dict[str, Any]:
    return check(factory.passing() | changes)


def with_outcomes(*outcomes: str, level: str = "required") -> dict[str, Any]:
    cases = [
        factory.case("cooperative_matrix.x", "M-05", level, axes={"n": str(n)}, outcome=outcome)
        for n, outcome in enumerate(outcomes)
    ]
    good = {"pass", "quality_warning", "not_supported"}
    conformant = level != "required" or set(outcomes) <= good
    return result(cases=cases, conformant=conformant)


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (["pass", "quality_warning", "not_supported"], "conformant"),
        (["pass", "fail"], "not_conformant"),
        (["pass", "crash"], "not_conformant"),
        (["error", "timeout"], "not_conformant"),
        (["pass", "error"], "incomplete"),
        (["pass", "not_run"], "incomplete"),
        (["pass", "flaky"], "incomplete"),
        (["not_supported"], "nothing"),
        ([], "nothing"),
    ],
)
def test_status_of_the_verdict(outcomes: list[str], status: str) -> None:
    assert verdict(with_outcomes(*outcomes)).status == status


def test_there_may_be_nothing_to_keep_to() -> None:
    none = verdict(with_outcomes("not_supported")).sentence
    assert "supports none of 1 selected required case" in none
    policy_alone = with_outcomes("pass", level="policy")
    assert "had no required case to keep to" in verdict(policy_alone).sentence


@pytest.mark.parametrize("level", ["policy", "quality", "info"])
def test_other_levels_never_decide(level: str) -> None:
    mixed = with_outcomes("pass")
    mixed["cases"] += with_outcomes("crash", "fail", "error", level=level)["cases"]
    assert verdict(mixed).status == "conformant"


@pytest.mark.parametrize("level", ["policy", "quality"])
@pytest.mark.parametrize("outcome", ["fail", "crash"])
def test_a_failure_is_shown_with_the_level_of_its_case(level: str, outcome: str) -> None:
    case = factory.case("cooperative_matrix.x", "M-05", level, axes={}, outcome=outcome)
    assert band({"outcome": outcome}, case) == level
    assert verdict(result(cases=[case, *with_outcomes("pass")["cases"]])).status == "conformant"


def test_the_sentence_names_driver_versions_seed_and_examples() -> None:
    sentence = verdict(result()).sentence
    for part in (
        "llvmpipe (LLVM 19.1.7, 256 bits)",
        "Mesa 26.1.6",
        "coopcts 0.1.0",
        "seed 1",
        "801 examples",
        "all 13 required cases",
        "1 more not supported",
    ):
        assert part in sentence
    assert sentence.endswith(".")


def test_a_part_of_the_suite_is_never_called_the_whole() -> None:
    part = result(selection={"queries": ["cooperative_matrix.*"], "selected": 18, "total": 90})
    said = verdict(part)
    assert said.title == "Conformant in the part that was selected"
    assert "18 of 90 cases were selected" in said.sentence


def test_a_stopped_run_has_no_verdict_unless_something_broke() -> None:
    stopped = result(interrupted=True)
    assert verdict(stopped).status == "incomplete"
    assert "the run was stopped" in verdict(stopped).sentence
    broken = check(factory.failing() | {"interrupted": True})
    assert verdict(broken).status == "not_conformant"


@pytest.mark.parametrize("kind", ["reference", "mutant"])
def test_a_device_that_is_no_driver_is_pointed_out(kind: str) -> None:
    sample = result(device=factory.device() | {"kind": kind}, notes=["No driver was found."])
    said = caveats(sample)
    assert "nothing about a driver" in said[0]
    assert said[-1] == "No driver was found."
    assert caveats(result()) == []


def test_the_device_is_named_without_repetition() -> None:
    assert device_name(result()) == "llvmpipe (LLVM 19.1.7, 256 bits), driver Mesa 26.1.6"
    device = factory.device() | {"name": "H200", "driver": "NVIDIA", "driver_version": "580.1"}
    assert device_name(result(device=device)) == "H200, driver NVIDIA 580.1"
    device = factory.device() | {"name": "NVIDIA H200", "driver": "NVIDIA", "driver_version": "5.1"}
    assert device_name(result(device=device)) == "NVIDIA H200, driver NVIDIA 5.1"
    device = factory.device() | {"name": "reference", "driver": "reference", "driver_version": ""}
    assert device_name(result(device=device)) == "reference"


@pytest.mark.parametrize(
    ("outcome", "level", "expected"),
    [
        ("fail", "required", "required"),
        ("crash", "required", "required"),
        ("fail", "policy", "policy"),
        ("policy", "required", "policy"),
        ("flaky", "required", "policy"),
        ("quality_warning", "required", "quality"),
        ("policy", "quality", "quality"),
        ("crash", "info", "info"),
        ("error", "required", "suite"),
        ("fail", None, "required"),
    ],
)
def test_what_a_finding_counts_as(outcome: str, level: str | None, expected: str) -> None:
    assert band({"outcome": outcome}, {"level": level} if level else None) == expected


def test_findings_are_sorted_by_weight_then_severity() -> None:
    found = sorted_findings(check(factory.failing()))
    assert list(found) == ["required", "policy", "quality"]
    assert [f["outcome"] for f in found["required"]][:3] == ["crash", "timeout", "fail"]
    assert sum(map(len, found.values())) == 9


def test_a_case_that_ended_badly_without_a_finding_is_not_forgotten() -> None:
    bare = bare_cases(check(factory.failing()))
    assert {name: [case["id"] for case in cases] for name, cases in bare.items()} == {
        "suite": ["cooperative_matrix.load_store.views"]
    }
    entries = listed(check(factory.failing()))
    assert list(entries) == [name for name in BANDS if name in entries]
    assert "invalid program" in entries["suite"][0]["message"]


def test_counts_cover_every_case_and_level() -> None:
    table = counts(check(factory.failing()))
    assert list(table) == ["required", "policy", "quality", "info"]
    assert sum(sum(tally.values()) for tally in table.values()) == 23
    assert table["required"]["crash"] == 1


@pytest.mark.parametrize(
    ("name", "axes", "expected"),
    [
        ("a.b.x.y", {"p": "x", "q": "y"}, ("a.b", "x.y")),
        ("a.b", {}, ("a.b", "")),
        ("a.b.z", {"p": "x"}, ("a.b.z", "")),
        ("a.1", {"p": 1}, ("a", "1")),
    ],
)
def test_the_values_of_axes_are_split_from_the_id(name: str, axes: Any, expected: Any) -> None:
    assert base_id({"id": name, "axes": axes}) == expected
