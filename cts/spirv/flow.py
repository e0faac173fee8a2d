"""Lowering of the statements that hand matrices on: aggregates, functions, variables, branches,
loops and barriers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cts.program.flow import Barrier, Through, Via
from cts.program.model import Branch, Repeat
from cts.spirv import core
from cts.spirv.context import Context
from cts.spirv.memory import Memories
from cts.spirv.opcodes import Op, StorageClass


class _Passage:
    """One :class:`Through` being lowered: the ids of its values and of their type."""

    def __init__(self, context: Context, it: Through) -> None:
        self.context = context
        self.builder = context.builder
        self.values = [context.values[name] for name in it.values]
        self.index = it.index
        self.type = context.matrix_type(context.types[it.values[0]])

    @property
    def types(self) -> list[int]:
        """The type of each value."""
        return [self.type] * len(self.values)

    def constant(self, number: int) -> int:
        """A uint32 constant."""
        return self.builder.u32(number)

    def chosen(self) -> int:
        """The index, as it reaches the shader at run time."""
        return self.context.number(self.index)

    def array(self) -> int:
        """The type of an array of all values."""
        return self.builder.array_type(self.type, self.constant(len(self.values)))

    def struct(self) -> int:
        """The type of a struct of all values."""
        return self.builder.declare(Op.TypeStruct, *self.types)

    def call(self, function: int, *arguments: int) -> int:
        """A call of a function that returns a matrix."""
        return self.builder.value(core.Op.FunctionCall, self.type, function, *arguments)


def _copy(it: _Passage) -> int:
    return it.builder.value(core.Op.CopyObject, it.type, it.values[it.index])


def _parameter(it: _Passage) -> int:
    function = it.builder.function(it.type, it.types, lambda *given: given[it.index])
    return it.call(function, *it.values)


def _variables(it: _Passage) -> list[int]:
    """A function variable for each value, which holds it."""
    found = [it.builder.local(it.type) for _ in it.values]
    for variable, value in zip(found, it.values, strict=True):
        it.builder.emit(Op.Store, variable, value)
    return found


def _pointer(it: _Passage) -> int:
    pointer = it.builder.pointer_type(StorageClass.Function, it.type)

    def body(*given: int) -> int:
        return it.builder.value(Op.Load, it.type, given[it.index])

    function = it.builder.function(it.type, [pointer] * len(it.values), body)
    return it.call(function, *_variables(it))


def _out(it: _Passage) -> int:
    builder, count = it.builder, len(it.values)
    pointer = builder.pointer_type(StorageClass.Function, it.type)
    targets = [builder.local(it.type) for _ in it.values]

    def body(*given: int) -> None:
        for target, value in zip(given[:count], given[count:], strict=True):
            builder.emit(Op.Store, target, value)

    nothing = builder.declare(Op.TypeVoid)
    function = builder.function(nothing, [*[pointer] * count, *it.types], body)
    builder.value(core.Op.FunctionCall, nothing, function, *targets, *it.values)
    return builder.value(Op.Load, it.type, targets[it.index])


def _calls(it: _Passage) -> int:
    inner = it.builder.function(it.type, it.types, lambda *given: given[it.index])
    outer = it.builder.function(it.type, it.types, lambda *given: it.call(inner, *given))
    return it.call(outer, *it.values)


def _variable(it: _Passage) -> int:
    return it.builder.value(Op.Load, it.type, _variables(it)[it.index])


def _private(it: _Passage) -> int:
    variables = [it.builder.variable(StorageClass.Private, it.type) for _ in it.values]
    for variable, value in zip(variables, it.values, strict=True):
        it.builder.emit(Op.Store, variable, value)
    return it.builder.value(Op.Load, it.type, variables[it.index])


def _members(
    it: _Passage, variable: int, storage: int, chosen: int, before: Sequence[int] = ()
) -> int:
    """Store all values to the members of ``variable`` and load the ``chosen`` one (an id);
    ``before`` are the indices that lead to the members."""
    pointer = it.builder.pointer_type(storage, it.type)
    for number, value in enumerate(it.values):
        place = it.builder.value(Op.AccessChain, pointer, variable, *before, it.constant(number))
        it.builder.emit(Op.Store, place, value)
    place = it.builder.value(Op.AccessChain, pointer, variable, *before, chosen)
    return it.builder.value(Op.Load, it.type, place)


def _array(it: _Passage) -> int:
    variable = it.builder.local(it.array())
    return _members(it, variable, StorageClass.Function, it.constant(it.index))


def _array_dynamic(it: _Passage) -> int:
    variable = it.builder.local(it.array())
    return _members(it, variable, StorageClass.Function, it.chosen())


def _private_array(it: _Passage) -> int:
    variable = it.builder.variable(StorageClass.Private, it.array())
    return _members(it, variable, StorageClass.Private, it.chosen())


def _array_value(it: _Passage) -> int:
    array = it.builder.value(Op.CompositeConstruct, it.array(), *it.values)
    return it.builder.value(Op.CompositeExtract, it.type, array, it.index)


def _struct(it: _Passage) -> int:
    variable = it.builder.local(it.struct())
    return _members(it, variable, StorageClass.Function, it.constant(it.index))


def _struct_value(it: _Passage) -> int:
    first = [it.values[0]] * len(it.values)
    struct = it.builder.value(Op.CompositeConstruct, it.struct(), *first)
    for number, value in enumerate(it.values):
        struct = it.builder.value(core.Op.CompositeInsert, it.struct(), value, struct, number)
    return it.builder.value(Op.CompositeExtract, it.type, struct, it.index)


def _nested(it: _Passage) -> int:
    struct = it.builder.declare(Op.TypeStruct, it.context.u32, it.array())
    variable = it.builder.local(struct)
    return _members(it, variable, StorageClass.Function, it.chosen(), [it.constant(1)])


def _phi(it: _Passage) -> int:
    builder = it.builder
    after = builder.new_id()
    blocks = [builder.new_id() for _ in it.values]
    selector = it.chosen()
    builder.emit(core.Op.SelectionMerge, after, 0)
    cases = [word for case in enumerate(blocks) for word in case]
    builder.emit(core.Op.Switch, selector, blocks[0], *cases[2:])
    for block in blocks:
        builder.label(block)
        builder.emit(Op.Branch, after)
    builder.label(after)
    pairs = [word for pair in zip(it.values, blocks, strict=True) for word in pair]
    return builder.value(Op.Phi, it.type, *pairs)


def _loop(it: _Passage) -> int:
    carried = [(it.type, value) for value in it.values]
    return it.builder.carry(it.chosen(), carried, lambda _, given: [*given[1:], given[0]])[0]


_VIAS: dict[Via, Callable[[_Passage], int]] = {
    Via.COPY: _copy,
    Via.PARAMETER: _parameter,
    Via.POINTER: _pointer,
    Via.OUT: _out,
    Via.CALLS: _calls,
    Via.VARIABLE: _variable,
    Via.PRIVATE: _private,
    Via.ARRAY: _array,
    Via.ARRAY_DYNAMIC: _array_dynamic,
    Via.ARRAY_VALUE: _array_value,
    Via.PRIVATE_ARRAY: _private_array,
    Via.STRUCT: _struct,
    Via.STRUCT_VALUE: _struct_value,
    Via.NESTED: _nested,
    Via.PHI: _phi,
    Via.LOOP: _loop,
}


def _through(context: Context, memories: Memories, it: Through) -> None:
    context.values[it.result] = _VIAS[it.via](_Passage(context, it))


def _branch(context: Context, memories: Memories, it: Branch) -> None:
    builder, values = context.builder, context.values
    tile = context.tile(context.widest_scope, in_workgroup=False)
    shifted = builder.value(Op.ShiftRightLogical, context.u32, tile, builder.u32(it.bit))
    bit = builder.value(core.Op.BitwiseAnd, context.u32, shifted, builder.u32(1))
    boolean = builder.declare(Op.TypeBool)
    taken = builder.value(core.Op.INotEqual, boolean, bit, builder.u32(0))
    then, otherwise, after = (builder.new_id() for _ in range(3))
    builder.emit(core.Op.SelectionMerge, after, 0)
    builder.emit(Op.BranchConditional, taken, then, otherwise)
    ends = []
    for label, body in ((then, it.then), (otherwise, it.otherwise)):
        builder.label(label)
        context.lower(body)
        ends.append(builder.block)
        builder.emit(Op.Branch, after)
    builder.label(after)
    for merge in it.results:
        type = context.matrix_type(context.types[merge.then])
        sources = (values[merge.then], ends[0], values[merge.otherwise], ends[1])
        values[merge.result] = builder.value(Op.Phi, type, *sources)


def _repeat(context: Context, memories: Memories, it: Repeat) -> None:
    values = context.values
    carried = [
        (context.matrix_type(context.types[carry.initial]), values[carry.initial])
        for carry in it.carried
    ]
    count = context.number(it.count)
    outer = context.iteration

    def body(iteration: int, given: Sequence[int]) -> list[int]:
        context.iteration = iteration
        values.update(zip((carry.name for carry in it.carried), given, strict=True))
        context.lower(it.body)
        return [values[carry.following] for carry in it.carried]

    results = context.builder.carry(count, carried, body)
    context.iteration = outer
    values.update(zip((carry.result for carry in it.carried), results, strict=True))


def _barrier(context: Context, memories: Memories, it: Barrier) -> None:
    memories.barrier(it.scope, by_access=it.by_access)


LOWERINGS: dict[Any, Callable[[Context, Memories, Any], None]] = {
    Through: _through,
    Branch: _branch,
    Repeat: _repeat,
    Barrier: _barrier,
}
"""One function for each kind of statement."""
