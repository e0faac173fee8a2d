"""Kinds of finding. Each is an exception class, so that Hypothesis shrinks each kind by itself.

A finding says what was seen, which rule that breaks, and how bad it is (its ``outcome``). The
raise sites are few on purpose: Hypothesis tells failures apart by type and place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from cts.outcome import Outcome


class Finding(Exception):
    """Something a driver did that a rule forbids or that the suite warns about.

    ``message`` is one sentence for a person; ``detail`` is JSON-able data for the report
    (``worst``, ``expected``, ``actual``, ``errors``, ``pattern``, ``explanation``, ...).
    """

    outcome: ClassVar[Outcome] = Outcome.FAIL

    def __init__(self, message: str, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail: dict[str, Any] = dict(detail or {})
        self.evidence: object | None = None
        """What was asked when it was seen (cts.subject.Evidence), set by the subject."""


class WrongValue(Finding):
    """An element outside the set that the specification permits."""


class PolicyValue(Finding):
    """An element that the specification permits but the suite's documented policy doesn't."""

    outcome = Outcome.POLICY


class QualityValue(Finding):
    """A legal element that is worth a warning."""

    outcome = Outcome.QUALITY_WARNING


class GuardTouched(Finding):
    """A byte changed that no store was allowed to write."""


class WrongProperty(Finding):
    """A property query or its records break a rule that the specification states."""


class PolicyProperty(Finding):
    """A property query or its records break the suite's documented policy."""

    outcome = Outcome.POLICY


class QualityProperty(Finding):
    """A property is legal but worth a warning."""

    outcome = Outcome.QUALITY_WARNING


class UnexpectedResult(Finding):
    """A command returned a VkResult that it must not return here."""


class Nondeterministic(Finding):
    """The same request gave different results."""

    outcome = Outcome.POLICY


class DriverCrash(Finding):
    """The device process ended by a signal or by itself while it had a request."""

    outcome = Outcome.CRASH


class DriverHang(Finding):
    """A phase of a request didn't end in its time."""

    outcome = Outcome.TIMEOUT


class DeviceLost(Finding):
    """VK_ERROR_DEVICE_LOST."""

    outcome = Outcome.DEVICE_LOST
