"""Seeds and settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest
from hypothesis import Phase

from cts.collect import ROOT
from cts.profiles import (
    DEFAULT_SEED,
    PROFILES,
    case_seed,
    run_seed,
    settings_for,
)


def test_the_seed_of_a_case_depends_on_run_and_id_alone() -> None:
    assert case_seed(1, "info.a") == case_seed(1, "info.a")
    assert len({case_seed(1, "info.a"), case_seed(2, "info.a"), case_seed(1, "info.b")}) == 3


def test_only_explore_takes_a_fresh_seed() -> None:
    for name, profile in PROFILES.items():
        assert run_seed(profile, 5) == 5
        if name != "explore":
            assert run_seed(profile, None) == DEFAULT_SEED
    explore = PROFILES["explore"]
    assert len({run_seed(explore, None) for _ in range(8)}) > 1


def test_profiles_grow() -> None:
    names = ["smoke", "default", "conformance", "deep"]
    assert [PROFILES[name].examples for name in names] == sorted(
        PROFILES[name].examples for name in names
    )


@pytest.mark.parametrize("continuous_integration", [True, False])
def test_settings_don_t_follow_the_environment(continuous_integration: bool) -> None:
    # Hypothesis loads a profile of its own, with derandomize, where the variable CI is set.
    name = "ci" if continuous_integration else "default"
    before = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.load_profile(name)
    try:
        made = settings_for(PROFILES["default"], 50)
    finally:
        hypothesis.settings.load_profile(before)
    assert made.max_examples == 50
    assert made.deadline is None and made.database is None
    assert not made.derandomize and not made.print_blob and made.report_multiple_bugs
    assert set(made.phases) == {Phase.explicit, Phase.generate, Phase.shrink}


def test_steering_profiles_have_the_target_phase() -> None:
    assert Phase.target in settings_for(PROFILES["deep"], 5).phases


DRAWING = """
import sys
import hypothesis
from hypothesis import strategies as st
from cts.profiles import PROFILES, draw_the_same_everywhere, settings_for

if "noise" in sys.argv:
    import noise
if "same" in sys.argv:
    draw_the_same_everywhere()

@hypothesis.seed(3)
@settings_for(PROFILES["smoke"], 300)
@hypothesis.given(st.integers(0, 1 << 40))
def once(value):
    print(value)

once()
"""


def test_draws_don_t_depend_on_which_modules_are_loaded(tmp_path: Path) -> None:
    numbers = ", ".join(str(1_000_003 * n) for n in range(1, 200))
    (tmp_path / "noise.py").write_text(f"NUMBERS = [{numbers}]\n")

    def drawn(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", DRAWING, *arguments],
            cwd=tmp_path,
            env={"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert drawn("same") == drawn("same", "noise")
    assert drawn() != drawn("noise"), "Hypothesis has changed: is the measure still needed?"
