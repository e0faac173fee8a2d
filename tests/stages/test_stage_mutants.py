"""A fault of one stage is found by the case of that stage, and by no case of another."""

from __future__ import annotations

import pytest

from cts.case import Case
from cts.collect import collect
from cts.killers import MUTANTS as TARGETS
from cts.outcome import Outcome
from cts.profiles import Profile
from cts.run import run_case
from reference.device import ReferenceDevice
from reference.mutants import stages

ROOT = "cooperative_vector.stages."
CASES: dict[str, Case] = {case.id: case for case in collect() if case.id.startswith(ROOT)}
BRIEF = Profile("brief", 20, "tests", shrink=False, target=False)
FINDINGS = (Outcome.FAIL, Outcome.POLICY, Outcome.QUALITY_WARNING)


@pytest.mark.parametrize("mutant", stages.MUTANTS, ids=lambda it: it.name)
def test_a_fault_of_a_stage_is_found(mutant: stages.Mutant) -> None:
    aim = TARGETS[mutant.name]
    (name,) = aim.cases
    result = run_case(CASES[name], mutant.wrap(ReferenceDevice()), BRIEF, 1, aim.floor)
    assert aim.kills(result.outcome), result.reason


def test_a_fault_of_a_stage_is_none_of_another() -> None:
    device = stages.MUTANTS[0].wrap(ReferenceDevice())
    result = run_case(CASES[ROOT + "memory.fragment"], device, BRIEF, 1, Outcome.QUALITY_WARNING)
    assert result.outcome is Outcome.PASS


def test_every_stage_has_its_cases() -> None:
    for what in ("product", "own_matrix", "divergent", "network", "memory"):
        found = [name for name in CASES if name.startswith(f"{ROOT}{what}.")]
        assert len(found) == 14
