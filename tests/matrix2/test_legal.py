"""Other legal devices pass the cases of the extensions: whatever order their additions have."""

from __future__ import annotations

import pytest

from cts.outcome import Outcome
from cts.profiles import Profile
from reference.adders import Arithmetic, Order
from reference.component import Rounding
from reference.device import ReferenceDevice
from reference.machine import Behaviour
from tests.matrix2.bench import run

QUICK = Profile("quick", 8, "tests")
LEGAL = {
    "ascending": Behaviour(arithmetic=Arithmetic(order=Order.ASCENDING)),
    "descending": Behaviour(arithmetic=Arithmetic(order=Order.DESCENDING)),
    "pairwise": Behaviour(arithmetic=Arithmetic(order=Order.PAIRWISE)),
    "truncating": Behaviour(
        arithmetic=Arithmetic(order=Order.PAIRWISE, rounding=Rounding.TOWARD_ZERO)
    ),
    "rounding_up": Behaviour(arithmetic=Arithmetic(order=Order.ASCENDING, rounding=Rounding.UP)),
    "reversed_lists": Behaviour(reverses_records=True),
}
CASES = (
    "reduction.exact.row.add",
    "reduction.exact.all.mul",
    "reduction.exact.quad.max",
    "reduction.rounded.row.float16",
    "reduction.rounded.all.float32",
    "reduction.rounded.column.bfloat16",
    "reduction.rounded.quad.float8_e4m3",
    "use_conversion.fused.transposed_to_b",
    "use_conversion.other_component.accumulator_to_a.float32_to_float16",
    "per_element.after_reduction.row",
    "per_element.function.float16.accumulator",
    "maintenance1.required.types.float16",
    "maintenance1.saturation",
    "flexible.mul_add.float.float16_float16_float32.few",
)


@pytest.mark.parametrize("device", LEGAL)
@pytest.mark.parametrize("case_id", CASES)
def test_legal_devices_pass(device: str, case_id: str) -> None:
    result = run(case_id, ReferenceDevice(LEGAL[device]), QUICK)
    assert result.outcome is Outcome.PASS, (result.outcome, result.reason, result.trace)
