"""Ray-tracing pipelines with their shader binding tables, and the scenes that rays meet."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from cts.device.errors import Refused
from cts.device.vulkan.api import VulkanError, check
from cts.device.vulkan.logical import Logical
from cts.device.vulkan.memory import Block
from cts.device.vulkan.pipelines import Layout, key_of
from cts.device.vulkan.recorder import Recorder
from cts.device.vulkan.scene import Scene
from cts.device.vulkan.shaders import Shader, filled, modules

_PIPELINE_CREATE_INFO = 1000150015
_GROUP_CREATE_INFO = 1000150016
_PROPERTIES_2 = 1000059001
_PIPELINE_PROPERTIES = 1000347001
_TABLE_USAGE = 0x400
_UNUSED = 0xFFFFFFFF

_RAY_GENERATION, _ANY_HIT, _CLOSEST_HIT = 0x100, 0x200, 0x400
_MISS, _INTERSECTION, _CALLABLE = 0x800, 0x1000, 0x2000
_GENERAL, _TRIANGLES_HIT, _PROCEDURAL_HIT = 0, 1, 2
_MEMBERS = {
    _RAY_GENERATION: (_GENERAL, "generalShader"),
    _MISS: (_GENERAL, "generalShader"),
    _CALLABLE: (_GENERAL, "generalShader"),
    _ANY_HIT: (_TRIANGLES_HIT, "anyHitShader"),
    _CLOSEST_HIT: (_TRIANGLES_HIT, "closestHitShader"),
    _INTERSECTION: (_PROCEDURAL_HIT, "intersectionShader"),
}
"""The type of a stage's shader group, and the group's member for the shader."""
_TABLES = (
    (_RAY_GENERATION,),
    (_MISS,),
    (_ANY_HIT, _CLOSEST_HIT, _INTERSECTION),
    (_CALLABLE,),
)
"""The stages of each of the four tables that vkCmdTraceRaysKHR takes."""
KEPT_TRACERS = 64


class Tracer:
    """A pipeline and its tables, each of at most one record."""

    def __init__(
        self,
        logical: Logical,
        shaders: Sequence[Shader],
        layout: Layout,
        phase: Callable[[str], None],
    ) -> None:
        """Made in the phases ``module`` and ``pipeline``."""
        if not logical.buffer_addresses:
            raise Refused("rays need bufferDeviceAddress, which is not enabled.")
        if any(shader.stage not in _MEMBERS for shader in shaders):
            raise Refused("a shader is of no stage that rays have.")
        self._logical = logical
        self._api = logical.api
        self._table: Block | None = None
        self.pipeline: Any = None
        phase("module")
        with modules(logical, [shader.words for shader in shaders]) as made:
            phase("pipeline")
            self.pipeline = self._make(shaders, made, layout)
        try:
            self._regions = self._tables(shaders)
        except VulkanError:
            self.destroy()
            raise

    def record(self, commands: Any, size: tuple[int, int, int]) -> None:
        """Record a trace of width, height and depth ``size``."""
        self._function("vkCmdTraceRaysKHR")(commands, *self._regions, *size)

    def destroy(self) -> None:
        """Give the pipeline and the tables back."""
        self._api.lib.vkDestroyPipeline(self._logical.handle, self.pipeline, self._api.null)
        if self._table is not None:
            self._table.destroy()

    def _function(self, name: str) -> Any:
        found = self._api.device_function(self._logical.handle, name)
        if found is None:
            raise Refused(f"the device has no {name}.")
        return found

    def _make(self, shaders: Sequence[Shader], made: list[Any], layout: Layout) -> Any:
        """One group for each shader, in their order."""
        api = self._api
        stages, held = filled(api, shaders, made)
        groups = api.ffi.new("VkRayTracingShaderGroupCreateInfoKHR[]", len(shaders))
        for index, shader in enumerate(shaders):
            group = groups[index]
            group.sType = _GROUP_CREATE_INFO
            for _, member in _MEMBERS.values():
                setattr(group, member, _UNUSED)
            group.type, member = _MEMBERS[shader.stage]
            setattr(group, member, index)
        create = api.new(
            "VkRayTracingPipelineCreateInfoKHR",
            _PIPELINE_CREATE_INFO,
            stageCount=len(shaders),
            pStages=stages,
            groupCount=len(shaders),
            pGroups=groups,
            maxPipelineRayRecursionDepth=1,
            layout=layout.pipeline_layout,
        )
        found = api.ffi.new("VkPipeline*")
        result = self._function("vkCreateRayTracingPipelinesKHR")(
            self._logical.handle, api.null, api.null, 1, create, api.null, found
        )
        del held  # held until here: the driver read it
        check(result, "vkCreateRayTracingPipelinesKHR")
        return found[0]

    def _tables(self, shaders: Sequence[Shader]) -> list[Any]:
        """The four VkStridedDeviceAddressRegionKHR; a table without a shader is empty."""
        api, count = self._api, len(shaders)
        limits = _limits(self._logical)
        size, base = int(limits.shaderGroupHandleSize), int(limits.shaderGroupBaseAlignment)
        handles = api.ffi.new("char[]", size * count)
        check(
            self._function("vkGetRayTracingShaderGroupHandlesKHR")(
                self._logical.handle, self.pipeline, 0, count, size * count, handles
            ),
            "vkGetRayTracingShaderGroupHandlesKHR",
        )
        pitch = -(-size // base) * base
        self._table = Block(self._logical, pitch * count + base, _TABLE_USAGE)
        first = -(-self._table.address // base) * base
        regions = []
        for stages in _TABLES:
            region = api.new("VkStridedDeviceAddressRegionKHR")
            regions.append(region)
            for index, shader in enumerate(shaders):
                if shader.stage in stages:
                    start = first - self._table.address + pitch * index
                    handle = api.ffi.buffer(handles)[size * index : size * (index + 1)]
                    self._table.view[start : start + size] = handle
                    region.deviceAddress = first + pitch * index
                    region.stride = region.size = pitch
        return regions


def _limits(logical: Logical) -> Any:
    """VkPhysicalDeviceRayTracingPipelinePropertiesKHR."""
    api = logical.api
    kind = "VkPhysicalDeviceRayTracingPipelinePropertiesKHR"
    limits = api.new(kind, _PIPELINE_PROPERTIES)
    asked = api.new("VkPhysicalDeviceProperties2", _PROPERTIES_2, pNext=api.pointer(limits, kind))
    api.lib.vkGetPhysicalDeviceProperties2(logical.physical.handle, asked)
    return limits


class Tracers:
    """Least recently used pipelines of one logical device, and its scenes."""

    def __init__(self, logical: Logical, recorder: Recorder) -> None:
        self._logical = logical
        self._recorder = recorder
        self._kept: OrderedDict[tuple[Any, ...], Tracer] = OrderedDict()
        self._scenes: dict[str, Scene] = {}

    def scene(self, kind: str, phase: Callable[[str], None], patience: float) -> int:
        """The address of a scene, built in the phase ``device`` if it isn't kept."""
        if kind not in self._scenes:
            phase("device")
            self._scenes[kind] = Scene(self._logical, self._recorder, kind, patience)
        return self._scenes[kind].address

    def tracer(
        self, shaders: Sequence[Shader], layout: Layout, phase: Callable[[str], None]
    ) -> Tracer:
        """The pipeline of ``shaders``."""
        key = (key_of(shaders), layout.bindings, layout.physical)
        if key not in self._kept:
            self._kept[key] = Tracer(self._logical, shaders, layout, phase)
            if len(self._kept) > KEPT_TRACERS:
                self._kept.popitem(last=False)[1].destroy()
        self._kept.move_to_end(key)
        return self._kept[key]

    def destroy(self) -> None:
        """Give everything back."""
        for tracer in self._kept.values():
            tracer.destroy()
        for scene in self._scenes.values():
            scene.destroy()
        self._kept.clear()
        self._scenes.clear()
