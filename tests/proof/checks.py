"""Checks of the suite by what it says: of a planted fault, of a device that does nothing wrong.

Each raises AssertionError where the suite doesn't say what it should. They are what has to go red
when a part of the suite is broken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from cts.case import Case
from cts.device.protocol import Device, Dispatch, Reply, Request
from cts.killers import target
from cts.mutants import all_cases
from cts.outcome import Outcome, worse
from cts.profiles import Profile
from cts.run import CaseResult, run_case
from reference.device import ReferenceDevice
from reference.legal import LEGAL, LegalDevice
from reference.mutants import MUTANTS

BRIEF = Profile("brief", 40, "tests", shrink=False)
Check = Callable[[], None]


@functools.cache
def case_of(suffix: str) -> Case:
    """The case with this id, which may leave out ``cooperative_``."""
    wanted = (suffix, f"cooperative_{suffix}")
    (found,) = [case for case in all_cases() if case.id in wanted]
    return found


def run(suffix: str, device: Device, seed: int = 1, floor: Outcome = Outcome.FAIL) -> CaseResult:
    """One case on a device. An error of the suite itself is no verdict: it is raised."""
    result = run_case(case_of(suffix), device, BRIEF, seed, floor)
    assert result.outcome is not Outcome.ERROR, result.reason
    return result


def kills(mutant: str, suffix: str) -> Check:
    """That a case sees a planted fault."""

    def check() -> None:
        planted = MUTANTS[mutant]
        aim = target(planted)
        result = run(suffix, planted.wrap(ReferenceDevice()), floor=aim.floor)
        assert aim.kills(result.outcome), f"{suffix} ended with {result.outcome} on {mutant}"

    return check


def spares(legal: str, suffix: str, worst: Outcome = Outcome.QUALITY_WARNING) -> Check:
    """That a case says no more than ``worst`` of a legal device, or of the reference device."""

    def check() -> None:
        device = LEGAL[legal].device() if legal else ReferenceDevice()
        result = run(suffix, device)
        assert not worse(result.outcome, worst), f"{result.outcome}: {result.reason}"

    return check


def tries(suffix: str, legal: str = "") -> Check:
    """That a case runs examples on a device that supports what it needs."""

    def check() -> None:
        device: LegalDevice | ReferenceDevice
        device = LEGAL[legal].device() if legal else ReferenceDevice()
        result = run(suffix, device)
        assert result.outcome is not Outcome.NOT_SUPPORTED, result.reason
        assert result.tally.examples > 0

    return check


def lacks(suffix: str, legal: str) -> Check:
    """That a case finds a device to lack what it needs."""

    def check() -> None:
        result = run(suffix, LEGAL[legal].device())
        assert result.outcome is Outcome.NOT_SUPPORTED, result.outcome

    return check


class Recorder:
    """Keeps every request on its way to the reference device."""

    def __init__(self) -> None:
        self._device = ReferenceDevice()
        self.info = self._device.info
        self.requests: list[Request] = []

    def execute(self, request: Request) -> Reply:
        """Keep it, and run it."""
        self.requests.append(request)
        return self._device.execute(request)

    def close(self) -> None:
        """Nothing to give back."""

    def inputs(self) -> list[tuple[bytes, ...]]:
        """The bytes of all buffers of each dispatch."""
        return [
            tuple(buffer.data for buffer in request.buffers)
            for request in self.requests
            if isinstance(request, Dispatch)
        ]


def recorded(suffix: str, seed: int) -> Recorder:
    """A device that has run one case."""
    device = Recorder()
    run(suffix, device, seed)
    return device


def differs_by_seed(suffix: str) -> None:
    """That another seed gives other requests, and the same seed the same."""
    first, again, other = (recorded(suffix, seed).inputs() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def differs_by_case(one: str, other: str) -> None:
    """That two cases of one kind don't draw the same things."""
    assert recorded(one, 1).inputs() != recorded(other, 1).inputs()
