"""Runs programs to one concrete result, as a device would: the arithmetic is chosen, not a set.

The reference device is this machine. Mutants override single methods of it, so each method is one
step that can go wrong. It shares nothing with :mod:`reference.evaluate` but the codecs and the
layouts, so that running the one and judging with the other tests both.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cts.program.matrix2 import ConvertUse, Locate, PerElement, Reduce
from cts.program.model import (
    Address,
    Barrier,
    Binary,
    Branch,
    Buffer,
    Component,
    Convert,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Negate,
    Program,
    Rebuild,
    Repeat,
    Scale,
    Scope,
    Splat,
    Stamp,
    Statement,
    Store,
    Through,
)
from cts.program.qcom import FromArrays, ToArrays
from cts.program.tensor import TensorLoad, TensorStore
from reference.adders import Arithmetic, multiply_add
from reference.component import Bits, Flags, bits_dtype, decode, decode_int, encode, encode_int
from reference.evaluate import invocations, length_region
from reference.layout import Image, Region, region
from reference.machine_arrays import ArraySteps
from reference.machine_elements import ElementSteps
from reference.machine_flow import FlowSteps
from reference.machine_matrix2 import Matrix2Steps
from reference.machine_tensor import TensorSteps


class Ownership(enum.Enum):
    """Which invocation holds which elements."""

    INTERLEAVED = "element e is component e // size of invocation e % size"
    BLOCKED = "consecutive elements belong to one invocation"
    DOUBLED = "as INTERLEAVED, and every element is held a second time, as the first half"


@dataclass(frozen=True)
class Behaviour:
    """The choices that the specification leaves to a device."""

    arithmetic: Arithmetic = field(default_factory=Arithmetic)
    ownership: Ownership = Ownership.INTERLEAVED
    drops_zero_sign: bool = False
    """Loads turn -0 into +0."""
    quiets_nan: bool = False
    """Loads set the quiet bit of NaNs."""
    reverses_records: bool = False
    """Lists of combinations come in another order."""


class Machine(Matrix2Steps, ElementSteps, FlowSteps, TensorSteps, ArraySteps):
    """One run of one program."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, bytes],
        behaviour: Behaviour | None = None,
    ) -> None:
        self.program = program
        self.behaviour = behaviour or Behaviour()
        self.types = program.types()
        self.images: dict[str, Image] = {
            buffer.name: np.frombuffer(bytearray(inputs[buffer.name]), np.uint8)
            for buffer in program.buffers
        }
        self.values: dict[str, Bits] = {}

    def run(self) -> dict[str, bytes]:
        """Every buffer after the run, by name."""
        self.execute(self.program.body)
        return {name: image.tobytes() for name, image in self.images.items()}

    def execute(self, body: Iterable[Statement]) -> None:
        """Runs statements."""
        for statement in body:
            match statement:
                case Load():
                    self.values[statement.result] = self.load(statement)
                case Splat():
                    self.values[statement.result] = self.splat(statement)
                case MulAdd():
                    self.values[statement.result] = self.multiply_add(statement)
                case Stamp():
                    self.values[statement.result] = self.stamp(statement)
                case Rebuild():
                    self.values[statement.result] = self.rebuild(statement)
                case Reduce():
                    self.values[statement.result] = self.reduce(statement)
                case ConvertUse():
                    self.values[statement.result] = self.convert_use(statement)
                case PerElement():
                    self.values[statement.result] = self.per_element(statement)
                case Locate():
                    self.values[statement.result] = self.locate(statement)
                case FromArrays():
                    self.values[statement.result] = self.from_arrays(statement)
                case ToArrays():
                    self.to_arrays(statement)
                case TensorLoad():
                    self.values[statement.result] = self.tensor_load(statement)
                case TensorStore():
                    self.tensor_store(statement)
                case Store():
                    self.store(statement)
                case Length():
                    self.length(statement)
                case Convert():
                    self.values[statement.result] = self.convert_elements(statement)
                case Negate():
                    self.values[statement.result] = self.negate(statement)
                case Binary():
                    self.values[statement.result] = self.binary(statement)
                case Scale():
                    self.values[statement.result] = self.scale(statement)
                case Through():
                    self.values[statement.result] = self.through(statement)
                case Branch():
                    self.branch(statement)
                case Repeat():
                    self.repeat(statement)
                case Barrier():
                    pass  # statements act on all tiles at once

    # --- steps --------------------------------------------------------------------------------

    def tiles(self, matrix: MatrixType) -> int:
        """Executing scope instances."""
        grid = self.program.grid
        return grid.tiles if matrix.scope is Scope.SUBGROUP else grid.workgroups

    def region(self, matrix: MatrixType, address: Address) -> Region:
        """Where the matrices of all tiles lie."""
        return region(matrix, address, self.buffer(address.buffer), self.program.grid)

    def buffer(self, name: str) -> Buffer:
        """The buffer called ``name``."""
        return self.program.buffer(name)

    def load(self, statement: Load) -> Bits:
        """The elements that a load gives, [tiles, rows, columns]."""
        address = statement.address
        offset = address.offset + self.iteration * address.step
        where = self.region(statement.type, dataclasses.replace(address, offset=offset))
        bits = where.read(self.images[address.buffer])
        if address.turn:
            groups, subgroups, _, _ = where.extents
            tile = np.arange(groups * subgroups)
            workgroup, subgroup = np.divmod(tile, subgroups)
            bits = bits[workgroup * subgroups + (subgroup + address.turn) % subgroups]
        inside = self.in_bounds(where, address.buffer)
        if inside is not None:
            bits = np.where(inside, bits, bits.dtype.type(0))
        return self._loaded(bits, statement.type)

    def in_bounds(self, where: Region, buffer: str) -> Flags | None:
        """Which elements lie in the range of a buffer's descriptor; None for all of them."""
        visible = self.buffer(buffer).visible
        if visible is None:
            return None
        steps = zip(where.extents, where.steps, strict=True)
        along = np.ix_(*(np.arange(extent) * step for extent, step in steps))
        ends = np.asarray(where.base + where.size + sum(along))
        found: Flags = np.asarray(ends <= visible * self.buffer(buffer).pointee.bytes)
        return found.reshape(where.shape)

    def _loaded(self, bits: Bits, matrix: MatrixType) -> Bits:
        component = matrix.component
        if not component.is_float:
            return bits
        values = decode(bits, component)
        if self.behaviour.drops_zero_sign and not self.keeps_specials(component):
            bits = np.where(values == 0, bits.dtype.type(0), bits)
        if self.behaviour.quiets_nan:
            bits = np.where(np.isnan(values), encode(values, component), bits)
        return bits

    def splat(self, statement: Splat) -> Bits:
        """A matrix of one scalar."""
        matrix = statement.type
        shape = (self.tiles(matrix), matrix.rows, matrix.columns)
        return np.full(shape, statement.bits, bits_dtype(matrix.component))

    def multiply_add(self, statement: MulAdd) -> Bits:
        """The result of a multiply-add."""
        if statement.type.component.is_float:
            return self.float_multiply_add(statement)
        return self.integer_multiply_add(statement)

    def float_multiply_add(self, statement: MulAdd) -> Bits:
        """The result of a float multiply-add."""
        a, b, c = (
            decode(self.values[name], self.types[name].component)
            for name in (statement.a, statement.b, statement.c)
        )
        component = statement.type.component
        result = multiply_add(self.behaviour.arithmetic, a, b, c, component)
        return encode(result, component)

    def operand(self, name: str, signed: bool) -> NDArray[np.object_]:
        """An integer operand as Python integers."""
        numbers = decode_int(self.values[name], self.types[name].component, signed)
        return numbers.astype(object)

    def integer_multiply_add(self, statement: MulAdd) -> Bits:
        """The result of an integer multiply-add, in integers of any size."""
        a = self.operand(statement.a, statement.a_signed)
        b = self.operand(statement.b, statement.b_signed)
        c = self.operand(statement.c, statement.c_signed)
        return self.narrow(self.product(a, b) + c, statement)

    def product(self, a: NDArray[np.object_], b: NDArray[np.object_]) -> NDArray[np.object_]:
        """The exact product of two batches of integer matrices."""
        total: NDArray[np.object_] = a[:, :, 0, None] * b[:, None, 0, :]
        for k in range(1, a.shape[2]):
            total = total + a[:, :, k, None] * b[:, None, k, :]
        return total

    def narrow(self, exact: NDArray[np.object_], statement: MulAdd) -> Bits:
        """Exact integers as the result type holds them."""
        component = statement.type.component
        if statement.saturating:
            exact = clamped(exact, component)
        return lowest_bits(exact, component)

    def stamp(self, statement: Stamp) -> Bits:
        """Every element holds the code of a component that is this element."""
        matrix, size = statement.type, invocations(statement.type, self.program)
        count = matrix.rows * matrix.columns
        element = np.arange(count, dtype=np.uint64)
        codes = element
        if self.behaviour.ownership is Ownership.BLOCKED:
            share = np.uint64(-(-count // size))
            codes = element % share * np.uint64(size) + element // share
        elif self.behaviour.ownership is Ownership.DOUBLED:
            codes = element + np.uint64(-(-count // size) * size)
        bits = encode_int(codes >> np.uint64(statement.shift), matrix.component)
        shape = (self.tiles(matrix), matrix.rows, matrix.columns)
        return np.broadcast_to(bits.reshape(shape[1:]), shape)

    def rebuild(self, statement: Rebuild) -> Bits:
        """A matrix copied component by component."""
        return self.values[statement.value]

    def store(self, statement: Store) -> None:
        """Writes a matrix."""
        where = self.region(self.types[statement.value], statement.address)
        image, bits = self.images[statement.address.buffer], self.values[statement.value]
        inside = self.in_bounds(where, statement.address.buffer)
        if inside is not None:
            bits = np.where(inside, bits, where.read(image))
        where.write(image, bits)

    def length(self, statement: Length) -> None:
        """Writes every invocation's number of components."""
        where = length_region(statement, self.program)
        invocations = where.shape[2]
        count = statement.type.rows * statement.type.columns
        lengths = np.full(invocations, count // invocations, np.uint32)
        lengths[: count % invocations] += 1
        if self.behaviour.ownership is Ownership.BLOCKED:
            share = -(-count // invocations)
            lengths = np.clip(count - share * np.arange(invocations), 0, share).astype(np.uint32)
        elif self.behaviour.ownership is Ownership.DOUBLED:
            lengths = np.full(invocations, 2 * -(-count // invocations), np.uint32)
        where.write(self.images[statement.buffer], lengths)


def clamped(exact: NDArray[np.object_], component: Component) -> NDArray[np.object_]:
    """Integers clamped to what the component holds."""
    low = -(1 << (component.bits - 1)) if component.is_signed else 0
    high = (1 << (component.bits - component.is_signed)) - 1
    return np.maximum(np.minimum(exact, high), low)


def lowest_bits(exact: NDArray[np.object_], component: Component) -> Bits:
    """The low bits of integers of any size."""
    low: NDArray[np.object_] = exact & ((1 << component.bits) - 1)
    return low.astype(np.uint64).astype(bits_dtype(component))
