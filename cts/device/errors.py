"""What can go wrong that is no finding. Standard library only: the device server imports it."""

from __future__ import annotations


class DeviceError(Exception):
    """No device can be had; the message is one sentence that says why and what to do."""


class BudgetSpent(Exception):
    """The case has used up its hangs: the request was not run, its result is unknown.

    Whoever generates examples rejects this one.
    """


class ServerFault(Exception):
    """The device server failed by itself: the suite's fault, never the driver's."""


class Refused(Exception):
    """Raised in the server where it won't do what it was asked; one sentence."""
