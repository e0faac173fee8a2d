"""Devices without a driver, good and bad, for ``--device python:fakes:NAME``.

They answer one invented command: the count of the reply is the capacity of the query. What each
does wrong, it does from a capacity of 10 on, which is therefore what examples shrink to.
"""

from __future__ import annotations

import errno
import itertools
import os
import time
from collections.abc import Callable

from cts.device.protocol import DeviceInfo, Query, Reply, Request
from cts.findings import DriverCrash, DriverHang

INFO = DeviceInfo(
    kind="reference",
    name="Fake device",
    driver="fake",
    driver_version="1.0",
    api_version="1.3.0",
    uuid="00" * 16,
    properties={"VkPhysicalDeviceSubgroupProperties.subgroupSize": 8},
    records={},
    queues=(2,),
)


class Fake:
    """Answers by ``answer``, which gets the capacity and the number of the call."""

    def __init__(self, answer: Callable[[int, int], int]) -> None:
        self.info = INFO
        self._answer = answer
        self._calls = itertools.count()

    def execute(self, request: Request) -> Reply:
        assert isinstance(request, Query)
        return Reply(counts=(self._answer(request.capacity, next(self._calls)),))

    def close(self) -> None:
        pass


def good() -> Fake:
    return Fake(lambda capacity, call: capacity)


def bad() -> Fake:
    return Fake(lambda capacity, call: capacity + (capacity >= 10))


def flaky() -> Fake:
    return Fake(lambda capacity, call: capacity + (capacity >= 10 and call % 3 == 0))


def slow() -> Fake:
    def answer(capacity: int, call: int) -> int:
        time.sleep(0.02)
        return capacity

    return Fake(answer)


def crashing() -> Fake:
    def answer(capacity: int, call: int) -> int:
        if capacity >= 10:
            raise DriverCrash("the driver ended by signal 11 in phase query", {"phase": "query"})
        return capacity

    return Fake(answer)


def hanging() -> Fake:
    def answer(capacity: int, call: int) -> int:
        if capacity >= 10:
            raise DriverHang("no answer in phase query within 10 s", {"phase": "query"})
        return capacity

    return Fake(answer)


def dying() -> Fake:
    """Takes the whole worker process down, as no device should be able to."""

    def answer(capacity: int, call: int) -> int:
        if capacity == 20:
            os._exit(9)
        return capacity

    return Fake(answer)


def full() -> Fake:
    """The disk is full when it writes down the tenth request."""

    def answer(capacity: int, call: int) -> int:
        if call == 10:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return capacity

    return Fake(answer)
