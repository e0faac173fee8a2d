"""JUnit XML: the shape that CI systems read."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from cts.outcome import Outcome
from reports import check
from reports.render.junit import junit
from tests.reports import factory

ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testsuite": {
        "name",
        "tests",
        "failures",
        "errors",
        "skipped",
        "time",
        "timestamp",
        "hostname",
    },
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"message"},
    "system-out": set(),
}
CHILDREN = {
    "testsuites": "(testsuite )*",
    "testsuite": "properties (testcase )*",
    "properties": "(property )*",
    "testcase": "((failure|error|skipped) )?(system-out )?",
}


def parsed(result: dict[str, Any]) -> ET.Element:
    """The XML of a result, checked against the common shape."""
    root = ET.fromstring(junit(check(result)))
    for element in root.iter():
        assert set(element.attrib) == ATTRIBUTES[element.tag]
        children = "".join(f"{child.tag} " for child in element)
        assert re.fullmatch(CHILDREN.get(element.tag, ""), children), (element.tag, children)
    for suite in root:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[name]) == len(suite.findall(f"testcase/{tag}"))
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
    for name in ("tests", "failures", "errors", "skipped"):
        assert int(root.attrib[name]) == sum(int(suite.attrib[name]) for suite in root)
    return root


def by_name(root: ET.Element) -> dict[str, ET.Element]:
    return {case.attrib["name"]: case for case in root.iter("testcase")}


def test_there_is_one_test_case_for_each_case() -> None:
    result = factory.failing()
    cases = by_name(parsed(result))
    assert list(cases) and set(cases) == {case["id"] for case in result["cases"]}
    assert parsed(factory.passing() | {"cases": []}).attrib["tests"] == "0"


def test_class_names_group_the_values_of_axes() -> None:
    cases = by_name(parsed(factory.passing()))
    name = "cooperative_matrix.mul_add.integer.uint8_uint8_uint32"
    assert cases[name].attrib["classname"] == "cooperative_matrix.mul_add.integer"
    assert cases["info.environment"].attrib["classname"] == "info"


@pytest.mark.parametrize("outcome", [outcome.value for outcome in Outcome])
def test_every_outcome_has_its_element(outcome: str) -> None:
    case = factory.case("a.b", "M-05", "policy", outcome=outcome, reason="because")
    element = by_name(parsed(factory.passing() | {"cases": [case]}))["a.b"]
    expected = {
        "pass": [],
        "not_supported": ["skipped"],
        "not_run": ["skipped"],
        "policy": ["system-out"],
        "quality_warning": ["system-out"],
        "fail": ["failure"],
        "flaky": ["failure"],
    }.get(outcome, ["error"])
    assert [child.tag for child in element] == expected
    for child in element:
        assert "because" in child.attrib.get("message", "") + (child.text or "")


def test_a_failure_carries_the_requirement_and_the_finding() -> None:
    result = factory.failing()
    finding = result["findings"][0]
    failure = by_name(parsed(result))[finding["case"]].find("failure")
    assert failure is not None
    assert failure.attrib == {"type": "WrongValue", "message": finding["message"]}
    text = failure.text or ""
    for part in (finding["rule"], finding["program"], finding["pattern"], finding["replay"]):
        assert part in text


def test_a_policy_finding_is_noted_and_passes() -> None:
    cases = by_name(parsed(factory.failing()))
    note = cases["cooperative_matrix.mul_add.float.bound"].find("system-out")
    assert note is not None and "b81e07 PolicyValue" in (note.text or "")


def test_the_run_is_named_in_properties() -> None:
    properties = {p.attrib["name"]: p.attrib["value"] for p in parsed(factory.passing())[0][0]}
    assert properties["seed"] == "1"
    assert "Mesa 26.1.6" in properties["device"]


@pytest.mark.parametrize("text", ["\x00\x1b[31m\ud800", "]]><evil a='\"'/>&amp;", "\ufffe\uffff"])
def test_any_string_makes_valid_xml(text: str) -> None:
    root = parsed(factory.hostile(text))
    assert len(list(root.iter("testcase"))) == 23
    assert "evil" not in {element.tag for element in root.iter()}
