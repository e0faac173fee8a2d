"""Tensor addressing: examples worked out by hand, and the two implementations compared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cts import judge
from cts.draw.tensor_programs import tensor_copies
from cts.draw.tensors import layouts, views
from cts.program.model import Component, MatrixType, Use
from cts.program.tensor import (
    BlockSize,
    Clamp,
    ClampValue,
    Clip,
    Dimensions,
    Slice,
    Strides,
    TensorLayout,
    TensorView,
)
from cts.program.valid import invalid
from reference.device import ReferenceDevice
from reference.evaluate import evaluate
from reference.layout import OutOfBounds
from reference.machine import Machine
from reference.tensor import CLIPPED, INSIDE, OUTSIDE, layout_state, places

INFO = ReferenceDevice().info


def line(clamp: Clamp, offset: int, size: int = 4, span: int = 8) -> TensorLayout:
    return TensorLayout(1, clamp, (Dimensions((size,)), Slice((offset,), (span,))))


class TestClampModes:
    @pytest.mark.parametrize(
        ("clamp", "expected"),
        [
            (Clamp.TO_EDGE, [0, 0, 0, 1, 2, 3, 3, 3]),
            (Clamp.REPEAT, [2, 3, 0, 1, 2, 3, 0, 1]),
            (Clamp.MIRROR, [2, 1, 0, 1, 2, 3, 2, 1]),
        ],
    )
    def test_loads_outside_wrap_or_stick(self, clamp: Clamp, expected: list[int]) -> None:
        found = places(line(clamp, -2), None, 1, 8, storing=False)
        assert found.index[0].tolist() == expected
        assert (found.kind == INSIDE).all()

    def test_constant_mode_takes_the_clamp_value_outside(self) -> None:
        layout = line(Clamp.CONSTANT, -1)
        layout = TensorLayout(1, Clamp.CONSTANT, (*layout.steps, ClampValue(7)))
        found = places(layout, None, 1, 8, storing=False)
        assert found.kind[0].tolist() == [OUTSIDE, 0, 0, 0, 0, OUTSIDE, OUTSIDE, OUTSIDE]
        assert found.clamp_value == 7

    @pytest.mark.parametrize("clamp", list(Clamp)[1:])
    def test_stores_outside_are_discarded_in_every_mode(self, clamp: Clamp) -> None:
        found = places(line(clamp, 2), None, 1, 8, storing=True)
        assert found.kind[0].tolist() == [INSIDE] * 2 + [OUTSIDE] * 6

    def test_without_a_mode_the_outside_is_refused(self) -> None:
        with pytest.raises(OutOfBounds):
            places(line(Clamp.UNDEFINED, 1), None, 1, 8, storing=False)


class TestLayouts:
    def test_dimensions_set_strides_from_the_blocks_before_them(self) -> None:
        state = layout_state(
            TensorLayout(3, Clamp.UNDEFINED, (BlockSize((1, 2, 4)), Dimensions((3, 5, 10))))
        )
        assert state.stride == [9, 3, 1]
        assert state.span == [3, 5, 10]

    def test_block_sizes_after_the_dimensions_leave_the_strides(self) -> None:
        state = layout_state(
            TensorLayout(2, Clamp.UNDEFINED, (Dimensions((4, 8)), BlockSize((2, 4))))
        )
        assert state.stride == [8, 1]

    def test_slices_add_offsets_and_replace_spans(self) -> None:
        steps = (Dimensions((9,)), Slice((2,), (5,)), Slice((3,), (4,)))
        state = layout_state(TensorLayout(1, Clamp.UNDEFINED, steps))
        assert (state.offset, state.span) == ([5], [4])

    def test_dimensions_reset_what_a_slice_set(self) -> None:
        steps = (Dimensions((9,)), Slice((2,), (5,)), Dimensions((6,)))
        state = layout_state(TensorLayout(1, Clamp.UNDEFINED, steps))
        assert (state.offset, state.span) == ([0], [6])

    def test_a_slice_is_read_row_by_row(self) -> None:
        steps = (Dimensions((4, 10)), Strides((16, 1)), Slice((1, 3), (2, 4)))
        found = places(TensorLayout(2, Clamp.UNDEFINED, steps), None, 2, 4, storing=False)
        assert found.index.tolist() == [[19, 20, 21, 22], [35, 36, 37, 38]]


class TestViews:
    LAYOUT = TensorLayout(2, Clamp.UNDEFINED, (Dimensions((2, 3)),))

    def test_a_permutation_transposes(self) -> None:
        view = TensorView((1, 0), False)
        found = places(self.LAYOUT, view, 3, 2, storing=False)
        assert found.index.tolist() == [[0, 3], [1, 4], [2, 5]]

    def test_space_becomes_depth(self) -> None:
        # 4 x 4 pixels of one channel as 2 x 2 patches of 2 x 2.
        layout = TensorLayout(2, Clamp.UNDEFINED, (Dimensions((4, 4)),))
        view = TensorView((0, 2, 1, 3), True, (Dimensions((2, 2, 2, 2)),))
        found = places(layout, view, 4, 4, storing=False)
        assert found.index.tolist() == [
            [0, 1, 4, 5],
            [2, 3, 6, 7],
            [8, 9, 12, 13],
            [10, 11, 14, 15],
        ]

    def test_a_clip_counts_from_its_corner_with_its_own_width(self) -> None:
        view = TensorView((0, 1), False, (Clip(1, 2, 0, 2),))
        found = places(self.LAYOUT, view, 3, 3, storing=False)
        assert found.index[1:, :2].tolist() == [[0, 1], [2, 3]]
        assert (found.kind[0] == CLIPPED).all()
        assert (found.kind[:, 2] == CLIPPED).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_machine_does_what_the_oracle_expects(data: st.DataObject) -> None:
    component = data.draw(st.sampled_from((Component.UINT8, Component.SINT32, Component.FLOAT16)))
    matrix = MatrixType(component, 8, 16, data.draw(st.sampled_from(Use)))
    storing = data.draw(st.booleans())
    rank = data.draw(st.integers(1, 5))
    drawn = data.draw(layouts(matrix, rank, data.draw(st.sampled_from(Clamp)), storing=storing))
    own = data.draw(st.integers(0, 5))
    view = data.draw(views(matrix, drawn.layout, clip=data.draw(st.booleans()), rank=own))
    sample = data.draw(tensor_copies(INFO, matrix, drawn, view, storing=storing))
    assert invalid(sample.program) is None
    inputs = judge.images(sample.program, sample.operands)
    after = Machine(sample.program, inputs).run()
    for name, expected in evaluate(sample.program, inputs).items():
        assert not expected.check(after[name]).violations


BROKEN: dict[str, Callable[[], TensorLayout]] = {
    "no dimensions": lambda: TensorLayout(1, Clamp.REPEAT, ()),
    "a stride that is too small": lambda: TensorLayout(
        2, Clamp.REPEAT, (Dimensions((4, 8)), Strides((7, 1)))
    ),
    "mirroring at size one": lambda: TensorLayout(1, Clamp.MIRROR, (Dimensions((1,)),)),
    "six dimensions": lambda: TensorLayout(6, Clamp.REPEAT, (Dimensions((1,) * 6),)),
}


@pytest.mark.parametrize("what", BROKEN)
def test_invalid_layouts_are_refused(what: str) -> None:
    from cts.program.model import Address, Buffer, Grid, Layout, Load, Pointee, Program
    from cts.program.tensor import Tensor, TensorStore

    matrix = MatrixType(Component.UINT32, 8, 8, Use.ACCUMULATOR)
    buffers = (
        Buffer("M", Pointee(Component.UINT32), 64),
        Buffer("T", Pointee(Component.UINT32), 64),
    )
    body = (
        Load("m", matrix, Address("M", Layout.ROW_MAJOR, 8, 0, 64)),
        TensorStore("m", Tensor("T"), BROKEN[what]()),
    )
    assert invalid(Program(Grid(1, 1, 8), buffers, body)) is not None


def test_clipping_leaves_the_object() -> None:
    view = TensorView((0, 1), False, (Clip(0, 1, 0, 1),))
    found = places(TestViews.LAYOUT, view, 2, 3, storing=False)
    assert np.count_nonzero(found.kind == INSIDE) == 1
