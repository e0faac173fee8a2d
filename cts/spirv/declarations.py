"""The part of a module that stands before its functions: types, constants, globals, decorations.

Types and constants are declared once, and every capability and extension is recorded from the
tables in :mod:`cts.spirv.opcodes` as declarations are made.
"""

from __future__ import annotations

import enum

from cts.spirv import core, extended
from cts.spirv import opcodes as spv
from cts.spirv import vector_opcodes as vector
from cts.spirv.opcodes import Capability, Op, StorageClass

VERSION_1_5 = 0x00010500
VERSION_1_6 = 0x00010600


class Declarations:
    """Ids, capabilities and global declarations of one module. Ids are plain ints."""

    def __init__(self) -> None:
        self.capabilities: dict[enum.IntEnum, None] = {}
        self.extensions: dict[str, None] = {}
        self.version = VERSION_1_5
        self._bound = 1
        self._declared: dict[tuple[int, ...], int] = {}
        self._kinds: dict[int, frozenset[Capability]] = {}
        self._imports: dict[str, int] = {}
        self._interface: list[int] = []
        self._modes: list[int] = []
        self._annotations: list[int] = []
        self._globals: list[int] = []
        self.require(Capability.Shader)
        self._void = self.declare(Op.TypeVoid)
        self._main = self.new_id()

    # --- bookkeeping ------------------------------------------------------------------------

    def new_id(self) -> int:
        """A fresh id."""
        fresh = self._bound
        self._bound = fresh + 1
        return fresh

    def require(self, capability: enum.IntEnum, extension: str | None = None) -> None:
        """Record a capability, its companions and its extension (``extension`` where more than
        one has it)."""
        if (found := extension or spv.CAPABILITY_EXTENSION.get(capability)) is not None:
            self.extensions[found] = None
            if found in extended.SINCE_1_6:
                self.version = VERSION_1_6
        if capability in self.capabilities:
            return
        self.capabilities[capability] = None
        for companion in spv.CAPABILITY_NEEDS.get(capability, ()):
            self.require(companion)

    def _note(self, op: int) -> None:
        if (capability := spv.OP_NEEDS.get(op)) is not None:
            self.require(capability)

    def _note_value(self, type_id: int) -> None:
        for capability in self._kinds.get(type_id, ()):
            self.require(capability)

    def import_set(self, name: str) -> int:
        """OpExtInstImport of an extended instruction set, once."""
        if name not in self._imports:
            self._imports[name] = self.new_id()
        return self._imports[name]

    # --- types, constants and globals -------------------------------------------------------

    def declare(self, op: int, *operands: int) -> int:
        """A type, declared once however often it is asked for."""
        key = (op, *operands)
        found = self._declared.get(key)
        if found is None:
            found = self._declared[key] = self.new_id()
            self._note(op)
            self._globals += ((len(operands) + 2) << 16 | op, found, *operands)
        return found

    def constant_op(self, op: int, type_id: int, *operands: int) -> int:
        """A constant of ``type_id``, declared once."""
        key = (op, type_id, *operands)
        found = self._declared.get(key)
        if found is None:
            self._declared[key] = found = self.global_op(op, type_id, *operands)
        return found

    def global_op(self, op: int, type_id: int, *operands: int) -> int:
        """A typed declaration that is made anew each time (variables, specialization
        constants)."""
        self._note(op)
        self._note_value(type_id)
        result = self.new_id()
        self._globals += ((len(operands) + 3) << 16 | op, type_id, result, *operands)
        return result

    def int_type(self, bits: int, signed: bool = False) -> int:
        """OpTypeInt. Widths below 32 need a capability only where values of them occur."""
        found = self.declare(Op.TypeInt, bits, int(signed))
        if (capability := spv.INT_NEEDS.get(bits)) is not None:
            self._scalar(found, bits, capability)
        return found

    def float_type(self, bits: int, encoding: int | None = None) -> int:
        """OpTypeFloat, with an FP encoding where IEEE's isn't meant."""
        found = self.declare(Op.TypeFloat, bits, *(() if encoding is None else (encoding,)))
        if (capability := spv.FLOAT_NEEDS.get((bits, encoding))) is not None:
            self._scalar(found, bits, capability, always=encoding is not None)
        return found

    def _scalar(
        self, type_id: int, bits: int, capability: Capability, always: bool = False
    ) -> None:
        self._kinds[type_id] = frozenset((capability,))
        if always or bits > 32:
            self.require(capability)

    def vector_type(self, component: int, lanes: int) -> int:
        """OpTypeVector; the component itself for one lane."""
        if lanes == 1:
            return component
        return self._compound(self.declare(Op.TypeVector, component, lanes), component)

    def array_type(self, element: int, length_id: int) -> int:
        """OpTypeArray without a layout, as workgroup memory has it."""
        return self._compound(self.declare(Op.TypeArray, element, length_id), element)

    def laid_out_array_type(self, element: int, length: int, stride: int) -> int:
        """OpTypeArray with an ArrayStride in bytes: a type of its own each time, since arrays of
        the same elements elsewhere may not have a layout."""
        found = self.new_id()
        self._globals += (4 << 16 | Op.TypeArray, found, element, self.u32(length))
        self.decorate(found, spv.Decoration.ArrayStride, stride)
        return self._compound(found, element)

    def runtime_array_type(self, element: int, stride: int) -> int:
        """OpTypeRuntimeArray with its ArrayStride in bytes."""
        key = (Op.TypeRuntimeArray, element)
        fresh = key not in self._declared
        found = self._compound(self.declare(Op.TypeRuntimeArray, element), element)
        if fresh:
            self.decorate(found, spv.Decoration.ArrayStride, stride)
        return found

    def block_type(self, *members: tuple[int, int]) -> int:
        """OpTypeStruct decorated as Block, of (type, byte offset) members."""
        key = (Op.TypeStruct, *(member for member, _ in members))
        fresh = key not in self._declared
        found = self.declare(Op.TypeStruct, *(member for member, _ in members))
        if fresh:
            self.decorate(found, spv.Decoration.Block)
            for index, (_, offset) in enumerate(members):
                self.decorate_member(found, index, spv.Decoration.Offset, offset)
        kinds = [self._kinds.get(member, frozenset()) for member, _ in members]
        self._kinds[found] = frozenset().union(*kinds)
        return found

    def _compound(self, type_id: int, inner: int) -> int:
        self._kinds[type_id] = self._kinds.get(inner, frozenset())
        return type_id

    def first_matrix_type(self, component: int, scope: int, rows: int, columns: int) -> int:
        """OpTypeCooperativeMatrixNV, the type of the first extension."""
        self._note_value(component)
        self.require(core.Capability.CooperativeMatrixNV, core.FIRST)
        return self.declare(core.Op.TypeCooperativeMatrixNV, component, scope, rows, columns)

    def matrix_type(self, component: int, scope: int, rows: int, columns: int, use: int) -> int:
        """OpTypeCooperativeMatrixKHR; everything but the component is a constant's id."""
        for capability in self._kinds.get(component, ()):
            self.require(spv.MATRIX_NEEDS.get(capability, capability))
        return self.declare(Op.TypeCooperativeMatrixKHR, component, scope, rows, columns, use)

    def cooperative_vector_type(self, component: int, length: int) -> int:
        """OpTypeCooperativeVectorNV; ``length`` is a constant's id."""
        for capability in self._kinds.get(component, ()):
            self.require(capability)
        self.require(vector.Capability.CooperativeVectorNV, vector.EXTENSION)
        return self.declare(vector.Op.TypeCooperativeVectorNV, component, length)

    def pointer_type(self, storage: int, pointee: int) -> int:
        """OpTypePointer; records what memory of ``pointee`` needs in ``storage``."""
        if (capability := spv.STORAGE_NEEDS.get(storage)) is not None:
            self.require(capability)
        for kind in self._kinds.get(pointee, ()):
            in_buffer = storage in spv.BUFFER_CLASSES
            self.require(spv.BUFFER_ACCESS.get(kind, kind) if in_buffer else kind)
        found = self.declare(Op.TypePointer, storage, pointee)
        if storage == StorageClass.PhysicalStorageBuffer:
            # Validators look through pointers: an address may become a pointer to a narrow type
            # only where values of that type are allowed too.
            self._compound(found, pointee)
        return found

    def u32(self, value: int) -> int:
        """A 32-bit unsigned constant."""
        return self.constant_op(Op.Constant, self.int_type(32), value)

    def null(self, type_id: int) -> int:
        """OpConstantNull."""
        return self.constant_op(Op.ConstantNull, type_id)

    def variable(self, storage: int, pointee: int, initializer: int | None = None) -> int:
        """A module-scope variable, part of the entry point's interface."""
        tail = () if initializer is None else (initializer,)
        found = self.global_op(Op.Variable, self.pointer_type(storage, pointee), storage, *tail)
        self._interface.append(found)
        return found

    def builtin(self, which: spv.BuiltIn, type_id: int) -> int:
        """An input variable for a built-in."""
        if (capability := spv.BUILTIN_NEEDS.get(which)) is not None:
            self.require(capability)
        found = self.variable(StorageClass.Input, type_id)
        self.decorate(found, spv.Decoration.BuiltIn, which)
        return found

    def decorate(self, target: int, decoration: int, *operands: int) -> None:
        """OpDecorate."""
        self._annotations += (
            (len(operands) + 3) << 16 | Op.Decorate,
            target,
            decoration,
            *operands,
        )

    def decorate_member(
        self, target: int, member: int, decoration: spv.Decoration, *operands: int
    ) -> None:
        """OpMemberDecorate."""
        self._annotations += (
            (len(operands) + 4) << 16 | Op.MemberDecorate,
            target,
            member,
            decoration,
            *operands,
        )

    def mode(self, op: Op, mode: int, *operands: int) -> None:
        """OpExecutionMode or OpExecutionModeId of the entry point."""
        self._modes += ((len(operands) + 3) << 16 | op, self._main, mode, *operands)
