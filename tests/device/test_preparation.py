"""Conversions before a shader, over stand-ins for the driver's commands."""

from __future__ import annotations

from typing import Any

import pytest

from cts.device.errors import Refused
from cts.device.protocol import (
    BufferData,
    Conversion,
    Dispatch,
    Matrix,
    Preparation,
    Staging,
)
from cts.device.vulkan import preparation
from cts.device.vulkan.api import Api
from cts.device.vulkan.declarations import newer
from tests.device.test_declarations import PACKAGE

ONE = Preparation(
    Conversion(4, 4, Matrix(0, 0, 10, 38, 64), Matrix(0, 3, 0, 96, 128)), source=2, destination=1
)
STARTS = (0x10000, 0x20000, 0x30000)


class Driver:
    """A logical device whose commands note what they are given."""

    def __init__(self, *, addresses: bool = True) -> None:
        self.api = Api.__new__(Api)
        self.api.ffi, self.api.newer, self.api.null = PACKAGE, newer(), PACKAGE.NULL
        self.api._newer_names = frozenset()
        self.api.device_function = self._function  # type: ignore[method-assign]
        self.handle = PACKAGE.cast("VkDevice", 1)
        self.buffer_addresses = addresses
        self.commands: dict[str, Any] = {
            "vkCmdConvertCooperativeVectorMatrixNV": self._convert,
            "vkCmdPipelineBarrier2": self._order,
        }
        self.seen: list[tuple[Any, ...]] = []

    def _function(self, device: Any, name: str) -> Any:
        return self.commands.get(name)

    def _convert(self, commands: Any, count: int, infos: Any) -> None:
        for index in range(count):
            info = infos[index]
            self.seen.append(
                (
                    int(info.srcData.deviceAddress),
                    int(info.dstData.deviceAddress),
                    info.srcSize,
                    info.pDstSize[0],
                    info.dstLayout,
                )
            )

    def _order(self, commands: Any, dependency: Any) -> None:
        assert dependency.memoryBarrierCount == 1
        barrier = dependency.pMemoryBarriers[0]
        self.seen.append(
            (
                barrier.srcStageMask,
                barrier.srcAccessMask,
                barrier.dstStageMask,
                barrier.dstAccessMask,
            )
        )


def request(*preparations: Preparation, **more: Any) -> Dispatch:
    buffers = tuple(BufferData(bytes(256)) for _ in range(3))
    return Dispatch(b"", buffers, (1, 1, 1), preparations=preparations, **more)


def record(driver: Driver, asked: Dispatch) -> Any:
    commands = PACKAGE.cast("VkCommandBuffer", 2)
    return preparation.record(driver, commands, asked, STARTS)  # type: ignore[arg-type]


def test_conversions_come_first_and_the_barrier_names_their_stage() -> None:
    driver = Driver()
    assert record(driver, request(ONE, ONE)) is not None
    first, second, barrier = driver.seen
    assert first == second == (0x30000 + 64, 0x20000 + 128, 38, 96, 3)
    assert barrier == (1 << 44, 1 << 12, 1 << 11, 1 << 33)


def test_without_preparations_nothing_is_recorded() -> None:
    driver = Driver()
    assert record(driver, request()) is None
    assert driver.seen == []


def test_what_cannot_be_recorded_is_refused() -> None:
    far = Preparation(ONE.conversion, 5, 1)
    long = Preparation(
        Conversion(4, 4, Matrix(0, 0, 10, 500, 64), ONE.conversion.destination), 2, 1
    )
    for driver, asked, words in (
        (Driver(addresses=False), request(ONE), "bufferDeviceAddress"),
        (Driver(), request(ONE, staging=Staging("draw", 1)), "compute"),
        (Driver(), request(far), "not there"),
        (Driver(), request(long), "outside"),
    ):
        with pytest.raises(Refused, match=words):
            record(driver, asked)
    driver = Driver()
    driver.commands.clear()
    with pytest.raises(Refused, match="vkCmdPipelineBarrier2"):
        record(driver, request(ONE))
