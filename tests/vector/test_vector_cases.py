"""The cases about vectors pass on the reference device and on other legal ones, and each planted
fault is caught by the case that is about it."""

from __future__ import annotations

import dataclasses

import pytest

from cts.device.protocol import Dispatch, Reply, Request
from cts.outcome import Outcome
from cts.profiles import Profile
from cts.program.types import Component
from cts.program.vector import MatrixMul
from cts.program.vector_program import VectorProgram
from cts.spirv.tools import validate
from reference.component import Rounding, decode, encode
from reference.device import ReferenceDevice
from reference.mutants import MUTANTS
from reference.values import Exact, FloatSum, Ranged
from reference.vector_lanes import LaneValue
from reference.vector_machine import VectorMachine
from tests.vector.bench import ids, mutant, run

V = "cooperative_vector."
LONG = Profile("long", 80, "tests")
QUICK = Profile("quick", 6, "tests")

KILLED = {
    "packed_most_significant_first": ("products.integer.packed", Outcome.FAIL),
    "vector_transpose_ignored": ("products.transposed.float16.training_optimal", Outcome.POLICY),
    "one_matrix_for_all": ("lanes.own_matrix.sint8.table", Outcome.FAIL),
    "one_bias_for_all": ("lanes.own_matrix.packed.reversed", Outcome.FAIL),
    "vector_bias_dropped": ("products.integer.sint8", Outcome.FAIL),
    "bias_of_result_type": ("products.exact.other", Outcome.POLICY),
    "float_input_truncated": ("products.integer.float32_as_sint8", Outcome.FAIL),
    "float_input_wraps": ("products.integer.float32_as_sint8", Outcome.FAIL),
    "vector_last_k_dropped": ("products.exact.float16", Outcome.POLICY),
    "vector_column_major_as_rows": ("products.layouts.float16", Outcome.FAIL),
    "vector_stride_tight": ("products.strides.row_major.storage_buffer", Outcome.FAIL),
    "inferencing_as_training": ("products.layouts.float8_e4m3", Outcome.FAIL),
    "vector_float16_sums": ("products.rounded.other", Outcome.POLICY),
    "vector_integers_saturate": ("products.integer.sint8", Outcome.FAIL),
    "vector_input_sign_ignored": ("products.integer.other", Outcome.FAIL),
    "vector_local_numbers": ("lanes.own_matrix.sint8.invocation", Outcome.FAIL),
    "branch_taken_by_all": ("lanes.divergent.sint8.phi", Outcome.FAIL),
    "exit_ignored": ("lanes.divergent.packed.exit", Outcome.FAIL),
    "last_invocation_lost": ("lanes.launches.sint8", Outcome.FAIL),
    "shared_offset_ignored": ("memory.storage.sint8.workgroup-storage_buffer", Outcome.FAIL),
    "vector_store_rounds_up": ("memory.lengths.float16", Outcome.FAIL),
    "vector_tail_lost": ("memory.lengths.sint8", Outcome.FAIL),
    "outer_product_overwrites": ("training.outer_product.float16.unique", Outcome.FAIL),
    "additions_lost": ("training.sum.float32.contended", Outcome.FAIL),
    "outer_product_transposed": ("training.outer_product.float32.contended", Outcome.FAIL),
    "vector_arithmetic_shift_is_logical": (
        "values.elementwise.shift_right_arithmetic-sint8",
        Outcome.FAIL,
    ),
    "vector_signed_minimum_unsigned": ("values.elementwise.smin-sint32", Outcome.FAIL),
    "vector_step_reversed": ("values.elementwise.step-float16", Outcome.FAIL),
    "vector_functions_inaccurate": ("values.elementwise.exp-float32", Outcome.FAIL),
    "vector_division_inaccurate": ("values.elementwise.fdiv-float32", Outcome.FAIL),
    "vector_null_is_garbage": ("values.constants.null.sint8", Outcome.FAIL),
    "vector_spec_constants_ignored": ("values.constants.spec_constant.uint32", Outcome.FAIL),
    "vector_replicate_first_only": ("values.constants.replicate.float16", Outcome.FAIL),
    "vector_dynamic_index_uniform": ("values.extract_insert.float16.yes", Outcome.FAIL),
    "vector_array_element_zero": ("values.array.float16", Outcome.FAIL),
    "vector_subnormals_garbage": ("values.elementwise.fmul-float16", Outcome.FAIL),
    "vector_run_time_stride_tight": ("products.run_time_stride.sint8.row_major", Outcome.FAIL),
    "vector_padding_multiplied": ("products.padding.float16.row_major", Outcome.POLICY),
    "vector_tile_padding_added": ("training.padding.float16.largest", Outcome.POLICY),
    "vector_specialised_layout_default": ("products.specialized.layout", Outcome.FAIL),
    "vector_load_offset_uniform": ("memory.offsets.invocation.invocation", Outcome.FAIL),
    "vector_offset_of_pointee": ("memory.pointee.4", Outcome.FAIL),
    "additions_in_bfloat16": ("training.sum_rounded.float32", Outcome.FAIL),
    "vector_converts_to_nearest": ("values.convert.f_to_s-float32-sint32", Outcome.FAIL),
    "vector_construct_repeats_four": ("values.construct.float16", Outcome.FAIL),
    "vector_last_parameter_is_first": ("values.through.parameter", Outcome.FAIL),
    "vector_scalar_for_four": ("values.times_scalar.float32", Outcome.FAIL),
}


@pytest.mark.parametrize("name", KILLED)
def test_a_planted_fault_is_caught(name: str) -> None:
    case_id, outcome = KILLED[name]
    result = run(V + case_id, mutant(name), LONG)
    assert result.outcome is outcome, (result.outcome, result.reason, result.trace)


def test_every_fault_of_vectors_has_a_test() -> None:
    faults = {name for name, one in MUTANTS.items() if one.fault_class == "cooperative vector"}
    assert faults == set(KILLED)


def test_findings_are_small_and_name_the_pattern() -> None:
    result = run(V + "lanes.own_matrix.sint8.table", mutant("one_matrix_for_all"), LONG)
    message = result.found[0].message
    assert "component 0 of y of invocation" in message
    assert "each wrong vector is the one of" in message or "all are of" in message


# --- legal devices --------------------------------------------------------------------------


class Downward(VectorMachine):
    """Sums one product after the other in the narrowest type, each rounded down; takes the
    lowest legal value where there is a choice."""

    def kept(self, value: LaneValue) -> LaneValue:
        if isinstance(value, Ranged):
            band = value.accept.required
            interval = band.interval()
            nearest = super().kept(value)
            assert isinstance(nearest, Exact)
            if interval is None or isinstance(band.flags, int) or band.flags.any():
                return nearest
            return Exact(value.component, encode(interval[0], value.component))
        return super().kept(value)

    def summed(self, chain: FloatSum) -> Exact:
        kinds = {chain.c.component, chain.component}
        narrow = Component.FLOAT16 if Component.FLOAT16 in kinds else chain.component
        total = decode(chain.c.bits, chain.c.component)
        for a, b in chain.products:
            left, right = decode(a.bits, a.component), decode(b.bits, b.component)
            for k in range(left.shape[2]):
                product = left[:, :, k, None] * right[:, k, None, :]
                product = decode(encode(product, narrow, Rounding.DOWN), narrow)
                total = decode(encode(total + product, narrow, Rounding.DOWN), narrow)
        return Exact(chain.component, encode(total, chain.component))


class Unquantised(VectorMachine):
    """A float16 input keeps its bits under an 8-bit interpretation."""

    def given(self, it: MatrixMul) -> Exact:
        self._kept = super().given(it)
        return self._kept

    def summed(self, chain: FloatSum) -> Exact:
        ((matrix, _),) = chain.products
        if self._kept.component.is_float:
            chain = dataclasses.replace(chain, products=((matrix, self._kept),))
        return super().summed(chain)


class Legal(ReferenceDevice):
    """The reference device with another machine for vectors."""

    def __init__(self, machine: type[VectorMachine]) -> None:
        super().__init__()
        self._machine = machine

    def execute(self, request: Request) -> Reply:
        if not isinstance(request, Dispatch) or not isinstance(request.program, VectorProgram):
            return super().execute(request)
        names = [buffer.name for buffer in request.program.buffers]
        data = [buffer.data for buffer in request.buffers]
        after = self._machine(request.program, dict(zip(names, data, strict=False))).results()
        return Reply(buffers=(*(after[name] for name in names), *data[len(names) :]))


@pytest.mark.parametrize("machine", [Downward, Unquantised], ids=lambda one: one.__name__)
@pytest.mark.parametrize("prefix", ["products.", "lanes.", "values.", "training.", "memory."])
def test_other_legal_devices_pass(machine: type[VectorMachine], prefix: str) -> None:
    for case_id in ids(prefix)[::4]:
        result = run(case_id, Legal(machine), QUICK)
        allowed = (Outcome.PASS, Outcome.NOT_SUPPORTED, Outcome.QUALITY_WARNING)
        assert result.outcome in allowed, (case_id, result.reason, result.trace)


# --- what is drawn --------------------------------------------------------------------------


class Validating(ReferenceDevice):
    """Validates every module that would reach a driver."""

    seen = 0

    def execute(self, request: Request) -> Reply:
        if isinstance(request, Dispatch):
            assert validate(request.words) is None, validate(request.words)
            Validating.seen += 1
        return super().execute(request)


@pytest.mark.parametrize(
    "case_id", [name for p in ("products.", "lanes.", "values.", "memory.") for name in ids(p)][::3]
)
def test_drawn_modules_are_valid(case_id: str) -> None:
    result = run(case_id, Validating(), Profile("few", 2, "tests"))
    assert result.outcome in (Outcome.PASS, Outcome.NOT_SUPPORTED), result.trace or result.reason


@pytest.mark.parametrize("case_id", ids("training."))
def test_training_passes_on_the_reference_device(case_id: str) -> None:
    result = run(case_id, Validating(), Profile("few", 3, "tests"))
    assert result.outcome is Outcome.PASS, result.trace or result.reason


def test_a_device_without_the_extension_is_not_supported_at_once() -> None:
    device = ReferenceDevice()
    device._info = dataclasses.replace(device.info, extensions={})
    for case_id in ids("")[::7]:
        result = run(case_id, device)
        assert result.outcome is Outcome.NOT_SUPPORTED
        assert "VK_NV_cooperative_vector" in result.reason
