"""Running one case: examples, shrinking, a second pass for lesser findings, repetition.

The first pass raises only what is worse than policy, so that a harmless warning can't hide a
wrong value. If it found nothing but saw something lesser, a second pass with the same seed
raises that, so that it is minimised too. A finding that doesn't repeat is reported as flaky,
with how often it showed, and never hidden.
"""

from __future__ import annotations

import dataclasses
import errno
import math
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from cts import judge
from cts.case import Case
from cts.device.errors import BudgetSpent, DeviceError
from cts.device.protocol import Device, Dispatch, Request
from cts.findings import (
    DeviceLost,
    DriverCrash,
    DriverHang,
    Finding,
    GuardTouched,
    Nondeterministic,
    PolicyValue,
    QualityValue,
    UnexpectedResult,
    WrongValue,
)
from cts.outcome import Outcome, worse, worst
from cts.profiles import Profile, case_seed, draw_the_same_everywhere, settings_for
from cts.subject import Evidence, Inconclusive, NotSupported, Subject, Tally

if TYPE_CHECKING:
    from hypothesis import strategies as st

ENOUGH = 40
"""Unsupported examples in a row, from the first one on, after which a case gives up."""
REPEAT = 3
"""Repetitions of a minimal request that failed each time Hypothesis tried it."""
REPEAT_FLAKY = 20
"""Repetitions of one that didn't."""

_REPEATABLE = (WrongValue, PolicyValue, QualityValue, GuardTouched)


@dataclass(frozen=True)
class Found:
    """A finding of a case and the outcome it counts as: its own, or flaky."""

    finding: Finding
    outcome: Outcome
    kind: str
    message: str


@dataclass(frozen=True)
class CaseResult:
    """What a case ended with. ``recovered`` says what the device process did once and not again,
    which is no finding; ``trace`` is a traceback for the suite's developers, where the suite
    itself failed."""

    case: Case
    outcome: Outcome
    reason: str = ""
    found: tuple[Found, ...] = ()
    tally: Tally = field(default_factory=Tally)
    duration: float = 0.0
    recovered: tuple[str, ...] = ()
    trace: str = ""


@dataclass(frozen=True)
class _Attempt:
    """The findings and the suite's own errors of one pass."""

    findings: tuple[Finding, ...] = ()
    flaky: tuple[Finding, ...] = ()
    errors: tuple[BaseException, ...] = ()


@runtime_checkable
class Reproducing(Protocol):
    """A device that can run a request in a process of its own (cts.device.supervisor).

    ``recovered`` says what went wrong once in this case and not again, in sentences.
    """

    recovered: list[str]

    def reproduce(self, request: Request) -> Finding | None:
        """What the request alone ends with; None if it runs well."""

    def new_case(self) -> None:
        """Another case begins."""


class StopRun(BaseException):
    """The whole run can't go on; the message says why. Not an Exception, so that no case and no
    strategy takes it for a failure of its own."""


class _GiveUp(BaseException):
    """Nothing that is drawn is supported. Not an Exception, so that it ends the whole pass."""


class _Ended(BaseException):
    """Nothing can be said; the cause says why. Not an Exception, so that it ends the whole pass."""


class _SuiteFault(BaseException):
    """The suite failed; the cause says how. Not an Exception, so that it ends the whole pass."""


def run_case(
    case: Case, device: Device, profile: Profile, seed: int, floor: Outcome = Outcome.FAIL
) -> CaseResult:
    """Run ``case`` on ``device`` to its end. Never raises for anything that device or case
    do; KeyboardInterrupt and a full disk pass through. The first pass ends at findings as bad
    as ``floor``."""
    if not isinstance(device, Reproducing):
        return _run_case(case, device, profile, seed, floor)
    device.new_case()
    result = _run_case(case, device, profile, seed, floor)
    return dataclasses.replace(result, recovered=tuple(device.recovered))


def _run_case(
    case: Case, device: Device, profile: Profile, seed: int, floor: Outcome
) -> CaseResult:
    start = time.perf_counter()
    tally = Tally()
    try:
        if case.fixed:
            tally, found, errors = _run_fixed(case, device)
        else:
            from cts.draw.variety import Variety, variety

            with variety(Variety(profile.modules, seed)):
                tally, found, errors = _run_drawn(case, device, profile, seed, floor)
    except NotSupported as lacking:
        duration = time.perf_counter() - start
        return CaseResult(case, Outcome.NOT_SUPPORTED, str(lacking), duration=duration)
    except _Ended as ended:
        duration = time.perf_counter() - start
        return CaseResult(case, Outcome.NOT_RUN, str(ended.__cause__), duration=duration)
    duration = time.perf_counter() - start
    if errors:
        return CaseResult(
            case,
            Outcome.ERROR,
            f"the suite failed: {_sentence(errors[0])}",
            found,
            tally,
            duration,
            trace="".join(traceback.format_exception(errors[0])),
        )
    if not tally.examples and not found and tally.refused:
        reason = "the device hung too often in this run to try it again"
        return CaseResult(case, Outcome.NOT_RUN, reason, (), tally, duration)
    if not tally.examples and not found:
        reasons = [text for text, _ in tally.rejected.most_common(5)]
        return CaseResult(case, Outcome.NOT_SUPPORTED, "; ".join(reasons), (), tally, duration)
    outcome = worst([it.outcome for it in found])
    reason = next((it.message for it in found if it.outcome is outcome), "")
    return CaseResult(case, outcome, reason, found, tally, duration)


_Ran = tuple[Tally, tuple[Found, ...], tuple[BaseException, ...]]


def _run_fixed(case: Case, device: Device) -> _Ran:
    subject = Subject(device, collect=True)
    findings, errors = _call_once(case, subject)
    if errors or not findings:
        return subject.tally, tuple(map(_as_it_is, findings)), errors
    again = [_call_once(case, Subject(device, collect=True))[0] for _ in range(REPEAT)]
    kinds = [{type(it) for it in run} for run in again]
    found = []
    for finding in findings:
        seen = sum(type(finding) in run for run in kinds)
        steady = seen == REPEAT or worse(finding.outcome, Outcome.FAIL)
        found.append(_as_it_is(finding) if steady else _flaky(finding, seen, REPEAT))
    return subject.tally, tuple(found), ()


def _call_once(
    case: Case, subject: Subject
) -> tuple[tuple[Finding, ...], tuple[BaseException, ...]]:
    """One run of a fixed case: its findings, and the suite's own error if there was one."""
    errors: tuple[BaseException, ...] = ()
    try:
        with subject.example():
            case.call(subject, None)
    except NotSupported:
        if not subject.collected:
            raise
    except Finding as finding:
        subject.collected.append(finding)
    except Exception as error:
        stop_if_hopeless(error)
        errors = (error,)
    return tuple(subject.collected), errors


def _run_drawn(case: Case, device: Device, profile: Profile, seed: int, floor: Outcome) -> _Ran:
    draw_the_same_everywhere()
    first = Subject(device, floor=floor)
    attempt = _attempt(case, first, profile, seed)
    if not (attempt.findings or attempt.flaky or attempt.errors) and first.lesser:
        outcome = worst([it.outcome for it in first.lesser.values()])
        again = Subject(device, floor=outcome)
        attempt = _attempt(case, again, profile, seed)
        if not (attempt.findings or attempt.flaky):
            seen = next(it for it in first.lesser.values() if it.outcome is outcome)
            attempt = _Attempt(flaky=(seen,), errors=attempt.errors)
    found = [_recheck(it, device, REPEAT) for it in attempt.findings]
    found += [_recheck(it, device, REPEAT_FLAKY, doubt=True) for it in attempt.flaky]
    return first.tally, tuple(found), attempt.errors


def _attempt(case: Case, subject: Subject, profile: Profile, seed: int) -> _Attempt:
    """One pass of Hypothesis over the case."""
    import hypothesis
    from hypothesis import strategies as st
    from hypothesis.errors import FlakyFailure, HypothesisException, Unsatisfiable

    raised: dict[type[Finding], Finding] = {}

    @hypothesis.seed(case_seed(seed, case.id))
    @settings_for(profile, case.examples(profile.examples))
    @hypothesis.given(st.data())
    def example(data: st.DataObject) -> None:
        try:
            with subject.example():
                case.call(subject, data)
        except NotSupported:
            undrawn = not data.count  # then every further example ends the same way
            if not subject.tally.examples and (undrawn or subject.tally.rejected.total() >= ENOUGH):
                raise _GiveUp from None
            hypothesis.reject()
        except Inconclusive as reason:
            raise _Ended from reason
        except BudgetSpent:
            subject.tally.refused += 1
            hypothesis.reject()
        except Finding as finding:
            if worse(subject.floor, finding.outcome):
                subject.lesser.setdefault(type(finding), finding)
                return
            raised[type(finding)] = finding
            raise
        except HypothesisException:
            raise
        except Exception as error:
            # The suite's own fault: nothing is gained by shrinking it.
            stop_if_hopeless(error)
            raise _SuiteFault from error
        if profile.target:
            for types, ratio in subject.ratios.items():
                if math.isfinite(ratio):
                    hypothesis.target(ratio, label=types)

    # Without a key Hypothesis makes one from the source of the function, which takes longer than
    # an example. There is no database to look it up in.
    vars(example)["_hypothesis_internal_database_key"] = b""

    try:
        example()
    except _GiveUp:
        return _Attempt()
    except _SuiteFault as fault:
        assert fault.__cause__ is not None
        return _Attempt(errors=(fault.__cause__,))
    except Unsatisfiable as error:
        tally = subject.tally
        explained = tally.examples or tally.rejected or tally.refused
        return _Attempt() if explained else _Attempt(errors=(error,))
    except FlakyFailure as group:
        findings = tuple(it for it in _leaves(group) if isinstance(it, Finding))
        findings = findings or tuple(raised.values())
        return _Attempt(flaky=findings) if findings else _Attempt(errors=(group,))
    except BaseExceptionGroup as group:
        leaves = list(_leaves(group))
        errors = tuple(it for it in leaves if not isinstance(it, Finding))
        return _Attempt(tuple(it for it in leaves if isinstance(it, Finding)), (), errors)
    except Finding as finding:
        return _Attempt((finding,))
    except Exception as error:
        if _was_interrupted(error):
            raise KeyboardInterrupt from error
        return _Attempt(errors=(error,))
    return _Attempt()


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether an error came up while a Ctrl-C was on its way: Hypothesis can trip over one that
    arrives before its engine is made."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _recheck(finding: Finding, device: Device, times: int, *, doubt: bool = False) -> Found:
    """Repeat the request of a finding and say whether it always shows.

    Only what the oracle judges by itself is repeated; a crash or a hang costs a process each
    time, and Hypothesis has seen it twice already.
    """
    own = _as_it_is(finding)
    evidence = finding.evidence
    if isinstance(device, Reproducing) and isinstance(evidence, Evidence) and not doubt:
        well = _try_in_fresh_process(finding, evidence, device)
        # A slow machine is no hang: commands have to end in finite time, not in the suite's.
        doubt = well and isinstance(finding, DriverHang)
    if (
        not isinstance(finding, _REPEATABLE)
        or not isinstance(evidence, Evidence)
        or not evidence.judged
    ):
        return _flaky(finding, 1, 2) if doubt else own
    seen = _count_failures(finding, evidence, device, times)
    if seen == times:
        return own
    if not doubt:
        return _recheck(finding, device, REPEAT_FLAKY, doubt=True)
    return _flaky(finding, seen, times)


def _try_in_fresh_process(finding: Finding, evidence: Evidence, device: Reproducing) -> bool:
    """Add to a crash, a hang or a lost device whether it needs the requests before it. Whether
    the request ran well alone."""
    if not isinstance(finding, DriverCrash | DriverHang | DeviceLost | UnexpectedResult):
        return False
    again = device.reproduce(evidence.request)
    finding.detail["alone in a fresh process"] = "ran well" if again is None else again.message
    return again is None


def _count_failures(finding: Finding, evidence: Evidence, device: Device, times: int) -> int:
    seen = 0
    for _ in range(times):
        again = judge_again(evidence, device)
        seen += again is not None and not worse(finding.outcome, again.outcome)
    return seen


def judge_again(evidence: Evidence, device: Device) -> Finding | None:
    """Run a stored request once more and judge it; the finding, or None if all is well."""
    request = evidence.request
    if not isinstance(request, Dispatch) or request.program is None:
        raise ValueError("only a dispatch of a program can be judged again")
    try:
        reply = device.execute(request)
    except Finding as finding:
        return finding
    expected = judge.expect(request.program, evidence.inputs)
    verdict = judge.compare(request, expected, reply.buffers)
    return judge.as_finding(verdict)


def _as_it_is(finding: Finding) -> Found:
    return Found(finding, finding.outcome, type(finding).__name__, finding.message)


def _flaky(finding: Finding, seen: int, times: int) -> Found:
    kind = Nondeterministic.__name__
    message = (
        f"{type(finding).__name__} in {seen} of {times} runs of the same request: {finding.message}"
    )
    return Found(finding, Outcome.FLAKY, kind, message)


def stop_if_hopeless(error: BaseException) -> None:
    """Raise StopRun if ``error`` says that the disk is full or the device has gone for good."""
    if isinstance(error, DeviceError):
        raise StopRun(str(error)) from error
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f" ({error.filename})" if error.filename else ""
        raise StopRun(f"the disk is full{where}") from error


def _sentence(error: BaseException) -> str:
    """The first line of an exception, with its class."""
    text = str(error).strip().splitlines()
    return type(error).__name__ + (f": {text[0]}" if text else "")
