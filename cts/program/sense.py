"""Which records of a device's lists some valid program can use.

Programs are drawn from these alone. What is wrong with the others is a driver's slip, which the
cases about the lists report (:mod:`reference.query_values`); a program made from one would be
invalid, and the slip would end as a fault of the suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cts.program.types import Component

Record = Mapping[str, int]

LARGEST: Final = 1 << 20
"""Elements of the largest matrix that the suite works with: far more than registers hold."""
_DIMENSIONS: Final = (("M", "K"), ("K", "N"), ("M", "N"))
_PACKED: Final = frozenset({Component.SINT8_PACKED, Component.UINT8_PACKED})
_KNOWN: Final = frozenset(Component)


def _types(record: Record) -> dict[str, int]:
    return {
        member: value
        for member, value in record.items()
        if member.endswith(("Type", "Interpretation"))
    }


def unknown(record: Record) -> bool:
    """Whether a record has a component type that the suite doesn't know: one of a younger
    extension, or none at all."""
    return not _KNOWN.issuperset(_types(record).values())


def sensible(record: Record, *, saturating: bool = False) -> bool:
    """Whether programs can be made that use ``record``. ``saturating``: whether it was asked for as
    such, where records don't say so themselves."""
    return not (
        unknown(record) or nonsense(record, saturating=saturating) is not None or _unused(record)
    )


def nonsense(record: Record, *, saturating: bool = False) -> str | None:
    """Why no valid program uses a record of matrices or vectors whose members are fine by
    themselves, as half a sentence; None if one may, or if a type is unknown."""
    if unknown(record):
        return None
    types = {member: Component(value) for member, value in _types(record).items()}
    saturating = saturating or bool(record.get("saturatingAccumulation", 0))
    packed = {member for member, component in types.items() if component in _PACKED}
    if packed - {"inputInterpretation"}:
        return "packed components are only how inputs of vectors are read"
    if saturating and types["ResultType"].is_float:
        return "only integers saturate"
    return None


def _unused(record: Record) -> bool:
    """Whether the suite makes no program of a record of known types: for want of a size, because a
    matrix is too large, or because integers and floats are multiplied or added, of which the
    specifications don't say what it means."""
    types = {member: Component(value) for member, value in _types(record).items()}
    given = types.pop("inputType", None)
    if len({component.is_integer for component in types.values()}) > 1:
        return True
    if given is not None:
        read_as = types["inputInterpretation"]
        if read_as in _PACKED:
            return given is not Component.UINT32
        return given.is_integer and read_as.is_float
    sizes = {
        member[0]: value
        for member, value in record.items()
        if member.endswith(("Size", "Granularity"))
    }
    areas = [sizes[rows] * sizes[columns] for rows, columns in _DIMENSIONS]
    return min(areas) == 0 or max(areas) > LARGEST
