"""A Markdown summary, short enough for a comment on a pull request."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

from reports.summary import (
    BANDS,
    LEVELS,
    caveats,
    counts,
    listed,
    verdict,
)
from reports.text import OUTCOME_NAMES, moment, one_line, plural, printable

LISTED = 20
"""Findings that are listed; a comment has little room."""

UNFOLDED = 5
"""Findings whose program is shown."""


def markdown(result: Mapping[str, Any]) -> str:
    """A complete result as Markdown (GitHub's dialect). Strings of the result can't form markup,
    links or mentions."""
    said = verdict(result)
    lines = [f"## coopcts: {escape(said.title)}", "", escape(said.sentence), ""]
    for note in caveats(result):
        lines += [f"> {escape(note)}", ""]
    lines += _counts(result)
    lines += _findings(result)
    unused = [row for row in result["coverage"] if not row["examples"]]
    if unused:
        lines += [
            f"**{len(unused)} of {plural(len(result['coverage']), 'advertised record')}** had no "
            "example: " + ", ".join(code(row["text"] or row["record"]) for row in unused[:LISTED]),
            "",
        ]
    suite = result["suite"]
    lines.append(
        f"<sub>profile {escape(suite['profile'])}, suite {code(suite['hash'][:12] or 'unknown')}, "
        f"started {escape(moment(result['started']))}. `report.html` has everything.</sub>"
    )
    return "\n".join(lines) + "\n"


def _counts(result: Mapping[str, Any]) -> list[str]:
    table = counts(result)
    outcomes = [o for o in OUTCOME_NAMES if any(o in tally for tally in table.values())]
    if not outcomes:
        return []
    head = ["level", *(OUTCOME_NAMES[outcome] for outcome in outcomes)]
    lines = [_row(head), _row(["---"] + ["--:"] * len(outcomes))]
    for level, tally in table.items():
        if tally:
            cells = [f"{tally[o]:,}" if o in tally else "" for o in outcomes]
            lines.append(_row([LEVELS[level][0].lower(), *cells]))
    return [*lines, ""]


def _findings(result: Mapping[str, Any]) -> list[str]:
    lines = []
    room, shown = LISTED, 0
    for name, members in listed(result).items():
        lines += [f"### {BANDS[name][0]} ({len(members)})", ""]
        for finding in members[: max(room, 0)]:
            lines.append(
                f"- {code(finding['id'] or 'case')} **{OUTCOME_NAMES[finding['outcome']]}** "
                f"{code(finding['case'])}<br>{escape(finding['message'])}"
            )
            if finding["program"] and shown < UNFOLDED:
                shown += 1
                lines += ["", *_program(finding), ""]
        if len(members) > max(room, 0):
            lines.append(f"- and {len(members) - max(room, 0)} more in the report")
        room -= len(members)
        lines.append("")
    return lines


def _program(finding: Mapping[str, Any]) -> list[str]:
    """The minimal program, folded, indented so that it stays in its list item."""
    text = printable(finding["program"]).rstrip()
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    fence = fence if len(fence) > 2 else "```"
    inner = ["<details><summary>minimal program</summary>", "", fence + "text"]
    inner += [*text.split("\n"), fence, "", "</details>"]
    if finding["replay"]:
        inner += ["", f"Again: {code(finding['replay'])}"]
    return [f"  {line}".rstrip() for line in inner]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escape(text: str) -> str:
    """``text`` on one line, as Markdown that shows exactly it."""
    plain = html.escape(one_line(text), quote=False)
    plain = re.sub(r"([\\`*_\[\]#|~$])", r"\\\1", plain)
    plain = re.sub(r"^(\d+(?=[.)])|(?=[-+]))", r"\1\\", plain)
    # A zero-width space keeps a host from making mentions, references and links of these.
    return re.sub(r"(@|\\#|:(?=//)|www\.)", r"\1&#8203;", plain)


def code(text: str) -> str:
    """``text`` on one line as a code span, whatever backticks it has."""
    plain = one_line(text)
    if not plain:
        return ""
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if plain[0] == "`" or plain[-1] == "`" else ""
    return f"{fence}{pad}{plain}{pad}{fence}"
