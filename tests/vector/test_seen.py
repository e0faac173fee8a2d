"""What a finding in a cooperative vector program says of the invocation that got it wrong."""

from __future__ import annotations

import math

import numpy as np

from cts.program.model import Merge
from cts.program.types import Buffer, Component, Pointee
from cts.program.vector import (
    Bias,
    Condition,
    Index,
    MatrixLayout,
    MatrixMul,
    Place,
    Spread,
    VectorLoad,
    VectorStore,
    VectorType,
    Weights,
)
from cts.program.vector_program import If, Launch, VectorProgram
from cts.witness import Origin, store
from reference.accept import Accept, Band
from reference.component import bits_dtype
from reference.expectation import error_map
from reference.vector_oracle import evaluate_vectors
from reference.vector_seen import seen_by
from tests.vector.bench import mutant, run

U32, S8, S32 = Component.UINT32, Component.SINT8, Component.SINT32
PACKED = Component.SINT8_PACKED
LANES = 3


def multiply(result: str, buffer: str, bias: Bias | None = None) -> MatrixMul:
    """Two rows of three: matrix i for invocation i, 64 bytes apart."""
    place = Place(buffer, Index(0, 64, Spread.INVOCATION))
    weights = Weights(place, S8, MatrixLayout.ROW_MAJOR, 16)
    return MatrixMul(result, VectorType(S32, 2), "x", PACKED, 3, weights, bias, False, True)


def program() -> VectorProgram:
    """Invocations below 2 multiply with w, the others with v and a bias."""
    each = Index(0, 16, Spread.INVOCATION)
    bias = Bias(Place("b", each), S32)
    body = (
        VectorLoad("x", VectorType(U32, 1), Place("a", each)),
        If(
            Condition(Index(0, 1, Spread.INVOCATION), 2),
            (multiply("p", "w"),),
            (multiply("q", "v", bias),),
            (Merge("y", "p", "q"),),
            True,
        ),
        VectorStore("y", Place("r", each)),
    )
    kinds = {"a": (U32, 16), "w": (S8, 256), "v": (S8, 256), "b": (S32, 16), "r": (S32, 16)}
    buffers = tuple(Buffer(name, Pointee(kind), n) for name, (kind, n) in kinds.items())
    return VectorProgram(Launch(1, LANES), buffers, body)


def inputs() -> dict[str, bytes]:
    """x is (1, 2, 3) for everybody; matrix i of w and v is full of i + 1 and of i + 11."""
    x = np.zeros((4, 4), np.uint32)
    x[:, 0] = 0x00030201
    images = {"a": x.tobytes(), "b": np.arange(16, dtype=np.int32).tobytes(), "r": bytes(64)}
    for name, first in (("w", 1), ("v", 11)):
        images[name] = np.repeat(np.arange(first, first + 4, dtype=np.int8), 64).tobytes()
    return images


def test_an_invocation_sees_its_own_side_and_matrix() -> None:
    seen = {it.name: it for it in seen_by(program(), inputs(), 1)}
    assert list(seen) == ["x", "input of p", "matrix of p"]
    assert seen["x"].bits.tolist() == [[0x00030201]] and seen["x"].component is U32
    assert seen["input of p"].bits.tolist() == [[1, 2, 3]]
    assert seen["matrix of p"].bits.tolist() == [[2, 2, 2], [2, 2, 2]]
    assert [it.name for it in seen.values() if it.product] == ["matrix of p"]


def test_a_bias_is_among_it() -> None:
    seen = {it.name: it for it in seen_by(program(), inputs(), 2)}
    assert seen["matrix of q"].bits.tolist() == [[13, 13, 13], [13, 13, 13]]
    assert seen["bias of q"].bits.tolist() == [[8, 9]]


def test_a_finding_names_the_invocation_and_what_it_worked_with() -> None:
    before = inputs()
    expected = evaluate_vectors(program(), before).buffers["r"]
    result = np.frombuffer(before["r"], bits_dtype(S32)).copy().reshape(4, 4)
    result[:3, :2] = [[6, 6], [12, 13], [13 * 6 + 8, 13 * 6 + 9]]  # component 1 of 1 is 12
    (found,) = expected.check(result.tobytes()).violations
    worst, errors = found.detail["worst"], found.detail["errors"]
    assert worst["place"] == "component 1 of y of invocation 1" and worst["invocation"] == 1
    assert (worst["row"], worst["column"]) == (1, 1) and math.isinf(worst["ratio"])
    assert (errors["down"], errors["across"]) == ("vector", "component")
    assert errors["ratios"] == [[0, 0], [0, math.inf]]


def test_a_report_shows_what_the_invocation_worked_with() -> None:
    device = mutant("one_bias_for_all")
    result = run("cooperative_vector.lanes.own_matrix.packed.reversed", device)
    report = store(result.found[0], result.case, device.info, Origin(1, "brief", "suite"), None)
    operands = {it["name"]: it for it in report["operands"]}
    assert list(operands) == ["x", "input of y", "matrix of y", "bias of y"]
    assert operands["bias of y"]["component"] == "sint32"
    worst = report["worst"]
    assert operands["matrix of y"]["focus"] == {"row": worst["column"], "column": None}
    # The product and the bias of its own are what it should have got.
    given, matrix, bias = (
        np.array(operands[name]["values"], np.int64)
        for name in ("input of y", "matrix of y", "bias of y")
    )
    due = (matrix @ given[0] + bias[0])[worst["column"]]
    assert f"({due})" in worst["accepted"] and str(due) != worst["actual"]


def test_a_wrong_element_is_infinitely_far_off_only_where_nothing_is_measured() -> None:
    wrong, measured = np.array([[1, 1, 1, 0]], bool), np.array([[0, 1, 1, 1]], bool)
    found = error_map(wrong, np.array([[0.0, 3.0, 0.0, 0.5]]), measured)
    # The third is a zero of the other sign: remarkable, and no error.
    assert found["ratios"] == [[math.inf, 3.0, 1.0, 0.5]]
    bits = np.array([0x8000, 0x7C00, 0x3C00], np.uint16).reshape(1, 3, 1)
    accept = Accept(
        Component.FLOAT16, bits.shape, Band(), Band(), Band(), np.zeros(bits.shape), 1.0, ""
    )
    assert accept.measured(bits).ravel().tolist() == [True, False, True]
