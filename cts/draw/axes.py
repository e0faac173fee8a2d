"""The values of case axes, from the specification's tables and never from a device, so that
case ids are the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cts.draw.combinations import Combination, Types
from cts.draw.layouts import PointeeKind, pointee
from cts.program.model import Component, Layout, Storage

COMPONENTS = tuple(
    component
    for component in Component
    if component not in (Component.SINT8_PACKED, Component.UINT8_PACKED)
)

_S8, _U8 = Component.SINT8, Component.UINT8
_S32, _U32 = Component.SINT32, Component.UINT32

INTEGER_TYPES = (
    *(Types(a, b, c, c) for a in (_S8, _U8) for b in (_S8, _U8) for c in (_S32, _U32)),
)

FLOAT_TYPES = (
    Types(Component.FLOAT16, Component.FLOAT16, Component.FLOAT16, Component.FLOAT16),
    Types(Component.FLOAT16, Component.FLOAT16, Component.FLOAT32, Component.FLOAT32),
    Types(Component.BFLOAT16, Component.BFLOAT16, Component.BFLOAT16, Component.BFLOAT16),
    Types(Component.BFLOAT16, Component.BFLOAT16, Component.FLOAT32, Component.FLOAT32),
    *(
        Types(a, b, c, c)
        for a in (Component.FLOAT8_E4M3, Component.FLOAT8_E5M2)
        for b in (Component.FLOAT8_E4M3, Component.FLOAT8_E5M2)
        for c in (Component.FLOAT16, Component.FLOAT32)
    ),
    Types(Component.FLOAT32, Component.FLOAT32, Component.FLOAT32, Component.FLOAT32),
    Types(Component.FLOAT64, Component.FLOAT64, Component.FLOAT64, Component.FLOAT64),
)


@dataclass(frozen=True)
class Family:
    """A value of a ``types`` axis: one quadruple of types, or every advertised combination
    that no other value of the axis names."""

    label: str
    accepts: Callable[[Combination], bool]


def _family(types: Types) -> Family:
    return Family(types.label, lambda combination: combination.types == types)


def _others(known: tuple[Types, ...], *, integer: bool) -> Family:
    return Family(
        "other",
        lambda combination: (
            combination.types.is_integer is integer and combination.types not in known
        ),
    )


INTEGER_FAMILIES = (*map(_family, INTEGER_TYPES), _others(INTEGER_TYPES, integer=True))
FLOAT_FAMILIES = (*map(_family, FLOAT_TYPES), _others(FLOAT_TYPES, integer=False))


@dataclass(frozen=True)
class Pair:
    """Two axis values that only make sense together, such as a layout to load with and one
    to store with."""

    first: Any
    second: Any

    @property
    def label(self) -> str:
        """Both labels, joined as in ``row_major_to_column_major``."""
        return f"{self.first.label}_to_{self.second.label}"


LAYOUT_PAIRS = tuple(Pair(load, store) for load in Layout for store in Layout)
STORAGE_PAIRS = tuple(Pair(load, store) for load in Storage for store in Storage)


@dataclass(frozen=True)
class Pointed:
    """A matrix component and a pointee kind that exists for it."""

    component: Component
    kind: PointeeKind

    @property
    def label(self) -> str:
        """``float16.wider``: two parts of a case id."""
        return f"{self.component.label}.{self.kind.label}"


POINTED = tuple(
    Pointed(component, kind)
    for component in COMPONENTS
    for kind in PointeeKind
    if kind is not PointeeKind.SAME and pointee(component, kind) is not None
)
