"""Faults of how values are kept, built and taken apart; and a rare one."""

from __future__ import annotations

import dataclasses

import numpy as np

from cts.device.protocol import Dispatch, Reply
from cts.program.model import Component, Form, Length, Load, Rebuild, Splat, Stamp, Store
from reference.component import Bits, decode, encode, float_format, is_nan, is_subnormal
from reference.evaluate import invocations, length_region
from reference.layout import region
from reference.machine import Machine
from reference.mutants.base import Executor, Fault, Mutant, has_program, machine_mutant

CONVERSION = "conversion"
CONSTANTS = "constants"
WAVES = "subgroup and wave size"


class NanToZero(Machine):
    """Loads turn NaN into zero."""

    def load(self, statement: Load) -> Bits:
        bits, component = super().load(statement), statement.type.component
        if not component.is_float:
            return bits
        return np.where(is_nan(bits, component), bits.dtype.type(0), bits)


class NanToInfinity(Machine):
    """Loads of bfloat16 turn NaN into infinity."""

    def load(self, statement: Load) -> Bits:
        bits, component = super().load(statement), statement.type.component
        if component is not Component.BFLOAT16:
            return bits
        infinity = encode(np.full(1, np.inf), component)
        return np.where(is_nan(bits, component), infinity, bits)


class Flushes(Machine):
    """Loads turn subnormals into zero."""

    def load(self, statement: Load) -> Bits:
        bits, component = super().load(statement), statement.type.component
        if not component.is_float:
            return bits
        return np.where(is_subnormal(bits, component), bits.dtype.type(0), bits)


class DoubleRounded(Machine):
    """float32 matrices pass through float16 where that holds them nearly."""

    def load(self, statement: Load) -> Bits:
        bits, component = super().load(statement), statement.type.component
        if component is not Component.FLOAT32:
            return bits
        half = encode(decode(bits, component), Component.FLOAT16)
        through = decode(half, Component.FLOAT16)
        low = float_format(Component.FLOAT16).minimum_normal
        kept = ~(np.isfinite(through) & (np.abs(through) >= low))
        return np.where(kept, bits, encode(through, component))


class NullIsGarbage(Machine):
    """OpConstantNull leaves one element undefined."""

    def splat(self, statement: Splat) -> Bits:
        bits = super().splat(statement)
        if statement.form is Form.NULL:
            bits[:, -1, 0] = 1
        return bits


class FirstRowOnly(Machine):
    """OpCompositeConstruct fills the first row only."""

    def splat(self, statement: Splat) -> Bits:
        bits = super().splat(statement)
        if statement.form is Form.CONSTRUCT:
            bits[:, 1:] = 0
        return bits


class NeighbourInserted(Machine):
    """Inserting a component also changes the next one in every fourth element."""

    def stamp(self, statement: Stamp) -> Bits:
        bits = np.array(super().stamp(statement))
        flat = bits.reshape(len(bits), -1)
        flat[:, 3::4] = flat[:, 2::4][:, : flat[:, 3::4].shape[1]]
        return bits


class FirstForSecond(Machine):
    """Reading a matrix by component index gives component 0 for component 1, too."""

    def rebuild(self, statement: Rebuild) -> Bits:
        bits = np.array(super().rebuild(statement))
        flat = bits.reshape(len(bits), -1)
        share = invocations(self.types[statement.value], self.program)
        second = flat[:, share : 2 * share]
        second[:] = flat[:, : second.shape[1]]
        return bits


class ShortLength(Machine):
    """The length of matrices is one too small."""

    def length(self, statement: Length) -> None:
        super().length(statement)
        where = length_region(statement, self.program)
        image = self.images[statement.buffer]
        where.write(image, np.maximum(where.read(image), 1) - 1)


class HalvesSwapped(Machine):
    """In subgroups of 64 stores use the layout of 32: the two halves of each row are swapped."""

    def store(self, statement: Store) -> None:
        bits = self.values[statement.value]
        if self.program.grid.subgroup_size == 64:
            self.values[statement.value] = np.roll(bits, bits.shape[2] // 2, axis=2)
        super().store(statement)
        self.values[statement.value] = bits


class Rare(Fault):
    """Flips a bit of the last stored element once in a thousand dispatches."""

    PERIOD = 1000

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant)
        self.count = 0

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        reply = execute(request)
        program = has_program(request)
        types = program.types()
        per_run = len(request.buffers)
        buffers = list(reply.buffers)
        for run in range(request.repeat):
            self.count += 1
            if self.count % self.PERIOD:
                continue
            for statement in program.body:
                if isinstance(statement, Store) and reply.result >= 0:
                    address = statement.address
                    buffer = program.buffer(address.buffer)
                    where = region(types[statement.value], address, buffer, program.grid)
                    at = run * per_run + program.buffers.index(buffer)
                    data = bytearray(buffers[at])
                    data[where.end - 1] ^= 1
                    buffers[at] = bytes(data)
        return dataclasses.replace(reply, buffers=tuple(buffers))


MUTANTS = (
    machine_mutant("nan_to_zero", CONVERSION, NanToZero),
    machine_mutant("bfloat16_nan_to_infinity", CONVERSION, NanToInfinity),
    machine_mutant("load_flushes_subnormals", CONVERSION, Flushes),
    machine_mutant("float32_through_float16", CONVERSION, DoubleRounded),
    machine_mutant("null_is_garbage", CONSTANTS, NullIsGarbage),
    machine_mutant("construct_fills_first_row", CONSTANTS, FirstRowOnly),
    machine_mutant("insert_changes_neighbour", CONSTANTS, NeighbourInserted),
    machine_mutant("component_0_for_1", CONSTANTS, FirstForSecond),
    machine_mutant("length_one_short", CONSTANTS, ShortLength),
    machine_mutant("layout_of_32_under_64", WAVES, HalvesSwapped),
    Mutant("once_in_a_thousand", "hazards and register pressure", Rare.__doc__ or "", Rare),
)
