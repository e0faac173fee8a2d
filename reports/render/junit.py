"""JUnit XML, for CI systems: one test case for each case of the result.

The shape is what the Jenkins schema and the ones derived from it share: ``testsuites`` with one
``testsuite`` for each level, ``properties`` first, and in a ``testcase`` at most one of
``skipped``, ``error`` and ``failure`` before ``system-out``. A policy or quality finding never
fails a build by itself: such a case is passed and says what it found in ``system-out``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from cts.outcome import Level
from reports.summary import base_id, device_name
from reports.text import OUTCOME_NAMES, one_line, printable

_FAILURES = frozenset({"fail", "flaky"})
_ERRORS = frozenset({"crash", "timeout", "device_lost", "error"})
_SKIPPED = frozenset({"not_supported", "not_run"})


def junit(result: Mapping[str, Any]) -> str:
    """A complete result as the text of a JUnit XML file."""
    root = ET.Element("testsuites", name="coopcts")
    findings: dict[str, list[Mapping[str, Any]]] = {}
    for finding in result["findings"]:
        findings.setdefault(finding["case"], []).append(finding)
    for level in Level:
        cases = [case for case in result["cases"] if case["level"] == level]
        if cases:
            root.append(_suite(result, level.value, cases, findings))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(case['duration'] for case in result['cases']):.3f}")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(
    result: Mapping[str, Any],
    level: str,
    cases: list[Mapping[str, Any]],
    findings: Mapping[str, list[Mapping[str, Any]]],
) -> ET.Element:
    outcomes = [case["outcome"] for case in cases]
    suite = ET.Element(
        "testsuite",
        name=f"coopcts.{level}",
        tests=str(len(cases)),
        failures=str(sum(outcome in _FAILURES for outcome in outcomes)),
        errors=str(sum(outcome in _ERRORS for outcome in outcomes)),
        skipped=str(sum(outcome in _SKIPPED for outcome in outcomes)),
        time=f"{sum(case['duration'] for case in cases):.3f}",
        # The schemas want no zone; the result's times are UTC.
        timestamp=_text(result["started"])[:19],
        hostname="localhost",
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("device", device_name(result)),
        ("suite", result["suite"]["version"]),
        ("suite.hash", result["suite"]["hash"]),
        ("profile", result["suite"]["profile"]),
        ("seed", str(result["seed"])),
    ):
        ET.SubElement(properties, "property", name=name, value=_text(value))
    for case in cases:
        suite.append(_case(case, findings.get(case["id"], [])))
    return suite


def _case(case: Mapping[str, Any], findings: list[Mapping[str, Any]]) -> ET.Element:
    base, axes = base_id(case)
    element = ET.Element(
        "testcase",
        name=_text(case["id"]),
        classname=_text(base if axes else base.rpartition(".")[0] or base),
        time=f"{case['duration']:.3f}",
    )
    outcome = case["outcome"]
    text = "\n\n".join(_finding(finding) for finding in findings)
    first = findings[0]["message"] if findings else case["reason"] or OUTCOME_NAMES[outcome]
    if outcome in _SKIPPED:
        reason = case["reason"] or OUTCOME_NAMES[outcome]
        ET.SubElement(element, "skipped", message=_text(one_line(reason)))
    elif outcome in _FAILURES | _ERRORS:
        kind = findings[0]["kind"] if findings else outcome
        child = ET.SubElement(
            element,
            "failure" if outcome in _FAILURES else "error",
            type=_text(kind),
            message=_text(one_line(first)),
        )
        child.text = _text(f"{case['requirement']}\n\n{text or case['reason']}")
    elif outcome != "pass":
        note = ET.SubElement(element, "system-out")
        note.text = _text(f"{OUTCOME_NAMES[outcome]}: {text or first}")
    return element


def _finding(finding: Mapping[str, Any]) -> str:
    parts = [f"{finding['id']} {finding['kind']}: {finding['message']}"]
    parts += [finding[name] for name in ("pattern", "record", "program", "replay") if finding[name]]
    return "\n".join(parts)


def _text(value: str) -> str:
    """Only characters that XML 1.0 can hold; everything outside it shows as U+FFFD."""
    return printable(value).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
