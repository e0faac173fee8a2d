"""Every declaration of cases sees a planted fault: a case that can't fail shows nothing.

What the kill table's own lines show is ``coopcts mutants``' to check; here are the declarations
that it leaves out.
"""

from __future__ import annotations

from itertools import chain

import pytest

from cts.case import Declaration
from cts.killers import MUTANTS, SIGHTS, declarations
from cts.mutants import all_cases, try_mutant
from cts.outcome import Level, Outcome
from cts.profiles import PROFILES

DUE = {
    Level.REQUIRED: Outcome.FAIL,
    Level.POLICY: Outcome.POLICY,
    Level.QUALITY: Outcome.QUALITY_WARNING,
}
"""What a case of each level says of a fault. Those that only inform say nothing."""

DECLARED: dict[str, Declaration] = {case.declaration.id: case.declaration for case in all_cases()}
OF_THE_TABLE = frozenset(
    chain.from_iterable(
        found
        for aim in MUTANTS.values()
        if len(found := declarations(aim, all_cases())) == 1  # else another's case may be the kill
    )
)


@pytest.mark.parametrize("query", SIGHTS)
def test_a_declaration_sees_a_fault(query: str) -> None:
    name, aim = SIGHTS[query]
    trial = try_mutant(name, "reference", PROFILES["default"], 1, all_cases(), aim=aim)
    assert trial.killed_by and not trial.trouble, trial


@pytest.mark.parametrize("query", SIGHTS)
def test_a_line_is_of_one_declaration(query: str) -> None:
    _, aim = SIGHTS[query]
    (found,) = declarations(aim, all_cases())
    assert found not in OF_THE_TABLE
    assert aim.least is DUE[DECLARED[found].level]


def test_no_declaration_is_left_out() -> None:
    due = {name for name, it in DECLARED.items() if it.level in DUE}
    here = chain.from_iterable(declarations(aim, all_cases()) for _, aim in SIGHTS.values())
    assert due == OF_THE_TABLE.union(here)
