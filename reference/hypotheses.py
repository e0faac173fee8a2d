"""What typical faults would make of a program's values, to name the fault in a finding.

Computed only after an element was found wrong; every hypothesis is one line of matrix algebra on
the operands, in binary64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from cts.program.matrix2 import Matrix2
from cts.program.model import (
    Binary,
    Convert,
    Load,
    MulAdd,
    Negate,
    Rebuild,
    Scale,
    Splat,
    Stamp,
    Through,
)
from cts.program.qcom import FromArrays
from cts.program.tensor import TensorLoad
from reference.component import Floats, decode, decode_int, encode, encode_int
from reference.flow import others
from reference.matrix import multiply_add
from reference.patterns import Hypothesis
from reference.values import Exact, FloatSum, Value

Source = (
    Load
    | MulAdd
    | Splat
    | Stamp
    | Rebuild
    | Matrix2
    | TensorLoad
    | Convert
    | Negate
    | Binary
    | Scale
    | Through
    | FromArrays
)


def of_value(
    name: str, sources: Mapping[str, Source], values: Mapping[str, Value]
) -> list[Hypothesis]:
    """Hypotheses for the value called ``name``."""
    source = sources.get(name)
    while isinstance(source, Rebuild):
        source = sources.get(source.value)
    if isinstance(source, Through):
        chosen = source.values[source.index]
        return [*others(source, values.__getitem__), *of_value(chosen, sources, values)]
    if not isinstance(source, MulAdd):
        return []
    a, b = values[source.a], values[source.b]
    c = values[source.c]
    if not isinstance(a, Exact) or not isinstance(b, Exact):
        return []
    left, right = _numbers(a, source.a_signed), _numbers(b, source.b_signed)
    third = _sum_of(c, source.c_signed)
    if third is None:
        return []
    found: list[Hypothesis] = []

    def suppose(label: str, make: Callable[[], Floats]) -> None:
        with np.errstate(all="ignore"):
            result = make()
        found.append(Hypothesis(label, _wrapped(result, source)))

    suppose("equals C: the product is missing", lambda: third)
    suppose("equals A x B: C is missing", lambda: left @ right)
    for k in range(left.shape[2]):
        suppose(
            f"the products of k = {k} are missing",
            lambda k=k: left @ right + third - left[:, :, k, None] * right[:, None, k, :],  # type: ignore[misc]
        )
    if left.shape[1] == left.shape[2]:
        suppose("A is transposed", lambda: left.transpose(0, 2, 1) @ right + third)
    if right.shape[1] == right.shape[2]:
        suppose("B is transposed", lambda: left @ right.transpose(0, 2, 1) + third)
    if third.shape[1] == third.shape[2]:
        suppose("C is transposed", lambda: left @ right + third.transpose(0, 2, 1))
    suppose("A of tile 0 is used in every tile", lambda: left[:1] @ right + third)
    suppose("B of tile 0 is used in every tile", lambda: left @ right[:1] + third)
    suppose("C of tile 0 is used in every tile", lambda: left @ right + third[:1])
    found += _of_integers(source, a, b, c)
    return found


def _of_integers(source: MulAdd, a: Exact, b: Exact, c: Value) -> list[Hypothesis]:
    """Wrong extension of an operand, wrong overflow behaviour."""
    if source.type.component.is_float or not isinstance(c, Exact):
        return []
    found = []
    changes = {
        "A has the wrong signedness": {"a_signed": not source.a_signed},
        "B has the wrong signedness": {"b_signed": not source.b_signed},
        "wraps instead of saturating": {"saturating": False},
        "saturates instead of wrapping": {"saturating": True},
    }
    for label, change in changes.items():
        if change.get("saturating") == source.saturating:
            continue
        fields = {**source.__dict__, **change}
        value = multiply_add(MulAdd(**fields), a, b, c)
        assert isinstance(value, Exact)
        found.append(Hypothesis(label, decode(value.bits, value.component)))
    return found


def _numbers(value: Exact, signed: bool) -> Floats:
    if value.component.is_float:
        return decode(value.bits, value.component)
    return decode_int(value.bits, value.component, signed).astype(np.float64)


def _sum_of(value: Value, signed: bool) -> Floats | None:
    if isinstance(value, Exact):
        return _numbers(value, signed)
    if not isinstance(value, FloatSum):
        return None
    total = decode(value.c.bits, value.c.component)
    for a, b in value.products:
        total = total + decode(a.bits, a.component) @ decode(b.bits, b.component)
    return total


def _wrapped(result: Floats, source: MulAdd) -> Floats:
    """The result as the component would hold it."""
    component = source.type.component
    if component.is_float:
        return decode(encode(result, component), component)
    exact = np.clip(result, -(2.0**62), 2.0**62).astype(np.int64)
    return decode(encode_int(exact, component), component)
