"""Opcodes and enumerants of the binary form, and what each of them needs.

The numbers are facts of the public SPIR-V grammar (``spirv.core.grammar.json``, 1.6 revision 7);
names are the grammar's, without the ``Op`` of an instruction. Only what the lowering emits is
here: the tests disassemble every entry with a published disassembler, and find unused ones.
"""

from __future__ import annotations

import enum
from typing import Final


class Op(enum.IntEnum):
    """Instructions."""

    Extension = 10
    MemoryModel = 14
    EntryPoint = 15
    ExecutionMode = 16
    Capability = 17
    TypeVoid = 19
    TypeBool = 20
    TypeInt = 21
    TypeFloat = 22
    TypeVector = 23
    TypeArray = 28
    TypeRuntimeArray = 29
    TypeStruct = 30
    TypePointer = 32
    TypeFunction = 33
    Constant = 43
    ConstantComposite = 44
    ConstantNull = 46
    SpecConstant = 50
    SpecConstantComposite = 51
    Function = 54
    FunctionEnd = 56
    Variable = 59
    Load = 61
    Store = 62
    AccessChain = 65
    Decorate = 71
    MemberDecorate = 72
    CompositeConstruct = 80
    CompositeExtract = 81
    UConvert = 113
    Bitcast = 124
    IAdd = 128
    IMul = 132
    ULessThan = 176
    ShiftRightLogical = 194
    ControlBarrier = 224
    Phi = 245
    LoopMerge = 246
    Label = 248
    Branch = 249
    BranchConditional = 250
    Return = 253
    ExecutionModeId = 331
    TypeCooperativeMatrixKHR = 4456
    CooperativeMatrixLoadKHR = 4457
    CooperativeMatrixStoreKHR = 4458
    CooperativeMatrixMulAddKHR = 4459
    CooperativeMatrixLengthKHR = 4460
    ConstantCompositeReplicateEXT = 4461
    SpecConstantCompositeReplicateEXT = 4462
    CompositeConstructReplicateEXT = 4463


class Capability(enum.IntEnum):
    """Capabilities that the builder can declare."""

    Shader = 1
    Float16 = 9
    Float64 = 10
    Int64 = 11
    Int16 = 22
    Int8 = 39
    GroupNonUniform = 61
    Float8EXT = 4212
    Float8CooperativeMatrixEXT = 4213
    StorageBuffer16BitAccess = 4433
    StorageBuffer8BitAccess = 4448
    BFloat16TypeKHR = 5116
    BFloat16CooperativeMatrixKHR = 5118
    VulkanMemoryModel = 5345
    PhysicalStorageBufferAddresses = 5347
    CooperativeMatrixKHR = 6022
    ReplicatedCompositesEXT = 6024


class StorageClass(enum.IntEnum):
    """Storage classes."""

    Input = 1
    Workgroup = 4
    Private = 6
    Function = 7
    PushConstant = 9
    StorageBuffer = 12
    PhysicalStorageBuffer = 5349


class Decoration(enum.IntEnum):
    """Decorations."""

    SpecId = 1
    Block = 2
    ArrayStride = 6
    BuiltIn = 11
    Binding = 33
    DescriptorSet = 34
    Offset = 35


class BuiltIn(enum.IntEnum):
    """Built-in inputs."""

    WorkgroupId = 26
    LocalInvocationIndex = 29
    SubgroupId = 40
    SubgroupLocalInvocationId = 41


class Addressing(enum.IntEnum):
    """Addressing models."""

    Logical = 0
    PhysicalStorageBuffer64 = 5348


class Encoding(enum.IntEnum):
    """FP encodings: the formats that OpTypeFloat's width alone doesn't name."""

    BFloat16KHR = 0
    Float8E4M3EXT = 4214
    Float8E5M2EXT = 4215


class Memory(enum.IntFlag):
    """Memory operands of loads and stores."""

    Aligned = 0x2
    NonPrivatePointer = 0x20


class Semantics(enum.IntFlag):
    """Memory semantics of barriers."""

    AcquireRelease = 0x8
    UniformMemory = 0x40
    WorkgroupMemory = 0x100
    MakeAvailable = 0x2000
    MakeVisible = 0x4000


class Operands(enum.IntFlag):
    """Cooperative matrix operands of OpCooperativeMatrixMulAddKHR."""

    MatrixASignedComponentsKHR = 0x1
    MatrixBSignedComponentsKHR = 0x2
    MatrixCSignedComponentsKHR = 0x4
    MatrixResultSignedComponentsKHR = 0x8
    SaturatingAccumulationKHR = 0x10


class LoopControl(enum.IntFlag):
    """Hints about a loop."""

    NONE = 0x0
    DontUnroll = 0x2


MEMORY_MODEL_VULKAN: Final = 3
EXECUTION_MODEL_GLCOMPUTE: Final = 5
EXECUTION_MODE_LOCAL_SIZE: Final = 17
EXECUTION_MODE_LOCAL_SIZE_ID: Final = 38
SCOPE_WORKGROUP: Final = 2
SCOPE_SUBGROUP: Final = 3

# --- what an item needs; a missing row is a missing capability, so the tests cross-check ------

OP_NEEDS: Final[dict[int, Capability]] = {
    Op.TypeCooperativeMatrixKHR: Capability.CooperativeMatrixKHR,
    Op.CooperativeMatrixLoadKHR: Capability.CooperativeMatrixKHR,
    Op.CooperativeMatrixStoreKHR: Capability.CooperativeMatrixKHR,
    Op.CooperativeMatrixMulAddKHR: Capability.CooperativeMatrixKHR,
    Op.CooperativeMatrixLengthKHR: Capability.CooperativeMatrixKHR,
    Op.ConstantCompositeReplicateEXT: Capability.ReplicatedCompositesEXT,
    Op.SpecConstantCompositeReplicateEXT: Capability.ReplicatedCompositesEXT,
    Op.CompositeConstructReplicateEXT: Capability.ReplicatedCompositesEXT,
}
"""Capabilities of instructions."""

CAPABILITY_NEEDS: Final[dict[int, tuple[Capability, ...]]] = {
    Capability.CooperativeMatrixKHR: (Capability.VulkanMemoryModel,),
    Capability.BFloat16CooperativeMatrixKHR: (
        Capability.BFloat16TypeKHR,
        Capability.CooperativeMatrixKHR,
    ),
    Capability.Float8CooperativeMatrixEXT: (
        Capability.Float8EXT,
        Capability.CooperativeMatrixKHR,
    ),
}
"""Capabilities that have to be declared, or are implied, with another."""

CAPABILITY_EXTENSION: Final[dict[int, str]] = {
    Capability.CooperativeMatrixKHR: "SPV_KHR_cooperative_matrix",
    Capability.ReplicatedCompositesEXT: "SPV_EXT_replicated_composites",
    Capability.BFloat16TypeKHR: "SPV_KHR_bfloat16",
    Capability.BFloat16CooperativeMatrixKHR: "SPV_KHR_bfloat16",
    Capability.Float8EXT: "SPV_EXT_float8",
    Capability.Float8CooperativeMatrixEXT: "SPV_EXT_float8",
}
"""The SPIR-V extension of each capability that isn't part of SPIR-V 1.5."""

STORAGE_NEEDS: Final[dict[int, Capability]] = {
    StorageClass.PhysicalStorageBuffer: Capability.PhysicalStorageBufferAddresses,
}
"""Capabilities of storage classes."""

BUILTIN_NEEDS: Final[dict[int, Capability]] = {
    BuiltIn.SubgroupId: Capability.GroupNonUniform,
    BuiltIn.SubgroupLocalInvocationId: Capability.GroupNonUniform,
}
"""Capabilities of built-ins."""

INT_NEEDS: Final[dict[int, Capability]] = {
    8: Capability.Int8,
    16: Capability.Int16,
    64: Capability.Int64,
}
"""Capability by which integers of a width are values, not just memory."""

FLOAT_NEEDS: Final[dict[tuple[int, int | None], Capability]] = {
    (16, None): Capability.Float16,
    (64, None): Capability.Float64,
    (16, Encoding.BFloat16KHR): Capability.BFloat16TypeKHR,
    (8, Encoding.Float8E4M3EXT): Capability.Float8EXT,
    (8, Encoding.Float8E5M2EXT): Capability.Float8EXT,
}
"""Capability by which floats of a (width, encoding) are values."""

MATRIX_NEEDS: Final[dict[int, Capability]] = {
    Capability.BFloat16TypeKHR: Capability.BFloat16CooperativeMatrixKHR,
    Capability.Float8EXT: Capability.Float8CooperativeMatrixEXT,
}
"""Capability of a cooperative matrix, by the capability of its component type."""

BUFFER_ACCESS: Final[dict[int, Capability]] = {
    Capability.Int8: Capability.StorageBuffer8BitAccess,
    Capability.Int16: Capability.StorageBuffer16BitAccess,
    Capability.Float16: Capability.StorageBuffer16BitAccess,
}
"""Narrow types may lie in buffers with this capability instead of the one in the key."""

BUFFER_CLASSES: Final = frozenset(
    {int(StorageClass.StorageBuffer), int(StorageClass.PhysicalStorageBuffer)}
)
"""Storage classes that BUFFER_ACCESS is about."""
