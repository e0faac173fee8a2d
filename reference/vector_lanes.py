"""Values that some invocations have and others don't.

In divergent control flow a name may stand for results of different operations in different
invocations. Such a value is a list of pieces, each the value of some invocations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from reference.accept import Accept, Band
from reference.component import bits_dtype
from reference.matrix import Undetermined
from reference.settle import settled
from reference.values import Exact, FloatSum, Ranged

_Any = TypeVar("_Any", bound=np.generic)

Lanes = NDArray[np.int64]
"""Numbers of invocations, ascending."""

LaneValue = Exact | FloatSum | Ranged
"""[invocations, components, 1]; scalars have one component."""


@dataclass(frozen=True)
class Piece:
    """The value of the invocations ``lanes``, one tile for each."""

    lanes: Lanes
    value: LaneValue

    def of(self, lanes: Lanes) -> Piece | None:
        """The part that belongs to some of ``lanes``; None if there is none."""
        inside = np.isin(self.lanes, lanes, assume_unique=True)
        if inside.all():
            return self
        if not inside.any():
            return None
        return Piece(self.lanes[inside], take(self.value, np.flatnonzero(inside)))


Pieces = tuple[Piece, ...]


def take(value: LaneValue, tiles: Lanes) -> LaneValue:
    """Some of the tiles, by their positions."""
    if isinstance(value, Exact):
        return _take_exact(value, tiles)
    if isinstance(value, FloatSum):
        products = tuple((_take_exact(a, tiles), _take_exact(b, tiles)) for a, b in value.products)
        return replace(value, products=products, c=_take_exact(value.c, tiles))
    return Ranged(_take_accept(value.accept, tiles))


def _take_exact(value: Exact, tiles: Lanes) -> Exact:
    undefined = None if value.undefined is None else value.undefined[tiles]
    return replace(value, bits=value.bits[tiles], undefined=undefined)


def _take_accept(accept: Accept, tiles: Lanes) -> Accept:
    policy = accept.policy if isinstance(accept.policy, Band) else accept.policy()
    return replace(
        accept,
        shape=(len(tiles), *accept.shape[1:]),
        required=_take_band(accept.required, tiles),
        policy=_take_band(policy, tiles),
        tight=_take_band(accept.tight, tiles),
        exact=None if accept.exact is None else _take_array(accept.exact, tiles),
        bound=accept.bound if isinstance(accept.bound, float) else _take_array(accept.bound, tiles),
        explain=None,
    )


def _take_array(array: NDArray[_Any], tiles: Lanes) -> NDArray[_Any]:
    return array if array.ndim < 3 or array.shape[0] == 1 else array[tiles]


def _take_band(band: Band, tiles: Lanes) -> Band:
    def cut(array: NDArray[_Any] | None) -> NDArray[_Any] | None:
        return None if array is None else _take_array(array, tiles)

    return Band(
        cut(band.bits),
        cut(band.low),
        cut(band.high),
        band.flags if isinstance(band.flags, int) else _take_array(band.flags, tiles),
        cut(band.center),
        band.radius if isinstance(band.radius, float) else _take_array(band.radius, tiles),
    )


def parts(pieces: Iterable[Piece], lanes: Lanes) -> Pieces:
    """The pieces that belong to ``lanes``."""
    found = (piece.of(lanes) for piece in pieces)
    return tuple(piece for piece in found if piece is not None)


def exactly(pieces: Sequence[Piece], lanes: Lanes, name: str) -> Exact:
    """The one value of all of ``lanes``, in their order. Undetermined where an invocation has
    none, or more than one result is possible."""
    chosen = parts(pieces, lanes)
    if sum(len(piece.lanes) for piece in chosen) != len(lanes):
        raise Undetermined(f"{name} isn't defined in every invocation that uses it")
    values = [settled(piece.value, name) for piece in chosen]
    if len(chosen) == 1:
        return values[0]
    component = values[0].component
    shape = (len(lanes), *values[0].shape[1:])
    bits = np.zeros(shape, bits_dtype(component))
    undefined = np.zeros(shape, bool)
    for piece, value in zip(chosen, values, strict=True):
        at = np.searchsorted(lanes, piece.lanes)
        bits[at] = value.bits
        if value.undefined is not None:
            undefined[at] = value.undefined
    assumed = any(value.assumed for value in values)
    return Exact(component, bits, undefined if undefined.any() else None, assumed)
