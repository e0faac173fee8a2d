"""Which cases could see which planted fault, and what counts as seeing it.

A fault that breaks a rule of the specification is killed by a failure (or a crash, a time-out, a
lost device), and a fault that only breaks the suite's policy by a policy finding. The cases are
the likeliest ones, so that a kill takes seconds; a mutant that none of them kills is alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cts.case import Case, matches
from cts.outcome import Outcome, worse
from reference.mutants.base import Mutant


@dataclass(frozen=True)
class Target:
    """Queries for the cases to try, in this order; the least outcome that is a kill; and, for a
    mutant that no valid test can see, why."""

    cases: tuple[str, ...]
    least: Outcome = Outcome.FAIL
    alive: str = ""

    @property
    def floor(self) -> Outcome:
        """The least outcome that ends the running of a case."""
        return Outcome.FAIL if worse(self.least, Outcome.POLICY) else self.least

    def kills(self, outcome: Outcome) -> bool:
        """Whether a case that ended so has seen the fault."""
        if outcome in (Outcome.ERROR, Outcome.NOT_RUN):
            return False
        return not worse(self.least, outcome)

    def select(self, cases: Sequence[Case]) -> list[Case]:
        """The cases to try, in the order to try them, each once."""
        found: dict[str, Case] = {}
        for query in self.cases:
            for case in cases:
                if matches(case.id, query):
                    found.setdefault(case.id, case)
        return list(found.values())


_MATRIX, _VECTOR = "cooperative_matrix", "cooperative_vector"
_LOAD_STORE = f"{_MATRIX}.load_store"
_INTEGER, _FLOAT = f"{_MATRIX}.mul_add.integer", f"{_MATRIX}.mul_add.float"
_PROPERTIES, _CONVERSION = f"{_MATRIX}.properties", f"{_VECTOR}.conversion"
_COMPONENTS = f"{_MATRIX}.components"
_STAGES = f"{_VECTOR}.stages"


def _required(*cases: str) -> Target:
    return Target(cases)


def _policy(*cases: str) -> Target:
    return Target(cases, Outcome.POLICY)


def _flaky(*cases: str) -> Target:
    return Target(cases, Outcome.FLAKY)


def _quality(*cases: str) -> Target:
    return Target(cases, Outcome.QUALITY_WARNING)


CLASSES: Mapping[str, Target] = {
    "load and store addressing": _required(
        f"{_LOAD_STORE}.layout.uint16", f"{_LOAD_STORE}.pointee.uint16", f"{_LOAD_STORE}.layout"
    ),
    "shape": _required(f"{_INTEGER}.wrapping"),
    "conversion": _required(f"{_LOAD_STORE}.bits", f"{_CONVERSION}.rounding"),
    "subgroup and wave size": _required(f"{_MATRIX}.execution", f"{_LOAD_STORE}.layout.uint16"),
    "hazards and register pressure": _required(f"{_INTEGER}.dependent", f"{_MATRIX}.execution"),
    "constants": _required(f"{_COMPONENTS}"),
    "signedness, saturation": _required(f"{_INTEGER}.wrapping", f"{_INTEGER}.saturating"),
    "robustness": _required(f"{_LOAD_STORE}.untouched"),
    "property queries": _required(f"{_PROPERTIES}"),
    "arithmetic on elements": _required(f"{_MATRIX}.arithmetic"),
    "specialization, control flow, value flow": _required(f"{_MATRIX}.flow"),
    "synchronisation": _required(f"{_MATRIX}.memory_model"),
    "crashes and hangs": _required(f"{_INTEGER}"),
    "precision": _policy(f"{_FLOAT}.bound"),
}
"""Where to look for a fault that has no entry of its own, by the class of its kind."""

MUTANTS: Mapping[str, Target] = {
    # load and store
    "load_ignores_layout": _required(f"{_LOAD_STORE}.layout.uint16"),
    "both_ignore_layout": _required(f"{_LOAD_STORE}.layout.uint16"),
    "stride_in_components": _required(f"{_LOAD_STORE}.pointee.uint8"),
    "stride_zero_as_tight": _required(f"{_LOAD_STORE}.repeated"),
    "stride_rounded_up": _required(f"{_LOAD_STORE}.untouched.uint16"),
    "offset_ignored_in_workgroup": _required(f"{_LOAD_STORE}.storage.uint16.workgroup_to_*"),
    "second_subgroup_stores_on_first": _required(f"{_LOAD_STORE}.layout.uint16"),
    "first_workgroup_loaded": _required(f"{_LOAD_STORE}.layout.uint16"),
    "store_writes_padding": _required(f"{_LOAD_STORE}.untouched.uint16"),
    "last_row_lost": _required(f"{_LOAD_STORE}.layout.uint16"),
    # multiply-adds
    "accumulates_in_float16": _policy(f"{_FLOAT}.bound.float16_float16_float32"),
    "stale_accumulator": _required(f"{_INTEGER}.dependent"),
    "wraps_instead_of_saturating": _required(f"{_INTEGER}.saturating"),
    "saturates_each_step": _required(f"{_INTEGER}.saturating"),
    "sign_of_c_used": _required(f"{_INTEGER}.wrapping.sint8_uint8_sint32"),
    "sign_of_a_ignored": _required(f"{_INTEGER}.wrapping.sint8_*"),
    # values
    "nan_to_zero": _policy(f"{_LOAD_STORE}.bits.float*"),
    "bfloat16_nan_to_infinity": _policy(f"{_LOAD_STORE}.bits.bfloat16"),
    "load_flushes_subnormals": _required(f"{_LOAD_STORE}.bits.float*"),
    "float32_through_float16": _required(f"{_LOAD_STORE}.bits.float32"),
    "insert_changes_neighbour": _required(f"{_COMPONENTS}.cover"),
    "length_one_short": _required(f"{_COMPONENTS}.length"),
    "once_in_a_thousand": _flaky(f"{_LOAD_STORE}.layout"),
    # elements, flow
    "convert_ties_away": _required(f"{_MATRIX}.convert.controls.to_even.f.float32_to_float16"),
    "rounding_mode_ignored": _required(f"{_MATRIX}.arithmetic.controls.to_even.float32"),
    "convert_low_16_bits_lost": _required(f"{_MATRIX}.convert.elements.f.float32_to_float16"),
    "convert_odd_rows_off_by_one": _required(f"{_MATRIX}.convert.elements.s_to_f.sint8_to_float16"),
    "convert_bfloat16_nan_to_infinity": _required(
        f"{_MATRIX}.convert.controls.specials.f.bfloat16_to_float32"
    ),
    "convert_neighbour_saturates": _required(
        f"{_MATRIX}.convert.saturates_itself.f.float32_to_float8_e4m3"
    ),
    "convert_negative_never_saturates": _required(
        f"{_MATRIX}.convert.saturating.s_to_f.sint32_to_float8_e5m2"
    ),
    "convert_to_integer_nearest": _required(f"{_MATRIX}.convert.elements.f_to_s.float32_to_sint32"),
    "convert_negative_bytes_unsigned": _required(
        f"{_MATRIX}.convert.elements.s_to_f.sint8_to_float32"
    ),
    "convert_unsigned_sign_extended": _required(f"{_MATRIX}.convert.elements.u.uint8_to_uint32"),
    "convert_bfloat16_by_way_of_float16": _required(
        f"{_MATRIX}.convert.newer.f.float32_to_bfloat16"
    ),
    "bitcast_negative_keeps_16_bits": _required(
        f"{_MATRIX}.convert.elements.bits.sint32_to_uint32"
    ),
    "scale_first_eight_columns": _required(f"{_MATRIX}.arithmetic.scale.float16"),
    "scale_last_row_twice": _required(f"{_MATRIX}.arithmetic.scale.uint8"),
    "subtract_swapped_in_second_workgroup": _required(
        f"{_MATRIX}.arithmetic.binary.subtract.float32"
    ),
    "divide_rounds_down": _required(f"{_MATRIX}.arithmetic.binary.divide.sint16"),
    "divide_off_by_three_units": _required(f"{_MATRIX}.arithmetic.binary.divide.float16"),
    "multiply_low_24_bits": _required(f"{_MATRIX}.arithmetic.binary.multiply.uint32"),
    "negate_saturates": _required(f"{_MATRIX}.arithmetic.negate.sint8"),
    "spec_constant_composite_default": _required(
        f"{_MATRIX}.construct.splat.spec_constant.float16"
    ),
    "replicate_even_columns": _required(f"{_MATRIX}.construct.splat.replicate.bfloat16"),
    "initializer_first_tile_only": _required(f"{_MATRIX}.construct.splat.private.sint32"),
    "dynamic_index_off_by_one": _required(f"{_MATRIX}.flow.through.array_dynamic"),
    "array_reads_element_0": _required(f"{_MATRIX}.flow.through.array"),
    "third_parameter_is_first": _required(f"{_MATRIX}.flow.through.parameter"),
    "out_pointer_loses_last_row": _required(f"{_MATRIX}.flow.through.out"),
    "private_of_first_subgroup": _required(f"{_MATRIX}.flow.through.private"),
    "phi_odd_columns_of_last": _required(f"{_MATRIX}.flow.through.phi"),
    "branch_wrong_side_in_second_workgroup": _required(f"{_MATRIX}.flow.branch.one"),
    "inner_branch_always_taken": _required(f"{_MATRIX}.flow.branch.nested"),
    "branch_sides_share_layout": _required(f"{_MATRIX}.flow.branch.one"),
    "loop_runs_once_less": _required(f"{_MATRIX}.flow.loop"),
    "loop_step_stops": _required(f"{_MATRIX}.flow.loop"),
    "loop_carries_eight": _required(f"{_MATRIX}.sequences.loop.integer.uint8_uint8_uint32"),
    "loop_last_is_first": _required(f"{_MATRIX}.sequences.loop.integer.sint8_sint8_sint32"),
    "load_after_store_stale": _required(f"{_MATRIX}.memory_model.revisit.storage_buffer"),
    "exchange_stale_in_odd_rows": _required(f"{_MATRIX}.memory_model.exchange.workgroup.barrier"),
    "make_available_ignored": _required(f"{_MATRIX}.memory_model.exchange.storage_buffer.access"),
    "specialised_layout_default": _required(f"{_MATRIX}.specialization.operand.layout.integer"),
    "specialised_sizes_lose_row": _required(f"{_MATRIX}.specialization.operand.sizes.integer"),
    "required_size_half_idle": _required(f"{_MATRIX}.subgroup_size.integer.8"),
    "second_run_differs": _policy(f"{_MATRIX}.execution.repeated.uint8_uint8_uint32"),
    # queries
    "one_record_too_many": _required(f"{_PROPERTIES}.guards"),
    "success_at_one_less": _required(f"{_PROPERTIES}.incomplete"),
    "last_record_dropped": _required(f"{_PROPERTIES}.count"),
    "header_zeroed": _required(f"{_PROPERTIES}.headers"),
    "next_record_zeroed": _required(f"{_PROPERTIES}.guards"),
    "record_doubled": _policy(f"{_PROPERTIES}.duplicates"),
    "true_is_two": _required(f"{_PROPERTIES}.values"),
    "order_changes": _policy(f"{_PROPERTIES}.agreement"),
    "abort_in_fill": _required(f"{_PROPERTIES}.complete.khr"),
    "last_record_unusable": _policy(f"{_PROPERTIES}.usable"),
    # crashes and hangs
    "crash_at_k_48": _required(f"{_INTEGER}.wrapping.sint8_sint8_sint32", f"{_INTEGER}.wrapping"),
    "hang_at_stride_zero": _required(f"{_LOAD_STORE}.repeated"),
    "pipeline_refused": _required(f"{_INTEGER}.saturating"),
    "lost_at_fiftieth_dispatch": _flaky(f"{_INTEGER}.wrapping"),
    # conversions of cooperative vector matrices
    "rounds_half_away": _required(f"{_CONVERSION}.rounding"),
    "rounds_toward_zero": _required(f"{_CONVERSION}.rounding"),
    "convert_size_off_by_a_row": _required(f"{_CONVERSION}.strided_size"),
    "convert_size_from_source": _required(f"{_CONVERSION}.size_depends_on_destination"),
    "convert_size_from_ignored_stride": _required(f"{_CONVERSION}.size_depends_on_destination"),
    "convert_null_source_refused": _required(f"{_CONVERSION}.size_query"),
    "convert_success_when_too_small": _policy(f"{_CONVERSION}.too_small"),
    "convert_capacity_as_written": _required(f"{_CONVERSION}.written"),
    "convert_column_as_row": _required(f"{_CONVERSION}.layouts"),
    "convert_both_sides_transposed": _required(f"{_CONVERSION}.positions"),
    "convert_stride_ignored": _required(f"{_CONVERSION}.positions"),
    "convert_padding_overwritten": _policy(f"{_CONVERSION}.padding"),
    "convert_guard_written": _required(f"{_CONVERSION}.written"),
    "convert_last_row_dropped": _required(f"{_CONVERSION}.layouts", f"{_CONVERSION}.chains"),
    "convert_columns_wrap": _required(f"{_CONVERSION}.large"),
    "convert_host_address_aligned": _required(f"{_CONVERSION}.host_pointers"),
    "convert_second_ignored": _required(f"{_CONVERSION}.several"),
    "convert_host_saturates": _required(f"{_CONVERSION}.host_and_device"),
    "convert_host_order": _required(f"{_CONVERSION}.interchange"),
    "convert_double_rounding": _required(f"{_CONVERSION}.rounding.float32*"),
    "convert_subnormals_flushed": _required(f"{_CONVERSION}.rounding"),
    "convert_nan_lost": _policy(f"{_CONVERSION}.overflow"),
    "convert_zero_sign_lost": _quality(f"{_CONVERSION}.zero_sign"),
    "convert_payload_lost": _quality(f"{_CONVERSION}.payload"),
    "convert_low_bits_ignored": _required(f"{_CONVERSION}.rounding.float32*"),
    "convert_odd_elements_truncated": _required(f"{_CONVERSION}.rounding"),
    # stages
    "vertex_stores_neighbour": _policy(f"{_STAGES}.product.vertex"),
    "control_first_patch": _policy(f"{_STAGES}.product.tessellation_control"),
    "evaluation_one_side": _policy(f"{_STAGES}.divergent.tessellation_evaluation"),
    "geometry_instances_lost": _required(f"{_STAGES}.memory.geometry"),
    "fragment_first_matrix": _policy(f"{_STAGES}.own_matrix.fragment"),
    "fragment_helpers_store": _required(f"{_STAGES}.helper_stores"),
    "task_return_ignored": _required(f"{_STAGES}.divergent.task"),
    "mesh_shared_memory_low": _required(f"{_STAGES}.workgroup_memory.mesh"),
    "ray_generation_rows_swapped": _policy(f"{_STAGES}.product.ray_generation"),
    "any_hit_twice": _required(f"{_STAGES}.sum.any_hit"),
    "closest_hit_rounds_down": _quality(f"{_STAGES}.same_bits.closest_hit"),
    "miss_bias_lost": _policy(f"{_STAGES}.product.miss"),
    "intersection_last_row_zero": _policy(f"{_STAGES}.product.intersection"),
    "callable_first_bias": _policy(f"{_STAGES}.own_matrix.callable"),
}


def target(mutant: Mutant) -> Target:
    """Where to look for a fault. KeyError for one of an unknown class without an entry."""
    return MUTANTS.get(mutant.name) or CLASSES[mutant.fault_class]


def sample(mutants: Iterable[Mutant], share: int) -> list[Mutant]:
    """Every ``share``-th mutant of each class, beginning with the first: always the same ones,
    and at least one of each class."""
    kinds: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        kinds.setdefault(mutant.fault_class, []).append(mutant)
    return [mutant for kind in kinds.values() for mutant in kind[::share]]
