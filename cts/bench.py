"""Where the time of an example goes, and how many matrices are checked a second."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from cts.case import Case
from cts.device.protocol import Device
from cts.profiles import Profile
from cts.run import run_case

PARTS = ("draw", "operands", "lower", "transport", "pipeline", "dispatch", "oracle", "compare")
"""The parts of an example in their order. ``draw`` is what no other part measures: Hypothesis,
and the case itself. ``pipeline`` and ``dispatch`` are the driver's."""


@dataclass
class Bench:
    """Sums over the cases that ran. Seconds; ``own`` per example, everything but the driver."""

    examples: int = 0
    matrices: int = 0
    wall: float = 0.0
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    own: list[float] = field(default_factory=list)
    fresh: list[float] = field(default_factory=list)
    """Seconds of each example that made one pipeline, the driver's time included."""
    reused: list[float] = field(default_factory=list)
    """The same of each example that made none."""
    skipped: int = 0

    def lines(self) -> Iterator[str]:
        """The table."""
        if not self.examples:
            yield "no example ran: the device supports none of these cases"
            return
        yield f"{'part':<12}{'ms an example':>14}{'share':>8}"
        for part in PARTS:
            value = self.seconds[part]
            share = value / self.wall
            yield f"{part:<12}{1000 * value / self.examples:>14.3f}{share:>8.1%}"
        median = 1000 * statistics.median(self.own)
        yield ""
        yield f"{self.examples} examples, {self.matrices} matrices in {self.wall:.1f} s"
        yield f"{median:.2f} ms an example outside the driver (median)"
        yield f"{self.matrices / self.wall:,.0f} matrices a second, the driver's time included"
        own = sum(self.own)
        yield f"{self.matrices / own:,.0f} matrices a second without it"
        for what, times in (("a pipeline of its own", self.fresh), ("a kept one", self.reused)):
            if times:
                rate = 60 / statistics.mean(times)
                yield f"{rate:,.0f} examples a minute with {what} ({len(times)} examples)"


def bench(
    cases: Sequence[Case],
    device: Device,
    profile: Profile,
    seed: int,
    say: Callable[[str], None],
) -> Bench:
    """Run ``cases`` one after the other in this process and sum up. Cases that draw nothing and
    cases that the device doesn't support are left out."""
    total = Bench()
    for case in cases:
        if case.fixed:
            continue
        result = run_case(case, device, profile, seed)
        tally = result.tally
        if result.trace:
            say(f"{case.id}: {result.reason}")
        if not tally.matrices:
            total.skipped += 1
            continue
        total.examples += tally.examples
        total.matrices += tally.matrices
        total.wall += result.duration
        total.own += tally.own.tolist()
        for made, own, driver in zip(tally.made, tally.own, tally.driver, strict=True):
            if made < 2:
                (total.fresh if made else total.reused).append(own + driver)
        for part, value in tally.seconds.items():
            total.seconds[part] += value
        total.seconds["draw"] += result.duration - sum(tally.seconds.values())
    return total
