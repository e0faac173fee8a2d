"""The validation layer hears what the suite does, and objects where that is wrong."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator

import pytest

from cts.device import lavapipe, layer
from cts.device.debian import FetchError
from cts.device.errors import ServerFault
from cts.device.protocol import BufferData, Device, Dispatch, Query
from cts.device.select import open_device
from tests.device import shaders

COUNT = 64
NUMBERS = struct.pack(f"<{COUNT}I", *range(COUNT))
FEATURES = (
    "VkPhysicalDeviceFeatures.shaderInt64",
    "VkPhysicalDeviceVulkan12Features.bufferDeviceAddress",
)
DISPATCH = Dispatch(
    words=shaders.through_addresses(),
    buffers=(BufferData(NUMBERS, True), BufferData(bytes(len(NUMBERS)), True)),
    workgroups=(COUNT // 8, 1, 1),
    features=FEATURES,
)


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    try:
        lavapipe.fetch()
        layer.fetch()
    except FetchError as error:
        pytest.skip(str(error))
    made = open_device("validated:lavapipe")
    yield made
    made.close()


def test_valid_usage_passes(device: Device) -> None:
    assert "llvmpipe" in device.info.name
    expected = struct.pack(f"<{COUNT}I", *range(1, COUNT + 1))
    assert device.execute(DISPATCH).buffers == (NUMBERS, expected)
    assert device.execute(Query("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", null=True))


def test_a_missing_feature_is_objected_to(device: Device) -> None:
    with pytest.raises(ServerFault, match="VUID-"):
        device.execute(dataclasses.replace(DISPATCH, features=FEATURES[1:]))


def test_an_objection_is_about_one_request_only(device: Device) -> None:
    with pytest.raises(ServerFault):
        device.execute(dataclasses.replace(DISPATCH, features=FEATURES[1:]))
    assert device.execute(DISPATCH).result == 0


def test_a_wrong_program_is_objected_to(device: Device) -> None:
    words = bytearray(shaders.multiply())
    words[-8:-4] = words[-4:]  # the end of the function is missing
    buffers = (BufferData(NUMBERS), BufferData(NUMBERS))
    broken = Dispatch(words=bytes(words), buffers=buffers, workgroups=(COUNT // 8, 1, 1))
    with pytest.raises(ServerFault, match="VUID-"):
        device.execute(broken)
