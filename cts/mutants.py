"""The kill matrix: which planted faults the cases find, and what that takes.

Every mutant is tried on the cases that could see its fault (:mod:`cts.killers`) until one does.
Nothing is minimised, because only the first kill counts.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeVar

from cts.case import Case
from cts.killers import Target, target
from cts.opening import open_device
from cts.outcome import Outcome
from cts.profiles import Profile
from cts.run import run_case


@dataclass(frozen=True)
class Trial:
    """What came of one mutant."""

    name: str
    fault_class: str
    doc: str
    killed_by: tuple[str, ...] = ()
    """Ids of the cases that saw the fault: the first one only, unless all were asked for."""
    outcome: Outcome = Outcome.PASS
    """Of the first of them."""
    message: str = ""
    """What the first of them said."""
    cases: int = 0
    """Cases run until the end of the trial."""
    examples: int = 0
    """Examples run until the first kill, or to the end."""
    seconds: float = 0.0
    """Time to the first kill, or to the end."""
    reason: str = ""
    """Why no valid test can see the fault, where that is so."""
    trouble: str = ""
    """The suite's own error."""

    @property
    def as_expected(self) -> bool:
        """Whether the fault was found, or is accepted alive and was not."""
        return not self.trouble and bool(self.killed_by) != bool(self.reason)

    def record(self) -> dict[str, Any]:
        """The trial as an element of ``mutants`` in the stored matrix."""
        return {
            "name": self.name,
            "class": self.fault_class,
            "fault": self.doc,
            "killed_by": list(self.killed_by),
            "outcome": str(self.outcome),
            "message": self.message,
            "cases": self.cases,
            "examples": self.examples,
            "seconds": round(self.seconds, 3),
            "reason": self.reason,
            "trouble": self.trouble,
        }


def try_mutant(
    name: str,
    against: str,
    profile: Profile,
    seed: int,
    cases: Sequence[Case],
    every: bool = False,
    aim: Target | None = None,
) -> Trial:
    """Run the cases that could see the fault called ``name``, planted in the device ``against``,
    until one does; with ``every`` run them all. ``aim`` says which, if not the kill table.

    KeyError for a mutant that doesn't exist; DeviceError where there is no such device.
    """
    from reference.mutants import MUTANTS

    mutant = MUTANTS[name]
    aim = aim or target(mutant)
    brief = dataclasses.replace(profile, shrink=False, target=False)
    trial = Trial(name, mutant.fault_class, " ".join(mutant.doc.split()), reason=aim.alive)
    device = open_device(f"mutant:{name}@{against}")
    start = time.perf_counter()
    killers: list[str] = []
    try:
        for case in aim.select(cases):
            result = run_case(case, device, brief, seed, aim.floor)
            trial = dataclasses.replace(trial, cases=trial.cases + 1)
            if not killers:
                trial = dataclasses.replace(
                    trial,
                    examples=trial.examples + result.tally.examples,
                    seconds=time.perf_counter() - start,
                )
            if result.outcome is Outcome.ERROR:
                return dataclasses.replace(trial, trouble=f"{case.id}: {result.reason}")
            if aim.kills(result.outcome):
                if not killers:
                    trial = dataclasses.replace(
                        trial, outcome=result.outcome, message=result.reason
                    )
                killers.append(case.id)
                if not every:
                    break
    finally:
        device.close()
    return dataclasses.replace(trial, killed_by=tuple(killers))


def matrix(trials: Sequence[Trial], **facts: object) -> dict[str, Any]:
    """The kill matrix as JSON data; ``facts`` say how it came about."""
    times = sorted(trial.seconds for trial in trials if trial.killed_by)
    return {
        **facts,
        "killed": sum(bool(trial.killed_by) for trial in trials),
        "alive": sum(not trial.killed_by for trial in trials),
        "median_seconds": times[len(times) // 2] if times else 0.0,
        "mutants": [trial.record() for trial in trials],
    }


# --- in parallel ----------------------------------------------------------------------------

_Result = TypeVar("_Result")


@functools.cache
def all_cases() -> tuple[Case, ...]:
    """Every case of the suite, collected once in each process."""
    from cts.collect import collect

    return tuple(collect())


@contextmanager
def pool(workers: int) -> Iterator[Executor]:
    """Processes that have collected the cases."""
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=all_cases) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def in_parallel(
    function: Callable[..., _Result], jobs: Sequence[tuple[Any, ...]], workers: int
) -> Iterator[_Result]:
    """The result of each job (the arguments of ``function``), in the order they are done."""
    if workers <= 1:
        yield from (function(*job) for job in jobs)
        return
    with pool(workers) as executor:
        for future in as_completed([executor.submit(function, *job) for job in jobs]):
            yield future.result()


def try_named(name: str, against: str, profile: Profile, seed: int, every: bool) -> Trial:
    """:func:`try_mutant` on the suite's own cases, for another process."""
    return try_mutant(name, against, profile, seed, all_cases(), every)
