"""Says why the acceptance set of one element of a float multiply-add is what it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.addends import Addends
from reference.component import Flags, Floats, number


def explanation(
    facts: Addends,
    collapsed: Flags | None,
    tight: Floats | float,
    loose: Floats | float,
    index: tuple[int, int, int],
) -> str:
    """Two or three sentences on the element at ``index``: its addends, and the bounds ``tight``
    and ``loose``, or why there are none. ``collapsed`` is None if all elements are."""

    def pick(array: NDArray[Any] | float) -> float:
        return float(np.broadcast_to(array, facts.shape)[index])

    plan, sums = facts.plan, facts.sums
    text = (
        f"{int(pick(facts.count))} of {plan.slots} addends are not zero, their sum is "
        f"{number(pick(sums.value))}, their magnitudes add up to {number(pick(sums.size))}. "
    )
    if facts.special is not None and pick(facts.special):
        return text + "A NaN or an infinity is among them."
    if collapsed is not None and not pick(collapsed):
        return text + (
            f"Sums of {plan.precision} bits in any order, rounded in any direction, err by at most "
            f"{pick(tight):.4g}; with an error of one unit for each addend by {pick(loose):.4g}."
        )
    text += (
        f"All of these lie on a grid so coarse that every partial sum fits {plan.collapse} bits "
    )
    text += "and is exact"
    if pick(loose) == 0.0:
        return text + "."
    return text + (
        "; only an adder that errs by a unit for addends of the other sign differs, by at most "
        f"{pick(loose):.4g}."
    )
