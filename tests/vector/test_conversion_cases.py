"""The conversion cases pass on the reference device and on other legal ones, and each faulty
converter is caught by the case that is about its fault."""

from __future__ import annotations

import dataclasses

import pytest

from cts.outcome import Outcome
from cts.profiles import Profile
from reference.device import ReferenceDevice
from reference.device_convert import Converter
from reference.mutants import convert_memory, convert_values
from tests.vector.bench import BRIEF, Converting, ids, mutant, run
from tests.vector.legal import LEGAL

QUICK = Profile("quick", 4, "tests")
C = "cooperative_vector.conversion."


@pytest.mark.parametrize("converter", LEGAL, ids=lambda one: one.__name__)
def test_other_legal_devices_pass(converter: type[Converter]) -> None:
    # Every fifth case reaches each kind of case and each type and layout somewhere.
    for case_id in ids("conversion.")[::5]:
        result = run(case_id, Converting(converter), QUICK)
        assert result.outcome in (Outcome.PASS, Outcome.NOT_SUPPORTED), (case_id, result.reason)


KILLED = {
    "convert_size_off_by_a_row": ("strided_size.float16.row_major", Outcome.FAIL),
    "convert_size_from_source": (
        "size_depends_on_destination.float16.training_optimal",
        Outcome.FAIL,
    ),
    "convert_size_from_ignored_stride": (
        "size_depends_on_destination.float32.inferencing_optimal",
        Outcome.FAIL,
    ),
    "convert_null_source_refused": ("size_query.sint8.training_optimal", Outcome.FAIL),
    "convert_success_when_too_small": ("too_small.training_optimal", Outcome.POLICY),
    "convert_capacity_as_written": ("written.float16.row_major", Outcome.FAIL),
    "convert_column_as_row": ("positions.float32.column_major-row_major", Outcome.FAIL),
    "convert_both_sides_transposed": ("positions.float32.row_major-column_major", Outcome.FAIL),
    "convert_stride_ignored": ("positions.uint8.row_major-row_major", Outcome.FAIL),
    "convert_padding_overwritten": ("padding.float16.column_major", Outcome.POLICY),
    "convert_tight_refused": ("tight.float16.row_major-row_major", Outcome.POLICY),
    "convert_guard_written": ("written.sint8.inferencing_optimal", Outcome.FAIL),
    "convert_last_row_dropped": (
        "layouts.float16.row_major-training_optimal",
        Outcome.FAIL,
    ),
    "convert_columns_wrap": ("large.float16.training_optimal", Outcome.FAIL),
    "convert_host_address_aligned": ("host_pointers.float32.training_optimal", Outcome.FAIL),
    "convert_second_ignored": ("several.float16", Outcome.FAIL),
    "rounds_toward_zero": ("tables.float16-float8_e4m3.host", Outcome.FAIL),
    "rounds_half_away": ("tables.float16-float8_e5m2.device", Outcome.FAIL),
    "convert_double_rounding": ("tables.float32-float8_e4m3.host", Outcome.FAIL),
    "convert_subnormals_flushed": ("rounding.float32-float8_e5m2", Outcome.FAIL),
    "convert_nan_lost": ("overflow.float16-float8_e4m3", Outcome.POLICY),
    "convert_zero_sign_lost": (
        "zero_sign.float32-float32.training_optimal",
        Outcome.QUALITY_WARNING,
    ),
    "convert_payload_lost": ("payload.float16.training_optimal", Outcome.QUALITY_WARNING),
    "convert_low_bits_ignored": ("layouts.float32.row_major-row_major", Outcome.FAIL),
    "convert_odd_elements_truncated": ("rounding.float16-float8_e4m3", Outcome.FAIL),
    "convert_words_cut": ("other_types", Outcome.FAIL),
    "convert_host_saturates": ("host_and_device.float32-float16.row_major", Outcome.POLICY),
    "convert_not_seen_by_shader": ("shader_use.training_optimal", Outcome.FAIL),
    "convert_host_order": ("interchange.float16.training_optimal", Outcome.FAIL),
}


@pytest.mark.parametrize("name", KILLED)
def test_a_faulty_converter_is_caught(name: str) -> None:
    case_id, outcome = KILLED[name]
    result = run(C + case_id, mutant(name), dataclasses.replace(BRIEF, examples=100))
    assert result.outcome is outcome, (result.outcome, result.reason, result.trace)


def test_every_faulty_converter_has_a_test() -> None:
    faulty = {it.name for it in (*convert_memory.MUTANTS, *convert_values.MUTANTS)}
    assert faulty <= set(KILLED)


def test_a_lost_sign_of_zero_is_minimised_to_one_element() -> None:
    result = run(
        C + "zero_sign.float32-float32.inferencing_optimal", mutant("convert_zero_sign_lost")
    )
    (found,) = result.found
    assert "1x1 float32" in found.message
    assert "is 0 instead of -0" in found.message


def test_chains_catch_what_only_mixing_commands_shows() -> None:
    result = run(
        C + "chains", mutant("convert_host_order"), dataclasses.replace(BRIEF, examples=150)
    )
    assert result.outcome is Outcome.FAIL


def test_a_device_without_the_extension_is_not_supported_at_once() -> None:
    device = ReferenceDevice()
    device._info = dataclasses.replace(device.info, extensions={})
    for case_id in ids("conversion."):
        result = run(case_id, device)
        assert result.outcome is Outcome.NOT_SUPPORTED
        assert "VK_NV_cooperative_vector" in result.reason


LIES = (
    "convert_size_off_by_a_row",
    "convert_size_from_source",
    "convert_null_source_refused",
    "convert_capacity_as_written",
)
FIRST = list({name.split(".")[2]: name for name in reversed(ids("conversion."))}.values())
"""A case of each declaration."""


@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_size_is_the_devices_fault_and_never_the_suites(lie: str) -> None:
    # A case that goes on with such a size asks what nobody may ask, and ends as an error.
    outcomes = {name: run(name, mutant(lie), QUICK).outcome for name in FIRST}
    assert Outcome.ERROR not in outcomes.values(), outcomes
    assert Outcome.FAIL in outcomes.values()


def test_a_fixed_case_ends_at_a_wrong_size() -> None:
    result = run(C + "overflow_choice.float32-float16", mutant("convert_null_source_refused"))
    (found,) = result.found
    assert result.outcome is Outcome.FAIL and "a size query gave VkResult" in found.message


def test_a_finding_tells_what_became_of_the_element_from_its_beginning() -> None:
    result = run(C + "rounding.float32-float8_e4m3", mutant("convert_double_rounding"))
    (found,) = result.found
    worst, why = found.finding.detail["worst"], found.finding.detail["explanation"]
    assert worst["component"] == "float16" and worst["actual"] != worst["accepted"]
    steps = why.split(". ")  # the rule asks for the same number twice
    assert steps[0].startswith("The element began as float32 ")
    assert "float32 " in steps[1] and "-> float8_e4m3 " in steps[1]
    assert "float8_e4m3 " in steps[2] and "-> float16 " in steps[2]
    assert all(f"has to make {worst['accepted']} of it" in step for step in steps[1:3])
    assert steps[3].startswith("Any of them may be wrong")
