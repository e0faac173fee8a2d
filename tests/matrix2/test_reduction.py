"""Reductions: what the oracle permits, and that it demands the same value throughout."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cts.program.expression import Operator
from cts.program.matrix2 import Reduce, Reduction
from cts.program.model import Component, MatrixType, Use
from reference.accept import Level
from reference.component import Rounding, decode, encode, rounded
from reference.expectation import Violation
from reference.layout import Region
from reference.matrix import acceptance as plain
from reference.reduction import StoredReduction, acceptance, groups, reduced
from reference.values import Exact, Reduced

F16 = Component.FLOAT16


def value(numbers: np.ndarray, component: Component = F16) -> Exact:
    return Exact(component, encode(np.asarray(numbers, np.float64), component))


def reduce(
    reduction: Reduction, operator: Operator, given: Exact, rows: int, columns: int
) -> Exact | Reduced:
    target = MatrixType(given.component, rows, columns, Use.ACCUMULATOR)
    return reduced(Reduce("r", target, "m", reduction, operator), given)


def test_groups_are_rows_columns_quads_and_all() -> None:
    numbers = np.arange(16).reshape(1, 4, 4)
    assert groups(numbers, Reduction.ROW)[0, 1, 0].tolist() == [4, 5, 6, 7]
    assert groups(numbers, Reduction.COLUMN)[0, 0, 2].tolist() == [2, 6, 10, 14]
    assert groups(numbers, Reduction.QUAD)[0, 1, 0].tolist() == [8, 9, 12, 13]
    assert groups(numbers, Reduction.ALL).shape == (1, 1, 1, 16)


def test_sums_of_small_whole_numbers_have_one_result() -> None:
    found = reduce(Reduction.ROW, Operator.ADD, value(np.arange(8).reshape(1, 2, 4)), 2, 6)
    assert isinstance(found, Exact)
    assert decode(found.bits, F16)[0].tolist() == [[6.0] * 6, [22.0] * 6]


def test_integers_wrap_and_compare_with_their_sign() -> None:
    s8 = Component.SINT8
    given = Exact(s8, np.array([[[100, 100, 0x80, 1]]], np.uint8))
    total = reduce(Reduction.ROW, Operator.ADD, given, 1, 1)
    least = reduce(Reduction.ROW, Operator.MIN, given, 1, 1)
    assert isinstance(total, Exact)
    assert isinstance(least, Exact)
    assert total.bits.item() == (100 + 100 + 0x80 + 1) % 256
    assert least.bits.item() == 0x80


@pytest.mark.parametrize("rounding", list(Rounding))
@pytest.mark.parametrize("reduction", [Reduction.ROW, Reduction.QUAD])
def test_every_order_and_rounding_is_permitted(reduction: Reduction, rounding: Rounding) -> None:
    random = np.random.default_rng(7)
    numbers = rounded(random.normal(size=(40, 4, 8)), F16)
    target = (4, 1) if reduction is Reduction.ROW else (2, 4)
    found = reduce(reduction, Operator.ADD, value(numbers), *target)
    assert isinstance(found, Reduced)
    elements = groups(numbers, reduction)
    order = random.permutation(elements.shape[3])
    total = elements[..., order[0]]
    for at in order[1:]:
        total = rounded(total + elements[..., at], F16, rounding)
    levels, _ = acceptance(found).levels(encode(total.reshape(40, *target), F16))
    assert levels is None


def test_a_dropped_element_isnt_permitted() -> None:
    numbers = rounded(np.random.default_rng(3).uniform(1, 2, size=(1, 4, 8)), F16)
    found = reduce(Reduction.ROW, Operator.ADD, value(numbers), 4, 1)
    assert isinstance(found, Reduced)
    wrong = rounded(numbers[:, :, :-1].sum(axis=2, keepdims=True), F16)
    levels, _ = acceptance(found).levels(encode(wrong, F16))
    assert levels is not None
    assert (levels == 3).all()


@pytest.mark.parametrize("numbers", [[1.0, 2.0, 4.0, 8.0], [1.0, 0.9995, 0.0003, 7.0]])
def test_what_is_only_assumed_to_be_reduced_breaks_policy_at_worst(numbers: list[float]) -> None:
    operand = value(rounded(np.array([[numbers]]), F16))
    for assumed, level in ((False, Level.REQUIRED), (True, Level.POLICY)):
        known = dataclasses.replace(operand, assumed=assumed)
        found = reduce(Reduction.ROW, Operator.ADD, known, 1, 1)
        accept = acceptance(found) if isinstance(found, Reduced) else plain(found)
        levels, _ = accept.levels(encode(np.array([[[100.0]]]), F16))
        assert levels is not None
        assert levels.item() == level


class TestOneValueForAll:
    TYPE = MatrixType(F16, 2, 2, Use.ACCUMULATOR)

    def test_it_is_policy_where_only_policy_says_that_the_elements_are_finite(self) -> None:
        for assumed, band in ((False, "required"), (True, "policy")):
            (uneven,) = self.violations([[1.0, 1.0], [2.0, 3.0]], Reduction.ROW, assumed)
            assert uneven.band == band

    def judge(self, numbers: list[list[float]], reduction: Reduction) -> list[str]:
        return [it.message for it in self.violations(numbers, reduction)]

    def violations(
        self, numbers: list[list[float]], reduction: Reduction, assumed: bool = False
    ) -> list[Violation]:
        bits = encode(np.array([numbers]), F16)
        given = rounded(np.random.default_rng(1).normal(size=(1, 2, 8)), F16)
        found = reduce(Reduction.ROW, Operator.ADD, value(given), 2, 2)
        assert isinstance(found, Reduced)
        free = np.zeros((1, 1, 1), bool)
        image = np.frombuffer(bits.tobytes(), np.uint8)
        where = Region(0, (1, 1, 2, 2), (8, 8, 4, 2), 2)
        stored = StoredReduction(
            0, "r", self.TYPE, where, acceptance(found), list, reduction, free, assumed
        )
        violations, _ = stored.judge("R", image, image)
        return [it for it in violations if "not the same value" in it.message]

    def test_a_row_with_two_values_is_wrong(self) -> None:
        assert self.judge([[1.0, 1.0], [2.0, 2.001953125]], Reduction.ROW)

    def test_rows_may_differ_from_each_other(self) -> None:
        assert not self.judge([[1.0, 1.0], [2.0, 2.0]], Reduction.ROW)

    def test_columns_and_matrices_have_the_rule_too(self) -> None:
        assert self.judge([[1.0, 3.0], [2.0, 3.0]], Reduction.COLUMN)
        assert self.judge([[1.0, 1.0], [2.0, 2.0]], Reduction.ALL)

    def test_neighbourhoods_have_no_such_rule(self) -> None:
        assert not self.judge([[1.0, 4.0], [2.0, 3.0]], Reduction.QUAD)

    def test_zeros_of_both_signs_are_the_same_value(self) -> None:
        assert not self.judge([[0.0, -0.0], [2.0, 2.0]], Reduction.ROW)
