"""The requirement matrix: every requirement with its sentence, its level and its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from cts.outcome import Level, Outcome
from reports.result import ratio
from reports.summary import base_id
from reports.text import OUTCOME_NAMES, TIMES, seconds, show_ratio

_ORDER = [outcome.value for outcome in Outcome]
_QUIET = frozenset({"pass", "not_supported"})


@dataclass(frozen=True)
class CaseView:
    """One case, ready for a template."""

    anchor: str
    data: Mapping[str, Any]
    name: str
    """The values of the axes, or the whole id where there are none."""
    outcome: str
    reason: str
    """Empty where a finding says the same."""
    ratio: str
    duration: str
    distribution: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Requirement:
    """All cases of one test function: one requirement, one base id."""

    base: str
    rows: tuple[str, ...]
    sentence: str
    tally: tuple[tuple[str, str, int], ...]
    """(outcome, its name, cases) of the outcomes that occur, the worst first."""
    remark: str
    cases: tuple[CaseView, ...]

    @property
    def open(self) -> bool:
        """Whether there is something to look at."""
        return any(outcome not in _QUIET for outcome, _, _ in self.tally)


@dataclass(frozen=True)
class Section:
    """The requirements that rest on one anchor of a specification."""

    document: str
    anchor: str
    requirements: tuple[Requirement, ...]


@dataclass(frozen=True)
class LevelView:
    """All sections of one level."""

    level: str
    sections: tuple[Section, ...]
    cases: int


def levels(result: Mapping[str, Any]) -> tuple[LevelView, ...]:
    """The whole matrix of a complete result, levels never mixed; empty levels are left out."""
    numbered = list(enumerate(result["cases"]))
    said = {finding["message"] for finding in result["findings"]}
    found = []
    for level in Level:
        members = [(index, case) for index, case in numbered if case["level"] == level]
        if members:
            found.append(LevelView(level.value, _sections(members, said), len(members)))
    return tuple(found)


def siblings(levels: Sequence[LevelView]) -> dict[str, str]:
    """Case id to how the cases of its requirement ended together; nothing where it is alone."""
    said = {}
    for requirement in (
        q for level in levels for section in level.sections for q in section.requirements
    ):
        if len(requirement.cases) < 2:
            continue
        tally = ", ".join(f"{number:,} {name}" for _, name, number in requirement.tally)
        text = f"Of {len(requirement.cases):,} cases of {requirement.base}: {tally}."
        said.update(
            {case.data["id"]: f"{text} {requirement.remark}".strip() for case in requirement.cases}
        )
    return said


def _sections(
    members: Sequence[tuple[int, Mapping[str, Any]]], said: Set[str]
) -> tuple[Section, ...]:
    grouped: dict[str, dict[tuple[str, str], list[tuple[int, Mapping[str, Any]]]]] = {}
    for index, case in members:
        key = (base_id(case)[0], case["requirement"])
        grouped.setdefault(case["spec"], {}).setdefault(key, []).append((index, case))
    sections = []
    for spec, groups in grouped.items():
        document, _, anchor = spec.partition("#")
        requirements = [
            _requirement(base, sentence, cases, said) for (base, sentence), cases in groups.items()
        ]
        sections.append(Section(document, anchor, tuple(requirements)))
    return tuple(sections)


def _requirement(
    base: str,
    sentence: str,
    members: Sequence[tuple[int, Mapping[str, Any]]],
    said: Set[str],
) -> Requirement:
    cases = [case for _, case in members]
    tally = Counter(case["outcome"] for case in cases)
    views = [_case(index, case, said) for index, case in members]
    views.sort(key=_weight)
    return Requirement(
        base=base,
        rows=tuple(dict.fromkeys(row for case in cases for row in case["rows"])),
        sentence=sentence,
        tally=tuple((o, OUTCOME_NAMES[o], tally[o]) for o in reversed(_ORDER) if tally[o]),
        remark=remark(cases),
        cases=tuple(views),
    )


def _weight(case: CaseView) -> int:
    """Worst outcome first, what the device lacks last; stable otherwise."""
    outcome = case.data["outcome"]
    return 1 if outcome == "not_supported" else -_ORDER.index(outcome)


def _case(index: int, case: Mapping[str, Any], said: Set[str]) -> CaseView:
    name = base_id(case)[1] or case["id"]
    return CaseView(
        anchor=f"c-{index}",
        data=case,
        name=name,
        outcome=OUTCOME_NAMES[case["outcome"]],
        reason="" if case["reason"] in said else case["reason"],
        ratio=show_ratio(ratio(case["worst_ratio"])),
        duration=seconds(case["duration"]),
        distribution=tuple(_distribution(case["distribution"])),
    )


def _distribution(data: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str]]:
    """Each drawn quantity with its values, the most frequent first."""
    lines = []
    for name, members in data.items():
        ordered = sorted(members.items(), key=lambda item: -item[1])
        more = f", and {len(ordered) - 12} more values" if len(ordered) > 12 else ""
        lines.append((name, ", ".join(f"{key} {TIMES} {n:,}" for key, n in ordered[:12]) + more))
    return lines


def remark(cases: Sequence[Mapping[str, Any]]) -> str:
    """What the cases that didn't pass have in common, if one axis tells. Nothing is said where
    all supported cases or fewer than two of them are affected."""
    tried = [case for case in cases if case["outcome"] not in ("not_supported", "not_run")]
    bad = [case for case in tried if case["outcome"] != "pass"]
    if len(bad) < 2 or len(bad) == len(tried):
        return ""
    for axis in bad[0]["axes"]:
        values = {str(case["axes"].get(axis)) for case in bad}
        if len(values) != 1:
            continue
        value = values.pop()
        having = [case for case in tried if str(case["axes"].get(axis)) == value]
        if len(having) == len(tried):
            continue
        if len(having) == len(bad):
            return f"Every case with {axis} = {value} is affected, and no other."
        return f"Only cases with {axis} = {value} are affected: {len(bad)} of {len(having)}."
    return ""
