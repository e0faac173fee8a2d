"""Evaluates programs: which results of a dispatch the specification and the policy permit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cts.program.matrix2 import ConvertUse, Locate, PerElement, Reduce
from cts.program.model import (
    Address,
    Component,
    Layout,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Program,
    Rebuild,
    Scope,
    Splat,
    Stamp,
    Store,
    Use,
)
from reference import reduction
from reference.component import bits_dtype
from reference.elements import located, per_element, settled, use_converted
from reference.expectation import Expectation, Judgement, Lengths, Stored, Violation
from reference.hypotheses import Source, of_value
from reference.latitude import VULKAN, Latitude
from reference.layout import Region, region
from reference.matrix import Undetermined, acceptance, multiply_add
from reference.memory import Memory
from reference.reduction import StoredReduction, reduced
from reference.values import Exact, Reduced, Scattered, Value

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


def length_region(statement: Length, program: Program) -> Region:
    """Where the lengths lie: [scope instances, 1, invocations of one]."""
    grid = program.grid
    invocations = grid.subgroup_size
    row = MatrixType(Component.UINT32, 1, invocations, Use.ACCUMULATOR)
    address = Address(statement.buffer, Layout.ROW_MAJOR, 0, 0, invocations)
    found = region(row, address, program.buffer(statement.buffer), grid)
    if statement.type.scope is Scope.SUBGROUP:
        return found
    groups, subgroups, _, _ = found.extents
    return Region(
        found.base,
        (groups, 1, 1, subgroups * invocations),
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

    def run(self) -> dict[str, Expectation]:
        for index, statement in enumerate(self.program.body):
            match statement:
                case Load():
                    self._define(statement, self._load(statement))
                case Splat():
                    self._define(statement, self._splat(statement))
                case MulAdd():
                    a, b, c = (self.values[n] for n in (statement.a, statement.b, statement.c))
                    self._define(statement, multiply_add(statement, a, b, c))
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
                case Store():
                    self._store(index, statement)
                case Length():
                    where = length_region(statement, self.program)
                    lengths = Lengths(index, statement.type, where)
                    self.memory[statement.buffer].store(where, lengths)
        return {
            buffer.name: Expectation(
                buffer, self.inputs[buffer.name], self.memory[buffer.name].stored()
            )
            for buffer in self.program.buffers
        }

    def _define(self, statement: Source, value: Value) -> None:
        self.values[statement.result] = value
        self.sources[statement.result] = statement

    def _tiles(self, matrix: MatrixType) -> int:
        grid = self.program.grid
        return grid.tiles if matrix.scope is Scope.SUBGROUP else grid.workgroups

    def _region(self, matrix: MatrixType, address: Address) -> Region:
        return region(matrix, address, self.program.buffer(address.buffer), self.program.grid)

    def _load(self, statement: Load) -> Value:
        where = self._region(statement.type, statement.address)
        return self.memory[statement.address.buffer].load(where, statement.type.component)

    def _splat(self, statement: Splat) -> Exact:
        matrix = statement.type
        bits = np.full(1, statement.bits, bits_dtype(matrix.component))
        shape = (self._tiles(matrix), matrix.rows, matrix.columns)
        return Exact(matrix.component, np.broadcast_to(bits, shape))

    def _stamp(self, statement: Stamp) -> Scattered:
        if statement.type.component.is_float:
            raise Undetermined(f"{statement.result}: only integers can be stamped")
        size = self.program.grid.subgroup_size
        return Scattered(statement.type, self._tiles(statement.type), size, statement.shift)

    def _store(self, index: int, statement: Store) -> None:
        name = statement.value
        value = self.values[name]
        matrix = self.types[name]
        where = self._region(matrix, statement.address)
        suspects = lambda: of_value(name, self.sources, self.values)  # noqa: E731
        stored: Stored
        if isinstance(value, Reduced):
            accept = reduction.acceptance(value)
            rule = (value.reduction, value.free)
            stored = StoredReduction(index, name, matrix, where, accept, suspects, *rule)
        elif isinstance(value, Scattered):
            stored = Stored(index, name, matrix, where, value, suspects)
        else:
            accepted = acceptance(value, self.latitude)
            stored = Stored(index, name, matrix, where, accepted, suspects)
        self.memory[statement.address.buffer].store(where, stored, value)
