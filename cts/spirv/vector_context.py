"""What the lowering of a cooperative vector program carries along, beside what any program does:
vector types, numbers that differ between invocations, pointers to whole arrays."""

from __future__ import annotations

import struct
from typing import cast

from cts.program.model import MatrixType, Program
from cts.program.types import Component, Storage
from cts.program.vector import Condition, Index, Place, Spread, ValueType, VectorType
from cts.program.vector_program import VectorProgram
from cts.spirv import core
from cts.spirv.context import Context
from cts.spirv.declarations import VERSION_1_6
from cts.spirv.memory import Memories
from cts.spirv.opcodes import BuiltIn, Memory, Op, StorageClass
from cts.spirv.stages import Shell

_ALIGNMENT = 16
"""What Pointer and Offset of a load and a store have to be multiples of
(VUID-RuntimeSpirv-OpCooperativeVectorLoadNV-10099)."""


class VectorContext(Context):
    """One vector program being lowered."""

    def __init__(self, program: VectorProgram) -> None:
        # What a context reads of a program (buffers, numbers, specialized operands, the local
        # size, the types of values) means the same in both kinds.
        super().__init__(cast("Program", program))
        self.vectors = program
        self.builder.version = VERSION_1_6  # SPV_NV_cooperative_vector requires it.
        self.needs = set()
        self._vector_types: dict[VectorType, int] = {}
        self.shell = Shell(self.builder, program.stage, program.grid)

    # --- types ------------------------------------------------------------------------------

    def vector_type(self, type: VectorType) -> int:
        """OpTypeCooperativeVectorNV of ``type``."""
        found = self._vector_types.get(type)
        if found is None:
            length = self.operand("length", type.length, type.length + 1)
            component = self.component_type(type.component)
            found = self.builder.cooperative_vector_type(component, length)
            self._vector_types[type] = found
        return found

    def matrix_type(self, type: MatrixType) -> int:
        """The type of a value: what passages of values ask for."""
        return self.value_type(cast("ValueType", type))

    def value_type(self, type: ValueType) -> int:
        """The type of a vector or a scalar."""
        if isinstance(type, Component):
            return self.component_type(type)
        return self.vector_type(type)

    def type_of(self, name: str) -> ValueType:
        """The type of the value called ``name``."""
        return cast("ValueType", self.types[name])

    def vector_of(self, name: str) -> VectorType:
        """The type of the vector called ``name``; ValueError for a scalar."""
        found = self.type_of(name)
        if isinstance(found, Component):
            raise ValueError(f"{name} is no vector")
        return found

    # --- numbers ----------------------------------------------------------------------------

    def builtin(self, which: BuiltIn) -> int:
        """The value of a built-in, which the surroundings of the body may use too."""
        return self.shell.builtin(which)

    def index(self, index: Index, in_workgroup: bool = False) -> int:
        """A number that each invocation works out for itself."""
        if index.spread is Spread.UNIFORM:
            return self.number(index.base)
        k = self._spread(index, in_workgroup)
        moved = self.builder.value(Op.IMul, self.u32, self.number(index.step), k)
        return self.builder.value(Op.IAdd, self.u32, self.number(index.base), moved)

    def _spread(self, index: Index, in_workgroup: bool) -> int:
        builder = self.builder
        grid = self.vectors.grid
        if in_workgroup:
            count = grid.local_size
            invocation = self.builtin(BuiltIn.LocalInvocationIndex)
        else:
            count = grid.invocations
            invocation = self.shell.number(self.local_size())
        match index.spread:
            case Spread.CLUSTERED:
                return builder.value(core.Op.UDiv, self.u32, invocation, self.number(index.cluster))
            case Spread.REVERSED:
                return builder.value(core.Op.ISub, self.u32, self.number(count - 1), invocation)
            case Spread.TABLE:
                if len(index.table) != count:
                    raise ValueError(f"a table of {len(index.table)} for {count} invocations")
                return self._table(index.table, invocation)
            case _:
                return invocation

    def _table(self, table: tuple[int, ...], invocation: int) -> int:
        """Entry ``invocation`` of a table in the buffer of numbers."""
        builder = self.builder
        start = len(self.parameters) // 4
        self._parameter(table[0])  # declares the buffer; its load is dead code
        self.parameters += struct.pack(f"<{len(table) - 1}I", *table[1:])
        place = builder.value(Op.IAdd, self.u32, self.builder.u32(start), invocation)
        pointer = builder.value(
            Op.AccessChain,
            builder.pointer_type(StorageClass.StorageBuffer, self.u32),
            self.parameter_block,
            builder.u32(0),
            place,
        )
        return builder.value(Op.Load, self.u32, pointer)

    def condition(self, condition: Condition) -> int:
        """A boolean of each invocation."""
        boolean = self.builder.declare(Op.TypeBool)
        return self.builder.value(
            Op.ULessThan, boolean, self.index(condition.index), self.number(condition.below)
        )


class VectorMemories(Memories):
    """The buffers of a vector program. Instructions take a pointer to the whole array and a
    byte offset."""

    def __init__(self, context: VectorContext) -> None:
        super().__init__(context, ())
        self.vectors = context

    def array(self, name: str) -> int:
        """Pointer to the array of the buffer called ``name``."""
        context, builder = self.vectors, self.vectors.builder
        buffer = context.vectors.buffer(name)
        if buffer.storage is Storage.WORKGROUP:
            return self._arrays[name]
        element = self.element_type(buffer)
        runtime = builder.runtime_array_type(element, buffer.pointee.bytes)
        pointer = builder.pointer_type(buffer.storage, runtime)
        return builder.value(Op.AccessChain, pointer, self.block(buffer), builder.u32(0))

    def offset(self, place: Place) -> int:
        """The byte offset of the executing invocation."""
        buffer = self.vectors.vectors.buffer(place.buffer)
        return self.vectors.index(place.at, buffer.storage is Storage.WORKGROUP)

    def access(self, name: str) -> tuple[int, ...]:
        """Memory operands of a load or store of the buffer called ``name``."""
        if self.vectors.vectors.buffer(name).storage is Storage.PHYSICAL_STORAGE_BUFFER:
            return int(Memory.Aligned), _ALIGNMENT
        return ()
