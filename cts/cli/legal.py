"""``coopcts mutants --legal``: devices that do nothing wrong, and what the suite says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from cts.legal import Survey
    from cts.profiles import Profile

PART = 120
"""Cases that a process runs at a time."""


def run(
    names: Sequence[str], profile: Profile, seeds: Sequence[int], workers: int, share: int
) -> list[Survey]:
    """Run every ``share``-th case on each of the legal devices, with each seed."""
    from cts.legal import concerned, joined, survey_part
    from cts.mutants import all_cases, in_parallel

    jobs = []
    for number, name in enumerate(names):
        ids = [case.id for case in concerned(name, all_cases())]
        for seed in seeds:
            chosen = ids[(number + seed) % share :: share]
            for start in range(0, len(chosen), PART):
                jobs.append((name, chosen[start : start + PART], profile, seed))
    parts: list[Survey] = []
    for part in in_parallel(survey_part, jobs, workers):
        parts.append(part)
        click.echo(f"{len(parts)} of {len(jobs)}  {_line(part)}", err=True)
    parts.sort(key=lambda part: (names.index(part.name), part.seed))
    return joined(parts)


def matrix(surveys: Sequence[Survey], **facts: object) -> dict[str, Any]:
    """What came of it as JSON data; ``facts`` say how."""
    from reference.legal import LEGAL

    devices = []
    for survey in surveys:
        legal = LEGAL[survey.name]
        said = {"freedom": legal.freedom, "source": legal.source, "allowed": str(legal.worst)}
        devices.append({**survey.record(), **said})
    return {**facts, "alarms": sum(len(it.alarms) for it in surveys), "devices": devices}


def show(surveys: Sequence[Survey], width: int | None) -> None:
    """The surveys as a table, then every false alarm."""
    from rich.console import Console
    from rich.table import Table

    from reference.legal import LEGAL

    table = Table(title="Devices that do nothing wrong", title_justify="left")
    for heading in ("device", "does otherwise", "worst", "allowed"):
        table.add_column(heading, overflow="fold")
    for heading in ("seed", "cases", "examples", "s"):
        table.add_column(heading, justify="right")
    for survey in surveys:
        legal = LEGAL[survey.name]
        table.add_row(
            survey.name,
            legal.freedom,
            str(survey.worst),
            str(legal.worst),
            str(survey.seed),
            str(survey.cases),
            str(survey.examples),
            f"{survey.seconds:.0f}",
        )
    console = Console(width=width)
    console.print(table)
    for survey in surveys:
        for alarm in survey.alarms:
            where = f"{survey.name}, seed {survey.seed}: {alarm.case}"
            console.print(f"{where}: {alarm.outcome}: {alarm.message}", markup=False)
    alarms = sum(len(survey.alarms) for survey in surveys)
    devices = len({survey.name for survey in surveys})
    console.print(f"{alarms} false alarms on {devices} devices")


def _line(part: Survey) -> str:
    text = f"{part.name}, seed {part.seed}: {part.cases} cases in {part.seconds:.0f} s"
    return text + (f", {len(part.alarms)} FALSE ALARMS" if part.alarms else "")
