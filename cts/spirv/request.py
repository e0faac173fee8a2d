"""From a program and the contents of its buffers to a complete request."""

from __future__ import annotations

from collections.abc import Mapping

from cts.device.protocol import (
    BufferData,
    Conversion,
    DeviceInfo,
    Dispatch,
    Matrix,
    Preparation,
)
from cts.program.model import Grid, Program, Storage
from cts.program.records import record_needs
from cts.program.requires import NEEDS, PREPARATIONS, combine, requirements
from cts.program.vector import MatrixLayout, Stage
from cts.program.vector_program import VectorProgram
from cts.spirv.companions import stand
from cts.spirv.declarations import VERSION_1_6
from cts.spirv.lower import lower
from cts.spirv.vector import lower_vector


def _may_vary(words: bytes, grid: Grid, info: DeviceInfo) -> bool:
    """Whether subgroups could have another size than the program's, since the module is SPIR-V 1.6
    (VkSpec, "Required Subgroup Size"), although the program doesn't want that."""
    least, most = (
        info.properties.get(f"VkPhysicalDeviceSubgroupSizeControlProperties.{end}SubgroupSize")
        for end in ("min", "max")
    )
    version = int.from_bytes(words[4:8], "little")
    return version >= VERSION_1_6 and not grid.varying and least != most


def prepared(program: VectorProgram) -> tuple[Preparation, ...]:
    """The conversions that are made before the shader of ``program``."""
    names = [buffer.name for buffer in program.buffers]
    found = []
    for one in program.prepared:
        it = program.opaque[one.opaque]
        size = (it.rows - 1) * one.stride + it.columns * it.component.bytes
        kind = int(it.component)
        source = Matrix(kind, int(MatrixLayout.ROW_MAJOR), one.stride, size, one.offset)
        destination = Matrix(kind, int(it.layout), 0, it.size, it.offset)
        conversion = Conversion(it.rows, it.columns, source, destination)
        found.append(Preparation(conversion, names.index(one.buffer), names.index(it.buffer)))
    return tuple(found)


def dispatch(
    program: Program | VectorProgram, inputs: Mapping[str, bytes], info: DeviceInfo | None = None
) -> Dispatch:
    """The request that runs ``program`` once with ``inputs``, the bytes of every buffer.

    ``info`` tells which records the device advertises: sizes that only a record of flexible
    dimensions allows need the feature enabled. Raises ValueError where a buffer is missing,
    unknown, or not exactly as long as the memory behind it.
    """
    workgroups = program.grid.workgroups
    if unknown := set(inputs) - {buffer.name for buffer in program.buffers}:
        raise ValueError(f"Inputs for buffers that the program doesn't have: {sorted(unknown)}.")
    buffers: list[BufferData] = []
    for buffer in program.buffers:
        size = buffer.backing_bytes(workgroups)
        if buffer.name not in inputs or len(inputs[buffer.name]) != size:
            raise ValueError(f"Buffer {buffer.name} needs an input of exactly {size} bytes.")
        physical = buffer.storage is Storage.PHYSICAL_STORAGE_BUFFER
        covered = buffer.visible and buffer.visible * buffer.pointee.bytes
        buffers.append(BufferData(inputs[buffer.name], physical, covered))
    module = lower_vector(program) if isinstance(program, VectorProgram) else lower(program)
    dispatched, staging = (workgroups, 1, 1), None
    if isinstance(program, VectorProgram) and program.stage is not Stage.COMPUTE:
        standing = stand(program.stage, program.grid, len(module.physical))
        dispatched, staging = standing.workgroups, standing.staging
    if module.parameters:
        buffers.append(BufferData(module.parameters))
    requires = requirements(module)
    required = None
    if isinstance(program, Program):
        if info is not None:
            requires = combine(requires, *record_needs(program, info))
        required = program.grid.subgroup_size if program.grid.required else None
        if info is not None and required is None and _may_vary(module.words, program.grid, info):
            required = program.grid.subgroup_size
            requires = combine(requires, NEEDS["RequiredSubgroupSize"])
    preparations: tuple[Preparation, ...] = ()
    if isinstance(program, VectorProgram) and program.prepared:
        preparations = prepared(program)
        requires = combine(requires, *PREPARATIONS)
    return Dispatch(
        words=module.words,
        buffers=tuple(buffers),
        workgroups=dispatched,
        features=tuple(sorted(requires.features)),
        extensions=tuple(sorted(requires.extensions)),
        specialization=module.specialization,
        required_subgroup_size=required,
        staging=staging,
        preparations=preparations,
        program=program,
    )
