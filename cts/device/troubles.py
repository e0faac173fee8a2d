"""What the processes of one run that share a device tell each other of hangs and lost devices.

A driver that resets a hung device takes the devices of the other processes with it. Those see
VK_ERROR_DEVICE_LOST at whatever they had just asked, which is not to blame. To blame is only what
hangs or loses the device when it is tried again; losses that don't come again excuse each other
as little as one excuses itself.
"""

from __future__ import annotations

import enum
import time
from pathlib import Path

MEMORY = 60.0
"""Seconds: so far back trouble counts. A hang is noticed after the limit of its phase, 20 s, and a
reset can take as long again."""
WAIT = 30.0
"""Seconds to wait for others that are trying again: as long as a hang takes to be noticed."""
_PAUSE = 0.1


class Trouble(enum.Enum):
    """A hang or a lost device, as far as it got."""

    MET = "met"
    """Seen; the request is being tried again."""
    AGAIN = "again"
    """It came again."""
    OVER = "over"
    """It didn't."""


class Troubles:
    """A file that all of them add lines to, ``troubles.log`` in ``folder``; ``own`` is the name
    of this one."""

    def __init__(self, folder: Path, own: str) -> None:
        self._path = folder / "troubles.log"
        self._own = own

    def add(self, trouble: Trouble) -> None:
        """Tell the others. OSError where the disk is full."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{time.time():.3f} {trouble.value} {self._own}\n")

    def elsewhere(self) -> bool:
        """Whether trouble of another one came again within :data:`MEMORY`; waits for those that are
        trying, :data:`WAIT` at most."""
        end = time.monotonic() + WAIT
        while True:
            met = self._others()
            if Trouble.AGAIN in {trouble for _, trouble in met}:
                return True
            if Trouble.MET not in dict(met).values() or time.monotonic() > end:
                return False
            time.sleep(_PAUSE)

    def _others(self) -> list[tuple[str, Trouble]]:
        """(name, trouble) of the others within :data:`MEMORY`, in their order."""
        since = time.time() - MEMORY
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        parts = [line.split(maxsplit=2) for line in lines]
        return [
            (name, Trouble(word))
            for when, word, name in parts
            if name != self._own and float(when) >= since
        ]
