"""Values with one legal result, as further statements need them."""

from __future__ import annotations

import numpy as np

from reference.accept import Level
from reference.component import encode
from reference.floats import FloatAccept
from reference.matrix import Undetermined
from reference.values import Exact, FloatSum, Ranged, Value


def single(value: Value) -> Exact | None:
    """The one result that the suite's policy leaves; None if it leaves more, or if only the
    collection of the elements is known."""
    if isinstance(value, Exact):
        return value
    if not isinstance(value, FloatSum | Ranged):
        return None
    accept = value.accept if isinstance(value, Ranged) else FloatAccept(value).part(slice(None))
    band = accept.band(Level.POLICY)
    interval = band.interval()
    if interval is None or np.any(band.flags) or not np.array_equal(*interval):
        return None
    bits = np.broadcast_to(encode(interval[0], value.component), value.shape)
    return Exact(value.component, bits, assumed=True)


def settled(value: Value, name: str) -> Exact:
    """The one result of ``value``, which ``name`` needs; Undetermined if there are more."""
    found = single(value)
    if found is None:
        raise Undetermined(f"{name}: an operand's elements are not known exactly")
    return found
