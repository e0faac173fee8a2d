"""Positions of matrix elements, strided and in the reference device's own layouts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cts.program.model import Component
from cts.program.vector import MatrixLayout
from reference.vector_layout import (
    gather,
    line_bytes,
    scatter,
    strided_bytes,
    strided_positions,
)
from reference.vector_opaque import optimal_bytes, optimal_positions, padding

ROW, COLUMN, INFERENCING, TRAINING = MatrixLayout
COMPONENTS = [
    Component.FLOAT32,
    Component.FLOAT16,
    Component.SINT8,
    Component.FLOAT8_E4M3,
    Component.FLOAT8_E5M2,
]


def test_row_major_elements_follow_the_stride_in_bytes() -> None:
    at = strided_positions(3, 5, ROW, 24, 4)
    assert at[2, 3].tolist() == [2 * 24 + 3 * 4 + i for i in range(4)]
    assert strided_bytes(3, 5, Component.FLOAT32, ROW, 24) == 2 * 24 + 20
    assert line_bytes(3, 5, Component.FLOAT32, ROW) == 20


def test_column_major_elements_follow_the_stride_in_bytes() -> None:
    at = strided_positions(3, 5, COLUMN, 10, 2)
    assert at[2, 3].tolist() == [3 * 10 + 2 * 2, 3 * 10 + 2 * 2 + 1]
    assert strided_bytes(3, 5, Component.FLOAT16, COLUMN, 10) == 4 * 10 + 6


def test_an_optimal_layout_has_no_strided_positions() -> None:
    with pytest.raises(ValueError, match="no order"):
        strided_positions(1, 1, TRAINING, 1, 1)
    with pytest.raises(ValueError, match="no optimal"):
        optimal_positions(1, 1, ROW, 1)


@given(
    st.integers(1, 40),
    st.integers(1, 70),
    st.sampled_from(COMPONENTS),
    st.sampled_from([INFERENCING, TRAINING]),
)
def test_optimal_positions_are_distinct_and_inside(
    rows: int, columns: int, component: Component, layout: MatrixLayout
) -> None:
    at = optimal_positions(rows, columns, layout, component.bytes)
    size = optimal_bytes(rows, columns, component, layout)
    assert at.shape == (rows, columns, component.bytes)
    assert len(np.unique(at)) == at.size
    assert at.min() >= 0
    assert at.max() < size
    assert size > at.size, "there is always padding"


@given(st.integers(1, 40), st.integers(1, 70), st.sampled_from(COMPONENTS))
def test_training_optimal_is_an_array_of_whole_elements(
    rows: int, columns: int, component: Component
) -> None:
    at = optimal_positions(rows, columns, TRAINING, component.bytes)
    assert (at[..., 0] % component.bytes == 0).all()
    assert (np.diff(at, axis=-1) == 1).all()
    assert optimal_bytes(rows, columns, component, TRAINING) % component.bytes == 0


def test_inferencing_optimal_elements_are_scattered() -> None:
    at = optimal_positions(2, 2, INFERENCING, 4)
    assert at[0, 0].tolist() == [7 * 32 + 8 * i for i in range(4)]


def test_the_two_optimal_layouts_differ_from_every_strided_one() -> None:
    for layout in (INFERENCING, TRAINING):
        at = optimal_positions(8, 8, layout, 2)
        for other in (
            strided_positions(8, 8, ROW, 16, 2),
            strided_positions(8, 8, COLUMN, 16, 2),
            optimal_positions(8, 8, TRAINING if layout is INFERENCING else INFERENCING, 2),
        ):
            assert (at != other).any()


def test_padding_of_the_training_layout_is_finite_and_not_zero() -> None:
    assert np.frombuffer(padding(Component.FLOAT16, TRAINING), np.float16)[0] == 4
    assert np.frombuffer(padding(Component.FLOAT32, TRAINING), np.float32)[0] == -2
    assert np.isnan(np.frombuffer(padding(Component.FLOAT32, INFERENCING), np.float32)[0])


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(COMPONENTS), st.integers(0, 3))
def test_what_is_scattered_is_gathered_again(
    rows: int, columns: int, component: Component, layout: int
) -> None:
    kind = MatrixLayout(layout)
    bits = np.arange(rows * columns, dtype=np.uint32).reshape(rows, columns)
    if kind.optimal:
        at = optimal_positions(rows, columns, kind, component.bytes)
    else:
        at = strided_positions(rows, columns, kind, 64, component.bytes)
    memory = np.zeros(4096, np.uint8)
    scatter(memory, at, bits, component)
    assert (gather(memory, at, component) == bits).all()
