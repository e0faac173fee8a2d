"""False alarms: what the suite says of devices that do nothing wrong.

Every legal device (:mod:`reference.legal`) runs the cases with several seeds. A failure on any of
them is a fault of the suite.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cts.case import Case
from cts.mutants import all_cases
from cts.outcome import Outcome, worse
from cts.profiles import Profile
from cts.run import run_case
from reference.legal import LEGAL, Area


@dataclass(frozen=True)
class Alarm:
    """A case that said more than a legal device deserves."""

    case: str
    outcome: Outcome
    message: str


@dataclass(frozen=True)
class Survey:
    """What came of running cases on one legal device with one seed."""

    name: str
    seed: int
    cases: int
    examples: int
    seconds: float
    worst: Outcome
    """The worst outcome of all cases."""
    alarms: tuple[Alarm, ...] = ()

    def record(self) -> dict[str, Any]:
        """The survey as JSON data."""
        return {
            "name": self.name,
            "seed": self.seed,
            "cases": self.cases,
            "examples": self.examples,
            "seconds": round(self.seconds, 3),
            "worst": str(self.worst),
            "alarms": [
                {"case": it.case, "outcome": str(it.outcome), "message": it.message}
                for it in self.alarms
            ],
        }


_INTEGERS = re.compile(r"[su]int\d")


def _has_floats(case: str) -> bool:
    """Whether the types that an id names, if it names any, aren't all integers."""
    return "float" in case or not _INTEGERS.search(case)


def concerns(area: Area, case: str) -> bool:
    """Whether the case with this id may see a choice of ``area``."""
    matrix = case.startswith("cooperative_matrix.")
    section = case.split(".")[1]
    match area:
        case Area.SUMS:
            elsewhere = section in ("properties", "load_store", "components")
            return matrix and not elsewhere and ".integer." not in case and _has_floats(case)
        case Area.LOADS:
            return matrix and section != "properties" and _has_floats(case)
        case Area.COMPONENTS:
            return matrix and section not in ("properties", "load_store", "mul_add")
        case Area.ROBUST:
            return matrix and ".robust." in case
        case Area.LISTS:
            return section in ("properties", "execution", "records") or not matrix
        case Area.CONVERSIONS:
            return case.startswith("cooperative_vector.conversion.")
        case Area.VECTORS:
            return case.startswith("cooperative_vector.") and section != "properties"
        case Area.EVERYTHING:
            return True


def concerned(name: str, cases: Sequence[Case]) -> list[Case]:
    """The cases that may see what the legal device called ``name`` does. KeyError where there
    is none."""
    area = LEGAL[name].area
    return [case for case in cases if concerns(area, case.id)]


def survey(name: str, cases: Sequence[Case], profile: Profile, seed: int) -> Survey:
    """Run ``cases`` on the legal device called ``name``. KeyError where there is none."""
    legal = LEGAL[name]
    device = legal.device()
    start, examples, worst = time.perf_counter(), 0, Outcome.PASS
    alarms = []
    for case in cases:
        result = run_case(case, device, profile, seed)
        examples += result.tally.examples
        worst = result.outcome if worse(result.outcome, worst) else worst
        if worse(result.outcome, legal.worst) and result.outcome is not Outcome.NOT_SUPPORTED:
            alarms.append(Alarm(case.id, result.outcome, result.reason))
    seconds = time.perf_counter() - start
    return Survey(name, seed, len(cases), examples, seconds, worst, tuple(alarms))


def survey_part(name: str, ids: Sequence[str], profile: Profile, seed: int) -> Survey:
    """:func:`survey` of the suite's cases with these ids, for another process."""
    wanted = frozenset(ids)
    return survey(name, [case for case in all_cases() if case.id in wanted], profile, seed)


def joined(parts: Sequence[Survey]) -> list[Survey]:
    """Surveys of parts of the cases, put together by device and seed in order of appearance."""
    found: dict[tuple[str, int], Survey] = {}
    for part in parts:
        key = (part.name, part.seed)
        before = found.get(key)
        if before is None:
            found[key] = part
            continue
        found[key] = Survey(
            part.name,
            part.seed,
            before.cases + part.cases,
            before.examples + part.examples,
            before.seconds + part.seconds,
            part.worst if worse(part.worst, before.worst) else before.worst,
            before.alarms + part.alarms,
        )
    return list(found.values())
