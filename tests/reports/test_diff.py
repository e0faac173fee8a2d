"""Comparing two results."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from cts.outcome import Outcome
from reports import ReportError
from reports.diff import PARTS, Diff, diff, render_json, render_markdown, render_text
from tests.reports import factory

NAME = "cooperative_matrix.x"


def result(outcome: str | None, level: str = "required", **changes: Any) -> dict[str, Any]:
    """A result with one case, or none; where the case ended badly it has a finding."""
    cases = [] if outcome is None else [factory.case(NAME, "M-05", level, outcome=outcome)]
    made = factory.passing() | {"cases": cases, "conformant": False, "accuracy": []}
    if outcome in ("fail", "crash", "policy"):
        kind = {"fail": "WrongValue", "crash": "DriverCrash"}.get(outcome, "PolicyValue")
        made["findings"] = [factory.finding("abc123", cases[0], kind, f"It did {outcome}.")]
    return made | changes


def part(compared: Diff) -> str:
    """The one member that the one case is in."""
    [name] = [name for name, _ in PARTS if getattr(compared, name)] or ["unchanged"]
    return name


@pytest.mark.parametrize(
    ("old", "new", "expected", "regressed"),
    [
        ("pass", "pass", "unchanged", False),
        ("pass", "fail", "new_failures", True),
        ("pass", "policy", "new_failures", True),
        ("pass", "error", "new_failures", True),
        ("pass", "flaky", "new_failures", True),
        ("quality_warning", "crash", "new_failures", True),
        ("not_supported", "fail", "new_failures", True),
        ("pass", "not_supported", "lost", True),
        ("not_supported", "pass", "gained", False),
        ("fail", "pass", "fixed", False),
        ("crash", "quality_warning", "fixed", False),
        ("fail", "not_supported", "fixed", False),
        ("fail", "crash", "changed", True),
        ("crash", "fail", "changed", False),
        ("fail", "fail", "still_failing", False),
        ("pass", "quality_warning", "warnings", False),
        ("quality_warning", "pass", "warnings", False),
        ("quality_warning", "quality_warning", "unchanged", False),
        ("pass", "not_run", "not_compared", False),
        ("not_run", "fail", "not_compared", False),
        ("not_run", "not_run", "unchanged", False),
        ("pass", None, "only_old", False),
        (None, "fail", "only_new", False),
    ],
)
def test_every_change_has_its_place(
    old: str | None, new: str | None, expected: str, regressed: bool
) -> None:
    compared = diff(result(old), result(new))
    assert part(compared) == expected
    assert compared.regressed == regressed
    if expected != "unchanged":
        [change] = getattr(compared, expected)
        assert (change.id, change.old, change.new) == (NAME, old or "", new or "")


@pytest.mark.parametrize("old", [outcome.value for outcome in Outcome])
@pytest.mark.parametrize("new", [outcome.value for outcome in Outcome])
def test_every_pair_of_outcomes_is_in_exactly_one_place(old: str, new: str) -> None:
    compared = diff(result(old), result(new))
    assert sum(len(getattr(compared, name)) for name, _ in PARTS) + compared.unchanged == 1


def test_information_never_regresses() -> None:
    assert not diff(result("pass", "info"), result("fail", "info")).regressed
    assert diff(result("pass", "quality"), result("fail", "quality")).regressed


def test_the_same_outcome_with_another_kind_of_finding_is_a_change() -> None:
    new = result("fail")
    new["findings"][0]["kind"] = "GuardTouched"
    compared = diff(result("fail"), new)
    assert part(compared) == "changed"
    assert not compared.regressed


def test_a_change_carries_the_new_finding_and_its_replay() -> None:
    [change] = diff(result("pass"), result("fail")).new_failures
    assert change.message == "It did fail." and change.replay == "coopcts replay abc123"
    [change] = diff(result("fail"), result("pass")).fixed
    assert change.message == "It did fail." and change.replay == ""


def test_what_limits_the_comparison_is_noted() -> None:
    new = result("pass", seed=2, interrupted=True)
    new["device"] = new["device"] | {"driver_version": "Mesa 26.2"}
    notes = diff(result("pass"), new).notes
    assert notes == (
        "Different driver version: Mesa 26.1.6, Mesa 26.2.",
        "Different seed: 1, 2. Examples differ.",
        "The new run was stopped before its end.",
    )
    assert diff(result("pass"), result("pass")).notes == ()


def test_accuracy_that_moved_is_listed() -> None:
    def with_ratios(*ratios: Any) -> dict[str, Any]:
        rows = [{"types": f"t{n}", "worst_ratio": value} for n, value in enumerate(ratios)]
        return result("pass", accuracy=rows)

    moved = diff(with_ratios(0.4, 0.4, "inf", 1), with_ratios(0.45, 0.6, "inf", "inf")).accuracy
    assert [(row.types, row.old, row.new) for row in moved] == [
        ("t1", 0.4, 0.6),
        ("t3", 1, math.inf),
    ]
    [gone] = diff(with_ratios(0.4), with_ratios()).accuracy
    assert gone.new is None


def test_a_bad_result_is_one_clear_error() -> None:
    with pytest.raises(ReportError):
        diff({"schema": 99}, result("pass"))


def test_the_text_lists_every_change_and_ends_with_the_answer() -> None:
    text = render_text(diff(factory.passing(), factory.failing()))
    assert "New failures (4)" in text and "Only in the new result (5)" in text
    assert "pass -> fail" in text and "coopcts replay 3f2a9c" in text
    assert text.endswith("Regressed. 13 cases unchanged.\n")
    back = render_text(diff(factory.failing(), factory.passing()))
    assert "Fixed (4)" in back and back.endswith("No regression. 13 cases unchanged.\n")


def test_the_markdown_escapes_and_stays_short() -> None:
    old, new = factory.large(3000), factory.large(3000)
    for case in old["cases"]:
        case["outcome"] = "pass"
    old["findings"] = []
    text = render_markdown(diff(old, new))
    assert text.startswith("## coopcts: regressed")
    assert "- and 40 more" in text and len(text) < 20_000
    tricky = render_markdown(diff(factory.passing(), factory.hostile("<b>@x</b>")))
    assert "<b>" not in tricky.replace("`", "").split("&lt;")[0]


def test_the_json_is_strict_and_complete() -> None:
    compared = diff(factory.passing(), factory.failing())
    data = json.loads(json.dumps(render_json(compared), allow_nan=False))
    assert data["regressed"] is True
    assert len(data["new_failures"]) == 4 and data["unchanged"] == 13
    old = result("pass", accuracy=[{"types": "t", "worst_ratio": 1}])
    new = result("pass", accuracy=[{"types": "t", "worst_ratio": "inf"}])
    assert render_json(diff(old, new))["accuracy"][0]["new"] == "inf"


def test_the_text_can_not_steer_a_terminal() -> None:
    text = render_text(diff(factory.passing(), factory.hostile("\x1b[2J\n\x07")))
    assert "\x1b" not in text and "\x07" not in text
