"""Conversions in the command buffer of the shader that uses their result."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cts.device.protocol import Dispatch
from cts.program.codec import from_json, to_json
from cts.program.requires import PREPARATIONS
from cts.program.text import describe
from cts.program.types import Component
from cts.program.vector import MatrixLayout, Opaque, Prepared
from cts.program.vector_program import VectorProgram
from cts.spirv.request import dispatch
from reference.device import ReferenceDevice
from reference.vector_opaque import optimal_bytes
from reference.vector_oracle import evaluate_vectors
from tests.vector.examples import buffer, product
from tests.vector.test_vector_evaluation import known

F16 = Component.FLOAT16
LAYOUT = MatrixLayout.TRAINING_OPTIMAL


def prepared() -> tuple[VectorProgram, dict[str, bytes]]:
    """The example product, its matrix converted right before the shader."""
    program, inputs = known(product(layout=LAYOUT))
    bits = (np.arange(60) % 3).astype(np.float16).view(np.uint16).reshape(6, 10)
    rows = np.zeros((6, 12), np.uint16)
    rows[:, :10] = bits
    size = optimal_bytes(6, 10, F16, LAYOUT)
    program = dataclasses.replace(
        program,
        buffers=(*program.buffers, buffer("rows", F16, rows.size)),
        opaque=(Opaque("w", 0, size, F16, LAYOUT, 6, 10, bits.tobytes()),),
        prepared=(Prepared("rows", 0, 24, 0),),
    )
    return program, {**inputs, "rows": rows.tobytes(), "w": b"\xee" * len(inputs["w"])}


def test_the_request_has_the_conversion_and_what_it_needs() -> None:
    request = dispatch(*prepared())
    (one,) = request.preparations
    assert (one.source, one.destination) == (4, 1)
    assert one.conversion.source.size == 5 * 24 + 20
    assert one.conversion.destination.layout == LAYOUT
    assert {need.feature for need in PREPARATIONS} <= set(request.features)


def test_the_reference_device_converts_first() -> None:
    program, inputs = prepared()
    reply = ReferenceDevice().execute(dispatch(program, inputs))
    expected = evaluate_vectors(program, inputs).buffers
    for one, after in zip(program.buffers, reply.buffers, strict=False):
        assert expected[one.name].check(after).violations == ()
    stale = ReferenceDevice().execute(
        dataclasses.replace(dispatch(program, inputs), preparations=())
    )
    names = [one.name for one in program.buffers]
    assert expected["b"].check(stale.buffers[names.index("b")]).violations


def test_an_unaligned_conversion_is_invalid_usage() -> None:
    program, inputs = prepared()
    request = dispatch(program, inputs)
    (one,) = request.preparations
    source = dataclasses.replace(one.conversion.source, offset=2)
    moved = dataclasses.replace(one, conversion=dataclasses.replace(one.conversion, source=source))
    with pytest.raises(ValueError, match="10084"):
        ReferenceDevice().execute(dataclasses.replace(request, preparations=(moved,)))


def test_programs_and_requests_survive_being_written() -> None:
    request = dispatch(*prepared())
    again = from_json(to_json(request))
    assert isinstance(again, Dispatch)
    assert again == request
    assert "before the shader: convert 6x10" in describe(prepared()[0])
