"""The pytest plugin, with and without xdist."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cts.collect import ROOT
from cts.events import read_events

Pytest = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(sample: Path, environment: dict[str, str]) -> Pytest:
    """Run pytest on the sample cases."""

    def call(device: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                *(sys.executable, "-m", "pytest", str(sample), f"--rootdir={ROOT}"),
                *(f"--config-file={ROOT / 'pyproject.toml'}", "-p", "cts.plugin"),
                *("-p", "no:cacheprovider", f"--cts-device=python:fakes:{device}", *arguments),
            ],
            cwd=sample,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return call


def out(tmp_path: Path, name: str) -> tuple[Path, str]:
    folder = tmp_path / name
    folder.mkdir()
    return folder, f"--cts-out={folder}"


def ends(folder: Path) -> dict[str, dict[str, object]]:
    """The deterministic part of each finished case."""
    found = {}
    for event in read_events(folder):
        if event["event"] == "end":
            case = event["case"]
            kept = ("outcome", "examples", "distribution", "findings", "reason")
            found[case["id"]] = {name: case[name] for name in kept}
    return found


def test_outcomes_become_those_of_pytest(run: Pytest) -> None:
    done = run("bad")
    assert done.returncode == 1
    assert "3 failed, 1 passed, 2 skipped" in done.stdout
    assert "no device has this" in done.stdout
    good = run("good")
    assert good.returncode == 0 and "4 passed, 2 skipped" in good.stdout


def test_a_failure_is_readable_and_has_no_traceback(run: Pytest) -> None:
    text = run("bad").stdout
    assert "cooperative_matrix.sample.drawn.1: fail (required by VkSpec#example)" in text
    assert "rule: The count is the capacity." in text
    assert "WrongProperty: the count of 10 is wrong" in text
    assert "vkExample" in text and "capacity: 10" in text
    assert "Traceback" not in text and "hypothesis" not in text.lower().split("plugins:")[0]


def test_the_header_says_what_decides_the_inputs(run: Pytest) -> None:
    text = run("good", "--cts-seed=7", "--cts-profile=smoke").stdout
    assert "coopcts: device python:fakes:good, profile smoke, seed 7" in text


@pytest.mark.parametrize("device", ["good", "bad"])
def test_workers_change_neither_ids_nor_inputs(run: Pytest, tmp_path: Path, device: str) -> None:
    alone, option = out(tmp_path, "alone")
    run(device, option)
    shared, option = out(tmp_path, "shared")
    run(device, option, "-n", "3")
    assert ends(alone) == ends(shared)
    assert len(ends(alone)) == 6
    other, option = out(tmp_path, "other")
    run(device, option, "--cts-seed=2")
    assert ends(other).keys() == ends(alone).keys()
    assert ends(other) != ends(alone) or device == "bad"


def test_a_selection_changes_no_inputs(run: Pytest, tmp_path: Path) -> None:
    every, option = out(tmp_path, "every")
    run("good", option)
    one, option = out(tmp_path, "one")
    done = run("good", option, "--cts-query=*.drawn.2")
    assert "5 deselected" in done.stdout
    name = "cooperative_matrix.sample.drawn.2"
    assert ends(one) == {name: ends(every)[name]}


def test_a_fresh_seed_is_the_same_for_every_worker(run: Pytest, tmp_path: Path) -> None:
    folder, option = out(tmp_path, "explore")
    done = run("bad", option, "--cts-profile=explore", "-n", "2")
    seeds = {path.read_text() for path in (folder / "witness").glob("*.json")}
    found = {int(match) for text in seeds for match in re.findall(r'"seed": (\d+)', text)}
    assert len(found) == 1
    assert f"seed {found.pop()}" in done.stdout


def test_a_worker_that_dies_takes_only_its_case_along(run: Pytest, tmp_path: Path) -> None:
    folder, option = out(tmp_path, "dying")
    done = run("dying", option, "-n", "2")
    assert done.returncode == 1
    started = {it["case"] for it in read_events(folder) if it["event"] == "start"}
    assert len(started) == 6
    assert started - ends(folder).keys() == {"cooperative_matrix.sample.fixed"}


def test_a_full_disk_stops_the_session_with_a_sentence(run: Pytest) -> None:
    done = run("full")
    assert "the disk is full" in done.stdout
    assert "Traceback" not in done.stdout


def test_without_a_device_it_says_so(run: Pytest) -> None:
    done = run("nothing_of_this_name")
    assert "can't be made" in done.stdout
    assert "Traceback" not in done.stdout


def test_known_faults_are_expected_and_nothing_else_is(run: Pytest, tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("# the driver's\n\n*.drawn.*: counts are wrong from 10 on\n")
    text = run("bad", f"--cts-known={known}").stdout
    assert "1 failed, 1 passed, 2 skipped, 2 xfailed" in text
    assert "counts are wrong from 10 on" in text
    assert run("good", f"--cts-known={known}").returncode == 0
    known.write_text("*.drawn.*\n")
    assert "line 1: not `QUERY: reason`" in run("bad", f"--cts-known={known}").stderr
