"""``coopcts run``: exit codes, the run folder, and what is left when a run is cut short."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from cts.collect import ROOT
from tests.harness.conftest import Command, outcomes, result_of

DRAWN = ["cooperative_matrix.sample.drawn.1", "cooperative_matrix.sample.drawn.2"]
FIXED = "cooperative_matrix.sample.fixed"


def test_as_expected_is_0_and_the_folder_is_complete(
    coopcts: Command, sample: Path, tmp_path: Path
) -> None:
    done = coopcts("run", "--device", "python:fakes:good", "--cases", sample, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "Conformant" in done.stdout and "report.html" in done.stdout
    folder = tmp_path / "out"
    for name in ("result.json", "report.html", "junit.xml", "summary.md", "run.json"):
        assert (folder / name).stat().st_size > 0, name
    result = result_of(folder)
    schema = json.loads((ROOT / "reports" / "schema" / "result-1.json").read_text())
    jsonschema.validate(result, schema)
    assert result["seed"] == 1 and result["suite"]["profile"] == "default"
    assert result["conformant"] is True and result["interrupted"] is False
    drawn = next(it for it in result["cases"] if it["id"] == DRAWN[0])
    assert drawn["examples"] == 50 and drawn["level"] == "required"
    assert outcomes(folder)["cooperative_matrix.sample.lacking"] == "not_supported"
    assert not (folder / ".reserve").exists()


def test_findings_are_1_with_a_witness_each(coopcts: Command, sample: Path, tmp_path: Path) -> None:
    done = coopcts("run", "--device", "python:fakes:bad", "--cases", sample, "--out", "out")
    assert done.returncode == 1
    result = result_of(tmp_path / "out")
    assert result["conformant"] is False
    assert [it["case"] for it in result["findings"]] == [*DRAWN, FIXED]
    for finding in result["findings"]:
        assert len(finding["id"]) == 6
        assert (tmp_path / "out" / finding["witness"]).is_file()
        assert finding["replay"] == f"coopcts replay {finding['id']}"
        assert finding["replay"] in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--device", "python:fakes:nothing"], "can't be made"),
        (["--device", "nonsense"], "there is no device"),
        (["--profile", "huge"], "'huge' is not one of"),
        (["--seed", "-1"], "-1 is not in the range"),
        (["--device", "python:fakes:good", "--out", "/dev/null/x"], "Not a directory"),
    ],
)
def test_what_can_t_run_is_2_and_one_sentence(
    coopcts: Command, sample: Path, arguments: list[str], said: str
) -> None:
    done = coopcts("run", "--cases", sample, *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_nothing_selected_is_3(coopcts: Command, sample: Path, tmp_path: Path) -> None:
    done = coopcts("run", "cooperative_matrix.nothing.*", "--cases", sample)
    assert done.returncode == 3
    assert "no case matches 'cooperative_matrix.nothing.*'" in done.stderr
    (tmp_path / "empty").mkdir()
    assert coopcts("run", "--cases", "empty").returncode == 3


def test_a_query_that_selects_nothing_beside_one_that_does_is_3_too(
    coopcts: Command, sample: Path
) -> None:
    assert coopcts("run", "info", "typing.error", "--cases", sample).returncode == 3


def test_a_selection_says_what_it_left_out(coopcts: Command, sample: Path, tmp_path: Path) -> None:
    done = coopcts(
        "run", "*.drawn.*", "--device", "python:fakes:good", "--cases", sample, "--out", "out"
    )
    assert done.returncode == 0
    assert result_of(tmp_path / "out")["selection"] == {
        "queries": ["*.drawn.*"],
        "selected": 2,
        "total": 6,
    }


@pytest.mark.parametrize("workers", [0, 2])
def test_a_worker_that_dies_costs_one_case(
    coopcts: Command, sample: Path, tmp_path: Path, workers: int
) -> None:
    done = coopcts(
        *("run", "--device", "python:fakes:dying", "--cases", sample),
        *("--out", "out", "-n", workers),
    )
    assert done.returncode == 1
    found = outcomes(tmp_path / "out")
    assert found.pop(FIXED) == "error"
    assert set(found.values()) == {"pass", "not_supported"}


@pytest.mark.parametrize("workers", [0, 2])
def test_a_full_disk_keeps_what_was_measured(
    coopcts: Command, sample: Path, tmp_path: Path, workers: int
) -> None:
    done = coopcts(
        *("run", "--device", "python:fakes:full", "--cases", sample),
        *("--out", "out", "-n", workers),
    )
    assert done.returncode == 2
    assert "the disk is full" in done.stderr
    result = result_of(tmp_path / "out")
    assert result["interrupted"] is True and result["conformant"] is False
    found = outcomes(tmp_path / "out")
    assert found["info.sample"] == "pass"
    assert "not_run" in found.values() and "error" not in found.values()
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_keeps_what_was_measured(
    sample: Path, tmp_path: Path, environment: dict[str, str], number: int
) -> None:
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "cts.cli", "run", "--device", "python:fakes:slow"),
            *("--cases", str(sample), "--out", "out", "-n", "0", "--profile", "deep"),
        ],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    events = tmp_path / "out" / "events-main.ndjson"
    deadline = time.monotonic() + 60
    while not (events.exists() and '"cooperative_matrix.sample.drawn.1"' in events.read_text()):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Traceback" not in stdout + stderr
    assert "the run was stopped" in stderr
    result = result_of(tmp_path / "out")
    assert result["interrupted"] is True
    found = outcomes(tmp_path / "out")
    assert found["info.sample"] == "pass" and found[DRAWN[0]] == "not_run"


def test_a_second_run_replaces_the_first_and_nothing_else(
    coopcts: Command, sample: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("kept")
    arguments = ["--cases", sample, "--out", "out", "-n", 0]
    assert coopcts("run", "--device", "python:fakes:bad", *arguments).returncode == 1
    assert coopcts("run", "--device", "python:fakes:good", *arguments).returncode == 0
    assert not (tmp_path / "out" / "witness").exists()
    assert (tmp_path / "out" / "mine.txt").read_text() == "kept"


def test_runs_are_kept_apart_and_the_latest_is_linked(
    coopcts: Command, sample: Path, tmp_path: Path
) -> None:
    coopcts("run", "--device", "python:fakes:good", "--cases", sample, "-n", 0)
    (folder,) = (it for it in (tmp_path / "runs").iterdir() if it.name != "latest")
    assert folder.name.endswith("fake-device-default")
    assert (tmp_path / "runs" / "latest").resolve() == folder
