"""``coopcts replay`` and ``coopcts export``, for requests that the oracle judges and for cases
that judge by themselves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cts.collect import collect
from cts.device.protocol import Query
from cts.findings import WrongProperty
from cts.outcome import Outcome
from cts.run import Found
from cts.subject import Evidence
from cts.witness import Origin, WitnessError, load, store
from tests.harness.conftest import Command, result_of
from tests.harness.fakes import INFO


@pytest.fixture
def bad_run(two_runs: None, tmp_path: Path) -> list[str]:
    """A run with findings is the latest; their ids: drawn.1, drawn.2, fixed."""
    return [it["id"] for it in result_of(tmp_path / "runs" / "latest")["findings"]]


def test_a_finding_shows_again_on_the_device_of_its_run(
    coopcts: Command, bad_run: list[str]
) -> None:
    for name in bad_run:
        done = coopcts("replay", name, "--times", 2)
        assert done.returncode == 1, done.stderr
        assert "WrongProperty: the count of" in done.stdout
        assert "seen in 2 of 2" in done.stdout


def test_a_mended_device_is_fixed(coopcts: Command, bad_run: list[str]) -> None:
    done = coopcts("replay", bad_run[0], "--device", "python:fakes:good")
    assert done.returncode == 0
    assert "FIXED: not seen in 1 of 1. It was: the count of 10 is wrong" in done.stdout


def test_a_witness_can_be_given_as_a_file(
    coopcts: Command, bad_run: list[str], tmp_path: Path, sample: Path
) -> None:
    path = tmp_path / "runs" / "latest" / "witness" / f"{bad_run[2]}.json"
    moved = tmp_path / "elsewhere.json"
    shutil.copy(path, moved)
    done = coopcts("replay", moved, "--device", "python:fakes:bad", "--cases", sample)
    assert done.returncode == 1


def test_an_unknown_finding_is_2_and_names_the_known_ones(
    coopcts: Command, bad_run: list[str]
) -> None:
    done = coopcts("replay", "abcdef")
    assert done.returncode == 2
    assert "has no finding 'abcdef'" in done.stderr and bad_run[0] in done.stderr


def test_without_a_run_it_says_what_to_do(coopcts: Command) -> None:
    done = coopcts("replay", "abcdef")
    assert done.returncode == 2
    assert "do `coopcts run` first" in done.stderr


def test_a_damaged_witness_is_2_and_one_sentence(
    coopcts: Command, bad_run: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "runs" / "latest" / "witness" / f"{bad_run[0]}.json"
    path.write_text(path.read_text()[:-40])
    done = coopcts("replay", bad_run[0])
    assert done.returncode == 2
    assert "is damaged" in done.stderr and done.stderr.count("\n") == 1


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A witness file."""
    request = Query("vkExample", capacity=10)
    finding = WrongProperty("the count of 10 is wrong")
    finding.evidence = Evidence(request)
    found = Found(finding, Outcome.FAIL, "WrongProperty", finding.message)
    (made,) = (it for it in collect() if it.id == "info.environment")
    report = store(found, made, INFO, Origin(1, "smoke", "0" * 64), tmp_path)
    assert report["witness"] == f"witness/{report['id']}.json"
    path: Path = tmp_path / report["witness"]
    return path


def test_a_witness_comes_back_as_it_was(stored: Path) -> None:
    found = load(stored)
    assert found.id == stored.stem and found.case == "info.environment"
    assert found.request == Query("vkExample", capacity=10)
    assert (found.kind, found.outcome, found.judged) == ("WrongProperty", "fail", False)
    assert found.origin == Origin(1, "smoke", "0" * 64)
    with pytest.raises(WitnessError, match="is judged by its case"):
        _ = found.evidence


@pytest.mark.parametrize(
    ("member", "value", "said"),
    [
        ("schema", 99, "newer coopcts .schema 99"),
        ("schema", "1", "newer coopcts"),
        ("coopcts", "result", "isn't a witness"),
        ("request", {"type": "Popen"}, "is damaged"),
        ("request", [1, 2], "is damaged"),
        ("request", 7, "is damaged"),
        ("case", 7, "is damaged"),
        ("origin", None, "is damaged"),
        ("origin", {"seed": "x", "profile": "smoke", "suite": ""}, "is damaged"),
        ("device", None, "is damaged"),
        ("message", None, "is damaged"),
    ],
    ids=str,
)
def test_damage_is_found_and_named(stored: Path, member: str, value: object, said: str) -> None:
    data = json.loads(stored.read_text())
    stored.write_text(json.dumps({**data, member: value}))
    with pytest.raises(WitnessError, match=said):
        load(stored)
    if member not in ("schema", "coopcts"):
        stored.write_text(json.dumps({name: data[name] for name in data if name != member}))
        with pytest.raises(WitnessError, match="is damaged"):
            load(stored)


@pytest.mark.parametrize(
    "text", ["", "{", "null", "[" * 100_000], ids=["empty", "cut", "null", "deep"]
)
def test_what_is_no_witness_at_all_is_named_too(stored: Path, text: str) -> None:
    stored.write_text(text)
    with pytest.raises(WitnessError, match=r"is damaged|isn't a witness"):
        load(stored)


def test_findings_whose_short_names_collide_keep_a_witness_each(tmp_path: Path) -> None:
    (made,) = (it for it in collect() if it.id == "info.environment")
    origin = Origin(1, "smoke", "0" * 64)

    def found(message: str) -> Found:
        finding = WrongProperty(message)
        return Found(finding, Outcome.FAIL, "WrongProperty", message)

    first = store(found("one"), made, INFO, origin, tmp_path)["id"]
    assert store(found("one"), made, INFO, origin, tmp_path)["id"] == first
    path = tmp_path / "witness" / f"{first}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "digest": "of another"}))
    second = store(found("one"), made, INFO, origin, tmp_path)["id"]
    assert len(first) == 6 and len(second) == 8 and second.startswith(first)


def test_a_case_that_is_gone_is_2(coopcts: Command, bad_run: list[str], tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    done = coopcts("replay", bad_run[0], "--cases", "others")
    assert done.returncode == 2
    assert "has no case cooperative_matrix.sample.drawn.1" in done.stderr


def test_export_of_a_query_has_the_call(
    coopcts: Command, bad_run: list[str], tmp_path: Path
) -> None:
    done = coopcts("export", bad_run[0])
    assert done.returncode == 0, done.stderr
    folder = tmp_path / f"reproducer-{bad_run[0]}"
    request = json.loads((folder / "request.json").read_text())
    assert request["request"] == "Query" and request["capacity"] == 10
    assert "the count of 10 is wrong" in (folder / "README.md").read_text()
    assert coopcts("export", bad_run[0]).returncode == 2
