"""Every kind of vector program becomes a module that the published validator accepts."""

from __future__ import annotations

import dataclasses

import pytest

from cts.program.codec import from_json, to_json
from cts.program.requires import requirements
from cts.program.types import Numbers
from cts.program.vector import Index
from cts.spirv.tools import disassemble, validate
from cts.spirv.vector import lower_vector
from tests.vector.examples import EXAMPLES, SPREADS, product, training


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_module_is_valid(name: str) -> None:
    assert validate(lower_vector(EXAMPLES[name]).words) is None


def test_what_a_module_needs_follows_from_what_it_does() -> None:
    plain = requirements(lower_vector(product()))
    feature = "VkPhysicalDeviceCooperativeVectorFeaturesNV."
    assert "VK_NV_cooperative_vector" in plain.extensions
    assert feature + "cooperativeVector" in plain.features
    assert feature + "cooperativeVectorTraining" not in plain.features
    assert feature + "cooperativeVectorTraining" in requirements(lower_vector(training())).features
    assert not any("computeFullSubgroups" in name for name in plain.features)


def test_the_module_is_spirv_1_6_with_the_vulkan_memory_model() -> None:
    text = disassemble(lower_vector(product()).words)
    assert text is not None
    assert "Version: 1.6" in text
    assert "OpMemoryModel Logical Vulkan" in text
    assert "OpCooperativeVectorMatrixMulAddNV" in text


def test_offsets_in_a_buffer_leave_the_words_alone() -> None:
    first, second = product(at=Index(64)), product(at=Index(128))
    assert lower_vector(first).words == lower_vector(second).words
    assert lower_vector(first).parameters != lower_vector(second).parameters
    literal = [dataclasses.replace(p, numbers=Numbers.LITERAL) for p in (first, second)]
    assert lower_vector(literal[0]).words != lower_vector(literal[1]).words


def test_tables_leave_the_words_alone() -> None:
    spread = SPREADS[4]
    other = dataclasses.replace(spread, table=spread.table[::-1])
    first, second = lower_vector(product(at=spread)), lower_vector(product(at=other))
    assert first.words == second.words
    assert first.parameters != second.parameters


def test_a_table_of_the_wrong_length_is_refused() -> None:
    short = dataclasses.replace(SPREADS[4], table=(1, 2, 3))
    with pytest.raises(ValueError, match="3 for 10 invocations"):
        lower_vector(product(at=short))


@pytest.mark.parametrize("name", EXAMPLES)
def test_programs_survive_being_written_as_json(name: str) -> None:
    assert from_json(to_json(EXAMPLES[name])) == EXAMPLES[name]
