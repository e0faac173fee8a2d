"""Faults of how matrices pass through aggregates, functions, branches, loops and barriers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from cts.device.protocol import Dispatch, Reply
from cts.program.flow import Barrier, Through, Via
from cts.program.model import Branch, Layout, Load, Program, Repeat, Store
from reference.component import Bits, Flags
from reference.layout import Region
from reference.machine import Behaviour, Machine
from reference.mutants.base import Executor, Fault, Mutant, machine_mutant

FLOW = "specialization, control flow, value flow"
SYNCHRONISATION = "synchronisation"
HAZARDS = "hazards and register pressure"
WAVES = "subgroup and wave size"
ROBUST = "robustness"


class IndexOffByOne(Machine):
    """Arrays with an index of the run give the next element, the last one the first."""

    def chosen(self, statement: Through) -> int:
        dynamic = statement.via in (Via.ARRAY_DYNAMIC, Via.PRIVATE_ARRAY, Via.NESTED)
        return (statement.index + dynamic) % len(statement.values)


class FirstElement(Machine):
    """Every element of an array reads as element 0."""

    def chosen(self, statement: Through) -> int:
        return 0 if statement.via is Via.ARRAY else statement.index


class ThirdParameter(Machine):
    """A function with more than two matrices as parameters gets the first one as all others."""

    def chosen(self, statement: Through) -> int:
        many = statement.via is Via.PARAMETER and len(statement.values) > 2
        return 0 if many else statement.index


class OutUnchanged(Machine):
    """A function doesn't write the last row through a pointer."""

    def through(self, statement: Through) -> Bits:
        found = np.array(super().through(statement))
        if statement.via is Via.OUT:
            found[:, -1] = 0
        return found


class PrivateOfFirst(Machine):
    """Private variables are those of the workgroup's first subgroup."""

    def through(self, statement: Through) -> Bits:
        found = super().through(statement)
        if statement.via not in (Via.PRIVATE, Via.PRIVATE_ARRAY):
            return found
        subgroups = self.program.grid.subgroups
        return found[np.arange(len(found)) // subgroups * subgroups]


class OddHalf(Machine):
    """Behind OpPhi the odd columns are those of the last value."""

    def through(self, statement: Through) -> Bits:
        found = np.array(super().through(statement))
        if statement.via is Via.PHI:
            found[:, :, 1::2] = self.values[statement.values[-1]][:, :, 1::2]
        return found


class WrongSide(Machine):
    """In every workgroup but the first a branch takes the wrong side."""

    def taken(self, statement: Branch) -> Flags:
        found = super().taken(statement)
        later = np.arange(len(found)) >= self.program.grid.subgroups
        return np.where(later[:, None, None], ~found, found)


class AlwaysThen(Machine):
    """A branch inside a branch is always taken."""

    level = 0

    def branch(self, statement: Branch) -> None:
        self.level += 1
        super().branch(statement)
        self.level -= 1

    def taken(self, statement: Branch) -> Flags:
        found = super().taken(statement)
        return np.ones_like(found) if self.level > 1 else found


class OneLayout(Machine):
    """Loads in the second side of a branch use the layout of the first side's."""

    def branch(self, statement: Branch) -> None:
        first = [it for it in statement.then if isinstance(it, Load)]
        if not first:
            super().branch(statement)
            return
        layout = first[0].address.layout
        otherwise = tuple(
            dataclasses.replace(it, address=dataclasses.replace(it.address, layout=layout))
            if isinstance(it, Load) and it.type.rows == it.type.columns
            else it
            for it in statement.otherwise
        )
        super().branch(dataclasses.replace(statement, otherwise=otherwise))


class OnceLess(Machine):
    """A loop of more than two iterations runs once less."""

    def iterations(self, statement: Repeat) -> int:
        return statement.count - (statement.count > 2)


class StepIgnored(Machine):
    """Loads in a loop take the place of the second iteration from then on."""

    def load(self, statement: Load) -> Bits:
        kept = self.iteration
        self.iteration = min(kept, 1)
        found = super().load(statement)
        self.iteration = kept
        return found


class NinthCarried(Machine):
    """A loop carries at most eight matrices; the others stay as they were at first."""

    def repeat(self, statement: Repeat) -> None:
        super().repeat(statement)
        for carry in statement.carried[8:]:
            self.values[carry.result] = self.values[carry.initial]


class LastAccumulators(Machine):
    """With more than five matrices carried, a loop's last one takes the value of its first."""

    def repeat(self, statement: Repeat) -> None:
        super().repeat(statement)
        if len(statement.carried) > 5:
            first, last = statement.carried[0], statement.carried[-1]
            self.values[last.result] = self.values[first.result]


class Remembering(Machine):
    """Keeps the memory of before the last stores."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, bytes],
        behaviour: Behaviour | None = None,
    ) -> None:
        super().__init__(program, inputs, behaviour)
        self.before = {name: image.copy() for name, image in self.images.items()}

    def store(self, statement: Store) -> None:
        name = statement.address.buffer
        self.before[name] = self.images[name].copy()
        super().store(statement)

    def stale(self, statement: Load) -> bool:
        """Whether a load sees what was there before the last store."""
        return False

    def load(self, statement: Load) -> Bits:
        name = statement.address.buffer
        if not self.stale(statement):
            return super().load(statement)
        now = self.images[name]
        self.images[name] = self.before[name]
        found = super().load(statement)
        self.images[name] = now
        return found


class StaleOwn(Remembering):
    """A load of what the same subgroup stored sees what was there before."""

    def stale(self, statement: Load) -> bool:
        return statement.address.turn == 0


class StaleOther(Remembering):
    """A load of what another subgroup stored sees what was there before, in odd rows."""

    def load(self, statement: Load) -> Bits:
        fresh = np.array(super().load(statement))
        if statement.address.turn:
            kept = self.images[statement.address.buffer]
            self.images[statement.address.buffer] = self.before[statement.address.buffer]
            fresh[:, 1::2] = super().load(statement)[:, 1::2]
            self.images[statement.address.buffer] = kept
        return fresh


class ReuseStale(Remembering):
    """Where memory is used for a second exchange, loads see what the first one left there."""

    used: tuple[str, ...] = ()

    def store(self, statement: Store) -> None:
        super().store(statement)
        self.used += (statement.address.buffer,)

    def stale(self, statement: Load) -> bool:
        address = statement.address
        return address.turn > 0 and self.used.count(address.buffer) > 1


class AccessesIgnored(Remembering):
    """MakePointerAvailable and MakePointerVisible do nothing."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, bytes],
        behaviour: Behaviour | None = None,
    ) -> None:
        super().__init__(program, inputs, behaviour)
        self.by_access = any(isinstance(it, Barrier) and it.by_access for it in program.body)

    def stale(self, statement: Load) -> bool:
        return self.by_access and statement.address.turn > 0


class DefaultLayout(Machine):
    """A layout that is a specialization constant counts as row-major for loads."""

    def load(self, statement: Load) -> Bits:
        address = statement.address
        square = statement.type.rows == statement.type.columns
        if "layout" in self.program.specialized and square:
            address = dataclasses.replace(address, layout=Layout.ROW_MAJOR)
        return super().load(dataclasses.replace(statement, address=address))


class DefaultRows(Machine):
    """Stores of matrices with a specialised number of rows lose the last row."""

    def store(self, statement: Store) -> None:
        if not {"rows", "columns"} <= self.program.specialized:
            super().store(statement)
            return
        where = self.region(self.types[statement.value], statement.address)
        image = self.images[statement.address.buffer]
        kept = where.read(image)[:, -1]
        super().store(statement)
        bits = where.read(image)
        bits[:, -1] = kept
        where.write(image, bits)


class OtherSize(Machine):
    """With a required subgroup size of 8 the second half of each workgroup stores nothing."""

    def store(self, statement: Store) -> None:
        grid = self.program.grid
        small = grid.required and grid.subgroup_size == 8 and grid.subgroups > 1
        if not small:
            super().store(statement)
            return
        where = self.region(self.types[statement.value], statement.address)
        image = self.images[statement.address.buffer]
        kept = where.read(image)
        super().store(statement)
        bits = where.read(image)
        late = np.arange(len(bits)) % grid.subgroups >= (grid.subgroups + 1) // 2
        bits[late] = kept[late]
        where.write(image, bits)


class StoresBeyond(Machine):
    """Stores out of bounds write the memory behind the range."""

    def store(self, statement: Store) -> None:
        self.storing = True
        super().store(statement)
        self.storing = False

    storing = False

    def in_bounds(self, where: Region, buffer: str) -> Flags | None:
        return None if self.storing else super().in_bounds(where, buffer)


class StoresWrap(Machine):
    """The first line out of bounds is stored over the first line in bounds."""

    def store(self, statement: Store) -> None:
        where = self.region(self.types[statement.value], statement.address)
        inside = self.in_bounds(where, statement.address.buffer)
        super().store(statement)
        if inside is None or inside.all() or not inside.any():
            return
        image = self.images[statement.address.buffer]
        bits = where.read(image)
        stored = self.values[statement.value]
        rows = inside[0].all(axis=1)
        if rows.all() or not rows.any():
            columns = inside[0].all(axis=0)
            bits[:, :, 0] = stored[:, :, int(columns.argmin())]
        else:
            bits[:, 0] = stored[:, int(rows.argmin())]
        where.write(image, np.where(inside, bits, where.read(image)))


class LastLineRepeated(Machine):
    """Loads out of bounds repeat the last element in bounds."""

    def load(self, statement: Load) -> Bits:
        found = super().load(statement)
        where = self.region(statement.type, statement.address)
        inside = self.in_bounds(where, statement.address.buffer)
        if inside is None or not inside.any():
            return found
        return np.where(inside, found, found[inside][-1])


class SecondRun(Fault):
    """Each dispatch after the first of a request flips the lowest bit of every buffer's last
    changed byte."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        reply = execute(request)
        count = len(request.buffers)
        buffers = list(reply.buffers)
        for at in range(count, len(buffers)):
            before = np.frombuffer(request.buffers[at % count].data, np.uint8)
            after = np.frombuffer(buffers[at], np.uint8).copy()
            changed = np.flatnonzero(before != after)
            if len(changed):
                after[changed[-1] & ~3] ^= 1
                buffers[at] = after.tobytes()
        return dataclasses.replace(reply, buffers=tuple(buffers))


MUTANTS = (
    machine_mutant("dynamic_index_off_by_one", FLOW, IndexOffByOne),
    machine_mutant("array_reads_element_0", FLOW, FirstElement),
    machine_mutant("third_parameter_is_first", FLOW, ThirdParameter),
    machine_mutant("out_pointer_loses_last_row", FLOW, OutUnchanged),
    machine_mutant("private_of_first_subgroup", FLOW, PrivateOfFirst),
    machine_mutant("phi_odd_columns_of_last", FLOW, OddHalf),
    machine_mutant("branch_wrong_side_in_second_workgroup", FLOW, WrongSide),
    machine_mutant("inner_branch_always_taken", FLOW, AlwaysThen),
    machine_mutant("branch_sides_share_layout", FLOW, OneLayout),
    machine_mutant("loop_runs_once_less", FLOW, OnceLess),
    machine_mutant("loop_step_stops", FLOW, StepIgnored),
    machine_mutant("loop_carries_eight", HAZARDS, NinthCarried),
    machine_mutant("loop_last_is_first", HAZARDS, LastAccumulators),
    machine_mutant("load_after_store_stale", HAZARDS, StaleOwn),
    machine_mutant("exchange_stale_in_odd_rows", SYNCHRONISATION, StaleOther),
    machine_mutant("second_exchange_stale", SYNCHRONISATION, ReuseStale),
    machine_mutant("make_available_ignored", SYNCHRONISATION, AccessesIgnored),
    machine_mutant("specialised_layout_default", FLOW, DefaultLayout),
    machine_mutant("specialised_sizes_lose_row", FLOW, DefaultRows),
    machine_mutant("required_size_half_idle", WAVES, OtherSize),
    machine_mutant("robust_store_writes_beyond", ROBUST, StoresBeyond),
    machine_mutant("robust_store_wraps", ROBUST, StoresWrap),
    machine_mutant("robust_load_repeats_last", ROBUST, LastLineRepeated),
    Mutant("second_run_differs", HAZARDS, SecondRun.__doc__ or "", SecondRun),
)
