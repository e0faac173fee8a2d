"""The request in flight, on disk before it is sent.

Whatever the request does to the machine, the file ``in-flight`` in the journal's folder names
it afterwards: a state, then the request as a frame. ``requests.log`` lists the digests of the
requests that the present server process has had, the last ones where they are many.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from cts.device.framing import Decoder, ProtocolError
from cts.device.protocol import Request
from cts.device.wire import decode_request

_MAGIC = b"coopjrn1"
_HEAD = 16
_IN_FLIGHT, _DONE = b"\x01", b"\x02"
LOG_LINES = 2000


class Journal:
    """Writes the two files; one journal belongs to one device."""

    def __init__(self, folder: Path, durable: bool = False) -> None:
        """``durable`` waits until the disk has the request: for drivers that stop the machine."""
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "in-flight"
        self._durable = durable
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._file = os.open(self.path, flags, 0o644)
        self._log = os.open(folder / "requests.log", flags | os.O_APPEND, 0o644)
        self.recent: list[str] = []
        """Digests since the server started, oldest first, at most twice :data:`LOG_LINES`."""

    def begin(self, digest: str, parts: Sequence[bytes]) -> None:
        """The request whose frame has these ``parts`` is about to be sent.

        OSError where the disk is full.
        """
        head = _MAGIC + _IN_FLIGHT + bytes(_HEAD - len(_MAGIC) - 1)
        size = _HEAD + sum(map(len, parts))
        if os.pwritev(self._file, [head, *parts], 0) != size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        os.ftruncate(self._file, size)
        if self._durable:
            os.fdatasync(self._file)
        self.recent.append(digest)
        os.write(self._log, f"{digest}\n".encode())
        if len(self.recent) >= 2 * LOG_LINES:
            self.recent = self.recent[-LOG_LINES:]
            os.ftruncate(self._log, 0)
            os.write(self._log, "".join(f"{one}\n" for one in self.recent).encode())

    def done(self) -> None:
        """The request was answered."""
        os.pwrite(self._file, _DONE, len(_MAGIC))

    def process_started(self) -> None:
        """A new server process: what came before can't have touched it."""
        self.recent = []
        os.ftruncate(self._log, 0)

    def close(self) -> None:
        """Close the files; safe to call twice."""
        for descriptor in (self._file, self._log):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._log = -1


def read_journal(path: Path) -> tuple[bool, Request]:
    """Whether the request at ``path`` was still in flight, and the request.

    ProtocolError where the file is damaged.
    """
    data = path.read_bytes()
    if data[: len(_MAGIC)] != _MAGIC:
        raise ProtocolError(f"{path} is no journal")
    frames = list(Decoder().feed(data[_HEAD:]))
    if len(frames) != 1:
        raise ProtocolError(f"{path} holds {len(frames)} requests")
    return data[len(_MAGIC) : len(_MAGIC) + 1] == _IN_FLIGHT, decode_request(frames[0])
