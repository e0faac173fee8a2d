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
from cts.device.vulkan.validation import Messages, wanted
from cts.device.wire import encode_info

LIST = "list"
"""As a selector: no device is chosen, and a Describe lists all of them."""


LEAST_VERSION = (1, 2)
"""SPIR-V 1.5, buffer device addresses and the versioned feature structures are core since."""


class VulkanBackend:
    """Runs requests on the physical device that ``selector`` names."""

    def __init__(self, selector: str, patience: float) -> None:
        """``patience``: seconds to wait for a fence. Raises Refused where there's no device."""
        self._api = Api()
        self._messages = Messages(self._api) if wanted() else None
        self._instance = _instance(self._api, self._messages)
        self._physical = self._instance.choose(selector)
        if self._physical.version < LEAST_VERSION:
            raise Refused(
                f"{self._physical.name} offers Vulkan {_dotted(self._physical.version)} only: "
                f"the suite needs {_dotted(LEAST_VERSION)}."
            )
        self._workers = Workers(self._api, self._physical)
        self._patience = patience

    def run(self, request: Request, phase: Callable[[str], None]) -> Reply:
        """Run one request; an error of the driver is the reply's result.

        InvalidUsage where the validation layer works in between and objects.
        """
        reply = self._run(request, phase)
        if self._messages is not None:
            self._messages.demand_silence()
        return reply

    def _run(self, request: Request, phase: Callable[[str], None]) -> Reply:
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
        self._instance = _instance(Api())

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


def _instance(api: Api, messages: Messages | None = None) -> Instance:
    try:
        return Instance(api, messages)
    except VulkanError as error:
        raise Refused(
            f"the Vulkan loader found no driver that works ({error}): install a driver, or name "
            "its manifest in VK_DRIVER_FILES."
        ) from error


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def connect(selector: str, patience: float) -> VulkanBackend | Listing:
    """The backend for ``selector``: :data:`LIST`, an index or a UUID."""
    return Listing() if selector == LIST else VulkanBackend(selector, patience)
