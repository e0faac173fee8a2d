"""Buffers of a program in memory: variables, pointers, memory operands and barriers."""

from __future__ import annotations

from collections.abc import Iterable

from cts.program.model import Address, Barrier, Buffer, Scope, Storage, walk
from cts.spirv import core
from cts.spirv import opcodes as spv
from cts.spirv.context import Context
from cts.spirv.opcodes import BuiltIn, LoopControl, Memory, Op, Semantics, StorageClass

_ORDERED = Semantics.AcquireRelease | Semantics.MakeAvailable | Semantics.MakeVisible


class Memories:
    """The buffers of one program.

    Storage buffers are bindings of descriptor set 0, by their position in the program. A
    workgroup array has such a binding too, for what it is filled from. Physical buffers are
    members of one push constant block.
    """

    def __init__(self, context: Context, shared: Iterable[str]) -> None:
        self.context = context
        self._shared = frozenset(shared)
        self._by_access = any(
            isinstance(it, Barrier) and it.by_access for it in walk(context.program.body)
        )
        self._blocks: dict[str, int] = {}
        self._arrays: dict[str, int] = {}
        self._addresses = 0
        self.physical = tuple(
            buffer.name
            for buffer in context.program.buffers
            if buffer.storage is Storage.PHYSICAL_STORAGE_BUFFER
        )
        for binding, buffer in enumerate(context.program.buffers):
            match buffer.storage:
                case Storage.STORAGE_BUFFER:
                    self._bind(binding, buffer)
                case Storage.WORKGROUP:
                    self._bind(binding, buffer)
                    self._allocate(buffer)
                case Storage.PHYSICAL_STORAGE_BUFFER:
                    pass
        if self.physical:
            self._push_addresses()

    # --- declarations -----------------------------------------------------------------------

    def element_type(self, buffer: Buffer) -> int:
        """The type that pointers into ``buffer`` point to."""
        pointee = buffer.pointee
        scalar = self.context.component_type(pointee.component)
        return self.context.builder.vector_type(scalar, pointee.lanes)

    def _block_type(self, buffer: Buffer) -> int:
        builder = self.context.builder
        array = builder.runtime_array_type(self.element_type(buffer), buffer.pointee.bytes)
        return builder.block_type((array, 0))

    def _bind(self, binding: int, buffer: Buffer) -> None:
        builder = self.context.builder
        variable = builder.variable(StorageClass.StorageBuffer, self._block_type(buffer))
        builder.decorate(variable, spv.Decoration.DescriptorSet, 0)
        builder.decorate(variable, spv.Decoration.Binding, binding)
        self._blocks[buffer.name] = variable

    def _allocate(self, buffer: Buffer) -> None:
        # Where a workgroup array starts is the implementation's choice, yet pointers have to be
        # aligned to up to 16 bytes (VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986). Whole
        # units of 16 bytes leave no array at an odd place, whatever the types of the others.
        builder = self.context.builder
        unit = max(1, 16 // buffer.pointee.bytes)
        length = -(-buffer.size // unit) * unit
        array = builder.array_type(self.element_type(buffer), builder.u32(length))
        self._arrays[buffer.name] = builder.variable(StorageClass.Workgroup, array)

    def _push_addresses(self) -> None:
        # Addresses are pairs of words: no 64-bit integers are needed, and no pointer types in
        # the block, which validators search for narrow types as if they were its members.
        builder = self.context.builder
        pair = builder.vector_type(self.context.u32, 2)
        block = builder.block_type(*((pair, 8 * i) for i in range(len(self.physical))))
        self._addresses = builder.variable(StorageClass.PushConstant, block)

    def _buffer(self, name: str) -> Buffer:
        return self.context.program.buffer(name)

    # --- accesses ---------------------------------------------------------------------------

    def _backing_pointer(self, buffer: Buffer, index: int) -> int:
        """Pointer to element ``index`` of the storage buffer bound for ``buffer``."""
        builder = self.context.builder
        pointer_type = builder.pointer_type(StorageClass.StorageBuffer, self.element_type(buffer))
        return builder.value(
            Op.AccessChain, pointer_type, self._blocks[buffer.name], builder.u32(0), index
        )

    def pointer(self, name: str, index: int) -> int:
        """Pointer to element ``index`` (an id) of the buffer called ``name``."""
        buffer = self._buffer(name)
        builder = self.context.builder
        if buffer.storage is Storage.STORAGE_BUFFER:
            return self._backing_pointer(buffer, index)
        pointer_type = builder.pointer_type(buffer.storage, self.element_type(buffer))
        if buffer.storage is Storage.WORKGROUP:
            return builder.value(Op.AccessChain, pointer_type, self._arrays[name], index)
        base = self.block(buffer)
        return builder.value(Op.AccessChain, pointer_type, base, builder.u32(0), index)

    def block(self, buffer: Buffer) -> int:
        """Pointer to the block around a storage buffer, bound or at an address."""
        if buffer.storage is not Storage.PHYSICAL_STORAGE_BUFFER:
            return self._blocks[buffer.name]
        context, builder = self.context, self.context.builder
        block_pointer = builder.pointer_type(
            StorageClass.PhysicalStorageBuffer, self._block_type(buffer)
        )
        pair = builder.vector_type(context.u32, 2)
        member = builder.value(
            Op.AccessChain,
            builder.pointer_type(StorageClass.PushConstant, pair),
            self._addresses,
            builder.u32(self.physical.index(buffer.name)),
        )
        address = builder.value(Op.Load, pair, member)
        return builder.value(Op.Bitcast, block_pointer, address)

    def tile_pointer(self, address: Address, scope: Scope) -> int:
        """Pointer to where the executing tile's matrix starts."""
        context, builder = self.context, self.context.builder
        in_workgroup = self._buffer(address.buffer).storage is Storage.WORKGROUP
        tile = context.tile(scope, in_workgroup, address.turn)
        pitch, offset = context.number(address.pitch), context.number(address.offset)
        base = builder.value(Op.IMul, context.u32, tile, pitch)
        index = builder.value(Op.IAdd, context.u32, base, offset)
        if address.step and context.iteration:
            step = context.number(address.step)
            moved = builder.value(Op.IMul, context.u32, context.iteration, step)
            index = builder.value(Op.IAdd, context.u32, index, moved)
        return self.pointer(address.buffer, index)

    def operands(self, name: str, ordered: core.Memory | None = None) -> tuple[int, ...]:
        """Memory operands for an access to the buffer called ``name``; ``ordered`` is what makes
        it available or visible by itself, where the program's barriers leave that to it.

        An alignment must accompany every access through a physical pointer
        (VUID-StandaloneSpirv-PhysicalStorageBuffer64-04708); the size of the pointee's scalar
        is the one that always holds.
        """
        buffer = self._buffer(name)
        mask = Memory(0)
        tail: tuple[int, ...] = ()
        if buffer.storage is Storage.PHYSICAL_STORAGE_BUFFER:
            mask |= Memory.Aligned
            tail = (buffer.pointee.component.bytes,)
        if name in self._shared:
            mask |= Memory.NonPrivatePointer
            if ordered is not None and self._by_access:
                scope = self.context.builder.u32(Scope.WORKGROUP)
                return (int(mask | ordered), *tail, scope)
        return (int(mask), *tail) if mask else ()

    def barrier(self, scope: Scope, by_access: bool = False) -> None:
        """All invocations of the scope instance wait, and see what the others wrote; with
        ``by_access`` only where the accesses themselves see to that."""
        order = Semantics.AcquireRelease if by_access else _ORDERED
        self._barrier(scope, order | Semantics.UniformMemory | Semantics.WorkgroupMemory)

    def _barrier(self, scope: Scope, semantics: Semantics) -> None:
        builder = self.context.builder
        level = builder.u32(scope)
        builder.emit(Op.ControlBarrier, level, level, builder.u32(semantics))

    # --- workgroup arrays -------------------------------------------------------------------

    def copy_in(self) -> None:
        """Fill every workgroup array from its workgroup's slice of the backing buffer."""
        if self._arrays:
            self._copy(into=True)
            self._barrier(Scope.WORKGROUP, _ORDERED | Semantics.WorkgroupMemory)

    def copy_out(self) -> None:
        """Copy every workgroup array back, the whole of it."""
        if self._arrays:
            self._barrier(Scope.WORKGROUP, _ORDERED | Semantics.WorkgroupMemory)
            self._copy(into=False)

    def _copy(self, into: bool) -> None:
        context, builder = self.context, self.context.builder
        workgroup = context.builtin(BuiltIn.WorkgroupId)
        first, step = context.builtin(BuiltIn.LocalInvocationIndex), context.local_size()
        for name in self._arrays:
            buffer = self._buffer(name)
            size = builder.u32(buffer.size)
            base = builder.value(Op.IMul, context.u32, workgroup, size)

            def move(index: int, buffer: Buffer = buffer, base: int = base) -> None:
                inside = self.pointer(buffer.name, index)
                place = builder.value(Op.IAdd, context.u32, base, index)
                outside = self._backing_pointer(buffer, place)
                element, operands = self.element_type(buffer), self.operands(buffer.name)
                if into:
                    moved = builder.value(Op.Load, element, outside)
                    builder.emit(Op.Store, inside, moved, *operands)
                else:
                    moved = builder.value(Op.Load, element, inside, *operands)
                    builder.emit(Op.Store, outside, moved)

            # Some compilers unroll whatever has a bound: seconds for a copy of some hundred steps.
            builder.loop(first, size, step, move, LoopControl.DontUnroll)
