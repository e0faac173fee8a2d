"""Findings as the templates show them: small tables, bit fields, the heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.render.heatmap import HeatMap, heat_map
from reports.render.operands import Operand, operand
from reports.result import ratio
from reports.summary import BANDS, bare_cases, base_id, slug, sorted_findings
from reports.text import OUTCOME_NAMES, plural, printable, show_ratio, show_value

TAIL = 40
"""Lines of the device process's output that are shown."""

FIELDS = {
    "float16": (5, 10),
    "bfloat16": (8, 7),
    "float32": (8, 23),
    "float64": (11, 52),
    "float8_e4m3": (4, 3),
    "float8_e5m2": (5, 2),
}
"""Component to the widths of its exponent and its fraction; one sign bit comes before them."""


@dataclass(frozen=True)
class FindingView:
    """One finding, ready for a template. ``data`` is the complete finding of the result."""

    anchor: str
    data: Mapping[str, Any]
    case: Mapping[str, Any] | None
    outcome: str
    rule: str
    facts: tuple[tuple[str, str], ...]
    worst: tuple[tuple[str, str, str], ...]
    """(label, value, bits) of the worst element."""
    fields: tuple[tuple[str, str], ...]
    """(name, digits) of the worst element's bit fields, floats only."""
    operands: tuple[Operand, ...]
    heat: HeatMap | None
    stderr: str
    disassembly: str

    @property
    def seen(self) -> bool:
        """Whether there is something to show of the wrong elements."""
        return bool(self.worst or self.heat or self.data["pattern"])


@dataclass(frozen=True)
class Group:
    """Findings of one kind at cases of one requirement: probably one fault, so that only the
    first is unfolded."""

    where: str
    """The case's id if it is one, else what their ids have in common."""
    remark: str
    findings: tuple[FindingView, ...]


@dataclass(frozen=True)
class Band:
    """The findings of one weight (a key of :data:`reports.summary.BANDS`)."""

    name: str
    title: str
    meaning: str
    groups: tuple[Group, ...]
    bare: tuple[tuple[Mapping[str, Any], str], ...]
    """(case, its outcome's name) of the cases of this weight that left no finding."""

    @property
    def number(self) -> int:
        """Findings, and cases without one."""
        return sum(len(group.findings) for group in self.groups) + len(self.bare)


def bands(result: Mapping[str, Any], siblings: Mapping[str, str]) -> tuple[Band, ...]:
    """All bands of a complete result that hold something, in the order of the report.
    ``siblings`` says of a case, by id, how the others of its requirement ended."""
    cases = {case["id"]: case for case in result["cases"]}
    bare = bare_cases(result)
    found = sorted_findings(result)
    made = []
    for name, (title, meaning) in BANDS.items():
        groups = _groups(found.get(name, ()), cases, siblings)
        alone = tuple((case, OUTCOME_NAMES[case["outcome"]]) for case in bare.get(name, ()))
        if groups or alone:
            made.append(Band(name, title, meaning, groups, alone))
    return tuple(made)


def _groups(
    findings: Sequence[Mapping[str, Any]],
    cases: Mapping[str, Mapping[str, Any]],
    siblings: Mapping[str, str],
) -> tuple[Group, ...]:
    grouped: dict[tuple[str, str, str], list[FindingView]] = {}
    for finding in findings:
        case = cases.get(finding["case"])
        base = base_id(case)[0] if case else finding["case"]
        key = (base, finding["kind"], finding["outcome"])
        shown = view(finding, case, siblings.get(finding["case"], ""))
        grouped.setdefault(key, []).append(shown)
    return tuple(
        Group(
            where=base if len(views) > 1 else views[0].data["case"],
            remark=siblings.get(views[0].data["case"], "") if len(views) > 1 else "",
            findings=tuple(views),
        )
        for (base, _, _), views in grouped.items()
    )


def view(
    finding: Mapping[str, Any], case: Mapping[str, Any] | None, siblings: str = ""
) -> FindingView:
    """The view of one complete finding; ``case`` is None where the result has no such case."""
    worst = finding["worst"]
    return FindingView(
        anchor="f-" + slug(finding["id"]),
        data=finding,
        case=case,
        outcome=OUTCOME_NAMES[finding["outcome"]],
        rule=case["requirement"] if case else finding["rule"],
        facts=tuple(_facts(finding) + ([("Other cases", siblings)] if siblings else [])),
        worst=tuple(_worst(worst)) if worst else (),
        fields=bit_fields(worst["actual_bits"], worst["component"]) if worst else (),
        operands=tuple(operand(item) for item in finding["operands"]),
        heat=heat_map(finding["errors"], worst),
        stderr="\n".join(printable(finding["stderr"]).rstrip().split("\n")[-TAIL:]),
        disassembly=printable(finding["disassembly"]).rstrip(),
    )


def _facts(finding: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = []
    if finding["record"]:
        facts.append(("Record", _record(finding["record"])))
    grid = finding["grid"]
    if grid:
        parts = [
            plural(grid[key], noun) + more
            for key, noun, more in (
                ("workgroups", "workgroup", ""),
                ("subgroups", "subgroup", " each"),
                ("subgroup_size", "invocation", " each"),
            )
            if grid[key] is not None
        ]
        facts.append(("Dispatch", ", ".join(parts)))
    for name, value in finding["facts"].items():
        text = ("no", "yes")[value] if isinstance(value, bool) else show_value(value) or "—"
        facts.append((name[:1].upper() + name[1:], text))
    return facts


def _record(text: str) -> str:
    """``command#index: words`` (several joined by ``; ``), the words first: they are read."""
    parts = []
    for part in text.split("; "):
        place, _, words = part.partition(": ")
        parts.append(f"{words} ({place})" if words and "#" in place else part)
    return "; ".join(parts)


def _worst(worst: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    place = [worst["place"]] if worst["place"] else []
    if not place:
        numbers = ("row", "column", "tile")
        place = [f"{name} {worst[name]}" for name in numbers if worst[name] is not None]
    place += [f"buffer {worst['buffer']}"] if worst["buffer"] else []
    rows = [("Element", ", ".join(place), "")] if place else []
    component = f" {worst['component']}" if worst["component"] else ""
    if worst["actual"] is not None:
        rows.append(("Got", _full(worst["actual"]), worst["actual_bits"] + component))
    elif worst["actual_bits"]:
        rows.append(("Got", worst["actual_bits"], component))
    if worst["accepted"]:
        rows.append(("Accepted", worst["accepted"], ""))
    if worst["exact"] not in (None, ""):
        rows.append(("Exact", _full(worst["exact"]), ""))
    if worst["ratio"] is not None:
        rows.append(("Error / bound", show_ratio(ratio(worst["ratio"])), ""))
    return rows


def _full(value: float | str | None) -> str:
    """Every digit of a value: here they matter."""
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def bit_fields(bits: str, component: str) -> tuple[tuple[str, str], ...]:
    """``(("sign", "0"), ("exponent", "01111"), ("fraction", "0000000001"))`` of a float's
    hexadecimal ``bits``; nothing for other components and for what is no bit pattern."""
    try:
        exponent, fraction = FIELDS[component]
        number = int(bits, 16)
    except (KeyError, ValueError):
        return ()
    width = 1 + exponent + fraction
    if number < 0 or number >> width:
        return ()
    digits = f"{number:0{width}b}"
    return (
        ("sign", digits[0]),
        ("exponent", digits[1 : 1 + exponent]),
        ("fraction", digits[1 + exponent :]),
    )
