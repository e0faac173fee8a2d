"""What changed between two results.

``diff(old, new)`` compares the outcomes of every case by id. Its ``regressed`` is what a CI job
asks for: something that was in order no longer is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cts.outcome import Outcome
from reports.render.markdown import code, escape
from reports.result import check, ratio
from reports.summary import device_name
from reports.text import OUTCOME_NAMES, moment, one_line, plural, show_ratio

_ORDER = [outcome.value for outcome in Outcome]
_GOOD = frozenset({"pass", "quality_warning"})
_UNKNOWN = frozenset({"not_run"})
ACCURACY_STEP = 0.1
"""A worst ratio that moved by less is not worth a line."""


@dataclass(frozen=True)
class Change:
    """One case in both results. ``message`` is the first finding's, of the new result where it
    has one, else of the old; ``replay`` the command that shows it again, in the new result."""

    id: str
    level: str
    old: str
    new: str
    message: str = ""
    replay: str = ""


@dataclass(frozen=True)
class Accuracy:
    """A combination of types whose worst error / bound ratio moved; None: not judged."""

    types: str
    tier: str
    old: float | None
    new: float | None


@dataclass(frozen=True)
class Diff:
    """Every case of either result is in exactly one member, or in ``unchanged`` (a number)."""

    old_name: str
    new_name: str
    notes: tuple[str, ...]
    """Differences between the runs that limit what the comparison means."""
    new_failures: tuple[Change, ...] = ()
    """In order before, not any more."""
    lost: tuple[Change, ...] = ()
    """In order before, now not supported."""
    changed: tuple[Change, ...] = ()
    """Not in order in either, with another outcome or other kinds of finding."""
    still_failing: tuple[Change, ...] = ()
    """Not in order in either, in the same way."""
    fixed: tuple[Change, ...] = ()
    """In order now, not before."""
    gained: tuple[Change, ...] = ()
    """Not supported before, in order now."""
    warnings: tuple[Change, ...] = ()
    """In order in both, with or without a quality warning."""
    not_compared: tuple[Change, ...] = ()
    """Not run in one of the two."""
    only_old: tuple[Change, ...] = ()
    """Only in the old result; ``new`` is empty."""
    only_new: tuple[Change, ...] = ()
    """Only in the new result; ``old`` is empty."""
    accuracy: tuple[Accuracy, ...] = ()
    unchanged: int = 0

    @property
    def regressed(self) -> bool:
        """Whether something that was in order, or supported, no longer is, or got worse."""
        worse = [c for c in self.changed if _ORDER.index(c.new) > _ORDER.index(c.old)]
        return any(c.level != "info" for c in (*self.new_failures, *self.lost, *worse))


PARTS: tuple[tuple[str, str], ...] = (
    ("new_failures", "New failures"),
    ("lost", "No longer supported"),
    ("changed", "Fails in another way"),
    ("fixed", "Fixed"),
    ("gained", "Newly supported"),
    ("warnings", "Quality warnings that came or went"),
    ("still_failing", "Still failing"),
    ("not_compared", "Not run in one of the two"),
    ("only_old", "Only in the old result"),
    ("only_new", "Only in the new result"),
)
"""Member of :class:`Diff` to its title, what matters most first."""


def diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> Diff:
    """Compare two results.

    :raises reports.result.ReportError: one of them is no valid result.
    """
    old, new = check(dict(old)), check(dict(new))
    before = {case["id"]: case for case in old["cases"]}
    after = {case["id"]: case for case in new["cases"]}
    shown = {"old": _first_findings(old), "new": _first_findings(new)}
    kinds = {"old": _kinds(old), "new": _kinds(new)}
    found: dict[str, list[Change]] = {name: [] for name, _ in PARTS}
    unchanged = 0
    for name in dict.fromkeys((*before, *after)):
        a, b = before.get(name), after.get(name)
        part = _part(a, b, kinds["old"].get(name) == kinds["new"].get(name))
        finding = shown["new"].get(name) or shown["old"].get(name) or {}
        case = b or a
        assert case is not None
        if part is None:
            unchanged += 1
            continue
        found[part].append(
            Change(
                id=name,
                level=case["level"],
                old=a["outcome"] if a else "",
                new=b["outcome"] if b else "",
                message=one_line(finding.get("message") or case["reason"]),
                replay=shown["new"].get(name, {}).get("replay", ""),
            )
        )
    return Diff(
        old_name=_name(old),
        new_name=_name(new),
        notes=tuple(_notes(old, new)),
        accuracy=tuple(_accuracy(old, new)),
        unchanged=unchanged,
        **{name: tuple(changes) for name, changes in found.items()},
    )


def _part(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, same_kinds: bool
) -> str | None:
    """The member of :class:`Diff` that a case belongs to; None where nothing changed."""
    if old is None or new is None:
        return "only_new" if old is None else "only_old"
    a, b = old["outcome"], new["outcome"]
    if a in _UNKNOWN or b in _UNKNOWN:
        return None if a == b else "not_compared"
    if "not_supported" in (a, b):
        if a == b:
            return None
        if a == "not_supported":
            return "gained" if b in _GOOD else "new_failures"
        return "lost" if a in _GOOD else "fixed"
    if a in _GOOD:
        if b in _GOOD:
            return None if a == b else "warnings"
        return "new_failures"
    if b in _GOOD:
        return "fixed"
    return "still_failing" if a == b and same_kinds else "changed"


def _first_findings(result: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for finding in result["findings"]:
        found.setdefault(finding["case"], finding)
    return found


def _kinds(result: Mapping[str, Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for finding in result["findings"]:
        found.setdefault(finding["case"], set()).add(finding["kind"])
    return found


def _name(result: Mapping[str, Any]) -> str:
    return f"{device_name(result)}; {one_line(moment(result['started']))}"


def _notes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    notes = []
    for label, path in (
        ("device", ("device", "name")),
        ("driver version", ("device", "driver_version")),
        ("suite version", ("suite", "version")),
        ("suite sources", ("suite", "hash")),
        ("profile", ("suite", "profile")),
    ):
        a, b = (one_line(str(result[path[0]][path[1]])) for result in (old, new))
        if a != b:
            notes.append(f"Different {label}: {a or 'unknown'}, {b or 'unknown'}.")
    if old["seed"] != new["seed"]:
        notes.append(f"Different seed: {old['seed']}, {new['seed']}. Examples differ.")
    for label, result in (("old", old), ("new", new)):
        if result["interrupted"]:
            notes.append(f"The {label} run was stopped before its end.")
    return notes


def _accuracy(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Accuracy]:
    tables = [
        {(row["types"], row["tier"]): ratio(row["worst_ratio"]) for row in result["accuracy"]}
        for result in (old, new)
    ]
    moved = []
    for key in dict.fromkeys((*tables[0], *tables[1])):
        a, b = tables[0].get(key), tables[1].get(key)
        if a != b and (a is None or b is None or abs(a - b) >= ACCURACY_STEP):
            moved.append(Accuracy(*key, a, b))
    return moved


def render_text(diff: Diff) -> str:
    """The comparison as plain lines."""
    lines = [f"old: {diff.old_name}", f"new: {diff.new_name}"]
    lines += [f"note: {note}" for note in diff.notes]
    for title, changes in _parts(diff):
        lines += ["", f"{title} ({len(changes)})"]
        for change in changes:
            lines.append(f"  {one_line(change.id)}  {_step(change)}")
            lines += [f"    {change.message}"] if change.message else []
            lines += [f"    {one_line(change.replay)}"] if change.replay else []
    if diff.accuracy:
        lines += ["", "Worst error / bound"]
        for row in diff.accuracy:
            name = one_line(f"{row.types} {row.tier}")
            lines.append(f"  {name}  {show_ratio(row.old)} -> {show_ratio(row.new)}")
    return "\n".join([*lines, "", _last(diff)]) + "\n"


def render_markdown(diff: Diff) -> str:
    """The comparison as Markdown for a pull request's comment."""
    lines = [f"## coopcts: {'regressed' if diff.regressed else 'no regression'}", ""]
    lines += [f"- old: {escape(diff.old_name)}", f"- new: {escape(diff.new_name)}"]
    lines += [f"- {escape(note)}" for note in diff.notes]
    for title, changes in _parts(diff):
        lines += ["", f"### {title} ({len(changes)})", ""]
        for change in changes[:50]:
            more = f"<br>{escape(change.message)}" if change.message else ""
            lines.append(f"- {code(change.id)} {_step(change)}{more}")
        if len(changes) > 50:
            lines.append(f"- and {len(changes) - 50} more")
    if diff.accuracy:
        lines += ["", "### Worst error / bound", "", "| types | bound | old | new |"]
        lines.append("| --- | --- | --: | --: |")
        for row in diff.accuracy:
            cells = (escape(row.types), escape(row.tier), show_ratio(row.old), show_ratio(row.new))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", _last(diff)]) + "\n"


def render_json(diff: Diff) -> dict[str, Any]:
    """The comparison as plain data, with ``regressed``; infinite ratios are the string inf."""
    data = asdict(diff)
    for row in data["accuracy"]:
        for side in ("old", "new"):
            row[side] = "inf" if row[side] == float("inf") else row[side]
    return {"regressed": diff.regressed, **data}


def _parts(diff: Diff) -> list[tuple[str, tuple[Change, ...]]]:
    return [(title, getattr(diff, name)) for name, title in PARTS if getattr(diff, name)]


def _step(change: Change) -> str:
    old, new = (OUTCOME_NAMES.get(name, "") for name in (change.old, change.new))
    return f"{old} -> {new}" if old and new and old != new else old or new


def _last(diff: Diff) -> str:
    verdict = "Regressed." if diff.regressed else "No regression."
    return f"{verdict} {plural(diff.unchanged, 'case')} unchanged."
