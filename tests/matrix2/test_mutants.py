"""Each fault of matrix2, maintenance1 and tensor addressing is found by the case about it."""

from __future__ import annotations

import pytest

from cts.outcome import Outcome
from reference.mutants import maintenance1, matrix2, tensor
from tests.matrix2.bench import mutant, run

FAIL, POLICY = Outcome.FAIL, Outcome.POLICY

KILLED = {
    "reduce_row_as_column": ("reduction.exact.row.max", FAIL),
    "reduce_last_column_dropped": ("reduction.exact.row.or", FAIL),
    "reduce_later_rows_as_first": ("reduction.exact.row.add", FAIL),
    "reduce_rotated": ("reduction.rounded.row.float16", FAIL),
    "reduce_quads_apart": ("reduction.exact.quad.min", FAIL),
    "reduce_all_stops_at_rows": ("reduction.exact.all.xor", FAIL),
    "reduce_maximum_from_zero": ("reduction.exact.column.max", FAIL),
    "reduce_minimum_unsigned": ("reduction.exact.all.min", FAIL),
    "reduce_combines_twice": ("reduction.exact.column.xor", FAIL),
    "reduce_wide_result_zero": ("reduction.exact.row.and", FAIL),
    "reduce_in_bfloat16": ("reduction.rounded.column.float32", FAIL),
    "transpose_omitted": ("use_conversion.same_component.transposed_to_b.float16", FAIL),
    "convert_use_transposes": ("use_conversion.same_component.accumulator_to_b.sint32", FAIL),
    "convert_use_swaps_pairs": ("use_conversion.same_component.accumulator_to_a.float32", FAIL),
    "convert_use_saturates": (
        "use_conversion.other_component.accumulator_to_a.uint32_to_sint8",
        FAIL,
    ),
    "convert_use_stale_operand": ("use_conversion.fused.accumulator_to_a", FAIL),
    "per_element_place_swapped": ("per_element.place.uint32.row", FAIL),
    "per_element_column_of_block": ("per_element.place.float32.column", FAIL),
    "per_element_scalars_reversed": ("per_element.scalars.sint32", FAIL),
    "per_element_matrix_of_neighbour": ("per_element.matrices.float16", FAIL),
    "per_element_called_twice": ("per_element.function.uint32.accumulator", FAIL),
    "workgroup_lower_half": ("workgroup_scope.mul_add.sint8_sint8_sint32.few", FAIL),
    "workgroup_upper_half_stored": ("workgroup_scope.load_store.few", FAIL),
    "flexible_last_block": ("flexible.mul_add.integer.uint8_uint8_uint32.odd", FAIL),
    "properties2_no_float16_at_any_size": ("maintenance1.required.types.float16", FAIL),
    "properties2_no_uint8_in_large_workgroups": ("maintenance1.required.types.uint8", FAIL),
    "properties2_sint8_only_to_uint32": ("maintenance1.required.types.sint8", FAIL),
    "properties2_empty_for_small_workgroups": ("maintenance1.required.not_empty", FAIL),
    "properties2_odd_granularities": ("maintenance1.powers_of_two", FAIL),
    "properties2_saturating_leaks": ("maintenance1.saturation", POLICY),
    "properties2_flags_ignored": ("maintenance1.saturation", POLICY),
    "properties2_saturating_forgotten": ("maintenance1.saturation", POLICY),
    "properties2_size_ignored": ("maintenance1.usable.subgroup.one", FAIL),
    "properties2_count_of_other_list": ("maintenance1.every_parameter", POLICY),
    "properties2_unusable_record": ("maintenance1.usable.every_record.subgroup", FAIL),
    "properties2_unusable_multiple": ("maintenance1.usable.subgroup.odd", FAIL),
    "properties2_unusable_varying": ("maintenance1.usable.varying", FAIL),
    "flexible_unusable_granularity": ("flexible.every_record", FAIL),
    "flexible_unusable_workgroup": ("workgroup_scope.every_record", FAIL),
    "coordinates_swapped": ("coordinate.place.row.a.uint32", FAIL),
    "coordinates_of_block": ("coordinate.place.row.accumulator.float32", FAIL),
    "coordinates_of_accumulator": ("coordinate.place.column.b.float16", FAIL),
    "tensor_clip_ignored": ("tensor.clip.undefined.no", FAIL),
    "tensor_clip_keeps_width": ("tensor.clip.undefined.yes", FAIL),
    "tensor_clamp_value_zero": ("tensor.clamp_value.2", FAIL),
    "tensor_mirror_off_by_one": ("tensor.load.mirror.1", FAIL),
    "tensor_repeat_toward_zero": ("tensor.load.repeat.3", FAIL),
    "tensor_edge_of_slice": ("tensor.load.to_edge.2", FAIL),
    "tensor_stores_clamped": ("tensor.store.to_edge.2", FAIL),
    "tensor_negative_inside": ("tensor.load.constant.5", FAIL),
    "tensor_strides_ignored": ("tensor.load.undefined.3", FAIL),
    "tensor_last_slice_only": ("tensor.store.undefined.4", FAIL),
    "tensor_span_is_dimension": ("tensor.load.undefined.2", FAIL),
    "tensor_outer_dimensions_swapped": ("tensor.load.repeat.4", FAIL),
    "tensor_permutation_inverted": ("tensor.permutation.3.no", FAIL),
    "tensor_permutation_ignored": ("tensor.view_dimensions.4.yes", FAIL),
    "tensor_clipped_is_zero": ("tensor.clip.constant.no", FAIL),
    "tensor_physical_offset_ignored": ("tensor.storage.physical_storage_buffer.no", FAIL),
    "tensor_store_on_first_tile": ("tensor.store.constant.3", FAIL),
    "block_neighbour_decoded": ("block_load.decode.float16", FAIL),
    "block_coordinate_of_element": ("block_load.decode.float32", FAIL),
    "block_row_lost": ("block_load.rank.3", FAIL),
    "block_vector_reversed": ("block_load.vector.4.float16", FAIL),
    "arrays_as_columns": ("qcom.construct.accumulator.float16.same", FAIL),
    "arrays_part_from_start": ("qcom.construct.a.float32.part", FAIL),
    "arrays_halves_swapped": ("qcom.extract.b.float16.packed", FAIL),
}


@pytest.mark.parametrize("name", KILLED)
def test_a_fault_is_found_by_its_case(name: str) -> None:
    case_id, outcome = KILLED[name]
    result = run(case_id, mutant(name))
    assert result.outcome is outcome, (result.outcome, result.reason, result.trace)


def test_every_fault_has_a_test() -> None:
    planted = {it.name for it in (*matrix2.MUTANTS, *maintenance1.MUTANTS, *tensor.MUTANTS)}
    assert planted == set(KILLED)
