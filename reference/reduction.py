"""Reductions: OpCooperativeMatrixReduceEXT/NV (SPV_NV_cooperative_matrix2).

The combine function is applied to pairs of elements and intermediate results in any order, so a
sum of floats is that of some binary tree whose every addition is correctly rounded, one way or the
other (VkSpec, "Precision of Core SPIR-V Instructions"). With ``e = 2^(1-p)``, n addends and M the
larger of the sums of the positive and of the negative ones, no partial sum leaves [-M, M] but for
rounding, and

    |result - sum| <= M ((1 + e)^(n-1) - 1)

Four addends have few trees, which are enumerated. Minima, maxima and integers have one result. And
whatever the order was: "All elements of a row [column; of the matrix] have the same value", so a
result with two values in one row is wrong, even if each by itself would do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cts.program.expression import Operator
from cts.program.matrix2 import Reduce, Reduction
from cts.program.types import Component
from reference.accept import ANYTHING, EVERYTHING, Accept, Band
from reference.component import (
    Bits,
    Flags,
    Floats,
    bits_dtype,
    decode,
    decode_int,
    encode,
    float_format,
    is_subnormal,
    lowest_bit,
    number,
    round_down,
    round_up,
)
from reference.expectation import Stored, Violation
from reference.layout import Image
from reference.values import Exact, Reduced

Scalar = TypeVar("Scalar", bound=np.generic)


def acceptance(value: Reduced) -> Accept:
    """What each element of a reduction may be, by itvalue."""
    spread = [np.broadcast_to(it, value.shape) for it in (value.low, value.high, value.sums)]
    low, high, sums = spread
    free = np.broadcast_to(value.free, value.shape)
    flags = np.where(free, np.uint8(ANYTHING), np.uint8(0))
    band = Band(low=low, high=high, flags=flags)
    reason = (
        f"a sum of {value.addends} elements by additions that are rounded one way or the other, "
        "in any order"
    )
    if value.assumed:
        reason += "; only the policy on float multiply-adds says what these elements are"
    return Accept(
        value.component,
        value.shape,
        EVERYTHING if value.assumed else band,
        band,
        band,
        exact=sums,
        bound=np.maximum(high - sums, sums - low),
        reason=reason,
    )


def groups(values: NDArray[Scalar], reduction: Reduction) -> NDArray[Scalar]:
    """The elements that become one: [tiles, groups down, groups across, elements]."""
    tiles, rows, columns = values.shape
    if reduction is Reduction.ROW:
        return values[:, :, None, :]
    if reduction is Reduction.COLUMN:
        return values.transpose(0, 2, 1)[:, None, :, :]
    if reduction is Reduction.ALL:
        return values.reshape(tiles, 1, 1, rows * columns)
    quads = values.reshape(tiles, rows // 2, 2, columns // 2, 2).transpose(0, 1, 3, 2, 4)
    return quads.reshape(tiles, rows // 2, columns // 2, 4)


def reduced(statement: Reduce, value: Exact) -> Exact | Reduced:
    """The value of a reduction of known elements."""
    component, operator = statement.type.component, statement.operator
    shape = (value.shape[0], statement.type.rows, statement.type.columns)
    elements = groups(value.bits, statement.reduction)
    unknown: Flags = np.zeros(elements.shape[:3], bool)
    if value.undefined is not None:
        unknown = np.asarray(groups(value.undefined, statement.reduction).any(axis=3))
    if component.is_integer:
        bits = _integers(elements, component, operator)
    elif operator in (Operator.MIN, Operator.MAX):
        bits, special = _extremes(elements, component, operator)
        unknown |= special
    elif operator is Operator.MUL:
        bits, inexact = _products(elements, component)
        unknown |= inexact
    else:
        found = _sums(statement, elements, unknown, value)
        if isinstance(found, Reduced):
            return found
        bits, unknown = found
    undefined = np.broadcast_to(unknown, shape) if unknown.any() else None
    return Exact(component, np.broadcast_to(bits, shape), undefined, value.assumed)


def _integers(elements: Bits, component: Component, operator: Operator) -> Bits:
    numbers = decode_int(elements, component)
    with np.errstate(over="ignore"):
        match operator:
            case Operator.ADD:
                found = numbers.sum(axis=3, dtype=numbers.dtype)
            case Operator.MUL:
                found = numbers.prod(axis=3, dtype=numbers.dtype)
            case Operator.MIN:
                found = numbers.min(axis=3)
            case Operator.MAX:
                found = numbers.max(axis=3)
            case Operator.AND:
                found = np.bitwise_and.reduce(numbers, axis=3)
            case Operator.OR:
                found = np.bitwise_or.reduce(numbers, axis=3)
            case Operator.XOR:
                found = np.bitwise_xor.reduce(numbers, axis=3)
            case _:
                raise ValueError(f"{operator.value} can't combine")
    return np.asarray(found).view(np.uint64).astype(bits_dtype(component))


def _special(elements: Bits, component: Component) -> Flags:
    """Groups with a NaN, an infinity or a subnormal, which may be flushed."""
    values = decode(elements, component)
    return np.asarray((~np.isfinite(values) | is_subnormal(elements, component)).any(axis=3))


def _extremes(elements: Bits, component: Component, operator: Operator) -> tuple[Bits, Flags]:
    values = decode(elements, component)
    pick = values.argmin(axis=3) if operator is Operator.MIN else values.argmax(axis=3)
    bits = np.take_along_axis(elements, pick[..., None], axis=3)[..., 0]
    return bits, _special(elements, component)


def _products(elements: Bits, component: Component) -> tuple[Bits, Flags]:
    """Products of which every partial one is representable, whatever the order: whole numbers
    whose product is exact, and powers of two that stay normal."""
    form = float_format(component)
    values = decode(elements, component)
    with np.errstate(over="ignore", invalid="ignore"):
        product = values.prod(axis=3)
        size = np.where(values == 0, 1.0, np.abs(values)).prod(axis=3)
        whole = ((values == np.rint(values)).all(axis=3)) & (size <= 2.0**form.precision)
        mantissa, exponent = np.frexp(values)
        reach = np.abs(exponent - 1).sum(axis=3)
        powers = (np.abs(mantissa) == 0.5).all(axis=3) & (reach <= -form.minimum_exponent)
        exact = (whole & (size <= form.maximum)) | powers
    inexact = ~exact | _special(elements, component)
    return encode(np.where(inexact, 0.0, product), component), inexact


def _sums(
    statement: Reduce, elements: Bits, unknown: Flags, value: Exact
) -> tuple[Bits, Flags] | Reduced:
    component = statement.type.component
    form = float_format(component)
    values = decode(elements, component)
    special = unknown | ~np.isfinite(values).all(axis=3)
    values = np.where(special[..., None], 0.0, values)
    total, size = values.sum(axis=3), np.abs(values).sum(axis=3)
    grid = np.minimum(lowest_bit(values).min(axis=3), 1023)
    tiny = (grid < form.minimum_exponent) & (size > 0)
    exact = (size <= np.ldexp(1.0, np.minimum(grid + form.precision, 1023))) & ~tiny
    exact &= size <= form.maximum
    if (exact | special).all():
        return encode(total, component), special
    count = elements.shape[3]
    reach = (size + np.abs(total)) / 2
    growth = (1 + 2.0 ** (1 - form.precision)) ** (count - 1) - 1
    with np.errstate(over="ignore"):
        inexact = reach * growth * (1 + 2.0**-20) + size * count * 2.0**-52
    bound = np.where(exact, 0.0, inexact)
    low, high = total - bound, total + bound
    if count == 4:
        low, high = _enumerated(values, component)
    slack = np.where(tiny, 2 * count * form.minimum_normal, 0.0)
    free = special | (reach + bound > form.maximum)
    return Reduced(
        statement.type,
        statement.reduction,
        value.shape[0],
        total,
        low - slack,
        high + slack,
        free,
        count,
        value.assumed,
    )


def _enumerated(values: Floats, component: Component) -> tuple[Floats, Floats]:
    """The smallest and the largest result of all trees over four addends."""
    leaves = [values[..., i] for i in range(4)]
    lows, highs = [], []
    for tree in _trees(tuple(range(4))):
        low, high = _span(tree, leaves, component)
        lows.append(low)
        highs.append(high)
    return np.minimum.reduce(lows), np.maximum.reduce(highs)


Tree = int | tuple["Tree", "Tree"]


def _trees(leaves: tuple[int, ...]) -> Iterator[Tree]:
    """Every binary tree over ``leaves``; which side a subtree is on makes no difference."""
    if len(leaves) == 1:
        yield leaves[0]
        return
    first, rest = leaves[0], leaves[1:]
    for count in range(len(rest)):
        for chosen in itertools.combinations(rest, count):
            other = tuple(it for it in rest if it not in chosen)
            for left in _trees((first, *chosen)):
                for right in _trees(other):
                    yield left, right


def _span(tree: Tree, leaves: list[Floats], component: Component) -> tuple[Floats, Floats]:
    """[low, high] of a tree: additions are monotonic, so the ends come from the ends."""
    if isinstance(tree, int):
        return leaves[tree], leaves[tree]
    (a, b), (c, d) = (_span(side, leaves, component) for side in tree)
    return _rounded_sum(a, c, component, down=True), _rounded_sum(b, d, component, down=False)


def _rounded_sum(x: Floats, y: Floats, component: Component, *, down: bool) -> Floats:
    total = x + y
    part = total - x
    lost = (x - (total - part)) + (y - part)
    if component is Component.FLOAT64:
        inexact = lost < 0 if down else lost > 0
        return np.where(inexact, np.nextafter(total, -np.inf if down else np.inf), total)
    # binary64 may hold a value of the narrower type that the sum only comes near to.
    toward = np.where(lost < 0, -np.inf, np.inf)
    total = np.where(lost != 0, np.nextafter(total, toward), total)
    return round_down(total, component) if down else round_up(total, component)


@dataclass(frozen=True)
class StoredReduction(Stored):
    """The store of a reduction: its elements, and that those of a group are the same."""

    reduction: Reduction = Reduction.ALL
    free: Flags | None = None
    assumed: bool = False
    """Only the suite's policy says that the elements are finite, so that they may be compared."""

    def judge(self, buffer: str, initial: Image, actual: Image) -> tuple[list[Violation], float]:
        """Compares the elements, each with its set and with the others of its group."""
        found, ratio = super().judge(buffer, initial, actual)
        uneven = self._uneven(buffer, self.region.read(actual))
        return ([*found, uneven] if uneven is not None else found), ratio

    def _uneven(self, buffer: str, bits: Bits) -> Violation | None:
        values = decode(bits, self.type.component)
        lines = {Reduction.ROW: "row", Reduction.COLUMN: "column", Reduction.ALL: "matrix"}
        if self.reduction not in lines:
            return None
        axes = {Reduction.ROW: (2,), Reduction.COLUMN: (1,), Reduction.ALL: (1, 2)}
        along = axes[self.reduction]
        # Equal as numbers: the sign of a zero is free. NaN equals itself here.
        first = values[tuple(slice(0, 1) if axis in along else slice(None) for axis in range(3))]
        differs = (values != first) & ~(np.isnan(values) & np.isnan(first))
        if self.free is not None:
            differs &= ~np.broadcast_to(self.free, differs.shape)
        if not differs.any():
            return None
        tile, row, column = (int(i) for i in np.argwhere(differs)[0])
        what = lines[self.reduction]
        where = {"row": f"row {row}", "column": f"column {column}", "matrix": "the matrix"}[what]
        origin = {"row": (row, 0), "column": (0, column), "matrix": (0, 0)}[what]
        one, other = (number(float(values[(tile, *at)])) for at in (origin, (row, column)))
        message = (
            f"{self.value} in {buffer}: the elements of {where} of tile {tile} are not the same "
            f"value: {list(origin)} is {one}, [{row}, {column}] is {other}"
        )
        detail = {
            "worst": {
                "buffer": buffer,
                "value": self.value,
                "statement": self.statement,
                "type": str(self.type),
                "tile": tile,
                "row": row,
                "column": column,
                "actual": other,
                "actual_bits": f"0x{int(bits[tile, row, column]):x}",
                "expected": f"0x{int(bits[(tile, *origin)]):x}",
            },
            "expected": one,
            "wrong": int(differs.sum()),
            "elements": int(differs.size),
            "explanation": f"all elements of a {what} of the result have the same value, whatever "
            "the order in which the elements were combined",
        }
        return Violation("policy" if self.assumed else "required", "value", message, detail)
