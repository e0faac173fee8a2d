"""Buffers with memory of their own, and the mapped one that a logical device's dispatches share.

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
_DEVICE_LOCAL, _HOST_VISIBLE, _HOST_COHERENT, _HOST_CACHED = 1, 2, 4, 8
_SHARED = (_HOST_VISIBLE | _HOST_COHERENT | _HOST_CACHED, _HOST_VISIBLE | _HOST_COHERENT)
_OWN = (_DEVICE_LOCAL, 0)

ALIGNMENT = 256
"""At least every limit on the alignment of storage buffers that Vulkan permits (256)."""
FIRST_SIZE = 1 << 20
GAP = 256
"""Bytes between two buffers, so that neighbours never share a cache line."""


class Block:
    """A buffer and its memory. ``address`` is its device address, 0 where addresses aren't
    enabled; ``view`` is where it is mapped, if it is ``shared`` with the host."""

    def __init__(self, logical: Logical, size: int, usage: int, *, shared: bool = True) -> None:
        """``usage`` are VkBufferUsageFlags; the one for addresses is added where they are
        enabled."""
        self._logical = logical
        self._api = logical.api
        self.buffer: Any = None
        self._memory: Any = None
        self.view: Any = None
        self.address = 0
        try:
            self._make(size, usage, shared)
        except VulkanError:
            self.destroy()
            raise

    def _make(self, size: int, usage: int, shared: bool) -> None:
        api, device = self._api, self._logical.handle
        addressed = self._logical.buffer_addresses
        create = api.new(
            "VkBufferCreateInfo",
            _BUFFER_CREATE_INFO,
            size=size,
            usage=usage | (_SHADER_DEVICE_ADDRESS_USAGE if addressed else 0),
        )
        made = api.ffi.new("VkBuffer*")
        check(api.lib.vkCreateBuffer(device, create, api.null, made), "vkCreateBuffer")
        self.buffer = made[0]
        self._memory = self._allocate(_SHARED if shared else _OWN)
        check(
            api.lib.vkBindBufferMemory(device, self.buffer, self._memory, 0), "vkBindBufferMemory"
        )
        if shared:
            mapped = api.ffi.new("void**")
            check(
                api.lib.vkMapMemory(device, self._memory, 0, size, 0, mapped),  # no VK_WHOLE_SIZE
                "vkMapMemory",
            )
            self.view = api.ffi.buffer(mapped[0], size)
        if addressed:
            asked = api.new(
                "VkBufferDeviceAddressInfo", _BUFFER_DEVICE_ADDRESS_INFO, buffer=self.buffer
            )
            self.address = int(api.lib.vkGetBufferDeviceAddress(device, asked))

    def destroy(self) -> None:
        """Give the buffer and its memory back."""
        lib, device, null = self._api.lib, self._logical.handle, self._api.null
        self.view = None
        if self.buffer is not None:
            lib.vkDestroyBuffer(device, self.buffer, null)
        if self._memory is not None:
            lib.vkFreeMemory(device, self._memory, null)
        self.buffer = self._memory = None

    def _allocate(self, wanted: Sequence[int]) -> Any:
        api, device = self._api, self._logical.handle
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
            memoryTypeIndex=self._memory_type(needs.memoryTypeBits, wanted),
        )
        if self._logical.buffer_addresses:
            allocate.pNext = api.pointer(flags, "VkMemoryAllocateFlagsInfo")
        memory = api.ffi.new("VkDeviceMemory*")
        check(api.lib.vkAllocateMemory(device, allocate, api.null, memory), "vkAllocateMemory")
        return memory[0]

    def _memory_type(self, permitted: int, wanted: Sequence[int]) -> int:
        api = self._api
        found = api.new("VkPhysicalDeviceMemoryProperties")
        api.lib.vkGetPhysicalDeviceMemoryProperties(self._logical.physical.handle, found)
        for properties in wanted:
            for index in range(found.memoryTypeCount):
                flags = found.memoryTypes[index].propertyFlags
                if permitted >> index & 1 and flags & properties == properties:
                    return index
        # The specification promises such a type for every buffer.
        raise VulkanError(OUT_OF_DEVICE_MEMORY, "vkGetPhysicalDeviceMemoryProperties")


class Arena:
    """The buffer that dispatches share; grows as they need it."""

    def __init__(self, logical: Logical) -> None:
        self._logical = logical
        self._block: Block | None = None
        self.size = 0

    @property
    def buffer(self) -> Any:
        """The VkBuffer; None before the first :meth:`place`."""
        return self._block and self._block.buffer

    @property
    def address(self) -> int:
        """Its device address, 0 where addresses aren't enabled."""
        return self._block.address if self._block else 0

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
        assert self._block
        self._block.view[offset : offset + len(data)] = data

    def read(self, offset: int, size: int) -> bytes:
        """Copy ``size`` bytes from the arena."""
        assert self._block
        return bytes(self._block.view[offset : offset + size])

    def destroy(self) -> None:
        """Give the buffer and its memory back."""
        if self._block:
            self._block.destroy()
        self._block = None
        self.size = 0

    def _grow(self, least: int) -> None:
        self.destroy()
        size = FIRST_SIZE
        while size < least:
            size *= 2
        self._block = Block(self._logical, size, _STORAGE_BUFFER_USAGE)
        self.size = size
