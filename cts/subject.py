"""What a case function talks to: the device, with support, counting, timing and judging.

One :class:`Subject` serves one case. It is the only way from a case to the device, so that
everything that was asked can be reported, stored and replayed.
"""

from __future__ import annotations

import dataclasses
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from cts import judge
from cts.device.protocol import Convert, Device, DeviceInfo, Dispatch, Query, Reply, Request
from cts.device.results import DEVICE_LOST, result_name
from cts.findings import (
    DeviceLost,
    Finding,
    Nondeterministic,
    UnexpectedResult,
)
from cts.outcome import Outcome, worse
from cts.program.recipe import Operand
from cts.program.requires import NEEDS, Requires, combine, missing

Operands = Mapping[str, Operand | bytes]
"""What the named buffers hold before a dispatch; a buffer that isn't named holds poison."""

DISTINCT = 200
"""Distinct values kept of one distribution; the rest are counted together."""


class NotSupported(Exception):
    """The device lacks what a case needs; the message says what. No finding, no failure."""


class Inconclusive(Exception):
    """Something was found that the device does without what is tested, too; the message says
    what. The case ends: nothing can be said of its device."""


@dataclass(frozen=True)
class Evidence:
    """What was asked when a finding was seen. ``judged`` says that the oracle can judge the
    reply to ``request`` again by itself, without the case."""

    request: Request
    operands: Operands = field(default_factory=dict)
    inputs: Mapping[str, bytes] = field(default_factory=dict)
    judged: bool = False

    @property
    def program(self) -> judge.AnyProgram | None:
        """The program that the request was made from, if it is a dispatch."""
        return self.request.program if isinstance(self.request, Dispatch) else None


@dataclass
class Tally:
    """What one case measured: counts, distributions, and seconds by part of the work."""

    examples: int = 0
    matrices: int = 0
    worst_ratio: float = 0.0
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    distribution: dict[str, Counter[str]] = field(default_factory=dict)
    records: Counter[str] = field(default_factory=Counter)
    accuracy: dict[str, float] = field(default_factory=dict)
    rejected: Counter[str] = field(default_factory=Counter)
    """Reasons why examples weren't supported."""
    refused: int = 0
    """Requests that the supervisor refused after too many hangs."""
    own: array[float] = field(default_factory=lambda: array("d"))
    """Seconds of each example outside the driver: from the end of the example before it."""
    driver: array[float] = field(default_factory=lambda: array("d"))
    """Seconds of each example in the driver."""
    made: array[int] = field(default_factory=lambda: array("l"))
    """Pipelines that the driver made for each example; the other dispatches reused one."""
    pipelines: int = 0
    """Pipelines that the driver made since the last example ended."""
    _last: tuple[float, float] = field(default_factory=lambda: (time.perf_counter(), 0.0))

    def example_done(self) -> None:
        """Count an example and what it cost, in the driver and outside of it."""
        now, total = time.perf_counter(), self.seconds["pipeline"] + self.seconds["dispatch"]
        driver = total - self._last[1]
        self.own.append(now - self._last[0] - driver)
        self.driver.append(driver)
        self.made.append(self.pipelines)
        self.pipelines = 0
        self._last = now, total
        self.examples += 1

    @contextmanager
    def time(self, part: str) -> Iterator[None]:
        """Add the seconds of the block to ``part``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] += time.perf_counter() - start


class Subject:
    """The implementation under test, as one case sees it.

    ``floor`` is the least outcome that is raised; of the findings below it one of each class is
    kept in ``lesser``, and the example goes on. With ``collect``, for cases that run once,
    nothing is raised and every finding is kept in ``collected``.
    """

    def __init__(
        self,
        device: Device,
        *,
        floor: Outcome = Outcome.QUALITY_WARNING,
        collect: bool = False,
    ) -> None:
        self.device = device
        self.floor = floor
        self.tally = Tally()
        self.lesser: dict[type[Finding], Finding] = {}
        self.collected: list[Finding] = []
        self.ratios: dict[str, float] = {}
        """Error / bound ratio of the running example, by component types."""
        self._collect = collect
        self._events: list[tuple[str, str]] = []
        self._evidence: Evidence | None = None

    @property
    def info(self) -> DeviceInfo:
        """What the device says of itself."""
        return self.device.info

    # --- support --------------------------------------------------------------------------

    def require(self, condition: bool, reason: str) -> None:
        """Raise NotSupported with ``reason`` unless ``condition`` holds."""
        if not condition:
            raise NotSupported(reason)

    def require_needs(self, *names: str) -> None:
        """Raise NotSupported unless the device has what ``cts.program.requires.NEEDS`` lists under
        ``names``. What is drawn would find the same, later: this saves drawing it."""
        lacking = missing(combine(Requires(), *(NEEDS[name] for name in names)), self.info)
        self.require(not lacking, "; ".join(lacking))

    def records(
        self, command: str, predicate: Callable[[Mapping[str, int]], bool] | None = None
    ) -> tuple[Mapping[str, int], ...]:
        """The records of ``command`` that satisfy ``predicate``; NotSupported if none does."""
        listed = self.info.records.get(command, ())
        found = tuple(it for it in listed if predicate is None or predicate(it))
        if not found:
            kind = "no record" if listed else "no records at all"
            raise NotSupported(f"{command} lists {kind} of this kind")
        return found

    # --- asking ---------------------------------------------------------------------------

    def query(self, query: Query) -> Reply:
        """Call an enumeration command; the case judges the reply."""
        return self._execute(Evidence(query))

    def convert(self, request: Convert) -> Reply:
        """Run conversions of cooperative vector matrices; the case judges the reply."""
        reply = self._execute(Evidence(request))
        if reply.result < 0:
            raise _failed(reply)
        return reply

    def run(
        self,
        program: judge.AnyProgram,
        operands: Operands,
        *,
        repeat: int = 1,
        info: DeviceInfo | None = None,
    ) -> list[bytes]:
        """Run ``program`` and return its buffers, for relations that the case checks itself.
        NotSupported where the device lacks something. ``info``: as for :meth:`check`."""
        evidence = self._prepare(program, operands, repeat, info or self.info)
        return list(self._execute(evidence).buffers)

    def check(
        self,
        program: judge.AnyProgram,
        operands: Operands,
        *,
        repeat: int = 1,
        info: DeviceInfo | None = None,
    ) -> list[bytes]:
        """Run ``program``, judge every byte of every buffer by the oracle, and return the
        buffers. The oracle comes first, so that nothing that it finds invalid reaches a driver.

        Raises NotSupported where the device lacks something, and the worst violation as a
        finding. With ``repeat`` the dispatch runs so many times on the same inputs, and results
        that differ are a finding too. ``info`` is what the support of ``program`` is matched
        with, where the case asked for other lists than the device gives of itself.
        """
        prepared = self._prepare(program, operands, repeat, info or self.info)
        evidence = dataclasses.replace(prepared, judged=True)
        with self.tally.time("oracle"):
            expected = judge.expect(program, evidence.inputs)
        reply = self._execute(evidence)
        with self.tally.time("compare"):
            assert isinstance(evidence.request, Dispatch)
            verdict = judge.compare(evidence.request, expected, reply.buffers)
        self._count(program, operands, verdict)
        finding = judge.as_finding(verdict)
        if finding is None and verdict.differing:
            finding = Nondeterministic(
                f"{verdict.differing} of {repeat} runs of the same dispatch gave other bits "
                "than the first"
            )
        if finding is not None:
            finding.evidence = evidence
            self.found(finding)
        return list(reply.buffers)

    # --- saying ---------------------------------------------------------------------------

    def event(self, key: str, value: object) -> None:
        """Count ``value`` in the distribution ``key`` of this case, once the example counts."""
        self._events.append((key, str(value)))

    def found(self, finding: Finding) -> None:
        """Report a finding: raised if it is bad enough now, else kept for later.

        A fixed case goes on and may find more; an example ends here, so that it can shrink.
        """
        if finding.evidence is None and self._evidence is not None:
            # A case that compares replies itself can't be judged again from one of them.
            finding.evidence = dataclasses.replace(self._evidence, judged=False)
        if self._collect:
            self.collected.append(finding)
        elif worse(self.floor, finding.outcome):
            self.lesser.setdefault(type(finding), finding)
        else:
            raise finding

    # --- examples -------------------------------------------------------------------------

    @contextmanager
    def example(self) -> Iterator[None]:
        """Count what the block does as one example, unless it isn't supported."""
        self._events = []
        self._evidence = None
        self.ratios = {}
        try:
            yield
        except NotSupported as reason:
            self.tally.rejected[str(reason)] += 1
            raise
        except Finding as finding:
            if finding.evidence is None:
                finding.evidence = self._evidence
            self._commit()
            raise
        self._commit()

    def _commit(self) -> None:
        self.tally.example_done()
        for key, value in self._events:
            counter = self.tally.distribution.setdefault(key, Counter())
            counter[value if value in counter or len(counter) < DISTINCT else "other"] += 1

    # --- inside ---------------------------------------------------------------------------

    def _prepare(
        self, program: judge.AnyProgram, operands: Operands, repeat: int, info: DeviceInfo
    ) -> Evidence:
        with self.tally.time("lower"):
            judge.demand_valid(program)
            reason = judge.unsupported(program, info)
        if reason is not None:
            raise NotSupported(reason)
        with self.tally.time("operands"):
            inputs = judge.images(program, operands)
        with self.tally.time("lower"):
            request = judge.request(program, inputs, info, repeat)
            lacking = judge.lacking(request, info)
        if lacking:
            raise NotSupported("; ".join(lacking))
        return Evidence(request, operands, inputs)

    def _execute(self, evidence: Evidence) -> Reply:
        self._evidence = evidence
        start = time.perf_counter()
        try:
            reply = self.device.execute(evidence.request)
        except Finding as finding:
            finding.evidence = evidence
            raise
        finally:
            elapsed = time.perf_counter() - start
        inside = dict(reply.seconds)
        seconds = self.tally.seconds
        made = ("device", "module", "pipeline")
        self.tally.pipelines += "pipeline" in inside
        seconds["pipeline"] += sum(inside.pop(phase, 0.0) for phase in made)
        dispatch = inside.pop("submit", 0.0) + inside.pop("fence", 0.0)
        seconds["dispatch"] += dispatch
        seconds["transport"] += max(0.0, elapsed - sum(reply.seconds.values()))
        seconds["transport"] += sum(inside.values())
        if isinstance(evidence.request, Dispatch) and reply.result < 0:
            raise _failed(reply)
        return reply

    def _count(self, program: judge.AnyProgram, operands: Operands, verdict: judge.Verdict) -> None:
        tally = self.tally
        tally.matrices += verdict.matrices
        tally.worst_ratio = max(tally.worst_ratio, verdict.worst_ratio)
        tally.records.update(judge.used_records(program, self.info))
        types = judge.product_types(program)
        if types:
            self.ratios[types] = max(self.ratios.get(types, 0.0), verdict.worst_ratio)
            tally.accuracy[types] = max(tally.accuracy.get(types, 0.0), verdict.worst_ratio)
        self._events += judge.features(program, operands)


def _failed(reply: Reply) -> Finding:
    """The finding for a dispatch that ended with an error, where no supervisor made one of it."""
    detail = {"result": reply.result, "phase": reply.phase}
    if reply.result == DEVICE_LOST:
        return DeviceLost(f"the device was lost in phase {reply.phase}", detail)
    return UnexpectedResult(f"phase {reply.phase} ended with {result_name(reply.result)}", detail)
