"""Faults of what a device says of itself, and of enumeration commands in some situations only."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Mapping
from types import MappingProxyType

from cts.device.protocol import DeviceInfo, Query, Reply
from cts.findings import DriverCrash, DriverHang
from cts.program.model import Component
from cts.program.records import FLEXIBLE, KHR, NV, VECTOR
from reference.device import HEADER, SUCCESS
from reference.mutants.base import Executor, Fault, Mutant
from reference.mutants.queries import (
    QUERIES,
    Edited,
    _layout,
    total,
    with_memory,
    with_result,
)

_STAGES = "VkPhysicalDeviceCooperativeMatrixPropertiesKHR.cooperativeMatrixSupportedStages"
_VECTORS = "VkPhysicalDeviceCooperativeVectorPropertiesNV"
_LIMITS2 = "VkPhysicalDeviceCooperativeMatrix2PropertiesNV"


class NullCountShort(Fault):
    """The count that a null array asks for is one too small where there are more than 16
    records."""

    def query(self, request: Query, execute: Executor) -> Reply:
        reply = execute(request)
        if request.null and reply.counts[0] > 16:
            return with_result(reply, reply.result, reply.counts[0] - 1)
        return reply


class CountKept(Edited):
    """With room to spare the count stays what the caller gave."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        if request.capacity > total(request, execute):
            return with_result(reply, reply.result, request.capacity)
        return reply


class ErrorForZero(Edited):
    """A capacity of 0 with an array gives VK_SUCCESS."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        return with_result(reply, SUCCESS, 0) if request.capacity == 0 else reply


class NextPointerOfLast(Edited):
    """The pNext of the last record written is overwritten where not all records fit."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        size, count = _layout(request).bytes, reply.counts[0]

        def change(memory: bytearray) -> None:
            struct.pack_into("<Q", memory, (count - 1) * size + 8, 0x1000)

        return with_memory(reply, change) if 0 < count == request.capacity else reply


class MemberForgotten(Edited):
    """The last member of every record isn't written."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        layout = _layout(request)
        offset = HEADER + 4 * (len(layout.members) - 1)

        def change(memory: bytearray) -> None:
            for index in range(reply.counts[0]):
                at = index * layout.bytes + offset
                memory[at : at + 4] = bytes([request.poison]) * 4

        return with_memory(reply, change)


class GuardTouched(Edited):
    """The byte behind the array changes."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        at = request.allocated * _layout(request).bytes

        def change(memory: bytearray) -> None:
            if at < len(memory):
                memory[at] ^= 0xFF

        return with_memory(reply, change)


class Threads(Edited):
    """Calls at the same time see one record less, except the first."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        if request.threads == 1 or reply.counts[0] < 2:
            return reply
        counts = (reply.counts[0], *(count - 1 for count in reply.counts[1:]))
        return dataclasses.replace(reply, counts=counts)


class SecondInstance(Edited):
    """A second instance lists the records in another order."""

    def edited(self, request: Query, reply: Reply, execute: Executor) -> Reply:
        size, count = _layout(request).bytes, reply.counts[0]
        if request.instance == 0 or count < 2:
            return reply

        def change(memory: bytearray) -> None:
            memory[:size], memory[size : 2 * size] = memory[size : 2 * size], memory[:size]

        return with_memory(reply, change)


class EvenCapacities(Fault):
    """Filling an array of 7 ends the process."""

    def query(self, request: Query, execute: Executor) -> Reply:
        if not request.null and request.capacity == 7:
            raise DriverCrash("the device process was ended by SIGSEGV in phase query", {})
        return execute(request)


class FillHangs(Fault):
    """Filling an array of vector records with room to spare never ends."""

    def query(self, request: Query, execute: Executor) -> Reply:
        if request.command == VECTOR and not request.null:
            asked = dataclasses.replace(request, null=True, capacity=0, allocated=0, threads=1)
            if request.capacity > execute(asked).counts[0]:
                raise DriverHang("phase query didn't end in time", {"phase": "query"})
        return execute(request)


class _Records(Fault):
    """Changes records, in what the device says of itself and in what its commands write."""

    command = KHR

    def changed(self, record: dict[str, int]) -> None:
        """Changes one record in place."""

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """The lists with the fault."""
        found = []
        for record in info.records.get(self.command, ()):
            copy = dict(record)
            self.changed(copy)
            found.append(copy)
        return dataclasses.replace(info, records={**info.records, self.command: tuple(found)})

    def query(self, request: Query, execute: Executor) -> Reply:
        reply = execute(request)
        if request.command != self.command or request.null:
            return reply
        layout = _layout(request)
        names = layout.members

        def change(memory: bytearray) -> None:
            for index in range(reply.counts[0]):
                at = index * layout.bytes + HEADER
                values = struct.unpack_from(f"<{len(names)}I", memory, at)
                record = dict(zip(names, values, strict=True))
                self.changed(record)
                struct.pack_into(f"<{len(names)}I", memory, at, *record.values())

        return with_memory(reply, change)


class UnknownType(_Records):
    """One combination has a component type that no extension defines."""

    def changed(self, record: dict[str, int]) -> None:
        if record["KSize"] == 48 and record["AType"] == Component.FLOAT16:
            record["BType"] = 999


class ScopeDevice(_Records):
    """Combinations with K = 48 have device scope."""

    def changed(self, record: dict[str, int]) -> None:
        if record["KSize"] == 48:
            record["scope"] = 1


class SizeZero(_Records):
    """Combinations with K = 48 say K = 0."""

    def changed(self, record: dict[str, int]) -> None:
        if record["KSize"] == 48:
            record["KSize"] = 0


class NoWrapping(_Records):
    """Products of signed bytes are listed as saturating only."""

    def changed(self, record: dict[str, int]) -> None:
        if record["AType"] == Component.SINT8:
            record["saturatingAccumulation"] = 1


class OddGranularity(_Records):
    """A granularity of 12 instead of 16."""

    command = FLEXIBLE

    def changed(self, record: dict[str, int]) -> None:
        if record["KGranularity"] == 16:
            record["KGranularity"] = 12


class OddSizes(_Records):
    """No NV combination has powers of two only."""

    command = NV

    def changed(self, record: dict[str, int]) -> None:
        record["MSize"] = 3 * record["MSize"]


class PackedMatrix(_Records):
    """A packed type is given as matrix interpretation."""

    command = VECTOR

    def changed(self, record: dict[str, int]) -> None:
        if record["matrixInterpretation"] == Component.UINT8 and not record["transpose"]:
            record["matrixInterpretation"] = int(Component.UINT8_PACKED)


class RequiredMissing(_Records):
    """The combination of signed bytes has a float16 bias."""

    command = VECTOR

    def changed(self, record: dict[str, int]) -> None:
        if record["inputType"] == Component.SINT8 and record["biasInterpretation"] == 5:
            record["biasInterpretation"] = int(Component.FLOAT16)


class _Properties(Fault):
    """Changes property values."""

    values: Mapping[str, int] = MappingProxyType({})

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """The properties with the fault."""
        return dataclasses.replace(info, properties={**info.properties, **self.values})


class NoComputeStage(_Properties):
    """The supported stages leave out compute."""

    values = MappingProxyType({_STAGES: 0x10})


class StageTooMuch(_Properties):
    """The supported stages of the KHR extension have the fragment stage, too."""

    values = MappingProxyType({_STAGES: 0x30})


class SmallDimension(_Properties):
    """The largest flexible dimension is 128."""

    values = MappingProxyType({f"{_LIMITS2}.cooperativeMatrixFlexibleDimensionsMaxDimension": 128})


class MuchReserved(_Properties):
    """Three quarters of the workgroup memory are reserved."""

    values = MappingProxyType(
        {f"{_LIMITS2}.cooperativeMatrixWorkgroupScopeReservedSharedMemory": 36864}
    )


class FewComponents(_Properties):
    """Vectors have at most 100 components."""

    values = MappingProxyType({f"{_VECTORS}.maxCooperativeVectorComponents": 100})


class NoBrainFloat(Fault):
    """Combinations of bfloat16 are listed without the feature."""

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """Without the feature."""
        left = {name for name in info.features if "BFloat16CooperativeMatrix" not in name}
        return dataclasses.replace(info, features=frozenset(left))


class NoBytes(Fault):
    """Combinations of vectors of bytes are listed, but shaders can't have bytes."""

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """Without the feature."""
        left = {name for name in info.features if not name.endswith(".shaderInt8")}
        return dataclasses.replace(info, features=frozenset(left))


class NoMainFeature(Fault):
    """The extension is listed, but its feature isn't supported."""

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """Without the feature."""
        feature = "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVector"
        return dataclasses.replace(info, features=info.features - {feature})


def _mutant(name: str, fault: type[Fault]) -> Mutant:
    return Mutant(name, QUERIES, " ".join((fault.__doc__ or "").split()), fault)


MUTANTS = (
    _mutant("null_count_short", NullCountShort),
    _mutant("count_not_updated", CountKept),
    _mutant("success_for_no_room", ErrorForZero),
    _mutant("next_pointer_of_last", NextPointerOfLast),
    _mutant("last_member_forgotten", MemberForgotten),
    _mutant("byte_behind_array", GuardTouched),
    _mutant("threads_see_less", Threads),
    _mutant("second_instance_reorders", SecondInstance),
    _mutant("crash_at_capacity_7", EvenCapacities),
    _mutant("hang_in_fill_of_vectors", FillHangs),
    _mutant("unknown_component_type", UnknownType),
    _mutant("scope_of_device", ScopeDevice),
    _mutant("size_of_zero", SizeZero),
    _mutant("wrapping_forms_missing", NoWrapping),
    _mutant("granularity_of_12", OddGranularity),
    _mutant("no_powers_of_two", OddSizes),
    _mutant("packed_matrix_interpretation", PackedMatrix),
    _mutant("required_vector_combination_missing", RequiredMissing),
    _mutant("compute_stage_missing", NoComputeStage),
    _mutant("fragment_stage_added", StageTooMuch),
    _mutant("largest_dimension_128", SmallDimension),
    _mutant("too_much_memory_reserved", MuchReserved),
    _mutant("vectors_of_100_components", FewComponents),
    _mutant("bfloat16_without_feature", NoBrainFloat),
    _mutant("vectors_of_bytes_without_feature", NoBytes),
    _mutant("vectors_without_feature", NoMainFeature),
)
