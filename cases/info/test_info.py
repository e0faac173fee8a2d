"""What was tested, on what: recorded in every run, never judged."""

from __future__ import annotations

from cts.case import case
from cts.outcome import Level
from cts.subject import Subject


@case(
    id="info.environment",
    rows=(),
    spec="VkSpec#VkPhysicalDeviceProperties",
    requirement="Device, driver and host are recorded.",
    level=Level.INFO,
    fixed=True,
)
def test_environment(subject: Subject) -> None:
    info = subject.info
    subject.event("device", info.name)
    subject.event("driver", f"{info.driver} {info.driver_version}")
    subject.event("api version", info.api_version)
    for name, value in sorted(info.environment.items()):
        subject.event(name, value)


@case(
    id="info.records",
    rows=(),
    spec="VkSpec#VkCooperativeMatrixPropertiesKHR",
    requirement="The number of records that each enumeration command lists is recorded.",
    level=Level.INFO,
    fixed=True,
)
def test_records(subject: Subject) -> None:
    for command, listed in sorted(subject.info.records.items()):
        subject.event(command, str(len(listed)))


@case(
    id="info.limits",
    rows=(),
    spec="VkSpec#limits",
    requirement="The limits and properties that the cases work within are recorded.",
    level=Level.INFO,
    fixed=True,
)
def test_limits(subject: Subject) -> None:
    for name, value in sorted(subject.info.properties.items()):
        if "Cooperative" in name or "ubgroup" in name or "ComputeWork" in name:
            subject.event(name, str(value))
