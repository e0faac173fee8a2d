"""How large whole numbers get in float arithmetic that may be rearranged.

"Implementations may rearrange floating-point operations using any of the mathematical properties
governing the expressions in precise arithmetic" (VkSpec, "Evaluation of Expressions"). A sum or
product of results is judged by the order in the program only if every other order gives the same:
where all operands are whole numbers and the magnitudes of all addends of the expanded expression
add up to no more than the component counts exactly. NoContraction forbids rearranging.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cts.program.model import Component
from reference.component import decode, float_format
from reference.matrix import Undetermined
from reference.values import Exact


class Reach:
    """The sum of the magnitudes of all addends of each derived value, by name."""

    def __init__(self, precise: bool) -> None:
        self.precise = precise
        self._derived: dict[str, float] = {}

    def of(self, name: str, value: Exact | None) -> float:
        """The reach of a value: that of what it is derived from, or of its own numbers (0 if
        these aren't known)."""
        if name in self._derived:
            return self._derived[name]
        if value is None:
            return 0.0
        numbers = decode(value.bits, value.component)
        with np.errstate(invalid="ignore"):
            if not (numbers == np.rint(numbers)).all():
                return np.inf
        return float(np.abs(numbers).max(initial=0.0))

    def keep(self, result: str, reach: float) -> None:
        """``result`` has this ``reach``."""
        self._derived[result] = reach

    def derive(
        self, result: str, component: Component, operands: Iterable[str], reach: float
    ) -> None:
        """``result`` is computed from ``operands`` and has this ``reach``. Undetermined where
        rearranging might give other results than the program's order."""
        form = float_format(component)
        again = any(name in self._derived for name in operands)
        if again and not self.precise and not reach <= 2.0**form.precision:
            raise Undetermined(f"{result}: the order of the float operations is open")
        self._derived[result] = reach

    def same(self, result: str, *sources: str) -> None:
        """``result`` is one of ``sources``."""
        known = [self._derived[name] for name in sources if name in self._derived]
        if known:
            self._derived[result] = max(known)
