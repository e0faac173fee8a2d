"""``coopcts plan``: the requirements and the cases that check them; what a run will cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cts.cli.options import cases_option, selected

if TYPE_CHECKING:
    from cts.case import Case


@click.command(name="plan")
@click.argument("query", nargs=-1)
@click.option("--budget", is_flag=True, help="Cases and examples of each profile instead.")
@cases_option
def command(query: tuple[str, ...], budget: bool, cases: Path | None) -> None:
    """Print every requirement with the cases that check it, as a test plan."""
    _, chosen = selected(query, cases)
    click.echo("\n".join(budget_lines(chosen) if budget else plan_lines(chosen)))


def plan_lines(cases: Sequence[Case]) -> Iterator[str]:
    """The plan: sections, rows, and below each row its cases without their axes."""
    from cts.requirements import ROWS

    section = ""
    for row in ROWS.values():
        if row.section != section:
            yield from ([""] if section else []) + [row.section, "=" * len(row.section)]
            section = row.section
        yield f"{row.id} {row.level}: {row.text}"
        yield f"    {row.spec}"
        found = [case for case in cases if row.id in case.rows]
        bases = dict.fromkeys(case.declaration.id for case in found)
        for base in bases:
            count = sum(case.declaration.id == base for case in found)
            yield f"  - {base}" + (f" ({count} cases)" if count > 1 else "")
        if not bases:
            yield "  no case yet"
    others = dict.fromkeys(case.declaration.id for case in cases if not case.rows)
    if others:
        yield from ["", "Recorded only", "============="]
        yield from (f"  - {base}" for base in others)


def budget_lines(cases: Sequence[Case]) -> Iterator[str]:
    """Cases and examples of each profile. Not supported cases cost nothing, failing ones more."""
    from cts.profiles import PROFILES

    fixed = sum(case.fixed for case in cases)
    yield f"{len(cases)} cases, {fixed} of them run once"
    yield f"{'profile':<12} {'examples':>10}  purpose"
    for profile in PROFILES.values():
        examples = sum(case.examples(profile.examples) for case in cases)
        yield f"{profile.name:<12} {examples:>10}  {profile.purpose}"
