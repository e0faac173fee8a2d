"""``coopcts diff``: what changed between two results."""

from __future__ import annotations

import json
from pathlib import Path

import click

from cts.cli.trouble import AS_EXPECTED, FINDINGS


@click.command(name="diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
)
def command(old: Path, new: Path, style: str) -> int:
    """Compare the results of two runs, given as run folders or result.json files.

    Exit code 1: something that was in order, or supported, no longer is.
    """
    import reports
    from reports.diff import diff, render_json, render_markdown, render_text

    found = diff(reports.load(old), reports.load(new))
    if style == "json":
        text = json.dumps(render_json(found), indent=1)
    else:
        text = render_markdown(found) if style == "markdown" else render_text(found)
    click.echo(text.rstrip("\n"))
    return FINDINGS if found.regressed else AS_EXPECTED
