"""What a legal device is made of: the reference device with other choices."""

from __future__ import annotations

import dataclasses
import enum
import functools
from dataclasses import dataclass, field

from cts.device.protocol import DeviceInfo, Dispatch, Query, Reply
from cts.outcome import Outcome
from cts.program import records, vector_records
from cts.program.records import PROPERTIES2, asked
from cts.program.vector_program import VectorProgram
from reference import properties2
from reference.device import ReferenceDevice
from reference.machine import Behaviour


class Area(enum.Enum):
    """The cases whose replies a choice can change."""

    SUMS = "float arithmetic of matrices"
    LOADS = "whatever loads float matrices"
    CONVERSIONS = "conversions of cooperative vector matrices"
    VECTORS = "cooperative vectors"
    COMPONENTS = "components by index"
    LISTS = "lists of combinations"
    ROBUST = "accesses out of bounds"
    EVERYTHING = "everything"


class LegalDevice(ReferenceDevice):
    """The reference device with some of its parts exchanged.

    It takes nothing that it doesn't advertise: a dispatch that does raises ValueError, which ends
    a case as the suite's own error.
    """

    def __init__(self, name: str, behaviour: Behaviour) -> None:
        super().__init__(behaviour)
        named = dataclasses.replace(self._info, name=f"coopcts reference, {name}")
        self._info = self.described(named)

    def described(self, info: DeviceInfo) -> DeviceInfo:
        """What the device says of itself instead of ``info``."""
        return info

    def _dispatch(self, request: Dispatch) -> Reply:
        lacking = {*request.extensions} - {*self._info.extensions}
        lacking |= {*request.features} - self._info.features
        if lacking:
            raise ValueError(f"invalid usage: {', '.join(sorted(lacking))} isn't supported")
        program = request.program
        if isinstance(program, VectorProgram):
            reason = vector_records.unsupported_vectors(program, self._info)
        else:
            assert program is not None
            reason = records.unsupported(program, self._info)
            if reason is not None and any(
                records.unsupported(program, listed) is None for listed in self._lists
            ):
                reason = None
        if reason is not None:
            raise ValueError(f"invalid usage: {reason}")
        return super()._dispatch(request)

    @functools.cached_property
    def _lists(self) -> tuple[DeviceInfo, ...]:
        """Devices that have what properties2 lists for some parameters each, and no more."""
        found: list[DeviceInfo] = []
        if self._info.records.get(PROPERTIES2):
            for given in properties2.valid(self._info):
                listed = self._records(Query(PROPERTIES2, parameters=given.members()))
                found.append(asked(self._info, listed, dict(given.members())))
        return tuple(found)


@dataclass(frozen=True)
class Legal:
    """One device that the specification permits and that differs from the reference device."""

    name: str
    freedom: str
    """What it does otherwise, in one sentence."""
    source: str
    """Where the specification leaves that open."""
    area: Area
    kind: type[LegalDevice] = LegalDevice
    behaviour: Behaviour = field(default_factory=Behaviour)
    worst: Outcome = Outcome.QUALITY_WARNING
    """The worst outcome that a case may end with on it. Never a failure."""

    def device(self) -> LegalDevice:
        """A new device."""
        return self.kind(self.name, self.behaviour)
