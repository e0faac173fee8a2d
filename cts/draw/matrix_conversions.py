"""Which instruction converts numbers between two components, keeping their value."""

from __future__ import annotations

from cts.program.arithmetic import Conversion
from cts.program.model import Component


def instruction(source: Component, target: Component) -> Conversion | None:
    """The instruction that keeps a value that both components hold; None where one alone
    doesn't."""
    if source.is_float and target.is_float:
        return Conversion.F
    if source.is_float:
        return Conversion.F_TO_S if target.is_signed else Conversion.F_TO_U
    if target.is_float:
        return Conversion.S_TO_F if source.is_signed else Conversion.U_TO_F
    if source.bits == target.bits:
        return Conversion.BITS
    if source.is_signed:
        return Conversion.S if target.is_signed else None
    return None if target.is_signed else Conversion.U
