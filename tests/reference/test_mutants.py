"""Every mutant does what it says, to the reference device and over any other."""

from dataclasses import replace

import pytest

from cts.device.protocol import Query, Reply
from cts.findings import DeviceLost, DriverCrash, DriverHang
from cts.program.model import (
    Address,
    Buffer,
    Component,
    Form,
    Grid,
    Layout,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Pointee,
    Program,
    Splat,
    Stamp,
    Storage,
    Store,
    Use,
)
from cts.program.recipe import Pattern, Recipe
from cts.program.records import KHR, RECORD_STRUCTS
from reference.device import ReferenceDevice
from reference.mutants import MUTANTS, names, wrap
from reference.mutants.base import overlay
from tests.reference.building import bands, dispatch, inputs, judge, product, same

F16, F32, BF16 = Component.FLOAT16, Component.FLOAT32, Component.BFLOAT16
S8, U8, S32, U32 = Component.SINT8, Component.UINT8, Component.SINT32, Component.UINT32
HALF = (F16, F32, F32)
SMALL, FULL = Recipe(Pattern.SMALL, 1, 3), Recipe(Pattern.FULL, 1, 2)
SPECIALS, BITS = Recipe(Pattern.SPECIALS, 1), Recipe(Pattern.BITS, 1)


def with_stride(stride, kind=F16, layout=Layout.ROW_MAJOR, storage=Storage.STORAGE_BUFFER):
    """A copy with pointees of 32 bits."""
    matrix = MatrixType(kind, 8, 8, Use.A)
    grid = Grid(2, 2, 32)
    buffers = tuple(Buffer(name, Pointee(U32), 512, storage) for name in "ad")
    load = Address("a", layout, stride, 8, 128)
    store = Address("d", Layout.COLUMN_MAJOR, 12, 8, 128)
    return Program(grid, buffers, (Load("A", matrix, load), Store("A", store)))


def splat(form):
    kind = MatrixType(F16, 8, 8, Use.A)
    buffers = (Buffer("d", Pointee(F16), 64),)
    bits = 0 if form is Form.NULL else 0x3C00
    body = (Splat("S", kind, bits, form), Store("S", Address("d", Layout.ROW_MAJOR, 8)))
    return Program(Grid(1, 1, 32), buffers, body)


def stamp():
    kind = MatrixType(Component.UINT16, 8, 8, Use.A)
    buffers = (Buffer("d", Pointee(Component.UINT16), 64), Buffer("n", Pointee(U32), 32))
    body = (Stamp("S", kind), Store("S", Address("d", Layout.ROW_MAJOR, 8)), Length(kind, "n"))
    return Program(Grid(1, 1, 32), buffers, body)


def chained(links):
    program = product((S8, S32, S32), (8, 8, 8))
    *loads, first, store = program.body
    assert isinstance(first, MulAdd)
    assert isinstance(store, Store)
    adds = [first]
    for link in range(1, links):
        adds.append(replace(first, result=f"D{link}", c=adds[-1].result))
    return replace(program, body=(*loads, *adds, replace(store, value=adds[-1].result)))


KILLERS = {
    "load_ignores_layout": (product(HALF), FULL, "policy"),
    "both_ignore_layout": (product(HALF), FULL, "policy"),
    "stride_in_components": (with_stride(12), BITS, "required"),
    "stride_zero_as_tight": (with_stride(0), BITS, "required"),
    "stride_rounded_up": (with_stride(12), BITS, "required"),
    "offset_ignored_in_workgroup": (with_stride(12, storage=Storage.WORKGROUP), BITS, "required"),
    "second_subgroup_stores_on_first": (with_stride(12), BITS, "required"),
    "first_workgroup_loaded": (with_stride(12), BITS, "required"),
    "store_writes_padding": (with_stride(12), BITS, "required"),
    "last_row_lost": (product(HALF, (16, 8, 16)), FULL, "policy"),
    "second_n_tile_sees_zero": (product(HALF), SMALL, "policy"),
    "last_k_dropped": (product((U8, U32, U32)), BITS, "required"),
    "c_ignored_unless_square": (product((S8, S32, S32), (16, 8, 16)), BITS, "required"),
    "m_and_n_swapped": (product((S8, S32, S32), (16, 8, 16)), BITS, "required"),
    "sign_of_a_ignored": (product((S8, S32, S32)), BITS, "required"),
    "sign_of_c_used": (product((U8, S32, S32)), BITS, "required"),
    "wraps_instead_of_saturating": (
        product((S8, S32, S32), saturating=True),
        Recipe(Pattern.NEAR_MAX, 1, 9),
        "required",
    ),
    "saturates_instead_of_wrapping": (
        product((S8, S32, S32)),
        Recipe(Pattern.NEAR_MAX, 1, 9),
        "required",
    ),
    "saturates_each_step": (
        product((S8, S32, S32), saturating=True),
        Recipe(Pattern.NEAR_MAX, 1, 9),
        "required",
    ),
    "product_clamped_to_16_bits": (
        product((S8, S32, S32)),
        Recipe(Pattern.NEAR_MAX, 1, 9),
        "required",
    ),
    "accumulates_in_float16": (product(HALF), FULL, "policy"),
    "stale_accumulator": (chained(2), BITS, "required"),
    "ninth_accumulator_loses_one": (chained(9), BITS, "required"),
    "nan_to_zero": (with_stride(12, F16), SPECIALS, "policy"),
    "bfloat16_nan_to_infinity": (with_stride(12, BF16), SPECIALS, "policy"),
    "load_flushes_subnormals": (with_stride(12), Recipe(Pattern.SUBNORMALS), "required"),
    "float32_through_float16": (with_stride(12, F32), FULL, "required"),
    "null_is_garbage": (splat(Form.NULL), SMALL, "required"),
    "construct_fills_first_row": (splat(Form.CONSTRUCT), SMALL, "required"),
    "insert_changes_neighbour": (stamp(), SMALL, "required"),
    "length_one_short": (stamp(), SMALL, "required"),
    "layout_of_32_under_64": (
        product(HALF, grid=Grid(2, 1, 64, required=True)),
        FULL,
        "policy",
    ),
}
RANKS = ["quality", "policy", "required"]


@pytest.mark.parametrize("name", KILLERS)
def test_faults_of_programs_are_found(name):
    program, recipe, least = KILLERS[name]
    data = inputs(program, **{b: r for b, r in same(recipe).items() if _loaded(program, b)})
    assert not bands(judge(program, data, ReferenceDevice())) - {"quality"}
    found = bands(judge(program, data, wrap(name, ReferenceDevice())))
    assert RANKS.index(least) <= max((RANKS.index(band) for band in found), default=-1)


def _loaded(program, buffer):
    return any(isinstance(s, Load) and s.address.buffer == buffer for s in program.body)


def test_faults_that_do_not_apply_change_nothing():
    program = product((U8, U32, U32))
    data = inputs(program, **same(SMALL))
    right = ReferenceDevice().execute(dispatch(program, data))
    for name in ("sign_of_a_ignored", "wraps_instead_of_saturating", "nan_to_zero"):
        assert wrap(name, ReferenceDevice()).execute(dispatch(program, data)) == right


class Other:
    """A device with results of its own: every byte is 0x11."""

    def __init__(self):
        self.info = ReferenceDevice().info
        self.closed = False

    def execute(self, request):
        return Reply(buffers=tuple(b"\x11" * len(b.data) for b in request.buffers) * request.repeat)

    def close(self):
        self.closed = True


def test_a_fault_changes_only_what_it_is_about_on_any_device():
    program = product((S8, S32, S32))
    data = inputs(program, **same(BITS))
    inner = Other()
    device = wrap("store_writes_padding", inner)
    reply = device.execute(dispatch(program, data))
    assert set(reply.buffers[0]) == {0x11}
    changed = [byte for byte in reply.buffers[3] if byte != 0x11]
    assert 0 < len(changed) < len(reply.buffers[3]) / 8
    device.close()
    assert inner.closed
    assert overlay(b"abcd", b"wxyz", b"wXyz") == b"aXcd"


def test_the_rare_fault_strikes_once_in_a_thousand_runs():
    program = with_stride(12)
    data = inputs(program, a=BITS)
    device = wrap("once_in_a_thousand", Other())
    first = device.execute(dispatch(program, data, repeat=999))
    assert all(set(buffer) == {0x11} for buffer in first.buffers)
    second = device.execute(dispatch(program, data, repeat=2))
    assert [set(buffer) == {0x11} for buffer in second.buffers] == [True, False, True, True]


def test_crashes_hangs_and_losses_are_raised_as_findings():
    data_of = lambda program: inputs(program, **same(SMALL))  # noqa: E731
    wide = product(HALF, (8, 16, 48))
    with pytest.raises(DriverCrash):
        wrap("crash_at_k_48", ReferenceDevice()).execute(dispatch(wide, data_of(wide)))
    repeated = with_stride(0)
    with pytest.raises(DriverHang):
        wrap("hang_at_stride_zero", ReferenceDevice()).execute(
            dispatch(repeated, inputs(repeated, a=SMALL))
        )
    usual = product(HALF)
    request = dispatch(usual, data_of(usual))
    device = wrap("lost_at_fiftieth_dispatch", ReferenceDevice())
    for _ in range(49):
        device.execute(request)
    with pytest.raises(DeviceLost):
        device.execute(request)
    assert device.execute(request).result == 0


def test_refused_pipelines_say_where():
    program = product((S8, S32, S32), saturating=True)
    request = dispatch(program, inputs(program, **same(SMALL)))
    reply = wrap("pipeline_refused", ReferenceDevice()).execute(request)
    assert (reply.result, reply.phase) == (-13, "pipeline")


def test_the_unusable_record_is_advertised():
    device = wrap("last_record_unusable", ReferenceDevice())
    last = device.info.records[KHR][-1]
    types = tuple(Component(last[name]) for name in ("AType", "CType", "ResultType"))
    program = product(types, (last["MSize"], last["NSize"], last["KSize"]))
    request = dispatch(program, inputs(program, **same(SMALL)))
    assert device.execute(request).result == -13


def ask(name, **fields):
    total = ReferenceDevice().execute(Query(KHR, null=True)).counts[0]
    capacity = total + fields.pop("more", 0)
    request = Query(KHR, capacity=capacity, allocated=total + 3, **fields)
    return total, ReferenceDevice().execute(request), wrap(name, ReferenceDevice()).execute(request)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("one_record_too_many", -1),
        ("success_at_one_less", -1),
        ("last_record_dropped", 0),
        ("header_zeroed", 0),
        ("next_record_zeroed", 0),
        ("record_doubled", 0),
        ("true_is_two", 0),
    ],
)
def test_faults_of_queries_change_the_reply(name, more):
    total, right, wrong = ask(name, more=more)
    assert wrong != right
    size = RECORD_STRUCTS[KHR].bytes
    memory = wrong.buffers[0]
    match name:
        case "one_record_too_many":
            assert wrong.counts == (total - 1,)
            assert set(memory[(total - 1) * size + 16 : total * size]) != {0xA5}
        case "success_at_one_less":
            assert (wrong.results, wrong.counts) == ((0,), (total - 1,))
        case "last_record_dropped":
            assert (wrong.results, wrong.counts) == ((0,), (total - 1,))
        case "header_zeroed":
            assert memory[:4] == bytes(4)
        case "next_record_zeroed":
            assert memory[total * size + 16 : (total + 1) * size] == bytes(size - 16)
        case "record_doubled":
            assert memory[:size] == memory[size : 2 * size]


def test_the_changing_order_changes_every_other_call():
    device = wrap("order_changes", ReferenceDevice())
    request = Query(KHR, capacity=500, allocated=500)
    first, second, third = (device.execute(request) for _ in range(3))
    assert first.buffers != second.buffers
    assert first.buffers == third.buffers


def test_the_aborting_fill_counts_well():
    device = wrap("abort_in_fill", ReferenceDevice())
    assert device.execute(Query(KHR, null=True)).counts[0] > 0
    with pytest.raises(DriverCrash):
        device.execute(Query(KHR, capacity=1, allocated=1))


def test_every_mutant_has_a_name_a_class_and_a_sentence():
    assert len(names()) >= 40
    for name in names():
        mutant = MUTANTS[name]
        assert mutant.name == name
        assert mutant.fault_class
        assert mutant.doc.endswith(".")
    device = wrap("last_k_dropped", ReferenceDevice())
    assert device.info.kind == "mutant"
    assert "last_k_dropped" in device.info.name


def test_unknown_mutants_are_refused():
    with pytest.raises(KeyError, match="no_such_fault"):
        wrap("no_such_fault", ReferenceDevice())
