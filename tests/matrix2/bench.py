"""Runs one case of the extensions on cooperative matrices on a device in this process."""

from __future__ import annotations

from cts.case import Case
from cts.collect import collect
from cts.device.protocol import Device
from cts.profiles import Profile
from cts.run import CaseResult, run_case
from reference import mutants
from reference.device import ReferenceDevice

CASES: dict[str, Case] = {
    case.id: case for case in collect() if case.id.startswith("cooperative_matrix.")
}
BRIEF = Profile("brief", 100, "tests")


def run(case_id: str, device: Device, profile: Profile = BRIEF, seed: int = 1) -> CaseResult:
    """Run one case; its result."""
    return run_case(CASES["cooperative_matrix." + case_id], device, profile, seed)


def mutant(name: str) -> Device:
    """The reference device with a planted fault."""
    return mutants.wrap(name, ReferenceDevice())
