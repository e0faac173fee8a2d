from fractions import Fraction

import numpy as np
import pytest

from reference.exact import integer_products, signed_parts, sum_products


def integers(seed, shape, low, high, dtype):
    return np.random.default_rng(seed).integers(low, high, shape, dtype, endpoint=True)


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (-128, 127, np.int64),
        (0, 255, np.uint64),
        (-(2**15), 2**15 - 1, np.int64),
        (-(2**31), 2**31 - 1, np.int64),
        (0, 2**32 - 1, np.uint64),
        (-(2**63), 2**63 - 1, np.int64),
        (0, 2**64 - 1, np.uint64),
    ],
)
def test_integer_products_are_the_low_64_bits_of_the_exact_ones(low, high, dtype):
    a, b = integers(1, (2, 3, 9), low, high, dtype), integers(2, (2, 9, 4), low, high, dtype)
    exact = a.astype(object) @ b.astype(object)
    assert np.array_equal(integer_products(a, b), (exact % 2**64).astype(np.uint64))


def test_operands_of_different_signedness_multiply():
    a, b = (
        integers(1, (1, 4, 8), -(2**31), -1, np.int64),
        integers(2, (1, 8, 4), 0, 2**32 - 1, np.uint64),
    )
    exact = a.astype(object) @ b.astype(object)
    assert np.array_equal(integer_products(a, b), (exact % 2**64).astype(np.uint64))


@pytest.mark.parametrize("top", [100, 2**31 - 1, 2**62])
def test_signed_parts_enclose_the_sums_of_each_sign(top):
    a, b = integers(1, (2, 5, 8), -top, top, np.int64), integers(2, (2, 8, 5), -top, top, np.int64)
    products = a.astype(object)[:, :, :, None] * b.astype(object)[:, None, :, :]
    positive = np.where(products > 0, products, 0).sum(axis=2)
    negative = np.where(products < 0, products, 0).sum(axis=2)
    upper, lower = signed_parts(a, b)
    assert all(Fraction(u) >= p for u, p in zip(upper.flat, positive.flat, strict=True))
    assert all(Fraction(w) <= n for w, n in zip(lower.flat, negative.flat, strict=True))
    if top == 100:
        assert np.array_equal(upper, positive.astype(float))
        assert np.array_equal(lower, negative.astype(float))


@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize("spread", [2, 30])
def test_float_sums_err_by_no_more_than_they_say(narrow, spread):
    rng = np.random.default_rng(3)

    def numbers(*shape):
        values = rng.normal(size=shape) * 2.0 ** rng.integers(-spread, spread, shape)
        return values.astype(np.float32).astype(np.float64) if narrow else values

    pairs = [(numbers(1, 4, 20), numbers(1, 20, 4)) for _ in range(2)]
    c = numbers(1, 4, 4)
    sums = sum_products(pairs, c, narrow, signed=True)
    for row in range(4):
        for column in range(4):
            addends = [Fraction(float(c[0, row, column]))] + [
                Fraction(float(a[0, row, k])) * Fraction(float(b[0, k, column]))
                for a, b in pairs
                for k in range(20)
            ]
            size = sum(abs(x) for x in addends)
            error = abs(Fraction(float(sums.value[0, row, column])) - sum(addends))
            assert error <= Fraction(sums.error) * size
            assert (
                abs(Fraction(float(sums.size[0, row, column])) - size) <= size * Fraction(2) ** -45
            )


def test_doubled_sums_survive_cancellation():
    """1e16 + 1 - 1e16 in plain binary64 is 0."""
    a = np.array([[[1e16, 1.0, -1e16]]])
    b = np.ones((1, 3, 1))
    assert (
        sum_products([(a, b)], np.zeros((1, 1, 1)), narrow=False, signed=True).value[0, 0, 0] == 1
    )
