"""Structures that are newer than the ``vulkan`` package, as a table, and its second FFI.

The package (1.3.275) knows everything up to VK_KHR_cooperative_matrix. Its ``ffi`` can't be
extended, so what came later is declared here; a pointer goes from one to the other as a number
(:func:`cts.device.vulkan.api.foreign`). Names, members, order, types and the values of
VkStructureType are the Vulkan registry's; a test compares every line with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import cffi

# A structure and its VkStructureType, then its members after pNext.
TABLE = """
VkPhysicalDeviceMaintenance5Features 1000470000
    VkBool32 maintenance5
VkPhysicalDeviceMaintenance6Features 1000545000
    VkBool32 maintenance6
VkPhysicalDeviceMaintenance7FeaturesKHR 1000562000
    VkBool32 maintenance7
VkPhysicalDeviceMaintenance8FeaturesKHR 1000574000
    VkBool32 maintenance8
VkPhysicalDeviceMaintenance9FeaturesKHR 1000584000
    VkBool32 maintenance9
VkPhysicalDeviceMaintenance10FeaturesKHR 1000630000
    VkBool32 maintenance10
VkPhysicalDeviceMaintenance11FeaturesKHR 1000657000
    VkBool32 maintenance11
VkPhysicalDeviceShaderFloatControls2Features 1000528000
    VkBool32 shaderFloatControls2
VkPhysicalDeviceShaderSubgroupRotateFeatures 1000416000
    VkBool32 shaderSubgroupRotate
    VkBool32 shaderSubgroupRotateClustered
VkPhysicalDeviceShaderExpectAssumeFeatures 1000544000
    VkBool32 shaderExpectAssume
VkPhysicalDeviceCooperativeMatrix2FeaturesNV 1000593000
    VkBool32 cooperativeMatrixWorkgroupScope
    VkBool32 cooperativeMatrixFlexibleDimensions
    VkBool32 cooperativeMatrixReductions
    VkBool32 cooperativeMatrixConversions
    VkBool32 cooperativeMatrixPerElementOperations
    VkBool32 cooperativeMatrixTensorAddressing
    VkBool32 cooperativeMatrixBlockLoads
VkPhysicalDeviceCooperativeMatrixDecodeVectorFeaturesNV 1000689000
    VkBool32 cooperativeMatrixDecodeVector
VkPhysicalDeviceCooperativeMatrixMaintenance1FeaturesEXT 1000659000
    VkBool32 cooperativeMatrixProperties2
    VkBool32 cooperativeMatrixReductions
    VkBool32 cooperativeMatrixConversions
    VkBool32 cooperativeMatrixPerElementOperations
    VkBool32 cooperativeMatrixGetCoordinate
VkPhysicalDeviceCooperativeVectorFeaturesNV 1000491000
    VkBool32 cooperativeVector
    VkBool32 cooperativeVectorTraining
VkPhysicalDeviceCooperativeMatrixConversionFeaturesQCOM 1000172000
    VkBool32 cooperativeMatrixConversion
VkPhysicalDeviceCooperativeMatrixLayoutsFeaturesARM 1000670000
    VkBool32 cooperativeMatrixArmLayouts
VkPhysicalDeviceShaderBfloat16FeaturesKHR 1000141000
    VkBool32 shaderBFloat16Type
    VkBool32 shaderBFloat16DotProduct
    VkBool32 shaderBFloat16CooperativeMatrix
VkPhysicalDeviceShaderFloat8FeaturesEXT 1000567000
    VkBool32 shaderFloat8
    VkBool32 shaderFloat8CooperativeMatrix
VkPhysicalDeviceShaderReplicatedCompositesFeaturesEXT 1000564000
    VkBool32 shaderReplicatedComposites
VkPhysicalDeviceShaderUntypedPointersFeaturesKHR 1000387000
    VkBool32 shaderUntypedPointers
VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR 1000434000
    VkBool32 shaderMaximalReconvergence
VkPhysicalDeviceShaderQuadControlFeaturesKHR 1000235000
    VkBool32 shaderQuadControl
VkPhysicalDeviceShaderRelaxedExtendedInstructionFeaturesKHR 1000558000
    VkBool32 shaderRelaxedExtendedInstruction
VkPhysicalDeviceShaderLongVectorFeaturesEXT 1000635000
    VkBool32 longVector
VkPhysicalDeviceShader64BitIndexingFeaturesEXT 1000627000
    VkBool32 shader64BitIndexing
VkPhysicalDeviceShaderAtomicFloat16VectorFeaturesNV 1000563000
    VkBool32 shaderFloat16VectorAtomics
VkPhysicalDeviceRobustness2FeaturesKHR 1000286000
    VkBool32 robustBufferAccess2
    VkBool32 robustImageAccess2
    VkBool32 nullDescriptor
VkPhysicalDevicePipelineRobustnessFeatures 1000068001
    VkBool32 pipelineRobustness
VkPhysicalDeviceMaintenance6Properties 1000545001
    VkBool32 blockTexelViewCompatibleMultipleLayers
    uint32_t maxCombinedImageSamplerDescriptorCount
    VkBool32 fragmentShadingRateClampCombinerInputs
VkPhysicalDeviceCooperativeMatrix2PropertiesNV 1000593002
    uint32_t cooperativeMatrixWorkgroupScopeMaxWorkgroupSize
    uint32_t cooperativeMatrixFlexibleDimensionsMaxDimension
    uint32_t cooperativeMatrixWorkgroupScopeReservedSharedMemory
VkPhysicalDeviceCooperativeVectorPropertiesNV 1000491001
    VkShaderStageFlags cooperativeVectorSupportedStages
    VkBool32 cooperativeVectorTrainingFloat16Accumulation
    VkBool32 cooperativeVectorTrainingFloat32Accumulation
    uint32_t maxCooperativeVectorComponents
VkPhysicalDeviceShaderLongVectorPropertiesEXT 1000635001
    uint32_t maxVectorComponents
VkPhysicalDeviceRobustness2PropertiesKHR 1000286001
    VkDeviceSize robustStorageBufferAccessSizeAlignment
    VkDeviceSize robustUniformBufferAccessSizeAlignment
VkPhysicalDevicePipelineRobustnessProperties 1000068002
    VkPipelineRobustnessBufferBehavior defaultRobustnessStorageBuffers
    VkPipelineRobustnessBufferBehavior defaultRobustnessUniformBuffers
    VkPipelineRobustnessBufferBehavior defaultRobustnessVertexInputs
    VkPipelineRobustnessImageBehavior defaultRobustnessImages
VkCooperativeMatrixFlexibleDimensionsPropertiesNV 1000593001
    uint32_t MGranularity
    uint32_t NGranularity
    uint32_t KGranularity
    VkComponentTypeKHR AType
    VkComponentTypeKHR BType
    VkComponentTypeKHR CType
    VkComponentTypeKHR ResultType
    VkBool32 saturatingAccumulation
    VkScopeKHR scope
    uint32_t workgroupInvocations
VkCooperativeMatrixProperties2EXT 1000659002
    uint32_t MGranularity
    uint32_t NGranularity
    uint32_t KGranularity
    VkComponentTypeKHR AType
    VkComponentTypeKHR BType
    VkComponentTypeKHR CType
    VkComponentTypeKHR ResultType
VkPhysicalDeviceCooperativeMatrixInfo2EXT 1000659001
    VkScopeKHR scope
    uint32_t invocations
    uint32_t subgroupSize
    VkCooperativeMatrixFlagsEXT flags
VkCooperativeVectorPropertiesNV 1000491002
    VkComponentTypeKHR inputType
    VkComponentTypeKHR inputInterpretation
    VkComponentTypeKHR matrixInterpretation
    VkComponentTypeKHR biasInterpretation
    VkComponentTypeKHR resultType
    VkBool32 transpose
VkConvertCooperativeVectorMatrixInfoNV 1000491004
    size_t srcSize
    VkDeviceOrHostAddressConstKHR srcData
    size_t* pDstSize
    VkDeviceOrHostAddressKHR dstData
    VkComponentTypeKHR srcComponentType
    VkComponentTypeKHR dstComponentType
    uint32_t numRows
    uint32_t numColumns
    VkCooperativeVectorMatrixLayoutNV srcLayout
    size_t srcStride
    VkCooperativeVectorMatrixLayoutNV dstLayout
    size_t dstStride
"""

# Types of members: enumerations and flags are 32 bits wide, unknown values stay numbers.
TYPES = """
typedef uint32_t VkStructureType;
typedef uint32_t VkBool32;
typedef uint64_t VkDeviceSize;
typedef uint64_t VkDeviceAddress;
typedef uint32_t VkShaderStageFlags;
typedef uint32_t VkScopeKHR;
typedef uint32_t VkComponentTypeKHR;
typedef uint32_t VkCooperativeMatrixFlagsEXT;
typedef uint32_t VkCooperativeVectorMatrixLayoutNV;
typedef uint32_t VkPipelineRobustnessBufferBehavior;
typedef uint32_t VkPipelineRobustnessImageBehavior;
typedef union VkDeviceOrHostAddressKHR {
    VkDeviceAddress deviceAddress; void* hostAddress;
} VkDeviceOrHostAddressKHR;
typedef union VkDeviceOrHostAddressConstKHR {
    VkDeviceAddress deviceAddress; const void* hostAddress;
} VkDeviceOrHostAddressConstKHR;
"""

# Handles are pointers, VkResult is an int.
FUNCTIONS = """
typedef int (*PFN_vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV)(
    void* physicalDevice, uint32_t* pPropertyCount,
    VkCooperativeMatrixFlexibleDimensionsPropertiesNV* pProperties);
typedef int (*PFN_vkGetPhysicalDeviceCooperativeMatrixProperties2EXT)(
    void* physicalDevice, const VkPhysicalDeviceCooperativeMatrixInfo2EXT* pCooperativeMatrixInfo,
    uint32_t* pPropertyCount, VkCooperativeMatrixProperties2EXT* pProperties);
typedef int (*PFN_vkGetPhysicalDeviceCooperativeVectorPropertiesNV)(
    void* physicalDevice, uint32_t* pPropertyCount, VkCooperativeVectorPropertiesNV* pProperties);
typedef int (*PFN_vkConvertCooperativeVectorMatrixNV)(
    void* device, const VkConvertCooperativeVectorMatrixInfoNV* pInfo);
typedef void (*PFN_vkCmdConvertCooperativeVectorMatrixNV)(
    void* commandBuffer, uint32_t infoCount, const VkConvertCooperativeVectorMatrixInfoNV* pInfos);
"""

# Structures that a command only reads: their pNext points to const.
INPUTS = frozenset(
    {"VkPhysicalDeviceCooperativeMatrixInfo2EXT", "VkConvertCooperativeVectorMatrixInfoNV"}
)


@dataclass(frozen=True)
class Declaration:
    """One structure of the table."""

    name: str
    structure_type: int
    members: tuple[tuple[str, str], ...]
    """(type, name), sType and pNext left out."""


def declarations() -> tuple[Declaration, ...]:
    """The table, parsed."""
    found: list[Declaration] = []
    head: tuple[str, int] | None = None
    members: list[tuple[str, str]] = []
    for line in [*TABLE.strip().splitlines(), ""]:
        if line.startswith(" "):
            kind, _, name = line.strip().rpartition(" ")
            members.append((kind, name))
            continue
        if head:
            found.append(Declaration(*head, tuple(members)))
        members = []
        if line:
            name, _, value = line.partition(" ")
            head = (name, int(value))
    return tuple(found)


def source() -> str:
    """The table as C, for cffi."""
    lines = [TYPES]
    for one in declarations():
        const = "const " if one.name in INPUTS else ""
        members = "".join(f" {kind} {name};" for kind, name in one.members)
        lines.append(
            f"typedef struct {one.name} {{ VkStructureType sType; {const}void* pNext;{members} }} "
            f"{one.name};"
        )
    return "\n".join([*lines, FUNCTIONS])


def newer() -> cffi.FFI:
    """A second FFI that knows the table."""
    ffi = cffi.FFI()
    ffi.cdef(source())
    return ffi
