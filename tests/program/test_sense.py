"""Which records of a device's lists programs can be made with."""

from __future__ import annotations

import pytest

from cts.program.model import Component
from cts.program.records import FLEXIBLE, KHR, NV, VECTOR
from cts.program.sense import nonsense, sensible, unknown
from reference.device import ReferenceDevice

INFO = ReferenceDevice().info
_C = Component
PRODUCT = {
    "MSize": 8,
    "NSize": 8,
    "KSize": 16,
    "AType": int(_C.FLOAT16),
    "BType": int(_C.FLOAT16),
    "CType": int(_C.FLOAT32),
    "ResultType": int(_C.FLOAT32),
    "saturatingAccumulation": 0,
    "scope": 3,
}
INTEGERS = dict.fromkeys(("AType", "BType"), int(_C.SINT8)) | dict.fromkeys(
    ("CType", "ResultType"), int(_C.SINT32)
)
VECTORS = dict(
    zip(
        ("inputType", "inputInterpretation", "matrixInterpretation", "biasInterpretation"),
        map(int, (_C.UINT32, _C.SINT8_PACKED, _C.SINT8, _C.SINT32)),
        strict=True,
    )
) | {"resultType": int(_C.SINT32), "transpose": 0}


@pytest.mark.parametrize("command", [KHR, NV, FLEXIBLE, VECTOR])
def test_every_record_of_the_reference_device_makes_sense(command: str) -> None:
    assert INFO.records[command]
    assert all(sensible(record) for record in INFO.records[command])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"BType": int(_C.UINT8_PACKED)}, "packed components"),
        ({"saturatingAccumulation": 1}, "only integers saturate"),
    ],
)
def test_matrices_that_no_program_has(change: dict[str, int], reason: str) -> None:
    found = nonsense(PRODUCT | change)
    assert found is not None and reason in found
    assert sensible(PRODUCT) and not sensible(PRODUCT | change)


@pytest.mark.parametrize(
    "change", [{"KSize": 0}, {"MSize": 1 << 16, "NSize": 1 << 16}, {"CType": int(_C.SINT32)}]
)
def test_matrices_that_are_only_left_out(change: dict[str, int]) -> None:
    assert nonsense(PRODUCT | change) is None and not sensible(PRODUCT | change)


def test_saturation_may_be_what_was_asked_for() -> None:
    assert sensible(PRODUCT) and not sensible(PRODUCT, saturating=True)
    assert sensible(PRODUCT | INTEGERS, saturating=True)
    assert sensible(PRODUCT | INTEGERS | {"saturatingAccumulation": 1})


FLOATS = dict.fromkeys((*VECTORS, "resultType"), int(_C.FLOAT16)) | {"transpose": 0}


@pytest.mark.parametrize("member", ["inputType", "matrixInterpretation", "resultType"])
def test_packed_types_are_for_the_interpretation_of_inputs(member: str) -> None:
    assert sensible(VECTORS) and nonsense(VECTORS) is None
    assert nonsense(VECTORS | {member: int(_C.UINT8_PACKED)})


@pytest.mark.parametrize(
    "record",
    [
        VECTORS | {"inputType": int(_C.FLOAT32)},
        VECTORS | {"biasInterpretation": int(_C.FLOAT16)},
        FLOATS | {"inputType": int(_C.SINT8)},
    ],
)
def test_vectors_that_are_only_left_out(record: dict[str, int]) -> None:
    assert sensible(FLOATS)
    assert nonsense(record) is None and not sensible(record)


def test_a_type_that_is_unknown_is_left_out_and_not_judged_here() -> None:
    record = PRODUCT | {"BType": 999, "KSize": 0}
    assert unknown(record) and nonsense(record) is None and not sensible(record)
