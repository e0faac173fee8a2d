"""What a case ended with, and how outcomes combine."""

from __future__ import annotations

import enum


class Outcome(enum.StrEnum):
    """Ordered from best to worst; the worst finding of a case is the case's outcome."""

    PASS = "pass"
    NOT_SUPPORTED = "not_supported"
    QUALITY_WARNING = "quality_warning"
    POLICY = "policy"
    FLAKY = "flaky"
    NOT_RUN = "not_run"
    FAIL = "fail"
    TIMEOUT = "timeout"
    DEVICE_LOST = "device_lost"
    CRASH = "crash"
    ERROR = "error"
    """The suite's own fault, never the driver's."""

    @property
    def conformant(self) -> bool:
        """Whether a *required* case that ended so leaves the device conformant. What breaks only
        the suite's policy doesn't break the specification, in whichever case it is seen."""
        return self in (
            Outcome.PASS,
            Outcome.NOT_SUPPORTED,
            Outcome.QUALITY_WARNING,
            Outcome.POLICY,
        )


def worst(outcomes: list[Outcome]) -> Outcome:
    """The worst of ``outcomes``; PASS if there are none."""
    order = list(Outcome)
    return max(outcomes, key=order.index, default=Outcome.PASS)


class Level(enum.StrEnum):
    """What a case's rule rests on; REQUIREMENTS are never mixed."""

    REQUIRED = "required"
    POLICY = "policy"
    QUALITY = "quality"
    INFO = "info"


def worse(one: Outcome, other: Outcome) -> bool:
    """Whether ``one`` is worse than ``other``."""
    order = list(Outcome)
    return order.index(one) > order.index(other)
