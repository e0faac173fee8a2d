"""Conversions of cooperative vector matrices that a command buffer makes before its shader.

The barrier between them names the conversions' own stage,
VK_PIPELINE_STAGE_2_CONVERT_COOPERATIVE_VECTOR_MATRIX_BIT_NV, and nothing wider: a driver that
orders by other stages only is found out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cts.device.errors import Refused
from cts.device.protocol import Dispatch
from cts.device.vulkan.infos import DEVICE_COMMAND, infos_of
from cts.device.vulkan.logical import Logical

_MEMORY_BARRIER_2 = 1000314000
_DEPENDENCY_INFO = 1000314003
_CONVERSION_STAGE = 1 << 44
_COMPUTE_STAGE = 1 << 11
_TRANSFER_WRITE = 1 << 12
_STORAGE_READ = 1 << 33


def record(logical: Logical, commands: Any, request: Dispatch, starts: Sequence[int]) -> Any:
    """Record the preparations of ``request``, whose buffers begin at the addresses ``starts``,
    and the barrier behind them. The result has to live until recording has ended."""
    if not request.preparations:
        return None
    if not logical.buffer_addresses:
        raise Refused("a conversion before a shader needs bufferDeviceAddress.")
    if request.staging is not None:
        raise Refused("a conversion before a shader is for compute shaders.")
    api = logical.api
    convert = api.device_function(logical.handle, DEVICE_COMMAND)
    order = api.device_function(logical.handle, "vkCmdPipelineBarrier2")
    if convert is None or order is None:
        raise Refused(f"the driver has no {DEVICE_COMMAND} or no vkCmdPipelineBarrier2.")
    placed = []
    for one in request.preparations:
        for index, side in (
            (one.source, one.conversion.source),
            (one.destination, one.conversion.destination),
        ):
            if not 0 <= index < len(request.buffers):
                raise Refused("a conversion names a buffer that is not there.")
            if not 0 <= side.offset <= side.offset + side.size <= len(request.buffers[index].data):
                raise Refused("a matrix lies outside its buffer.")
        placed.append((one.conversion, starts[one.source], starts[one.destination]))
    infos, sizes = infos_of(api, placed)
    convert(api.foreign(commands), len(placed), infos)
    barrier = api.new(
        "VkMemoryBarrier2",
        _MEMORY_BARRIER_2,
        srcStageMask=_CONVERSION_STAGE,
        srcAccessMask=_TRANSFER_WRITE,
        dstStageMask=_COMPUTE_STAGE,
        dstAccessMask=_STORAGE_READ,
    )
    dependency = api.new(
        "VkDependencyInfo", _DEPENDENCY_INFO, memoryBarrierCount=1, pMemoryBarriers=barrier
    )
    order(commands, dependency)
    return infos, sizes, barrier, dependency
