"""Collecting the suite's own cases."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cts.case import ROOTS, CaseError
from cts.collect import ROOT, collect, select, suite_hash
from cts.outcome import Level
from cts.requirements import ROWS

EXPECTED_ROWS = {"Q": 11, "P": 8, "E": 9, "M": 29, "V": 12, "C": 13}


def test_every_requirement_row_is_there_and_complete() -> None:
    ids = [f"{part}-{n:02}" for part, count in EXPECTED_ROWS.items() for n in range(1, count + 1)]
    assert list(ROWS) == ids
    for row in ROWS.values():
        assert (row.text.endswith(".") and "#" in row.spec) or row.spec.startswith("SPV_"), row.id


@pytest.mark.parametrize("row", ROWS)
def test_every_requirement_row_has_cases_of_its_level(row: str) -> None:
    levels = {case.level for case in collect() if row in case.rows}
    assert ROWS[row].level in levels, f"{row} is {ROWS[row].level}, its cases are {levels}"


def test_cases_have_stable_unique_ids_with_known_beginnings() -> None:
    ids = [case.id for case in collect()]
    assert len(set(ids)) == len(ids) > 100
    assert {one.split(".")[0] for one in ids} <= set(ROOTS)


def test_cases_are_the_same_in_another_process() -> None:
    script = "from cts.collect import collect; print(*(it.id for it in collect()), sep='\\n')"
    said = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == [case.id for case in collect()]


def test_cases_say_why_they_exist() -> None:
    for case in collect():
        declaration = case.declaration
        assert declaration.requirement.endswith((".", ".)")), case.id
        assert "#" in declaration.spec or declaration.spec.startswith("SPV_"), case.id
        assert case.level is Level.INFO or case.rows, case.id


def test_collecting_opens_no_device() -> None:
    script = (
        "import sys; from cts.collect import collect; collect(); "
        "print([name for name in sys.modules if name.split('.')[0] in ('vulkan', '_cffi_backend') "
        "or name.startswith('cts.device.') and name.split('.')[-1] in ('supervisor', 'select')])"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "[]"


def test_selection_keeps_the_order_and_takes_all_without_queries(sample: Path) -> None:
    cases = collect(sample)
    assert select(cases, []) == cases
    assert [it.id for it in select(cases, ["*.drawn.2", "info"])] == [
        "info.sample",
        "cooperative_matrix.sample.drawn.2",
    ]


def test_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="there are no cases at"):
        collect(tmp_path / "nowhere")


def test_two_files_with_the_same_case_are_refused(sample: Path) -> None:
    (sample / "test_twice.py").write_text((sample / "test_sample.py").read_text())
    with pytest.raises(CaseError, match="two cases have the id"):
        collect(sample)


def test_the_hash_is_that_of_the_sources() -> None:
    assert len(suite_hash()) == 64
    assert suite_hash() == suite_hash()
