"""Conversions on the host, over a stand-in for the driver's command."""

from __future__ import annotations

from typing import Any

import pytest

from cts.device.errors import Refused
from cts.device.protocol import Conversion, Convert, Matrix
from cts.device.vulkan import convert
from cts.device.vulkan.api import Api
from cts.device.vulkan.declarations import newer
from tests.device.test_declarations import PACKAGE

SOURCE = Matrix(component=0, layout=0, stride=8, size=32, offset=64)
DESTINATION = Matrix(component=1, layout=2, stride=0, size=40, offset=128)
ONE = Conversion(4, 4, SOURCE, DESTINATION)


@pytest.fixture
def api() -> Api:
    made = Api.__new__(Api)
    made.ffi, made.newer, made.null = PACKAGE, newer(), PACKAGE.NULL
    return made


class Driver:
    """Notes what it is given, doubles the source's bytes, and says 33 bytes were written."""

    def __init__(self, api: Api, result: int = 0) -> None:
        self.seen: list[dict[str, Any]] = []
        self._api = api
        self._result = result
        self.command = api.newer.callback("int(void*, VkConvertCooperativeVectorMatrixInfoNV*)")(
            self._call
        )

    def _call(self, device: Any, info: Any) -> int:
        members = ("srcSize", "srcComponentType", "dstComponentType", "numRows", "numColumns")
        more = ("srcLayout", "srcStride", "dstLayout", "dstStride", "sType")
        seen = {name: getattr(info, name) for name in members + more}
        seen["source"] = int(info.srcData.deviceAddress)
        seen["destination"] = int(info.dstData.deviceAddress)
        seen["dstSize"] = info.pDstSize[0]
        self.seen.append(seen)
        if seen["source"] and seen["destination"] and not self._result:
            source = self._api.newer.buffer(info.srcData.hostAddress, info.srcSize)
            target = self._api.newer.buffer(info.dstData.hostAddress, info.srcSize)
            target[:] = bytes(byte * 2 & 255 for byte in bytes(source))
        info.pDstSize[0] = 33
        return self._result


def run(api: Api, driver: Driver, *conversions: Conversion) -> Any:
    memory = bytes(range(256))
    request = Convert(tuple(conversions), memory, host=True)
    convert._check(request)
    return convert.on_host(api, driver.command, api.newer.NULL, request)


def test_a_conversion_sees_its_memory_and_sizes(api: Api) -> None:
    driver = Driver(api)
    reply = run(api, driver, ONE)
    (seen,) = driver.seen
    base = seen["source"] - SOURCE.offset
    assert base % 64 == 0
    assert seen["destination"] == base + DESTINATION.offset
    assert (seen["srcSize"], seen["dstSize"]) == (32, 40)
    assert (seen["srcComponentType"], seen["dstComponentType"]) == (0, 1)
    assert (seen["numRows"], seen["numColumns"]) == (4, 4)
    assert (seen["srcLayout"], seen["srcStride"]) == (0, 8)
    assert (seen["dstLayout"], seen["dstStride"]) == (2, 0)
    expected = bytearray(range(256))
    expected[128:160] = bytes(byte * 2 for byte in range(64, 96))
    assert reply.buffers == (bytes(expected),)
    assert reply.counts == (33,)
    assert reply.results == (0,)


def test_null_addresses_ask_for_the_size_alone(api: Api) -> None:
    driver = Driver(api)
    reply = run(api, driver, Conversion(4, 4, SOURCE, DESTINATION, True, True))
    assert (driver.seen[0]["source"], driver.seen[0]["destination"]) == (0, 0)
    assert reply.buffers == (bytes(range(256)),)
    assert reply.counts == (33,)


def test_results_are_for_the_case_to_judge(api: Api) -> None:
    reply = run(api, Driver(api, result=5), ONE, ONE)
    assert reply.result == 0
    assert reply.results == (5, 5)


@pytest.mark.parametrize(
    "request_",
    [
        Convert((), b"", host=True),
        Convert((ONE,), bytes(100), host=True),
        Convert((ONE,), bytes(256), host=True, steps=(2,)),
        Convert((ONE,), bytes(256), host=False, steps=(1, 0)),
        Convert((Conversion(4, 4, SOURCE, DESTINATION, True, True),), bytes(256), host=False),
    ],
)
def test_what_can_not_be_run_is_refused(request_: Convert) -> None:
    with pytest.raises(Refused):
        convert._check(request_)
