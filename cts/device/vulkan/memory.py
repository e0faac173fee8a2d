"""One persistent, mapped buffer that a logical device's dispatches share.

The buffers of a request lie one after another in it, each with its own descriptor or device
address. The memory is coherent and, where the driver has that, cached by the host, so that
reading results back is a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cts.device.vulkan.api import OUT_OF_DEVICE_MEMORY, VulkanError, check
from cts.device.vulkan.logical import Logical

_BUFFER_CREATE_INFO = 12
_MEMORY_ALLOCATE_INFO = 5
_MEMORY_ALLOCATE_FLAGS_INFO = 1000060000
_BUFFER_DEVICE_ADDRESS_INFO = 1000244001
_STORAGE_BUFFER_USAGE = 0x20
_SHADER_DEVICE_ADDRESS_USAGE = 0x20000
_ALLOCATE_DEVICE_ADDRESS = 2
_HOST_VISIBLE, _HOST_COHERENT, _HOST_CACHED = 2, 4, 8

ALIGNMENT = 256
"""At least every limit on the alignment of storage buffers that Vulkan permits (256)."""
FIRST_SIZE = 1 << 20
GAP = 256
"""Bytes between two buffers, so that neighbours never share a cache line."""


class Arena:
    """The buffer, its memory and where it is mapped."""

    def __init__(self, logical: Logical) -> None:
        self._logical = logical
        self._api = logical.api
        self.size = 0
        self.address = 0
        self.buffer: Any = None
        self._memory: Any = None
        self._view: Any = None

    def place(self, sizes: Sequence[int]) -> list[int]:
        """Offsets for buffers of ``sizes`` bytes; grows the arena if they don't fit."""
        offsets = []
        end = 0
        for size in sizes:
            offsets.append(end)
            end += -(-(max(size, 4) + GAP) // ALIGNMENT) * ALIGNMENT
        if end > self.size:
            self._grow(end)
        return offsets

    def write(self, offset: int, data: bytes) -> None:
        """Copy ``data`` to the arena."""
        self._view[offset : offset + len(data)] = data

    def read(self, offset: int, size: int) -> bytes:
        """Copy ``size`` bytes from the arena."""
        return bytes(self._view[offset : offset + size])

    def destroy(self) -> None:
        """Give the buffer and its memory back."""
        lib, device, null = self._api.lib, self._logical.handle, self._api.null
        self._view = None
        if self.buffer is not None:
            lib.vkDestroyBuffer(device, self.buffer, null)
        if self._memory is not None:
            lib.vkFreeMemory(device, self._memory, null)
        self.buffer = self._memory = None
        self.size = 0

    def _grow(self, least: int) -> None:
        self.destroy()
        size = FIRST_SIZE
        while size < least:
            size *= 2
        self._make(size)
        self.size = size

    def _make(self, size: int) -> None:
        api, device = self._api, self._logical.handle
        addressed = self._logical.buffer_addresses
        create = api.new(
            "VkBufferCreateInfo",
            _BUFFER_CREATE_INFO,
            size=size,
            usage=_STORAGE_BUFFER_USAGE | (_SHADER_DEVICE_ADDRESS_USAGE if addressed else 0),
        )
        made = api.ffi.new("VkBuffer*")
        check(api.lib.vkCreateBuffer(device, create, api.null, made), "vkCreateBuffer")
        self.buffer = made[0]
        needs = api.new("VkMemoryRequirements")
        api.lib.vkGetBufferMemoryRequirements(device, self.buffer, needs)
        flags = api.new(
            "VkMemoryAllocateFlagsInfo",
            _MEMORY_ALLOCATE_FLAGS_INFO,
            flags=_ALLOCATE_DEVICE_ADDRESS,
        )
        allocate = api.new(
            "VkMemoryAllocateInfo",
            _MEMORY_ALLOCATE_INFO,
            allocationSize=needs.size,
            memoryTypeIndex=self._memory_type(needs.memoryTypeBits),
        )
        if addressed:
            allocate.pNext = api.pointer(flags, "VkMemoryAllocateFlagsInfo")
        memory = api.ffi.new("VkDeviceMemory*")
        check(api.lib.vkAllocateMemory(device, allocate, api.null, memory), "vkAllocateMemory")
        self._memory = memory[0]
        check(
            api.lib.vkBindBufferMemory(device, self.buffer, self._memory, 0), "vkBindBufferMemory"
        )
        mapped = api.ffi.new("void**")
        check(
            api.lib.vkMapMemory(device, self._memory, 0, size, 0, mapped),  # no VK_WHOLE_SIZE
            "vkMapMemory",
        )
        self._view = api.ffi.buffer(mapped[0], size)
        if addressed:
            asked = api.new(
                "VkBufferDeviceAddressInfo", _BUFFER_DEVICE_ADDRESS_INFO, buffer=self.buffer
            )
            self.address = int(api.lib.vkGetBufferDeviceAddress(device, asked))

    def _memory_type(self, permitted: int) -> int:
        api = self._api
        found = api.new("VkPhysicalDeviceMemoryProperties")
        api.lib.vkGetPhysicalDeviceMemoryProperties(self._logical.physical.handle, found)
        coherent = _HOST_VISIBLE | _HOST_COHERENT
        for wanted in (coherent | _HOST_CACHED, coherent):
            for index in range(found.memoryTypeCount):
                flags = found.memoryTypes[index].propertyFlags
                if permitted >> index & 1 and flags & wanted == wanted:
                    return index
        # The specification promises such a type for every buffer.
        raise VulkanError(OUT_OF_DEVICE_MEMORY, "vkGetPhysicalDeviceMemoryProperties")
