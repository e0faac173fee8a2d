"""What the strategies draw is valid, supported by a device that has everything, and judged."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cts import judge
from cts.draw.bodies import enlarged, part, part_layouts
from cts.draw.combinations import combinations, first_combinations
from cts.draw.elements import (
    ARITHMETIC,
    CONVERSIONS,
    arithmetic,
    conversions,
    convertible,
    modes_for,
    negations,
    scalings,
    types_of,
)
from cts.draw.flow import branches, constructions, exchanges, loops, passages, revisits
from cts.draw.products import blocked, chainable, chained, from_arrays
from cts.draw.programs import Sample
from cts.draw.robust import accesses
from cts.draw.sequences import LONGEST, sequences
from cts.draw.variety import Variety, variety
from cts.program.arithmetic import Conversion, Operator
from cts.program.controls import Mode
from cts.program.flow import Via
from cts.program.model import (
    Address,
    Branch,
    Component,
    Form,
    Layout,
    MatrixType,
    MulAdd,
    Pointee,
    Repeat,
    Robust,
    Storage,
    Through,
    Use,
    walk,
)
from cts.program.valid import invalid
from reference.adders import Arithmetic, Order
from reference.component import Rounding
from reference.device import ReferenceDevice
from reference.machine import Behaviour

INFO = ReferenceDevice().info
LEGAL = (
    ReferenceDevice(),
    ReferenceDevice(Behaviour(arithmetic=Arithmetic(Order.PAIRWISE, Rounding.TOWARD_ZERO))),
    ReferenceDevice(Behaviour(arithmetic=Arithmetic(Order.UNIT_ERRORS, fraction_bits=24))),
    ReferenceDevice(Behaviour(arithmetic=Arithmetic(Order.FUSED, fraction_bits=13, block=16))),
)
types = st.sampled_from([it for one in ARITHMETIC for it in types_of(INFO, one)])
CONVERTED = st.sampled_from(
    [(by, it) for by, *components in CONVERSIONS for it in convertible(INFO, *components)]
)
products = st.sampled_from([it for it in combinations(INFO) if not it.saturating])


def judged(sample: Sample, device: ReferenceDevice) -> None:
    """The sample runs on the device, and nothing is worse than a remark."""
    one = sample.program
    assert invalid(one) is None
    assert judge.unsupported(one, device.info) is None
    inputs = judge.images(one, sample.operands)
    request = judge.request(one, inputs, device.info)
    assert judge.lacking(request, device.info) == []
    expected = judge.expect(one, inputs)
    verdict = judge.compare(request, expected, device.execute(request).buffers)
    worse = [it for it in verdict.violations if it.band != "quality"]
    assert not worse, worse[0].message


def elementwise(data: st.DataObject) -> Sample:
    matrix = data.draw(types)
    operator = data.draw(st.sampled_from(tuple(Operator)))
    return data.draw(
        st.one_of(
            arithmetic(INFO, matrix, operator), negations(INFO, matrix), scalings(INFO, matrix)
        )
    )


def converting(data: st.DataObject) -> Sample:
    by, pair = data.draw(CONVERTED)
    return data.draw(conversions(INFO, pair, by))


def flowing(data: st.DataObject) -> Sample:
    matrix = data.draw(types)
    via, form = data.draw(st.sampled_from(tuple(Via))), data.draw(st.sampled_from(tuple(Form)))
    storage = data.draw(st.sampled_from((Storage.STORAGE_BUFFER, Storage.PHYSICAL_STORAGE_BUFFER)))
    return data.draw(
        st.one_of(
            passages(INFO, matrix, via),
            constructions(INFO, matrix, form),
            branches(INFO, matrix, nested=data.draw(st.booleans())),
            loops(INFO, matrix),
            exchanges(INFO, matrix, storage, by_access=data.draw(st.booleans())),
            exchanges(INFO, matrix, storage, rounds=3),
            revisits(INFO, matrix, storage),
        )
    )


def multiplying(data: st.DataObject) -> Sample:
    combination = data.draw(products)
    drawn = [from_arrays(INFO, combination)]
    if combination.types.c is combination.types.result:
        drawn += [blocked(INFO, combination), blocked(INFO, combination, looped=False)]
    if chainable(INFO, combination):
        drawn.append(chained(INFO, combination))
    return data.draw(st.one_of(drawn))


def leaving(data: st.DataObject) -> Sample:
    robust = data.draw(st.sampled_from(tuple(Robust)))
    return data.draw(accesses(INFO, data.draw(types), robust, stores=data.draw(st.booleans())))


def generated(data: st.DataObject) -> Sample:
    return data.draw(sequences(INFO))


KINDS = (elementwise, converting, flowing, multiplying, leaving, generated)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(data=st.data(), seed=st.integers(0, 1000))
def test_samples_are_valid_and_judged_right(kind, data: st.DataObject, seed: int) -> None:
    with variety(Variety(64, seed)):
        sample = kind(data)
    judged(sample, data.draw(st.sampled_from(LEGAL)))


@settings(deadline=None, max_examples=300)
@given(data=st.data(), seed=st.integers(0, 1000))
def test_loops_step_only_where_matrices_may_start(data: st.DataObject, seed: int) -> None:
    # Columns of 40 bytes: a second matrix below the first one couldn't start there.
    tall = MatrixType(Component.SINT8, 40, 8, Use.A)
    with variety(Variety(64, seed)):
        sample = data.draw(loops(INFO, tall))
    assert invalid(sample.program) is None


class TestSequences:
    @settings(deadline=None)
    @given(data=st.data())
    def test_are_no_longer_than_they_may_be(self, data: st.DataObject) -> None:
        with variety(Variety(64, 1)):
            one = data.draw(sequences(INFO)).program
        multiplications = [it for it in one.body if isinstance(it, MulAdd)]
        assert len(multiplications) <= LONGEST + 1
        assert len({it.name for it in one.buffers}) == len(one.buffers)

    def test_have_all_kinds_of_statement(self) -> None:
        seen = set()

        @settings(deadline=None)
        @given(data=st.data())
        def collect(data: st.DataObject) -> None:
            with variety(Variety(256, 7)):
                one = data.draw(sequences(INFO)).program
            seen.update(type(it) for it in walk(one.body))

        collect()
        assert {MulAdd, Branch, Repeat, Through} <= seen

    def test_need_a_combination(self) -> None:
        empty = replace(INFO, records={}, features=frozenset())

        @given(data=st.data())
        def nothing(data: st.DataObject) -> None:
            assert data.draw(sequences(empty)) is None

        nothing()


class TestParts:
    tall = MatrixType(Component.FLOAT16, 20, 8, Use.ACCUMULATOR)

    def test_lie_below_each_other_and_side_by_side(self) -> None:
        address = Address("x", Layout.ROW_MAJOR, 100, 7)
        kind = Pointee(Component.FLOAT16)
        assert part(address, self.tall, kind, 2, 3).offset == 7 + 2 * 20 * 100 + 3 * 8
        column_major = replace(address, layout=Layout.COLUMN_MAJOR)
        assert part(column_major, self.tall, kind, 2, 3).offset == 7 + 3 * 8 * 100 + 2 * 20

    def test_count_elements_of_the_pointee(self) -> None:
        address = Address("x", Layout.ROW_MAJOR, 4)
        assert part(address, self.tall, Pointee(Component.UINT32), 0, 1).offset == 4

    def test_start_where_matrices_may_start(self) -> None:
        # A column of 20 halves is 40 bytes, no multiple of 16.
        assert part_layouts(self.tall, 2, 1) == (Layout.ROW_MAJOR,)
        assert part_layouts(self.tall, 1, 2) == tuple(Layout)

    def test_make_up_a_larger_matrix(self) -> None:
        whole = enlarged(self.tall, 2, 3)
        assert (whole.rows, whole.columns) == (40, 24)


class TestModes:
    def test_cover_the_widths_of_the_components(self) -> None:
        found = modes_for(INFO, Mode.TO_EVEN, Component.FLOAT16, Component.FLOAT32)
        assert [it.width for it in found] == [16, 32]

    def test_cover_what_the_device_cannot_tell_apart(self) -> None:
        name = "VkPhysicalDeviceFloatControlsProperties.roundingModeIndependence"
        for independence, widths in ((0, [16, 64]), (2, [16, 32, 64])):
            info = replace(INFO, properties={**INFO.properties, name: independence})
            found = modes_for(info, Mode.TO_ZERO, Component.FLOAT16)
            assert [it.width for it in found] == widths

    def test_are_none_where_the_device_lacks_one(self) -> None:
        name = "VkPhysicalDeviceFloatControlsProperties.shaderRoundingModeRTEFloat32"
        info = replace(INFO, properties={**INFO.properties, name: 0})
        assert modes_for(info, Mode.TO_EVEN, Component.FLOAT32) == ()


def test_the_first_extension_has_its_own_combinations() -> None:
    found = first_combinations(INFO)
    assert found
    assert all(
        it.record.startswith("vkGetPhysicalDeviceCooperativeMatrixPropertiesNV#") for it in found
    )
    assert not any(it.saturating for it in found)


def test_every_conversion_of_the_specification_is_listed() -> None:
    assert {by for by, _, _ in CONVERSIONS} == set(Conversion)
    assert (Conversion.F, Component.FLOAT32, Component.FLOAT32) not in CONVERSIONS
    assert (Conversion.U, Component.UINT8, Component.SINT32) not in CONVERSIONS
    assert (Conversion.BITS, Component.SINT8, Component.UINT8) in CONVERSIONS
