"""``coopcts mutants``: planted faults, and the cases that find them."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
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
@click.option(
    "--legal",
    is_flag=True,
    help="Run the devices that do nothing wrong instead, on all cases that could accuse them.",
)
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default=None,
    help="How much to do.  [default: default; with --legal smoke]",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    multiple=True,
    help="Seed; repeatable with --legal.  [default: 1; with --legal 1, 2 and 3]",
)
@click.option(
    "-n",
    "--workers",
    type=click.IntRange(min=1, max=64),
    default=None,
    help="Worker processes.  [default: the processors, at most 4]",
)
@click.option("--every", is_flag=True, help="Don't stop at the first kill.")
@click.option(
    "--share",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="With --legal run every N-th case only.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Where the result is kept.  [default: runs/mutants.json or runs/legal.json]",
)
def command(
    name: tuple[str, ...],
    against: str,
    legal: bool,
    profile: str | None,
    seed: tuple[int, ...],
    workers: int | None,
    every: bool,
    share: int,
    as_json: bool,
    out: Path | None,
) -> int:
    """Plant each fault (or those that NAME, a name with *, selects) in a device and run the cases
    that could see it, until one does.

    Exit code 1: a fault went unseen that isn't known to be invisible; with --legal, a case
    accused a device that does nothing wrong.
    """
    count = min(os.cpu_count() or 1, 4) if workers is None else workers
    if legal:
        return _survey(name, profile or "smoke", seed or (1, 2, 3), count, share, as_json, out)
    if len(seed) > 1:
        raise Trouble("only --legal takes several seeds")
    chosen_seed = seed[0] if seed else DEFAULT_SEED
    return _plant(name, against, profile or "default", chosen_seed, count, every, as_json, out)


def _plant(
    queries: Sequence[str],
    against: str,
    profile: str,
    seed: int,
    workers: int,
    every: bool,
    as_json: bool,
    out: Path | None,
) -> int:
    from cts.mutants import in_parallel, matrix, try_named
    from reference.mutants import names

    chosen = _chosen(queries, names(), "mutant")
    begin = time.monotonic()
    jobs = [(it, against, PROFILES[profile], seed, every) for it in chosen]
    trials: list[Trial] = []
    for trial in in_parallel(try_named, jobs, workers):
        trials.append(trial)
        click.echo(f"{len(trials)} of {len(chosen)}  {_line(trial)}", err=True)
    trials.sort(key=lambda trial: chosen.index(trial.name))
    data = matrix(
        trials,
        device=against,
        profile=profile,
        seed=seed,
        workers=workers,
        seconds=round(time.monotonic() - begin, 1),
    )
    _keep(data, out or RUNS / "mutants.json", as_json)
    if not as_json:
        _show(trials, data)
    if any(trial.trouble for trial in trials):
        return COULD_NOT_RUN
    return AS_EXPECTED if all(trial.as_expected for trial in trials) else FINDINGS


def _survey(
    queries: Sequence[str],
    profile: str,
    seeds: Sequence[int],
    workers: int,
    share: int,
    as_json: bool,
    out: Path | None,
) -> int:
    from cts.cli import legal
    from reference.legal import LEGAL

    chosen = _chosen(queries, tuple(LEGAL), "legal device")
    begin = time.monotonic()
    surveys = legal.run(chosen, PROFILES[profile], seeds, workers, share)
    seconds = round(time.monotonic() - begin, 1)
    data = legal.matrix(
        surveys, profile=profile, seeds=list(seeds), share=share, workers=workers, seconds=seconds
    )
    _keep(data, out or RUNS / "legal.json", as_json)
    if not as_json:
        legal.show(surveys, _width())
    return FINDINGS if data["alarms"] else AS_EXPECTED


def _chosen(queries: Sequence[str], known: Sequence[str], what: str) -> list[str]:
    """The names that any query selects; all if there are no queries. Trouble where a query
    selects none."""
    for query in queries:
        if not any(fnmatchcase(it, query) for it in known):
            raise Trouble(f"no {what} matches {query!r}", NOTHING_SELECTED)
    if not queries:
        return list(known)
    return [it for it in known if any(fnmatchcase(it, query) for query in queries)]


def _keep(data: dict[str, Any], path: Path, printed: bool) -> None:
    text = json.dumps(data, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
    if printed:
        click.echo(text)


def _width() -> int | None:
    return None if sys.stdout.isatty() else WIDTH


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
        seconds = f"{trial.seconds:.1f}"
        table.add_row(kind, trial.name, seen, outcome, str(trial.examples), seconds)
    console = Console(width=_width())
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
