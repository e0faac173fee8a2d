"""``coopcts mutants``: planted faults, and the cases that find them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cts.cli.options import RUNS
from cts.cli.trouble import AS_EXPECTED, COULD_NOT_RUN, FINDINGS, NOTHING_SELECTED, Trouble
from cts.profiles import DEFAULT_SEED, PROFILES

if TYPE_CHECKING:
    from cts.mutants import Trial

WIDTH = 150
"""Columns of the table where the output is no terminal."""


@click.command(name="mutants")
@click.argument("name", nargs=-1)
@click.option("--against", default="reference", show_default=True, metavar="DEVICE")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="default", show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True)
@click.option(
    "-n",
    "--workers",
    type=click.IntRange(min=1, max=64),
    default=None,
    help="Worker processes.  [default: the processors, at most 4]",
)
@click.option("--every", is_flag=True, help="Don't stop at the first kill.")
@click.option("--json", "as_json", is_flag=True, help="Print the kill matrix as JSON.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=RUNS / "mutants.json",
    show_default=True,
    help="Where the kill matrix is kept.",
)
def command(
    name: tuple[str, ...],
    against: str,
    profile: str,
    seed: int,
    workers: int | None,
    every: bool,
    as_json: bool,
    out: Path,
) -> int:
    """Plant each fault (or those that NAME, a name with *, selects) in a device and run the cases
    that could see it, until one does.

    Exit code 1: a fault went unseen that isn't known to be invisible.
    """
    import time

    from cts.mutants import in_parallel, matrix, try_named

    chosen = _chosen(name)
    count = min(os.cpu_count() or 1, 4) if workers is None else workers
    begin = time.monotonic()
    jobs = [(it, against, PROFILES[profile], seed, every) for it in chosen]
    trials: list[Trial] = []
    for trial in in_parallel(try_named, jobs, count):
        trials.append(trial)
        click.echo(f"{len(trials)} of {len(chosen)}  {_line(trial)}", err=True)
    trials.sort(key=lambda trial: chosen.index(trial.name))
    facts = {
        "device": against,
        "profile": profile,
        "seed": seed,
        "workers": count,
        "seconds": round(time.monotonic() - begin, 1),
    }
    data = matrix(trials, **facts)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if as_json:
        click.echo(json.dumps(data, indent=1))
    else:
        _show(trials, data)
    if any(trial.trouble for trial in trials):
        return COULD_NOT_RUN
    return AS_EXPECTED if all(trial.as_expected for trial in trials) else FINDINGS


def _chosen(queries: Sequence[str]) -> list[str]:
    """The mutants to try. Trouble where a query selects none."""
    from fnmatch import fnmatchcase

    from reference.mutants import names

    known = names()
    if not queries:
        return list(known)
    found = [it for it in known if any(fnmatchcase(it, query) for query in queries)]
    for query in queries:
        if not any(fnmatchcase(it, query) for it in known):
            raise Trouble(f"no mutant matches {query!r}", NOTHING_SELECTED)
    return found


def _line(trial: Trial) -> str:
    if trial.trouble:
        return f"{trial.name}: the suite failed: {trial.trouble}"
    if not trial.killed_by:
        kind = "accepted alive" if trial.reason else "ALIVE"
        return f"{trial.name}: {kind} after {trial.cases} cases, {trial.seconds:.1f} s"
    return f"{trial.name}: {trial.outcome} by {trial.killed_by[0]} in {trial.seconds:.1f} s"


def _show(trials: Sequence[Trial], data: dict[str, Any]) -> None:
    """The matrix as a table, by class of fault, then what is alive and why."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"Planted faults on {data['device']}", title_justify="left")
    for heading in ("class", "fault", "seen by", "as"):
        table.add_column(heading, overflow="fold")
    for heading in ("examples", "s"):
        table.add_column(heading, justify="right")
    last = ""
    for trial in sorted(trials, key=lambda it: it.fault_class):
        kind = trial.fault_class if trial.fault_class != last else ""
        last = trial.fault_class
        names = [name.replace("cooperative_", "", 1) for name in trial.killed_by]
        seen = "\n".join(names) or ("nothing" if trial.reason else "[red]nothing[/]")
        outcome = str(trial.outcome) if trial.killed_by else ""
        time = f"{trial.seconds:.1f}"
        table.add_row(kind, trial.name, seen, outcome, str(trial.examples), time)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    console.print(table)
    for trial in trials:
        if trial.trouble:
            console.print(f"{trial.name}: the suite failed: {trial.trouble}", markup=False)
        elif not trial.killed_by:
            why = trial.reason or f"no case sees it ({trial.doc})"
            console.print(f"{trial.name} is alive: {why}", markup=False)
    console.print(
        f"{data['killed']} of {len(trials)} faults seen, half of them within "
        f"{data['median_seconds']:.1f} s; {data['seconds']:.0f} s in all"
    )
