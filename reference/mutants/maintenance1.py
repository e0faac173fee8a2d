"""Faults of VK_EXT_cooperative_matrix_maintenance1: its query, and pipelines with what it lists or
what is listed of flexible dimensions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from cts.device.protocol import Dispatch, Query, Reply
from cts.program.matrix2 import Locate
from cts.program.model import Component, MulAdd, Program, Scope, walk
from cts.program.records import PROPERTIES2, decode
from reference.component import Bits
from reference.device import query
from reference.machine import Machine
from reference.mutants.base import Executor, Fault, Mutant, has_program, machine_mutant
from reference.mutants.queries import ERROR_UNKNOWN, QUERIES

Record = Mapping[str, int]
Parameters = Mapping[str, int]
SATURATING = 1
ROOM = 512


class Listed(Fault):
    """Lists something else than the device does."""

    def query(self, request: Query, execute: Executor) -> Reply:
        if request.command != PROPERTIES2:
            return execute(request)
        given = dict(request.parameters)
        records = self.listed(given, lambda asked: listed(request, asked, execute))
        return query(request, records)

    def listed(
        self, given: Parameters, true: Callable[[Parameters], Sequence[Record]]
    ) -> Sequence[Record]:
        """The records for ``given``; ``true`` has those of the device for any parameters."""
        raise NotImplementedError


def listed(request: Query, given: Parameters, execute: Executor) -> Sequence[Record]:
    """What the device lists for ``given``."""
    whole = dataclasses.replace(
        request,
        null=False,
        capacity=ROOM,
        allocated=ROOM,
        threads=1,
        parameters=tuple(given.items()),
    )
    reply = execute(whole)
    return decode(PROPERTIES2, reply.buffers[0], reply.counts[0])


def _without(records: Sequence[Record], component: Component) -> Sequence[Record]:
    return [it for it in records if it["AType"] != component]


class NoFloat16AtAnySize(Listed):
    """Lists no float16 product for subgroups of any size."""

    def listed(
        self, given: Parameters, true: Callable[[Parameters], Sequence[Record]]
    ) -> Sequence[Record]:
        found = true(given)
        return found if given["subgroupSize"] else _without(found, Component.FLOAT16)


class NoUint8InLargeWorkgroups(Listed):
    """Lists no uint8 product for the largest workgroups."""

    def listed(
        self, given: Parameters, true: Callable[[Parameters], Sequence[Record]]
    ) -> Sequence[Record]:
        found = true(given)
        return _without(found, Component.UINT8) if given["invocations"] >= 256 else found


class Sint8OnlyToUint32(Listed):
    """Lists sint8 products with unsigned accumulators only, at the default subgroup size."""

    def listed(
        self, given: Parameters, true: Callable[[Parameters], Sequence[Record]]
    ) -> Sequence[Record]:
        found = true(given)
        if not given["subgroupSize"]:
            return found
        return [
            it for it in found if (it["AType"], it["CType"]) != (Component.SINT8, Component.SINT32)
        ]


class EmptyForSmallWorkgroups(Listed):
    """Lists nothing for workgroups of 64 invocations."""

    def listed(
        self, given: Parameters, true: Callable[[Parameters], Sequence[Record]]
    ) -> Sequence[Record]:
        return [] if given["invocations"] == 64 else true(given)


class OddGranularities(Listed):
    """Lists three times the granularities for large subgroups."""

    def listed(
        self, given: Parameters, true: Callable[[Parameters], Sequence[Record]]
    ) -> Sequence[Record]:
        found = true(given)
        if given["subgroupSize"] < 64:
            return found
        return [{**it, "MGranularity": 3 * it["MGranularity"]} for it in found]


class SaturatingLeaks(Listed):
    """Lists the saturating records in the other list too."""

    def listed(
        self, given: Parameters, true: Callable[[Parameters], Sequence[Record]]
    ) -> Sequence[Record]:
        if given["flags"] & SATURATING:
            return true(given)
        return [*true(given), *true({**given, "flags": SATURATING})]


class FlagsIgnored(Listed):
    """Lists the same whether saturation is asked for or not."""

    def listed(
        self, given: Parameters, true: Callable[[Parameters], Sequence[Record]]
    ) -> Sequence[Record]:
        return true({**given, "flags": 0})


class SaturatingForgotten(Listed):
    """Lists no saturating record of 16-bit operands."""

    def listed(
        self, given: Parameters, true: Callable[[Parameters], Sequence[Record]]
    ) -> Sequence[Record]:
        found = true(given)
        return _without(found, Component.SINT16) if given["flags"] else found


class SizeIgnored(Listed):
    """Lists what holds for the default subgroup size whatever size is asked for; the compiler
    knows better."""

    def listed(
        self, given: Parameters, true: Callable[[Parameters], Sequence[Record]]
    ) -> Sequence[Record]:
        return true({**given, "subgroupSize": 32}) if given["subgroupSize"] else true(given)

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        program = has_program(request)
        if program.grid.required and program.grid.subgroup_size != 32:
            for a, _, result in _products(program):
                coarse = program.grid.subgroup_size > 32 and result.rows % 16
                if a.component.bits == 64 or result.component.bits == 64 or coarse:
                    return Reply(result=ERROR_UNKNOWN, phase="pipeline")
        return execute(request)


class CountOfOtherList(Listed):
    """Counts, without an array, what there is without saturation."""

    def query(self, request: Query, execute: Executor) -> Reply:
        if request.command == PROPERTIES2 and request.null:
            given = {**dict(request.parameters), "flags": 0}
            request = dataclasses.replace(request, parameters=tuple(given.items()))
        return execute(request)


class Refused(Fault):
    """Fails to make some pipelines."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        if self.refuses(has_program(request)):
            return Reply(result=ERROR_UNKNOWN, phase="pipeline")
        return execute(request)

    def refuses(self, program: Program) -> bool:
        """Whether the pipeline can't be made."""
        raise NotImplementedError


def _products(program: Program):  # type: ignore[no-untyped-def]
    types = program.types()
    for statement in walk(program.body):
        if isinstance(statement, MulAdd):
            yield types[statement.a], types[statement.b], statement.type


class UnusableRecord(Refused):
    """A record that is listed for the smallest subgroups makes no pipeline."""

    def refuses(self, program: Program) -> bool:
        small = program.grid.required and program.grid.subgroup_size == 8
        return small and any(a.component is Component.BFLOAT16 for a, _, _ in _products(program))


class UnusableMultiple(Refused):
    """Sizes of more than two granularities of columns make no pipeline where a subgroup size is
    required."""

    def refuses(self, program: Program) -> bool:
        return program.grid.required and any(
            result.columns > 16 and result.scope is Scope.SUBGROUP
            for _, _, result in _products(program)
        )


class UnusableVarying(Refused):
    """No pipeline is made where the subgroup size may vary."""

    def refuses(self, program: Program) -> bool:
        return program.grid.varying


class UnusableFlexible(Refused):
    """One granularity of flexible dimensions is too little for a pipeline of 16-bit integers."""

    def refuses(self, program: Program) -> bool:
        return any(
            a.component is Component.SINT16 and (result.rows, result.columns) == (8, 8)
            for a, _, result in _products(program)
        )


class UnusableWorkgroup(Refused):
    """No pipeline is made with products of workgroup scope in workgroups of 256 invocations."""

    def refuses(self, program: Program) -> bool:
        scopes = [result.scope for _, _, result in _products(program)]
        return program.grid.local_size == 256 and Scope.WORKGROUP in scopes


class CoordinatesSwapped(Machine):
    """OpCooperativeMatrixGetCoordinateEXT gives (column, row)."""

    def locate(self, statement: Locate) -> Bits:
        source = self.values[statement.value]
        rows, columns = self.places(source)
        where = {"row": columns, "column": rows}
        return self.function(statement.function, statement.type.component, where, source, [])


class CoordinatesOfBlock(Machine):
    """OpCooperativeMatrixGetCoordinateEXT counts rows from the start of each 8."""

    def locate(self, statement: Locate) -> Bits:
        source = self.values[statement.value]
        rows, columns = self.places(source)
        where = {"row": rows % 8, "column": columns}
        return self.function(statement.function, statement.type.component, where, source, [])


class CoordinatesOfAccumulator(Machine):
    """OpCooperativeMatrixGetCoordinateEXT takes a B matrix for its transpose."""

    def locate(self, statement: Locate) -> Bits:
        source = self.values[statement.value]
        rows, columns = self.places(source)
        if statement.type.use.name == "B":
            rows, columns = columns % source.shape[1], rows % source.shape[2]
        where = {"row": rows, "column": columns}
        return self.function(statement.function, statement.type.component, where, source, [])


def _mutant(name: str, fault: type[Fault], command: str = "properties2") -> Mutant:
    return Mutant(f"{command}_{name}", QUERIES, (fault.__doc__ or "").strip(), fault)


COORDINATES = "use conversion, matrix2"
MUTANTS: tuple[Mutant, ...] = (
    _mutant("no_float16_at_any_size", NoFloat16AtAnySize),
    _mutant("no_uint8_in_large_workgroups", NoUint8InLargeWorkgroups),
    _mutant("sint8_only_to_uint32", Sint8OnlyToUint32),
    _mutant("empty_for_small_workgroups", EmptyForSmallWorkgroups),
    _mutant("odd_granularities", OddGranularities),
    _mutant("saturating_leaks", SaturatingLeaks),
    _mutant("flags_ignored", FlagsIgnored),
    _mutant("saturating_forgotten", SaturatingForgotten),
    _mutant("size_ignored", SizeIgnored),
    _mutant("count_of_other_list", CountOfOtherList),
    _mutant("unusable_record", UnusableRecord),
    _mutant("unusable_multiple", UnusableMultiple),
    _mutant("unusable_varying", UnusableVarying),
    _mutant("unusable_granularity", UnusableFlexible, "flexible"),
    _mutant("unusable_workgroup", UnusableWorkgroup, "flexible"),
    machine_mutant("coordinates_swapped", COORDINATES, CoordinatesSwapped),
    machine_mutant("coordinates_of_block", COORDINATES, CoordinatesOfBlock),
    machine_mutant("coordinates_of_accumulator", COORDINATES, CoordinatesOfAccumulator),
)
