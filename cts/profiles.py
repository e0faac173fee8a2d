"""How much a run does: profiles, seeds, and the Hypothesis settings made from them.

Each case has a seed of its own, derived from the run's seed and its id, so that neither the
selection, the order nor the number of workers changes what it draws.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import hypothesis

DEFAULT_SEED = 1
"""The run seed of every profile but ``explore``, unless one is given."""


@dataclass(frozen=True)
class Profile:
    """``examples`` for an ordinary case; the number of combinations of what is compiled into a
    module that they share (:mod:`cts.draw.variety`); whether values are steered towards the largest
    error / bound ratio (``target``); whether the run's seed is a fresh one by default; whether
    failing examples are minimised (``shrink``)."""

    name: str
    examples: int
    purpose: str
    modules: int = 8
    target: bool = False
    fresh_seed: bool = False
    shrink: bool = True


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("smoke", 8, "every case briefly: does the driver work at all", 1),
        Profile("default", 50, "the ordinary run", 8),
        Profile("conformance", 200, "the run to publish", 32),
        Profile("deep", 2000, "before a release, or overnight", 256, target=True),
        Profile("explore", 500, "new values each time", 256, target=True, fresh_seed=True),
    )
}


def run_seed(profile: Profile, given: int | None) -> int:
    """The seed of a run: the given one, a fresh one for ``explore``, else the default."""
    if given is not None:
        return given
    return secrets.randbelow(2**32) if profile.fresh_seed else DEFAULT_SEED


def case_seed(seed: int, case_id: str) -> int:
    """The seed of one case: a hash of the run's seed and the case's id."""
    digest = hashlib.sha256(f"{seed}/{case_id}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def settings_for(profile: Profile, examples: int) -> hypothesis.settings:
    """Settings for one case. Every field that matters is given, because Hypothesis changes its
    own defaults where it thinks that it runs in continuous integration."""
    import hypothesis
    from hypothesis import HealthCheck, Phase, Verbosity

    phases = [Phase.explicit, Phase.generate]
    if profile.shrink:
        phases.append(Phase.shrink)
    if profile.target:
        phases.append(Phase.target)
    return hypothesis.settings(
        max_examples=examples,
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=True,
        # A device decides how long an example takes, and rejections are counted by ourselves.
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )


def draw_the_same_everywhere() -> None:
    """Keep the draws of a seed from depending on which modules happen to be loaded.

    Hypothesis mixes the constants that it finds in the source of loaded local modules into what
    it draws. Which modules those are differs between workers and selections, so the same seed
    would give other values. There is no setting for it; the version of Hypothesis is pinned, and
    a test watches that this still works.
    """
    from hypothesis.internal.conjecture import providers

    if providers._get_local_constants is not _no_constants:
        vars(providers)["_get_local_constants"] = _no_constants
        vars(providers)["CONSTANTS_CACHE"] = type(providers.CONSTANTS_CACHE)(1024)


def _no_constants() -> object:
    from hypothesis.internal.constants_ast import Constants

    return Constants()
