"""A run from start to end: pytest as a child process, its events followed, the result written.

Whatever ends the run early (Ctrl-C, a killed worker, a full disk), what was measured is merged
and written; the rest is ``not_run``.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import FrameType

from cts.case import Case
from cts.cli.progress import Display, display
from cts.cli.trouble import Trouble
from cts.collect import ROOT
from cts.device.protocol import DeviceInfo
from cts.events import EventReader
from cts.result import Progress, Run, build, device_record, exit_code
from cts.runfolder import RunFolder

POLL = 0.2
"""Seconds between two looks at the events."""
GRACE = 10.0
"""Seconds that a stopped child has to end by itself."""
LAUNCHES = 5
"""How often pytest is started again after it died, for the cases that are left."""

_INTERRUPTED = re.compile(r"!+ .*Interrupted: (.*?) !+$")


@dataclass(frozen=True)
class Plan:
    """Everything that decides a run."""

    folder: Path
    cases_folder: Path
    cases: tuple[Case, ...]
    total: int
    queries: tuple[str, ...]
    device: str
    info: DeviceInfo
    notes: tuple[str, ...]
    profile: str
    seed: int
    workers: int
    started: datetime
    command: str

    @property
    def run(self) -> Run:
        """The part of it that the result states."""
        return Run(
            self.profile,
            self.seed,
            self.command,
            self.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
            max(1, self.workers),
            self.total,
            self.queries,
            self.notes,
        )


def execute(plan: Plan) -> int:
    """Run the cases of ``plan`` and write its folder; the exit code."""
    import reports

    begin = time.monotonic()
    folder = RunFolder(plan.folder)
    folder.describe(
        {
            "coopcts": "run",
            "device": plan.device,
            "profile": plan.profile,
            "seed": plan.seed,
            "queries": list(plan.queries),
            "cases": str(plan.cases_folder),
            "command": plan.command,
        }
    )
    progress = Progress()
    reader = EventReader(plan.folder)
    with _stoppable(), display(len(plan.cases), max(1, plan.workers)) as shown:
        reason = _run_all(plan, progress, reader, shown)
    folder.release()
    interrupted = len(progress.ended) < len(plan.cases) and reason is not None
    run = plan.run
    if reason:
        run = replace(run, notes=(*run.notes, f"The run was stopped: {reason}."))
    result = build(
        run,
        plan.cases,
        progress,
        device_record(plan.info),
        duration=time.monotonic() - begin,
        interrupted=interrupted,
    )
    try:
        saved = reports.save(result, plan.folder / "result.json")
    except reports.ReportError as error:
        raise Trouble(f"{error}; what was measured is in {plan.folder}/events-*.ndjson") from None
    try:
        reports.write(result, plan.folder)
    except reports.ReportError as error:
        raise Trouble(f"{error}; the result is whole in {saved}") from None
    folder.publish(Path("runs") / "latest")
    shown.summary(result, plan.folder)
    if reason:
        raise Trouble(f"the run was stopped: {reason}; the cases before that are in the report")
    return exit_code(result)


def _run_all(plan: Plan, progress: Progress, reader: EventReader, shown: Display) -> str | None:
    """Run pytest until every case has ended; why not, if it was stopped."""
    lost: set[str] = set()
    for _ in range(LAUNCHES):
        left = [it.id for it in plan.cases if it.id not in progress.ended and it.id not in lost]
        if not left:
            return None
        before = len(progress.ended) + len(lost)
        child = _Child(plan, left)
        try:
            while child.running:
                time.sleep(POLL)
                _take(progress, reader, shown)
        except KeyboardInterrupt:
            child.stop()
            _take(progress, reader, shown)
            return "interrupted from outside"
        finally:
            child.stop()
        _take(progress, reader, shown)
        reason = child.reason
        if reason is not None:
            return reason
        lost |= progress.started.keys()
        if len(progress.ended) + len(lost) == before:
            return f"pytest ended without running a case ({child.last_line})"
    return f"pytest died {LAUNCHES} times" if len(progress.ended) < len(plan.cases) else None


def _take(progress: Progress, reader: EventReader, shown: Display) -> None:
    for event in reader.new():
        progress.add(event)
    shown.update(progress)


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """A polite request to end (SIGTERM) does what Ctrl-C does."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Child:
    """pytest in a session of its own, so that a Ctrl-C reaches it from us and only once."""

    def __init__(self, plan: Plan, ids: Sequence[str]) -> None:
        listed = plan.folder / "selected.txt"
        listed.write_text("\n".join(ids) + "\n", encoding="utf-8")
        self._process = subprocess.Popen(
            _arguments(plan, listed),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"},
            start_new_session=True,
            text=True,
            errors="replace",
        )
        self._lines: deque[str] = deque(maxlen=2000)
        self._log = plan.folder / "pytest.log"
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def running(self) -> bool:
        """Whether it hasn't ended yet."""
        return self._process.poll() is None

    @property
    def reason(self) -> str | None:
        """Why it stopped early by itself, in its own words."""
        for line in self._lines:
            found = _INTERRUPTED.search(line.strip())
            if found:
                return found.group(1)
        return None

    @property
    def last_line(self) -> str:
        """The last thing it said."""
        spoken = [line.strip() for line in self._lines if line.strip()]
        return spoken[-1] if spoken else f"exit code {self._process.returncode}"

    def stop(self) -> None:
        """End it: politely, then not; its whole session. Safe to call again."""
        for number, grace in ((signal.SIGINT, GRACE), (signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)):
            if not self.running:
                break
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(self._process.pid, number)
                self._process.wait(grace)
        self._reader.join(2.0)
        with contextlib.suppress(OSError):
            self._log.write_text("".join(self._lines), encoding="utf-8")

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line)


def _arguments(plan: Plan, listed: Path) -> list[str]:
    parallel = ["-n", str(plan.workers), "--dist", "worksteal"] if plan.workers > 1 else []
    return [
        sys.executable,
        "-m",
        "pytest",
        str(plan.cases_folder),
        f"--rootdir={ROOT}",
        f"--config-file={ROOT / 'pyproject.toml'}",
        "-p",
        "cts.plugin",
        "-p",
        "no:cacheprovider",
        "-q",
        "--tb=short",
        *parallel,
        f"--cts-device={plan.device}",
        f"--cts-profile={plan.profile}",
        f"--cts-seed={plan.seed}",
        f"--cts-cases={listed.resolve()}",
        f"--cts-out={plan.folder.resolve()}",
    ]
