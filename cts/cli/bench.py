"""``coopcts bench``: where the time of an example goes."""

from __future__ import annotations

from pathlib import Path

import click

from cts.cli.options import cases_option, device_option, selected
from cts.profiles import DEFAULT_SEED, PROFILES

DEFAULT_QUERIES = ("cooperative_matrix.mul_add.*", "cooperative_matrix.load_store.*")


@click.command(name="bench")
@click.argument("query", nargs=-1)
@device_option()
@click.option("--profile", type=click.Choice(list(PROFILES)), default="smoke", show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True)
@cases_option
def command(
    query: tuple[str, ...], device: str, profile: str, seed: int, cases: Path | None
) -> None:
    """Run cases in one process and print where an example's time goes: drawing, making operands,
    lowering, transport, pipeline, dispatch, oracle, comparison; and matrices checked a second.

    Without QUERY the load, store and multiply-add cases run.
    """
    _, chosen = selected(query or (() if cases else DEFAULT_QUERIES), cases)
    from cts.bench import bench
    from cts.opening import open_device, resolve

    found = resolve(device, say=lambda line: click.echo(line, err=True))
    click.echo(f"{len(chosen)} cases on {found.info.name} ({found.info.driver_version})", err=True)
    opened = open_device(found.spec)
    try:
        total = bench(
            chosen, opened, PROFILES[profile], seed, lambda line: click.echo(line, err=True)
        )
    finally:
        opened.close()
    click.echo("\n".join(total.lines()))
