"""Starting the deliberately bad server under a real supervisor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from cts.device import launcher
from cts.device.process import Limits
from cts.device.protocol import BufferData, Dispatch
from cts.device.supervisor import SupervisedDevice

_TEXT = Path(__file__).with_name("bad_server.py").read_text("utf-8")
CODE = launcher.program("bad_server", (("bad_server", _TEXT),))

HANG = 0.4
"""Limit of a phase that hangs on purpose, in seconds; the other phases have ample time."""


def limits(fault: str = "") -> Limits:
    """Short for the phase that ``fault`` hangs in, and for it alone."""
    kind, _, phase = fault.partition(":")
    return (
        replace(Limits(grace=0.0), **{phase: HANG})
        if kind in ("hang", "stall", "slow")
        else Limits(grace=0.0)
    )


def bad_device(journal: Path, selector: str = "", **options: Any) -> SupervisedDevice:
    """A device whose server is the bad one."""
    options.setdefault("limits", limits())
    return SupervisedDevice(launcher.local(), selector, journal, code=CODE, **options)


def request(fault: str, x: int = 65, y: int = 3, data: bytes = b"abc") -> Dispatch:
    """A dispatch that shows ``fault`` from 65 x 3 workgroups on."""
    return Dispatch(
        words=b"\x03\x02\x23\x07",
        buffers=(BufferData(data),),
        workgroups=(x, y, 1),
        features=(fault,),
    )
