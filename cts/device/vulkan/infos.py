"""VkConvertCooperativeVectorMatrixInfoNV, as both conversion commands take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cts.device.protocol import Conversion
from cts.device.vulkan.api import Api

DEVICE_COMMAND = "vkCmdConvertCooperativeVectorMatrixNV"
_INFO = "VkConvertCooperativeVectorMatrixInfoNV"
_INFO_TYPE = 1000491004


def infos_of(api: Api, placed: Sequence[tuple[Conversion, int, int]]) -> tuple[Any, Any]:
    """The array of infos for conversions, each with the addresses that the offsets of its source
    and of its destination count from, and the sizes that the infos point to."""
    infos = api.newer.new(_INFO + "[]", len(placed))
    sizes = api.newer.new("size_t[]", [one.destination.size for one, _, _ in placed])
    for index, (one, source, destination) in enumerate(placed):
        info = infos[index]
        info.sType = _INFO_TYPE
        info.srcSize = one.source.size
        # Host and device addresses share the 64 bits of a union.
        info.srcData.deviceAddress = 0 if one.null_source else source + one.source.offset
        info.pDstSize = sizes + index
        target = 0 if one.null_destination else destination + one.destination.offset
        info.dstData.deviceAddress = target
        info.srcComponentType = one.source.component
        info.dstComponentType = one.destination.component
        info.numRows = one.rows
        info.numColumns = one.columns
        info.srcLayout = one.source.layout
        info.srcStride = one.source.stride
        info.dstLayout = one.destination.layout
        info.dstStride = one.destination.stride
    return infos, sizes
