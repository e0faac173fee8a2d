"""The parts of the report: heat map, operands, bit fields, requirements, device tables."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from reports import check
from reports.render import device, matrix
from reports.render.findings import TAIL, bit_fields, view
from reports.render.heatmap import bucket, heat_map
from reports.render.operands import operand
from tests.reports import factory
from tests.reports.page import Page

# --- the heat map -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "h-none"),
        (0.0, "h-0"),
        (1e-9, "h-1"),
        (0.5, "h-1"),
        (0.51, "h-2"),
        (1.0, "h-2"),
        (math.nextafter(1, 2), "h-3"),
        (2.0, "h-3"),
        (16.0, "h-4"),
        (16.1, "h-5"),
        (math.inf, "h-inf"),
    ],
)
def test_ratios_fall_into_buckets(value: float | None, name: str) -> None:
    assert bucket(value) == name


def errors(ratios: list[list[Any]], tile: int | None = 0) -> dict[str, Any]:
    return {
        "tile": tile,
        "down": "row",
        "across": "column",
        "rows": len(ratios),
        "columns": len(ratios[0]),
        "ratios": ratios,
    }


def test_every_element_is_drawn_once_where_it_is() -> None:
    made = heat_map(errors([[0, 0.7, "inf"], [None, 5, 0]]))
    assert made is not None
    drawn = {}
    for name, path in re.findall(r'<path class="([\w-]+)" d="([^"]*)"', made.svg):
        for column, row in re.findall(r"M(\d+) (\d+)h1v1h-1z", path):
            assert drawn.setdefault((int(row), int(column)), name) == name
    assert drawn == {
        (0, 0): "h-0",
        (0, 1): "h-2",
        (0, 2): "h-inf",
        (1, 0): "h-none",
        (1, 1): "h-4",
        (1, 2): "h-0",
    }
    assert [(name, number) for name, _, number in made.legend] == [
        ("h-none", 1),
        ("h-0", 2),
        ("h-2", 1),
        ("h-4", 1),
        ("h-inf", 1),
    ]
    assert "2 elements outside" in made.text
    assert ">5.0</text>" in made.svg


def test_the_worst_element_is_ringed_only_in_its_own_tile() -> None:
    worst = {"row": 1, "column": 0, "tile": 0}
    made = heat_map(errors([[0, 0], [3, 0]]), worst)
    assert made is not None and '<rect class="h-ring" x="0" y="1"' in made.svg
    assert "the worst in row 1, column 0" in made.text
    for other in ({**worst, "tile": 1}, {**worst, "row": 9}, {**worst, "column": None}):
        made = heat_map(errors([[0, 0], [3, 0]]), other)
        assert made is not None and "h-ring" not in made.svg


@pytest.mark.parametrize("size", [1, 8, 16, 17, 32, 33, 64])
def test_maps_of_every_size_are_well_formed_and_small(size: int) -> None:
    ratios: list[list[Any]] = [[(r * c) % 7 / 2 for c in range(size)] for r in range(size)]
    made = heat_map(errors(ratios))
    assert made is not None
    Page(str(made.svg))
    assert len(made.svg) < 90_000
    labels = re.findall(r'class="h-axis".*?>(\d+)</text>', made.svg)
    assert labels[0] == "0" and len(labels) <= 32


def test_what_rows_and_columns_are_is_no_markup() -> None:
    made = heat_map(errors([[0.0, 3.0]]) | {"down": '"><script>', "across": "'<b>"})
    assert made is not None and "3" in made.svg
    assert "<script" not in made.svg and "<b>" not in made.svg and '""' not in made.svg


def test_there_is_no_map_of_nothing() -> None:
    assert heat_map(None) is None
    assert heat_map(errors([[]])) is None
    assert heat_map(errors([[]]) | {"ratios": []}) is None


# --- findings ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "component", "digits"),
    [
        ("0x3c01", "float16", ["0", "01111", "0000000001"]),
        ("bf80", "bfloat16", ["1", "01111111", "0000000"]),
        ("0x7f", "float8_e4m3", ["0", "1111", "111"]),
        ("0xfc", "float8_e5m2", ["1", "11111", "00"]),
        ("0x80000000", "float32", ["1", "0" * 8, "0" * 23]),
        ("0x1", "float64", ["0", "0" * 11, "0" * 51 + "1"]),
        ("0x5", "uint32", []),
        ("0x13c01", "float16", []),
        ("garbage", "float16", []),
        ("-1", "float16", []),
    ],
)
def test_bits_of_floats_are_split(bits: str, component: str, digits: list[str]) -> None:
    assert [part for _, part in bit_fields(bits, component)] == digits


def as_operand(bits: np.ndarray, **more: Any) -> Any:
    sample = factory.passing()
    made = factory.finding("a1", sample["cases"][0], "WrongValue", "x")
    made["operands"] = [factory.operand("a", "iota", "uint8", bits, **more)]
    return operand(check(sample | {"findings": [made]})["findings"][0]["operands"][0])


def test_equal_elements_are_said_in_a_sentence() -> None:
    shown = as_operand(np.full((8, 16), 7, np.uint8))
    assert shown.uniform == "all 8 \u00d7 16 elements are 7 = 0x07"
    assert shown.rows == () and shown.cut == ""


def test_equal_values_with_different_bits_are_not_called_equal() -> None:
    shown = as_operand(np.array([[0.0, -0.0]], np.float16))
    assert shown.uniform == ""
    assert [cell.value for cell in shown.rows[0][1]] == ["0", "-0"]
    assert [cell.style for cell in shown.rows[0][1]] == ["z", ""]


def test_a_large_operand_is_cut_round_what_matters() -> None:
    bits = np.arange(64 * 64, dtype=np.uint16).reshape(64, 64)
    shown = as_operand(bits, focus={"row": None, "column": 40})
    assert shown.columns == tuple(range(32, 48))
    assert [row for row, _ in shown.rows] == list(range(64))
    assert shown.cut == "Rows 0 to 63 of 64, columns 32 to 47 of 64; the witness holds all."
    assert {cell.style for _, cells in shown.rows for cell in cells[8:9]} == {"f"}
    assert shown.rows[3][1][8].value == str(3 * 64 + 40)
    across = as_operand(bits, focus={"row": 3, "column": None})
    assert across.columns == tuple(range(64)) and len(across.rows) == 16
    edge = as_operand(bits, focus={"row": 63, "column": 63})
    assert edge.columns == tuple(range(48, 64)) and edge.rows[-1][0] == 63
    assert edge.rows[-1][1][-1].style == "f" and edge.rows[-1][1][-2].style == ""


def test_operands_without_a_focus_frame_nothing() -> None:
    shown = as_operand(np.arange(4, dtype=np.uint8).reshape(2, 2))
    assert all("f" not in cell.style for _, cells in shown.rows for cell in cells)
    assert shown.cut == ""


def test_ragged_and_missing_values_do_not_break_a_table() -> None:
    shown = operand(
        {
            "name": "a",
            "recipe": "",
            "component": "",
            "tile": None,
            "focus": None,
            "values": [[1], [2, "nan"]],
            "bits": [["01"]],
        }
    )
    assert [[cell.value for cell in cells] for _, cells in shown.rows] == [["1", ""], ["2", "nan"]]


def finding_view(**changes: Any) -> Any:
    sample = factory.failing()
    sample["findings"][0].update(changes)
    full = check(sample)
    return view(full["findings"][0], full["cases"][0])


def test_circumstances_name_record_dispatch_and_facts() -> None:
    facts = dict(
        finding_view(facts={"spirv valid": True, "result": None, "n": 1, "seconds": 0.25}).facts
    )
    assert facts["Record"] == f"8x8x8 uint8 x uint8 + uint32 -> uint32 ({factory.KHR}#2)"
    assert facts["Dispatch"] == "1 workgroup, 1 subgroup each, 8 invocations each"
    assert facts["Spirv valid"] == "yes"
    assert facts["Result"] == "\u2014"
    assert facts["N"] == "1"
    assert facts["Seconds"] == "0.25"


def test_only_the_end_of_the_process_output_is_shown_without_control_characters() -> None:
    shown = finding_view(stderr="\n".join(f"line {n}\x1b[1m" for n in range(100)) + "\n").stderr
    lines = shown.split("\n")
    assert len(lines) == TAIL
    assert lines[-1].startswith("line 99") and "\x1b" not in shown


def test_values_of_the_worst_element_keep_every_digit() -> None:
    worst = {"actual": 1.0009765625, "exact": "1.00000000000000022", "ratio": 123456.0}
    rows = {label: value for label, value, _ in finding_view(worst=worst).worst}
    assert rows["Got"] == "1.0009765625"
    assert rows["Exact"] == "1.00000000000000022"
    assert rows["Error / bound"] == "1.2e+05"


# --- the requirement matrix -------------------------------------------------------------------


def cases_with(outcomes: dict[tuple[str, str], str]) -> list[dict[str, Any]]:
    return [
        factory.case("a.b", "M-05", axes={"layout": layout, "types": types}, outcome=outcome)
        for (layout, types), outcome in outcomes.items()
    ]


GRID = [(layout, types) for layout in ("row", "column") for types in ("x", "y", "z")]


@pytest.mark.parametrize(
    ("failed", "said"),
    [
        ([], ""),
        ([("row", "x")], ""),
        (GRID, ""),
        ([("row", "x"), ("column", "y")], ""),
        (
            [("column", t) for t in "xyz"],
            "Every case with layout = column is affected, and no other.",
        ),
        (
            [("column", "x"), ("column", "y")],
            "Only cases with layout = column are affected: 2 of 3.",
        ),
        (
            [("row", "z"), ("column", "z")],
            "Every case with types = z is affected, and no other.",
        ),
    ],
)
def test_what_failing_cases_have_in_common(failed: list[tuple[str, str]], said: str) -> None:
    cases = cases_with({key: "fail" if key in failed else "pass" for key in GRID})
    assert matrix.remark(cases) == said


def test_unsupported_cases_say_nothing_on_what_failing_ones_share() -> None:
    outcomes = {key: "fail" if key[0] == "row" else "not_supported" for key in GRID}
    assert matrix.remark(cases_with(outcomes)) == ""


def test_the_matrix_holds_every_case_once_under_its_own_level() -> None:
    full = check(factory.failing())
    seen = [
        (level.level, case.data["id"])
        for level in matrix.levels(full)
        for section in level.sections
        for requirement in section.requirements
        for case in requirement.cases
    ]
    assert sorted(seen) == sorted((case["level"], case["id"]) for case in full["cases"])


def test_a_requirement_tallies_its_cases_worst_first() -> None:
    full = check(factory.failing())
    [requirement] = [
        q
        for level in matrix.levels(full)
        for section in level.sections
        for q in section.requirements
        if q.base == "cooperative_matrix.mul_add.integer"
    ]
    assert requirement.tally == (("fail", "fail", 2), ("pass", "pass", 2))
    assert [case.data["outcome"] for case in requirement.cases] == ["fail", "fail", "pass", "pass"]
    assert requirement.open


def test_a_reason_that_a_finding_gives_is_not_repeated() -> None:
    sample = factory.failing()
    sample["cases"][0]["reason"] = sample["findings"][0]["message"]
    sample["cases"][1]["reason"] = "something else"
    views = {
        case.data["id"]: case.reason
        for level in matrix.levels(check(sample))
        for section in level.sections
        for requirement in section.requirements
        for case in requirement.cases
    }
    assert [views[case["id"]] for case in sample["cases"][:2]] == ["", "something else"]


def test_long_distributions_are_cut_with_a_count() -> None:
    case = factory.case("a.b", "M-05", distribution={"k": {str(n): n for n in range(1, 21)}})
    full = check(factory.passing() | {"cases": [case]})
    [level] = matrix.levels(full)
    [(name, line)] = level.sections[0].requirements[0].cases[0].distribution
    assert name == "k" and line.startswith("20 \u00d7 20, 19 \u00d7 19")
    assert line.endswith("and 8 more values")


# --- the device -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "value", "shown"),
    [
        ("AType", 0, "FLOAT16"),
        ("matrixInterpretation", 1000491002, "FLOAT8_E4M3"),
        ("BType", 77, "77 (unknown)"),
        ("scope", 3, "SUBGROUP"),
        ("scope", 9, "9 (unknown)"),
        ("saturatingAccumulation", 1, "yes"),
        ("transpose", 0, "no"),
        ("transpose", 2, "2"),
        ("MSize", 16, "16"),
        ("sType", 3, "3"),
        ("MSize", None, "\u2014"),
    ],
)
def test_members_of_records_have_names_and_unknown_ones_numbers(
    member: str, value: int | None, shown: str
) -> None:
    assert device.show_member(member, value) == shown


def test_records_with_different_members_share_a_table() -> None:
    info = {"records": {"c": [{"MSize": 8}, {"KSize": 4}], "d": []}}
    first, second = device.record_tables(info)
    assert first.members == ("MSize", "KSize")
    assert first.rows == (("8", "\u2014"), ("\u2014", "4"))
    assert second.rows == ()


def test_queue_flags_are_words_and_unknown_bits_numbers() -> None:
    assert device.queues({"queues": [15, 0x102, 0]}) == [
        "graphics, compute, transfer, sparse binding",
        "compute, 0x100",
        "none",
    ]
