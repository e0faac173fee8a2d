"""A folder of small cases, and a way to run the command on them."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cts.collect import ROOT

CASES = """
from hypothesis import assume, strategies as st

from cts.case import case
from cts.device.protocol import Query
from cts.findings import PolicyProperty, QualityProperty, WrongProperty
from cts.outcome import Level

COMMON = dict(rows=("Q-01",), spec="VkSpec#example", requirement="The count is the capacity.")


def ask(subject, capacity):
    return subject.query(Query("vkExample", capacity=capacity)).counts[0]


@case(id="cooperative_matrix.sample.drawn", axes={"size": (1, 2)}, **COMMON)
def test_drawn(subject, axes, data):
    capacity = data.draw(st.integers(0, 1000))
    subject.event("large", capacity > 500)
    if ask(subject, capacity) != capacity:
        raise WrongProperty(f"the count of {capacity} is wrong", {"capacity": capacity})


@case(id="cooperative_matrix.sample.fixed", fixed=True, **COMMON)
def test_fixed(subject):
    for capacity in (1, 20):
        if ask(subject, capacity) != capacity:
            subject.found(WrongProperty(f"the count of {capacity} is wrong"))


@case(id="cooperative_matrix.sample.lacking", **COMMON)
def test_lacking(subject, data):
    subject.require(False, "no device has this")


@case(id="cooperative_matrix.sample.rejected", **COMMON)
def test_rejected(subject, data):
    capacity = data.draw(st.integers(0, 1000))
    subject.require(capacity < 0, "no capacity is negative")


@case(id="info.sample", rows=(), spec="VkSpec#example", requirement="It is recorded.",
      level=Level.INFO, fixed=True)
def test_info(subject):
    subject.event("driver", subject.info.driver)
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A folder with a few cases."""
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "test_sample.py").write_text(CASES)
    return folder


Command = Callable[..., "subprocess.CompletedProcess[str]"]


def environment_of_fakes() -> dict[str, str]:
    """An environment in which ``python:fakes:...`` names the devices of fakes.py."""
    path = os.pathsep.join([str(Path(__file__).parent), str(ROOT)])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return {**kept, "PYTHONPATH": path}


@pytest.fixture
def environment() -> dict[str, str]:
    """An environment in which ``python:fakes:...`` names the devices of fakes.py."""
    return environment_of_fakes()


def call(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run ``coopcts`` in ``folder``; nothing it says is a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "cts.cli", *map(str, arguments)],
        cwd=folder,
        env=environment_of_fakes(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done


@pytest.fixture
def coopcts(tmp_path: Path) -> Command:
    """Run ``coopcts`` with the given arguments in an empty folder."""
    return functools.partial(call, tmp_path)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run folders ``good`` and ``bad`` of the sample cases, made once. Copy before use."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "sample").mkdir()
    (folder / "sample" / "test_sample.py").write_text(CASES)
    for device in ("good", "bad"):
        call(
            folder,
            *("run", "--device", f"python:fakes:{device}", "--cases", folder / "sample"),
            *("--out", device, "-n", 0, "--profile", "smoke"),
        )
    return folder


@pytest.fixture
def two_runs(made: Path, tmp_path: Path) -> None:
    """Run folders ``good`` and ``bad`` in the working directory; the latest is ``bad``."""
    for name in ("good", "bad"):
        shutil.copytree(made / name, tmp_path / name)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "latest").symlink_to(tmp_path / "bad", target_is_directory=True)


def result_of(folder: Path) -> dict[str, Any]:
    """The result of a run folder."""
    data: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return data


def outcomes(folder: Path) -> dict[str, str]:
    """Outcome by case id of a run folder."""
    return {case["id"]: case["outcome"] for case in result_of(folder)["cases"]}
