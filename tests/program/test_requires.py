"""Capabilities lead to the features and extensions that the registry says."""

from __future__ import annotations

import dataclasses

import pytest
from vulkan_object import get_vulkan_object

from cts.program.requires import (
    CAPABILITIES,
    FLEXIBLE_DIMENSIONS,
    NEEDS,
    Need,
    Requires,
    combine,
    missing,
    requirements,
)
from cts.spirv import core, extended, stage_opcodes, vector_opcodes
from cts.spirv.lower import lower
from cts.spirv.opcodes import Capability
from tests.program.devices import INFO, without
from tests.spirv.everything import PROGRAMS, product


@pytest.fixture(scope="module")
def registry():  # type: ignore[no-untyped-def]
    return get_vulkan_object()


def test_every_capability_of_the_builder_has_a_row() -> None:
    known = {
        capability.name
        for capability in (
            *Capability,
            *core.Capability,
            *extended.Capability,
            *vector_opcodes.Capability,
            *stage_opcodes.Capability,
        )
    }
    assert set(CAPABILITIES) == known


def test_every_need_that_lowering_states_has_a_row() -> None:
    stated = {name for program in PROGRAMS for name in lower(program).needs}
    assert stated == set(NEEDS) - MATRIX2_NEEDS - ROBUST_NEEDS


ROBUST_NEEDS = {"RobustBufferAccess", "RobustMatrixAccess", "RobustFirstMatrixAccess"}
MATRIX2_NEEDS = {
    grant.need
    for table in (extended.REDUCTIONS, extended.CONVERSIONS, extended.PER_ELEMENT)
    for grant in table.values()
} | {
    grant.need
    for grant in (
        *extended.TENSORS,
        extended.COORDINATE,
        extended.BLOCK_LOADS,
        extended.DECODE_VECTOR,
        extended.LONG_VECTOR,
        extended.QCOM,
    )
}
"""Needs of the extensions on cooperative matrices, whose programs have tests of their own."""


@pytest.mark.parametrize("name", sorted(capability.name for capability in Capability))
def test_rows_agree_with_the_registry(registry, name: str) -> None:  # type: ignore[no-untyped-def]
    need = CAPABILITIES[name]
    (entry,) = (it for it in registry.spirv if it.name == name and it.capability)
    allowed = {
        f"{state.struct}.{state.feature}" for state in entry.enable if state.struct is not None
    }
    free = any(state.struct is None for state in entry.enable)
    assert need.feature in allowed or (need.feature is None and free)
    if need.feature is not None and need.extension is not None:
        structure = registry.structs[need.feature.split(".")[0]]
        assert structure.extensions == [need.extension]


@pytest.mark.parametrize("need", [*NEEDS.values(), FLEXIBLE_DIMENSIONS])
def test_needs_name_members_of_the_registry(registry, need: Need) -> None:  # type: ignore[no-untyped-def]
    assert need.feature is not None
    structure, member = need.feature.split(".")
    assert member in [it.name for it in registry.structs[structure].members]
    if need.extension is not None:
        assert need.extension in registry.structs[structure].extensions


def test_the_version_follows_from_the_features() -> None:
    assert Requires().api_version == (1, 2)
    assert combine(Requires(), NEEDS["LocalSizeId"]).api_version == (1, 3)


def test_a_device_with_all_misses_nothing() -> None:
    for program in PROGRAMS:
        assert missing(requirements(lower(program)), INFO) == []


def test_what_is_missing_is_said() -> None:
    requires = requirements(lower(product()))
    feature = "VkPhysicalDeviceVulkan12Features.shaderFloat16"
    assert missing(requires, without(feature)) == [
        f"needs the feature {feature}, which the device doesn't have"
    ]
    bare = dataclasses.replace(INFO, extensions={"VK_KHR_cooperative_matrix": 2})
    assert missing(requires, bare) == [
        "needs VK_EXT_shader_replicated_composites, which the device doesn't have"
    ]
    old = dataclasses.replace(INFO, api_version="1.1.200")
    assert missing(requires, old) == ["needs Vulkan 1.3, the device has 1.1.200"]
