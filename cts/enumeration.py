"""Asks an enumeration command everything that its rules are about, once per device process.

The rules themselves are in :mod:`reference.queries`; this module makes the calls and turns what
they say into findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cts.device.protocol import DeviceInfo, Query, Reply
from cts.findings import Finding, PolicyProperty, QualityProperty, WrongProperty
from cts.outcome import Level
from cts.program.model import Scope
from cts.subject import Subject
from reference.queries import FLEXIBLE, KHR, MAINTENANCE1, NV, SHAPES, Violation, decode

Parameters = tuple[tuple[str, int], ...]
"""Members of VkPhysicalDeviceCooperativeMatrixInfo2EXT; empty for the other commands."""

_KINDS: Mapping[Level, type[Finding]] = {
    Level.REQUIRED: WrongProperty,
    Level.POLICY: PolicyProperty,
    Level.QUALITY: QualityProperty,
}


@dataclass(frozen=True)
class Command:
    """A value of a ``command`` axis."""

    name: str
    label: str


MATRIX_COMMANDS = (
    Command(KHR, "khr"),
    Command(NV, "nv"),
    Command(FLEXIBLE, "flexible"),
    Command(MAINTENANCE1, "maintenance1"),
)


def parameters(command: str, info: DeviceInfo) -> tuple[Parameters, ...]:
    """The parameter sets to ask ``command`` with: for Properties2EXT the subgroup-scope ones
    that must list something, for the others a single empty one."""
    if command != MAINTENANCE1:
        return ((),)
    return tuple(
        (("scope", int(Scope.SUBGROUP)), ("flags", 0), ("invocations", 0), ("subgroupSize", size))
        for size in (0, info.subgroup_size)
    )


def available(subject: Subject, command: str) -> None:
    """Not supported unless the device lists the extension that has ``command``."""
    extension = SHAPES[command].extension
    subject.require(extension in subject.info.extensions, f"the device doesn't list {extension}")


def count(subject: Subject, command: str, given: Parameters = ()) -> int:
    """How many records there are: what the command fills of an array with room to spare.

    The null-array count is judged against this, so a wrong count can't hide itself.
    """
    asked = _ask(subject, Query(command, null=True, parameters=given)).counts[0]
    room = min(asked + 64, 4096)
    while True:
        filled = _ask(
            subject, Query(command, capacity=room, allocated=room, parameters=given)
        ).counts[0]
        if filled < room or room >= 65536:
            return filled
        room *= 4


def records(subject: Subject, command: str, given: Parameters = ()) -> list[dict[str, int]]:
    """Every record that the command lists, members by name."""
    number = count(subject, command, given)
    query = Query(command, capacity=number, allocated=number, parameters=given)
    reply = _ask(subject, query)
    return decode(command, reply.buffers[0], min(number, reply.counts[0]))


def _ask(subject: Subject, query: Query) -> Reply:
    return subject.query(query)


def report(subject: Subject, violations: Iterable[Violation], rows: Sequence[str]) -> None:
    """Hand the violations of ``rows`` to the subject as findings; the rest belongs to other
    cases."""
    for violation in violations:
        if violation.row in rows:
            kind = _KINDS[violation.level]
            subject.found(kind(violation.message, {"row": violation.row, **violation.detail}))
