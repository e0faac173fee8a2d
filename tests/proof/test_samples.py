"""A sample of the kill matrix and of the legal devices; ``coopcts mutants`` has them whole."""

from __future__ import annotations

import pytest

from cts.case import matches
from cts.kill_table import CASES
from cts.killers import MUTANTS as TARGETS
from cts.killers import sample
from cts.legal import concerned, survey
from cts.mutants import all_cases, try_mutant
from cts.outcome import Outcome
from cts.profiles import PROFILES
from reference.legal import LEGAL
from reference.mutants import MUTANTS
from reference.mutants.base import Mutant

SHARE = 5
"""One mutant in so many of each class is tried here."""
CASES_OF_EACH = 6
"""So many cases run on each legal device, besides those that it doesn't support."""
STEP = 37
"""From one of them to the next."""


@pytest.mark.parametrize("mutant", sample(MUTANTS.values(), SHARE), ids=lambda it: it.name)
def test_a_planted_fault_is_seen(mutant: Mutant) -> None:
    trial = try_mutant(mutant.name, "reference", PROFILES["default"], 1, all_cases())
    assert trial.as_expected, trial


@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_device_is_not_accused(name: str) -> None:
    cases = concerned(name, all_cases())
    first = list(LEGAL).index(name)  # another part of the suite for each device
    tried = 0
    for case in cases[first::STEP] + cases[:first]:
        found = survey(name, [case], PROFILES["smoke"], 1)
        assert not found.alarms, found.alarms[0]
        tried += found.examples > 0
        if tried == CASES_OF_EACH:
            return
    raise AssertionError(f"only {tried} cases ran any example")


def test_there_is_a_line_for_every_fault() -> None:
    assert set(CASES) == set(MUTANTS)
    assert len(MUTANTS) >= 80


@pytest.mark.parametrize("name", CASES)
def test_a_line_names_cases(name: str) -> None:
    for query in TARGETS[name].cases:
        assert any(matches(case.id, query) for case in all_cases()), query


def test_no_legal_device_may_fail() -> None:
    assert len(LEGAL) >= 20
    for legal in LEGAL.values():
        assert legal.worst in (Outcome.QUALITY_WARNING, Outcome.POLICY)
        assert legal.freedom.endswith(".") and legal.source
