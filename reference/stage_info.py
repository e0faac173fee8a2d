"""What the reference device says of itself about the stages other than compute."""

from __future__ import annotations

from collections.abc import Mapping

from cts.program.requires import STAGE_NEEDS

EXTENSIONS: Mapping[str, int] = {
    "VK_EXT_mesh_shader": 1,
    "VK_KHR_acceleration_structure": 13,
    "VK_KHR_deferred_host_operations": 4,
    "VK_KHR_ray_tracing_pipeline": 1,
}
FEATURES = frozenset(need.feature for need in STAGE_NEEDS.values() if need.feature is not None)

_LIMITS = "VkPhysicalDeviceLimits."
_MESH = "VkPhysicalDeviceMeshShaderPropertiesEXT."

PROPERTIES: Mapping[str, object] = {
    _LIMITS + "maxGeometryShaderInvocations": 32,
    _LIMITS + "maxTessellationPatchSize": 32,
    _LIMITS + "maxTessellationGenerationLevel": 64,
    _LIMITS + "maxFramebufferWidth": 16384,
    _LIMITS + "maxFramebufferHeight": 16384,
    _LIMITS + "maxViewportDimensions": (16384, 16384),
    "VkPhysicalDeviceRayTracingPipelinePropertiesKHR.maxRayDispatchInvocationCount": 1 << 30,
    **{
        f"{_MESH}max{kind}{name}": value
        for kind in ("Task", "Mesh")
        for name, value in (
            ("WorkGroupTotalCount", 1 << 22),
            ("WorkGroupCount", (65535, 65535, 65535)),
            ("WorkGroupInvocations", 128),
            ("WorkGroupSize", (128, 128, 128)),
            ("SharedMemorySize", 28672),
        )
    },
}
"""Mostly what the specification requires of a device that has the stage."""
