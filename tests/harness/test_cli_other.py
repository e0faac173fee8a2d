"""The other subcommands: list, plan, info, doctor, diff, bench, and help."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cts.cli import COMMANDS, trouble
from cts.cli.plan import Cost, budget_lines, costs_of, duration
from cts.collect import ROOT, collect
from cts.profiles import PROFILES
from cts.requirements import ROWS
from tests.harness.conftest import Command

IDS = [
    "info.sample",
    "cooperative_matrix.sample.drawn.1",
    "cooperative_matrix.sample.drawn.2",
    "cooperative_matrix.sample.fixed",
    "cooperative_matrix.sample.lacking",
    "cooperative_matrix.sample.rejected",
]


def test_list_prints_ids_in_the_order_of_a_run(coopcts: Command, sample: Path) -> None:
    assert coopcts("list", "--cases", sample).stdout.split() == IDS
    chosen = coopcts("list", "*.drawn.*", "info", "--cases", sample)
    assert chosen.stdout.split() == IDS[:3]


def test_list_shows_the_suite_s_own_cases(coopcts: Command) -> None:
    assert coopcts("list").stdout.split() == [case.id for case in collect()]


def test_nothing_listed_is_3(coopcts: Command, sample: Path) -> None:
    done = coopcts("list", "info.nothing", "--cases", sample)
    assert done.returncode == 3 and "`coopcts list` shows all" in done.stderr


def test_a_reader_that_goes_away_is_no_trouble(environment: dict[str, str]) -> None:
    command = f"{sys.executable} -m cts.cli list | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "info.environment\n" and done.stderr == ""


@pytest.mark.parametrize("arguments", [("list",), ("--help",)])
def test_list_and_help_take_less_than_a_second(
    coopcts: Command, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first call compiles what the second one reads.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    coopcts(*arguments)

    def processor_seconds(run: Callable[[], object]) -> float:
        spent = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(spent)

    # A busy machine counts more seconds for the same work: Hypothesis and NumPy alone take a
    # third of a second on a quiet one.
    known = [sys.executable, "-c", "import hypothesis, numpy"]
    unit = processor_seconds(lambda: subprocess.run(known, check=True))
    assert processor_seconds(lambda: coopcts(*arguments)) < max(1.0, 3 * unit)


def test_plan_prints_every_row_with_its_cases(coopcts: Command, sample: Path) -> None:
    lines = coopcts("plan", "--cases", sample).stdout.splitlines()
    for row in ROWS.values():
        assert f"{row.id} {row.level}: {row.text}" in lines
    at = next(number for number, line in enumerate(lines) if line.startswith("Q-01 "))
    assert lines[at + 2] == "  - cooperative_matrix.sample.drawn (2 cases)"
    assert lines[at + 3] == "  - cooperative_matrix.sample.fixed"
    at = next(number for number, line in enumerate(lines) if line.startswith("Q-02 "))
    assert lines[at + 2] == "  no case yet"
    assert lines[-1] == "  - info.sample"


def test_the_budget_is_known_before_the_run(coopcts: Command, sample: Path) -> None:
    text = coopcts("plan", "--budget", "--cases", sample).stdout
    assert "6 cases, 2 of them run once" in text
    for profile in PROFILES.values():
        line = next(line for line in text.splitlines() if line.startswith(profile.name))
        assert line.split()[1] == str(4 * profile.examples + 2)


def test_the_budget_takes_the_speed_of_an_earlier_run(
    coopcts: Command, sample: Path, tmp_path: Path
) -> None:
    cases = collect(sample)
    costs = {case.id: Cost(0.0, 0.5) for case in cases}
    costs[cases[0].id] = Cost(100.0, 0.0)
    (line,) = [it for it in budget_lines(cases, costs, 2) if it.startswith("smoke")]
    examples = sum(case.examples(PROFILES["smoke"].examples) for case in cases[1:])
    assert duration((100 + 0.5 * examples) / 2) in line
    missing = coopcts("plan", "--budget", "--like", tmp_path / "none", "--cases", sample)
    assert missing.returncode == 2 and "no such file" in missing.stderr


@pytest.mark.parametrize(
    ("examples", "seconds", "cost"),
    [(10, 5.0, Cost(0.0, 0.5)), (0, 0.25, Cost(0.25, 0.0))],
)
def test_what_a_case_costs_comes_from_its_result(examples: int, seconds: float, cost: Cost) -> None:
    case = {"id": "x", "examples": examples, "duration": seconds}
    assert costs_of({"cases": [case]}) == {"x": cost}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (89.4, "89 s"), (90, "2 min"), (5399, "90 min"), (7200, "2 h")],
)
def test_times_are_said_in_the_unit_of_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_info_of_the_reference_device_is_complete_as_json(coopcts: Command) -> None:
    done = coopcts("info", "--device", "reference", "--json")
    data = json.loads(done.stdout)
    assert data["kind"] == "reference" and data["subgroup_size"] == 32
    command = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"
    assert list(data["records"][command][0])[:3] == ["MSize", "NSize", "KSize"]


def test_info_shows_every_record_and_unknown_enumerants_as_numbers() -> None:
    from io import StringIO

    from rich.console import Console

    from cts.cli.info import show
    from cts.result import device_record
    from tests.harness.fakes import INFO

    command = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"
    record = {"MSize": 8, "NSize": 16, "KSize": 32, "AType": 0, "BType": 123456, "CType": 1}
    record |= {"ResultType": 1, "saturatingAccumulation": 0, "scope": 77}
    text = StringIO()
    data = device_record(INFO) | {"device": "x", "notes": ["worth knowing"]}
    data["records"] = {command: [record]}
    show(data, Console(file=text))
    line = next(line for line in text.getvalue().splitlines() if "FLOAT16" in line)
    for part in ("8", "16", "32", "FLOAT16", "123456", "FLOAT32", "no", "77"):
        assert part in line
    assert f"{command}: 1 record" in text.getvalue() and "worth knowing" in text.getvalue()


def test_doctor_names_packages_devices_and_the_choice(coopcts: Command) -> None:
    done = coopcts("doctor")
    assert done.returncode == 0, done.stdout
    lines = {line[8:].split()[0]: line[:8].strip() for line in done.stdout.splitlines()}
    for name in ("Python", "hypothesis", "numpy", "pytest", "vulkan"):
        assert lines[name] == "ok"
    assert {"Vulkan", "lavapipe", "auto"} <= lines.keys()


@pytest.mark.usefixtures("two_runs")
def test_diff_is_1_on_regressions_alone(coopcts: Command) -> None:
    worse = coopcts("diff", "good", "bad")
    assert worse.returncode == 1
    assert "New failures (3)" in worse.stdout
    better = coopcts("diff", "bad/result.json", "good")
    assert better.returncode == 0
    assert "Fixed (3)" in better.stdout
    assert coopcts("diff", "good", "good").returncode == 0
    assert json.loads(coopcts("diff", "good", "bad", "--format", "json").stdout)["regressed"]
    assert "### New failures (3)" in coopcts("diff", "good", "bad", "--format", "markdown").stdout


@pytest.mark.usefixtures("two_runs")
def test_a_result_that_can_t_be_read_is_2(coopcts: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad" / "result.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"schema": 99}))
    newer = coopcts("diff", "good", "bad")
    assert newer.returncode == 2 and "newer coopcts (schema 99" in newer.stderr
    path.write_text("{")
    damaged = coopcts("diff", "good", "bad")
    assert damaged.returncode == 2 and "damaged" in damaged.stderr
    missing = coopcts("diff", "good", "nowhere")
    assert missing.returncode == 2 and "no such file" in missing.stderr


def test_bench_says_where_the_time_goes(coopcts: Command) -> None:
    done = coopcts(
        *("bench", "cooperative_matrix.load_store.bits.float16", "--device", "reference")
    )
    assert done.returncode == 0, done.stderr
    for part in ("draw", "lower", "transport", "pipeline", "dispatch", "oracle", "compare"):
        assert any(line.startswith(part) for line in done.stdout.splitlines()), part
    assert "matrices a second" in done.stdout and "outside the driver (median)" in done.stdout
    # The reference device makes no pipelines.
    assert "a minute with a kept one" in done.stdout and "of its own" not in done.stdout


def test_bench_tells_new_pipelines_from_kept_ones(coopcts: Command) -> None:
    done = coopcts("bench", "cooperative_matrix.load_store.bits.float16", "--device", "lavapipe")
    assert done.returncode == 0, done.stderr
    found = re.search(r"with a pipeline of its own \((\d+) examples\)", done.stdout)
    # One module in the profile `smoke`; shrinking's simplest options can add one or two.
    assert found and 1 <= int(found[1]) <= 4, done.stdout


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_subcommand_explains_itself(coopcts: Command, name: str) -> None:
    done = coopcts(name, "--help")
    assert done.returncode == 0 and f"coopcts {name}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("walk",), "No such command 'walk'"),
        (("run", "--profile", "vast"), "'vast'"),
        (("replay",), "Missing argument 'ID'"),
        (("run", "-n", "many"), "'many' is not a valid integer"),
    ],
)
def test_wrong_usage_is_2(coopcts: Command, arguments: tuple[str, ...], said: str) -> None:
    done = coopcts(*arguments)
    assert done.returncode == 2 and said in done.stderr


def test_what_went_wrong_inside_is_one_sentence_with_a_way_to_see_more() -> None:
    text = trouble.sentence(ZeroDivisionError("by\nzero"))
    assert text.startswith("internal error: ZeroDivisionError: by zero")
    assert "COOPCTS_TRACEBACK=1" in text
    full = OSError(28, os.strerror(28), "/runs/result.json")
    assert trouble.sentence(full) == "/runs/result.json: No space left on device"


def test_a_disk_without_room_for_a_result_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cts.runfolder import RunFolder

    def no_room(descriptor: int, offset: int, size: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "posix_fallocate", no_room)
    with pytest.raises(OSError, match="a run needs 8 MB here"):
        RunFolder(tmp_path / "out")
    assert not (tmp_path / "out" / ".reserve").exists()
