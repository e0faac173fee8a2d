"""``coopcts run``: run cases on a device and write the run folder."""

from __future__ import annotations

import os
import re
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cts.cli.options import RUNS, cases_option, device_option, selected
from cts.profiles import PROFILES, run_seed

if TYPE_CHECKING:
    from cts.cli.runner import Plan


@click.command(name="run")
@click.argument("query", nargs=-1)
@device_option()
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="default",
    show_default=True,
    help="How much to do; see `coopcts plan --budget`.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**64 - 1),
    default=None,
    help="Seed of the run.  [default: 1; for explore a fresh one]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Run folder; what an earlier run left there is replaced.  [default: runs/...]",
)
@click.option(
    "-n",
    "--workers",
    type=click.IntRange(min=0, max=64),
    default=None,
    help="Worker processes.  [default: the processors, at most 4]",
)
@cases_option
def command(
    query: tuple[str, ...],
    device: str,
    profile: str,
    seed: int | None,
    out: Path | None,
    workers: int | None,
    cases: Path | None,
) -> int:
    """Run all cases, or those that QUERY (an id with *) selects, and write a report.

    The run folder receives result.json, report.html, junit.xml, summary.md, the events of every
    worker and a witness for each finding.
    """
    every, chosen = selected(query, cases)
    from cts.cli.runner import Plan, execute
    from cts.collect import CASES
    from cts.opening import resolve

    found = resolve(device, say=lambda line: click.echo(line, err=True))
    started = datetime.now(UTC)
    count = min(os.cpu_count() or 1, 4) if workers is None else workers
    plan = Plan(
        folder=out or RUNS / _folder_name(started, found.info.name, profile),
        cases_folder=cases or CASES,
        cases=tuple(chosen),
        total=len(every),
        queries=query,
        device=found.spec,
        info=found.info,
        notes=found.notes,
        profile=profile,
        seed=run_seed(PROFILES[profile], seed),
        workers=count,
        started=started,
        command=shlex.join(["coopcts", *sys.argv[1:]]),
    )
    _announce(plan)
    return execute(plan)


def _announce(plan: Plan) -> None:
    info = plan.info
    click.echo(
        f"{len(plan.cases)} cases on {info.name} ({info.driver} {info.driver_version}), "
        f"profile {plan.profile}, seed {plan.seed}, into {plan.folder}",
        err=True,
    )


def _folder_name(started: datetime, device: str, profile: str) -> str:
    """``20261130-101500-llvmpipe-default``: sorts by time and says what it is."""
    words = re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-").split("-")
    return "-".join([started.strftime("%Y%m%d-%H%M%S"), *words[:2], profile])
