"""The event stream of a run: one append-only file of JSON lines per worker.

Each line is written and flushed at once, so whatever kills a worker, what it had measured is on
disk. ``result.json`` is merged from these files and from nothing else.
"""

from __future__ import annotations

import contextlib
import enum
import json
import math
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def plain(value: object) -> Any:
    """``value`` as strict JSON data: NaN and infinities as strings, bytes as hexadecimal, enums
    by value, NumPy scalars as numbers, anything else as text."""
    if value is None or isinstance(value, str | bool):
        return str(value) if isinstance(value, enum.Enum) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return [plain(item) for item in sorted(value)]
    if isinstance(value, bytes):
        return value.hex()
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)


class EventWriter:
    """Appends events to ``events-<worker>.ndjson`` in ``folder``. OSError where that fails."""

    def __init__(self, folder: Path, worker: str) -> None:
        self._file = (folder / f"events-{worker}.ndjson").open("a", encoding="utf-8")

    def write(self, kind: str, **fields: object) -> None:
        """Append one event, with the time of day, and flush it."""
        event = {"event": kind, "time": time.time(), **fields}
        self._file.write(json.dumps(plain(event), allow_nan=False, separators=(",", ":")) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file; safe to call twice. What a full disk didn't take is lost."""
        with contextlib.suppress(OSError):
            self._file.close()


class EventReader:
    """Follows the event files of a run folder while they grow."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._offsets: dict[Path, int] = {}

    def new(self) -> Iterator[dict[str, Any]]:
        """The complete events written since the last call. A line that isn't JSON, as a full
        disk or a killed worker leaves behind, is passed over."""
        for path in sorted(self._folder.glob("events-*.ndjson")):
            with path.open("rb") as file:
                file.seek(self._offsets.get(path, 0))
                text = file.read()
            end = text.rfind(b"\n") + 1
            self._offsets[path] = self._offsets.get(path, 0) + end
            for line in text[:end].splitlines():
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                if isinstance(event, dict) and "event" in event:
                    yield event


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Every complete event of a run folder, worker by worker, in the order they were written."""
    return list(EventReader(folder).new())
