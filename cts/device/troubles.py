"""What the processes of one run that share a device tell each other of hangs and lost devices.

A driver that resets a hung device takes the devices of the other processes with it. Those see
VK_ERROR_DEVICE_LOST at whatever they had just asked, which is not to blame.
"""

from __future__ import annotations

import time
from pathlib import Path

MEMORY = 60.0
"""Seconds: so far back trouble counts. A hang is noticed after the limit of its phase, 20 s, and a
reset can take as long again."""


class Troubles:
    """A file that all of them add lines to, ``troubles.log`` in ``folder``; ``own`` is the name
    of this one."""

    def __init__(self, folder: Path, own: str) -> None:
        self._path = folder / "troubles.log"
        self._own = own

    def add(self) -> None:
        """This one just met a hang or a lost device; to be called before its process is killed,
        which is what the others may suffer from. OSError where the disk is full."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{time.time():.3f} {self._own}\n")

    def elsewhere(self) -> bool:
        """Whether another one met some within :data:`MEMORY`."""
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        since = time.time() - MEMORY
        met = (line.split(maxsplit=1) for line in lines)
        return any(name != self._own and float(when) >= since for when, name in met)
