"""From the text of ``--device`` to a device.

``auto``, ``reference``, ``lavapipe``, ``vulkan:INDEX-or-UUID`` and ``mutant:NAME`` are the
project's own (cts.device.select). ``python:MODULE:FUNCTION`` calls a function of the adopter's
that returns a :class:`cts.device.protocol.Device`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cts.device.errors import DeviceError
from cts.device.protocol import Device, DeviceInfo


def open_device(spec: str, journal: Path | None = None) -> Device:
    """The device that ``spec`` names. ``journal`` is a folder for requests in flight.

    DeviceError, with one sentence that says what to do, where there is no such device.
    """
    if spec.startswith("python:"):
        return _own(spec)
    from cts.device import select

    return select.open_device(spec, journal=journal)


def _own(spec: str) -> Device:
    _, _, rest = spec.partition(":")
    module, _, function = rest.partition(":")
    try:
        device: Device = getattr(importlib.import_module(module), function)()
    except (ImportError, AttributeError, ValueError) as error:
        raise DeviceError(f"device {spec!r} can't be made: {error}") from error
    return device


@dataclass(frozen=True)
class Resolved:
    """A device that was looked at: the text that names exactly this one, what it says of itself,
    and what a reader of its report must know."""

    spec: str
    info: DeviceInfo
    notes: tuple[str, ...] = ()


def resolve(spec: str, say: Callable[[str], None]) -> Resolved:
    """Decide what ``spec`` means on this machine and ask the device about itself.

    ``say`` gets lines for the person who waits. DeviceError where there is no such device.
    """
    if spec.startswith("python:"):
        device = _own(spec)
        try:
            return Resolved(spec, device.info)
        finally:
            device.close()
    from cts.device import select

    return select.resolve(spec, say)
