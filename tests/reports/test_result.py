"""Reading, checking and writing result.json."""

from __future__ import annotations

import copy
import json
import math
import os
import re
import stat
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reports
from cts.outcome import Level, Outcome
from reports import ReportError, validate
from reports.result import VIOLATIONS, ratio
from tests.reports import factory

ORACLE = jsonschema.Draft202012Validator(validate.schema())
SAMPLES = [factory.passing(), factory.failing()]


def nodes(node: Any) -> Any:
    """Every schema inside ``node``, itself too."""
    if isinstance(node, dict):
        yield node
        for key, value in node.items():
            if key in ("properties", "$defs"):
                for inner in value.values():
                    yield from nodes(inner)
            elif key in ("items", "additionalProperties"):
                yield from nodes(value)


def test_the_schema_is_valid_and_uses_only_keywords_that_are_implemented() -> None:
    jsonschema.Draft202012Validator.check_schema(validate.schema())
    for node in nodes(validate.schema()):
        assert set(node) <= validate.KEYWORDS, node


def test_every_member_of_the_schema_is_described() -> None:
    for node in nodes(validate.schema()):
        for name, inner in node.get("properties", {}).items():
            assert "description" in inner or "$ref" in inner, name


def test_the_schema_knows_every_outcome_and_level() -> None:
    defs = validate.schema()["$defs"]
    assert defs["outcome"]["enum"] == [outcome.value for outcome in Outcome]
    assert defs["case"]["properties"]["level"]["enum"] == [level.value for level in Level]


def test_violations_are_the_outcomes_worse_than_not_run_except_the_suites_own() -> None:
    order = list(Outcome)
    worse = set(order[order.index(Outcome.NOT_RUN) + 1 :]) - {Outcome.ERROR}
    assert {outcome.value for outcome in worse} == VIOLATIONS


@pytest.mark.parametrize("sample", SAMPLES, ids=["passing", "failing"])
def test_samples_are_valid_before_and_after_completion(sample: dict[str, Any]) -> None:
    assert list(ORACLE.iter_errors(sample)) == []
    full = reports.check(sample)
    assert list(ORACLE.iter_errors(full)) == []
    assert reports.check(full) == full


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key in value:
            found += places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(min(len(value), 2)):
            found += places(value[index], (*path, index))
    return found


SMALL = factory.failing()
SMALL["cases"] = SMALL["cases"][:1]
SMALL["findings"] = SMALL["findings"][:1]
SMALL["cases"][0]["level"] = "policy"
PLACES = places(SMALL)[1:]
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.just(1.5),
    st.sampled_from(["", "x", "pass", "required", "inf"]),
    st.just([]),
    st.just({}),
    st.just([[1]]),
)


@settings(max_examples=400, deadline=None)
@given(place=st.sampled_from(PLACES), junk=st.one_of(st.just("drop"), JUNK))
def test_it_rejects_exactly_what_a_full_validator_rejects(place: Any, junk: Any) -> None:
    damaged = copy.deepcopy(SMALL)
    owner: Any = damaged
    for key in place[:-1]:
        owner = owner[key]
    if junk == "drop":
        del owner[place[-1]]
    else:
        owner[place[-1]] = junk
    assert (list(validate.problems(damaged)) == []) == ORACLE.is_valid(damaged)


def test_defaults_are_filled_in_and_not_shared() -> None:
    sample = factory.passing()
    del sample["notes"], sample["cases"][0]["distribution"]
    full = reports.check(sample)
    assert full["notes"] == []
    assert full["cases"][0]["distribution"] == {}
    full["notes"].append("x")
    assert reports.check(sample)["notes"] == []


def test_members_that_are_not_known_are_kept() -> None:
    sample = factory.passing() | {"colour": "green"}
    assert reports.check(sample)["colour"] == "green"


def write(path: Path, content: Any) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, "utf-8")
    return path


def test_load_gives_what_save_wrote_and_takes_a_run_folder(tmp_path: Path) -> None:
    saved = reports.save(factory.failing(), tmp_path / "result.json")
    assert reports.load(saved) == reports.load(tmp_path) == reports.check(factory.failing())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "no JSON at line 1, column 1"),
        ('{"schema": 1, "suite": {', "no JSON at line 1"),
        ("[]", "no member 'schema'"),
        ("{}", "no member 'schema'"),
        ({"schema": 2}, "made by a newer coopcts (schema 2, known 1); update"),
        ({"schema": "one"}, "no version number"),
        ({"schema": True}, "no version number"),
        ({"schema": 0}, "no version number"),
        ({"schema": 1}, "result has no member 'suite'"),
        (factory.passing() | {"seed": "x"}, 'result.seed is "x", not integer'),
        ("[" * 100000, "nested too deeply"),
        ('{"schema": ' + "9" * 5000 + "}", "damaged"),
    ],
)
def test_a_bad_file_gives_one_clear_sentence(tmp_path: Path, content: Any, says: str) -> None:
    path = write(tmp_path / "result.json", content)
    with pytest.raises(ReportError) as caught:
        reports.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert says in message
    assert "\n" not in message and len(message) < 600


def test_other_files_give_one_clear_sentence_too(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"no such file; `coopcts run` writes one"):
        reports.load(tmp_path / "gone.json")
    with pytest.raises(ReportError, match="no such file"):
        reports.load(tmp_path)
    (tmp_path / "image.json").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ReportError, match="not UTF-8"):
        reports.load(tmp_path / "image.json")
    (tmp_path / "result.json").mkdir()
    with pytest.raises(ReportError, match="can't be read"):
        reports.load(tmp_path)


def test_a_file_that_contradicts_itself_is_damaged() -> None:
    sample = factory.failing() | {"conformant": True}
    with pytest.raises(ReportError, match=r"says conformant, but .* ended in fail"):
        reports.check(sample)
    twice = factory.passing()
    twice["cases"].append(twice["cases"][0])
    with pytest.raises(ReportError, match="two cases with the id"):
        reports.check(twice)


def test_results_that_are_no_data_are_refused() -> None:
    for value in (None, [], {1: object()}, factory.passing() | {"seed": {1, 2}}):
        with pytest.raises(ReportError, match="not a coopcts result"):
            reports.check(value)


def test_infinities_and_nans_become_strings_in_strict_json() -> None:
    sample = factory.passing()
    sample["cases"][0]["worst_ratio"] = math.inf
    sample["cases"][1]["worst_ratio"] = math.nan
    sample["device"]["properties"]["x.y"] = [-math.inf]
    text = reports.dumps(sample)
    read = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert [case["worst_ratio"] for case in read["cases"][:2]] == ["inf", "nan"]
    assert read["device"]["properties"]["x.y"] == ["-inf"]
    assert json.loads(reports.dumps(read)) == read


def test_a_file_with_bare_infinities_is_read(tmp_path: Path) -> None:
    sample = factory.passing()
    sample["cases"][0]["worst_ratio"] = math.inf
    text = json.dumps(sample).replace('"duration": 61.2', '"duration": 1e2')
    read = reports.load(write(tmp_path / "result.json", text))
    assert read["cases"][0]["worst_ratio"] == "inf"
    huge = json.dumps(factory.passing()).replace("0.41", "1e999")
    assert (
        reports.load(write(tmp_path / "result.json", huge))["accuracy"][1]["worst_ratio"] == "inf"
    )


def test_ratios_as_numbers() -> None:
    assert ratio(None) is None
    assert ratio(2) == 2.0
    assert ratio("inf") == ratio("nan") == math.inf


def test_writing_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = reports.save(factory.passing(), tmp_path / "deep" / "result.json")
    before = path.read_text("utf-8")

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(ReportError, match="can't be written: No space left on device"):
        reports.save(factory.failing(), path)
    assert path.read_text("utf-8") == before
    assert [item.name for item in path.parent.iterdir()] == ["result.json"]


def test_a_reader_of_the_old_file_keeps_it_whole(tmp_path: Path) -> None:
    path = reports.save(factory.passing(), tmp_path / "result.json")
    before = path.read_text("utf-8")
    with path.open(encoding="utf-8") as reader:
        reports.save(factory.failing(), path)
        assert reader.read() == before
    assert path.read_text("utf-8") != before


def test_a_folder_that_can_not_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="can't be written"):
        reports.write(factory.passing(), tmp_path / "file")


def test_write_renders_everything_with_ordinary_permissions(tmp_path: Path) -> None:
    written = reports.write(factory.failing(), tmp_path / "out")
    assert [path.name for path in written] == ["report.html", "junit.xml", "summary.md"]
    plain = tmp_path / "plain"
    plain.touch()
    for path in written:
        assert path.stat().st_size > 1000
        assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_lone_surrogates_do_not_stop_a_report(tmp_path: Path) -> None:
    sample = factory.failing()
    sample["findings"][0]["stderr"] = "a\ud800b\x00\x1b[31m"
    sample["notes"] = ["\udfff"]
    for path in reports.write(sample, tmp_path):
        path.read_text("utf-8")
    reports.save(sample, tmp_path / "result.json")
    assert reports.load(tmp_path)["notes"] == ["\udfff"]


def test_every_member_of_the_schema_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "report.md").read_text("utf-8")
    documented = set(re.findall(r"`(\w+)`", page))
    for node in nodes(validate.schema()):
        assert set(node.get("properties", {})) <= documented
