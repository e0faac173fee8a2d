"""One device server process, seen from outside: start, exchange, wait, kill.

Every wait is finite. What goes wrong is an exception that says in which phase it was.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import select
import signal
import subprocess
import tempfile
import time
from collections import deque
from dataclasses import dataclass

from cts.device.errors import DeviceError
from cts.device.framing import VERSION, Arena, Decoder, Frame, ProtocolError, pack
from cts.device.launcher import Launcher, program

STDERR_LINES = 20
STDERR_KEPT = 1 << 20
"""Bytes after which the file of the server's standard error starts anew."""


@dataclass(frozen=True)
class Limits:
    """Longest time for each phase, in seconds."""

    start: float = 60.0
    """Until the interpreter runs the server (copying an image, logging in)."""
    instance: float = 60.0
    accepted: float = 10.0
    device: float = 60.0
    module: float = 30.0
    pipeline: float = 60.0
    submit: float = 20.0
    fence: float = 20.0
    readback: float = 20.0
    query: float = 20.0
    convert: float = 20.0
    describe: float = 30.0
    grace: float = 3.0
    """Added to ``fence``: the server itself waits that long and then says so."""

    def times(self, factor: float) -> Limits:
        """Limits for somebody with more patience."""
        longer = {name: factor * limit for name, limit in dataclasses.asdict(self).items()}
        return Limits(**longer)

    def of(self, phase: str) -> float:
        """The limit of ``phase``; that of ``pipeline`` for one that has none of its own."""
        limit = float(getattr(self, phase, self.pipeline))
        return limit + self.grace if phase == "fence" else limit


class Broken(Exception):
    """The process can't be used any more. ``phase`` is where it was."""

    def __init__(self, phase: str, stderr: str) -> None:
        super().__init__(phase)
        self.phase = phase
        self.stderr = stderr


class Gone(Broken):
    """The process ended, or sent something that is no message."""

    def __init__(self, phase: str, stderr: str, status: int | None, garbage: str = "") -> None:
        super().__init__(phase, stderr)
        self.status = status
        """As :attr:`subprocess.Popen.returncode`."""
        self.garbage = garbage

    @property
    def signal(self) -> str | None:
        """Name of the signal that ended it; launchers report 128 + its number."""
        if self.status is None:
            return None
        number = -self.status if self.status < 0 else self.status - 128
        try:
            return signal.Signals(number).name
        except ValueError:
            return None


class Stuck(Broken):
    """A phase didn't end in its time."""

    def __init__(self, phase: str, stderr: str, limit: float) -> None:
        super().__init__(phase, stderr)
        self.limit = limit


class ServerProcess:
    """A running server. The constructor returns once it is ready for requests."""

    def __init__(
        self, launcher: Launcher, selector: str, limits: Limits, code: bytes | None = None
    ) -> None:
        """``code`` replaces :func:`cts.device.launcher.program` (in tests).

        Raises DeviceError where no server or device can be had, Gone or Stuck where it was the
        driver that failed.
        """
        self._limits = limits
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self._stderr_mark = 0
        self._decoder = Decoder(banner=True)
        self._frames: deque[Frame] = deque()
        self._garbage = ""
        self._arena = Arena.create()
        self.phase = "start"
        try:
            self._process = subprocess.Popen(
                launcher.arguments(),
                env=launcher.variables(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,  # Ctrl-C is for the suite; a kill takes helpers too
            )
        except OSError as error:
            self._release()
            raise DeviceError(
                f"the device server can't be started: {launcher.command[0]}: {error.strerror}."
            ) from error
        assert self._process.stdin and self._process.stdout
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._reader = select.poll()
        self._reader.register(self._out, select.POLLIN)
        self._writer = select.poll()
        self._writer.register(self._in, select.POLLOUT)
        try:
            self._greet(launcher, selector, code if code is not None else program())
        except BaseException:
            self.kill()
            raise

    @property
    def process_id(self) -> int:
        """Of the launcher, which is the server itself where there is nothing in between."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def exchange(self, frame: Frame) -> Frame:
        """Send a request and return the answer: ``reply``, ``refused`` or ``fault``."""
        self._mark_stderr()
        self._send(pack(frame, self._arena), self._limits.accepted)
        answer = self._await(("reply", "refused", "fault"), "accepted")
        self.phase = "idle"
        return answer

    def gone(self, garbage: str = "") -> Gone:
        """What is known about the process's end, or about the ``garbage`` that it sent."""
        if not garbage:
            self._reap(5.0)
        return Gone(self.phase, self.stderr_tail(), self._process.poll(), garbage)

    def kill(self) -> None:
        """End the process and all that it started, and give everything back."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._reap(10.0)
        self._release()

    def close(self) -> None:
        """Ask the process to end, and kill it if it doesn't."""
        if self._process.stdin and not self._process.stdin.closed:
            self._process.stdin.close()
            self._reap(5.0)
        self.kill()

    def stderr_tail(self) -> str:
        """The last lines that were written to standard error since the last request."""
        size = os.fstat(self._stderr.fileno()).st_size
        start = max(self._stderr_mark, size - (64 << 10))
        text = os.pread(self._stderr.fileno(), size - start, start).decode("utf-8", "replace")
        return "\n".join(line[:500] for line in text.splitlines()[-STDERR_LINES:])

    def _greet(self, launcher: Launcher, selector: str, code: bytes) -> None:
        settings = {
            "kind": "settings",
            "version": VERSION,
            "select": selector,
            "fence": float(self._limits.fence),
            "arena": str(self._arena.path) if self._arena else "",
            "nonce": self._arena.nonce.hex() if self._arena else "",
        }
        try:
            self._send(code + pack(Frame(settings)), self._limits.start)
            hello = self._await(("hello",), "start")
        except Stuck as error:
            raise DeviceError(
                f"the device server did not start within {error.limit:g} s ({launcher.name})."
            ) from error
        except Gone as error:
            reason = error.stderr.splitlines()[-1:] or [error.garbage or f"status {error.status}"]
            raise DeviceError(
                f"the device server can't be started ({launcher.name}): {reason[0]}."
            ) from error
        if self._arena:
            self._arena.unlink()
            if hello.header.get("shared") is not True:
                self._arena.close()
                self._arena = None
        self._decoder.arena = self._arena
        ready = self._await(("ready", "refused", "fault"), "instance")
        if ready.kind == "refused":
            raise DeviceError(str(ready.header.get("message")))
        if ready.kind == "fault":
            last = str(ready.header.get("traceback")).strip().splitlines()[-1]
            raise DeviceError(f"the device server failed while it started: {last}.")
        self.phase = "idle"

    def _send(self, data: bytes, limit: float) -> None:
        deadline = time.monotonic() + limit
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0 or not self._writer.poll(left * 1000):
                    raise Stuck(self.phase, self.stderr_tail(), limit) from None
            except BrokenPipeError:
                raise self.gone() from None

    def _await(self, kinds: tuple[str, ...], phase: str) -> Frame:
        """The next frame of one of ``kinds``. Phases on the way set new limits."""
        limit = self._limits.of(phase)
        deadline = time.monotonic() + limit
        while True:
            while self._frames:
                frame = self._frames.popleft()
                if frame.kind == "phase":
                    self.phase = str(frame.header.get("phase"))[:40]
                    limit = self._limits.of(self.phase)
                    deadline = time.monotonic() + limit
                elif frame.kind in kinds:
                    return frame
                else:
                    raise self.gone(f"unexpected message {frame.kind[:40]}")
            if self._garbage:
                raise self.gone(self._garbage)
            left = deadline - time.monotonic()
            if left <= 0 or not self._reader.poll(left * 1000):
                raise Stuck(self.phase, self.stderr_tail(), limit)
            data = os.read(self._out, 1 << 20)
            if not data:
                raise self.gone()
            try:
                self._frames.extend(self._decoder.feed(data))
            except ProtocolError as error:
                self._garbage = str(error)  # first what came before it

    def _reap(self, patience: float) -> None:
        # A process in an uninterruptible call of a driver outlives even SIGKILL for a while.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)

    def _mark_stderr(self) -> None:
        size = os.fstat(self._stderr.fileno()).st_size
        if size > STDERR_KEPT:
            os.ftruncate(self._stderr.fileno(), 0)
            os.lseek(self._stderr.fileno(), 0, os.SEEK_SET)  # shared with the server's own
            size = 0
        self._stderr_mark = size

    def _release(self) -> None:
        self._stderr.close()
        if self._arena:
            self._arena.unlink()
            self._arena.close()
        process = getattr(self, "_process", None)
        for stream in (process.stdin, process.stdout) if process else ():
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()
