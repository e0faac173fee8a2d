"""Which cases could see which planted fault, and what counts as seeing it.

A fault that breaks a rule of the specification is killed by a failure (or a crash, a time-out, a
lost device), and a fault that only breaks the suite's policy by a policy finding. The cases are
the likeliest ones, so that a kill takes seconds; a mutant that none of them kills is alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cts.case import Case, matches
from cts.kill_table import CASES
from cts.kill_table_rest import FAULTS
from cts.outcome import Outcome, worse
from reference.mutants.base import Mutant


@dataclass(frozen=True)
class Target:
    """Queries for the cases to try, in this order; the least outcome that is a kill; and, for a
    mutant that no valid test can see, why."""

    cases: tuple[str, ...]
    least: Outcome = Outcome.FAIL
    alive: str = ""

    @property
    def floor(self) -> Outcome:
        """The least outcome that ends the running of a case."""
        return Outcome.FAIL if worse(self.least, Outcome.POLICY) else self.least

    def kills(self, outcome: Outcome) -> bool:
        """Whether a case that ended so has seen the fault."""
        if outcome in (Outcome.ERROR, Outcome.NOT_RUN):
            return False
        return not worse(self.least, outcome)

    def select(self, cases: Sequence[Case]) -> list[Case]:
        """The cases to try, in the order to try them, each once."""
        found: dict[str, Case] = {}
        for query in self.cases:
            for case in cases:
                if matches(case.id, query):
                    found.setdefault(case.id, case)
        return list(found.values())


_LEAST = {
    "policy": Outcome.POLICY,
    "quality": Outcome.QUALITY_WARNING,
    "flaky": Outcome.FLAKY,
}


def _target(line: str) -> Target:
    level, colon, queries = line.rpartition(": ")
    least = _LEAST[level] if colon else Outcome.FAIL
    return Target(tuple(f"cooperative_{query}" for query in queries.split()), least)


def _sight(query: str, line: str) -> tuple[str, Target]:
    level, colon, name = line.rpartition(": ")
    return name, _target(f"{level}{colon}{query}")


MUTANTS: Mapping[str, Target] = {name: _target(line) for name, line in CASES.items()}

SIGHTS: Mapping[str, tuple[str, Target]] = {
    query: _sight(query, line) for query, line in FAULTS.items()
}
"""By query: the name of a fault, and where to look for it, for the rest of the declarations."""


def target(mutant: Mutant) -> Target:
    """Where to look for a fault. KeyError for one that has no line in the table."""
    return MUTANTS[mutant.name]


def declarations(aim: Target, cases: Sequence[Case]) -> frozenset[str]:
    """The ids of the declarations whose cases a target selects."""
    return frozenset(case.declaration.id for case in aim.select(cases))


def sample(mutants: Iterable[Mutant], share: int) -> list[Mutant]:
    """Every ``share``-th mutant of each class, beginning with the first: always the same ones,
    and at least one of each class."""
    kinds: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        kinds.setdefault(mutant.fault_class, []).append(mutant)
    return [mutant for kind in kinds.values() for mutant in kind[::share]]
