"""What the oracle expects of whole programs, and what it says where it finds something else."""

from dataclasses import replace

import numpy as np
import pytest

from cts.program.model import (
    Address,
    Buffer,
    Component,
    Grid,
    Layout,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Pointee,
    Program,
    Rebuild,
    Splat,
    Stamp,
    Storage,
    Store,
    Use,
)
from cts.program.recipe import Pattern, Recipe
from reference.component import decode, encode, float_format
from reference.device import ReferenceDevice
from reference.evaluate import Undetermined, evaluate
from reference.layout import OutOfBounds, region
from reference.machine import Machine
from reference.patterns import common_factor
from tests.reference.building import (
    FULL,
    SIGNED,
    SMALL,
    altered,
    bands,
    carrier,
    inputs,
    judge,
    product,
    same,
)

F16, F32 = Component.FLOAT16, Component.FLOAT32
S8, U8, S32, U32 = Component.SINT8, Component.UINT8, Component.SINT32, Component.UINT32
HALF = (F16, F32, F32)


def copy(component, rows=8, columns=4, grid=None):
    """Loads a matrix and stores it elsewhere."""
    grid = grid or Grid(1, 2, 32)
    kind = MatrixType(component, rows, columns, Use.ACCUMULATOR)
    size = rows * (columns + 4) * grid.tiles
    address = Address("a", Layout.ROW_MAJOR, columns + 4, 0, rows * (columns + 4))
    buffers = (Buffer("a", carrier(component), size), Buffer("d", carrier(component), size))
    body = (Load("A", kind, address), Store("A", replace(address, buffer="d")))
    return Program(grid, buffers, body)


def where_stored(program, name="d"):
    types = program.types()
    for statement in program.body:
        if isinstance(statement, Store) and statement.address.buffer == name:
            kind = types[statement.value]
            return region(kind, statement.address, program.buffer(name), program.grid)
    raise KeyError(name)


def after(program, data, change):
    """The right content of d with ``change`` applied to its elements."""
    result = np.frombuffer(Machine(program, data).run()["d"], np.uint8).copy()
    where = where_stored(program)
    where.write(result, change(where.read(result).copy()))
    return result.tobytes()


def check(program, data, change):
    return evaluate(program, data)["d"].check(after(program, data, change))


# --- copies ----------------------------------------------------------------------------------


@pytest.mark.parametrize("component", [c for c in Component if "PACKED" not in c.name])
def test_a_copy_is_fine_and_one_wrong_bit_is_not(component):
    program = copy(component)
    pattern = Pattern.BITS if component.is_integer else Pattern.FULL
    data = inputs(program, a=Recipe(pattern, 3))
    assert not check(program, data, lambda bits: bits).violations
    flipped = check(program, data, lambda bits: bits ^ bits.dtype.type(1))
    assert [v.band for v in flipped.violations] == ["required"]


@pytest.mark.parametrize("component", [F16, F32, Component.BFLOAT16, Component.FLOAT8_E4M3])
def test_copies_of_subnormals_must_not_be_flushed(component):
    program = copy(component)
    data = inputs(program, a=Recipe(Pattern.SUBNORMALS, 3))
    flushed = check(program, data, lambda bits: bits & bits.dtype.type(0))
    assert [v.band for v in flushed.violations] == ["required"]


def test_the_sign_of_a_zero_may_be_lost_in_a_copy_with_a_warning():
    program = copy(F16)
    data = inputs(program, a=Recipe(Pattern.ZEROS))
    found = check(program, data, lambda bits: bits | np.uint16(0x8000))
    assert [v.band for v in found.violations] == ["quality"]


@pytest.mark.parametrize(
    ("before", "now", "band"),
    [
        (0x7E00, 0x7E01, "quality"),  # another payload
        (0x7D00, 0x7F00, "quality"),  # a signaling NaN made quiet
        (0x7E00, 0x7C00, "policy"),  # no longer NaN
        (0x7C00, 0x7BFF, "policy"),  # infinity became finite
        (0x7C00, 0xFC00, "policy"),
        (0x3C00, 0x7E00, "required"),  # a number became NaN
    ],
)
def test_what_may_become_of_specials_in_a_copy(before, now, band):
    program = copy(F16)
    from cts.program.recipe import Plant

    data = inputs(program, a=Recipe(Pattern.ONES, plants=(Plant(1, 2, 3, before),)))

    def change(bits):
        bits[1, 2, 3] = now
        return bits

    found = check(program, data, change)
    assert [v.band for v in found.violations] == [band]
    worst = found.violations[0].detail["worst"]
    assert (worst["tile"], worst["row"], worst["column"]) == (1, 2, 3)


@pytest.mark.parametrize("byte", [0, -1, 8 * 8 * 2 - 1])
def test_a_byte_outside_the_elements_must_stay(byte):
    program = copy(F16)
    data = inputs(program, a=FULL)
    result = altered(after(program, data, lambda bits: bits), byte, 0xFF)
    if byte == 0:
        assert evaluate(program, data)["d"].check(result).violations[0].kind == "value"
        return
    found = evaluate(program, data)["d"].check(result).violations
    assert [(v.band, v.kind) for v in found] == [("required", "guard")]
    assert "no store writes" in found[0].message


def test_a_buffer_that_is_only_read_must_stay():
    program = copy(F16)
    data = inputs(program, a=FULL)
    found = evaluate(program, data)["a"].check(altered(data["a"], 5, 1)).violations
    assert [(v.band, v.kind) for v in found] == [("required", "guard")]
    assert "only read" in found[0].message


def test_replies_of_another_length_are_refused():
    program = copy(F16)
    data = inputs(program, a=FULL)
    with pytest.raises(ValueError, match="d has"):
        evaluate(program, data)["d"].check(b"")


# --- products --------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", Storage)
@pytest.mark.parametrize("load", Layout)
@pytest.mark.parametrize("types", [HALF, (S8, S32, S32), (U8, S32, S32)])
def test_the_reference_device_computes_what_is_expected(types, load, storage):
    program = product(types, (8, 24, 16), load=load, storage=storage)
    data = inputs(program, **same(SIGNED))
    judgements = judge(program, data, ReferenceDevice())
    assert not bands(judgements)
    assert judgements["d"].matrices == 4


@pytest.mark.parametrize("a_type", [S8, U8])
@pytest.mark.parametrize("c_type", [S32, U32])
def test_integers_wrap_and_extend_as_the_operands_say(a_type, c_type):
    program = product((a_type, c_type, c_type))
    data = inputs(program, **same(Recipe(Pattern.BITS, 5)))
    judgements = judge(program, data, ReferenceDevice())
    assert not bands(judgements)
    wrong = check(program, data, lambda bits: bits + np.uint32(1))
    assert [v.band for v in wrong.violations] == ["required"]


@pytest.mark.parametrize("types", [(S8, S32, S32), (U8, U32, U32)])
def test_saturating_sums_clamp_and_are_determined_while_products_fit(types):
    program = product(types, saturating=True)
    extreme = Recipe(Pattern.NEAR_MAX, 5, 9)
    data = inputs(program, **same(extreme))
    judgements = judge(program, data, ReferenceDevice())
    assert not bands(judgements)
    limits = {0x7FFFFFFF, 0x80000000} if types[1] is S32 else {0xFFFFFFFF}
    result = where_stored(program).read(np.frombuffer(Machine(program, data).run()["d"], np.uint8))
    assert limits & set(np.unique(result).tolist())
    found = check(program, data, lambda bits: bits ^ np.uint32(4))
    assert [v.band for v in found.violations] == ["required"]


def test_saturating_products_that_overflow_are_undefined():
    """Partial sums of 8-bit products leave 16 bits, in some order."""
    types = (S8, Component.SINT16, Component.SINT16)
    program = product(types, saturating=True)
    data = inputs(program, **same(Recipe(Pattern.NEAR_MAX, 5, 3)))
    assert not check(program, data, lambda bits: bits ^ np.uint16(1)).violations


def chained(types, links=2):
    """Multiply-adds whose C is the one before."""
    program = product(types)
    load_a, load_b, load_c, first, store = program.body
    body = [load_a, load_b, load_c, first]
    for link in range(1, links):
        body.append(replace(first, result=f"D{link}", c=body[-1].result))
    body.append(replace(store, value=body[-1].result))
    return replace(program, body=tuple(body))


@pytest.mark.parametrize("types", [HALF, (F16, F16, F16), (S8, S32, S32)])
def test_chains_are_judged_as_one_sum(types):
    program = chained(types, 3)
    for recipe in (SMALL, FULL if types[0] is F16 else SIGNED):
        data = inputs(program, **same(recipe))
        assert not bands(judge(program, data, ReferenceDevice()))
    data = inputs(program, **same(SMALL))
    assert check(program, data, lambda bits: bits + bits.dtype.type(1)).violations


def test_building_from_a_scalar_and_rebuilding_keep_values():
    program = product(HALF)
    first, *_ = (s for s in program.body if isinstance(s, MulAdd))
    kind = first.type
    body = (
        Splat("S", kind, int(encode(np.ones(1), F32)[0])),
        Rebuild("R", "S"),
        Store("R", program.body[-1].address),
    )
    program = replace(program, body=body)
    data = inputs(program)
    assert not check(program, data, lambda bits: bits).violations
    assert (
        decode(
            where_stored(program).read(np.frombuffer(Machine(program, data).run()["d"], np.uint8)),
            F32,
        ).min()
        == 1
    )
    found = check(program, data, lambda bits: bits + np.uint32(1))
    assert [v.band for v in found.violations] == ["required"]


# --- memory within a program -----------------------------------------------------------------


def test_a_tile_may_read_back_what_it_stored():
    program = product((S8, S32, S32))
    store = program.body[-1]
    back = Load("E", program.types()["D"], store.address)
    again = replace(store, value="E")
    program = replace(program, body=(*program.body, back, again))
    data = inputs(program, **same(SIGNED))
    assert not bands(judge(program, data, ReferenceDevice()))


def test_exact_float_results_may_be_read_back_as_operands():
    program = product((F16, F16, F16))
    store, add = program.body[-1], program.body[-2]
    back = Load("E", MatrixType(F16, 16, 16, Use.A), store.address)
    second = replace(add, result="F", a="E", c="C")
    program = replace(program, body=(*program.body, back, second, replace(store, value="F")))
    data = inputs(program, a=Recipe(Pattern.IDENTITY), b=SMALL, c=SMALL)
    assert not bands(judge(program, data, ReferenceDevice()))
    with pytest.raises(Undetermined):
        evaluate(program, inputs(program, a=FULL, b=FULL, c=FULL))


def test_tiles_that_race_are_refused():
    program = copy(F16)
    load, store = program.body
    with pytest.raises(Undetermined, match="twice"):
        evaluate(
            replace(program, body=(load, replace(store, address=replace(store.address, pitch=0)))),
            inputs(program, a=FULL),
        )
    shared = replace(load, address=replace(load.address, pitch=0))
    onto = replace(store, address=replace(store.address, buffer="a"))
    with pytest.raises(Undetermined, match="another tile"):
        evaluate(replace(program, body=(shared, onto)), inputs(program, a=FULL))


def test_matrices_outside_their_buffer_are_refused():
    program = copy(F16)
    load, store = program.body
    far = replace(store, address=replace(store.address, offset=10**6))
    with pytest.raises(OutOfBounds):
        evaluate(replace(program, body=(load, far)), inputs(program, a=FULL))


# --- components ------------------------------------------------------------------------------


def stamping(component, rows=8, columns=8, shift=0):
    grid = Grid(2, 2, 32)
    kind = MatrixType(component, rows, columns, Use.A)
    size = rows * columns
    buffers = (
        Buffer("d", Pointee(component), size * grid.tiles),
        Buffer("n", Pointee(U32), grid.subgroup_size * grid.tiles),
    )
    body = (
        Stamp("S", kind, shift),
        Store("S", Address("d", Layout.ROW_MAJOR, columns, 0, size)),
        Length(kind, "n"),
    )
    return Program(grid, buffers, body)


def test_every_component_belongs_to_one_element():
    program = stamping(Component.UINT16)
    data = inputs(program)
    found = judge(program, data, ReferenceDevice())
    assert not bands(found)

    def shuffled(bits):
        return bits.reshape(len(bits), -1)[:, ::-1].reshape(bits.shape)

    def doubled(bits):
        bits[0, 0, 0] = bits[0, 0, 1]
        return bits

    def strange(bits):
        bits[0, 0, 0] = 0xFFFF
        return bits

    def owned_twice(bits):
        return bits + bits.dtype.type(64)

    assert not check(program, data, shuffled).violations
    for change, band in ((doubled, "required"), (strange, "required"), (owned_twice, "quality")):
        assert [v.band for v in check(program, data, change).violations] == [band]


def test_codes_that_wrap_are_counted():
    program = stamping(Component.UINT8, 32, 32)
    data = inputs(program)
    assert not check(program, data, lambda bits: bits).violations
    found = check(program, data, lambda bits: bits & np.uint8(0))
    assert [v.band for v in found.violations] == ["policy"]
    high = stamping(Component.UINT8, 32, 32, shift=8)
    assert not check(high, inputs(high), lambda bits: bits).violations


@pytest.mark.parametrize(
    ("lengths", "band"),
    [([2] * 32, None), ([1] * 32, "required"), ([4] * 32, "quality"), ([4, 0] * 16, "quality")],
)
def test_lengths_must_add_up_to_all_elements(lengths, band):
    program = stamping(Component.UINT16)
    data = inputs(program)
    actual = np.array(lengths * 4, np.uint32).tobytes()
    found = evaluate(program, data)["n"].check(actual).violations
    assert [v.band for v in found] == ([band] if band else [])


# --- what findings say -----------------------------------------------------------------------


def pattern(change, types=(S8, S32, S32), sizes=(16, 16, 16)):
    program = product(types, sizes)
    data = inputs(program, **same(Recipe(Pattern.BITS if types[0] is S8 else Pattern.SMALL, 3)))
    violation = check(program, data, change).violations[0]
    return violation.detail["pattern"]


def column_seven(bits):
    bits[:, :, 7] ^= 5
    return bits


def row_three_of_tile_one(bits):
    bits[1, 3] ^= np.arange(1, 17, dtype=bits.dtype) * bits.dtype.type(3)
    return bits


def one_element(bits):
    bits[2, 4, 5] ^= 1
    return bits


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (column_seven, "every element of column 7 in every tile"),
        (row_three_of_tile_one, "every element of row 3 tile 1"),
        (one_element, "only element (4, 5) tile 2"),
        (lambda bits: bits.transpose(0, 2, 1).copy(), "transposed"),
        (lambda bits: bits[[1, 0, 2, 3]], "tile 0 holds tile 1's values"),
        (lambda bits: np.roll(bits, 1, axis=2), "each element is the one 1 column(s) before it"),
        (lambda bits: bits * 0 + 9, "all of them hold 0x9"),
    ],
)
def test_patterns_of_wrong_elements_are_named(change, expected):
    assert expected in pattern(change)


def test_a_quotient_out_of_range_is_no_common_factor():
    largest = np.full(3, float_format(Component.FLOAT64).maximum)
    with np.errstate(all="raise"):
        assert common_factor(largest, largest / 4) == "each is about 4 times what it should be"
        assert common_factor(largest, np.full(3, 0.25)) == ""
        assert common_factor(np.ones(3), np.zeros(3)) == ""


def fault(**operands):
    """The result with operands changed before the multiplication."""

    def change(program, data):
        machine = Machine(program, data)
        original = machine.multiply_add

        def wrong(statement):
            for name, edit in operands.items():
                machine.values[name] = edit(machine.values[name].copy())
            return original(statement)

        machine.multiply_add = wrong
        return machine.run()["d"]

    return change


def zero_last(bits):
    bits[:, :, -1] = 0
    return bits


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (fault(A=zero_last), "the products of k = 15 are missing"),
        (fault(A=lambda bits: bits * 0), "equals C: the product is missing"),
        (fault(C=lambda bits: bits * 0), "equals A x B: C is missing"),
        (fault(B=lambda bits: bits.transpose(0, 2, 1).copy()), "B is transposed"),
        (fault(A=lambda bits: np.broadcast_to(bits[:1], bits.shape)), "A of tile 0 is used"),
    ],
)
@pytest.mark.parametrize("types", [(S8, S32, S32), HALF])
def test_faults_of_products_are_named(change, expected, types):
    program = product(types)
    data = inputs(program, **same(Recipe(Pattern.FULL, 3, 1)))
    found = evaluate(program, data)["d"].check(change(program, data)).violations[0]
    assert expected in found.detail["pattern"]


def test_wrong_signedness_and_wrong_overflow_are_named():
    program = product((S8, S32, S32))
    data = inputs(program, **same(Recipe(Pattern.BITS, 3)))
    unsigned = replace(program.body[3], a_signed=False)
    wrong = Machine(replace(program, body=(*program.body[:3], unsigned, program.body[4])), data)
    found = evaluate(program, data)["d"].check(wrong.run()["d"]).violations[0]
    assert "A has the wrong signedness" in found.detail["pattern"]


def test_memory_that_was_never_written_is_named():
    program = product(HALF)
    data = inputs(program, **same(SMALL))
    found = evaluate(program, data)["d"].check(data["d"]).violations[0]
    assert "memory was left as it was" in found.detail["pattern"]


def test_details_are_plain_json_and_name_the_worst_element():
    import json

    program = product(HALF)
    data = inputs(program, **same(FULL))

    def change(bits):
        bits[3, 2, 1] = encode(np.full(1, 1e6), F32)[0]
        return bits

    found = check(program, data, change).violations[0]
    detail = json.loads(json.dumps(found.detail, allow_nan=False))
    assert detail["worst"]["tile"] == 3
    assert (detail["worst"]["row"], detail["worst"]["column"]) == (2, 1)
    assert detail["worst"]["actual"] == "1000000"
    assert detail["worst"]["ratio"] > 1000
    assert detail["errors"]["rows"] == 16
    assert len(detail["errors"]["ratios"]) == 16
    assert "Sums of 24 bits" in detail["explanation"]
    assert detail["wrong"] == 1


def test_small_errors_are_not_taken_for_another_fault():
    """Every hypothesis is near a result that is nearly right."""
    program = product(HALF)
    data = inputs(program, **same(FULL))

    def change(bits):
        return encode(decode(bits, F32) * (1 + 2.0**-9), F32)

    found = check(program, data, change).violations[0].detail["pattern"]
    assert "missing" not in found
    assert "tile 0" not in found
    assert "transposed" not in found
