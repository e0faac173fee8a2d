"""Options and look-ups that several subcommands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cts.cli.trouble import NOTHING_SELECTED, Trouble

if TYPE_CHECKING:
    from cts.case import Case

RUNS = Path("runs")
"""Where run folders are made, below the working directory."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def device_option(default: str | None = "auto") -> Callable[[_Function], _Function]:
    """``--device``."""
    return click.option(
        "--device",
        default=default,
        metavar="DEVICE",
        help="auto, reference, lavapipe, vulkan:INDEX-or-UUID, mutant:NAME, legal:NAME, "
        "validated:DEVICE or python:MODULE:FUNCTION"
        + (f"  [default: {default}]" if default else "  [default: the run's]"),
    )


def cases_option(function: _Function) -> _Function:
    """``--cases``."""
    return click.option(
        "--cases",
        type=click.Path(path_type=Path, file_okay=False),
        default=None,
        help="Folder of cases, for cases of your own.  [default: the suite's]",
    )(function)


def selected(queries: Sequence[str], folder: Path | None = None) -> tuple[list[Case], list[Case]]:
    """All cases, and those that ``queries`` select. Trouble (nothing selected) where a query
    matches no case."""
    from cts.case import matches
    from cts.collect import CASES, collect, select

    cases = collect(folder or CASES)
    for query in queries:
        if not any(matches(case.id, query) for case in cases):
            raise Trouble(f"no case matches {query!r}; `coopcts list` shows all", NOTHING_SELECTED)
    if not cases:
        raise Trouble(f"there are no cases in {folder or CASES}", NOTHING_SELECTED)
    return cases, select(cases, queries)


def run_folder(given: Path | None) -> Path:
    """The given run folder, or the latest. Trouble where there is none."""
    folder = given or RUNS / "latest"
    if not folder.is_dir():
        raise Trouble(
            f"there is no run folder {folder}"
            + ("" if given else " here; give one with --run, or do `coopcts run` first")
        )
    return folder


def run_settings(folder: Path) -> dict[str, Any]:
    """``run.json`` of a run folder; empty where there is none or it is damaged."""
    try:
        data = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
