"""A device in its own process, kept alive whatever the driver does.

A segfault, an abort, a hang in any phase, a lost device and memory that ran out all come back
as findings, raised from one place each, so that Hypothesis shrinks them like any other
failure. After each of them the process is renewed before anything else runs on it.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from cts.device.errors import BudgetSpent, DeviceError, ServerFault
from cts.device.framing import Frame, ProtocolError, parts
from cts.device.journal import Journal
from cts.device.launcher import Launcher
from cts.device.process import Gone, Limits, ServerProcess, Stuck
from cts.device.protocol import Describe, DeviceInfo, Reply, Request
from cts.device.results import DEVICE_LOST, OUT_OF_MEMORY, TIMEOUT, result_name
from cts.device.troubles import Trouble, Troubles
from cts.device.wire import decode_info, decode_reply, encode_request
from cts.findings import DeviceLost, DriverCrash, DriverHang, Finding, UnexpectedResult

HANGS_PER_CASE = 3
PATIENCE = 4
"""A request that is tried alone gets so many times as long."""
KEPT_OUTCOMES = 4096
RESTART_TRIES = 4
RESTART_PAUSE = 1.0
"""Seconds between tries to start again: a GPU that was reset needs a moment."""
_BEFORE_USE = ("instance", "device")
"""Phases in which the process has asked nothing of its device yet."""


@dataclass(frozen=True)
class Bad:
    """How a request ended that got no reply that can be used."""

    kind: type[Finding]
    message: str
    detail: dict[str, Any] = field(default_factory=dict)
    doubtful: bool = False
    """Whether something else than the driver may have caused it."""


class _Sent:
    """A request as it is sent, and its name: a digest of its content, the same everywhere."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.frame = encode_request(request)
        self.parts = parts(self.frame)
        content = hashlib.sha256()  # the fastest one where the processor helps
        for part in self.parts:
            content.update(part)
        self.name = content.hexdigest()[:32]


class SupervisedDevice:
    """A :class:`~cts.device.protocol.Device` whose server can die and be started again."""

    def __init__(
        self,
        launcher: Launcher,
        selector: str = "0",
        journal: Path | None = None,
        limits: Limits | None = None,
        hangs_per_case: int = HANGS_PER_CASE,
        durable: bool = False,
        code: bytes | None = None,
    ) -> None:
        """The server starts with the first request.

        ``journal``: folder of the journal, a temporary one if None. ``durable``: see
        :class:`~cts.device.journal.Journal`. ``code``: see
        :class:`~cts.device.process.ServerProcess`.
        """
        self._launcher = launcher
        self._selector = selector
        self._limits = limits or Limits()
        self._hangs_per_case = hangs_per_case
        self._code = code
        self._temporary = tempfile.TemporaryDirectory() if journal is None else None
        folder = Path(self._temporary.name) if self._temporary else journal
        assert folder is not None
        self._journal = Journal(folder, durable)
        self._troubles = Troubles(folder.parent if journal else folder, folder.name)
        self._process: ServerProcess | None = None
        self._info: DeviceInfo | None = None
        self._outcomes: OrderedDict[str, Bad] = OrderedDict()
        self._hangs = 0
        self.starts = 0
        """How often a server was started."""
        self.recovered: list[str] = []
        """What went wrong once in this case and not again, in sentences."""

    @property
    def info(self) -> DeviceInfo:
        """What the device says of itself; asked once and kept.

        Raises DeviceError where there is no device.
        """
        if self._info is None:
            self.execute(Describe())
        assert self._info is not None
        return self._info

    def execute(self, request: Request) -> Reply:
        """Run ``request`` to its end.

        Raises DriverCrash, DriverHang, DeviceLost or UnexpectedResult where the driver failed;
        a request that failed so before fails so again without being run. BudgetSpent where the
        case has no hangs left; ServerFault where the suite itself failed; DeviceError where no
        server can be started.
        """
        sent = _Sent(request)
        known = self._outcomes.get(sent.name)
        if known is None:
            if self._hangs >= self._hangs_per_case:
                raise BudgetSpent(f"this case met {self._hangs} hangs: no further request is run.")
            outcome = self._attempt(sent)
            if isinstance(outcome, Reply):
                return outcome
            self._remember(sent.name, outcome)
            known = outcome
        return self._raise(known)

    def reproduce(self, request: Request) -> Finding | None:
        """Run ``request`` in a fresh process, whatever is remembered of it; what it ended with.

        None says that it ran well: what was seen before depended on the requests before it, or
        was slow and no hang, for it gets :data:`PATIENCE` times as long as usual.
        """
        self._drop()
        usual = self._limits
        self._limits = usual.times(PATIENCE)
        try:
            outcome = self._attempt(_Sent(request))
        finally:
            self._limits = usual
            self._drop()
        return None if isinstance(outcome, Reply) else outcome.kind(outcome.message, outcome.detail)

    def new_case(self) -> None:
        """Another case begins: its budget is full.

        A process that ended between two requests is held against no later case.
        """
        self._hangs = 0
        self.recovered = []
        for name in [one for one, bad in self._outcomes.items() if bad.detail["phase"] == "idle"]:
            del self._outcomes[name]

    def close(self) -> None:
        """End the server; safe to call twice."""
        if self._process:
            self._process.close()
            self._process = None
        self._journal.close()
        if self._temporary:
            self._temporary.cleanup()

    def _raise(self, bad: Bad) -> NoReturn:
        """The one place where each kind of finding is raised: Hypothesis tells them by it."""
        if bad.kind is DriverCrash:
            raise DriverCrash(bad.message, bad.detail)
        if bad.kind is DriverHang:
            raise DriverHang(bad.message, bad.detail)
        if bad.kind is DeviceLost:
            raise DeviceLost(bad.message, bad.detail)
        raise UnexpectedResult(bad.message, bad.detail)

    def _remember(self, name: str, bad: Bad) -> None:
        if bad.kind is DriverHang:
            self._hangs += 1
        self._outcomes[name] = bad
        if len(self._outcomes) > KEPT_OUTCOMES:
            self._outcomes.popitem(last=False)

    def _attempt(self, sent: _Sent) -> Reply | Bad:
        """Run once; once more in a fresh process where the driver may not be to blame.

        A machine that stood still, or that had no memory left, looks like a driver that hangs,
        dies or has no memory; and a device can be lost to what another process of the run does
        with it. What doesn't come again is no finding but noted.
        """
        first = self._run(sent)
        if isinstance(first, Reply) or not (first.doubtful or first.kind is DeviceLost):
            return first
        shared = first.kind in (DriverHang, DeviceLost)  # others may suffer from it
        if shared:
            self._troubles.add(Trouble.MET)
        second = self._run(sent)
        well = isinstance(second, Reply)
        if shared:
            self._troubles.add(Trouble.OVER if well else Trouble.AGAIN)
        if well:
            if not first.doubtful and not self._troubles.elsewhere():
                return first  # so it takes the requests before it
            self.recovered.append(f"{first.message}, but not when request {sent.name} ran again")
        return second

    def _run(self, sent: _Sent) -> Reply | Bad:
        """Run once. After whatever ruins the process there is none."""
        try:
            if self._process and not self._process.alive():
                raise self._process.gone()
            process = self._process = self._process or self._start()
            self._journal.begin(sent.name, sent.parts)
            answer = process.exchange(sent.frame)
            self._journal.done()
            reply = self._reply(sent.request, answer)
        except Gone as error:
            return self._ruined(_crash(error, self._detail(error.phase, error.stderr, sent.name)))
        except Stuck as error:
            detail = self._detail(error.phase, error.stderr, sent.name)
            return self._ruined(_hang(error.phase, error.limit, detail))
        if reply.result == 0:
            return reply
        detail = self._detail(reply.phase, process.stderr_tail(), sent.name)
        detail["result"] = reply.result
        if reply.result == TIMEOUT:
            return self._ruined(_hang(reply.phase, self._limits.fence, detail))
        if reply.result == DEVICE_LOST:
            message = f"the device was lost in phase {reply.phase}"
            unused = reply.phase in _BEFORE_USE
            return self._ruined(Bad(DeviceLost, message, detail, doubtful=unused))
        message = f"phase {reply.phase} ended with {result_name(reply.result)}"
        if reply.result in OUT_OF_MEMORY:
            return self._ruined(Bad(UnexpectedResult, message, detail, doubtful=True))
        return Bad(UnexpectedResult, message, detail)

    def _ruined(self, bad: Bad) -> Bad:
        self._drop()
        return bad

    def _reply(self, request: Request, answer: Frame) -> Reply:
        if answer.kind != "reply":
            text = answer.header.get("message") or answer.header.get("traceback")
            if answer.kind == "fault":
                self._drop()
            raise ServerFault(str(text))
        try:
            reply = decode_reply(answer)
            if isinstance(request, Describe) and not reply.result:
                self._info = decode_info(reply.buffers[0])
        except (ProtocolError, IndexError) as error:
            assert self._process
            raise self._process.gone(str(error)) from error
        return reply

    def _detail(self, phase: str, stderr: str, name: str) -> dict[str, Any]:
        before = self._journal.recent[-11:]
        return {
            "phase": phase,
            "stderr": stderr,
            "request": name,
            "requests_before": [one for one in before if one != name][-10:],
            "requests_since_start": len(self._journal.recent),
        }

    def _start(self) -> ServerProcess:
        self._journal.process_started()
        tries = RESTART_TRIES if self.starts else 1
        while True:
            tries -= 1
            self.starts += 1
            try:
                return ServerProcess(self._launcher, self._selector, self._limits, self._code)
            except DeviceError:
                if not tries:
                    raise
                time.sleep(RESTART_PAUSE)

    def _drop(self) -> None:
        if self._process:
            self._process.kill()
            self._process = None


def _crash(error: Gone, detail: dict[str, Any]) -> Bad:
    detail = {**detail, "exit_status": error.status}
    if error.garbage:
        how = f"sent something that is no message ({error.garbage})"
    elif error.signal:
        detail["signal"] = error.signal
        how = f"was ended by {error.signal}"
    else:
        how = f"ended by itself with status {error.status}"
    where = "between two requests" if error.phase == "idle" else f"in phase {error.phase}"
    killed = error.signal == "SIGKILL"  # not by the driver: the kernel, short of memory
    return Bad(DriverCrash, f"the device process {how} {where}", detail, doubtful=killed)


def _hang(phase: str, limit: float, detail: dict[str, Any]) -> Bad:
    message = f"phase {phase} did not end within {limit:g} s"
    return Bad(DriverHang, message, {**detail, "limit": limit}, doubtful=True)
