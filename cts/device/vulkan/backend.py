"""The backend of the device server: one physical device, every kind of request."""

from __future__ import annotations

import json
from collections.abc import Callable

from cts.device.errors import Refused
from cts.device.protocol import Convert, Describe, Dispatch, Query, Reply, Request
from cts.device.vulkan.api import Api, VulkanError
from cts.device.vulkan.convert import convert
from cts.device.vulkan.describe import describe
from cts.device.vulkan.dispatch import Workers, dispatch
from cts.device.vulkan.instance import Instance
from cts.device.vulkan.queries import query
from cts.device.wire import encode_info

LIST = "list"
"""As a selector: no device is chosen, and a Describe lists all of them."""


class VulkanBackend:
    """Runs requests on the physical device that ``selector`` names."""

    def __init__(self, selector: str, patience: float) -> None:
        """``patience``: seconds to wait for a fence. Raises Refused where there's no device."""
        self._api = Api()
        self._instance = Instance(self._api)
        self._physical = self._instance.choose(selector)
        self._workers = Workers(self._api, self._physical)
        self._patience = patience

    def run(self, request: Request, phase: Callable[[str], None]) -> Reply:
        """Run one request; an error of the driver is the reply's result."""
        try:
            match request:
                case Dispatch():
                    return dispatch(self._workers, request, phase, self._patience)
                case Query():
                    phase("query")
                    return query(self._api, self._instance, self._physical, request)
                case Convert():
                    return convert(self._workers, request, phase, self._patience)
                case Describe():
                    phase("describe")
                    info = describe(self._api, self._instance, self._physical)
                    return Reply(buffers=(encode_info(info),))
        except VulkanError as error:
            return Reply(result=error.result)


class Listing:
    """Answers a Describe with JSON: one object for each physical device."""

    def __init__(self) -> None:
        """Raises Refused where there is no loader or no driver."""
        self._instance = Instance(Api())

    def run(self, request: Request, phase: Callable[[str], None]) -> Reply:
        """List the devices."""
        if not isinstance(request, Describe):
            raise Refused("no device was chosen.")
        phase("describe")
        found = [
            {
                "index": one.index,
                "name": one.name,
                "uuid": one.uuid,
                "type": one.device_type,
                "extensions": sorted(one.extensions),
            }
            for one in self._instance.devices()
        ]
        return Reply(buffers=(json.dumps(found).encode(),))


def connect(selector: str, patience: float) -> VulkanBackend | Listing:
    """The backend for ``selector``: :data:`LIST`, an index or a UUID."""
    return Listing() if selector == LIST else VulkanBackend(selector, patience)
