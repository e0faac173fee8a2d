"""The device process: reads requests, runs them on the driver, answers.

It runs where the driver is, which may be another root or machine, and needs there Python 3.11
or later with ``cffi`` and ``vulkan``; its own code is sent to it (:mod:`cts.device.launcher`).
A driver may crash it or hang it at any point: the supervisor lives through that.

Messages from the supervisor: ``settings``, then requests. Messages to it: ``hello``; phases
(heartbeats, so that a time-out says where); ``ready`` or ``refused``; per request phases and
then ``reply``, ``refused`` (a sentence) or ``fault`` (a traceback: the suite's own mistake).
"""

from __future__ import annotations

import io
import os
import platform
import select
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol, cast

from cts.device.errors import Refused
from cts.device.framing import VERSION, Arena, Decoder, Frame, ProtocolError, get, pack
from cts.device.protocol import Reply, Request
from cts.device.wire import decode_request, encode_reply

Phase = Callable[[str], None]


class Backend(Protocol):
    """What the server runs requests on."""

    def run(self, request: Request, phase: Phase) -> Reply:
        """Run ``request``, calling ``phase`` as it enters each phase."""


class Connection:
    """The two streams. Standard output is taken away from everything else in the process."""

    def __init__(self) -> None:
        self._out = os.dup(1)
        os.dup2(2, 1)  # what a driver prints must not end up between the frames
        # The launcher's bootstrap read from this object: it may hold the first frames already.
        self._in = cast(io.BufferedReader, sys.stdin.buffer)
        self._decoder = Decoder()
        self._arena: Arena | None = None
        self._beats: dict[str, bytes] = {}
        self._frames = self._read()

    def share(self, arena: Arena | None) -> None:
        """From now on blobs go through ``arena``."""
        self._arena = self._decoder.arena = arena

    def receive(self) -> Frame | None:
        """The next frame; None at the end of the stream."""
        return next(self._frames, None)

    def send(self, frame: Frame) -> None:
        """Send one frame."""
        self._write(pack(frame, self._arena))

    def beat(self, phase: str) -> None:
        """Say that ``phase`` begins."""
        if phase not in self._beats:
            self._beats[phase] = pack(Frame({"kind": "phase", "phase": phase}))
        self._write(self._beats[phase])

    def _read(self) -> Iterator[Frame]:
        while data := self._in.read1(1 << 20):
            yield from self._decoder.feed(data)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._out, view) :]


class Phases:
    """Sends heartbeats and adds up the time in each phase."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.current = ""
        self._since = 0.0
        self.seconds: dict[str, float] = {}

    def start(self) -> None:
        """A request was accepted."""
        self.seconds = {}
        self.current = "accepted"
        self._since = time.perf_counter()
        self._connection.beat("accepted")

    def enter(self, phase: str) -> None:
        """``phase`` begins."""
        self._account()
        self.current = phase
        self._connection.beat(phase)

    def finish(self) -> dict[str, float]:
        """The seconds of each phase of the request."""
        self._account()
        return self.seconds

    def _account(self) -> None:
        now = time.perf_counter()
        passed = now - self._since
        self.seconds[self.current] = self.seconds.get(self.current, 0.0) + passed
        self._since = now


def serve(connect: Callable[[dict[str, Any]], Backend]) -> int:
    """Answer until the supervisor goes away; the exit status.

    ``connect`` makes the backend from the settings; it raises :class:`Refused` if it can't.
    """
    connection = Connection()
    _leave_with_the_supervisor()
    first = connection.receive()
    if first is None:
        return 0
    settings = first.header
    arena = Arena.attach(str(settings.get("arena", "")), str(settings.get("nonce", "")))
    connection.send(
        Frame(
            {
                "kind": "hello",
                "version": VERSION,
                "python": platform.python_version(),
                "shared": arena is not None,
            }
        )
    )
    connection.share(arena)
    phases = Phases(connection)
    try:
        phases.enter("instance")
        backend = connect(settings)
    except Refused as error:
        connection.send(Frame({"kind": "refused", "message": str(error)}))
        return 0
    except Exception as error:
        connection.send(_fault(error))
        return 1
    connection.send(Frame({"kind": "ready"}))
    try:
        while (frame := connection.receive()) is not None:
            phases.start()
            connection.send(_answer(backend, frame, phases))
    except ProtocolError as error:
        connection.send(_fault(error))
        return 1
    return 0


def _fault(error: Exception) -> Frame:
    text = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
    return Frame({"kind": "fault", "traceback": text})


def _answer(backend: Backend, frame: Frame, phases: Phases) -> Frame:
    try:
        reply = backend.run(decode_request(frame), phases.enter)
    except Refused as error:
        return Frame({"kind": "refused", "message": str(error)})
    except Exception as error:
        return _fault(error)
    where = phases.current if reply.result else "done"
    return encode_reply(replace(reply, phase=where, seconds=phases.finish()))


def _leave_with_the_supervisor() -> None:
    """End the process when the supervisor is gone, even while a driver call hangs."""

    def watch() -> None:
        watcher = select.poll()
        watcher.register(0, 0)  # a hang-up is always reported
        watcher.poll()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def vulkan_backend(settings: dict[str, Any]) -> Backend:
    """The Vulkan driver that ``settings`` names."""
    from cts.device.vulkan.backend import connect  # not before hello: cffi may be missing

    return connect(get(settings, "select", str), get(settings, "fence", float))


def main() -> None:
    """Serve the Vulkan driver until the supervisor goes away."""
    status = serve(vulkan_backend)
    sys.stderr.flush()
    # Not through the interpreter's end: a driver's threads or destructors can hang it there.
    os._exit(status)
