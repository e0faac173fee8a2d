"""``coopcts list``: the ids of the cases."""

from __future__ import annotations

from pathlib import Path

import click

from cts.cli.options import cases_option, selected


@click.command(name="list")
@click.argument("query", nargs=-1)
@cases_option
def command(query: tuple[str, ...], cases: Path | None) -> None:
    """Print the ids of all cases, or of those that QUERY (an id with *) selects."""
    _, chosen = selected(query, cases)
    click.echo("\n".join(case.id for case in chosen))
