"""What a run shows while it goes on: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cts.result import Progress

EVERY = 10.0
"""Seconds between two plain lines."""
SHOWN = 4
"""Running cases and latest findings that the live panel names."""


class Display(Protocol):
    """Shows how far a run is, and what came of it."""

    def update(self, progress: Progress) -> None:
        """Show the state of the run now."""

    def summary(self, result: Mapping[str, Any], folder: Path) -> None:
        """Show the result and where its report is."""


@contextlib.contextmanager
def display(total: int, workers: int) -> Iterator[Display]:
    """The display that suits the standard error output."""
    if not sys.stderr.isatty():
        yield Plain(total)
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=5, transient=True) as live:
        yield Panel(total, workers, live)


class Plain:
    """One line every ten seconds."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._start = self._last = time.monotonic()

    def update(self, progress: Progress) -> None:
        """Print a line if it is time for one."""
        now = time.monotonic()
        if now - self._last < EVERY:
            return
        self._last = now
        click.echo(f"{now - self._start:6.0f} s  {line(progress, self._total)}", err=True)

    def summary(self, result: Mapping[str, Any], folder: Path) -> None:
        """Print the summary as text."""
        import reports

        click.echo(reports.terminal_text(result))
        click.echo(where(folder))


class Panel:
    """A bar, the counts, the running cases and the latest findings, redrawn in place."""

    def __init__(self, total: int, workers: int, live: Any) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._workers = workers
        self._live = live
        self._bar = Progress(
            BarColumn(), TextColumn("{task.completed} of {task.total} cases"), TimeElapsedColumn()
        )
        self._task = self._bar.add_task("cases", total=total)

    def update(self, progress: Progress) -> None:
        """Redraw."""
        self._bar.update(self._task, completed=len(progress.ended))
        self._live.update(self._body(progress))

    def summary(self, result: Mapping[str, Any], folder: Path) -> None:
        """Print the summary with its colours."""
        from rich.console import Console

        import reports

        console = Console()
        console.print(reports.terminal_summary(result))
        console.print(where(folder), markup=False, highlight=False, soft_wrap=True)

    def _body(self, progress: Progress) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        from reports.text import one_line

        lines: list[RenderableType] = [self._bar, Text(counts(progress))]
        running = sorted(progress.started, key=progress.started.__getitem__)[-self._workers :]
        lines += [Text(f"  now  {name}", style="dim", overflow="ellipsis") for name in running]
        for finding in list(progress.findings.values())[-SHOWN:]:
            said = one_line(finding["message"])
            text = f"  {finding['outcome']}  {finding['case']}: {said}"
            lines.append(Text(text, style="red", overflow="ellipsis", no_wrap=True))
        return Group(*lines)


def counts(progress: Progress) -> str:
    """``31 pass, 1 fail, 420 examples``."""
    parts = [f"{number} {outcome}" for outcome, number in sorted(progress.counts.items())]
    return ", ".join([*parts, f"{progress.examples} examples"])


def line(progress: Progress, total: int) -> str:
    """How far a run is, in one line."""
    now = min(progress.started, key=progress.started.__getitem__, default="")
    text = f"{len(progress.ended)} of {total} cases: {counts(progress)}"
    return text + (f"; now {now}" if now else "")


def where(folder: Path) -> str:
    """Where the report is."""
    return f"Report: {folder / 'report.html'}"
