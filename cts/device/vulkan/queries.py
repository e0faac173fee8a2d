"""The enumeration commands of both APIs, on memory that the suite prepared."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from cts.device.errors import Refused
from cts.device.protocol import Query, Reply
from cts.device.vulkan.api import Api
from cts.device.vulkan.instance import Instance, PhysicalDevice

_INFO_2 = "VkPhysicalDeviceCooperativeMatrixInfo2EXT"
_INFO_2_TYPE = 1000659001
_SUBGROUP_SCOPE = 3
_RESERVED = 16
"""Bytes of ``sType``, padding and ``pNext`` at the start of every structure (64-bit)."""


@dataclass(frozen=True)
class Command:
    """One enumeration command: the structure it fills and the extension it comes with."""

    structure: str
    structure_type: int
    extension: str
    parameterised: bool = False


COMMANDS = {
    "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR": Command(
        "VkCooperativeMatrixPropertiesKHR", 1000506001, "VK_KHR_cooperative_matrix"
    ),
    "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV": Command(
        "VkCooperativeMatrixPropertiesNV", 1000249001, "VK_NV_cooperative_matrix"
    ),
    "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV": Command(
        "VkCooperativeMatrixFlexibleDimensionsPropertiesNV",
        1000593001,
        "VK_NV_cooperative_matrix2",
    ),
    "vkGetPhysicalDeviceCooperativeMatrixProperties2EXT": Command(
        "VkCooperativeMatrixProperties2EXT",
        1000659002,
        "VK_EXT_cooperative_matrix_maintenance1",
        parameterised=True,
    ),
    "vkGetPhysicalDeviceCooperativeVectorPropertiesNV": Command(
        "VkCooperativeVectorPropertiesNV", 1000491002, "VK_NV_cooperative_vector"
    ),
}


def available(api: Api, instance: Instance, device: PhysicalDevice, command: str) -> bool:
    """Whether the device has the extension and the loader the command."""
    return (
        COMMANDS[command].extension in device.extensions
        and api.instance_function(instance.handle, command) is not None
    )


def records(
    api: Api, instance: Instance, device: PhysicalDevice, command: str, subgroup_size: int
) -> list[dict[str, int]]:
    """Every element of the list, members by name.

    A parameterised command is asked for subgroup scope at ``subgroup_size``, without flags:
    what holds for a shader that asks for nothing else.
    """
    entry = COMMANDS[command]
    function = api.instance_function(instance.handle, command)
    given = [_handle(api, function, device.handle)]
    if entry.parameterised:
        given.append(
            api.new(_INFO_2, _INFO_2_TYPE, scope=_SUBGROUP_SCOPE, subgroupSize=subgroup_size)
        )
    return api.records(function, entry.structure, entry.structure_type, *given)


def query(api: Api, instance: Instance, device: PhysicalDevice, request: Query) -> Reply:
    """Make the calls of ``request``; every call has its own memory."""
    if request.command not in COMMANDS:
        raise Refused(f"{request.command} is no enumeration command that the server knows.")
    if not available(api, instance, device, request.command):
        extension = COMMANDS[request.command].extension
        raise Refused(f"{request.command} can't be called: the device has no {extension}.")
    if request.instance == 0:
        return _calls(api, instance, device, request)
    second = Instance(api)
    try:
        return _calls(api, second, second.choose(device.uuid), request)
    finally:
        second.destroy()


def _calls(api: Api, instance: Instance, device: PhysicalDevice, request: Query) -> Reply:
    function = api.instance_function(instance.handle, request.command)
    handle = _handle(api, function, device.handle)
    calls = [_Call(api, request) for _ in range(request.threads)]
    if request.threads == 1:
        calls[0].run(function, handle, None)
    else:
        barrier = threading.Barrier(request.threads)
        workers = [
            threading.Thread(target=call.run, args=(function, handle, barrier)) for call in calls
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return Reply(
        buffers=tuple(call.memory() for call in calls),
        counts=tuple(int(call.count[0]) for call in calls),
        results=tuple(call.result for call in calls),
    )


def _handle(api: Api, function: Any, handle: Any) -> Any:
    """``handle`` in the FFI that ``function`` belongs to."""
    first = api.ffi.typeof(function).args[0]
    return handle if first == api.ffi.typeof("VkPhysicalDevice") else api.foreign(handle)


class _Call:
    """One call and the memory that it is given."""

    def __init__(self, api: Api, request: Query) -> None:
        entry = COMMANDS[request.command]
        self._request = request
        self._ffi = api.ffi_of(entry.structure)
        size = self._ffi.sizeof(entry.structure)
        self._bytes = size * request.allocated + request.guard
        # Two further words keep the base aligned and the allocation from being empty.
        self._memory = self._ffi.new("uint64_t[]", self._bytes // 8 + 2)
        view = self._ffi.buffer(self._memory)
        view[:] = bytes([request.poison]) * len(view)
        self._array = self._ffi.cast(entry.structure + "*", self._memory)
        for index in range(request.allocated):
            start = index * size
            view[start : start + _RESERVED] = bytes(_RESERVED)
            self._array[index].sType = entry.structure_type
        self.count = self._ffi.new("uint32_t*", request.capacity)
        self.result = 0
        self._before: list[Any] = []
        if entry.parameterised:
            info = api.new(_INFO_2, _INFO_2_TYPE)
            for name, value in request.parameters:
                if not hasattr(info, name) or name in ("sType", "pNext"):
                    raise Refused(f"{_INFO_2} has no member {name}.")
                setattr(info, name, value)
            self._before = [info]
        elif request.parameters:
            raise Refused(f"{request.command} takes no parameters.")

    def run(self, function: Any, handle: Any, barrier: threading.Barrier | None) -> None:
        array = self._ffi.NULL if self._request.null else self._array
        if barrier:
            barrier.wait()
        self.result = int(function(handle, *self._before, self.count, array))

    def memory(self) -> bytes:
        return bytes(self._ffi.buffer(self._memory))[: self._bytes]
