from cts.device.protocol import Conversion, Convert, Matrix, Query
from cts.program.asked import describe_convert, describe_query
from cts.program.model import Component
from cts.program.vector import MatrixLayout


def test_a_query_says_what_the_command_was_given() -> None:
    text = describe_query(
        Query("vkGetX", capacity=2, allocated=4, parameters=(("scope", 3),), threads=4, instance=1)
    )
    assert "vkGetX" in text
    assert "scope = 3" in text
    assert "room for 2 records, in an array of 4" in text
    assert "4 threads" in text
    assert "second instance" in text


def test_a_null_array_is_named() -> None:
    assert "null array" in describe_query(Query("vkGetX", null=True))


def test_conversions_are_named_by_command_type_layout_and_barrier() -> None:
    row = Matrix(int(Component.FLOAT32), int(MatrixLayout.ROW_MAJOR), 16, 32, 64)
    best = Matrix(int(Component.FLOAT8_E4M3), int(MatrixLayout.INFERENCING_OPTIMAL), 0, 128, 128)
    request = Convert(
        (Conversion(2, 4, row, best), Conversion(2, 4, best, row)), bytes(256), False, (1, 1)
    )
    first, second, barrier, *_ = describe_convert(request).splitlines()
    assert first == "vkCmdConvertCooperativeVectorMatrixNV"
    assert "2 rows x 4 columns: float32 row_major, stride 16, 32 bytes at offset 64" in second
    assert "-> float8_e4m3 inferencing_optimal, 128 bytes at offset 128" in second
    assert barrier == "barrier"


def test_an_unknown_component_stays_a_number() -> None:
    odd = Matrix(1000999000, 0, 16, 32, 64)
    request = Convert((Conversion(1, 1, odd, odd, True, True),), b"", True)
    assert "1000999000 row_major, stride 16 (null)" in describe_convert(request)
