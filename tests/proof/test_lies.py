"""A device that lists nonsense fails the cases about the lists, and no case fails for it: a
driver's lie isn't the suite's error."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import pytest

from cts.case import Case
from cts.device.protocol import Device, DeviceInfo
from cts.mutants import all_cases
from cts.outcome import Outcome
from cts.profiles import Profile
from cts.program.model import Component, Scope
from cts.program.records import FLEXIBLE, KHR, NV, VECTOR
from cts.run import run_case
from reference import mutants
from reference.device import ReferenceDevice
from reference.mutants.base import Fault, Mutant

BRIEF = Profile("brief", 3, "tests", 1, shrink=False)
PACKED, UNKNOWN, HUGE = int(Component.SINT8_PACKED), 999, 1 << 31
ENDS = ("Type", "Interpretation")
HONEST: Mapping[str, int] = {}
SIZES = ({"MSize": 0}, {"KSize": 0}, {"NSize": HUGE}, {"scope": 77}, {"AType": UNKNOWN})
TYPES = ({"BType": PACKED}, {"CType": int(Component.UINT8)}, {"AType": int(Component.FLOAT16)})
CHANGES: Mapping[str, tuple[Mapping[str, int], ...]] = {
    KHR: (*SIZES, *TYPES, {"ResultType": UNKNOWN}, {"saturatingAccumulation": 1}, HONEST),
    NV: (*SIZES, *TYPES, {"DType": PACKED}, {"scope": 0}, HONEST),
    FLEXIBLE: (
        {"MGranularity": 0},
        {"KGranularity": 0},
        {"NGranularity": HUGE},
        {"workgroupInvocations": 33, "scope": int(Scope.WORKGROUP)},
        {"saturatingAccumulation": 1},
        *TYPES,
        HONEST,
    ),
    VECTOR: (
        {"inputType": UNKNOWN},
        {"matrixInterpretation": PACKED},
        {"biasInterpretation": int(Component.FLOAT16)},
        {"resultType": int(Component.UINT8)},
        {"inputInterpretation": int(Component.FLOAT64)},
        HONEST,
    ),
}
"""What records say instead of the truth, one after the other."""
LIMITS = {
    "VkPhysicalDeviceCooperativeVectorPropertiesNV.maxCooperativeVectorComponents": 0,
    "VkPhysicalDeviceCooperativeMatrix2PropertiesNV."
    "cooperativeMatrixFlexibleDimensionsMaxDimension": 0xFFFFFFFF,
}


class Lists(Fault):
    """Most records of each list are nonsense."""

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """The lists with the lies."""
        lists = {
            command: tuple(
                {**record, **CHANGES[command][index % len(CHANGES[command])]}
                for index, record in enumerate(records)
            )
            for command, records in info.records.items()
            if command in CHANGES
        }
        return dataclasses.replace(info, records={**info.records, **lists})


class Limits(Fault):
    """Vectors have no component, and dimensions no limit."""

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """The properties with the lies."""
        return dataclasses.replace(info, properties={**info.properties, **LIMITS})


class Nothing(Fault):
    """All records of all lists are of packed types."""

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """The lists without any truth."""
        lists = {
            command: tuple(
                {name: PACKED if name.endswith(ENDS) else it for name, it in record.items()}
                for record in records
            )
            for command, records in info.records.items()
        }
        return dataclasses.replace(info, records=lists)


def lying(fault: type[Fault]) -> Device:
    """The reference device with lies."""
    return Mutant("lies", "property queries", fault.__doc__ or "", fault).wrap(ReferenceDevice())


def planted(name: str) -> Device:
    """The reference device with a planted fault."""
    return mutants.wrap(name, ReferenceDevice())


def _errors(device: Device, cases: Iterable[Case]) -> dict[str, str]:
    results = [run_case(case, device, BRIEF, 1) for case in cases]
    return {it.case.id: it.reason for it in results if it.outcome is Outcome.ERROR}


def _one_of_each() -> list[Case]:
    """A case of each declaration."""
    return list({case.declaration.id: case for case in all_cases()}.values())


@pytest.mark.parametrize("fault", [Lists, Limits, Nothing])
def test_no_case_takes_a_lie_for_its_own_error(fault: type[Fault]) -> None:
    assert not _errors(lying(fault), _one_of_each())


def test_floats_that_saturate_are_no_error_of_the_cases_that_use_the_list() -> None:
    use = [case for case in all_cases() if ".maintenance1.usable." in case.id]
    assert not _errors(planted("properties2_flags_ignored"), use)


ABOUT = {
    "cooperative_matrix.maintenance1.saturation": ("properties2_flags_ignored", Outcome.POLICY),
    "cooperative_matrix.properties.values.khr": ("unknown_component_type", Outcome.FAIL),
    "cooperative_vector.properties.packed": ("packed_matrix_interpretation", Outcome.FAIL),
}


@pytest.mark.parametrize("case_id", ABOUT)
def test_the_case_about_it_says_so(case_id: str) -> None:
    name, outcome = ABOUT[case_id]
    (case,) = (it for it in all_cases() if it.id == case_id)
    assert run_case(case, planted(name), BRIEF, 1).outcome is outcome


def test_what_is_left_out_is_counted() -> None:
    (case,) = (
        it
        for it in all_cases()
        if it.id == "cooperative_matrix.maintenance1.usable.every_record.subgroup"
    )
    result = run_case(case, planted("properties2_flags_ignored"), BRIEF, 1)
    assert result.outcome is Outcome.PASS
    assert any("saturating" in text for text in result.tally.distribution["left out"])
