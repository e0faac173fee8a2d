"""The whole way to a real driver and back, on Mesa lavapipe."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cts.device import launcher, lavapipe
from cts.device.debian import FetchError
from cts.device.errors import DeviceError, ServerFault
from cts.device.process import Limits
from cts.device.protocol import (
    BufferData,
    Conversion,
    Convert,
    Describe,
    Dispatch,
    Matrix,
    Query,
)
from cts.device.supervisor import SupervisedDevice
from cts.device.vulkan.dispatch import KEPT_DEVICES
from cts.device.vulkan.pipelines import KEPT_PIPELINES
from cts.device.vulkan.queries import COMMANDS
from cts.device.wire import encode_info
from cts.findings import DriverHang
from tests.device import shaders

KHR = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"
FLEXIBLE = "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV"
ADDRESS = "VkPhysicalDeviceVulkan12Features.bufferDeviceAddress"
INT64 = "VkPhysicalDeviceFeatures.shaderInt64"
COUNT = 64
NUMBERS = struct.pack(f"<{COUNT}I", *range(COUNT))
POISON = b"\xa5" * len(NUMBERS)


@pytest.fixture(scope="module")
def prefix() -> lavapipe.Prefix:
    try:
        return lavapipe.fetch()
    except FetchError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def device(prefix: lavapipe.Prefix) -> Iterator[SupervisedDevice]:
    made = SupervisedDevice(launcher.lavapipe(prefix))
    yield made
    made.close()


def multiplied(by: int, count: int = COUNT) -> bytes:
    return struct.pack(f"<{count}I", *(by * value for value in range(count)))


def product(words: bytes | None = None, **more: object) -> Dispatch:
    plain = Dispatch(
        words=shaders.multiply() if words is None else words,
        buffers=(BufferData(NUMBERS), BufferData(POISON)),
        workgroups=(COUNT // 8, 1, 1),
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def test_the_description_is_complete(device: SupervisedDevice) -> None:
    info = device.info
    assert info.kind == "vulkan"
    assert "llvmpipe" in info.name
    assert info.driver == "llvmpipe"
    assert info.driver_version.startswith("Mesa ")
    assert len(bytes.fromhex(info.uuid)) == 16
    assert info.extensions["VK_KHR_cooperative_matrix"] >= 1
    assert "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrix" in info.features
    assert "VkPhysicalDeviceFeatures.shaderInt64" in info.features
    assert "VkPhysicalDeviceVulkan13Features.computeFullSubgroups" in info.features
    assert info.subgroup_size == 8
    assert info.properties["VkPhysicalDeviceLimits.maxComputeWorkGroupInvocations"] >= 128
    stages = "VkPhysicalDeviceCooperativeMatrixPropertiesKHR.cooperativeMatrixSupportedStages"
    assert info.properties[stages] & 0x20
    assert set(info.records) == {KHR, FLEXIBLE}
    assert {record["MSize"] for record in info.records[KHR]} == {8}
    assert any(flags & 2 for flags in info.queues)
    assert {"system", "machine", "cpu", "loader", "VK_DRIVER_FILES"} <= set(info.environment)


def test_the_description_is_the_same_when_asked_again(device: SupervisedDevice) -> None:
    first = encode_info(device.info)
    assert device.execute(Describe()).buffers == (first,)


def test_a_dispatch_runs_and_brings_back_every_buffer(device: SupervisedDevice) -> None:
    reply = device.execute(product())
    assert reply.buffers == (NUMBERS, multiplied(3))
    assert {"submit", "fence", "readback"} <= set(reply.seconds)
    assert reply.phase == "done" and reply.result == 0


def test_specialization_constants_arrive_and_make_pipelines_of_their_own(
    device: SupervisedDevice,
) -> None:
    for factor in (5, 7, 5):
        reply = device.execute(product(specialization=((7, 4, factor),)))
        assert reply.buffers[1] == multiplied(factor)
    assert "pipeline" not in reply.seconds  # kept from the first time


def test_buffers_are_set_back_before_every_repetition(device: SupervisedDevice) -> None:
    reply = device.execute(product(repeat=3))
    assert reply.buffers == (NUMBERS, multiplied(3)) * 3


def test_a_physical_buffer_uses_up_its_binding(device: SupervisedDevice) -> None:
    buffers = (BufferData(NUMBERS), BufferData(b"1234", physical=True), BufferData(POISON))
    request = product(shaders.multiply(second=2), buffers=buffers, features=(ADDRESS,))
    assert device.execute(request).buffers == (NUMBERS, b"1234", multiplied(3))


def test_physical_buffers_come_by_address(device: SupervisedDevice) -> None:
    request = Dispatch(
        words=shaders.through_addresses(),
        buffers=(BufferData(NUMBERS, True), BufferData(POISON, True)),
        workgroups=(COUNT // 8, 1, 1),
        features=(INT64, ADDRESS),
    )
    expected = struct.pack(f"<{COUNT}I", *range(1, COUNT + 1))
    assert device.execute(request).buffers == (NUMBERS, expected)


def test_the_memory_grows_with_the_buffers_and_no_byte_is_lost(device: SupervisedDevice) -> None:
    for count in (8, 1 << 20, 16):
        data = struct.pack(f"<{count}I", *range(count))
        poison = b"\x5a" * (len(data) + 13)
        buffers = (BufferData(data), BufferData(poison))
        reply = device.execute(product(buffers=buffers, workgroups=(count // 8, 1, 1)))
        expected = struct.pack(f"<{count}I", *(3 * v & 0xFFFFFFFF for v in range(count)))
        assert reply.buffers == (data, expected + b"\x5a" * 13)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_tiny_buffers_come_back(device: SupervisedDevice, size: int) -> None:
    buffers = (BufferData(NUMBERS), BufferData(POISON), BufferData(b"\x11" * size))
    assert device.execute(product(buffers=buffers)).buffers[2] == b"\x11" * size


def test_a_subgroup_size_can_be_required(device: SupervisedDevice) -> None:
    size = device.info.subgroup_size
    assert device.execute(product(required_subgroup_size=size)).buffers[1] == multiplied(3)


def test_a_feature_that_a_versioned_structure_took_over_can_be_named_either_way(
    device: SupervisedDevice,
) -> None:
    names = (
        "VkPhysicalDevice8BitStorageFeatures.storageBuffer8BitAccess",
        "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrix",
        "VkPhysicalDeviceVulkan12Features.shaderInt8",
    )
    request = product(features=names, extensions=("VK_KHR_cooperative_matrix",))
    assert device.execute(request).buffers[1] == multiplied(3)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"features": ("VkPhysicalDeviceNoFeatures.none",)}, "support the feature"),
        ({"extensions": ("VK_KHR_none",)}, "have the extension"),
        ({"buffers": (BufferData(NUMBERS), BufferData(POISON, True))}, "bufferDeviceAddress"),
    ],
)
def test_what_the_device_lacks_is_refused(
    device: SupervisedDevice, more: dict[str, object], text: str
) -> None:
    with pytest.raises(ServerFault, match=text):
        device.execute(product(**more))


def resident(device: SupervisedDevice) -> int:
    """MiB of the server's memory."""
    assert device._process
    status = Path(f"/proc/{device._process.process_id}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


def test_ever_new_pipelines_leave_the_server_as_large_as_it_was(device: SupervisedDevice) -> None:
    def use(first: int, last: int) -> None:
        for factor in range(first, last):
            reply = device.execute(product(specialization=((7, 4, factor),)))
            assert reply.buffers[1] == multiplied(factor)

    use(10, 10 + KEPT_PIPELINES)
    before = resident(device)
    use(1000, 1000 + KEPT_PIPELINES)
    assert resident(device) < before + 20


def test_ever_new_devices_leave_the_server_bounded(device: SupervisedDevice) -> None:
    features = sorted(one for one in device.info.features if "PhysicalDeviceFeatures." in one)

    def use() -> None:
        for feature in features[: KEPT_DEVICES + 3]:
            assert device.execute(product(features=(feature,))).buffers[1] == multiplied(3)

    use()
    use()
    before = resident(device)
    use()
    assert resident(device) < before + 60


@pytest.mark.parametrize("command", [KHR, FLEXIBLE])
@pytest.mark.parametrize("poison", [0xA5, 0x5A])
def test_a_query_fills_prepared_memory(device: SupervisedDevice, command: str, poison: int) -> None:
    records = device.info.records[command]
    count = len(records)
    reply = device.execute(
        Query(command, capacity=count, allocated=count + 2, poison=poison, guard=64)
    )
    (memory,) = reply.buffers
    assert reply.counts == (count,)
    assert reply.results == (0,)
    size = (len(memory) - 64) // (count + 2)
    assert memory[-64:] == bytes([poison]) * 64
    structure_type = struct.pack("<I", COMMANDS[command].structure_type)
    for index in range(count + 2):
        record = memory[index * size : (index + 1) * size]
        assert record[:4] == structure_type
        assert record[4:16] == bytes(12)
        if index >= count:
            assert record[16:] == bytes([poison]) * (size - 16)
    first = struct.unpack_from("<3I", memory, 16)
    assert first == (8, 8, 8)


def test_a_query_with_too_little_room(device: SupervisedDevice) -> None:
    reply = device.execute(Query(KHR, capacity=1, allocated=3))
    assert reply.results == (5,)
    assert reply.counts == (1,)


def test_a_query_for_the_count_alone(device: SupervisedDevice) -> None:
    reply = device.execute(Query(KHR, capacity=77, null=True))
    assert reply.counts == (len(device.info.records[KHR]),)
    assert reply.buffers == (b"\xa5" * 256,)


def test_a_query_on_another_instance_and_from_several_threads(device: SupervisedDevice) -> None:
    one = device.execute(Query(KHR, capacity=4, allocated=4))
    second = device.execute(Query(KHR, capacity=4, allocated=4, instance=1))
    assert second.buffers == one.buffers
    many = device.execute(Query(KHR, capacity=4, allocated=4, threads=8))
    assert many.buffers == one.buffers * 8
    assert many.counts == one.counts * 8
    assert many.results == (0,) * 8


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (Query("vkGetPhysicalDeviceProperties"), "no enumeration command"),
        (Query("vkGetPhysicalDeviceCooperativeVectorPropertiesNV"), "has no VK_NV_cooperative"),
        (Query(KHR, parameters=(("scope", 3),)), "takes no parameters"),
    ],
)
def test_a_query_that_can_not_be_made_is_refused(
    device: SupervisedDevice, query: Query, text: str
) -> None:
    with pytest.raises(ServerFault, match=text):
        device.execute(query)


def test_a_conversion_without_the_extension_is_refused(device: SupervisedDevice) -> None:
    matrix = Matrix(1, 0, 16, 64, 0)
    with pytest.raises(ServerFault, match="cooperative_vector"):
        device.execute(Convert((Conversion(4, 4, matrix, matrix),), bytes(64), host=True))


def test_a_shader_that_never_ends_is_a_hang_in_the_fence(prefix: lavapipe.Prefix) -> None:
    device = SupervisedDevice(launcher.lavapipe(prefix), limits=Limits(fence=1.0, grace=2.0))
    endless = Dispatch(
        words=shaders.spin(),
        buffers=(BufferData(b"\1\0\0\0"), BufferData(bytes(4))),
        workgroups=(1, 1, 1),
    )
    start = time.monotonic()
    with pytest.raises(DriverHang, match="phase fence"):
        device.execute(endless)
    assert time.monotonic() - start < 60
    ended = replace(endless, buffers=(BufferData(bytes(4)), BufferData(bytes(4))))
    assert device.execute(ended).buffers == (bytes(4), bytes(4))
    device.close()


def test_a_device_is_found_by_its_uuid_and_others_are_not(prefix: lavapipe.Prefix) -> None:
    by_index = SupervisedDevice(launcher.lavapipe(prefix), "0")
    uuid = by_index.info.uuid
    by_index.close()
    grouped = f"{uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}".upper()
    by_uuid = SupervisedDevice(launcher.lavapipe(prefix), grouped)
    assert by_uuid.info.uuid == uuid
    by_uuid.close()
    for wrong in ("9", "ffff" * 8, "x"):
        device = SupervisedDevice(launcher.lavapipe(prefix), wrong)
        with pytest.raises(DeviceError, match=r"no device answers to .*llvmpipe"):
            device.info  # noqa: B018 (asking is what fails)
        device.close()


def test_without_a_working_driver_there_is_one_sentence(prefix: lavapipe.Prefix) -> None:
    launched = launcher.lavapipe(prefix)
    nowhere = {**launched.environment, "VK_DRIVER_FILES": os.devnull}
    device = SupervisedDevice(replace(launched, environment=nowhere))
    with pytest.raises(DeviceError, match="install a driver"):
        device.info  # noqa: B018 (asking is what fails)
    device.close()
