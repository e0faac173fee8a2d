"""Shaders of every stage that use no cooperative vectors, so that any driver runs them."""

from __future__ import annotations

import struct

from cts.device.protocol import BufferData, Dispatch
from cts.program.requires import requirements
from cts.program.stages import WITH_WORKGROUPS
from cts.program.vector import Stage
from cts.program.vector_program import Launch
from cts.spirv import opcodes as spv
from cts.spirv.builder import Builder
from cts.spirv.companions import stand
from cts.spirv.core import Op as Core
from cts.spirv.module import Module
from cts.spirv.stages import STAGE_NEEDS, Shell

OTHERS = tuple(stage for stage in Stage if stage is not Stage.COMPUTE)
FACTOR = 3
"""What the specialization constant is unless it is specialised."""


def _buffers(builder: Builder, physical: bool) -> tuple[int, int]:
    """Pointers to two arrays of uint32: bindings 0 and 1, or the first two addresses."""
    u32 = builder.int_type(32)
    block = builder.block_type((builder.runtime_array_type(u32, 4), 0))
    if not physical:
        found = []
        for binding in (0, 1):
            variable = builder.variable(spv.StorageClass.StorageBuffer, block)
            builder.decorate(variable, spv.Decoration.DescriptorSet, 0)
            builder.decorate(variable, spv.Decoration.Binding, binding)
            found.append(variable)
        return found[0], found[1]
    pair = builder.vector_type(u32, 2)
    pushed = builder.variable(
        spv.StorageClass.PushConstant, builder.block_type((pair, 0), (pair, 8))
    )
    member = builder.pointer_type(spv.StorageClass.PushConstant, pair)
    kind = builder.pointer_type(spv.StorageClass.PhysicalStorageBuffer, block)
    found = []
    for index in (0, 1):
        place = builder.value(spv.Op.AccessChain, member, pushed, builder.u32(index))
        address = builder.value(spv.Op.Load, pair, place)
        found.append(builder.value(spv.Op.Bitcast, kind, address))
    return found[0], found[1]


def numbered(stage: Stage, grid: Launch, physical: bool = False, helpers: bool = False) -> Module:
    """b[i] = factor * a[i] for every invocation i; with ``helpers`` helper invocations write
    their own i over the a[i] of others."""
    builder = Builder()
    builder.begin()
    shell = Shell(builder, stage, grid)
    shell.open()
    if stage in WITH_WORKGROUPS:
        builder.mode(spv.Op.ExecutionMode, spv.EXECUTION_MODE_LOCAL_SIZE, grid.local_size, 1, 1)
    u32 = builder.int_type(32)
    factor = builder.global_op(spv.Op.SpecConstant, u32, FACTOR)
    builder.decorate(factor, spv.Decoration.SpecId, 7)
    storage = spv.StorageClass.StorageBuffer
    if physical:
        storage = spv.StorageClass.PhysicalStorageBuffer
    pointer = builder.pointer_type(storage, u32)
    tail = (spv.Memory.Aligned, 4) if physical else ()

    def body() -> None:
        a, b = _buffers(builder, physical)
        zero = builder.u32(0)
        number = shell.number(builder.u32(grid.local_size))
        source = builder.value(spv.Op.AccessChain, pointer, a, zero, number)
        target = builder.value(spv.Op.AccessChain, pointer, b, zero, number)
        value = builder.value(spv.Op.Load, u32, source, *tail)
        product = builder.value(spv.Op.IMul, u32, value, factor)
        builder.emit(spv.Op.Store, target, product, *tail)
        condition = shell.helper() if helpers else None
        if condition is None:
            return
        inside, after = builder.new_id(), builder.new_id()
        builder.emit(Core.SelectionMerge, after, 0)
        builder.emit(spv.Op.BranchConditional, condition, inside, after)
        builder.label(inside)
        builder.emit(spv.Op.Store, source, factor, *tail)
        builder.emit(spv.Op.Branch, after)
        builder.label(after)

    shell.run(body)
    return Module(
        words=builder.finish(),
        capabilities=frozenset(one.name for one in builder.capabilities),
        extensions=frozenset(builder.extensions),
        needs=frozenset(STAGE_NEEDS.get(stage, ())),
        specialization=(),
        parameters=b"",
        physical=("a", "b") if physical else (),
    )


def request(
    stage: Stage, grid: Launch, *, physical: bool = False, helpers: bool = False, factor: int = 0
) -> Dispatch:
    """The request that runs :func:`numbered` on 1, 2, 3 and so on."""
    module = numbered(stage, grid, physical, helpers)
    requires = requirements(module)
    count = grid.invocations
    workgroups, staging = (grid.workgroups, 1, 1), None
    if stage is not Stage.COMPUTE:
        standing = stand(stage, grid, len(module.physical))
        workgroups, staging = standing.workgroups, standing.staging
    return Dispatch(
        words=module.words,
        buffers=(
            BufferData(struct.pack(f"<{count}I", *range(1, count + 1)), physical),
            BufferData(b"\xa5" * (4 * count + 64), physical),
        ),
        workgroups=workgroups,
        features=tuple(sorted(requires.features)),
        extensions=tuple(sorted(requires.extensions)),
        specialization=((7, 4, factor),) if factor else (),
        staging=staging,
    )


def expected(grid: Launch, factor: int = FACTOR) -> tuple[bytes, bytes]:
    """Both buffers afterwards."""
    count = grid.invocations
    given = struct.pack(f"<{count}I", *range(1, count + 1))
    product = struct.pack(f"<{count}I", *(factor * i for i in range(1, count + 1)))
    return given, product + b"\xa5" * 64
