"""How a launch is laid out in each shader stage, and which of a device's limits it meets.

A launch of ``workgroups`` times ``local_size`` invocations means: in stages with workgroups
(compute, task, mesh) just that; elsewhere rows of ``local_size`` invocations, one row for each
point (geometry: its instances), patch (tessellation: its output or generated vertices), line of
pixels (fragment) or line of a trace (ray tracing). Invocations of a vertex shader are counted
through.
"""

from __future__ import annotations

from collections.abc import Iterator

from cts.device.protocol import DeviceInfo
from cts.program.types import Storage
from cts.program.vector import OuterProduct, ReduceSum, Stage
from cts.program.vector_program import Helpers, Launch, VectorProgram, walk_vectors

WITH_WORKGROUPS = frozenset({Stage.COMPUTE, Stage.TASK, Stage.MESH})
"""Stages with workgroups, and so with memory and barriers of them."""
TESSELLATION = frozenset({Stage.TESSELLATION_CONTROL, Stage.TESSELLATION_EVALUATION})
VERTEX_PIPELINE = frozenset({Stage.VERTEX, Stage.GEOMETRY, *TESSELLATION})
TRACED = frozenset({Stage.ANY_HIT, Stage.CLOSEST_HIT, Stage.MISS, Stage.INTERSECTION})
"""Stages that a traced ray leads to."""
RAYS = frozenset({Stage.RAY_GENERATION, Stage.CALLABLE, *TRACED})
GRAPHICS = VERTEX_PIPELINE | {Stage.FRAGMENT, Stage.TASK, Stage.MESH}
"""Stages of a graphics pipeline."""
ONCE = (WITH_WORKGROUPS | RAYS) - {Stage.INTERSECTION}
"""Stages that run once for each invocation of a launch. The others run at least once (VkSpec,
chapter "Shaders" on the execution of each; for any-hit shaders the scene asks for one run):
there a program gives one result only if running it again changes nothing."""

_LIMITS = "VkPhysicalDeviceLimits."
_MESH = "VkPhysicalDeviceMeshShaderPropertiesEXT."
_RAYS = "VkPhysicalDeviceRayTracingPipelinePropertiesKHR."
_GRAPHICS_QUEUE, _COMPUTE_QUEUE = 1, 2


def invalid_stage(program: VectorProgram) -> str | None:
    """Why ``program`` can't mean one thing in its stage; None if it does."""
    stage = program.stage
    name = stage.label.replace("_", " ")
    counted = tuple(it for it in program.body if not isinstance(it, Helpers))
    if stage not in WITH_WORKGROUPS and any(
        buffer.storage is Storage.WORKGROUP for buffer in program.buffers
    ):
        return f"there is no workgroup memory in {name} shaders"
    if stage not in ONCE and any(
        isinstance(it, OuterProduct | ReduceSum) for it in walk_vectors(counted)
    ):
        return f"{name} shaders may run more than once, and accumulate each time"
    return None


def stage_reasons(program: VectorProgram, info: DeviceInfo) -> Iterator[str]:
    """Reasons why this device can't run the launch of ``program`` in its stage, beyond features
    and extensions."""
    stage, grid = program.stage, program.grid
    queue = _GRAPHICS_QUEUE if stage in GRAPHICS else _COMPUTE_QUEUE
    if not any(flags & queue for flags in info.queues):
        yield f"no queue runs the {stage.label} stage"
    for name, value, most in (*_bounds(stage, grid, info), *_shared(program, info)):
        if value > most:
            yield f"{value} {name} exceed {most} in the {stage.label} stage"


def _shared(program: VectorProgram, info: DeviceInfo) -> Iterator[tuple[str, int, int]]:
    """Bytes of workgroup memory, with what rounds arrays up to whole units of 16 bytes."""
    size = sum(
        buffer.size * buffer.pointee.bytes + 16
        for buffer in program.buffers
        if buffer.storage is Storage.WORKGROUP
    )
    if size and program.stage in WITH_WORKGROUPS:
        limit = f"{_MESH}max{program.stage.label.capitalize()}SharedMemorySize"
        yield "bytes of workgroup memory", size, int(info.properties.get(limit, 0))


def _bounds(stage: Stage, grid: Launch, info: DeviceInfo) -> Iterator[tuple[str, int, int]]:
    """What is counted, how many there are, how many there may be. A limit that the device
    doesn't state is that of a stage that it doesn't have."""
    properties = info.properties

    def most(name: str, index: int | None = None) -> int:
        found = properties.get(name, 0)
        return int(found[index] if index is not None and found else found or 0)

    match stage:
        case Stage.GEOMETRY:
            yield "instances", grid.local_size, most(_LIMITS + "maxGeometryShaderInvocations")
        case Stage.TESSELLATION_CONTROL:
            yield "output vertices", grid.local_size, most(_LIMITS + "maxTessellationPatchSize")
        case Stage.TESSELLATION_EVALUATION:
            level = most(_LIMITS + "maxTessellationGenerationLevel")
            yield "generated vertices", grid.local_size, level + 1
        case Stage.FRAGMENT:
            for side, size, index in (
                ("Width", grid.local_size, 0),
                ("Height", grid.workgroups, 1),
            ):
                room = min(
                    most(f"{_LIMITS}maxFramebuffer{side}"),
                    most(_LIMITS + "maxViewportDimensions", index),
                )
                yield f"pixels of {side.lower()}", size, room
        case Stage.TASK | Stage.MESH:
            kind = f"{_MESH}max{stage.label.capitalize()}WorkGroup"
            yield "workgroups", grid.workgroups, most(kind + "Count", 0)
            yield "workgroups in all", grid.workgroups, most(kind + "TotalCount")
            yield "local invocations", grid.local_size, most(kind + "Invocations")
            yield "local invocations in a row", grid.local_size, most(kind + "Size", 0)
        case _ if stage in RAYS:
            room = most(_RAYS + "maxRayDispatchInvocationCount")
            yield "invocations", grid.invocations, room
        case _:
            pass


def _extent(grid: Launch) -> tuple[tuple[str, int], ...]:
    return ("Width", grid.local_size), ("Height", grid.workgroups)
