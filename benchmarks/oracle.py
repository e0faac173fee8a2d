"""What the oracle costs beside the multiplication itself: 4096 products of 16 x 16 x 16.

Each figure is the best of a few runs, in this process and one after the other, so that what else
the machine does matters little. A verdict includes decoding every operand and every result.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from cts.program.recipe import Pattern, Recipe
from cts.program.types import Component
from reference.accept import verdict
from reference.component import decode, encode
from reference.floats import FloatAccept
from reference.operands import realise
from reference.values import Exact, FloatSum

TILES, SIZE = 4096, 16
TYPES = (
    (Component.FLOAT16, Component.FLOAT32),
    (Component.FLOAT16, Component.FLOAT16),
    (Component.FLOAT8_E4M3, Component.FLOAT32),
)
PATTERNS = (Pattern.SMALL, Pattern.SIGNED, Pattern.PERMUTATION, Pattern.FULL)


def _best(work: Callable[[], object]) -> float:
    found = []
    for _ in range(7):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def _operand(pattern: Pattern, seed: int, component: Component) -> Exact:
    recipe = Recipe(pattern, seed, 2)
    return Exact(component, realise(recipe, component, SIZE, SIZE, TILES))


def main() -> None:
    """Print a line for each combination of operands and types."""
    print(f"{'operands':<12} {'types':<20} {'matmul':>9} {'verdict':>10} {'ratio':>7}")
    for pattern in PATTERNS:
        for source, target in TYPES:
            a, b = (_operand(pattern, seed, source) for seed in (1, 2))
            c = _operand(pattern, 3, target)
            left, right = decode(a.bits, source), decode(b.bits, source)
            result = encode(left @ right + decode(c.bits, target), target)
            acceptance = FloatAccept(FloatSum(target, ((a, b),), c, (target,)))
            product = _best(lambda: left @ right)  # noqa: B023
            judged = _best(lambda: verdict(acceptance, result))  # noqa: B023
            types = f"{source.label} -> {target.label}"
            times = f"{1000 * product:>6.2f} ms {1000 * judged:>7.2f} ms {judged / product:>7.1f}"
            print(f"{pattern.name.lower():<12} {types:<20} {times}")


if __name__ == "__main__":
    main()
