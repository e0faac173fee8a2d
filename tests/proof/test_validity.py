"""What the strategies of the cases generate is valid SPIR-V, by the published validator.

Modules with capabilities that the installed version doesn't know are shown to a newer one.
"""

from __future__ import annotations

import re

import pytest

from cts.case import Case
from cts.device.debian import FetchError
from cts.device.protocol import Dispatch, Reply, Request
from cts.mutants import all_cases
from cts.profiles import Profile
from cts.run import run_case
from cts.spirv import newest
from cts.spirv.tools import validate
from reference.device import ReferenceDevice

FEW = Profile("few", 3, "tests", modules=3)
OF_EACH = 3
"""Cases of each declaration: the first, one from the middle, the last."""

ACCEPTED = {
    "Cooperative matrix type must be A Type": "versions up to 2026.4 take a Use that is a "
    "specialization constant for a wrong one; the specialised module is validated by the tests of "
    "the lowering",
}
"""Complaints that are wrong, by a part of their text, and why."""

UNKNOWN = re.compile(
    r"Invalid capability operand: \d+"
    r"|Capability \w+ is not allowed by Vulkan [\d.]+ specification \(or requires extension\)"
)
"""What a validator says of a capability, or of an extension with one that it knows from another
extension, that is newer than itself."""


class Recorder:
    """Keeps the modules of all requests on their way to the reference device."""

    def __init__(self) -> None:
        self._device = ReferenceDevice()
        self.info = self._device.info
        self.modules: dict[bytes, None] = {}

    def execute(self, request: Request) -> Reply:
        """Keep the module, and run the request."""
        if isinstance(request, Dispatch):
            self.modules.setdefault(request.words)
            companions = () if request.staging is None else request.staging.companions
            for module in companions:
                self.modules.setdefault(module.words)
        return self._device.execute(request)

    def close(self) -> None:
        """Nothing to give back."""


def representatives() -> list[Case]:
    kinds: dict[str, list[Case]] = {}
    for case in all_cases():
        kinds.setdefault(case.declaration.id, []).append(case)
    return [
        cases[place]
        for cases in kinds.values()
        for place in sorted({0, len(cases) // 2, len(cases) - 1})[:OF_EACH]
    ]


@pytest.mark.parametrize("case", representatives(), ids=lambda it: it.id)
def test_modules_are_valid(case: Case) -> None:
    device = Recorder()
    result = run_case(case, device, FEW, 1)
    assert result.outcome != "error", result.trace
    unseen = ""
    for words in device.modules:
        complaint = validate(words)
        if complaint is not None and UNKNOWN.search(complaint):
            try:
                complaint = newest.validate(words)
            except FetchError as error:
                unseen, complaint = f"{complaint}; {error}", None
        if complaint is not None and not any(part in complaint for part in ACCEPTED):
            raise AssertionError(complaint)
    if unseen:
        pytest.skip(unseen)
