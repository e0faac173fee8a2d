"""Graphics pipelines, of vertices or of meshes, that draw to no attachment.

What counts is what shaders store to buffers. Unless fragments are asked for, primitives are
discarded before rasterization.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cts.device.errors import Refused
from cts.device.protocol import Staging
from cts.device.vulkan.api import check
from cts.device.vulkan.logical import Logical
from cts.device.vulkan.pipelines import Layout, Pipelines
from cts.device.vulkan.shaders import Shader, filled

_GRAPHICS_PIPELINE_CREATE_INFO = 28
_VERTEX_INPUT_CREATE_INFO = 19
_INPUT_ASSEMBLY_CREATE_INFO = 20
_TESSELLATION_CREATE_INFO = 21
_VIEWPORT_CREATE_INFO = 22
_RASTERIZATION_CREATE_INFO = 23
_MULTISAMPLE_CREATE_INFO = 24
_DYNAMIC_STATE_CREATE_INFO = 27
_RENDERING_CREATE_INFO = 1000044002
_RENDERING_INFO = 1000044000
_VIEWPORT, _SCISSOR = 0, 1
_PATCH_LIST = 10
_ONE_SAMPLE = 1


def pipeline(
    logical: Logical,
    pipelines: Pipelines,
    staging: Staging,
    shaders: Sequence[Shader],
    layout: Layout,
    phase: Callable[[str], None],
) -> Any:
    """The VkPipeline of ``shaders``, made in the phases ``module`` and ``pipeline`` if it isn't
    kept. Extents are dynamic: all but zero share a pipeline."""
    drawn = any(staging.extent)

    def make(made: list[Any]) -> Any:
        return _make(logical, staging, drawn, shaders, made, layout)

    return pipelines.kept(shaders, (staging.kind, staging.topology, drawn), layout, phase, make)


def _make(
    logical: Logical,
    staging: Staging,
    drawn: bool,
    shaders: Sequence[Shader],
    made: list[Any],
    layout: Layout,
) -> Any:
    api = logical.api
    stages, held = filled(api, shaders, made)
    rendering = api.new("VkPipelineRenderingCreateInfo", _RENDERING_CREATE_INFO)
    rasterization = api.new(
        "VkPipelineRasterizationStateCreateInfo",
        _RASTERIZATION_CREATE_INFO,
        rasterizerDiscardEnable=int(not drawn),
        lineWidth=1.0,
    )
    samples = api.new(
        "VkPipelineMultisampleStateCreateInfo",
        _MULTISAMPLE_CREATE_INFO,
        rasterizationSamples=_ONE_SAMPLE,
    )
    create = api.new(
        "VkGraphicsPipelineCreateInfo",
        _GRAPHICS_PIPELINE_CREATE_INFO,
        pNext=api.pointer(rendering, "VkPipelineRenderingCreateInfo"),
        stageCount=len(shaders),
        pStages=stages,
        pRasterizationState=rasterization,
        pMultisampleState=samples,
        layout=layout.pipeline_layout,
    )
    if staging.kind == "draw":
        held += _vertices(api, create, staging.topology)
    if drawn:
        held += _viewport(api, create)
    found = api.ffi.new("VkPipeline*")
    result = api.lib.vkCreateGraphicsPipelines(logical.handle, api.null, 1, create, api.null, found)
    del held  # held until here: the driver read it
    check(result, "vkCreateGraphicsPipelines")
    return found[0]


def _vertices(api: Any, create: Any, topology: int) -> list[Any]:
    """Vertices without attributes; returns what must be held while ``create`` is used."""
    vertices = api.new("VkPipelineVertexInputStateCreateInfo", _VERTEX_INPUT_CREATE_INFO)
    assembly = api.new(
        "VkPipelineInputAssemblyStateCreateInfo", _INPUT_ASSEMBLY_CREATE_INFO, topology=topology
    )
    create.pVertexInputState = vertices
    create.pInputAssemblyState = assembly
    if topology != _PATCH_LIST:
        return [vertices, assembly]
    patches = api.new(
        "VkPipelineTessellationStateCreateInfo", _TESSELLATION_CREATE_INFO, patchControlPoints=1
    )
    create.pTessellationState = patches
    return [vertices, assembly, patches]


def _viewport(api: Any, create: Any) -> list[Any]:
    """One viewport and scissor, set when drawing; returns what must be held."""
    states = api.ffi.new("VkDynamicState[]", [_VIEWPORT, _SCISSOR])
    dynamic = api.new(
        "VkPipelineDynamicStateCreateInfo",
        _DYNAMIC_STATE_CREATE_INFO,
        dynamicStateCount=2,
        pDynamicStates=states,
    )
    viewport = api.new(
        "VkPipelineViewportStateCreateInfo", _VIEWPORT_CREATE_INFO, viewportCount=1, scissorCount=1
    )
    create.pViewportState = viewport
    create.pDynamicState = dynamic
    return [states, dynamic, viewport]


def record(logical: Logical, staging: Staging, size: tuple[int, int, int], commands: Any) -> None:
    """Record the draw of ``size``, (vertices, instances, 1) or workgroups, to ``commands``."""
    api, device = logical.api, logical.handle
    begin = api.device_function(device, "vkCmdBeginRendering")
    end = api.device_function(device, "vkCmdEndRendering")
    if begin is None or end is None:
        raise Refused("the device can't draw without a render pass (vkCmdBeginRendering).")
    width, height = staging.extent if any(staging.extent) else (1, 1)
    info = api.new("VkRenderingInfo", _RENDERING_INFO, layerCount=1)
    info.renderArea.extent.width = width
    info.renderArea.extent.height = height
    begin(commands, info)
    if any(staging.extent):
        viewport = api.new("VkViewport", width=float(width), height=float(height), maxDepth=1.0)
        scissor = api.new("VkRect2D")
        scissor.extent.width = width
        scissor.extent.height = height
        api.lib.vkCmdSetViewport(commands, 0, 1, viewport)
        api.lib.vkCmdSetScissor(commands, 0, 1, scissor)
    if staging.kind == "draw":
        vertices, instances, _ = size
        api.lib.vkCmdDraw(commands, vertices, instances, 0, 0)
    else:
        draw = api.device_function(device, "vkCmdDrawMeshTasksEXT")
        if draw is None:
            raise Refused("the device can't draw meshes (vkCmdDrawMeshTasksEXT).")
        draw(commands, *size)
    end(commands)
