"""What a result says as a whole: the verdict, the counts, and which findings weigh how much.

Every rendering states these the same way because it takes them from here. All functions take
a complete result (:func:`reports.result.check`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cts.outcome import Level, Outcome
from reports.result import VIOLATIONS
from reports.text import OUTCOME_NAMES, one_line, plural

Case = dict[str, Any]
FindingData = dict[str, Any]

LEVELS: dict[str, tuple[str, str]] = {
    "required": (
        "Required",
        "The specification says so. A violation means that the driver is not conformant.",
    ),
    "policy": (
        "Policy",
        "The specification leaves it open; this suite says what it expects, and why. "
        "Not part of the verdict.",
    ),
    "quality": ("Quality", "Legal, but worth a warning. Not part of the verdict."),
    "info": ("Information", "Recorded, never judged."),
}
"""Level to its title and its meaning."""

BANDS: dict[str, tuple[str, str]] = {
    "required": (
        "Violations of the specification",
        "Each of these alone makes the driver not conformant.",
    ),
    "policy": (
        "Policy findings",
        "Unlike what this suite expects of an implementation where the specification leaves it "
        "open, or seen by cases of such expectations. Not part of the verdict.",
    ),
    "quality": ("Quality warnings", "Legal, but worth a look. Not part of the verdict."),
    "info": ("Information", "Recorded by cases that never judge."),
    "suite": (
        "Errors of the suite",
        "The suite failed to judge. This is its own fault, never the driver's; please report it.",
    ),
}
"""What a finding counts as, to a heading and its meaning, in the order of the report."""


@dataclass(frozen=True)
class Verdict:
    """The result in a word (``status``, for styling; ``title``, for people) and a sentence."""

    status: str
    """conformant, not_conformant, incomplete or nothing."""
    title: str
    sentence: str


def verdict(result: Mapping[str, Any]) -> Verdict:
    """The verdict, naming device, driver, suite version, seed and examples."""
    required = [case for case in result["cases"] if case["level"] == "required"]
    by = Counter(case["outcome"] for case in required)
    judged = sum(by[outcome] for outcome in ("pass", "quality_warning", "policy"))
    broken = sum(by[outcome] for outcome in VIOLATIONS)
    unclean = len(required) - judged - by["not_supported"]
    unsupported = f"; {by['not_supported']:,} more not supported" if by["not_supported"] else ""
    cases = "required case" + ("" if len(required) == 1 else "s")
    if broken:
        status, title = "not_conformant", "Not conformant"
        tried = len(required) - by["not_supported"] - by["not_run"]
        said = f"broke the specification in {broken:,} of {plural(tried, 'required case')}"
    elif unclean or result["interrupted"] or not result["conformant"]:
        status, title = "incomplete", "No verdict"
        why = [f"{by[o]:,} {OUTCOME_NAMES[o]}" for o in OUTCOME_NAMES if by[o] and not _clean(o)]
        stopped = ["the run was stopped"] if result["interrupted"] else []
        said = f"can't be judged: of {len(required):,} {cases}, {judged:,} passed"
        said += f" ({', '.join(stopped + why)})" if stopped or why else ""
    elif judged:
        status, title = "conformant", "Conformant"
        said = f"kept to the specification in {_all(judged, 'required case')}{unsupported}"
    else:
        status, title = "nothing", "Nothing to judge"
        none = f"supports none of {plural(len(required), 'selected required case')}"
        said = none if required else "had no required case to keep to"
    selection = result["selection"]
    if selection and selection["selected"] < selection["total"]:
        if status == "conformant":
            title = "Conformant in the part that was selected"
        said += f" ({selection['selected']:,} of {selection['total']:,} cases were selected)"
    examples = plural(sum(case["examples"] for case in result["cases"]), "example")
    suite = result["suite"]
    subject = device_name(result)
    subject += "," if ", driver " in subject else ""
    sentence = (
        f"{subject} {said}, as tested by coopcts {suite['version']} "
        f"with seed {result['seed']} in {examples}."
    )
    return Verdict(status, title, one_line(sentence))


def device_name(result: Mapping[str, Any]) -> str:
    """The device with its driver and version, each named once."""
    device = result["device"]
    name, driver, version = device["name"], device["driver"], device["driver_version"]
    words = [version] if version and version not in name else []
    # "driver 580.65" says less than "driver NVIDIA 580.65", even of an NVIDIA device.
    bare = not any(char.isalpha() for char in version)
    if driver and driver not in version and (driver not in name or (words and bare)):
        words.insert(0, driver)
    return one_line(f"{name}, driver {' '.join(words)}" if words else f"{name}")


def caveats(result: Mapping[str, Any]) -> list[str]:
    """What the reader must know before believing the verdict, one sentence each."""
    kind = result["device"]["kind"]
    said = []
    if kind == "reference":
        said.append("The device is the suite's own reference: this says nothing about a driver.")
    if kind == "mutant":
        said.append("The device has a planted fault: this says nothing about a driver.")
    if result["interrupted"]:
        said.append("The run was stopped before its end; cases that had no turn are 'not run'.")
    return said + [one_line(note) for note in result["notes"]]


def band(finding: Mapping[str, Any], case: Mapping[str, Any] | None) -> str:
    """What a finding counts as: a key of :data:`BANDS`. A finding whose case is unknown counts
    as the specification's if its outcome is a violation."""
    outcome = finding["outcome"]
    if outcome == "error":
        return "suite"
    if outcome == "quality_warning":
        return "quality"
    level = str(case["level"]) if case else "required"
    if outcome in ("policy", "flaky") and level == "required":
        return "policy"
    return level


def sorted_findings(result: Mapping[str, Any]) -> dict[str, list[FindingData]]:
    """Band to its findings, the worst outcome first; bands without findings are left out."""
    cases = {case["id"]: case for case in result["cases"]}
    order = [outcome.value for outcome in Outcome]
    found: dict[str, list[FindingData]] = {name: [] for name in BANDS}
    for finding in result["findings"]:
        found[band(finding, cases.get(finding["case"]))].append(finding)
    for members in found.values():
        members.sort(key=lambda finding: (-order.index(finding["outcome"]), finding["case"]))
    return {name: members for name, members in found.items() if members}


def bare_cases(result: Mapping[str, Any]) -> dict[str, list[Case]]:
    """Band to the cases that didn't end well and left no finding: a suite's own error, say."""
    explained = {finding["case"] for finding in result["findings"]}
    quiet = ("pass", "not_supported", "not_run")
    found: dict[str, list[Case]] = {}
    for case in result["cases"]:
        if case["outcome"] not in quiet and case["id"] not in explained:
            found.setdefault(band(case, case), []).append(case)
    return found


def listed(result: Mapping[str, Any]) -> dict[str, list[FindingData]]:
    """:func:`sorted_findings`, with the cases of :func:`bare_cases` behind them as if they were
    findings (without an id), for renderings that have one line for each."""
    found, bare = sorted_findings(result), bare_cases(result)
    made = {}
    for name in BANDS:
        alone = [
            {
                "id": "",
                "case": case["id"],
                "outcome": case["outcome"],
                "message": case["reason"] or "no reason given",
                "program": "",
                "replay": "",
            }
            for case in bare.get(name, ())
        ]
        members = [*found.get(name, ()), *alone]
        if members:
            made[name] = members
    return made


def counts(result: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Level to outcome to cases; every level, only outcomes that occur."""
    table: dict[str, dict[str, int]] = {}
    for level in Level:
        members = Counter(c["outcome"] for c in result["cases"] if c["level"] == level)
        table[level.value] = {o: members[o] for o in OUTCOME_NAMES if members[o]}
    return table


def base_id(case: Mapping[str, Any]) -> tuple[str, str]:
    """A case's id without and only with the values of its axes: ``("a.b", "x.y")``."""
    axes = ".".join(str(value) for value in case["axes"].values())
    name = str(case["id"])
    if axes and name.endswith("." + axes):
        return name[: -len(axes) - 1], axes
    return name, ""


def slug(text: str) -> str:
    """``text`` as part of an HTML id or a file name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:80] or "x"


def _clean(outcome: str) -> bool:
    return Outcome(outcome).conformant


def _all(number: int, noun: str) -> str:
    return f"all {plural(number, noun)} that it supports" if number > 1 else f"the one {noun}"
