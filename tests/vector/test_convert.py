"""The elements of a converted matrix: what they must be, may be, and are worth a word."""

from __future__ import annotations

import time

import ml_dtypes
import numpy as np
import pytest

from cts.program.model import Component
from reference.component import bits_dtype, is_nan
from reference.convert import (
    Elements,
    Grade,
    boundaries,
    convertible,
    overflow_choices,
    pattern,
    rounded_bits,
    saturated_bits,
)

F32, F16 = Component.FLOAT32, Component.FLOAT16
E4M3, E5M2, BF16 = Component.FLOAT8_E4M3, Component.FLOAT8_E5M2, Component.BFLOAT16
S8 = Component.SINT8

STORAGE = {
    F32: np.float32,
    F16: np.float16,
    E4M3: ml_dtypes.float8_e4m3fn,
    E5M2: ml_dtypes.float8_e5m2,
    BF16: ml_dtypes.bfloat16,
}
PAIRS = [(F32, F16), (F32, E4M3), (F32, E5M2), (F32, BF16), (F16, E4M3), (F16, E5M2)]


def of(component: Component, *codes: int) -> np.ndarray:
    return np.array([codes], bits_dtype(component))


def grade(source: Component, code: int, destination: Component, actual: int) -> Grade:
    due = Elements.exact(of(source, code), source).converted(destination)
    return Grade(int(due.grade(of(destination, actual))[0, 0]))


@pytest.mark.parametrize(
    ("source", "destination"), [*PAIRS, *((b, a) for a, b in PAIRS)], ids=lambda c: c.label
)
def test_conversion_agrees_with_other_libraries(source: Component, destination: Component) -> None:
    if source is F32:
        high = np.arange(1 << 16, dtype=np.uint32) << 16
        random = np.random.default_rng(3).integers(0, 1 << 32, 200_000, np.uint32)
        bits = np.concatenate([high, random, boundaries(source, destination)])
    else:
        bits = np.arange(1 << source.bits, dtype=bits_dtype(source))
    ours = rounded_bits(bits, source, destination)
    with np.errstate(all="ignore"):
        theirs = bits.view(STORAGE[source]).astype(STORAGE[destination])
    same = ours == theirs.view(bits_dtype(destination))
    assert (same | (is_nan(ours, destination) & np.isnan(theirs.astype(np.float32)))).all()


@pytest.mark.parametrize(
    ("code", "e4m3"),
    [
        (0x3F880000, 0x38),  # 1.0625, a tie
        (0x3F880001, 0x39),
        (0x3F980000, 0x3A),  # 1.1875, a tie
        (0x43E80000, 0x7E),  # 464, the tie between 448 and the next binade
        (0x43E80001, 0x7F),
        (0x3A800000, 0x00),  # half the smallest subnormal
        (0x3A800001, 0x01),
        (0xBC7FFFFF, 0x88),  # just below the smallest normal
    ],
)
def test_float32_to_e4m3_at_the_boundaries(code: int, e4m3: int) -> None:
    assert int(rounded_bits(of(F32, code), F32, E4M3)[0, 0]) == e4m3


def test_exhaustive_tables_of_all_pairs_are_quick() -> None:
    start = time.perf_counter()
    for source, destination in PAIRS[4:]:
        bits = np.arange(1 << 16, dtype=np.uint16)[None]
        due = Elements.exact(bits, source).converted(destination)
        assert (due.grade(due.bits) == Grade.RIGHT).all()
    assert time.perf_counter() - start < 2


def test_which_types_may_meet() -> None:
    assert convertible(F32, F16)
    assert convertible(F16, F32)
    assert convertible(E4M3, F16)
    assert convertible(E5M2, F32)
    assert convertible(S8, S8)
    assert not convertible(E4M3, E5M2)
    assert not convertible(S8, Component.UINT8)
    assert not convertible(F16, S8)
    assert not convertible(F32, Component.FLOAT64)


def test_in_range_values_have_one_result() -> None:
    assert grade(F32, 0x3F880000, E4M3, 0x38) is Grade.RIGHT
    assert grade(F32, 0x3F880000, E4M3, 0x39) is Grade.WRONG
    assert grade(F16, 0x5F08, E4M3, 0x7E) is Grade.RIGHT  # 450 rounds to 448
    assert grade(F16, 0x5F08, E4M3, 0x7F) is Grade.WRONG
    assert grade(F16, 0x0001, E5M2, 0x00) is Grade.RIGHT
    assert grade(F32, 0x477FEFFF, F16, 0x7BFF) is Grade.RIGHT  # just under 65520
    assert grade(F32, 0x477FEFFF, F16, 0x7C00) is Grade.WRONG


def test_overflow_may_go_to_infinity_or_the_largest_value() -> None:
    for destination, special, largest in ((F16, 0x7C00, 0x7BFF), (E5M2, 0x7C, 0x7B)):
        assert grade(F32, 0x7F000000, destination, special) is Grade.RIGHT
        assert grade(F32, 0x7F000000, destination, largest) is Grade.RIGHT
        assert grade(F32, 0x7F000000, destination, 0) is Grade.POLICY
    assert grade(F32, 0x44000000, E4M3, 0x7F) is Grade.RIGHT
    assert grade(F32, 0x44000000, E4M3, 0xFF) is Grade.RIGHT
    assert grade(F32, 0x44000000, E4M3, 0x7E) is Grade.RIGHT
    assert grade(F32, 0x44000000, E4M3, 0xFE) is Grade.POLICY


def test_infinity_and_nan_are_policy_only() -> None:
    assert grade(F16, 0x7C00, E5M2, 0x7C) is Grade.RIGHT
    assert grade(F16, 0x7C00, E5M2, 0x7B) is Grade.POLICY
    assert grade(F16, 0x7C00, E4M3, 0x7F) is Grade.RIGHT
    assert grade(F16, 0x7C00, E4M3, 0x7E) is Grade.RIGHT
    assert grade(F16, 0x7E00, E4M3, 0xFF) is Grade.RIGHT
    assert grade(F16, 0x7E00, E4M3, 0x00) is Grade.POLICY
    assert grade(F32, 0x7F800000, F32, 0x7F7FFFFF) is Grade.POLICY


def test_lost_signs_of_zero_are_worth_a_word() -> None:
    assert grade(F32, 0x80000000, F32, 0) is Grade.QUALITY
    assert grade(F32, 0x80000000, F32, 0x80000000) is Grade.RIGHT
    assert grade(F32, 0x80000001, E4M3, 0x00) is Grade.QUALITY
    assert grade(F32, 0x80000001, E4M3, 0x80) is Grade.RIGHT


def test_equal_types_keep_their_bits() -> None:
    assert grade(F16, 0x0001, F16, 0x0001) is Grade.RIGHT
    assert grade(F16, 0x0001, F16, 0x0000) is Grade.WRONG
    assert grade(F16, 0x7E01, F16, 0x7E00) is Grade.QUALITY
    assert grade(S8, 0x80, S8, 0x80) is Grade.RIGHT
    assert grade(S8, 0x80, S8, 0x81) is Grade.WRONG


def test_both_choices_travel_through_a_chain() -> None:
    start = Elements.exact(of(F32, 0x7F000000, 0x3F800000), F32)
    there = start.converted(F16)
    back = there.converted(F32)
    assert back.grade(of(F32, 0x7F800000, 0x3F800000)).tolist() == [[0, 0]]
    assert back.grade(of(F32, 0x477FE000, 0x3F800000)).tolist() == [[0, 0]]
    narrow = there.converted(E4M3).converted(F16)
    assert narrow.grade(of(F16, 0x5F00, 0x3C00)).tolist() == [[0, 0]]
    assert narrow.grade(of(F16, 0x7E00, 0x3C00)).tolist() == [[0, 0]]
    assert narrow.grade(of(F16, 0x7C00, 0x3C00)).tolist() == [[Grade.POLICY, 0]]


def test_the_choice_on_overflow_is_counted() -> None:
    due = Elements.exact(of(F32, 0x7F000000, 0xFF000000, 0x3F800000), F32).converted(F16)
    assert overflow_choices(due, of(F16, 0x7C00, 0xFBFF, 0x3C00)) == {"special": 1, "largest": 1}


def test_saturation_takes_the_largest_value() -> None:
    assert int(saturated_bits(of(F32, 0x7F800000), F32, E4M3)[0, 0]) == 0x7E
    assert int(saturated_bits(of(F32, 0xC7000000), F32, E5M2)[0, 0]) == 0xF8


def test_boundaries_hold_every_midpoint_and_its_neighbours() -> None:
    points = boundaries(F32, E4M3)
    assert {0x3F880000, 0x3F880001, 0x3F87FFFF, 0x43E80000, 0x43E80001, 0x7F800000} <= set(
        points.tolist()
    )
    assert len(points) == len(set(points.tolist()))
    assert len(boundaries(F32, F16)) > 300_000
    assert 0x80000000 in set(boundaries(F32, F32).tolist())


def test_moved_elements_are_named() -> None:
    bits = np.arange(9, dtype=np.uint8).reshape(3, 3)
    due = Elements.exact(bits, S8)
    wrong = bits != bits.T
    assert "transposed" in pattern(due, bits.T, wrong)
    shifted = bits.copy()
    shifted[1] = 0
    assert "every wrong element is in row 1" in pattern(due, shifted, shifted != bits)
    rolled = np.roll(bits, 1, axis=0)
    assert "the row -1" in pattern(due, rolled, rolled != bits)
