"""Opcodes and enumerants of the stages other than compute.

The numbers are facts of the public SPIR-V grammar (``spirv.core.grammar.json``); names are the
grammar's.
"""

from __future__ import annotations

import enum


class Op(enum.IntEnum):
    """Instructions."""

    Select = 169
    DPdx = 207
    TraceRayKHR = 4445
    ExecuteCallableKHR = 4446
    ConvertUToAccelerationStructureKHR = 4447
    EmitMeshTasksEXT = 5294
    SetMeshOutputsEXT = 5295
    TypeAccelerationStructureKHR = 5341


class Capability(enum.IntEnum):
    """Capabilities of stages."""

    Geometry = 2
    Tessellation = 3
    RayTracingKHR = 4479
    MeshShadingEXT = 5283


class Model(enum.IntEnum):
    """Execution models."""

    Vertex = 0
    TessellationControl = 1
    TessellationEvaluation = 2
    Geometry = 3
    Fragment = 4
    GLCompute = 5
    RayGenerationKHR = 5313
    IntersectionKHR = 5314
    AnyHitKHR = 5315
    ClosestHitKHR = 5316
    MissKHR = 5317
    CallableKHR = 5318
    TaskEXT = 5364
    MeshEXT = 5365


class Mode(enum.IntEnum):
    """Execution modes."""

    Invocations = 0
    SpacingEqual = 1
    VertexOrderCcw = 5
    OriginUpperLeft = 7
    PointMode = 10
    InputPoints = 19
    Isolines = 25
    OutputVertices = 26
    OutputPoints = 27
    OutputPrimitivesEXT = 5270
    OutputTrianglesEXT = 5298


class BuiltIn(enum.IntEnum):
    """Built-in variables."""

    Position = 0
    PointSize = 1
    PrimitiveId = 7
    InvocationId = 8
    TessLevelOuter = 11
    TessLevelInner = 12
    TessCoord = 13
    FragCoord = 15
    HelperInvocation = 23
    VertexIndex = 42
    LaunchIdKHR = 5319


class Decoration(enum.IntEnum):
    """Decorations."""

    Patch = 15
    Location = 30


class StorageClass(enum.IntEnum):
    """Storage classes."""

    Output = 3
    CallableDataKHR = 5328
    RayPayloadKHR = 5338
