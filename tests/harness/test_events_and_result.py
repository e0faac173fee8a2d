"""The event stream and the result that is merged from it."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reports
from cts.collect import collect
from cts.events import EventReader, EventWriter, plain, read_events
from cts.outcome import Outcome
from cts.profiles import PROFILES
from cts.result import SHOWN_RECOVERIES, Progress, Run, build, case_record, device_record, exit_code
from cts.run import run_case
from tests.harness import fakes


class Colour(enum.IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (1.5, 1.5),
        (np.float32(0.5), 0.5),
        (np.arange(3), [0, 1, 2]),
        (np.array([np.inf]), ["inf"]),
        (Colour.RED, 3),
        (Outcome.FAIL, "fail"),
        (b"\x01\xff", "01ff"),
        ({1: (True, None)}, {"1": [True, None]}),
        (frozenset({"b", "a"}), ["a", "b"]),
        (Path("x"), "x"),
        (2**70, 2**70),
    ],
)
def test_values_become_strict_json(value: object, expected: object) -> None:
    made = plain(value)
    assert made == expected and type(made) is type(expected)
    json.dumps(made, allow_nan=False)


def test_events_are_on_disk_as_soon_as_they_are_written(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path, "gw0")
    reader = EventReader(tmp_path)
    writer.write("start", case="a")
    assert [it["case"] for it in reader.new()] == ["a"]
    writer.write("start", case="b")
    EventWriter(tmp_path, "gw1").write("start", case="c")
    assert [it["case"] for it in reader.new()] == ["b", "c"]
    assert list(reader.new()) == []


def test_a_line_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "events-gw0.ndjson"
    path.write_text(
        '{"event":"start","case":"a"}\n{"event":"en\n[1]\n{"event":"start","case":"b"}\n{"eve'
    )
    reader = EventReader(tmp_path)
    assert [it["case"] for it in reader.new()] == ["a", "b"]
    with path.open("a") as file:
        file.write('nt":"start","case":"c"}\n')
    assert [it["case"] for it in reader.new()] == ["c"]


RUN = Run("smoke", 1, "coopcts run", "2026-01-01T00:00:00Z", 1, 6)


def built(sample: Path, device: fakes.Fake, *, end: int = 99, **given: Any) -> dict[str, Any]:
    """A result of the sample cases, of which the first ``end`` have ended."""
    cases = collect(sample)
    progress = Progress()
    for number, case in enumerate(cases):
        if number <= end:
            progress.add({"event": "start", "case": case.id, "time": 1.0})
        if number < end:
            result = run_case(case, device, PROFILES["smoke"], 1)
            progress.add({"event": "end", "case": case_record(result, [])})
    info = device_record(device.info)
    return build(RUN, cases, progress, info, duration=1.0, **{"interrupted": False, **given})


def test_a_result_is_valid_and_complete(sample: Path) -> None:
    result = built(sample, fakes.good())
    assert reports.check(result)["counts"] == {"pass": 4, "not_supported": 2}
    assert result["conformant"] is True and exit_code(result) == 0
    assert result["selection"] is None


def test_a_failed_required_case_is_not_conformant_and_1(sample: Path) -> None:
    result = built(sample, fakes.bad())
    assert result["conformant"] is False and exit_code(result) == 1


def test_what_began_and_has_no_end_is_an_error_of_the_suite(sample: Path) -> None:
    result = built(sample, fakes.good(), end=2)
    found = [case["outcome"] for case in result["cases"]]
    assert found == ["pass", "pass", "error", "not_run", "not_run", "not_run"]
    assert result["cases"][2]["reason"] == "its worker process ended while it ran"
    assert result["conformant"] is False and exit_code(result) == 1


def test_an_interrupted_run_blames_nobody_and_is_2(sample: Path) -> None:
    result = built(sample, fakes.good(), end=2, interrupted=True)
    found = [case["outcome"] for case in result["cases"]]
    assert found == ["pass", "pass"] + ["not_run"] * 4
    assert result["conformant"] is False and exit_code(result) == 2


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.PASS, 0),
        (Outcome.NOT_SUPPORTED, 0),
        (Outcome.QUALITY_WARNING, 0),
        (Outcome.POLICY, 1),
        (Outcome.FLAKY, 1),
        (Outcome.FAIL, 1),
        (Outcome.TIMEOUT, 1),
        (Outcome.DEVICE_LOST, 1),
        (Outcome.CRASH, 1),
        (Outcome.ERROR, 1),
    ],
)
def test_exit_codes_follow_the_worst_outcome(outcome: Outcome, code: int) -> None:
    result = {"interrupted": False, "cases": [{"outcome": "pass"}, {"outcome": str(outcome)}]}
    assert exit_code(result) == code


def test_what_went_wrong_once_is_noted(sample: Path) -> None:
    progress = Progress()
    for number in range(SHOWN_RECOVERIES + 2):
        progress.add({"event": "recovered", "case": f"x.{number}", "texts": ["it hung once"]})
    info = device_record(fakes.INFO)
    result = build(RUN, collect(sample), progress, info, duration=1.0, interrupted=False)
    assert reports.check(result)["notes"] == [
        *(f"Once, in x.{number}: it hung once." for number in range(SHOWN_RECOVERIES)),
        "The like happened in 2 further cases.",
    ]


def test_the_device_s_records_are_covered_by_name(sample: Path) -> None:
    record = {"MSize": 8, "NSize": 8, "KSize": 16, "AType": 0, "BType": 0, "CType": 1}
    record |= {"ResultType": 1, "saturatingAccumulation": 0, "scope": 3}
    command = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"
    progress = Progress(device=device_record(fakes.INFO) | {"records": {command: [record, record]}})
    cases = collect(sample)
    ended = case_record(run_case(cases[0], fakes.good(), PROFILES["smoke"], 1), [])
    progress.add({"event": "end", "case": ended | {"records": {f"{command}#1": 30}}})
    result = build(RUN, cases, progress, {}, duration=1.0, interrupted=False)
    assert [(it["record"], it["examples"], it["cases"]) for it in result["coverage"]] == [
        (f"{command}#0", 0, 0),
        (f"{command}#1", 30, 1),
    ]
    assert result["coverage"][0]["text"].startswith("8x8x16 float16 x float16 + float32")


def test_events_of_a_folder_are_read_worker_by_worker(tmp_path: Path) -> None:
    for worker in ("gw1", "gw0"):
        EventWriter(tmp_path, worker).write("start", case=worker)
    assert [it["case"] for it in read_events(tmp_path)] == ["gw0", "gw1"]
