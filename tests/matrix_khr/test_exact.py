"""The case about exact float products uses the bits that the class of adders has, and no more."""

from __future__ import annotations

import pytest

from cts.draw.recipes import class_bits, exact_bits
from cts.outcome import Outcome, worse
from cts.profiles import Profile
from cts.program.model import Component
from cts.program.recipe import Pattern, Recipe
from reference.bounds import adder
from reference.component import float_format
from reference.latitude import VULKAN
from reference.legal import LEGAL
from tests.matrix2.bench import mutant, run
from tests.reference.building import chain
from tests.reference.test_floats import TYPES

EXACT = "mul_add.float.exact."
PLAIN = Recipe(Pattern.SMALL, 1, limit=1)


@pytest.mark.parametrize("types", TYPES, ids=lambda t: "_".join(c.label for c in t))
def test_the_bits_are_those_that_the_oracle_takes_for_exact(
    types: tuple[Component, Component, Component],
) -> None:
    factor, third, result = types
    plan = adder(chain(types, PLAIN, PLAIN, PLAIN), VULKAN)
    bits = class_bits(factor, factor, third, result)
    significant = (float_format(component).precision for component in (third, result))
    assert bits == min(plan.collapse, plan.precision, *significant)
    assert exact_bits(factor, factor, third, result) == min(bits, 11)


@pytest.mark.parametrize(
    "types", ["float16_float16_float32", "bfloat16_bfloat16_float32", "float32_float32_float32"]
)
def test_sums_in_float16_are_seen(types: str) -> None:
    assert run(EXACT + types, mutant("accumulates_in_float16")).outcome is Outcome.POLICY


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "name",
    ["fused_23", "fused_25", "unit_errors_23", "pairwise_up", "descending_down"],
)
@pytest.mark.parametrize("types", ["float16_float16_float32", "bfloat16_bfloat16_float32"])
def test_no_adder_of_the_class_is_accused(types: str, name: str, seed: int) -> None:
    profile = Profile("brief", 20, "tests", 4)
    found = run(EXACT + types, LEGAL[name].device(), profile, seed)
    assert not worse(found.outcome, Outcome.PASS), found.reason


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("types", ["float8_e4m3_float8_e4m3_float32"])
def test_short_sums_of_float8_are_not_accused(types: str, seed: int) -> None:
    found = run(EXACT + types, LEGAL["short_float8_sums"].device(), seed=seed)
    assert found.outcome is Outcome.PASS, found.reason
