"""What the lowering of one program carries along: types, constants, numbers and built-ins."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

from cts.program.model import Component, MatrixType, Numbers, Program, Scope, Statement
from cts.spirv import core
from cts.spirv import opcodes as spv
from cts.spirv.builder import Builder
from cts.spirv.opcodes import BuiltIn, Op, StorageClass

_ENCODINGS = {
    Component.BFLOAT16: spv.Encoding.BFloat16KHR,
    Component.FLOAT8_E4M3: spv.Encoding.Float8E4M3EXT,
    Component.FLOAT8_E5M2: spv.Encoding.Float8E5M2EXT,
}

_OTHER_SCOPE = {Scope.SUBGROUP: Scope.WORKGROUP, Scope.WORKGROUP: Scope.SUBGROUP}


class Context:
    """One program being lowered.

    ``values`` maps names of the program to ids. Ids of constants, types and built-ins are made
    on first use.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.builder = Builder()
        self.values: dict[str, int] = {}
        self.types = program.types()
        self.specialization: list[tuple[int, int, int]] = []
        self.needs: set[str] = {"FullSubgroups"}
        self.u32 = self.builder.int_type(32)
        self.parameters = bytearray()
        self.parameter_block = 0
        self.iteration = 0
        """The index of the innermost loop; 0 outside of loops."""
        self.lower: Callable[[Iterable[Statement]], None]
        """Lowers statements inside a statement."""
        self._operands: dict[tuple[str, int], int] = {}
        self._matrix_types: dict[MatrixType, int] = {}
        self._builtins: dict[BuiltIn, int] = {}

    # --- constants --------------------------------------------------------------------------

    def spec_constant(self, type_id: int, size: int, default: int, value: int) -> int:
        """A scalar specialization constant with a SpecId of its own, specialised to ``value``.

        ``default`` and ``value`` are unsigned bit patterns of ``size`` bytes.
        """
        spec_id = len(self.specialization)
        self.specialization.append((spec_id, size, value))
        words = (default,) if size <= 4 else (default & 0xFFFFFFFF, default >> 32)
        found = self.builder.global_op(Op.SpecConstant, type_id, *words)
        self.builder.decorate(found, spv.Decoration.SpecId, spec_id)
        return found

    def operand(self, kind: str, value: int, default: int) -> int:
        """A uint32 constant for an operand of a type or of an access: a specialization
        constant where the program's ``specialized`` names ``kind``, the same for equal values."""
        if kind not in self.program.specialized:
            return self.builder.u32(value)
        key = (kind, value)
        if key not in self._operands:
            self._operands[key] = self.spec_constant(self.u32, 4, default, value)
        return self._operands[key]

    def number(self, value: int) -> int:
        """A stride, offset or pitch (uint32), by the program's ``numbers``."""
        match self.program.numbers:
            case Numbers.LITERAL:
                return self.builder.u32(value)
            case Numbers.SPECIALIZATION:
                return self.spec_constant(self.u32, 4, 1, value)
            case Numbers.BUFFER:
                return self._parameter(value)

    def _parameter(self, value: int) -> int:
        builder = self.builder
        index = len(self.parameters) // 4
        self.parameters += struct.pack("<I", value)
        if not self.parameter_block:
            block = builder.block_type((builder.runtime_array_type(self.u32, 4), 0))
            self.parameter_block = builder.variable(StorageClass.StorageBuffer, block)
            builder.decorate(self.parameter_block, spv.Decoration.DescriptorSet, 0)
            builder.decorate(
                self.parameter_block, spv.Decoration.Binding, len(self.program.buffers)
            )
        pointer_type = builder.pointer_type(StorageClass.StorageBuffer, self.u32)
        pointer = builder.value(
            Op.AccessChain, pointer_type, self.parameter_block, builder.u32(0), builder.u32(index)
        )
        return builder.value(Op.Load, self.u32, pointer)

    def scalar(self, component: Component, bits: int) -> int:
        """A constant scalar with the given bit pattern."""
        type_id = self.component_type(component)
        if component.bits == 64:
            return self.builder.constant_op(Op.Constant, type_id, bits & 0xFFFFFFFF, bits >> 32)
        if component.is_signed and bits >> (component.bits - 1):
            bits |= 0xFFFFFFFF ^ ((1 << component.bits) - 1)
        return self.builder.constant_op(Op.Constant, type_id, bits)

    def runtime_scalar(self, component: Component, bits: int) -> int:
        """A scalar that reaches the shader as the program's numbers do.

        From the buffer it comes as whole words, whose low bits become the component without
        any arithmetic: integer capabilities of the component's width aren't needed.
        """
        builder = self.builder
        type_id = self.component_type(component)
        match self.program.numbers:
            case Numbers.LITERAL:
                return self.scalar(component, bits)
            case Numbers.SPECIALIZATION:
                return self.spec_constant(type_id, component.bytes, 0, bits)
            case Numbers.BUFFER:
                pass
        if component.bits == 64:
            low, high = self._parameter(bits & 0xFFFFFFFF), self._parameter(bits >> 32)
            pair = builder.value(Op.CompositeConstruct, builder.vector_type(self.u32, 2), low, high)
            return builder.value(Op.Bitcast, type_id, pair)
        word = self._parameter(bits)
        if component.bits == 32:
            return word if type_id == self.u32 else builder.value(Op.Bitcast, type_id, word)
        lanes = builder.vector_type(type_id, 32 // component.bits)
        return builder.value(
            Op.CompositeExtract, type_id, builder.value(Op.Bitcast, lanes, word), 0
        )

    # --- types ------------------------------------------------------------------------------

    def component_type(self, component: Component) -> int:
        """The scalar type of a component."""
        if component.is_float:
            return self.builder.float_type(component.bits, _ENCODINGS.get(component))
        return self.builder.int_type(component.bits, component.is_signed)

    def matrix_type(self, type: MatrixType) -> int:
        """OpTypeCooperativeMatrixKHR of ``type``, with its specialised operands.

        The defaults of specialised operands are another valid choice wherever there is one that
        keeps the unspecialised module valid (multiplications need consistent sizes and uses), so
        that a driver that ignores a specialisation doesn't get away with it.
        """
        found = self._matrix_types.get(type)
        if found is None:
            found = self._matrix_types[type] = self._declare_matrix(type)
            if type.scope is Scope.WORKGROUP:
                self.needs.add("WorkgroupScope")
        return found

    def _declare_matrix(self, type: MatrixType) -> int:
        grow = 2 if {"rows", "columns"} <= self.program.specialized else 1
        component = self.component_type(type.component)
        scope = self.operand("scope", type.scope, _OTHER_SCOPE[type.scope])
        rows = self.operand("rows", type.rows, grow * type.rows)
        columns = self.operand("columns", type.columns, grow * type.columns)
        if self.program.first:
            return self.builder.first_matrix_type(component, scope, rows, columns)
        use = self.operand("use", type.use, type.use)
        return self.builder.matrix_type(component, scope, rows, columns, use)

    def length(self, type: MatrixType) -> int:
        """How many components of a matrix type an invocation holds."""
        op = core.Op.CooperativeMatrixLengthNV if self.program.first else None
        return self.builder.value(
            op or Op.CooperativeMatrixLengthKHR, self.u32, self.matrix_type(type)
        )

    # --- where an invocation is -------------------------------------------------------------

    def builtin(self, which: BuiltIn) -> int:
        """The value of a built-in; component x of the three of WorkgroupId."""
        builder = self.builder
        if which not in self._builtins:
            wide = which is BuiltIn.WorkgroupId
            type_id = builder.vector_type(self.u32, 3) if wide else self.u32
            self._builtins[which] = builder.builtin(which, type_id)
        variable = self._builtins[which]
        if which is not BuiltIn.WorkgroupId:
            return builder.value(Op.Load, self.u32, variable)
        vector = builder.value(Op.Load, builder.vector_type(self.u32, 3), variable)
        return builder.value(Op.CompositeExtract, self.u32, vector, 0)

    @property
    def widest_scope(self) -> Scope:
        """The scope of the invocations that act together."""
        workgroup = any(type.scope is Scope.WORKGROUP for type in self.program.matrix_types())
        return Scope.WORKGROUP if workgroup else Scope.SUBGROUP

    def tile(self, scope: Scope, in_workgroup: bool, turn: int = 0) -> int:
        """The index of the executing scope instance, in the dispatch or in its workgroup; or
        that of the subgroup ``turn`` further on."""
        builder = self.builder
        if scope is Scope.WORKGROUP:
            return builder.u32(0) if in_workgroup else self.builtin(BuiltIn.WorkgroupId)
        subgroup = self.builtin(BuiltIn.SubgroupId)
        if turn:
            further = builder.value(Op.IAdd, self.u32, subgroup, self.number(turn))
            subgroups = builder.u32(self.program.grid.subgroups)
            subgroup = builder.value(core.Op.UMod, self.u32, further, subgroups)
        if in_workgroup:
            return subgroup
        count = builder.u32(self.program.grid.subgroups)
        before = builder.value(Op.IMul, self.u32, self.builtin(BuiltIn.WorkgroupId), count)
        return builder.value(Op.IAdd, self.u32, before, subgroup)

    def lane(self, scope: Scope) -> tuple[int, int]:
        """(index of the invocation in the scope instance, number of them), both ids."""
        grid = self.program.grid
        if scope is Scope.WORKGROUP:
            return self.builtin(BuiltIn.LocalInvocationIndex), self.local_size()
        return self.builtin(BuiltIn.SubgroupLocalInvocationId), self.builder.u32(grid.subgroup_size)

    def local_size(self) -> int:
        """The number of invocations in a workgroup."""
        return self.operand("local_size", self.program.grid.local_size, 1)
