"""What a pipeline is made with, seen without a driver."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cts.device.errors import Refused
from cts.device.vulkan.logical import Features
from cts.device.vulkan.pipelines import needs_full_subgroups
from tests.device.test_declarations import PACKAGE

HEADER = (0x07230203, 0x00010500, 0, 10, 0)
CAPABILITY = 2 << 16 | 17
EXTENSION = 3 << 16 | 10
SHADER, MATRIX_KHR, MATRIX_NV = 1, 6022, 5357


def module(*words: int) -> bytes:
    return struct.pack(f"<{len(words) + 5}I", *HEADER, *words)


@pytest.mark.parametrize(
    ("words", "full"),
    [
        ((CAPABILITY, SHADER), False),
        ((CAPABILITY, SHADER, CAPABILITY, MATRIX_KHR), True),
        ((CAPABILITY, MATRIX_NV, EXTENSION, 0, 0), True),
        ((CAPABILITY, SHADER, EXTENSION, CAPABILITY, MATRIX_KHR), False),
        ((), False),
    ],
)
def test_matrix_modules_run_in_full_subgroups(words: tuple[int, ...], full: bool) -> None:
    assert needs_full_subgroups(module(*words)) is full


@given(st.binary(max_size=80))
def test_any_bytes_are_looked_at_without_harm(words: bytes) -> None:
    assert needs_full_subgroups(words) in (True, False)


@given(st.lists(st.integers(0, 0xFFFFFFFF), max_size=12))
def test_any_words_are_looked_at_without_harm(words: list[int]) -> None:
    assert needs_full_subgroups(module(CAPABILITY, SHADER, *words)) in (True, False)


def features(version: tuple[int, int], *supported: str) -> Features:
    """What a device of this version with these features can enable."""
    made = Features.__new__(Features)
    made.supported = frozenset(supported)
    made._versioned = Features.versioned(PACKAGE, version)
    return made


V12 = "VkPhysicalDeviceVulkan12Features.shaderInt8"
OLD = "VkPhysicalDeviceShaderFloat16Int8Features.shaderInt8"
FULL = "VkPhysicalDeviceVulkan13Features.computeFullSubgroups"
FULL_OLD = "VkPhysicalDeviceSubgroupSizeControlFeatures.computeFullSubgroups"
CORE = "VkPhysicalDeviceFeatures.shaderInt64"
MATRIX = "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrix"
MATRIX_OLD = "VkPhysicalDeviceCooperativeMatrixFeaturesNV.cooperativeMatrix"


def test_promoted_features_go_by_the_versioned_structure() -> None:
    device = features((1, 3), V12, OLD, CORE, MATRIX, MATRIX_OLD)
    assert device.normal((OLD, V12)) == {V12}
    assert device.normal((CORE, MATRIX, MATRIX_OLD)) == {CORE, MATRIX, MATRIX_OLD}


def test_what_the_suite_wants_is_enabled_where_it_is_supported() -> None:
    wanted = ("computeFullSubgroups",)
    assert features((1, 3), FULL, FULL_OLD).normal((), wanted) == {FULL}
    assert features((1, 2), FULL_OLD).normal((), wanted) == {FULL_OLD}
    assert features((1, 3)).normal((), wanted) == frozenset()


def test_an_unsupported_feature_is_refused() -> None:
    with pytest.raises(Refused, match="doesn't support the feature"):
        features((1, 3), V12).normal((MATRIX,))
