"""What the lowering puts into a module, and what it keeps out."""

from __future__ import annotations

import dataclasses
import struct
import time

import pytest

from cts.program.model import (
    Address,
    Buffer,
    Component,
    Form,
    Grid,
    Layout,
    Load,
    MatrixType,
    Numbers,
    Pointee,
    Program,
    Scope,
    Splat,
    Stamp,
    Statement,
    Storage,
    Store,
    Use,
)
from cts.spirv.hazards import order
from cts.spirv.lower import lower
from cts.spirv.opcodes import Op
from tests.spirv.everything import product
from tests.spirv.words import instructions

F16 = MatrixType(Component.FLOAT16, 8, 8, Use.ACCUMULATOR)


def copy(pointee: Pointee, storage: Storage = Storage.STORAGE_BUFFER) -> Program:
    size = 1024 // pointee.bytes
    stride = 16 // pointee.bytes
    x, y = Buffer("x", pointee, size, storage), Buffer("y", pointee, size, storage)
    body = (
        Load("m", F16, Address("x", Layout.ROW_MAJOR, stride)),
        Store("m", Address("y", Layout.ROW_MAJOR, stride)),
    )
    return Program(Grid(1, 1, 8), (x, y), body)


def barriers(program: Program) -> int:
    return sum(it.opcode == Op.ControlBarrier for it in instructions(lower(program).words))


class TestCapabilities:
    def test_narrow_memory_alone_needs_no_arithmetic(self) -> None:
        capabilities = lower(copy(Pointee(Component.UINT16))).capabilities
        assert "StorageBuffer16BitAccess" in capabilities
        assert "Int16" not in capabilities
        assert "Float16" in capabilities

    def test_narrow_workgroup_memory_needs_values_of_the_type(self) -> None:
        capabilities = lower(copy(Pointee(Component.UINT8), Storage.WORKGROUP)).capabilities
        assert {"Int8", "StorageBuffer8BitAccess"} <= capabilities

    def test_wide_memory_needs_nothing(self) -> None:
        capabilities = lower(copy(Pointee(Component.UINT32, 4))).capabilities
        assert not any(name.startswith("StorageBuffer") for name in capabilities)

    def test_addresses_need_no_64_bit_integers(self) -> None:
        module = lower(copy(Pointee(Component.UINT32), Storage.PHYSICAL_STORAGE_BUFFER))
        assert "PhysicalStorageBufferAddresses" in module.capabilities
        assert "Int64" not in module.capabilities
        assert module.physical == ("x", "y")

    @pytest.mark.parametrize(
        ("component", "capability", "extension"),
        [
            (Component.BFLOAT16, "BFloat16CooperativeMatrixKHR", "SPV_KHR_bfloat16"),
            (Component.FLOAT8_E4M3, "Float8CooperativeMatrixEXT", "SPV_EXT_float8"),
            (Component.FLOAT8_E5M2, "Float8CooperativeMatrixEXT", "SPV_EXT_float8"),
        ],
    )
    def test_newer_formats_bring_their_extensions(
        self, component: Component, capability: str, extension: str
    ) -> None:
        module = lower(product(component))
        assert capability in module.capabilities
        assert extension in module.extensions

    def test_only_replication_needs_its_extension(self) -> None:
        for form in Form:
            program = Program(Grid(1, 1, 8), (), (Splat("m", F16, 0, form),))
            extensions = lower(program).extensions
            expected = {"SPV_KHR_cooperative_matrix"}
            if form.name.endswith("REPLICATE"):
                expected.add("SPV_EXT_replicated_composites")
            assert extensions == expected


class TestNumbers:
    def test_buffer_numbers_come_in_the_order_of_their_use(self) -> None:
        body = (
            Load("m", F16, Address("x", Layout.ROW_MAJOR, 8, 24, 64)),
            Store("m", Address("y", Layout.ROW_MAJOR, 16, 32, 128)),
        )
        program = dataclasses.replace(copy(Pointee(Component.FLOAT16)), body=body)
        parameters = lower(program).parameters
        assert sorted(struct.unpack("<6I", parameters)) == [8, 16, 24, 32, 64, 128]

    def test_literals_need_no_buffer(self) -> None:
        module = lower(product(numbers=Numbers.LITERAL))
        assert module.parameters == b""

    def test_specialization_gives_unsigned_values_of_the_type_size(self) -> None:
        matrix = dataclasses.replace(F16, component=Component.SINT8)
        splat = Splat("m", matrix, 0xFF, Form.SPEC_CONSTANT)
        module = lower(Program(Grid(1, 1, 8), (), (splat,)))
        assert module.specialization == ((0, 1, 0xFF),)

    def test_negative_narrow_literals_are_sign_extended(self) -> None:
        matrix = dataclasses.replace(F16, component=Component.SINT8)
        module = lower(Program(Grid(1, 1, 8), (), (Splat("m", matrix, 0x80),)))
        constants = [
            it.operands[2:] for it in instructions(module.words) if it.opcode == Op.Constant
        ]
        assert (0xFFFFFF80,) in constants

    def test_64_bit_literals_put_the_low_word_first(self) -> None:
        matrix = dataclasses.replace(F16, component=Component.UINT64)
        module = lower(Program(Grid(1, 1, 8), (), (Splat("m", matrix, 0x0123456789ABCDEF),)))
        constants = [
            it.operands[2:] for it in instructions(module.words) if it.opcode == Op.Constant
        ]
        assert (0x89ABCDEF, 0x01234567) in constants


class TestOrder:
    def test_separate_buffers_need_no_barrier(self) -> None:
        assert barriers(copy(Pointee(Component.FLOAT16))) == 0

    def program(self, *addresses: Address | str) -> Program:
        body: list[Statement] = [Splat("m0", F16)]
        for index, address in enumerate(addresses, start=1):
            if isinstance(address, Address):
                body.append(Store("m0", address))
            else:
                body.append(Load(f"m{index}", F16, Address(address, Layout.ROW_MAJOR, 8, 0, 64)))
        buffer = Buffer("x", Pointee(Component.FLOAT16), 4096)
        return Program(Grid(1, 2, 8), (buffer,), tuple(body))

    def test_a_load_after_a_store_to_its_place_waits(self) -> None:
        program = self.program(Address("x", Layout.ROW_MAJOR, 8, 0, 64), "x")
        assert order(program).barriers == {2}
        assert order(program).shared == {"x"}
        assert barriers(program) == 1

    def test_a_store_after_a_load_of_its_place_waits(self) -> None:
        program = self.program("x", Address("x", Layout.COLUMN_MAJOR, 8, 0, 64))
        assert order(program).barriers == {2}

    def test_stores_to_separate_places_do_not_wait(self) -> None:
        program = self.program(
            Address("x", Layout.ROW_MAJOR, 8, 0, 64), Address("x", Layout.ROW_MAJOR, 8, 128, 64)
        )
        assert order(program).barriers == frozenset()

    def test_places_that_move_apart_from_each_other_wait(self) -> None:
        program = self.program(
            Address("x", Layout.ROW_MAJOR, 8, 0, 64), Address("x", Layout.ROW_MAJOR, 8, 128, 80)
        )
        assert order(program).barriers == {2}

    def test_one_barrier_orders_all_that_was_before(self) -> None:
        place = Address("x", Layout.ROW_MAJOR, 8, 0, 64)
        assert order(self.program(place, "x", "x")).barriers == {2}
        assert order(self.program(place, place, place)).barriers == {2, 3}

    def test_workgroup_arrays_are_copied_between_barriers(self) -> None:
        program = copy(Pointee(Component.FLOAT16), Storage.WORKGROUP)
        assert barriers(program) == 2

    def test_workgroup_arrays_leave_none_at_an_odd_place(self) -> None:
        program = copy(Pointee(Component.UINT8), Storage.WORKGROUP)
        odd = tuple(dataclasses.replace(buffer, size=buffer.size - 3) for buffer in program.buffers)
        module = lower(dataclasses.replace(program, buffers=odd))
        code = list(instructions(module.words))
        values = {it.operands[1]: it.operands[2] for it in code if it.opcode == Op.Constant}
        lengths = {values[it.operands[2]] for it in code if it.opcode == Op.TypeArray}
        assert lengths == {1024}

    def test_workgroup_scope_orders_the_whole_workgroup(self) -> None:
        program = product(scope=Scope.WORKGROUP)
        scopes = {
            it.operands[0]
            for it in instructions(lower(program).words)
            if it.opcode == Op.ControlBarrier
        }
        values = {
            it.operands[1]: it.operands[2]
            for it in instructions(lower(program).words)
            if it.opcode == Op.Constant
        }
        assert {values[scope] for scope in scopes} == {2}


class TestRefusals:
    def test_a_null_constant_with_bits(self) -> None:
        with pytest.raises(ValueError, match="OpConstantNull"):
            lower(Program(Grid(1, 1, 8), (), (Splat("m", F16, 1, Form.NULL),)))

    def test_a_stamp_of_floats(self) -> None:
        with pytest.raises(ValueError, match="integer"):
            lower(Program(Grid(1, 1, 8), (), (Stamp("m", F16),)))


def test_lowering_is_quick_and_remembered() -> None:
    program = copy(Pointee(Component.FLOAT16))
    durations = []
    for _ in range(50):
        start = time.perf_counter()
        lower.__wrapped__(program)
        durations.append(time.perf_counter() - start)
    assert min(durations) < 1e-3
    assert lower(program) is lower(dataclasses.replace(program))
