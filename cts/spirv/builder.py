"""Builds one SPIR-V module as words.

Instructions go into the sections of the logical layout (SPIR-V 2.4), types and constants are
declared once, and every capability and extension is recorded from the tables in
:mod:`cts.spirv.opcodes` as instructions are emitted. Nobody declares a capability by hand.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from cts.spirv import extended
from cts.spirv import opcodes as spv
from cts.spirv import vector_opcodes as vector
from cts.spirv.declarations import Declarations
from cts.spirv.opcodes import Capability, Op, StorageClass

MAGIC = 0x07230203


def string_words(text: str) -> list[int]:
    """A literal string: UTF-8, nul-terminated, padded to whole little-endian words."""
    raw = text.encode() + b"\0"
    raw += bytes(-len(raw) % 4)
    return list(struct.unpack(f"<{len(raw) // 4}I", raw))


class Builder(Declarations):
    """One module with one entry point under construction.

    ``declare`` makes types and constants, ``value`` and ``emit`` append to the body of the
    function, ``finish`` gives the words.
    """

    def __init__(self) -> None:
        super().__init__()
        self.block = 0
        """Label of the block that instructions go to, for OpPhi."""
        self.model: int = spv.EXECUTION_MODEL_GLCOMPUTE
        """The execution model of the entry point."""
        self.ending: tuple[int, ...] = (1 << 16 | Op.Return,)
        """The words of the instruction that ends ``main``."""
        self._locals: list[int] = []
        self._code: list[int] = []
        self._functions: list[int] = []

    # --- the body ---------------------------------------------------------------------------

    def emit(self, op: int, *operands: int) -> None:
        """An instruction without a result."""
        self._note(op)
        self._code += ((len(operands) + 1) << 16 | op, *operands)

    def value(self, op: int, type_id: int, *operands: int) -> int:
        """An instruction with a result; its id."""
        self._note(op)
        self._note_value(type_id)
        result = self.new_id()
        self._code += ((len(operands) + 3) << 16 | op, type_id, result, *operands)
        return result

    def local(self, type_id: int, initializer: int | None = None) -> int:
        """A function variable (all of them lie at the start of the function)."""
        pointer = self.pointer_type(StorageClass.Function, type_id)
        found = self.new_id()
        tail = () if initializer is None else (initializer,)
        self._locals += (
            (4 + len(tail)) << 16 | Op.Variable,
            pointer,
            found,
            StorageClass.Function,
            *tail,
        )
        return found

    def label(self, label: int) -> None:
        """Start a block."""
        self._code += (2 << 16 | Op.Label, label)
        self.block = label

    def loop(
        self,
        first: int,
        limit: int,
        step: int,
        body: Callable[[int], None],
        control: spv.LoopControl = spv.LoopControl.NONE,
    ) -> None:
        """``for (i = first; i < limit; i += step) body(i)``, all uint32 ids."""
        u32, boolean = self.int_type(32), self.declare(Op.TypeBool)
        header, inside, again, after = (self.new_id() for _ in range(4))
        advanced = self.new_id()
        before = self.block
        self.emit(Op.Branch, header)
        self.label(header)
        index = self.value(Op.Phi, u32, first, before, advanced, again)
        more = self.value(Op.ULessThan, boolean, index, limit)
        self.emit(Op.LoopMerge, after, again, control)
        self.emit(Op.BranchConditional, more, inside, after)
        self.label(inside)
        body(index)
        self.emit(Op.Branch, again)
        self.label(again)
        self._code += (5 << 16 | Op.IAdd, u32, advanced, index, step)
        self.emit(Op.Branch, header)
        self.label(after)

    def carry(
        self,
        count: int,
        carried: Sequence[tuple[int, int]],
        body: Callable[[int, list[int]], Sequence[int]],
    ) -> list[int]:
        """``for (i = 0; i < count; ++i) values = body(i, values)``; the values after the loop.

        ``carried`` are (type, first value); ``count`` is a uint32 id.
        """
        u32, boolean = self.int_type(32), self.declare(Op.TypeBool)
        header, inside, again, after, advanced = (self.new_id() for _ in range(5))
        zero, one, before = self.u32(0), self.u32(1), self.block
        self.emit(Op.Branch, header)
        self.label(header)
        index = self.value(Op.Phi, u32, zero, before, advanced, again)
        values, places = [], []
        for type_id, first in carried:
            values.append(self.value(Op.Phi, type_id, first, before, 0, again))
            places.append(len(self._code) - 2)  # the 0, whose id the body makes
        more = self.value(Op.ULessThan, boolean, index, count)
        self.emit(Op.LoopMerge, after, again, 0)
        self.emit(Op.BranchConditional, more, inside, after)
        self.label(inside)
        following = body(index, values)
        self.emit(Op.Branch, again)
        self.label(again)
        self._code += (5 << 16 | Op.IAdd, u32, advanced, index, one)
        self.emit(Op.Branch, header)
        for place, value in zip(places, following, strict=True):
            self._code[place] = value
        self.label(after)
        return values

    def function(
        self, result: int, parameters: Sequence[int], body: Callable[..., int | None]
    ) -> int:
        """A function besides ``main``: ``body`` gets the ids of the parameters, appends to the
        function, and gives the id of what is returned; None for a void ``result``."""
        for type_id in (result, *parameters):
            self._note_value(type_id)
        signature = self.declare(Op.TypeFunction, result, *parameters)
        function, label = self.new_id(), self.new_id()
        arguments = [self.new_id() for _ in parameters]
        outer = self._code, self._locals, self.block
        self._code, self._locals, self.block = [], [], label
        returned = body(*arguments)
        code, local_variables = self._code, self._locals
        self._code, self._locals, self.block = outer
        self._functions += (5 << 16 | Op.Function, result, function, 0, signature)
        for type_id, argument in zip(parameters, arguments, strict=True):
            self._functions += (3 << 16 | extended.Op.FunctionParameter, type_id, argument)
        self._functions += (2 << 16 | Op.Label, label, *local_variables, *code)
        if returned is None:
            self._functions += (1 << 16 | Op.Return, 1 << 16 | Op.FunctionEnd)
        else:
            returning = (2 << 16 | extended.Op.ReturnValue, returned)
            self._functions += (*returning, 1 << 16 | Op.FunctionEnd)
        return function

    def begin(self) -> None:
        """Start ``main``."""
        self.block = self.new_id()
        self._entry_block = self.block

    def finish(self) -> bytes:
        """End ``main`` and give the module's words, little-endian."""
        physical = Capability.PhysicalStorageBufferAddresses in self.capabilities
        addressing = spv.Addressing.PhysicalStorageBuffer64 if physical else spv.Addressing.Logical
        function_type = self.declare(Op.TypeFunction, self._void)
        self.require(Capability.VulkanMemoryModel)
        words = [MAGIC, self.version, 0, self._bound, 0]
        for capability in sorted(self.capabilities):
            words += (2 << 16 | Op.Capability, capability)
        for extension in sorted(self.extensions):
            text = string_words(extension)
            words += ((len(text) + 1) << 16 | Op.Extension, *text)
        for name, identity in self._imports.items():
            text = string_words(name)
            words += ((len(text) + 2) << 16 | vector.Op.ExtInstImport, identity, *text)
        words += (3 << 16 | Op.MemoryModel, addressing, spv.MEMORY_MODEL_VULKAN)
        entry = [
            self.model,
            self._main,
            *string_words("main"),
            *self._interface,
        ]
        words += ((len(entry) + 1) << 16 | Op.EntryPoint, *entry)
        words += self._modes
        words += self._annotations
        words += self._globals
        words += (5 << 16 | Op.Function, self._void, self._main, 0, function_type)
        words += (2 << 16 | Op.Label, self._entry_block)
        words += self._locals
        words += self._code
        words += (*self.ending, 1 << 16 | Op.FunctionEnd)
        words += self._functions
        return struct.pack(f"<{len(words)}I", *words)
