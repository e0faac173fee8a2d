"""What a legal device is made of: the reference device with other choices."""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass, field

from cts.device.protocol import DeviceInfo
from cts.outcome import Outcome
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
    EVERYTHING = "everything"


class LegalDevice(ReferenceDevice):
    """The reference device with some of its parts exchanged."""

    def __init__(self, name: str, behaviour: Behaviour) -> None:
        super().__init__(behaviour)
        named = dataclasses.replace(self._info, name=f"coopcts reference, {name}")
        self._info = self.described(named)

    def described(self, info: DeviceInfo) -> DeviceInfo:
        """What the device says of itself instead of ``info``."""
        return info


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
