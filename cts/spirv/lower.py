"""From a program to a SPIR-V module.

The module is SPIR-V 1.5 with the Vulkan memory model, which SPV_KHR_cooperative_matrix demands,
and relies on a pipeline with full subgroups (VUID-RuntimeSpirv-OpTypeCooperativeMatrixKHR-10770).
Nothing here is shared with the oracle: what a program means is worked out twice, on purpose.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from cts.program.model import Program, Statement
from cts.spirv import elements, first, flow, matrix2, qcom, statements, tensor
from cts.spirv import opcodes as spv
from cts.spirv.context import Context
from cts.spirv.declarations import VERSION_1_6
from cts.spirv.hazards import order
from cts.spirv.memory import Memories
from cts.spirv.module import Module
from cts.spirv.opcodes import Op

__all__ = ["Module", "lower"]

_LOWERINGS = {
    **statements.LOWERINGS,
    **matrix2.LOWERINGS,
    **tensor.LOWERINGS,
    **qcom.LOWERINGS,
    **elements.LOWERINGS,
    **flow.LOWERINGS,
}


@functools.lru_cache(maxsize=256)
def lower(program: Program) -> Module:
    """The module of a program. Raises ValueError where a statement can't be expressed.

    With ``Numbers.BUFFER`` and ``Numbers.SPECIALIZATION`` programs that differ in strides,
    offsets and pitches alone give the same words, so a driver's pipeline can be used again.
    """
    context = Context(program)
    builder = context.builder
    if program.grid.varying:
        builder.version = VERSION_1_6
    builder.begin()
    _local_size(context)
    elements.control(context)
    ordering = order(program)
    memories = Memories(context, ordering.shared)

    lowerings = {**_LOWERINGS, **first.LOWERINGS} if program.first else _LOWERINGS

    def lower_all(body: Iterable[Statement]) -> None:
        for statement in body:
            lowerings[type(statement)](context, memories, statement)

    context.lower = lower_all
    memories.copy_in()
    for index, statement in enumerate(program.body):
        if index in ordering.barriers:
            memories.barrier(context.widest_scope)
        lower_all((statement,))
    memories.copy_out()
    if program.grid.required:
        context.needs.add("RequiredSubgroupSize")
    if program.robust is not None:
        matrices = "RobustFirstMatrixAccess" if program.first else "RobustMatrixAccess"
        context.needs |= {"RobustBufferAccess", matrices}
    words = builder.finish()
    return Module(
        words=words,
        capabilities=frozenset(c.name for c in builder.capabilities),
        extensions=frozenset(builder.extensions),
        needs=frozenset(context.needs),
        specialization=tuple(context.specialization),
        parameters=bytes(context.parameters),
        physical=memories.physical,
    )


def _local_size(context: Context) -> None:
    builder = context.builder
    if "local_size" in context.program.specialized:
        one = builder.u32(1)
        size = context.local_size()
        builder.mode(Op.ExecutionModeId, spv.EXECUTION_MODE_LOCAL_SIZE_ID, size, one, one)
        context.needs.add("LocalSizeId")
    else:
        size = context.program.grid.local_size
        builder.mode(Op.ExecutionMode, spv.EXECUTION_MODE_LOCAL_SIZE, size, 1, 1)
