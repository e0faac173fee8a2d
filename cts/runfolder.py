"""The folder of one run: where everything that a run leaves behind is."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESERVE = 8 << 20
"""Bytes kept free for ``result.json`` and the reports, so that a disk which fills up during the
run can still take what was measured."""

_OWN = (
    "run.json",
    "selected.txt",
    "result.json",
    "report.html",
    "junit.xml",
    "summary.md",
    "pytest.log",
    "troubles.log",
)


class RunFolder:
    """A run's folder. Opening it makes it, clears what an earlier run left in it, and reserves
    room; OSError where the system refuses."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        for name in _OWN:
            (path / name).unlink(missing_ok=True)
        for events in path.glob("events-*.ndjson"):
            events.unlink()
        for folder in (path / "witness", *path.glob("journal-*")):
            shutil.rmtree(folder, ignore_errors=True)
        self._reserve = path / ".reserve"
        self._fill(RESERVE)

    def describe(self, settings: Mapping[str, Any]) -> None:
        """Write ``run.json``: what was asked, for ``replay`` and for people."""
        text = json.dumps(settings, indent=1) + "\n"
        (self.path / "run.json").write_text(text, encoding="utf-8")

    def release(self) -> None:
        """Give the reserved room back, to write the result."""
        self._reserve.unlink(missing_ok=True)

    def publish(self, latest: Path) -> None:
        """Point ``latest`` at this folder, where the system allows links."""
        with contextlib.suppress(OSError):
            latest.parent.mkdir(parents=True, exist_ok=True)
            new = latest.with_name(f".latest-{os.getpid()}")
            new.unlink(missing_ok=True)
            new.symlink_to(self.path.resolve(), target_is_directory=True)
            new.replace(latest)

    def _fill(self, size: int) -> None:
        with self._reserve.open("wb") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, size)
            except OSError as error:
                self._reserve.unlink(missing_ok=True)
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    needed = f"no space left; a run needs {size >> 20} MB here"
                    raise OSError(error.errno, needed, str(self.path)) from None
                raise
