"""The fixed shaders that a shader under test needs beside it, and how all of them are run.

They are built as small as the stage allows, so that what goes wrong is the tested stage's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from cts.device.protocol import StageModule, Staging
from cts.program.stages import RAYS
from cts.program.vector import Stage
from cts.program.vector_program import Launch
from cts.spirv import opcodes as spv
from cts.spirv.builder import Builder
from cts.spirv.core import Op as Core
from cts.spirv.stage_opcodes import BuiltIn, Decoration, Op, StorageClass
from cts.spirv.stages import MODELS, Shell, level

POINT_LIST, TRIANGLE_STRIP, PATCH_LIST = 0, 4, 10
"""VkPrimitiveTopology."""
_ALL = 0xFF
_ONE_GROUP = Launch(1, 1)


@dataclass(frozen=True)
class Stand:
    """How a launch runs in a stage: the request's part of it, and its ``workgroups``."""

    staging: Staging
    workgroups: tuple[int, int, int]


@functools.lru_cache(maxsize=256)
def stand(stage: Stage, grid: Launch, physical: int = 0) -> Stand:
    """How ``grid`` runs in ``stage``, with ``physical`` buffers that are passed by address.
    ValueError for the compute stage, which needs nothing."""
    rows, row = grid.workgroups, grid.local_size
    vertex = _module(Stage.VERTEX)
    match stage:
        case Stage.VERTEX:
            return Stand(Staging("draw", stage.value, (), POINT_LIST), (grid.invocations, 1, 1))
        case Stage.TESSELLATION_CONTROL:
            others = (vertex, _module(Stage.TESSELLATION_EVALUATION))
            return Stand(Staging("draw", stage.value, others, PATCH_LIST), (rows, 1, 1))
        case Stage.TESSELLATION_EVALUATION:
            others = (vertex, _control(level(grid)))
            return Stand(Staging("draw", stage.value, others, PATCH_LIST), (rows, 1, 1))
        case Stage.GEOMETRY:
            return Stand(Staging("draw", stage.value, (vertex,), POINT_LIST), (rows, 1, 1))
        case Stage.FRAGMENT:
            staging = Staging("draw", stage.value, (_corners(),), TRIANGLE_STRIP, (row, rows))
            return Stand(staging, (4, 1, 1))
        case Stage.TASK:
            return Stand(Staging("mesh", stage.value, (_mesh(),)), (rows, 1, 1))
        case Stage.MESH:
            return Stand(Staging("mesh", stage.value), (rows, 1, 1))
        case _ if stage in RAYS:
            return Stand(_rays(stage, physical), (row, rows, 1))
        case _:
            raise ValueError(f"the {stage.label} stage needs no companions")


def _rays(stage: Stage, physical: int) -> Staging:
    if stage is Stage.RAY_GENERATION:
        return Staging("rays", stage.value)
    if stage is Stage.CALLABLE:
        return Staging("rays", stage.value, (_caller(),))
    if stage is Stage.MISS:
        return Staging("rays", stage.value, (_tracer(False, physical),), scene="triangles")
    others = (_tracer(True, physical), _module(Stage.MISS))
    scene = "boxes" if stage is Stage.INTERSECTION else "triangles"
    return Staging("rays", stage.value, others, scene=scene)


# --- modules --------------------------------------------------------------------------------


def _built(
    stage: Stage, body: Callable[[Builder, Shell], None], *, outputs: bool = True
) -> StageModule:
    """A module whose ``main`` is ``body``, after the outputs that :meth:`Shell.open` writes."""
    builder = Builder()
    builder.begin()
    shell = Shell(builder, stage, _ONE_GROUP)
    if outputs:
        shell.open()
    else:
        builder.model = MODELS[stage]
    body(builder, shell)
    return StageModule(stage.value, builder.finish())


@functools.cache
def _module(stage: Stage) -> StageModule:
    """A shader that does nothing more than its stage has to."""
    return _built(stage, lambda builder, shell: None)


@functools.cache
def _mesh() -> StageModule:
    def body(builder: Builder, shell: Shell) -> None:
        builder.mode(spv.Op.ExecutionMode, spv.EXECUTION_MODE_LOCAL_SIZE, 1, 1, 1)

    return _built(Stage.MESH, body)


@functools.cache
def _control(segments: int) -> StageModule:
    """Makes a line of ``segments`` pieces of every patch."""
    builder = Builder()
    builder.begin()
    Shell(builder, Stage.TESSELLATION_CONTROL, _ONE_GROUP).open(segments)
    return StageModule(Stage.TESSELLATION_CONTROL.value, builder.finish())


@functools.cache
def _corners() -> StageModule:
    """The corners of everything, in the order of a strip: two triangles that share the diagonal,
    along which each has helper invocations where the other has fragments."""

    def body(builder: Builder, shell: Shell) -> None:
        u32, single = builder.int_type(32), builder.float_type(32)
        number = shell.number(builder.u32(1))
        parts = []
        for bit in (1, 2):
            masked = builder.value(Core.BitwiseAnd, u32, number, builder.u32(bit))
            side = builder.value(Core.ConvertUToF, single, masked)
            scaled = builder.value(Core.FMul, single, side, shell.single(2 / bit))
            parts.append(builder.value(Core.FSub, single, scaled, shell.single(1)))
        kind = builder.vector_type(single, 4)
        corner = builder.value(
            spv.Op.CompositeConstruct, kind, *parts, shell.single(0), shell.single(1)
        )
        shell.output(BuiltIn.Position, kind, corner)

    return _built(Stage.VERTEX, body, outputs=False)


# --- ray generation -------------------------------------------------------------------------


@functools.cache
def _caller() -> StageModule:
    """Calls the only callable shader."""

    def body(builder: Builder, shell: Shell) -> None:
        data = builder.variable(StorageClass.CallableDataKHR, builder.int_type(32))
        builder.decorate(data, Decoration.Location, 0)
        builder.emit(Op.ExecuteCallableKHR, builder.u32(0), data)

    return _built(Stage.RAY_GENERATION, body)


@functools.cache
def _tracer(hits: bool, physical: int) -> StageModule:
    """Traces one ray, which meets the scene or goes away from it."""

    def body(builder: Builder, shell: Shell) -> None:
        pair = builder.vector_type(builder.int_type(32), 2)
        block = builder.block_type((pair, 8 * physical))
        pushed = builder.variable(spv.StorageClass.PushConstant, block)
        pointer = builder.pointer_type(spv.StorageClass.PushConstant, pair)
        member = builder.value(spv.Op.AccessChain, pointer, pushed, builder.u32(0))
        address = builder.value(spv.Op.Load, pair, member)
        kind = builder.declare(Op.TypeAccelerationStructureKHR)
        scene = builder.value(Op.ConvertUToAccelerationStructureKHR, kind, address)
        payload = builder.variable(StorageClass.RayPayloadKHR, builder.int_type(32))
        builder.decorate(payload, Decoration.Location, 0)
        none = builder.u32(0)
        builder.emit(
            Op.TraceRayKHR,
            scene,
            none,  # ray flags
            builder.u32(_ALL if hits else 0),
            none,  # offset and stride of hit groups
            none,
            none,  # miss shader
            shell.floats(0.25, 0.25, 0),
            shell.single(0),
            shell.floats(0, 0, 1 if hits else -1),
            shell.single(4),
            payload,
        )

    return _built(Stage.RAY_GENERATION, body)
