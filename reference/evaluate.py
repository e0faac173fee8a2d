"""Evaluates programs: which results of a dispatch the specification and the policy permit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np

from cts.program.matrix2 import ConvertUse, Locate, PerElement, Reduce
from cts.program.model import (
    Address,
    Barrier,
    Binary,
    Branch,
    Component,
    Convert,
    Layout,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Negate,
    Program,
    Rebuild,
    Repeat,
    Robust,
    Scale,
    Scope,
    Splat,
    Stamp,
    Statement,
    Store,
    Through,
    Use,
)
from cts.program.qcom import FromArrays, ToArrays
from cts.program.tensor import TensorLoad, TensorStore
from reference import reduction, robust
from reference.arrays import array_region
from reference.component import bits_dtype
from reference.element_values import Elements
from reference.elements import located, per_element, use_converted
from reference.expectation import Expectation, Judgement, Lengths, Stored, Violation
from reference.flow import merged, taken
from reference.hypotheses import Source, of_value
from reference.latitude import VULKAN, Latitude
from reference.layout import Region, region
from reference.matrix import Undetermined, acceptance, demand_in_range, multiply_add
from reference.memory import Memory
from reference.reduction import StoredReduction, reduced
from reference.settle import settled
from reference.tensor_access import Tensors
from reference.values import Exact, Ranged, Reduced, Scattered, Value

__all__ = ["Expectation", "Judgement", "Undetermined", "Violation", "evaluate"]


def evaluate(
    program: Program, inputs: Mapping[str, bytes], latitude: Latitude = VULKAN
) -> dict[str, Expectation]:
    """What each buffer may hold after the program ran on ``inputs``.

    Each tile's statements act in sequence (the lowering puts barriers where that matters).

    Raises :class:`reference.layout.OutOfBounds` for a matrix outside its buffer, and
    :class:`Undetermined` for a program whose result the specification leaves undefined (tiles
    that race on the same bytes) or that the oracle can't follow.
    """
    return _Evaluation(program, inputs, latitude).run()


def invocations(matrix: MatrixType, program: Program) -> int:
    """How many invocations share one matrix."""
    grid = program.grid
    return grid.subgroup_size if matrix.scope is Scope.SUBGROUP else grid.local_size


def length_region(statement: Length, program: Program) -> Region:
    """Where the lengths lie: [scope instances, 1, invocations of one]."""
    grid = program.grid
    size = grid.subgroup_size
    row = MatrixType(Component.UINT32, 1, size, Use.ACCUMULATOR)
    address = Address(statement.buffer, Layout.ROW_MAJOR, 0, 0, size)
    found = region(row, address, program.buffer(statement.buffer), grid)
    if statement.type.scope is Scope.SUBGROUP:
        return found
    groups, subgroups, _, _ = found.extents
    return Region(
        found.base,
        (groups, 1, 1, subgroups * size),
        (found.steps[0], found.steps[1], found.steps[2], found.steps[3]),
        found.size,
    )


class _Evaluation:
    def __init__(self, program: Program, inputs: Mapping[str, bytes], latitude: Latitude) -> None:
        self.program = program
        self.latitude = latitude
        self.types = program.types()
        self.inputs: dict[str, bytes] = {}
        self.memory: dict[str, Memory] = {}
        for buffer in program.buffers:
            data = inputs[buffer.name]
            size = buffer.backing_bytes(program.grid.workgroups)
            if len(data) != size:
                raise ValueError(f"{buffer.name} needs {size} bytes, got {len(data)}")
            self.inputs[buffer.name] = data
            self.memory[buffer.name] = Memory(buffer.name, data)
        self.values: dict[str, Value] = {}
        self.sources: dict[str, Source] = {}
        self.elements = Elements(program, self.types, self.values)
        self.iteration = 0
        self.tensors = Tensors(program, self.memory)

    def run(self) -> dict[str, Expectation]:
        self._execute(self.program.body)
        return {
            buffer.name: Expectation(
                buffer, self.inputs[buffer.name], self.memory[buffer.name].stored()
            )
            for buffer in self.program.buffers
        }

    def _execute(self, body: Iterable[Statement]) -> None:
        for index, statement in enumerate(body):
            match statement:
                case Load():
                    self._define(statement, self._load(statement))
                case Splat():
                    self._define(statement, self._splat(statement))
                case MulAdd():
                    self._define(statement, self._multiply_add(statement))
                case Stamp():
                    self._define(statement, self._stamp(statement))
                case Rebuild():
                    self._define(statement, self.values[statement.value])
                case Reduce():
                    source = settled(self.values[statement.value], statement.result)
                    self._define(statement, reduced(statement, source))
                case ConvertUse():
                    self._define(statement, use_converted(statement, self.values))
                case PerElement():
                    self._define(statement, per_element(statement, self.values))
                case Locate():
                    self._define(statement, located(statement, self.values))
                case FromArrays():
                    where = self._arrays(statement, statement.type)
                    loaded = self.memory[statement.buffer].load(where, statement.type.component)
                    self._define(statement, loaded)
                case ToArrays():
                    self._store_arrays(index, statement)
                case TensorLoad():
                    self._define(statement, self.tensors.load(statement, self.values))
                case TensorStore():
                    value = self.values[statement.value]
                    accept = acceptance(settled(value, statement.value), self.latitude)
                    self.tensors.store(index, statement, self.types[statement.value], accept)
                case Store():
                    self._store(index, statement)
                case Length():
                    where = length_region(statement, self.program)
                    lengths = Lengths(index, statement.type, where)
                    self.memory[statement.buffer].store(where, lengths)
                case Convert() | Negate() | Binary() | Scale():
                    self._define(statement, self.elements.value(statement))
                case Through():
                    chosen = statement.values[statement.index]
                    self._define(statement, self.values[chosen])
                    self.elements.reach.same(statement.result, chosen)
                case Branch():
                    self._branch(statement)
                case Repeat():
                    self._repeat(statement)
                case Barrier():
                    self._barrier(statement)

    def _arrays(self, statement: FromArrays | ToArrays, matrix: MatrixType) -> Region:
        buffer = self.program.buffer(statement.buffer)
        return array_region(statement, matrix, buffer, self.program.grid)

    def _store_arrays(self, index: int, statement: ToArrays) -> None:
        name = statement.value
        value = settled(self.values[name], name)
        where = self._arrays(statement, self.types[name])
        accept = acceptance(value, self.latitude)
        stored = Stored(index, name, self.types[name], where, accept, list)
        self.memory[statement.buffer].store(where, stored, value)

    def _define(self, statement: Source, value: Value) -> None:
        self.values[statement.result] = value
        self.sources[statement.result] = statement

    def _multiply_add(self, statement: MulAdd) -> Value:
        a, b, c = (self.values[name] for name in (statement.a, statement.b, statement.c))
        left, right = settled(a, statement.result), settled(b, statement.result)
        third = settled(c, statement.result) if isinstance(c, Ranged) else c
        self.elements.multiplied(statement, left, right, third)
        if self.program.first and isinstance(third, Exact) and left.component.is_integer:
            demand_in_range(statement, left, right, third)
        return multiply_add(statement, left, right, third)

    def _branch(self, statement: Branch) -> None:
        self._execute(statement.then)
        self._execute(statement.otherwise)
        for merge in statement.results:
            then, otherwise = self.values[merge.then], self.values[merge.otherwise]
            mask = taken(then.shape[0], statement.bit)
            self.values[merge.result] = merged(mask, then, otherwise, self.latitude)
            self.elements.reach.same(merge.result, merge.then, merge.otherwise)

    def _repeat(self, statement: Repeat) -> None:
        outer = self.iteration
        current = {carry.name: carry.initial for carry in statement.carried}
        carried = {name: self.values[initial] for name, initial in current.items()}
        for carry in statement.carried:
            self.elements.reach.same(carry.name, carry.initial)
        for self.iteration in range(statement.count):
            self.values.update(carried)
            self._execute(statement.body)
            for carry in statement.carried:
                carried[carry.name] = self.values[carry.following]
                self.elements.reach.same(carry.name, carry.following)
        self.iteration = outer
        for carry in statement.carried:
            self.values[carry.result] = carried[carry.name]
            self.elements.reach.same(carry.result, carry.name)

    def _barrier(self, statement: Barrier) -> None:
        if statement.scope is Scope.WORKGROUP:
            for memory in self.memory.values():
                memory.barrier()

    def _tiles(self, matrix: MatrixType) -> int:
        grid = self.program.grid
        return grid.tiles if matrix.scope is Scope.SUBGROUP else grid.workgroups

    def _region(self, matrix: MatrixType, address: Address) -> Region:
        return region(matrix, address, self.program.buffer(address.buffer), self.program.grid)

    def _load(self, statement: Load) -> Value:
        address = statement.address
        if address.step:
            offset = address.offset + self.iteration * address.step
            address = dataclasses.replace(address, offset=offset, step=0)
        where = self._region(statement.type, address)
        memory, buffer = self.memory[address.buffer], self.program.buffer(address.buffer)
        value = memory.load(where, statement.type.component, address.turn)
        if buffer.visible is None or self.program.robust is None:
            return value
        count = robust.lines_inside(where, address, statement.type, buffer)
        known = settled(value, statement.result)
        return robust.loaded(known, count, address, self.program.robust)

    def _splat(self, statement: Splat) -> Exact:
        matrix = statement.type
        bits = np.full(1, statement.bits, bits_dtype(matrix.component))
        shape = (self._tiles(matrix), matrix.rows, matrix.columns)
        return Exact(matrix.component, np.broadcast_to(bits, shape))

    def _stamp(self, statement: Stamp) -> Scattered:
        if statement.type.component.is_float:
            raise Undetermined(f"{statement.result}: only integers can be stamped")
        size = invocations(statement.type, self.program)
        return Scattered(statement.type, self._tiles(statement.type), size, statement.shift)

    def _store(self, index: int, statement: Store) -> None:
        name = statement.value
        value = self.values[name]
        matrix = self.types[name]
        component = matrix.component
        where = self._region(matrix, statement.address)
        buffer = self.program.buffer(statement.address.buffer)
        if buffer.visible is not None and self.program.robust is not None:
            count = robust.lines_inside(where, statement.address, matrix, buffer)
            lines = where.extents[2 if statement.address.layout is Layout.ROW_MAJOR else 3]
            if count < lines and self.program.robust is Robust.ONE:
                self.memory[buffer.name].store(*robust.unknown(index, name, buffer))
                return
            if not count:
                return
            cut = robust.shortened(where, matrix, value, count, statement.address)
            where, matrix, value = cut
        suspects = lambda: of_value(name, self.sources, self.values)  # noqa: E731
        stored: Stored
        if isinstance(value, Reduced):
            accept = reduction.acceptance(value)
            rule = (value.reduction, value.free, value.assumed)
            stored = StoredReduction(index, name, matrix, where, accept, suspects, *rule)
        elif isinstance(value, Scattered):
            stored = Stored(index, name, matrix, where, value, suspects)
        else:
            accepted = acceptance(value, self.elements.modes.narrowed(self.latitude, component))
            stored = Stored(index, name, matrix, where, accepted, suspects)
        self.memory[statement.address.buffer].store(where, stored, value)
