"""A planted fault for each declaration of cases that the kill table alone says nothing of.

Where a line of :mod:`cts.kill_table` has cases of one declaration only, the kill is one of theirs.
The other declarations stand here: each with a query for its cases that should see a fault, without
the leading ``cooperative_``, and the fault's name. In front of that stands what counts as seeing
it, as in the kill table: what a case of that level can say.
"""

from __future__ import annotations

from collections.abc import Mapping

FAULTS: Mapping[str, str] = {
    # cooperative matrix
    "matrix.block_load.clamp.mirror": "tensor_mirror_off_by_one",
    "matrix.block_load.storage.physical_storage_buffer": "tensor_physical_offset_ignored",
    "matrix.block_load.view": "tensor_clip_ignored",
    "matrix.coordinate.element.b": "coordinates_swapped",
    "matrix.flexible.components.cover.odd": "insert_changes_neighbour",
    "matrix.flexible.components.length.one": "length_one_short",
    "matrix.flexible.components.rebuild.few": "component_0_for_1",
    "matrix.flexible.mul_add.float.float16_float16_float32.odd": "policy: flexible_last_block",
    "matrix.maintenance1.required.alternatives": "quality: last_record_dropped",
    "matrix.maintenance1.usable.workgroup.one": "policy: flexible_unusable_workgroup",
    "matrix.mul_add.float.arrays.float16_float16_float32": "policy: array_reads_element_0",
    "matrix.mul_add.float.dependent.float16_float16_float16": "policy: stale_accumulator",
    "matrix.mul_add.float.exact.float16_float16_float32": "policy: last_k_dropped",
    "matrix.mul_add.float.exact_signed.*_float8_e4m3_float32": "policy: c_through_float16",
    "matrix.mul_add.float.repeated_lines.float16_float16_float32": "policy: stride_zero_as_tight",
    "matrix.mul_add.float.storage.*.physical_storage_buffer": "policy: physical_offset_ignored",
    "matrix.mul_add.integer.arrays.uint8_uint8_uint32": "dynamic_index_off_by_one",
    "matrix.mul_add.integer.repeated_lines.sint8_sint8_uint32": "stride_zero_repeats_element",
    "matrix.mul_add.integer.storage.*.workgroup": "offset_ignored_in_workgroup",
    "matrix.nv.arithmetic.sint16": "divide_rounds_down",
    "matrix.nv.construct.null.float16": "null_is_garbage",
    "matrix.nv.flow.private": "private_of_first_subgroup",
    "matrix.nv.length.*.length": "length_one_short",
    "matrix.nv.load_store.sint8.workgroup": "workgroup_columns_swapped",
    "matrix.nv.mul_add.float.float16_float16_float32": "policy: last_k_dropped",
    "matrix.nv.mul_add.integer.uint8_uint8_uint32": "integer_sums_in_float32",
    "matrix.nv.robust.two.load": "robust_load_repeats_last",
    "matrix.per_element.after_reduction.row": "reduce_later_rows_as_first",
    "matrix.properties.lists_agree": "policy: no_powers_of_two",
    "matrix.properties.mandatory": "vectors_without_feature",
    "matrix.properties.workgroup_invocations": "policy: last_member_forgotten",
    "matrix.sequences.blocks.float.float16_float16_float16": "policy: ninth_accumulator_loses_one",
    "matrix.sequences.chain.float.float32_float32_float32": "policy: load_after_store_stale",
    "matrix.sequences.chain.integer.other": "load_after_store_stale",
    "matrix.sequences.generated": "private_of_first_subgroup",
    "matrix.sequences.loop.float.float16_float16_float32": "policy: loop_carries_eight",
    "matrix.subgroup_size.float.8": "policy: required_size_half_idle",
    "matrix.tensor.component.uint64": "high_word_lost_in_odd_columns",
    "matrix.workgroup_scope.float_mul_add.*.few": "policy: workgroup_lower_half",
    # cooperative vector
    "vector.conversion.chains": "convert_host_order",
    "vector.conversion.overflow_choice.float16-float8_e4m3": "policy: convert_host_saturates",
    "vector.lanes.own_arithmetic.phi": "branch_taken_by_all",
    "vector.memory.bits.float16": "vector_subnormals_garbage",
    "vector.products.network.2": "policy: vector_step_reversed",
    "vector.properties.agreement": "policy: order_changes",
    "vector.properties.count": "last_record_dropped",
    "vector.properties.duplicates": "policy: record_doubled",
    "vector.properties.guards": "one_record_too_many",
    "vector.properties.headers": "header_zeroed",
    "vector.properties.incomplete": "success_at_one_less",
    "vector.properties.values": "true_is_two",
    "vector.stages.helper_sums": "fragment_helpers_store",
    "vector.stages.network.miss": "policy: miss_bias_lost",
    "vector.training.outer_product_rounded.float32": "additions_in_bfloat16",
    "vector.training.scaled": "convert_host_order",
    "vector.values.constants_used.spec_constant": "vector_spec_constants_ignored",
}
