"""What surrounds a shader's body in each stage: the execution model and modes, the outputs that
the stage can't do without, and the number of the invocation.

:mod:`cts.program.stages` says how a launch is laid out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from cts.program.stages import (
    RAYS,
    TESSELLATION,
    TRACED,
    VERTEX_PIPELINE,
    WITH_WORKGROUPS,
    invalid_stage,
)
from cts.program.vector import Stage
from cts.program.vector_program import Launch, VectorProgram
from cts.spirv import opcodes as spv
from cts.spirv.builder import Builder
from cts.spirv.core import Op as Core
from cts.spirv.opcodes import StorageClass
from cts.spirv.stage_opcodes import BuiltIn, Capability, Decoration, Mode, Model, Op
from cts.spirv.stage_opcodes import StorageClass as More
from cts.spirv.vector_opcodes import EXTENDED_SET, Extended
from cts.spirv.vector_opcodes import Op as Vector

MODELS = {
    Stage.VERTEX: Model.Vertex,
    Stage.TESSELLATION_CONTROL: Model.TessellationControl,
    Stage.TESSELLATION_EVALUATION: Model.TessellationEvaluation,
    Stage.GEOMETRY: Model.Geometry,
    Stage.FRAGMENT: Model.Fragment,
    Stage.COMPUTE: Model.GLCompute,
    Stage.TASK: Model.TaskEXT,
    Stage.MESH: Model.MeshEXT,
    Stage.RAY_GENERATION: Model.RayGenerationKHR,
    Stage.ANY_HIT: Model.AnyHitKHR,
    Stage.CLOSEST_HIT: Model.ClosestHitKHR,
    Stage.MISS: Model.MissKHR,
    Stage.INTERSECTION: Model.IntersectionKHR,
    Stage.CALLABLE: Model.CallableKHR,
}
"""The execution model of each stage."""

_RAYS = ("AccelerationStructures", "AddressedTables", "DeferredHostOperations")
STAGE_NEEDS: dict[Stage, tuple[str, ...]] = {
    **dict.fromkeys(VERTEX_PIPELINE, ("VertexStores", "Rendering")),
    Stage.FRAGMENT: ("FragmentStores", "Rendering"),
    Stage.TASK: ("TaskShader", "MeshShader", "Rendering"),
    Stage.MESH: ("MeshShader", "Rendering"),
    **dict.fromkeys(RAYS, _RAYS),
    **dict.fromkeys(TRACED, (*_RAYS, "AccelerationStructure")),
}
"""What the pipeline of each stage needs, keys of ``cts.program.requires.STAGE_NEEDS``."""


def level(grid: Launch) -> int:
    """The tessellation level by which a patch gets ``local_size`` vertices in a row."""
    return max(1, grid.local_size - 1)


class Shell:
    """The surroundings of one entry point. ``open`` comes first in the function, ``run`` appends
    the body, and ``number`` may be asked for in it."""

    def __init__(self, builder: Builder, stage: Stage, grid: Launch) -> None:
        self._builder = builder
        self._stage = stage
        self._grid = grid
        self._u32 = builder.int_type(32)
        self._inputs: dict[int, tuple[int, int]] = {}

    # --- values -----------------------------------------------------------------------------

    def single(self, value: float) -> int:
        """A float32 constant."""
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        return self._builder.constant_op(spv.Op.Constant, self._f32, bits)

    def floats(self, *values: float) -> int:
        """A constant vector of float32."""
        parts = [self.single(value) for value in values]
        kind = self._builder.vector_type(self._f32, len(values))
        return self._builder.constant_op(spv.Op.ConstantComposite, kind, *parts)

    @property
    def _f32(self) -> int:
        return self._builder.float_type(32)

    def _input(self, which: int, kind: int) -> int:
        """The value of a built-in input."""
        if which not in self._inputs:
            variable = self._builder.variable(StorageClass.Input, kind)
            self._builder.decorate(variable, spv.Decoration.BuiltIn, which)
            self._inputs[which] = variable, kind
        variable, kind = self._inputs[which]
        return self._builder.value(spv.Op.Load, kind, variable)

    def _part(self, which: int, component: int, scalar: int, size: int) -> int:
        """One component of a built-in input vector."""
        vector = self._input(which, self._builder.vector_type(scalar, size))
        return self._builder.value(spv.Op.CompositeExtract, scalar, vector, component)

    def builtin(self, which: spv.BuiltIn) -> int:
        """The value of a built-in of stages with workgroups; component x of WorkgroupId."""
        if which is spv.BuiltIn.WorkgroupId:
            return self._part(which, 0, self._u32, 3)
        return self._input(which, self._u32)

    def _unsigned(self, value: int) -> int:
        return self._builder.value(Core.ConvertFToU, self._u32, value)

    def output(self, which: BuiltIn, kind: int, value: int, patch: bool = False) -> None:
        """Write a constant to a built-in output."""
        builder = self._builder
        variable = builder.variable(More.Output, kind)
        builder.decorate(variable, spv.Decoration.BuiltIn, which)
        if patch:
            builder.decorate(variable, Decoration.Patch)
        builder.emit(spv.Op.Store, variable, value)

    # --- the entry point --------------------------------------------------------------------

    def open(self, segments: int = 1) -> None:
        """Declare the entry point and write what the stage has to. A control shader makes a line
        of ``segments`` pieces of every patch."""
        builder, stage = self._builder, self._stage
        builder.model = MODELS[stage]
        if stage in RAYS:
            builder.require(Capability.RayTracingKHR, "SPV_KHR_ray_tracing")
        if stage in TESSELLATION:
            builder.require(Capability.Tessellation)
        if stage in (Stage.TASK, Stage.MESH):
            builder.require(Capability.MeshShadingEXT, "SPV_EXT_mesh_shader")
        match stage:
            case Stage.VERTEX:
                self._position()
                self.output(BuiltIn.PointSize, self._f32, self.single(1))
            case Stage.TESSELLATION_CONTROL:
                self._mode(Mode.OutputVertices, self._grid.local_size)
                self._levels(segments)
            case Stage.TESSELLATION_EVALUATION:
                self._isolines()
            case Stage.GEOMETRY:
                builder.require(Capability.Geometry)
                self._mode(Mode.InputPoints)
                self._mode(Mode.Invocations, self._grid.local_size)
                self._mode(Mode.OutputPoints)
                self._mode(Mode.OutputVertices, 1)
            case Stage.FRAGMENT:
                self._mode(Mode.OriginUpperLeft)
            case Stage.MESH:
                self._no_mesh()
            case Stage.TASK:
                none = builder.u32(0)
                builder.ending = (4 << 16 | Op.EmitMeshTasksEXT, none, none, none)
            case _:
                pass

    def _mode(self, mode: Mode, *operands: int) -> None:
        self._builder.mode(spv.Op.ExecutionMode, mode, *operands)

    def _position(self) -> None:
        """Write a position; nobody looks at it."""
        kind = self._builder.vector_type(self._f32, 4)
        self.output(BuiltIn.Position, kind, self.floats(0, 0, 0, 1))

    def _levels(self, segments: int) -> None:
        """Write the levels of a patch that becomes one line of ``segments`` pieces."""
        builder = self._builder
        one, other = self.single(1), self.single(segments)
        for which, parts in (
            (BuiltIn.TessLevelOuter, (one, other, one, one)),
            (BuiltIn.TessLevelInner, (one, one)),
        ):
            kind = builder.array_type(self._f32, builder.u32(len(parts)))
            value = builder.constant_op(spv.Op.ConstantComposite, kind, *parts)
            self.output(which, kind, value, patch=True)

    def _isolines(self) -> None:
        """The modes and the output of an evaluation shader."""
        for mode in (Mode.Isolines, Mode.SpacingEqual, Mode.VertexOrderCcw, Mode.PointMode):
            self._mode(mode)
        self._position()

    def _no_mesh(self) -> None:
        """The modes of a mesh shader that makes no primitives."""
        builder = self._builder
        self._mode(Mode.OutputTrianglesEXT)
        self._mode(Mode.OutputVertices, 3)
        self._mode(Mode.OutputPrimitivesEXT, 1)
        builder.emit(Op.SetMeshOutputsEXT, builder.u32(0), builder.u32(0))

    def run(self, body: Callable[[], None]) -> None:
        """Append the body. Where the stage has something to do after it, the body is a function
        of its own, so that to return from it leaves that to do."""
        builder = self._builder
        if self._stage is not Stage.TASK:
            body()
            return
        void = builder.declare(spv.Op.TypeVoid)
        function = builder.function(void, (), body)
        builder.value(Core.FunctionCall, void, function)

    # --- the number -------------------------------------------------------------------------

    def number(self, local_size: int) -> int:
        """The number of the invocation; ``local_size`` is the id of the length of a row."""
        builder, u32, stage = self._builder, self._u32, self._stage
        if stage is Stage.VERTEX:
            return self._input(BuiltIn.VertexIndex, u32)
        if stage in WITH_WORKGROUPS:
            row = self.builtin(spv.BuiltIn.WorkgroupId)
            place = self.builtin(spv.BuiltIn.LocalInvocationIndex)
        elif stage is Stage.FRAGMENT:
            row = self._unsigned(self._part(BuiltIn.FragCoord, 1, self._f32, 4))
            place = self._unsigned(self._part(BuiltIn.FragCoord, 0, self._f32, 4))
        elif stage in RAYS:
            row = self._part(BuiltIn.LaunchIdKHR, 1, u32, 3)
            place = self._part(BuiltIn.LaunchIdKHR, 0, u32, 3)
        else:
            row = self._input(BuiltIn.PrimitiveId, u32)
            place = self._vertex() if stage is Stage.TESSELLATION_EVALUATION else self._instance()
        before = builder.value(spv.Op.IMul, u32, row, local_size)
        found = builder.value(spv.Op.IAdd, u32, before, place)
        # Helper invocations may lie outside of the rectangle, yet read memory as the others do.
        return self._least(found, self._grid.invocations) if stage is Stage.FRAGMENT else found

    def _instance(self) -> int:
        return self._input(BuiltIn.InvocationId, self._u32)

    def _vertex(self) -> int:
        """Which vertex of the line this is: u goes from 0 to 1 in equal steps, up to rounding."""
        builder = self._builder
        u = self._part(BuiltIn.TessCoord, 0, self._f32, 3)
        steps = self.single(level(self._grid))
        scaled = builder.value(Core.FMul, self._f32, u, steps)
        nearest = builder.value(Core.FAdd, self._f32, scaled, self.single(0.5))
        return self._least(self._unsigned(nearest), self._grid.local_size)

    def _least(self, value: int, count: int) -> int:
        """``value``, or the last number of ``count`` where it is none of them."""
        builder = self._builder
        instructions = builder.import_set(EXTENDED_SET)
        last = builder.u32(count - 1)
        return builder.value(Vector.ExtInst, self._u32, instructions, Extended.UMin, value, last)

    def helper(self) -> int | None:
        """Whether this is a helper invocation, a boolean; None in stages that have none.

        It depends on a derivative, which is what helper invocations are launched for.
        """
        if self._stage is not Stage.FRAGMENT:
            return None
        builder = self._builder
        boolean = builder.declare(spv.Op.TypeBool)
        x = self._part(BuiltIn.FragCoord, 0, self._f32, 4)
        slope = self._unsigned(builder.value(Op.DPdx, self._f32, x))  # 1, from pixel to pixel
        helper = self._input(BuiltIn.HelperInvocation, boolean)
        zero = builder.u32(0)
        found = builder.value(Op.Select, self._u32, helper, slope, zero)
        return builder.value(Core.INotEqual, boolean, found, zero)


def demand_stage(program: VectorProgram) -> None:
    """ValueError where a program can't mean one thing in its stage."""
    broken = invalid_stage(program)
    if broken is not None:
        raise ValueError(broken)
