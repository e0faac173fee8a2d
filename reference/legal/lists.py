"""Legal choices in what a device says of itself and in how it answers enumeration commands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from cts.device.protocol import DeviceInfo, Query, Reply, Request
from cts.program.model import Component
from cts.program.records import KHR
from reference.device import INCOMPLETE, query
from reference.legal.base import LegalDevice

_SUBGROUP = "VkPhysicalDeviceSubgroupProperties.subgroupSize"
_CONTROL = "VkPhysicalDeviceSubgroupSizeControlProperties"


class _Subgroups(LegalDevice):
    """Has another default subgroup size, and no other."""

    size = 32

    def described(self, info: DeviceInfo) -> DeviceInfo:
        most = int(info.properties["VkPhysicalDeviceLimits.maxComputeWorkGroupInvocations"])
        sizes = {
            _SUBGROUP: self.size,
            f"{_CONTROL}.minSubgroupSize": self.size,
            f"{_CONTROL}.maxSubgroupSize": self.size,
            f"{_CONTROL}.maxComputeWorkgroupSubgroups": most // self.size,
        }
        return dataclasses.replace(info, properties={**info.properties, **sizes})


class Subgroups8(_Subgroups):
    """Subgroups of 8."""

    size = 8


class Subgroups16(_Subgroups):
    """Subgroups of 16."""

    size = 16


class Subgroups64(_Subgroups):
    """Subgroups of 64."""

    size = 64


class Subgroups128(_Subgroups):
    """Subgroups of 128."""

    size = 128


class Plain(LegalDevice):
    """Has VK_KHR_cooperative_matrix with a single combination, and nothing that isn't needed."""

    KEPT = ("VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrix",)
    TYPES = (Component.FLOAT16, Component.FLOAT16, Component.FLOAT32, Component.FLOAT32)

    def described(self, info: DeviceInfo) -> DeviceInfo:
        features = frozenset(
            name
            for name in info.features
            if name in self.KEPT or "Cooperative" not in name.split(".")[0]
        )
        return dataclasses.replace(
            info,
            extensions={"VK_KHR_cooperative_matrix": 2},
            features=features,
            records={KHR: self._kept(info.records[KHR])},
        )

    def _kept(self, records: tuple[Mapping[str, int], ...]) -> tuple[Mapping[str, int], ...]:
        names = ("AType", "BType", "CType", "ResultType")
        wanted = tuple(map(int, self.TYPES))
        found = [it for it in records if tuple(it[name] for name in names) == wanted]
        return tuple(it for it in found if it["MSize"] == it["KSize"] == 16)[:1]

    def _records(self, request: Query) -> tuple[Mapping[str, int], ...]:
        return self._info.records[request.command]


class Reluctant(LegalDevice):
    """Fills less than the capacity where it can't give everything anyway."""

    def execute(self, request: Request) -> Reply:
        if isinstance(request, Query) and not request.null:
            records = self._records(request)
            if 1 < request.capacity < len(records):
                less = dataclasses.replace(request, capacity=request.capacity - 1)
                reply = query(less, records)
                assert reply.result == INCOMPLETE
                return reply
        return super().execute(request)


class Newer(LegalDevice):
    """Lists combinations of component types that no extension known to the suite defines."""

    UNKNOWN = 1000999000

    def described(self, info: DeviceInfo) -> DeviceInfo:
        lists = {command: self._longer(found) for command, found in info.records.items()}
        return dataclasses.replace(info, records=lists)

    def _records(self, request: Query) -> tuple[Mapping[str, int], ...]:
        return self._longer(super()._records(request))

    def _longer(self, records: Sequence[Mapping[str, int]]) -> tuple[Mapping[str, int], ...]:
        """The records, and one that has unknown types alone, and one that has some."""
        if not records:
            return ()
        first = records[0]
        kinds = [name for name in first if name.endswith(("Type", "Interpretation"))]
        more = ({**first, **dict.fromkeys(names, self.UNKNOWN)} for names in (kinds, kinds[1:2]))
        return (*records, *more)
