"""From the text of ``--device`` to a device, and the choice that ``auto`` makes.

``vulkan:INDEX-or-UUID`` a driver of this machine; ``lavapipe`` Mesa's CPU driver, fetched into
the user's cache; ``reference`` the suite's own oracle acting as a device; ``mutant:NAME`` that
with one planted fault, ``mutant:NAME@DEVICE`` another device with it; ``legal:NAME`` one that
differs from it and does nothing wrong; ``validated:DEVICE`` (lavapipe, ``vulkan:...``) a driver
below the Khronos validation layer, whose messages end a case as the suite's own error; ``auto``
the first of these that serves: a hardware driver with one of the cooperative extensions,
lavapipe, any other driver with one of them, the reference device.

Where the variable COOPCTS_LAUNCHER is set, its command starts the server of ``vulkan:`` and
``auto``: ``ssh HOST python3``, ``podman run -i IMAGE python3``.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from cts.device import launcher, lavapipe, layer
from cts.device.debian import FetchError
from cts.device.errors import DeviceError
from cts.device.framing import Frame, ProtocolError, get
from cts.device.launcher import Launcher
from cts.device.process import Broken, Gone, Limits, ServerProcess
from cts.device.protocol import Device
from cts.device.supervisor import SupervisedDevice
from cts.device.wire import decode_reply
from cts.findings import Finding
from cts.opening import Resolved

VARIABLE = "COOPCTS_LAUNCHER"
EXTENSIONS = frozenset(
    {"VK_KHR_cooperative_matrix", "VK_NV_cooperative_matrix", "VK_NV_cooperative_vector"}
)
"""Having one of these makes a device worth testing; the others build on them."""
FORMS = (
    "auto, reference, lavapipe, vulkan:INDEX-or-UUID, mutant:NAME, mutant:NAME@DEVICE, "
    "legal:NAME or validated:DEVICE"
)
LIST = "list"
"""Selector of a server that only lists devices."""
_CPU = 4
"""VK_PHYSICAL_DEVICE_TYPE_CPU."""


@dataclass(frozen=True)
class Candidate:
    """One physical device that a driver offers."""

    index: int
    name: str
    uuid: str
    hardware: bool
    cooperative: bool


def open_device(spec: str, journal: Path | None = None, limits: Limits | None = None) -> Device:
    """The device that ``spec`` names; its server starts with the first request.

    ``journal``: folder for requests in flight; every pytest-xdist worker has its own in it.
    DeviceError where there is no such device.
    """
    if spec == "auto":
        spec = _automatic(lambda line: None)[0]
    kind, _, rest = spec.partition(":")
    folder = None if journal is None else journal / f"journal-{_worker()}"
    if spec == "reference":
        from reference.device import ReferenceDevice

        return ReferenceDevice()
    if kind == "legal" and rest:
        return _legal(rest)
    driver = _driver(spec)
    if driver is not None:
        return SupervisedDevice(*driver, folder, limits)
    if kind == "mutant" and rest:
        from reference.mutants import names, wrap

        name, _, base = rest.partition("@")
        if base.startswith("mutant:"):
            raise DeviceError(f"a mutant can't be made of a mutant: {spec}.")
        device = open_device(base or "reference", journal, limits)
        try:
            return wrap(name, device)
        except KeyError:
            device.close()
            raise DeviceError(_unknown("mutant", name, names())) from None
        except ValueError as error:
            device.close()
            raise DeviceError(f"there is no mutant {name} of this device: {error}.") from error
    raise DeviceError(f"there is no device {spec!r}: say {FORMS}.")


def _driver(spec: str) -> tuple[Launcher, str] | None:
    """How the server of a driver is started and which of its devices is meant; None where
    ``spec`` names no driver."""
    kind, _, rest = spec.partition(":")
    if spec == "lavapipe":
        return launcher.lavapipe(_fetched()), "0"
    if kind == "vulkan" and rest:
        return _driver_launcher(), rest
    below = _driver(rest) if kind == "validated" else None
    if below is None:
        return None
    started, selector = below
    return launcher.validated(started, _layer() if rest == "lavapipe" else None), selector


def _layer() -> Path:
    try:
        return layer.fetch()
    except FetchError as error:
        raise DeviceError(str(error)) from error


def _legal(name: str) -> Device:
    from reference.legal import LEGAL, named

    try:
        return named(name)
    except KeyError:
        raise DeviceError(_unknown("legal device", name, LEGAL)) from None


def _unknown(kind: str, name: str, known: Collection[str]) -> str:
    """A sentence with some of the names that could have been meant."""
    near = difflib.get_close_matches(name, known, 5, 0.3) or sorted(known)[:5]
    return (
        f"there is no {kind} {name}: say {', '.join(near)} or one of {len(known) - len(near)} more."
    )


def resolve(spec: str, say: Callable[[str], None]) -> Resolved:
    """Decide what ``spec`` means on this machine and ask the device about itself.

    ``say`` gets lines for the person who waits. DeviceError where there is no such device.
    """
    notes: tuple[str, ...] = ()
    if spec == "auto":
        spec, notes = _automatic(say)
    elif spec.endswith("lavapipe"):
        _announce_fetch(say)
    device = open_device(spec)
    try:
        return Resolved(spec, device.info, notes)
    except Finding as finding:
        raise DeviceError(
            f"{spec} can't be used: {finding.message} while it was asked about itself."
        ) from finding
    finally:
        device.close()


def candidates(of: Launcher, limits: Limits | None = None) -> list[Candidate]:
    """The physical devices that a server started by ``of`` finds, in the loader's order.

    DeviceError where there is no loader or no driver, or where a driver fails already here.
    """
    try:
        process = ServerProcess(of, LIST, limits or Limits())
        try:
            answer = process.exchange(Frame({"kind": "describe"}))
        finally:
            process.kill()
        if answer.kind != "reply":
            raise DeviceError(str(answer.header.get("message") or "the device server failed."))
        listed = json.loads(decode_reply(answer).buffers[0])
        return [_candidate(one) for one in listed]
    except Broken as error:
        how = (error.signal if isinstance(error, Gone) else None) or "no answer"
        raise DeviceError(
            f"a Vulkan driver failed in phase {error.phase} ({how}) when devices were listed."
        ) from error
    except (ProtocolError, ValueError, IndexError, TypeError) as error:
        raise DeviceError(f"the list of devices can't be read: {error}.") from error


def _candidate(one: dict[str, object]) -> Candidate:
    return Candidate(
        index=get(one, "index", int),
        name=get(one, "name", str),
        uuid=get(one, "uuid", str),
        hardware=one.get("type") != _CPU,
        cooperative=not EXTENSIONS.isdisjoint(get(one, "extensions", list)),
    )


def _automatic(say: Callable[[str], None]) -> tuple[str, tuple[str, ...]]:
    """What ``auto`` means here, and what a reader of the report must know about it."""
    found: list[Candidate] = []
    try:
        found = candidates(_driver_launcher())
        reason = "none of the drivers found has a cooperative extension"
        if not any(one.hardware for one in found):
            reason = "there is no hardware driver"
    except DeviceError as error:
        reason = str(error).rstrip(".")
    useful = [one for one in found if one.cooperative]
    for one in useful:
        if one.hardware:
            return f"vulkan:{one.uuid}", ()
    try:
        _announce_fetch(say)
        prefix = _fetched()
        note = f"Runs on Mesa lavapipe {prefix.version}, a driver for the CPU: {reason}."
        return "lavapipe", (note,)
    except DeviceError as error:
        lacking = str(error).rstrip(".")
    if useful:
        return f"vulkan:{useful[0].uuid}", (f"Runs on {useful[0].name}: {reason}.",)
    return "reference", (
        "Runs on the suite's own reference device, which says nothing about any driver: "
        f"{reason}; {lacking}.",
    )


def _announce_fetch(say: Callable[[str], None]) -> None:
    if lavapipe.cached() is None:
        say("Fetching Mesa lavapipe (80 MB) into the user's cache ...")


def _fetched() -> lavapipe.Prefix:
    try:
        return lavapipe.fetch()
    except FetchError as error:
        raise DeviceError(str(error)) from error


def _driver_launcher() -> Launcher:
    """How the server of a driver is started: COOPCTS_LAUNCHER, or this interpreter."""
    prefix = os.environ.get(VARIABLE, "")
    if not prefix.strip():
        return launcher.local()
    try:
        return launcher.prefixed(prefix)
    except ValueError as error:
        raise DeviceError(f"{VARIABLE} is no command line: {error}.") from error


def _worker() -> str:
    return os.environ.get("PYTEST_XDIST_WORKER", "main")
