"""Record structures, their text, and which programs they cover."""

from __future__ import annotations

import dataclasses
import struct

import pytest
from vulkan_object import get_vulkan_object

from cts.program.model import (
    Address,
    Buffer,
    Component,
    Grid,
    Layout,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Pointee,
    Program,
    Scope,
    Splat,
    Storage,
    Use,
)
from cts.program.records import (
    FLEXIBLE,
    KHR,
    NV,
    PROPERTIES2,
    RECORD_STRUCTS,
    VECTOR,
    decode,
    describe_record,
    record_needs,
    unsupported,
    used,
)
from cts.program.requires import FLEXIBLE_DIMENSIONS
from cts.spirv.request import dispatch
from tests.program.devices import F16, F32, INFO, S8, S32, flexible, having, khr, without


def product(
    m: int = 8,
    n: int = 8,
    k: int = 8,
    types: tuple[Component, ...] = (F16, F16, F32, F32),
    saturating: bool = False,
    scope: Scope = Scope.SUBGROUP,
    grid: Grid | None = None,
    buffers: tuple[Buffer, ...] = (),
) -> Program:
    a, b, c, d = types
    result = MatrixType(d, m, n, Use.ACCUMULATOR, scope)
    body = (
        Splat("a", MatrixType(a, m, k, Use.A, scope)),
        Splat("b", MatrixType(b, k, n, Use.B, scope)),
        Splat("c", MatrixType(c, m, n, Use.ACCUMULATOR, scope)),
        MulAdd("d", result, "a", "b", "c", *(t.is_signed for t in types), saturating),
    )
    return Program(grid or Grid(1, 2, 8), buffers, body)


@pytest.mark.parametrize("command", sorted(RECORD_STRUCTS))
def test_structures_are_those_of_the_registry(command: str) -> None:
    registry = get_vulkan_object()
    mine = RECORD_STRUCTS[command]
    theirs = registry.structs[mine.name]
    assert tuple(member.name for member in theirs.members) == ("sType", "pNext", *mine.members)
    types = {member.type for member in theirs.members[2:]}
    assert types <= {
        "uint32_t",
        "VkBool32",
        "VkComponentTypeKHR",
        "VkComponentTypeNV",
        "VkScopeKHR",
        "VkScopeNV",
    }
    (value,) = (
        field.value
        for field in registry.enums["VkStructureType"].fields
        if field.name == theirs.sType
    )
    assert mine.structure_type == value
    assert registry.commands[command].params[-1].type == mine.name


def test_memory_decodes_in_the_order_of_the_header() -> None:
    memory = b"".join(
        struct.pack("<QQ10I", 1000593001, 0, *range(first, first + 10)) for first in (1, 101)
    )
    first, second = decode(FLEXIBLE, memory + b"guard", 2)
    assert first["MGranularity"] == 1 and first["workgroupInvocations"] == 10
    assert second["AType"] == 104
    padded = struct.pack("<QQ9II", 1000506001, 0, *range(1, 10), 0)
    assert decode(KHR, padded, 1)[0]["scope"] == 9
    with pytest.raises(ValueError, match="don't fit"):
        decode(KHR, padded, 2)


@pytest.mark.parametrize(
    ("command", "record", "text"),
    [
        (KHR, khr(), "8x8x8 float16 x float16 + float32 -> float32, subgroup"),
        (
            KHR,
            khr(16, 8, 32, (S8, S8, S32, S32), True),
            "16x8x32 sint8 x sint8 + sint32 -> sint32, saturating, subgroup",
        ),
        (
            KHR,
            {**khr(), "AType": 1000672000, "scope": 9},
            "8x8x8 component type 1000672000 x float16 + float32 -> float32, scope 9",
        ),
        (
            FLEXIBLE,
            flexible(scope=Scope.WORKGROUP, invocations=256),
            "multiples of 8x8x8 float16 x float16 + float32 -> float32, workgroup of 256",
        ),
        (
            NV,
            {**khr(), "DType": 0},
            "8x8x8 float16 x float16 + float32 -> float16, subgroup",
        ),
        (
            PROPERTIES2,
            {name: flexible()[name] for name in RECORD_STRUCTS[PROPERTIES2].members},
            "multiples of 8x8x8 float16 x float16 + float32 -> float32",
        ),
        (
            VECTOR,
            {
                "inputType": 0,
                "inputInterpretation": 1000491002,
                "matrixInterpretation": 1000491002,
                "biasInterpretation": 0,
                "resultType": 0,
                "transpose": 1,
            },
            "float8_e4m3 matrix x float16 as float8_e4m3 + float16 -> float16, transpose",
        ),
    ],
)
def test_records_read_as_one_line(command: str, record: dict[str, int], text: str) -> None:
    assert describe_record(command, record) == text


class TestProducts:
    def test_exact_records(self) -> None:
        assert unsupported(product(), INFO) is None
        assert used(product(), INFO) == (f"{KHR}#0",)
        assert used(product(16, 8, 32), INFO) == (f"{KHR}#3",)
        assert record_needs(product(), INFO) == ()

    def test_saturation_decides_between_records(self) -> None:
        types = (S8, S8, S32, S32)
        assert used(product(types=types), INFO) == (f"{KHR}#1",)
        assert used(product(types=types, saturating=True), INFO) == (f"{KHR}#2",)

    @pytest.mark.parametrize(
        "other",
        [
            product(8, 16, 8),
            product(16, 8, 8),
            product(8, 8, 16),
            product(types=(F16, F16, F16, F32)),
            product(types=(F16, F16, F32, F16)),
            product(types=(F32, F16, F32, F32)),
            product(types=(Component.UINT8, S8, S32, S32)),
            product(scope=Scope.WORKGROUP),
            product(16, 16, 24),
            product(272, 16, 16),
        ],
    )
    def test_what_no_record_has_is_not_supported(self, other: Program) -> None:
        reason = unsupported(other, INFO)
        assert reason is not None and reason.startswith("No advertised record")

    def test_flexible_records_take_multiples(self) -> None:
        program = product(48, 16, 256)
        assert unsupported(program, INFO) is None
        assert used(program, INFO) == (f"{FLEXIBLE}#0",)
        assert record_needs(program, INFO) == (FLEXIBLE_DIMENSIONS,)

    def test_flexible_records_need_their_feature(self) -> None:
        assert FLEXIBLE_DIMENSIONS.feature is not None
        assert unsupported(product(48, 16, 256), without(FLEXIBLE_DIMENSIONS.feature)) is not None

    def test_the_feature_is_enabled_only_for_flexible_sizes(self) -> None:
        assert FLEXIBLE_DIMENSIONS.feature in dispatch(product(48, 16, 16), {}, INFO).features
        assert FLEXIBLE_DIMENSIONS.feature not in dispatch(product(), {}, INFO).features

    def test_workgroup_records_fix_the_workgroup(self) -> None:
        sizes = {"m": 64, "n": 32, "k": 16, "scope": Scope.WORKGROUP}
        assert unsupported(product(**sizes, grid=Grid(1, 4, 8)), INFO) is None
        assert unsupported(product(**sizes, grid=Grid(1, 2, 8)), INFO) is not None


class TestTypes:
    def program(self, type: MatrixType) -> Program:
        return Program(Grid(1, 1, 8), (), (Splat("m", type),))

    @pytest.mark.parametrize(
        "type",
        [
            MatrixType(F16, 16, 32, Use.A),
            MatrixType(F16, 32, 8, Use.B),
            MatrixType(F32, 16, 8, Use.ACCUMULATOR),
            MatrixType(F16, 48, 32, Use.A),
        ],
    )
    def test_a_matrix_of_any_record_stands_alone(self, type: MatrixType) -> None:
        assert unsupported(self.program(type), INFO) is None

    @pytest.mark.parametrize(
        "type",
        [
            MatrixType(F16, 8, 32, Use.B),
            MatrixType(F16, 8, 8, Use.ACCUMULATOR),
            MatrixType(F32, 8, 8, Use.A),
            MatrixType(F16, 24, 16, Use.A),
            MatrixType(F16, 8, 8, Use.A, Scope.WORKGROUP),
        ],
    )
    def test_other_uses_and_sizes_do_not(self, type: MatrixType) -> None:
        assert unsupported(self.program(type), INFO) is not None

    def test_the_type_of_a_length_counts(self) -> None:
        buffer = Buffer("l", Pointee(Component.UINT32), 64)
        for rows, covered in ((8, True), (24, False)):
            length = Length(MatrixType(F16, rows, 8, Use.A), "l")
            program = Program(Grid(1, 1, 8), (buffer,), (length,))
            assert (unsupported(program, INFO) is None) == covered


class TestLimits:
    def test_the_default_size_is_the_devices(self) -> None:
        reason = unsupported(product(grid=Grid(1, 1, 16)), INFO)
        assert reason == "The device's subgroups have 8 invocations, not 16."

    @pytest.mark.parametrize(("size", "fits"), [(2, False), (4, True), (32, True), (64, False)])
    def test_required_sizes_lie_between_the_limits(self, size: int, fits: bool) -> None:
        program = product(grid=Grid(1, 1, size, required=True))
        assert (unsupported(program, INFO) is None) == fits

    def test_compute_has_to_take_required_sizes(self) -> None:
        program = product(grid=Grid(1, 1, 16, required=True))
        assert unsupported(program, having(requiredSubgroupSizeStages=0x10)) is not None

    @pytest.mark.parametrize(
        ("grid", "fits"),
        [
            (Grid(1, 32, 8), True),
            (Grid(1, 33, 8), False),
            (Grid(1, 16, 8, True), True),
            (Grid(1, 17, 8, True), False),
            (Grid(65535, 1, 8), True),
            (Grid(65536, 1, 8), False),
        ],
    )
    def test_workgroups(self, grid: Grid, fits: bool) -> None:
        assert (unsupported(product(grid=grid), INFO) is None) == fits

    def test_workgroup_memory(self) -> None:
        def sized(bytes: int, **given: object) -> Program:
            buffer = Buffer("s", Pointee(Component.UINT8), bytes, Storage.WORKGROUP)
            return dataclasses.replace(product(**given), buffers=(buffer,))  # type: ignore[arg-type]

        assert unsupported(sized(32768), INFO) is None
        assert unsupported(sized(32769), INFO) is not None
        shared = {"m": 32, "n": 32, "scope": Scope.WORKGROUP, "k": 16, "grid": Grid(1, 4, 8)}
        assert unsupported(sized(16384, **shared), INFO) is None
        assert unsupported(sized(16385, **shared), INFO) is not None

    def test_bindings_and_addresses(self) -> None:
        def many(count: int, storage: Storage) -> Program:
            pointee = Pointee(Component.UINT32)
            buffers = tuple(Buffer(f"b{i}", pointee, 4, storage) for i in range(count))
            return product(buffers=buffers)

        assert unsupported(many(7, Storage.STORAGE_BUFFER), INFO) is None
        assert unsupported(many(8, Storage.STORAGE_BUFFER), INFO) is not None
        assert unsupported(many(16, Storage.PHYSICAL_STORAGE_BUFFER), INFO) is None
        assert unsupported(many(17, Storage.PHYSICAL_STORAGE_BUFFER), INFO) is not None

    def test_the_range_of_a_storage_buffer(self) -> None:
        buffer = Buffer("b", Pointee(Component.UINT8), 1025)
        program = product(buffers=(buffer,))
        assert unsupported(program, having(maxStorageBufferRange=1024)) is not None
        assert unsupported(program, having(maxStorageBufferRange=1025)) is None


def test_an_invalid_program_is_refused_with_its_rule() -> None:
    x = Buffer("x", Pointee(F16), 4)
    load = Load("m", MatrixType(F16, 8, 8, Use.A), Address("x", Layout.ROW_MAJOR, 8))
    reason = unsupported(Program(Grid(1, 1, 8), (x,), (load,)), INFO)
    assert reason is not None and reason.startswith("Invalid program: Load of m")
