"""``coopcts plan``: the requirements and the cases that check them; what a run will cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cts.cli.options import cases_option, selected

if TYPE_CHECKING:
    from cts.case import Case


NOMINAL = 0.010
"""Seconds of an example outside of the driver, at most, on the machines it was measured on."""


@dataclass(frozen=True)
class Cost:
    """Seconds of a case: once, and for each example."""

    once: float
    each: float

    def of(self, examples: int) -> float:
        """Seconds of the case with so many examples."""
        return self.once + self.each * examples


@click.command(name="plan")
@click.argument("query", nargs=-1)
@click.option("--budget", is_flag=True, help="Examples and time of each profile instead.")
@click.option(
    "--like",
    type=click.Path(path_type=Path),
    default=None,
    help="With --budget: a run folder or result.json of the device, for its speed.",
)
@click.option(
    "-n",
    "--workers",
    type=click.IntRange(min=1, max=64),
    default=1,
    show_default=True,
    help="With --budget: worker processes.",
)
@cases_option
def command(
    query: tuple[str, ...], budget: bool, like: Path | None, workers: int, cases: Path | None
) -> None:
    """Print every requirement with the cases that check it, as a test plan."""
    _, chosen = selected(query, cases)
    if not budget:
        click.echo("\n".join(plan_lines(chosen)))
        return
    costs = None
    if like is not None:
        import reports

        costs = costs_of(reports.load(like))
    click.echo("\n".join(budget_lines(chosen, costs, workers)))


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


def budget_lines(
    cases: Sequence[Case], like: Mapping[str, Cost] | None = None, workers: int = 1
) -> Iterator[str]:
    """Cases, examples and time of each profile. The time of a case is taken from ``like``, the
    costs measured in an earlier run; without them, every example of every case costs
    :data:`NOMINAL`, as on a device that supports everything and compiles in no time."""
    from cts.profiles import PROFILES

    costs = like or {}
    fixed = sum(case.fixed for case in cases)
    known = sum(case.id in costs for case in cases)
    yield f"{len(cases)} cases, {fixed} of them run once"
    if like is None:
        yield f"times at {1000 * NOMINAL:.0f} ms an example; --like RUN takes those of a run"
    else:
        yield f"times as in an earlier run, which had {known} of these cases"
    yield f"{'profile':<12} {'examples':>10} {f'{workers} worker(s)':>14}  purpose"
    for profile in PROFILES.values():
        counts = {case.id: case.examples(profile.examples) for case in cases}
        seconds = sum(
            costs.get(case, Cost(0.0, NOMINAL)).of(count) for case, count in counts.items()
        )
        time = duration(seconds / workers)
        yield f"{profile.name:<12} {sum(counts.values()):>10} {time:>14}  {profile.purpose}"


def duration(seconds: float) -> str:
    """Seconds in the unit that people would use."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.0f} h"


def costs_of(result: Mapping[str, Any]) -> dict[str, Cost]:
    """What each case of a result cost. A case without examples, because nothing of it is
    supported, costs what it did whatever the profile."""
    found = {}
    for case in result["cases"]:
        examples, seconds = case["examples"], case["duration"]
        each = seconds / examples if examples else 0.0
        found[case["id"]] = Cost(0.0 if examples else seconds, each)
    return found
