"""Arithmetic on integers, element by element: the low bits of the exact result."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cts.program.arithmetic import Operator
from reference.component import Flags, decode_int, encode_int
from reference.matrix import Undetermined
from reference.values import Exact


def undefined_in(operands: tuple[Exact, ...]) -> Flags | None:
    """Elements that some operand leaves undefined; None if there are none."""
    found: Flags | None = None
    for operand in operands:
        if operand.undefined is not None:
            found = operand.undefined if found is None else found | operand.undefined
    return found


def whole_numbers(operator: Operator, left: Exact, right: Exact) -> Exact:
    """``left operator right`` of integers. Undetermined for a division by zero, and of the smallest
    integer by -1."""
    component = left.component
    undefined = undefined_in((left, right))
    x, y = (decode_int(it.bits, component) for it in (left, right))
    match operator:
        case Operator.ADD:
            bits = left.bits + right.bits
        case Operator.SUBTRACT:
            bits = left.bits - right.bits
        case Operator.MULTIPLY:
            bits = encode_int(x.view(np.uint64) * y.view(np.uint64), component)
        case Operator.DIVIDE:
            lowest = -(1 << (component.bits - 1))
            wrong = y == 0
            if component.is_signed:
                wrong = wrong | ((x == lowest) & (y == -1))
            if undefined is not None:
                wrong = wrong & ~undefined
            if wrong.any():
                raise Undetermined("an integer is divided by zero, or the smallest by -1")
            bits = encode_int(_quotients(x, y), component)
    return Exact(component, bits, undefined, left.assumed or right.assumed)


def _quotients(
    x: NDArray[np.int64] | NDArray[np.uint64], y: NDArray[np.int64] | NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Quotients, cut toward zero, as words."""
    divisor = np.where(y == 0, y.dtype.type(1), y)
    with np.errstate(over="ignore"):
        quotient = x // divisor
        uneven = (quotient * divisor != x) & ((x < 0) != (divisor < 0))
    return np.ascontiguousarray(quotient + uneven.astype(quotient.dtype)).view(np.uint64)
