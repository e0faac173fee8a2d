"""The reference device: legal in every choice, exact about memory."""

import itertools
import struct
from dataclasses import replace

import pytest

from cts.device.protocol import Describe, Dispatch, Query
from cts.program.model import Component, Grid, Layout, Storage
from cts.program.recipe import Pattern, Recipe
from cts.program.records import RECORD_STRUCTS, decode, unsupported
from cts.program.requires import missing
from cts.spirv.request import dispatch as lowered
from reference.adders import Arithmetic, Order
from reference.catalog import FLOATS, INTEGERS, PROPERTIES, RECORDS
from reference.component import Rounding
from reference.device import INCOMPLETE, SUCCESS, ReferenceDevice
from reference.machine import Behaviour, Ownership
from tests.reference.building import bands, dispatch, inputs, judge, product, same

F16, F32 = Component.FLOAT16, Component.FLOAT32
COMMANDS = tuple(RECORD_STRUCTS)
commands = pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[27:])

PROPERTIES2 = "vkGetPhysicalDeviceCooperativeMatrixProperties2EXT"


def asked(command, **fields):
    """A query for the list in the catalog."""
    size = (("scope", 3), ("subgroupSize", 32)) if command == PROPERTIES2 else ()
    return Query(command, parameters=size, **fields)


BEHAVIOURS = {
    "ascending": Behaviour(Arithmetic(Order.ASCENDING)),
    "descending, truncating": Behaviour(Arithmetic(Order.DESCENDING, Rounding.TOWARD_ZERO)),
    "pairwise, up": Behaviour(Arithmetic(Order.PAIRWISE, Rounding.UP)),
    "flushing": Behaviour(Arithmetic(Order.ASCENDING, flushes=True)),
    "fused, 24 bits": Behaviour(Arithmetic(Order.FUSED, accumulator=F32, fraction_bits=23)),
    "drops signs of zeros": Behaviour(drops_zero_sign=True),
    "quiets NaNs": Behaviour(quiets_nan=True),
    "blocked ownership": Behaviour(ownership=Ownership.BLOCKED),
    "doubled ownership": Behaviour(ownership=Ownership.DOUBLED),
    "records reversed": Behaviour(reverses_records=True),
}


@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=list(BEHAVIOURS))
@pytest.mark.parametrize("pattern", [Pattern.SMALL, Pattern.FULL, Pattern.BITS, Pattern.SUBNORMALS])
def test_no_legal_behaviour_is_accused(behaviour, pattern):
    device = ReferenceDevice(behaviour)
    for types in ((F16, F32, F32), (F16, F16, F16), (Component.BFLOAT16, F32, F32)):
        program = product(types, (8, 16, 8))
        found = bands(judge(program, inputs(program, **same(Recipe(pattern, 4, 2))), device))
        assert found <= {"quality"}


def test_every_type_of_the_catalog_runs():
    for types in (*FLOATS, *INTEGERS):
        if types[0] is not types[1]:
            continue
        program = product((types[0], types[2], types[3]), (8, 8, 8), grid=Grid(1, 1, 32))
        data = inputs(program, **same(Recipe(Pattern.SMALL, 1, 3)))
        assert not bands(judge(program, data, ReferenceDevice())), types


@pytest.mark.parametrize("storage", Storage)
@pytest.mark.parametrize("layout", Layout)
def test_a_lowered_request_runs_and_passes_the_matcher(storage, layout):
    device = ReferenceDevice()
    program = product((F16, F32, F32), storage=storage, load=layout)
    data = inputs(program, **same(Recipe(Pattern.SMALL, 1, 3)))
    request = lowered(program, data, device.info)
    assert unsupported(program, device.info) is None
    from cts.program.requires import Requires

    asked = Requires(frozenset(request.features), frozenset(request.extensions))
    assert missing(asked, device.info) == []
    reply = device.execute(request)
    assert reply.result == 0
    assert len(reply.buffers) == len(request.buffers)


def test_repeated_dispatches_start_from_the_same_buffers():
    program = product((F16, F32, F32))
    data = inputs(program, **same(Recipe(Pattern.SMALL, 1, 3)))
    reply = ReferenceDevice().execute(dispatch(program, data, repeat=3))
    assert len(reply.buffers) == 12
    assert reply.buffers[:4] == reply.buffers[4:8] == reply.buffers[8:]


def test_a_module_without_its_program_is_refused():
    with pytest.raises(ValueError, match="program is missing"):
        ReferenceDevice().execute(Dispatch(b"", (), (1, 1, 1)))
    assert ReferenceDevice().execute(Describe()).result == 0


def test_what_it_says_of_itself_is_complete():
    info = ReferenceDevice().info
    assert info.subgroup_size == 32
    assert set(info.records) == set(COMMANDS)
    assert all(info.records[command] for command in COMMANDS)
    least = PROPERTIES["VkPhysicalDeviceSubgroupSizeControlProperties.minSubgroupSize"]
    most = PROPERTIES["VkPhysicalDeviceSubgroupSizeControlProperties.maxSubgroupSize"]
    assert least <= info.subgroup_size <= most


@commands
def test_lists_hold_no_record_twice(command):
    records = [tuple(sorted(record.items())) for record in RECORDS[command]]
    assert len(set(records)) == len(records)
    assert all(set(record) == set(RECORD_STRUCTS[command].members) for record in RECORDS[command])


@commands
def test_counting_writes_nothing(command):
    reply = ReferenceDevice().execute(asked(command, capacity=7, null=True, allocated=3))
    assert reply.results == (SUCCESS,)
    assert reply.counts == (len(RECORDS[command]),)
    assert set(reply.buffers[0][-256:]) == {0xA5}


@commands
@pytest.mark.parametrize("missing_records", [-1, 0, 1, None])
def test_filling_writes_what_fits_and_says_so(command, missing_records):
    total = len(RECORDS[command])
    capacity = 0 if missing_records is None else total - missing_records
    request = asked(command, capacity=capacity, allocated=total + 2, poison=0x5A)
    reply = ReferenceDevice().execute(request)
    written = min(capacity, total)
    assert reply.counts == (written,)
    assert reply.results == (SUCCESS if written == total else INCOMPLETE,)
    memory, size = reply.buffers[0], RECORD_STRUCTS[command].bytes
    assert decode(command, memory, written) == [dict(r) for r in RECORDS[command][:written]]
    for index in range(total + 2):
        kind, _, chain = struct.unpack_from("<IIQ", memory, index * size)
        assert (kind, chain) == (RECORD_STRUCTS[command].structure_type, 0)
    assert set(memory[written * size + 16 : (written + 1) * size]) == {0x5A}
    assert set(memory[-256:]) == {0x5A}


def test_saturating_combinations_have_a_list_of_their_own():
    plain = asked(PROPERTIES2, null=True)
    saturating = replace(plain, parameters=(*plain.parameters, ("flags", 1)))
    counts = [ReferenceDevice().execute(query).counts[0] for query in (saturating, plain)]
    assert 0 < counts[0] < counts[1]


def test_the_order_of_records_is_a_choice():
    reverse = ReferenceDevice(Behaviour(reverses_records=True))
    for command in COMMANDS:
        request = asked(command, capacity=10**3, allocated=10**3)
        forward = ReferenceDevice().execute(request)
        backward = reverse.execute(request)
        count = forward.counts[0]
        assert (
            decode(command, backward.buffers[0], count)
            == decode(command, forward.buffers[0], count)[::-1]
        )
        assert reverse.info.records[command] == RECORDS[command][::-1]


def test_every_thread_gets_memory_of_its_own():
    reply = ReferenceDevice().execute(Query(COMMANDS[0], capacity=2, allocated=2, threads=3))
    assert len(reply.buffers) == len(reply.counts) == len(reply.results) == 3


def test_unknown_commands_are_refused():
    with pytest.raises(ValueError, match="no enumeration command"):
        ReferenceDevice().execute(Query("vkGetPhysicalDeviceProperties"))


def test_subgroup_sizes_make_no_difference_to_results():
    results = set()
    for size, subgroups in itertools.product((8, 64), (1,)):
        program = product((F16, F32, F32), grid=Grid(4, subgroups, size, required=True))
        data = inputs(program, **same(Recipe(Pattern.SMALL, 1, 3)))
        results.add(ReferenceDevice().execute(dispatch(program, data)).buffers[3])
        assert unsupported(replace(program), ReferenceDevice().info) is None
    assert len(results) == 1
