"""The end of a run on the terminal: verdict, counts, findings, what to type next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reports.result import check
from reports.summary import BANDS, LEVELS, caveats, counts, listed, verdict
from reports.text import OUTCOME_NAMES, one_line, plural, printable

LISTED = 12
"""Findings that are listed; the report has them all."""

_STYLES = {
    "pass": "green",
    "quality_warning": "cyan",
    "policy": "yellow",
    "flaky": "magenta",
    "fail": "bold red",
    "timeout": "bold red",
    "device_lost": "bold red",
    "crash": "bold red",
    "error": "bold reverse",
}
_VERDICTS = {"conformant": "bold green", "not_conformant": "bold red"}


def terminal_summary(result: Mapping[str, Any]) -> RenderableType:
    """What :func:`terminal_text` says, as a renderable for a rich console. Strings of the result
    are never read as markup, and their control characters don't reach the terminal."""
    result = check(dict(result))
    said = verdict(result)
    parts: list[RenderableType] = [
        Text(said.title, style=_VERDICTS.get(said.status, "bold yellow")),
        Text(said.sentence),
    ]
    parts += [Text(f"Note: {note}", style="yellow") for note in caveats(result)]
    table = Table(box=None, pad_edge=False, show_header=False)
    for level, tally in counts(result).items():
        if tally:
            table.add_row(LEVELS[level][0], _tally(tally))
    parts += [Text(), table]
    for name, shown, more in _listed(result):
        parts += [Text(), Text(BANDS[name][0], style="bold")]
        for finding in shown:
            line = Text("  ")
            line.append(OUTCOME_NAMES[finding["outcome"]], _STYLES.get(finding["outcome"], ""))
            line.append(f"  {_line(finding['case'])}")
            parts += [line, Text(f"    {_line(finding['message'])}")]
            if finding["replay"]:
                parts.append(Text(f"    {_line(finding['replay'])}", style="bold"))
        parts += [Text(f"  {more}")] if more else []
    return Group(*parts)


def terminal_text(result: Mapping[str, Any]) -> str:
    """The summary as plain lines, where there is no terminal."""
    result = check(dict(result))
    said = verdict(result)
    lines = [said.title, said.sentence, *(f"Note: {note}" for note in caveats(result)), ""]
    for level, tally in counts(result).items():
        if tally:
            members = ", ".join(f"{n:,} {OUTCOME_NAMES[o]}" for o, n in _worst_first(tally))
            lines.append(f"{LEVELS[level][0]}: {members}")
    for name, shown, more in _listed(result):
        lines += ["", BANDS[name][0]]
        for finding in shown:
            lines.append(f"  {OUTCOME_NAMES[finding['outcome']]}  {_line(finding['case'])}")
            lines.append(f"    {_line(finding['message'])}")
            lines += [f"    {_line(finding['replay'])}"] if finding["replay"] else []
        lines += [f"  {more}"] if more else []
    return "\n".join(lines) + "\n"


def _listed(
    result: Mapping[str, Any],
) -> list[tuple[str, list[dict[str, Any]], str]]:
    """(band, findings to list, a line on the rest), at most :data:`LISTED` findings in all."""
    lines = []
    room = LISTED
    for name, members in listed(result).items():
        shown = members[:room]
        rest = len(members) - len(shown)
        lines.append((name, shown, f"and {plural(rest, 'more', 'more')}" if rest else ""))
        room -= len(shown)
    return lines


def _tally(tally: Mapping[str, int]) -> Text:
    text = Text()
    for outcome, number in _worst_first(tally):
        text.append(f"{number:,} {OUTCOME_NAMES[outcome]}", _STYLES.get(outcome, "dim"))
        text.append("   ")
    return text


def _worst_first(tally: Mapping[str, int]) -> list[tuple[str, int]]:
    return list(tally.items())[::-1]


def _line(text: str) -> str:
    return one_line(printable(text))
