"""Shader modules and the stages of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cts.device.vulkan.api import check
from cts.device.vulkan.logical import Logical

_SHADER_MODULE_CREATE_INFO = 16
_STAGE_CREATE_INFO = 18

Specialization = tuple[tuple[int, int, int], ...]
"""(SpecId, size in bytes, unsigned value)."""


@dataclass(frozen=True)
class Shader:
    """One stage of a pipeline; the entry point is ``main``."""

    stage: int
    """VkShaderStageFlagBits."""
    words: bytes
    specialization: Specialization = ()


@contextmanager
def modules(logical: Logical, words: Sequence[bytes]) -> Iterator[list[Any]]:
    """VkShaderModules of ``words``, which last as long as the block."""
    made: list[Any] = []
    try:
        for one in words:
            made.append(_module(logical, one))
        yield made
    finally:
        for module in made:
            logical.api.lib.vkDestroyShaderModule(logical.handle, module, logical.api.null)


def _module(logical: Logical, words: bytes) -> Any:
    api = logical.api
    # Words lie in memory of their own: their alignment and lifetime are ours.
    code = api.ffi.new("uint32_t[]", -(-len(words) // 4) or 1)
    api.ffi.memmove(code, words, len(words))
    create = api.new(
        "VkShaderModuleCreateInfo",
        _SHADER_MODULE_CREATE_INFO,
        codeSize=len(words),
        pCode=code,
    )
    made = api.ffi.new("VkShaderModule*")
    check(
        api.lib.vkCreateShaderModule(logical.handle, create, api.null, made),
        "vkCreateShaderModule",
    )
    return made[0]


def fill(api: Any, stage: Any, shader: Shader, module: Any) -> list[Any]:
    """Fill a VkPipelineShaderStageCreateInfo; returns what must be held while it is used."""
    name = api.ffi.new("char[]", b"main")
    stage.sType = _STAGE_CREATE_INFO
    stage.stage = shader.stage
    stage.module = module
    stage.pName = name
    return [name, *_specialize(api, stage, shader.specialization)]


def filled(api: Any, shaders: Sequence[Shader], made: Sequence[Any]) -> tuple[Any, list[Any]]:
    """An array of VkPipelineShaderStageCreateInfo, and what must be held while it is used."""
    stages = api.ffi.new("VkPipelineShaderStageCreateInfo[]", len(shaders))
    held: list[Any] = [stages]
    for stage, shader, module in zip(stages, shaders, made, strict=True):
        held += fill(api, stage, shader, module)
    return stages, held


def _specialize(api: Any, stage: Any, values: Specialization) -> list[Any]:
    """Give ``stage`` the values; returns what must be held while it is used."""
    if not values:
        return []
    entries = api.ffi.new("VkSpecializationMapEntry[]", len(values))
    data = b""
    for entry, (identifier, size, value) in zip(entries, values, strict=True):
        entry.constantID = identifier
        entry.offset = len(data)
        entry.size = size
        data += value.to_bytes(size, "little")
    memory = api.ffi.new("char[]", data)
    info = api.new(
        "VkSpecializationInfo",
        mapEntryCount=len(values),
        pMapEntries=entries,
        dataSize=len(data),
        pData=memory,
    )
    stage.pSpecializationInfo = info
    return [entries, memory, info]
