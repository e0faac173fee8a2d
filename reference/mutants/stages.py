"""Faults of single shader stages, which compute shaders don't have."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from cts.program.types import Buffer, Component, Storage
from cts.program.vector import Index, MatrixMul, Place, ReduceSum, Stage, VectorStore
from cts.program.vector_program import Helpers, VectorProgram
from reference.component import Bits, Rounding, decode, encode
from reference.exact import sum_products
from reference.mutants.base import Mutant
from reference.mutants.vector import (
    BranchTakenByAll,
    ExitIgnored,
    OneBiasForAll,
    OneMatrixForAll,
    WrongVectors,
)
from reference.values import Exact, FloatSum
from reference.vector_lanes import Pieces
from reference.vector_machine import Positions, VectorMachine

CLASS = "cooperative vector stages"


class NeighbourStored(VectorMachine):
    """Vertex shaders store the vector of the vertex before."""

    def write(self, buffer: Buffer, positions: Positions, bits: Bits, component: Component) -> None:
        super().write(buffer, positions, np.roll(bits, 1, axis=0), component)


class FirstPatch(VectorMachine):
    """Control shaders work on the first patch in all of them."""

    def index(self, index: Index, in_workgroup: bool = False) -> NDArray[np.int64]:
        with self.only(self.lanes % self.program.grid.local_size):
            return super().index(index, in_workgroup)


class OneSide(BranchTakenByAll):
    """Evaluation shaders take the side of a selection that the first of each four takes."""


class InstancesLost(VectorMachine):
    """Geometry shaders store in their first four instances only."""

    def store(self, it: VectorStore, buffer: Buffer, positions: Positions, pieces: Pieces) -> None:
        kept = self.lanes % self.program.grid.local_size < 4
        with self.only(self.lanes[kept]):
            super().store(it, buffer, positions[kept], pieces)


class FirstMatrix(OneMatrixForAll):
    """Fragment shaders multiply with the matrix of the first fragment."""


class HelpersStore(VectorMachine):
    """What helper invocations of fragment shaders store and add arrives in memory."""

    def helpers(self, it: Helpers) -> None:
        row = self.program.grid.local_size
        diagonal = self.lanes[self.lanes % row == self.lanes // row % row]
        with self.only(diagonal):
            self.execute(it.body)


class Returned(ExitIgnored):
    """Invocations of task shaders that returned go on."""


class SharedMemoryLow(VectorMachine):
    """Mesh shaders have the upper half of workgroup memory where the lower one is."""

    def offsets(self, place: Place, alignment: int) -> NDArray[np.int64]:
        found = super().offsets(place, alignment)
        buffer = self.program.buffer(place.buffer)
        size = buffer.size * buffer.pointee.bytes
        if buffer.storage is not Storage.WORKGROUP or place.buffer != "a":
            return found
        half = size // 32 * 16
        inner = found % size
        return found - inner + np.where(inner >= half, inner - half, inner)


class RowsSwapped(VectorMachine):
    """Ray generation shaders store by columns of the launch instead of rows."""

    def store(self, it: VectorStore, buffer: Buffer, positions: Positions, pieces: Pieces) -> None:
        grid = self.program.grid
        if len(self.lanes) == grid.invocations:
            row, place = self.lanes // grid.local_size, self.lanes % grid.local_size
            positions = positions[place * grid.workgroups + row]
        super().store(it, buffer, positions, pieces)


class RunTwice(VectorMachine):
    """Any-hit shaders run twice, and add to memory twice."""

    def accumulate(self, it: ReduceSum, buffer: Buffer, positions: Positions, value: Exact) -> None:
        super().accumulate(it, buffer, positions, value)
        super().accumulate(it, buffer, positions, value)


class RoundsDown(VectorMachine):
    """Closest hit shaders cut a float product off instead of rounding it."""

    def summed(self, chain: FloatSum) -> Exact:
        pairs = [
            (decode(a.bits, a.component), decode(b.bits, b.component)) for a, b in chain.products
        ]
        c = decode(chain.c.bits, chain.c.component)
        with np.errstate(all="ignore"):
            total = sum_products(pairs, c, True, True).value
        return Exact(chain.component, encode(total, chain.component, Rounding.TOWARD_ZERO))


class BiasLost(VectorMachine):
    """Miss shaders don't add the bias."""

    def bias(self, it: MatrixMul) -> Exact | None:
        found = super().bias(it)
        return None if found is None else dataclasses.replace(found, bits=np.zeros_like(found.bits))


class LastRowZero(VectorMachine):
    """Intersection shaders take the last row of a matrix for zeros."""

    def matrix(self, it: MatrixMul) -> Bits:
        found = super().matrix(it).copy()
        found[:, -1] = 0
        return found


class FirstBias(OneBiasForAll):
    """Callable shaders add the bias of the first invocation."""


class LastLost(VectorMachine):
    """Vertex shaders aren't run for the last vertex."""

    def write(self, buffer: Buffer, positions: Positions, bits: Bits, component: Component) -> None:
        run = self.lanes != self.program.grid.invocations - 1
        super().write(buffer, positions[run], bits[run], component)


class _AnyVertex(WrongVectors):
    """The fault shows without cooperative vectors, too."""

    machine = LastLost

    def concerns(self, program: VectorProgram) -> bool:
        return program.stage is Stage.VERTEX


def _planted(name: str, stage: Stage, wrong: type[VectorMachine]) -> Mutant:
    """A mutant whose programs in ``stage``, and no others, are run by ``wrong``; its docstring
    says what is wrong."""

    class Planted(WrongVectors):
        machine = wrong

        def concerns(self, program: VectorProgram) -> bool:
            return program.stage is stage and super().concerns(program)

    return Mutant(name, CLASS, (wrong.__doc__ or "").strip(), Planted)


MUTANTS = (
    _planted("vertex_stores_neighbour", Stage.VERTEX, NeighbourStored),
    _planted("control_first_patch", Stage.TESSELLATION_CONTROL, FirstPatch),
    _planted("evaluation_one_side", Stage.TESSELLATION_EVALUATION, OneSide),
    _planted("geometry_instances_lost", Stage.GEOMETRY, InstancesLost),
    _planted("fragment_first_matrix", Stage.FRAGMENT, FirstMatrix),
    _planted("fragment_helpers_store", Stage.FRAGMENT, HelpersStore),
    _planted("task_return_ignored", Stage.TASK, Returned),
    _planted("mesh_shared_memory_low", Stage.MESH, SharedMemoryLow),
    _planted("ray_generation_rows_swapped", Stage.RAY_GENERATION, RowsSwapped),
    _planted("any_hit_twice", Stage.ANY_HIT, RunTwice),
    _planted("closest_hit_rounds_down", Stage.CLOSEST_HIT, RoundsDown),
    _planted("miss_bias_lost", Stage.MISS, BiasLost),
    _planted("intersection_last_row_zero", Stage.INTERSECTION, LastRowZero),
    _planted("callable_first_bias", Stage.CALLABLE, FirstBias),
)

WITHOUT_VECTORS = (Mutant("vertex_last_lost", CLASS, (LastLost.__doc__ or "").strip(), _AnyVertex),)
"""Faults of a stage itself, which no case may count against cooperative vectors."""
