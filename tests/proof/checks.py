"""Checks of the suite by what it says: of a planted fault, of a device that does nothing wrong.

Each raises AssertionError where the suite doesn't say what it should. They are what has to go red
when a part of the suite is broken.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable

from cts.case import Case
from cts.device.protocol import Device
from cts.killers import target
from cts.mutants import all_cases
from cts.outcome import Outcome, worse
from cts.profiles import Profile
from cts.program.model import Component, Program
from cts.program.recipe import Pattern, Recipe
from cts.run import CaseResult, run_case
from cts.subject import NotSupported, Subject
from reference import operands
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


def says(legal: str, suffix: str, outcome: Outcome) -> Check:
    """That a case ends on a legal device with exactly this."""

    def check() -> None:
        result = run(suffix, LEGAL[legal].device())
        assert result.outcome is outcome, f"{result.outcome}: {result.reason}"

    return check


def nears(legal: str, suffix: str, ratio: float) -> Check:
    """That the worst error on a legal device is at least this part of its bound."""

    def check() -> None:
        worst = run(suffix, LEGAL[legal].device()).tally.worst_ratio
        assert worst >= ratio, f"the worst error is {worst} of its bound"

    return check


def lacks(program: Program) -> Check:
    """That a program is found to need more than the plainest legal device has. It takes nothing
    that it doesn't advertise."""

    def check() -> None:
        subject = Subject(LEGAL["plain"].device())
        try:
            subject.check(program, {})
        except NotSupported:
            return
        except ValueError as error:
            raise AssertionError(f"it was asked anyway: {error}") from error
        raise AssertionError("it ran")

    return check


def seeded_recipes() -> None:
    """That recipes of another seed make other operands."""
    for pattern in (Pattern.SMALL, Pattern.SIGNED, Pattern.BITS, Pattern.PERMUTATION):
        one, other = (
            operands.realise(Recipe(pattern, seed), Component.SINT16, 16, 16, 4) for seed in (1, 2)
        )
        assert (one != other).any(), pattern


def patterns(suffix: str, seed: int) -> Counter[str]:
    """How often a case drew each pattern of operands."""
    return run(suffix, ReferenceDevice(), seed).tally.distribution["pattern"]


def differs_by_seed() -> None:
    """That another seed of a run draws other things, and the same seed the same."""
    first, again, other = (patterns("matrix.load_store.bits.uint16", seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def differs_by_case() -> None:
    """That two cases that could draw the same things don't."""
    names = ("matrix.load_store.bits.uint16", "matrix.load_store.bits.sint16")
    one, other = (patterns(name, 1) for name in names)
    assert one != other
