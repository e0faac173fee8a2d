"""The oracle and the reference device on vector programs, and both against arithmetic that is
written out here."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cts.conversion import Converting, Hop, Side, source
from cts.judge_vector import images
from cts.program.types import Component, Storage
from cts.program.vector import (
    Index,
    MatrixLayout,
    MatrixMul,
    Opaque,
    Place,
    ReduceSum,
    Spread,
    VectorLoad,
    VectorStore,
    VectorType,
    Weights,
)
from cts.program.vector_program import VectorProgram
from cts.program.vector_values import Extract
from cts.subject import Subject
from reference.accept import Level, verdict
from reference.device import ReferenceDevice
from reference.layout import OutOfBounds
from reference.matrix import Undetermined
from reference.vector_layout import gather, scatter
from reference.vector_machine import VectorMachine
from reference.vector_opaque import optimal_bytes, optimal_positions
from reference.vector_oracle import evaluate_vectors
from tests.vector.examples import EACH, EXAMPLES, SPREADS, buffer, copy, moved, product
from tests.vector.examples import training as training_program

F16, F32, E4M3 = Component.FLOAT16, Component.FLOAT32, Component.FLOAT8_E4M3
S8, U8, S32, U32 = Component.SINT8, Component.UINT8, Component.SINT32, Component.UINT32


def known(program: VectorProgram) -> tuple[VectorProgram, dict[str, bytes]]:
    """Inputs of small numbers, and the matrices in optimal layouts that the program reads."""
    inputs = {}
    for one in program.buffers:
        count = one.backing_bytes(program.grid.workgroups) // one.pointee.component.bytes
        ramp = np.arange(count) % 5 + 1
        kind = one.pointee.component
        if kind is F16:
            inputs[one.name] = ramp.astype(np.float16).tobytes()
        elif kind is F32:
            inputs[one.name] = ramp.astype(np.float32).tobytes()
        else:
            inputs[one.name] = ramp.astype(f"<u{kind.bytes}").tobytes()
    opaque = []
    for it in program.body:
        if isinstance(it, MatrixMul) and it.weights.layout.optimal:
            rows, columns = it.type.length, it.k
            if it.weights.transpose:
                rows, columns = columns, rows
            opaque.append(
                matrix(program, inputs, it.weights.place.buffer, it.weights, rows, columns)
            )
    return dataclasses.replace(program, opaque=tuple(opaque)), inputs


def matrix(
    program: VectorProgram,
    inputs: dict[str, bytes],
    name: str,
    weights: Weights,
    rows: int,
    columns: int,
) -> Opaque:
    """Put a matrix in an optimal layout at the start of a buffer."""
    kind, layout = weights.interpretation, weights.layout
    bits = (np.arange(rows * columns) % 3).reshape(rows, columns)
    if kind is F16:
        bits = bits.astype(np.float16).view(np.uint16)
    elif kind is E4M3:
        bits = np.array([0, 0x38, 0x40], np.uint8)[bits]
    size = optimal_bytes(rows, columns, kind, layout)
    image = np.frombuffer(inputs[name], np.uint8).copy()
    image[:size] = 0
    scatter(image, optimal_positions(rows, columns, layout, kind.bytes), bits, kind)
    inputs[name] = image.tobytes()
    elements = bits.astype(f"<u{kind.bytes}").tobytes()
    return Opaque(name, 0, size, kind, layout, rows, columns, elements)


@pytest.mark.parametrize(
    "name", [n for n in EXAMPLES if "training" not in n and n != "product-scattered"]
)
def test_the_oracle_accepts_what_the_reference_device_does(name: str) -> None:
    program, inputs = known(EXAMPLES[name])
    expected = evaluate_vectors(program, inputs).buffers
    after = VectorMachine(program, inputs).results()
    for buffer_name, expectation in expected.items():
        judgement = expectation.check(after[buffer_name])
        assert judgement.violations == (), judgement.violations[0].message


@pytest.mark.parametrize(
    "name", [n for n in EXAMPLES if "training" not in n and n != "product-scattered"]
)
def test_the_oracle_rejects_a_changed_component_and_a_changed_guard(name: str) -> None:
    program, inputs = known(EXAMPLES[name])
    expected = evaluate_vectors(program, inputs).buffers
    after = VectorMachine(program, inputs).results()
    for byte in (64 * 4 + 3, 64 * 4 + 62):
        wrong = bytearray(after["b"])
        wrong[byte] ^= 0x41
        assert expected["b"].check(bytes(wrong)).violations, byte


def run(program: VectorProgram, inputs: dict[str, bytes]) -> dict[str, bytes]:
    """The reference device's result, after the oracle accepted it."""
    after = VectorMachine(program, inputs).results()
    for name, expectation in evaluate_vectors(program, inputs).buffers.items():
        assert expectation.check(after[name]).violations == ()
    return after


def product_by_hand(
    program: VectorProgram, inputs: dict[str, bytes], dtypes: tuple[str, str, str]
) -> np.ndarray:
    """W x + v for every invocation, from plain NumPy."""
    given, weight, result = dtypes
    x = np.frombuffer(inputs["a"], given).reshape(-1, 64 // np.dtype(given).itemsize)[:10, :10]
    w = np.frombuffer(inputs["w"], weight).reshape(-1, 64 // np.dtype(weight).itemsize)[:6, :10]
    v = np.frombuffer(inputs["v"], result)[16 // np.dtype(result).itemsize :][:6]
    return x.astype(np.float64) @ w.astype(np.float64).T + v.astype(np.float64)


def test_a_float_product_is_matrix_times_vector_plus_bias() -> None:
    program, inputs = known(product())
    after = run(program, inputs)
    found = np.frombuffer(after["b"], np.float16).reshape(-1, 32)[:10, :6]
    assert (found == product_by_hand(program, inputs, ("<f2", "<f2", "<f2"))).all()


def test_an_integer_product_wraps() -> None:
    program, inputs = known(product((S8, S8, S8, S32, S32)))
    rng = np.random.default_rng(1)
    inputs["a"] = rng.integers(-128, 128, 4096, np.int8).tobytes()
    inputs["w"] = rng.integers(-128, 128, 4096, np.int8).tobytes()
    inputs["v"] = np.full(4096, 2**31 - 1, np.int32).tobytes()
    after = run(program, inputs)
    found = np.frombuffer(after["b"], np.int32).reshape(-1, 16)[:10, :6]
    due = product_by_hand(program, inputs, ("<i1", "<i1", "<i4")).astype(np.int64)
    assert (found == due.astype(np.int32)).all()


def test_floats_become_integers_by_rounding_to_even_and_saturating() -> None:
    program, inputs = known(product((F32, S8, S8, S32, S32), bias=False, m=1, k=8))
    given = [0.5, 1.5, 2.5, -0.5, 126.5, 127.5, 1e9, -1e9]
    row = np.zeros((4096 // 16, 16), np.float32)
    row[:, :8] = given
    inputs["a"] = row.ravel()[:4096].tobytes()
    for k, due in enumerate([0, 2, 2, 0, 126, 127, 127, -128]):
        weights = np.zeros(4096, np.int8)
        weights[k] = 1
        inputs["w"] = weights.tobytes()
        found = np.frombuffer(run(program, inputs)["b"], np.int32)[0]
        assert found == due, k


def test_nan_as_an_integer_is_anything() -> None:
    program, inputs = known(product((F32, S8, S8, S32, S32)))
    row = np.frombuffer(inputs["a"], np.float32).copy()
    row[3] = np.nan
    inputs["a"] = row.tobytes()
    expectation = evaluate_vectors(program, inputs).buffers["b"]
    after = bytearray(VectorMachine(program, inputs).results()["b"])
    after[0] ^= 0xFF
    assert expectation.check(bytes(after)).violations == ()
    after[64] ^= 0xFF
    assert expectation.check(bytes(after)).violations != ()


def test_packed_components_are_the_low_bits_first() -> None:
    program, inputs = known(
        product((U32, Component.SINT8_PACKED, S8, S32, S32), bias=False, m=1, k=5)
    )
    inputs["a"] = np.full(4096, 0x04030201, np.uint32).tobytes()
    weights = np.zeros(4096, np.int8)
    weights[:5] = [1, 10, 100, 0, 7]
    inputs["w"] = weights.tobytes()
    assert np.frombuffer(run(program, inputs)["b"], np.int32)[0] == 1 + 20 + 300 + 7


def test_integers_saturate_to_their_interpretation() -> None:
    program, inputs = known(product((S32, S8, S8, S32, S32), bias=False, m=1, k=3))
    inputs["a"] = np.tile(np.array([1000, -1000, 5] + [0] * 13, np.int32), 256).tobytes()
    inputs["w"] = np.ones(4096, np.int8).tobytes()
    assert np.frombuffer(run(program, inputs)["b"], np.int32)[0] == 127 - 128 + 5


def test_an_unsigned_input_saturates_as_one() -> None:
    program, inputs = known(product((U32, U8, U8, U32, U32), bias=False, m=1, k=1))
    inputs["a"] = np.full(4096, 0xFFFFFFFF, np.uint32).tobytes()
    inputs["w"] = np.ones(4096, np.uint8).tobytes()
    assert np.frombuffer(run(program, inputs)["b"], np.uint32)[0] == 255


@pytest.mark.parametrize("layout", list(MatrixLayout))
def test_every_layout_gives_the_same_product(layout: MatrixLayout) -> None:
    rows = product(layout=MatrixLayout.ROW_MAJOR)
    _, inputs = known(rows)
    bits = np.arange(60, dtype=np.float16).reshape(6, 10).view(np.uint16) % 5
    bits = (np.arange(60) % 5).astype(np.float16).view(np.uint16).reshape(6, 10)
    program = product(layout=layout)
    image = np.zeros(8192, np.uint8)
    if layout.optimal:
        size = optimal_bytes(6, 10, F16, layout)
        scatter(image, optimal_positions(6, 10, layout, 2), bits, F16)
        known_matrix = Opaque("w", 0, size, F16, layout, 6, 10, bits.tobytes())
        program = dataclasses.replace(program, opaque=(known_matrix,))
    else:
        view = image.view(np.uint16).reshape(-1, 32)
        if layout is MatrixLayout.ROW_MAJOR:
            view[:6, :10] = bits
        else:
            view[:10, :6] = bits.T
    inputs["w"] = image.tobytes()
    found = np.frombuffer(run(program, inputs)["b"], np.float16).reshape(-1, 32)[:10, :6]
    x = np.frombuffer(inputs["a"], np.float16).reshape(-1, 32)[:10, :10].astype(np.float64)
    v = np.frombuffer(inputs["v"], np.float16)[8:14].astype(np.float64)
    assert (found == x @ bits.view(np.float16).astype(np.float64).T + v).all()


def test_a_transposed_matrix_is_stored_with_its_rows_and_columns_exchanged() -> None:
    layout = MatrixLayout.INFERENCING_OPTIMAL
    program, inputs = known(product(layout=layout, transpose=True, bias=False))
    (it,) = program.opaque
    assert (it.rows, it.columns) == (10, 6)
    stored = np.frombuffer(it.elements, np.float16).reshape(10, 6).astype(np.float64)
    x = np.frombuffer(inputs["a"], np.float16).reshape(-1, 32)[:10, :10].astype(np.float64)
    found = np.frombuffer(run(program, inputs)["b"], np.float16).reshape(-1, 32)[:10, :6]
    assert (found == x @ stored).all()


def test_each_invocation_has_its_own_matrix() -> None:
    program, inputs = known(product(at=SPREADS[4], bias=False, m=1, k=4))
    inputs["a"] = np.ones(4096, np.float16).tobytes()
    inputs["w"] = np.repeat(np.arange(128), 32).astype(np.float16).tobytes()
    found = np.frombuffer(run(program, inputs)["b"], np.float16).reshape(-1, 32)[:10, 0]
    assert found.tolist() == [4 * (9 - i) for i in range(10)]


def test_an_input_that_its_interpretation_can_t_hold_has_two_readings() -> None:
    layout = MatrixLayout.INFERENCING_OPTIMAL
    program = product((F16, E4M3, E4M3, F16, F16), layout, bias=False, m=1, k=1)
    program, inputs = known(program)
    (it,) = program.opaque
    one = dataclasses.replace(it, elements=b"\x38")
    program = dataclasses.replace(program, opaque=(one,))
    inputs["a"] = np.full(4096, 1.03, np.float16).tobytes()
    expectation = evaluate_vectors(program, inputs).buffers["b"]

    def accepted(value: float) -> bool:
        image = np.frombuffer(inputs["b"], np.float16).copy()
        image[0 : 32 * 10 : 32] = value
        return not expectation.check(image.tobytes()).violations

    assert accepted(1.0)
    assert accepted(1.03)
    assert not accepted(0.9)
    assert not accepted(1.2)


def test_subnormals_may_be_flushed_by_a_load_but_should_not() -> None:
    program, inputs = known(copy(Storage.STORAGE_BUFFER))
    inputs["a"] = np.full(4096, 1, np.uint16).tobytes()
    expectation = evaluate_vectors(program, inputs).buffers["b"]
    image = np.frombuffer(inputs["b"], np.uint16).copy().reshape(-1, 32)
    image[:10, :7] = 0
    (found,) = expectation.check(image.tobytes()).violations
    assert found.band == "policy"


def test_workgroups_have_memory_of_their_own() -> None:
    program, inputs = known(copy(Storage.WORKGROUP))
    inputs["a"] = np.arange(8192, dtype=np.uint16).tobytes()
    after = np.frombuffer(run(program, inputs)["b"], np.uint16)
    assert after[0] == 0
    assert after[4096] == 4096
    assert after[4096 + 32 * 4] == 4096 + 32 * 4


# --- training -----------------------------------------------------------------------------------


def trained(kind: Component, values: np.ndarray) -> tuple[VectorProgram, dict[str, bytes]]:
    """The training example with a matrix of ones to begin with."""
    program = training_program(kind)
    inputs = images(program, {})
    inputs["a"] = values.astype(np.float16).tobytes()
    layout = MatrixLayout.TRAINING_OPTIMAL
    size = optimal_bytes(5, 3, kind, layout)
    ones = np.ones((5, 3), np.float16 if kind is F16 else np.float32)
    bits = ones.view(f"<u{kind.bytes}")
    image = np.frombuffer(inputs["g"], np.uint8).copy()
    image[64 : 64 + size] = 0
    scatter(image, 64 + optimal_positions(5, 3, layout, kind.bytes), bits, kind)
    inputs["g"] = image.tobytes()
    inputs["s"] = np.zeros(4096, np.float16).tobytes()
    opaque = Opaque("g", 64, size, kind, layout, 5, 3, bits.tobytes())
    return dataclasses.replace(program, opaque=(opaque,)), inputs


@pytest.mark.parametrize("kind", [F16, F32])
def test_outer_products_and_sums_accumulate(kind: Component) -> None:
    values = np.tile(np.arange(32) % 4, 128)
    program, inputs = trained(kind, values)
    expected = evaluate_vectors(program, inputs)
    after = VectorMachine(program, inputs).results()
    for name, expectation in expected.buffers.items():
        assert expectation.check(after[name]).violations == ()
    grown = gather(
        np.frombuffer(after["g"], np.uint8),
        64 + optimal_positions(5, 3, MatrixLayout.TRAINING_OPTIMAL, kind.bytes),
        kind,
    )
    numbers = grown.view(np.float16 if kind is F16 else np.float32)
    x = values[:5].astype(float)
    assert (numbers == 1 + 10 * np.outer(x, x[:3])).all()
    assert verdict(expected.matrices["g", 64], grown[None]).level is Level.FINE
    assert verdict(expected.matrices["g", 64], grown[None] ^ 1).level is Level.REQUIRED
    sums = np.frombuffer(after["s"], np.float16)[8:].reshape(-1)[: 16 * 5].reshape(5, 16)[:, :5]
    assert (sums == 2 * x).all()


def test_accumulation_that_only_one_invocation_made_is_wrong() -> None:
    program, inputs = trained(F16, np.ones(4096))
    expected = evaluate_vectors(program, inputs).buffers["s"]
    image = np.frombuffer(inputs["s"], np.float16).copy()
    image[8:].reshape(-1)[: 16 * 5].reshape(5, 16)[:, :5] = 1
    (found,) = expected.check(image.tobytes()).violations
    assert found.band == "required"
    assert "sum of memory" in found.message


def test_rounded_sums_lie_within_their_bound() -> None:
    rng = np.random.default_rng(5)
    program, inputs = trained(F16, rng.normal(size=4096))
    expected = evaluate_vectors(program, inputs)
    after = VectorMachine(program, inputs).results()
    assert expected.buffers["s"].check(after["s"]).violations == ()
    wrong = (np.frombuffer(after["s"], np.float16) * np.float16(1.1)).tobytes()
    assert expected.buffers["s"].check(wrong).violations != ()


# --- what is refused ----------------------------------------------------------------------------


def test_invalid_usage_and_undefined_programs_are_refused() -> None:
    program, inputs = known(product(at=Index(16)))
    with pytest.raises(ValueError, match="multiple of 64"):
        evaluate_vectors(program, inputs)
    same = dataclasses.replace(
        copy(Storage.STORAGE_BUFFER),
        body=(
            VectorLoad("x", VectorType(F16, 7), Place("a", EACH)),
            VectorStore("x", Place("b", Index(16))),
        ),
    )
    with pytest.raises(Undetermined, match="stored to twice"):
        evaluate_vectors(*known(same))
    far = copy(Storage.STORAGE_BUFFER, Index(8192, 64, Spread.INVOCATION))
    with pytest.raises(OutOfBounds):
        evaluate_vectors(*known(far))
    beyond = moved(F16, Extract("s", "x", Index(5)), last="x")
    with pytest.raises(Undetermined, match="index of 5 of 5"):
        evaluate_vectors(*known(beyond))
    unknown = product(layout=MatrixLayout.TRAINING_OPTIMAL)
    with pytest.raises(Undetermined, match="no matrix is known"):
        evaluate_vectors(unknown, known(unknown)[1])


def test_a_conversion_s_bytes_are_what_a_product_reads() -> None:
    """The converter and the machine agree on the optimal layouts."""
    subject = Subject(ReferenceDevice())
    bits = (np.arange(60) % 7).astype(np.float16).view(np.uint16).reshape(6, 10)
    region = source(6, 10, Side(F16, MatrixLayout.ROW_MAJOR, 22), bits)
    (made,) = Converting(subject, ()).run(
        [Hop(region, Side(F16, MatrixLayout.TRAINING_OPTIMAL))], host=True
    )
    program, inputs = known(product(layout=MatrixLayout.TRAINING_OPTIMAL))
    image = bytearray(inputs["w"])
    image[: len(made.data)] = made.data
    inputs["w"] = bytes(image)
    opaque = dataclasses.replace(program.opaque[0], elements=bits.tobytes())
    run(dataclasses.replace(program, opaque=(opaque,)), inputs)


def accumulating(multiplied: bool) -> VectorProgram:
    """Every invocation adds a loaded vector, or a float product, to a sum."""
    program = product()
    load, multiply, _ = program.body
    added = ReduceSum("y" if multiplied else "x", Place("s", Index(0)))
    body = (load, multiply, added) if multiplied else (load, added)
    buffers = (*program.buffers[:3], buffer("s", F16))
    return dataclasses.replace(program, body=body, buffers=buffers)


@pytest.mark.parametrize("multiplied", [False, True])
def test_sums_of_products_that_only_the_policy_knows_break_policy_at_worst(
    multiplied: bool,
) -> None:
    program, inputs = known(accumulating(multiplied))
    after = VectorMachine(program, inputs).results()
    expectation = evaluate_vectors(program, inputs).buffers["s"]
    assert expectation.check(after["s"]).violations == ()
    wrong = b"\x00\x00" + after["s"][2:]
    (violation,) = expectation.check(wrong).violations
    assert violation.band == ("policy" if multiplied else "required")


def test_a_product_that_only_the_policy_knows_isnt_read_back_from_memory() -> None:
    program = product()
    *before, store = program.body
    assert isinstance(store, VectorStore)
    again = (VectorLoad("z", VectorType(F16, 6), store.place), VectorStore("z", Place("c", EACH)))
    buffers = (*program.buffers, buffer("c", F16))
    read = dataclasses.replace(program, body=(*before, store, *again), buffers=buffers)
    with pytest.raises(Undetermined, match="aren't known"):
        evaluate_vectors(*known(read))
