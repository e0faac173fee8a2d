"""Float-controls execution modes of a program (SPIR-V 1.4, "Execution Mode").

They narrow what the specification leaves open by default: the rounding direction, the flushing
of subnormals, and whether NaN, infinities and the sign of zero count.
"""

from __future__ import annotations

import enum
from collections.abc import Collection
from dataclasses import dataclass

PROPERTIES = "VkPhysicalDeviceFloatControlsProperties."
WIDTHS = (16, 32, 64)


class Mode(enum.Enum):
    """An execution mode that applies to one width of floats."""

    DENORM_PRESERVE = "DenormPreserve"
    DENORM_FLUSH = "DenormFlushToZero"
    SPECIALS = "SignedZeroInfNanPreserve"
    TO_EVEN = "RoundingModeRTE"
    TO_ZERO = "RoundingModeRTZ"

    @property
    def label(self) -> str:
        """Lower-case name, as used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class Control:
    """``mode`` for IEEE 754 floats of ``width`` bits."""

    mode: Mode
    width: int

    @property
    def property(self) -> str:
        """The property that says whether a device has it."""
        return f"{PROPERTIES}shader{self.mode.value}Float{self.width}"


EXCLUSIVE = ((Mode.DENORM_PRESERVE, Mode.DENORM_FLUSH), (Mode.TO_EVEN, Mode.TO_ZERO))
"""Modes of which one width has at most one."""

INDEPENDENCE = ("denormBehaviorIndependence", "roundingModeIndependence")
"""The property that says whether widths can have different ones of each pair."""


def contradiction(controls: Collection[Control]) -> str | None:
    """Why these modes can't be used together, or at all; None if they can."""
    if len(set(controls)) != len(controls):
        return "An execution mode is given twice."
    for width in WIDTHS:
        modes = {control.mode for control in controls if control.width == width}
        for pair in EXCLUSIVE:
            if modes.issuperset(pair):
                return f"{pair[0].value} and {pair[1].value} exclude each other."
    strange = [control.width for control in controls if control.width not in WIDTHS]
    return f"There are no floats of {strange[0]} bits." if strange else None
