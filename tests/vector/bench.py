"""Runs one case on the reference device, or on a device made of it."""

from __future__ import annotations

from cts.case import Case
from cts.collect import collect
from cts.device.protocol import Convert, Device, Reply, Request
from cts.profiles import Profile
from cts.run import CaseResult, run_case
from reference import mutants, vector_info
from reference.device import ReferenceDevice
from reference.device_convert import Converter

CASES: dict[str, Case] = {
    case.id: case for case in collect() if case.id.startswith("cooperative_vector.")
}
BRIEF = Profile("brief", 30, "tests")


class Converting(ReferenceDevice):
    """The reference device with another converter."""

    def __init__(self, converter: type[Converter]) -> None:
        super().__init__()
        self._converter = converter(vector_info.MATRICES)

    def execute(self, request: Request) -> Reply:
        if isinstance(request, Convert):
            return self._converter.run(request)
        return super().execute(request)


def run(case_id: str, device: Device, profile: Profile = BRIEF) -> CaseResult:
    """Run one case; its result."""
    return run_case(CASES[case_id], device, profile, 1)


def mutant(name: str) -> Device:
    """The reference device with a planted fault."""
    return mutants.wrap(name, ReferenceDevice())


def ids(prefix: str) -> list[str]:
    """The ids of the cases that begin so."""
    return [name for name in CASES if name.startswith("cooperative_vector." + prefix)]
