"""What a module takes to run: device features, extensions and the API version.

One table leads from a capability to the feature that allows it (Vulkan specification, appendix
"Vulkan Environment for SPIR-V", capabilities) and to the device extension that has the feature.
Features are named ``VkPhysicalDeviceXFeatures.member``; what core versions took over goes by the
structures of the versions, ``VkPhysicalDeviceVulkan12Features`` and so on.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from cts.device.protocol import DeviceInfo
from cts.spirv.module import Module

_CORE = "VkPhysicalDeviceFeatures."
_V11 = "VkPhysicalDeviceVulkan11Features."
_V12 = "VkPhysicalDeviceVulkan12Features."
_V13 = "VkPhysicalDeviceVulkan13Features."
_MATRIX2 = "VkPhysicalDeviceCooperativeMatrix2FeaturesNV."
_MAINTENANCE1 = "VkPhysicalDeviceCooperativeMatrixMaintenance1FeaturesEXT."


@dataclass(frozen=True)
class Need:
    """A feature to be enabled (or none) and the device extension that it comes with (or none)."""

    feature: str | None = None
    extension: str | None = None


CAPABILITIES: Final[dict[str, Need]] = {
    "Shader": Need(),
    "GroupNonUniform": Need(),  # basic subgroup operations: every compute queue since 1.1
    "Int8": Need(_V12 + "shaderInt8"),
    "Int16": Need(_CORE + "shaderInt16"),
    "Int64": Need(_CORE + "shaderInt64"),
    "Float16": Need(_V12 + "shaderFloat16"),
    "Float64": Need(_CORE + "shaderFloat64"),
    "StorageBuffer8BitAccess": Need(_V12 + "storageBuffer8BitAccess"),
    "StorageBuffer16BitAccess": Need(_V11 + "storageBuffer16BitAccess"),
    "PhysicalStorageBufferAddresses": Need(_V12 + "bufferDeviceAddress"),
    "VulkanMemoryModel": Need(_V12 + "vulkanMemoryModel"),
    "CooperativeMatrixKHR": Need(
        "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrix",
        "VK_KHR_cooperative_matrix",
    ),
    "ReplicatedCompositesEXT": Need(
        "VkPhysicalDeviceShaderReplicatedCompositesFeaturesEXT.shaderReplicatedComposites",
        "VK_EXT_shader_replicated_composites",
    ),
    "BFloat16TypeKHR": Need(
        "VkPhysicalDeviceShaderBfloat16FeaturesKHR.shaderBFloat16Type",
        "VK_KHR_shader_bfloat16",
    ),
    "BFloat16CooperativeMatrixKHR": Need(
        "VkPhysicalDeviceShaderBfloat16FeaturesKHR.shaderBFloat16CooperativeMatrix",
        "VK_KHR_shader_bfloat16",
    ),
    "Float8EXT": Need(
        "VkPhysicalDeviceShaderFloat8FeaturesEXT.shaderFloat8", "VK_EXT_shader_float8"
    ),
    "Float8CooperativeMatrixEXT": Need(
        "VkPhysicalDeviceShaderFloat8FeaturesEXT.shaderFloat8CooperativeMatrix",
        "VK_EXT_shader_float8",
    ),
    "CooperativeVectorNV": Need(
        "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVector",
        "VK_NV_cooperative_vector",
    ),
    "CooperativeVectorTrainingNV": Need(
        "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVectorTraining",
        "VK_NV_cooperative_vector",
    ),
    "CooperativeMatrixNV": Need(
        "VkPhysicalDeviceCooperativeMatrixFeaturesNV.cooperativeMatrix",
        "VK_NV_cooperative_matrix",
    ),
    # Properties allow these, and cts.program.limits looks at them.
    "DenormPreserve": Need(),
    "DenormFlushToZero": Need(),
    "SignedZeroInfNanPreserve": Need(),
    "RoundingModeRTE": Need(),
    "RoundingModeRTZ": Need(),
    # A stage needs more than its capability: STAGE_NEEDS.
    "Geometry": Need(_CORE + "geometryShader"),
    "Tessellation": Need(_CORE + "tessellationShader"),
    "MeshShadingEXT": Need(None, "VK_EXT_mesh_shader"),
    "RayTracingKHR": Need(
        "VkPhysicalDeviceRayTracingPipelineFeaturesKHR.rayTracingPipeline",
        "VK_KHR_ray_tracing_pipeline",
    ),
    # Several extensions have these; which of them a module means is one of its NEEDS.
    "CooperativeMatrixReductionsEXT": Need(),
    "CooperativeMatrixConversionsNV": Need(),
    "CooperativeMatrixConversionsEXT": Need(),
    "CooperativeMatrixPerElementOperationsEXT": Need(),
    "CooperativeMatrixGetCoordinateEXT": Need(),
    "CooperativeMatrixConversionQCOM": Need(),
    "CooperativeMatrixTensorAddressingNV": Need(),
    "CooperativeMatrixBlockLoadsNV": Need(),
    "CooperativeMatrixDecodeVectorNV": Need(),
    "TensorAddressingNV": Need(),
    "LongVectorEXT": Need(),
}
"""Every capability that the builder can declare."""


def _matrix2(feature: str) -> Need:
    return Need(_MATRIX2 + feature, "VK_NV_cooperative_matrix2")


def _maintenance1(feature: str) -> Need:
    return Need(_MAINTENANCE1 + feature, "VK_EXT_cooperative_matrix_maintenance1")


FLEXIBLE_DIMENSIONS: Final = Need(
    _MATRIX2 + "cooperativeMatrixFlexibleDimensions", "VK_NV_cooperative_matrix2"
)
"""Sizes that are multiples of a granularity (VUID-RuntimeSpirv-…FlexibleDimensions-10165)."""

PROPERTIES2_FEATURE: Final = _maintenance1("cooperativeMatrixProperties2")
"""Combinations that only VkCooperativeMatrixProperties2EXT lists."""

NEEDS: Final[dict[str, Need]] = {
    "FullSubgroups": Need(_V13 + "computeFullSubgroups"),
    "RequiredSubgroupSize": Need(_V13 + "subgroupSizeControl"),
    "RobustBufferAccess": Need(_CORE + "robustBufferAccess"),
    "RobustMatrixAccess": Need(
        "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrixRobustBufferAccess",
        "VK_KHR_cooperative_matrix",
    ),
    "RobustFirstMatrixAccess": Need(
        "VkPhysicalDeviceCooperativeMatrixFeaturesNV.cooperativeMatrixRobustBufferAccess",
        "VK_NV_cooperative_matrix",
    ),
    "LocalSizeId": Need(_V13 + "maintenance4"),  # VUID-RuntimeSpirv-LocalSizeId-06434
    "WorkgroupScope": Need(
        _MATRIX2 + "cooperativeMatrixWorkgroupScope", "VK_NV_cooperative_matrix2"
    ),  # VUID-RuntimeSpirv-cooperativeMatrixWorkgroupScope-10164
    "ReductionsNV": _matrix2("cooperativeMatrixReductions"),
    "ReductionsEXT": _maintenance1("cooperativeMatrixReductions"),
    "ConversionsNV": _matrix2("cooperativeMatrixConversions"),
    "ConversionsEXT": _maintenance1("cooperativeMatrixConversions"),
    "PerElementNV": _matrix2("cooperativeMatrixPerElementOperations"),
    "PerElementEXT": _maintenance1("cooperativeMatrixPerElementOperations"),
    "TensorAddressing": _matrix2("cooperativeMatrixTensorAddressing"),
    "BlockLoads": _matrix2("cooperativeMatrixBlockLoads"),
    "DecodeVector": Need(
        "VkPhysicalDeviceCooperativeMatrixDecodeVectorFeaturesNV.cooperativeMatrixDecodeVector",
        "VK_NV_cooperative_matrix_decode_vector",
    ),
    "LongVector": Need(
        "VkPhysicalDeviceShaderLongVectorFeaturesEXT.longVector", "VK_EXT_shader_long_vector"
    ),
    "ConversionQCOM": Need(
        "VkPhysicalDeviceCooperativeMatrixConversionFeaturesQCOM.cooperativeMatrixConversion",
        "VK_QCOM_cooperative_matrix_conversion",
    ),
    "GetCoordinate": _maintenance1("cooperativeMatrixGetCoordinate"),
}
"""Needs of the pipeline that no capability stands for."""

_MESH = "VkPhysicalDeviceMeshShaderFeaturesEXT."

PREPARATIONS: Final = (
    Need(_V12 + "bufferDeviceAddress"),
    Need(_V13 + "synchronization2"),
)
"""What conversions right before a shader need: addresses, and a barrier that names their stage."""

STAGE_NEEDS: Final[dict[str, Need]] = {
    # VUID-RuntimeSpirv-NonWritable-06340 and -06341
    "VertexStores": Need(_CORE + "vertexPipelineStoresAndAtomics"),
    "FragmentStores": Need(_CORE + "fragmentStoresAndAtomics"),
    "Rendering": Need(_V13 + "dynamicRendering"),
    "TaskShader": Need(_MESH + "taskShader", "VK_EXT_mesh_shader"),
    "MeshShader": Need(_MESH + "meshShader", "VK_EXT_mesh_shader"),
    "AccelerationStructure": Need(
        "VkPhysicalDeviceAccelerationStructureFeaturesKHR.accelerationStructure",
        "VK_KHR_acceleration_structure",
    ),
    "AccelerationStructures": Need(None, "VK_KHR_acceleration_structure"),
    "DeferredHostOperations": Need(None, "VK_KHR_deferred_host_operations"),
    "AddressedTables": Need(_V12 + "bufferDeviceAddress"),
}
"""What pipelines of other stages than compute need: to store to buffers, to draw without a render
pass, and shader binding tables with what VK_KHR_ray_tracing_pipeline depends on."""

_VERSION_OF_STRUCTURE = {_V11: (1, 2), _V12: (1, 2), _V13: (1, 3)}


@dataclass(frozen=True)
class Requires:
    """What a device has to support, and what has to be enabled, for a pipeline."""

    features: Collection[str] = frozenset()
    extensions: Collection[str] = frozenset()

    @property
    def api_version(self) -> tuple[int, int]:
        """The first Vulkan version with the features' structures; 1.2 at least, which brought
        SPIR-V 1.5."""
        versions = [
            version
            for prefix, version in _VERSION_OF_STRUCTURE.items()
            if any(feature.startswith(prefix) for feature in self.features)
        ]
        return max(versions, default=(1, 2))


def combine(base: Requires, *needs: Need) -> Requires:
    """``base`` with further needs."""
    return Requires(
        frozenset(base.features) | {need.feature for need in needs if need.feature is not None},
        frozenset(base.extensions)
        | {need.extension for need in needs if need.extension is not None},
    )


def requirements(module: Module) -> Requires:
    """What ``module`` needs. KeyError where a capability or a need has no row: a fault of the
    suite."""
    return combine(
        Requires(),
        *(CAPABILITIES[name] for name in module.capabilities),
        *((NEEDS | STAGE_NEEDS)[name] for name in module.needs),
    )


def robust_access_2(info: DeviceInfo) -> Need:
    """robustBufferAccess2, by the extension that the device has."""
    names = ("VK_KHR_robustness2", "VK_EXT_robustness2")
    extension = next((name for name in names if name in info.extensions), names[0])
    return Need("VkPhysicalDeviceRobustness2FeaturesKHR.robustBufferAccess2", extension)


def _version(text: str) -> tuple[int, int]:
    major, minor, *_ = (int(part) for part in text.split("."))
    return major, minor


def missing(requires: Requires, info: DeviceInfo) -> list[str]:
    """Why ``info``'s device can't run something with these requirements; empty if it can."""
    reasons: list[str] = []
    if _version(info.api_version) < requires.api_version:
        major, minor = requires.api_version
        reasons.append(f"needs Vulkan {major}.{minor}, the device has {info.api_version}")
    reasons += [
        f"needs {extension}, which the device doesn't have"
        for extension in sorted(requires.extensions)
        if extension not in info.extensions
    ]
    reasons += [
        f"needs the feature {feature}, which the device doesn't have"
        for feature in sorted(requires.features)
        if feature not in info.features
    ]
    return reasons
