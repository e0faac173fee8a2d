import numpy as np
import pytest

from cts.program.model import (
    Address,
    Buffer,
    Component,
    Grid,
    Layout,
    MatrixType,
    Pointee,
    Scope,
    Storage,
    Use,
)
from reference.layout import OutOfBounds, Region, place, poison, poisoned, region

GRID = Grid(workgroups=2, subgroups=3, subgroup_size=32)
MATRIX = MatrixType(Component.FLOAT16, 4, 8, Use.A)


def buffer(pointee=Component.FLOAT16, lanes=1, size=4096, storage=Storage.STORAGE_BUFFER):
    return Buffer("a", Pointee(pointee, lanes), size, storage)


def address(layout=Layout.ROW_MAJOR, stride=24, offset=8, pitch=256):
    return Address("a", layout, stride, offset, pitch)


@pytest.mark.parametrize(
    ("pointee", "lanes"), [(Component.UINT8, 1), (Component.UINT32, 1), (Component.FLOAT32, 4)]
)
@pytest.mark.parametrize("layout", Layout)
def test_strides_offsets_and_pitches_count_pointed_to_elements(pointee, lanes, layout):
    where = region(MATRIX, address(layout), buffer(pointee, lanes), GRID)
    unit = pointee.bytes * lanes
    tile, row, column = 4, 3, 5
    line, along = (row, column) if layout is Layout.ROW_MAJOR else (column, row)
    assert where.position(tile, row, column) == (8 + tile * 256 + line * 24) * unit + along * 2


def test_tiles_number_subgroups_through_all_workgroups():
    where = region(MATRIX, address(), buffer(), GRID)
    assert where.shape == (6, 4, 8)
    assert [where.position(t, 0, 0) for t in range(6)] == [(8 + 256 * t) * 2 for t in range(6)]


def test_workgroup_memory_has_a_slice_for_each_workgroup():
    shared = buffer(storage=Storage.WORKGROUP)
    where = region(MATRIX, address(), shared, GRID)
    assert where.position(4, 0, 0) == 4096 * 2 + (8 + 256) * 2
    assert shared.backing_bytes(2) == 2 * 4096 * 2


def test_workgroup_scope_has_one_matrix_for_each_workgroup():
    matrix = MatrixType(Component.FLOAT16, 4, 8, Use.A, Scope.WORKGROUP)
    where = region(matrix, address(), buffer(), GRID)
    assert where.shape == (2, 4, 8)
    assert where.position(1, 0, 0) == (8 + 256) * 2


def test_what_is_placed_is_read_back_and_all_else_is_poison():
    image = poisoned(buffer(), GRID)
    before = image.copy()
    bits = np.arange(6 * 32, dtype=np.uint16).reshape(6, 4, 8)
    place(bits, MATRIX, address(Layout.COLUMN_MAJOR), buffer(), GRID, image)
    where = region(MATRIX, address(Layout.COLUMN_MAJOR), buffer(), GRID)
    assert np.array_equal(where.read(image), bits)
    inside = np.zeros(len(image), bool)
    where.marks(inside)[...] = True
    assert np.array_equal(image[~inside], before[~inside])
    assert inside.sum() == bits.nbytes


def test_misaligned_elements_are_read_bytewise():
    where = Region(3, (1, 1, 2, 2), (0, 0, 9, 4), 4)
    image = np.arange(40, dtype=np.uint8)
    assert where.read(image)[0, 1, 1] == int.from_bytes(bytes(image[16:20]), "little")


def test_stride_zero_repeats_the_first_line():
    image = poisoned(buffer(), GRID)
    bits = np.arange(6 * 32, dtype=np.uint16).reshape(6, 4, 8)
    place(bits, MATRIX, address(stride=0), buffer(), GRID, image)
    read = region(MATRIX, address(stride=0), buffer(), GRID).read(image)
    assert (read == bits[:, :1]).all()
    place(bits, MATRIX, address(Layout.COLUMN_MAJOR, 0), buffer(), GRID, image)
    read = region(MATRIX, address(Layout.COLUMN_MAJOR, 0), buffer(), GRID).read(image)
    assert (read == bits[:, :, :1]).all()


def test_pitch_zero_shares_one_matrix():
    image = poisoned(buffer(), GRID)
    bits = np.arange(32, dtype=np.uint16).reshape(1, 4, 8)
    place(bits, MATRIX, address(pitch=0), buffer(), GRID, image)
    assert (region(MATRIX, address(pitch=0), buffer(), GRID).read(image) == bits).all()


def test_overlap_is_found_within_and_between_tiles():
    assert not region(MATRIX, address(), buffer(), GRID).overlaps_itself()
    assert region(MATRIX, address(stride=4), buffer(), GRID).overlaps_itself()
    assert region(MATRIX, address(pitch=8), buffer(), GRID).overlaps_itself()
    # Rows of one tile between the rows of another do not share bytes.
    assert not region(MATRIX, address(stride=48, pitch=8), buffer(), GRID).overlaps_itself()
    assert region(MATRIX, address(stride=40, pitch=8), buffer(), GRID).overlaps_itself()


@pytest.mark.parametrize("change", [{"offset": 4000}, {"pitch": 804}, {"stride": -1}])
def test_matrices_outside_the_buffer_are_refused(change):
    with pytest.raises(OutOfBounds):
        region(MATRIX, address(**change), buffer(), GRID)
    last = 4096 - 3 * 24 - 8 - 5 * 256
    assert region(MATRIX, address(offset=last), buffer(), GRID).end == 4096 * 2


def test_poison_depends_on_position_and_salt():
    assert not np.array_equal(poison(256, 1), poison(256, 2))
    assert len(np.unique(poison(4096))) == 256
    assert np.array_equal(poison(100), poison(200)[:100])
