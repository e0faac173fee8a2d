"""From a cooperative vector program to a SPIR-V module.

SPIR-V 1.6 (SPV_NV_cooperative_vector requires it) with the Vulkan memory model. Nothing here is
shared with the oracle: what a program means is worked out twice, on purpose.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from cts.program.flow import Through
from cts.program.stages import WITH_WORKGROUPS
from cts.program.types import Storage
from cts.program.vector import (
    MatrixLayout,
    MatrixMul,
    OuterProduct,
    ReduceSum,
    VectorLoad,
    VectorStore,
    Weights,
    WriteNumber,
)
from cts.program.vector_program import Exit, Helpers, If, Loop, VectorProgram, VectorStatement
from cts.spirv import flow, vector_values
from cts.spirv import opcodes as spv
from cts.spirv.core import Op as Core
from cts.spirv.module import Module
from cts.spirv.opcodes import Op
from cts.spirv.stages import STAGE_NEEDS, demand_stage
from cts.spirv.vector_context import VectorContext, VectorMemories
from cts.spirv.vector_opcodes import EXTENSION, Capability, Operands
from cts.spirv.vector_opcodes import Op as Vector

__all__ = ["lower_vector"]


@functools.lru_cache(maxsize=256)
def lower_vector(program: VectorProgram) -> Module:
    """The module of a program. Raises ValueError where a statement can't be expressed.

    With ``Numbers.BUFFER`` and ``Numbers.SPECIALIZATION`` programs that differ in offsets,
    strides, thresholds, round counts and tables alone give the same words, so a driver's
    pipeline can be used again.
    """
    demand_stage(program)
    context = VectorContext(program)
    builder = context.builder
    builder.begin()
    context.shell.open()
    if program.stage in WITH_WORKGROUPS:
        _local_size(context)
    memories = VectorMemories(context)

    def lower_all(body: Iterable[Any]) -> None:
        for statement in body:
            _LOWERINGS[type(statement)](context, memories, statement)

    def whole() -> None:
        memories.copy_in()
        lower_all(program.body)
        memories.copy_out()

    context.lower = lower_all
    context.shell.run(whole)
    context.needs.update(STAGE_NEEDS.get(program.stage, ()))
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


def _local_size(context: VectorContext) -> None:
    builder = context.builder
    if "local_size" in context.vectors.specialized:
        one = builder.u32(1)
        size = context.local_size()
        builder.mode(Op.ExecutionModeId, spv.EXECUTION_MODE_LOCAL_SIZE_ID, size, one, one)
        context.needs.add("LocalSizeId")
    else:
        size = context.vectors.grid.local_size
        builder.mode(Op.ExecutionMode, spv.EXECUTION_MODE_LOCAL_SIZE, size, 1, 1)


# --- memory and products --------------------------------------------------------------------


def _load(context: VectorContext, memories: VectorMemories, it: VectorLoad) -> None:
    context.values[it.result] = context.builder.value(
        Vector.CooperativeVectorLoadNV,
        context.vector_type(it.type),
        memories.array(it.place.buffer),
        memories.offset(it.place),
        *memories.access(it.place.buffer),
    )


def _store(context: VectorContext, memories: VectorMemories, it: VectorStore) -> None:
    context.builder.emit(
        Vector.CooperativeVectorStoreNV,
        memories.array(it.place.buffer),
        memories.offset(it.place),
        context.values[it.value],
        *memories.access(it.place.buffer),
    )


def _write_number(context: VectorContext, memories: VectorMemories, it: WriteNumber) -> None:
    builder, buffer = context.builder, context.vectors.buffer(it.place.buffer)
    pointer = builder.pointer_type(buffer.storage, context.u32)
    array, element = memories.array(it.place.buffer), memories.offset(it.place)
    target = builder.value(Op.AccessChain, pointer, array, element)
    physical = buffer.storage is Storage.PHYSICAL_STORAGE_BUFFER
    access = (int(spv.Memory.Aligned), 4) if physical else ()
    number = context.shell.number(context.local_size())
    builder.emit(Op.Store, target, number, *access)


def _multiply(context: VectorContext, memories: VectorMemories, it: MatrixMul) -> None:
    weights, bias = it.weights, it.bias
    operands = [
        context.values[it.input],
        context.operand("interpretation", it.interpretation, it.interpretation),
        memories.array(weights.place.buffer),
        memories.offset(weights.place),
        context.operand("interpretation", weights.interpretation, weights.interpretation),
    ]
    if bias is not None:
        operands += [
            memories.array(bias.place.buffer),
            memories.offset(bias.place),
            context.operand("interpretation", bias.interpretation, bias.interpretation),
        ]
    # Another valid choice as default, so that a driver that ignores it doesn't get away with it.
    layout = weights.layout
    other = layout if layout.optimal else MatrixLayout(1 - layout)
    operands += [
        context.operand("m", it.type.length, it.type.length + 1),
        context.operand("k", it.k, it.k + 1),
        context.operand("layout", layout, other),
        _transposed(context, weights),
    ]
    signs = Operands(0)
    if it.input_signed:
        signs |= Operands.MatrixBSignedComponentsKHR
    if it.result_signed:
        signs |= Operands.MatrixResultSignedComponentsKHR
    if signs or weights.stride or not weights.layout.optimal:
        given = context.number if weights.run_time_stride else context.builder.u32
        operands.append(given(weights.stride))
    if signs:
        operands.append(int(signs))
    op = Vector.CooperativeVectorMatrixMulNV
    if bias is not None:
        op = Vector.CooperativeVectorMatrixMulAddNV
    context.values[it.result] = context.builder.value(op, context.vector_type(it.type), *operands)


def _transposed(context: VectorContext, weights: Weights) -> int:
    builder = context.builder
    boolean = builder.declare(Op.TypeBool)
    if "transpose" not in context.vectors.specialized:
        op = Vector.ConstantTrue if weights.transpose else Vector.ConstantFalse
        return builder.constant_op(op, boolean)
    spec_id = len(context.specialization)
    context.specialization.append((spec_id, 4, int(weights.transpose)))
    default = Vector.SpecConstantFalse if weights.transpose else Vector.SpecConstantTrue
    if not weights.layout.optimal:
        default = Vector.SpecConstantFalse  # transposing needs an optimal layout
    found = builder.global_op(default, boolean)
    builder.decorate(found, spv.Decoration.SpecId, spec_id)
    return found


def _outer_product(context: VectorContext, memories: VectorMemories, it: OuterProduct) -> None:
    context.builder.require(Capability.CooperativeVectorTrainingNV, EXTENSION)
    context.builder.emit(
        Vector.CooperativeVectorOuterProductAccumulateNV,
        memories.array(it.place.buffer),
        memories.offset(it.place),
        context.values[it.a],
        context.values[it.b],
        context.operand("layout", MatrixLayout.TRAINING_OPTIMAL, MatrixLayout.TRAINING_OPTIMAL),
        context.operand("interpretation", it.interpretation, it.interpretation),
    )


def _reduce_sum(context: VectorContext, memories: VectorMemories, it: ReduceSum) -> None:
    context.builder.require(Capability.CooperativeVectorTrainingNV, EXTENSION)
    context.builder.emit(
        Vector.CooperativeVectorReduceSumAccumulateNV,
        memories.array(it.place.buffer),
        memories.offset(it.place),
        context.values[it.value],
    )


# --- control flow ---------------------------------------------------------------------------


def _if(context: VectorContext, memories: VectorMemories, it: If) -> None:
    builder = context.builder
    condition = context.condition(it.condition)
    then, otherwise, after = (builder.new_id() for _ in range(3))
    variables = []
    if not it.phi:
        variables = [builder.local(_type(context, merge.then)) for merge in it.merges]
    builder.emit(Core.SelectionMerge, after, 0)
    builder.emit(Op.BranchConditional, condition, then, otherwise)
    arrived = []
    for label, body, names in (
        (then, it.then, [merge.then for merge in it.merges]),
        (otherwise, it.otherwise, [merge.otherwise for merge in it.merges]),
    ):
        builder.label(label)
        context.lower(_statements(body))
        values = [context.values[name] for name in names]
        for variable, value in zip(variables, values, strict=False):
            builder.emit(Op.Store, variable, value)
        arrived.append((builder.block, values))
        builder.emit(Op.Branch, after)
    builder.label(after)
    (first, left), (second, right) = arrived
    for number, merge in enumerate(it.merges):
        kind = _type(context, merge.then)
        if it.phi:
            found = builder.value(Op.Phi, kind, left[number], first, right[number], second)
        else:
            found = builder.value(Op.Load, kind, variables[number])
        context.values[merge.result] = found


def _loop(context: VectorContext, memories: VectorMemories, it: Loop) -> None:
    carried = [(_type(context, c.initial), context.values[c.initial]) for c in it.carried]

    def body(_: int, values: list[int]) -> list[int]:
        for carry, value in zip(it.carried, values, strict=True):
            context.values[carry.name] = value
        context.lower(_statements(it.body))
        return [context.values[carry.following] for carry in it.carried]

    last = context.builder.carry(context.index(it.times), carried, body)
    for carry, value in zip(it.carried, last, strict=True):
        context.values[carry.result] = value


def _exit(context: VectorContext, memories: VectorMemories, it: Exit) -> None:
    builder = context.builder
    condition = context.condition(it.condition)
    leaving, after = builder.new_id(), builder.new_id()
    builder.emit(Core.SelectionMerge, after, 0)
    builder.emit(Op.BranchConditional, condition, leaving, after)
    builder.label(leaving)
    builder.emit(Op.Return)
    builder.label(after)


def _helpers(context: VectorContext, memories: VectorMemories, it: Helpers) -> None:
    builder = context.builder
    condition = context.shell.helper()
    if condition is None:
        return
    inside, after = builder.new_id(), builder.new_id()
    builder.emit(Core.SelectionMerge, after, 0)
    builder.emit(Op.BranchConditional, condition, inside, after)
    builder.label(inside)
    context.lower(_statements(it.body))
    builder.emit(Op.Branch, after)
    builder.label(after)


def _type(context: VectorContext, name: str) -> int:
    return context.value_type(context.type_of(name))


def _statements(body: tuple[VectorStatement, ...]) -> Any:
    """The statements of a vector program, where a context expects those of a matrix program."""
    return body


_LOWERINGS: dict[Any, Callable[[Any, Any, Any], None]] = {
    VectorLoad: _load,
    VectorStore: _store,
    WriteNumber: _write_number,
    MatrixMul: _multiply,
    OuterProduct: _outer_product,
    ReduceSum: _reduce_sum,
    If: _if,
    Loop: _loop,
    Exit: _exit,
    Helpers: _helpers,
    Through: flow.LOWERINGS[Through],
    **vector_values.LOWERINGS,
}
"""One function for each kind of statement."""
