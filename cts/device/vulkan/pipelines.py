"""Pipelines and their layouts, kept by what they were made from."""

from __future__ import annotations

import hashlib
import struct
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cts.device.vulkan.api import check
from cts.device.vulkan.logical import Logical
from cts.device.vulkan.shaders import Shader, Specialization, fill, modules

_COMPUTE_PIPELINE_CREATE_INFO = 29
_PIPELINE_LAYOUT_CREATE_INFO = 30
_SET_LAYOUT_CREATE_INFO = 32
_POOL_CREATE_INFO = 33
_SET_ALLOCATE_INFO = 34
_WRITE_SET = 35
_REQUIRED_SIZE_CREATE_INFO = 1000225001
COMPUTE_STAGE = 0x20
_STORAGE_BUFFER = 7
_REQUIRE_FULL_SUBGROUPS = 2

_MAGIC = 0x07230203
_HEADER_WORDS = 5
_OP_CAPABILITY = 17
_MATRIX_CAPABILITIES = frozenset({6022, 5357})
"""CooperativeMatrixKHR, CooperativeMatrixNV (SPIR-V grammar)."""

KEPT_PIPELINES = 32
KEPT_LAYOUTS = 32


@dataclass(frozen=True)
class Layout:
    """Set layout, pipeline layout and the one descriptor set of that layout."""

    set_layout: Any
    pipeline_layout: Any
    pool: Any
    descriptor_set: Any
    bindings: tuple[int, ...]
    physical: int
    """Number of device addresses in the push constants."""
    stages: int
    """VkShaderStageFlags of the stages that use it."""


def key_of(shaders: Sequence[Shader]) -> tuple[Any, ...]:
    """Equal for shaders that are equal."""
    return tuple(
        (one.stage, hashlib.blake2b(one.words, digest_size=16).digest(), one.specialization)
        for one in shaders
    )


def needs_full_subgroups(words: bytes) -> bool:
    """Whether the module declares a cooperative matrix capability.

    Such a module runs in full subgroups only, and its local size is a multiple of them.
    """
    count = len(words) // 4
    if count < _HEADER_WORDS:
        return False
    all_words = struct.unpack(f"<{count}I", words[: count * 4])
    position = _HEADER_WORDS
    while position + 1 < count and all_words[position] & 0xFFFF == _OP_CAPABILITY:
        if all_words[position + 1] in _MATRIX_CAPABILITIES:
            return True
        position += max(1, all_words[position] >> 16)
    return False


class Pipelines:
    """Least recently used layouts and pipelines of one logical device."""

    def __init__(self, logical: Logical) -> None:
        self._logical = logical
        self._api = logical.api
        self._layouts: OrderedDict[tuple[Any, ...], Layout] = OrderedDict()
        self._pipelines: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def layout(
        self, bindings: tuple[int, ...], physical: int, stages: int = COMPUTE_STAGE
    ) -> Layout:
        """The layout with storage buffers at ``bindings`` and ``physical`` addresses, for
        ``stages``."""
        key = (bindings, physical, stages)
        if key not in self._layouts:
            self._layouts[key] = self._make_layout(bindings, physical, stages)
            if len(self._layouts) > KEPT_LAYOUTS:
                self._destroy_layout(self._layouts.popitem(last=False)[1])
        self._layouts.move_to_end(key)
        return self._layouts[key]

    def pipeline(
        self,
        words: bytes,
        specialization: Specialization,
        subgroup_size: int | None,
        layout: Layout,
        phase: Callable[[str], None],
    ) -> Any:
        """The compute VkPipeline, made in the phases ``module`` and ``pipeline`` if it isn't
        kept."""
        shader = Shader(COMPUTE_STAGE, words, specialization)

        def make(made: list[Any]) -> Any:
            flags = (
                _REQUIRE_FULL_SUBGROUPS
                if self._logical.full_subgroups and needs_full_subgroups(words)
                else 0
            )
            return self._make(shader, made[0], subgroup_size, flags, layout)

        return self.kept((shader,), (subgroup_size,), layout, phase, make)

    def kept(
        self,
        shaders: Sequence[Shader],
        state: tuple[Any, ...],
        layout: Layout,
        phase: Callable[[str], None],
        make: Callable[[list[Any]], Any],
    ) -> Any:
        """The VkPipeline of ``shaders`` and ``state``; ``make`` makes it of their modules if it
        isn't kept."""
        key = (key_of(shaders), state, layout.bindings, layout.physical)
        if key not in self._pipelines:
            phase("module")
            with modules(self._logical, [shader.words for shader in shaders]) as made:
                phase("pipeline")
                self._pipelines[key] = make(made)
            if len(self._pipelines) > KEPT_PIPELINES:
                self._destroy_pipeline(self._pipelines.popitem(last=False)[1])
        self._pipelines.move_to_end(key)
        return self._pipelines[key]

    def destroy(self) -> None:
        """Destroy everything that is kept."""
        for pipeline in self._pipelines.values():
            self._destroy_pipeline(pipeline)
        for layout in self._layouts.values():
            self._destroy_layout(layout)
        self._pipelines.clear()
        self._layouts.clear()

    def _make(
        self,
        shader: Shader,
        module: Any,
        subgroup_size: int | None,
        flags: int,
        layout: Layout,
    ) -> Any:
        api = self._api
        create = api.new(
            "VkComputePipelineCreateInfo",
            _COMPUTE_PIPELINE_CREATE_INFO,
            layout=layout.pipeline_layout,
        )
        stage = create.stage
        stage.flags = flags
        held = fill(api, stage, shader, module)
        required = api.new(
            "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo",
            _REQUIRED_SIZE_CREATE_INFO,
            requiredSubgroupSize=subgroup_size or 0,
        )
        if subgroup_size is not None:
            stage.pNext = required
        made = api.ffi.new("VkPipeline*")
        result = api.lib.vkCreateComputePipelines(
            self._logical.handle, api.null, 1, create, api.null, made
        )
        del held  # held until here: the driver read it
        check(result, "vkCreateComputePipelines")
        return made[0]

    def _make_layout(self, bindings: tuple[int, ...], physical: int, stages: int) -> Layout:
        api, device = self._api, self._logical.handle
        entries = api.ffi.new("VkDescriptorSetLayoutBinding[]", max(1, len(bindings)))
        for entry, binding in zip(entries, bindings, strict=False):
            entry.binding = binding
            entry.descriptorType = _STORAGE_BUFFER
            entry.descriptorCount = 1
            entry.stageFlags = stages
        set_create = api.new(
            "VkDescriptorSetLayoutCreateInfo",
            _SET_LAYOUT_CREATE_INFO,
            bindingCount=len(bindings),
            pBindings=entries,
        )
        set_layout = api.ffi.new("VkDescriptorSetLayout*")
        check(
            api.lib.vkCreateDescriptorSetLayout(device, set_create, api.null, set_layout),
            "vkCreateDescriptorSetLayout",
        )
        ranges = api.ffi.new("VkPushConstantRange[1]")
        ranges[0].stageFlags = stages
        ranges[0].size = 8 * physical
        create = api.new(
            "VkPipelineLayoutCreateInfo",
            _PIPELINE_LAYOUT_CREATE_INFO,
            setLayoutCount=1,
            pSetLayouts=set_layout,
            pushConstantRangeCount=1 if physical else 0,
            pPushConstantRanges=ranges,
        )
        made = api.ffi.new("VkPipelineLayout*")
        check(
            api.lib.vkCreatePipelineLayout(device, create, api.null, made),
            "vkCreatePipelineLayout",
        )
        pool, descriptor_set = self._make_set(set_layout, len(bindings))
        return Layout(set_layout[0], made[0], pool, descriptor_set, bindings, physical, stages)

    def _make_set(self, set_layout: Any, count: int) -> tuple[Any, Any]:
        api, device = self._api, self._logical.handle
        size = api.new("VkDescriptorPoolSize", type=_STORAGE_BUFFER, descriptorCount=max(1, count))
        create = api.new(
            "VkDescriptorPoolCreateInfo",
            _POOL_CREATE_INFO,
            maxSets=1,
            poolSizeCount=1,
            pPoolSizes=size,
        )
        pool = api.ffi.new("VkDescriptorPool*")
        check(
            api.lib.vkCreateDescriptorPool(device, create, api.null, pool),
            "vkCreateDescriptorPool",
        )
        allocate = api.new(
            "VkDescriptorSetAllocateInfo",
            _SET_ALLOCATE_INFO,
            descriptorPool=pool[0],
            descriptorSetCount=1,
            pSetLayouts=set_layout,
        )
        made = api.ffi.new("VkDescriptorSet*")
        check(api.lib.vkAllocateDescriptorSets(device, allocate, made), "vkAllocateDescriptorSets")
        return pool[0], made[0]

    def point(self, layout: Layout, places: list[tuple[Any, int, int]]) -> None:
        """Write the set: binding ``layout.bindings[i]`` is ``places[i]``, (buffer, offset,
        range)."""
        count = len(places)
        if not count:
            return
        api = self._api
        infos = api.ffi.new("VkDescriptorBufferInfo[]", count)
        writes = api.ffi.new("VkWriteDescriptorSet[]", count)
        for index, (buffer, offset, size) in enumerate(places):
            infos[index].buffer = buffer
            infos[index].offset = offset
            infos[index].range = size
            write = writes[index]
            write.sType = _WRITE_SET
            write.dstSet = layout.descriptor_set
            write.dstBinding = layout.bindings[index]
            write.descriptorCount = 1
            write.descriptorType = _STORAGE_BUFFER
            write.pBufferInfo = infos + index
        api.lib.vkUpdateDescriptorSets(self._logical.handle, count, writes, 0, api.null)

    def _destroy_pipeline(self, pipeline: Any) -> None:
        self._api.lib.vkDestroyPipeline(self._logical.handle, pipeline, self._api.null)

    def _destroy_layout(self, layout: Layout) -> None:
        lib, device, null = self._api.lib, self._logical.handle, self._api.null
        lib.vkDestroyDescriptorPool(device, layout.pool, null)
        lib.vkDestroyPipelineLayout(device, layout.pipeline_layout, null)
        lib.vkDestroyDescriptorSetLayout(device, layout.set_layout, null)
