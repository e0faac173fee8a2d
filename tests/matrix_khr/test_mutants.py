"""Each fault of element arithmetic, conversions and value flow is found by the case about it."""

from __future__ import annotations

import pytest

from cts.outcome import Outcome
from reference.mutants import elementwise, flow
from tests.matrix2.bench import mutant, run

FAIL, POLICY = Outcome.FAIL, Outcome.POLICY

KILLED = {
    "convert_ties_away": ("convert.controls.to_even.f.float32_to_float16", FAIL),
    "rounding_mode_ignored": ("arithmetic.controls.to_even.float32", FAIL),
    "convert_low_16_bits_lost": ("convert.elements.f.float32_to_float16", FAIL),
    "convert_odd_rows_off_by_one": ("convert.elements.s_to_f.sint8_to_float16", FAIL),
    "convert_bfloat16_nan_to_infinity": (
        "convert.controls.specials.f.bfloat16_to_float32",
        FAIL,
    ),
    "convert_neighbour_saturates": (
        "convert.saturates_itself.f.float32_to_float8_e4m3",
        FAIL,
    ),
    "convert_negative_never_saturates": (
        "convert.saturating.s_to_f.sint32_to_float8_e5m2",
        FAIL,
    ),
    "convert_to_integer_nearest": ("convert.elements.f_to_s.float32_to_sint32", FAIL),
    "convert_negative_bytes_unsigned": ("convert.elements.s_to_f.sint8_to_float32", FAIL),
    "convert_unsigned_sign_extended": ("convert.elements.u.uint8_to_uint32", FAIL),
    "convert_sign_of_type": ("convert.other_sign.s.uint8_to_sint32", FAIL),
    "convert_bfloat16_by_way_of_float16": ("convert.newer.f.float32_to_bfloat16", FAIL),
    "bitcast_negative_keeps_16_bits": ("convert.elements.bits.sint32_to_uint32", FAIL),
    "scale_first_eight_columns": ("arithmetic.scale.float16", FAIL),
    "scale_last_row_twice": ("arithmetic.scale.uint8", FAIL),
    "subtract_swapped_in_second_workgroup": ("arithmetic.binary.subtract.float32", FAIL),
    "divide_rounds_down": ("arithmetic.binary.divide.sint16", FAIL),
    "divide_off_by_three_units": ("arithmetic.binary.divide.float16", FAIL),
    "multiply_low_24_bits": ("arithmetic.binary.multiply.uint32", FAIL),
    "negate_saturates": ("arithmetic.negate.sint8", FAIL),
    "spec_constant_composite_default": ("construct.splat.spec_constant.float16", FAIL),
    "replicate_even_columns": ("construct.splat.replicate.bfloat16", FAIL),
    "initializer_first_tile_only": ("construct.splat.private.sint32", FAIL),
    "dynamic_index_off_by_one": ("flow.through.array_dynamic", FAIL),
    "array_reads_element_0": ("flow.through.array", FAIL),
    "third_parameter_is_first": ("flow.through.parameter", FAIL),
    "out_pointer_loses_last_row": ("flow.through.out", FAIL),
    "private_of_first_subgroup": ("flow.through.private", FAIL),
    "phi_odd_columns_of_last": ("flow.through.phi", FAIL),
    "branch_wrong_side_in_second_workgroup": ("flow.branch.one", FAIL),
    "inner_branch_always_taken": ("flow.branch.nested", FAIL),
    "branch_sides_share_layout": ("flow.branch.one", FAIL),
    "loop_runs_once_less": ("flow.loop", FAIL),
    "loop_step_stops": ("flow.loop", FAIL),
    "loop_carries_eight": ("sequences.loop.integer.uint8_uint8_uint32", FAIL),
    "loop_last_is_first": ("sequences.loop.integer.sint8_sint8_sint32", FAIL),
    "load_after_store_stale": ("memory_model.revisit.storage_buffer", FAIL),
    "exchange_stale_in_odd_rows": ("memory_model.exchange.workgroup.barrier", FAIL),
    "second_exchange_stale": ("memory_model.rounds.storage_buffer", FAIL),
    "make_available_ignored": ("memory_model.exchange.storage_buffer.access", FAIL),
    "specialised_layout_default": ("specialization.operand.layout.integer", FAIL),
    "specialised_sizes_lose_row": ("specialization.operand.sizes.integer", FAIL),
    "required_size_half_idle": ("subgroup_size.integer.8", FAIL),
    "robust_store_writes_beyond": ("robust.store.two.uint32", FAIL),
    "robust_store_wraps": ("robust.store.two.float16", FAIL),
    "robust_load_repeats_last": ("robust.load.two.sint8", FAIL),
    "second_run_differs": ("execution.repeated.uint8_uint8_uint32", FAIL),
}


@pytest.mark.parametrize("name", KILLED)
def test_a_fault_is_found_by_its_case(name: str) -> None:
    case_id, outcome = KILLED[name]
    result = run(case_id, mutant(name))
    assert result.outcome is outcome, (result.outcome, result.reason, result.trace)


def test_every_fault_has_a_test() -> None:
    planted = {it.name for it in (*elementwise.MUTANTS, *flow.MUTANTS)}
    assert planted == set(KILLED)
