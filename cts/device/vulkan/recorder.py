"""One command buffer and one fence, used again and again."""

from __future__ import annotations

from typing import Any

from cts.device.vulkan.api import SUCCESS, TIMEOUT, check
from cts.device.vulkan.logical import Logical

_SUBMIT_INFO = 4
_FENCE_CREATE_INFO = 8
_COMMAND_POOL_CREATE_INFO = 39
_COMMAND_BUFFER_ALLOCATE_INFO = 40
_COMMAND_BUFFER_BEGIN_INFO = 42
_MEMORY_BARRIER = 46
_RESET_COMMAND_BUFFER = 2
_ALL_COMMANDS_STAGE = 0x10000
_HOST_STAGE = 0x4000
_MEMORY_READ = 0x8000
_MEMORY_WRITE = 0x10000
_HOST_READ = 0x2000


class Recorder:
    """Records, submits and waits. The caller waits before it records again."""

    def __init__(self, logical: Logical) -> None:
        self._logical = logical
        self._api = api = logical.api
        create = api.new(
            "VkCommandPoolCreateInfo",
            _COMMAND_POOL_CREATE_INFO,
            flags=_RESET_COMMAND_BUFFER,
            queueFamilyIndex=logical.family,
        )
        pool = api.ffi.new("VkCommandPool*")
        check(
            api.lib.vkCreateCommandPool(logical.handle, create, api.null, pool),
            "vkCreateCommandPool",
        )
        self._pool = pool[0]
        allocate = api.new(
            "VkCommandBufferAllocateInfo",
            _COMMAND_BUFFER_ALLOCATE_INFO,
            commandPool=self._pool,
            commandBufferCount=1,
        )
        self._commands = api.ffi.new("VkCommandBuffer*")
        check(
            api.lib.vkAllocateCommandBuffers(logical.handle, allocate, self._commands),
            "vkAllocateCommandBuffers",
        )
        self._fence = api.ffi.new("VkFence*")
        fence = api.new("VkFenceCreateInfo", _FENCE_CREATE_INFO)
        check(api.lib.vkCreateFence(logical.handle, fence, api.null, self._fence), "vkCreateFence")
        self._begin = api.new("VkCommandBufferBeginInfo", _COMMAND_BUFFER_BEGIN_INFO)
        self._submit = api.new(
            "VkSubmitInfo", _SUBMIT_INFO, commandBufferCount=1, pCommandBuffers=self._commands
        )
        self._to_host = self._make_barrier(_HOST_READ)
        self._to_commands = self._make_barrier(_MEMORY_READ | _MEMORY_WRITE)

    def begin(self) -> Any:
        """Start recording; returns the VkCommandBuffer."""
        check(
            self._api.lib.vkBeginCommandBuffer(self._commands[0], self._begin),
            "vkBeginCommandBuffer",
        )
        return self._commands[0]

    def make_visible_to_host(self) -> None:
        """Record the barrier after which the host may read what commands wrote."""
        self._record_barrier(_HOST_STAGE, self._to_host)

    def order(self) -> None:
        """Record the barrier that makes later commands see what earlier ones wrote.

        All commands and all kinds of access: conversions have a stage of their own, which only
        the 64-bit stages can name.
        """
        self._record_barrier(_ALL_COMMANDS_STAGE, self._to_commands)

    def _record_barrier(self, stage: int, barrier: Any) -> None:
        null = self._api.null
        self._api.lib.vkCmdPipelineBarrier(
            self._commands[0], _ALL_COMMANDS_STAGE, stage, 0, 1, barrier, 0, null, 0, null
        )

    def _make_barrier(self, access: int) -> Any:
        return self._api.new(
            "VkMemoryBarrier",
            _MEMORY_BARRIER,
            srcAccessMask=_MEMORY_WRITE,
            dstAccessMask=access,
        )

    def end(self) -> None:
        """Stop recording."""
        check(self._api.lib.vkEndCommandBuffer(self._commands[0]), "vkEndCommandBuffer")

    def submit(self) -> None:
        """Submit what was recorded; can be called again after :meth:`wait`."""
        check(
            self._api.lib.vkQueueSubmit(self._logical.queue, 1, self._submit, self._fence[0]),
            "vkQueueSubmit",
        )

    def wait(self, patience: float) -> int:
        """Wait at most ``patience`` seconds: 0, or VK_TIMEOUT."""
        lib, device = self._api.lib, self._logical.handle
        result = check(
            lib.vkWaitForFences(device, 1, self._fence, 1, int(patience * 1e9)),
            "vkWaitForFences",
        )
        if result == TIMEOUT:
            return TIMEOUT
        check(lib.vkResetFences(device, 1, self._fence), "vkResetFences")
        return SUCCESS

    def destroy(self) -> None:
        """Give the fence and the command buffer back."""
        lib, device, null = self._api.lib, self._logical.handle, self._api.null
        lib.vkDestroyFence(device, self._fence[0], null)
        lib.vkDestroyCommandPool(device, self._pool, null)
