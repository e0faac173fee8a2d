"""Which feature and property structures a device is asked for, as tables.

Every line: structure, VkStructureType, the Vulkan version it is core in (``-`` for none), the
extensions that bring it. A structure is chained to a query only where the device has one of
them, so a driver never meets a structure it doesn't know. The names and values are the Vulkan
registry's; a test compares every line with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FEATURES = """
VkPhysicalDeviceVulkan11Features 49 1.2
VkPhysicalDeviceVulkan12Features 51 1.2
VkPhysicalDeviceVulkan13Features 53 1.3
VkPhysicalDevice16BitStorageFeatures 1000083000 1.1 VK_KHR_16bit_storage
VkPhysicalDevice8BitStorageFeatures 1000177000 1.2 VK_KHR_8bit_storage
VkPhysicalDeviceShaderFloat16Int8Features 1000082000 1.2 VK_KHR_shader_float16_int8
VkPhysicalDeviceBufferDeviceAddressFeatures 1000257000 1.2 VK_KHR_buffer_device_address
VkPhysicalDeviceVulkanMemoryModelFeatures 1000211000 1.2 VK_KHR_vulkan_memory_model
VkPhysicalDeviceVariablePointersFeatures 1000120000 1.1 VK_KHR_variable_pointers
VkPhysicalDeviceShaderAtomicInt64Features 1000180000 1.2 VK_KHR_shader_atomic_int64
VkPhysicalDeviceScalarBlockLayoutFeatures 1000221000 1.2 VK_EXT_scalar_block_layout
VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures 1000175000 1.2 VK_KHR_shader_subgroup_extended_types
VkPhysicalDeviceSubgroupSizeControlFeatures 1000225002 1.3 VK_EXT_subgroup_size_control
VkPhysicalDeviceSynchronization2Features 1000314007 1.3 VK_KHR_synchronization2
VkPhysicalDeviceZeroInitializeWorkgroupMemoryFeatures 1000325000 1.3 VK_KHR_zero_initialize_workgroup_memory
VkPhysicalDeviceShaderIntegerDotProductFeatures 1000280000 1.3 VK_KHR_shader_integer_dot_product
VkPhysicalDeviceMaintenance4Features 1000413000 1.3 VK_KHR_maintenance4
VkPhysicalDeviceMaintenance5Features 1000470000 1.4 VK_KHR_maintenance5
VkPhysicalDeviceMaintenance6Features 1000545000 1.4 VK_KHR_maintenance6
VkPhysicalDeviceMaintenance7FeaturesKHR 1000562000 - VK_KHR_maintenance7
VkPhysicalDeviceMaintenance8FeaturesKHR 1000574000 - VK_KHR_maintenance8
VkPhysicalDeviceMaintenance9FeaturesKHR 1000584000 - VK_KHR_maintenance9
VkPhysicalDeviceMaintenance10FeaturesKHR 1000630000 - VK_KHR_maintenance10
VkPhysicalDeviceMaintenance11FeaturesKHR 1000657000 - VK_KHR_maintenance11
VkPhysicalDeviceShaderFloatControls2Features 1000528000 1.4 VK_KHR_shader_float_controls2
VkPhysicalDeviceShaderSubgroupRotateFeatures 1000416000 1.4 VK_KHR_shader_subgroup_rotate
VkPhysicalDeviceShaderExpectAssumeFeatures 1000544000 1.4 VK_KHR_shader_expect_assume
VkPhysicalDeviceCooperativeMatrixFeaturesKHR 1000506000 - VK_KHR_cooperative_matrix
VkPhysicalDeviceCooperativeMatrixFeaturesNV 1000249000 - VK_NV_cooperative_matrix
VkPhysicalDeviceCooperativeMatrix2FeaturesNV 1000593000 - VK_NV_cooperative_matrix2
VkPhysicalDeviceCooperativeMatrixDecodeVectorFeaturesNV 1000689000 - VK_NV_cooperative_matrix_decode_vector
VkPhysicalDeviceCooperativeMatrixMaintenance1FeaturesEXT 1000659000 - VK_EXT_cooperative_matrix_maintenance1
VkPhysicalDeviceCooperativeVectorFeaturesNV 1000491000 - VK_NV_cooperative_vector
VkPhysicalDeviceCooperativeMatrixConversionFeaturesQCOM 1000172000 - VK_QCOM_cooperative_matrix_conversion
VkPhysicalDeviceCooperativeMatrixLayoutsFeaturesARM 1000670000 - VK_ARM_cooperative_matrix_layouts
VkPhysicalDeviceShaderBfloat16FeaturesKHR 1000141000 - VK_KHR_shader_bfloat16
VkPhysicalDeviceShaderFloat8FeaturesEXT 1000567000 - VK_EXT_shader_float8
VkPhysicalDeviceShaderReplicatedCompositesFeaturesEXT 1000564000 - VK_EXT_shader_replicated_composites
VkPhysicalDeviceShaderUntypedPointersFeaturesKHR 1000387000 - VK_KHR_shader_untyped_pointers
VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR 1000336000 - VK_KHR_workgroup_memory_explicit_layout
VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR 1000323000 - VK_KHR_shader_subgroup_uniform_control_flow
VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR 1000434000 - VK_KHR_shader_maximal_reconvergence
VkPhysicalDeviceShaderQuadControlFeaturesKHR 1000235000 - VK_KHR_shader_quad_control
VkPhysicalDeviceShaderRelaxedExtendedInstructionFeaturesKHR 1000558000 - VK_KHR_shader_relaxed_extended_instruction
VkPhysicalDeviceShaderLongVectorFeaturesEXT 1000635000 - VK_EXT_shader_long_vector
VkPhysicalDeviceShader64BitIndexingFeaturesEXT 1000627000 - VK_EXT_shader_64bit_indexing
VkPhysicalDeviceShaderAtomicFloatFeaturesEXT 1000260000 - VK_EXT_shader_atomic_float
VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT 1000273000 - VK_EXT_shader_atomic_float2
VkPhysicalDeviceShaderAtomicFloat16VectorFeaturesNV 1000563000 - VK_NV_shader_atomic_float16_vector
VkPhysicalDeviceRobustness2FeaturesKHR 1000286000 - VK_KHR_robustness2 VK_EXT_robustness2
VkPhysicalDeviceDynamicRenderingFeatures 1000044003 1.3 VK_KHR_dynamic_rendering
VkPhysicalDeviceMeshShaderFeaturesEXT 1000328000 - VK_EXT_mesh_shader
VkPhysicalDeviceAccelerationStructureFeaturesKHR 1000150013 - VK_KHR_acceleration_structure
VkPhysicalDeviceRayTracingPipelineFeaturesKHR 1000347000 - VK_KHR_ray_tracing_pipeline
VkPhysicalDevicePipelineRobustnessFeatures 1000068001 1.4 VK_EXT_pipeline_robustness
VkPhysicalDeviceImageRobustnessFeatures 1000335000 1.3 VK_EXT_image_robustness
"""  # noqa: E501

PROPERTIES = """
VkPhysicalDeviceSubgroupProperties 1000094000 1.1
VkPhysicalDeviceIDProperties 1000071004 1.1
VkPhysicalDeviceMaintenance3Properties 1000168000 1.1 VK_KHR_maintenance3
VkPhysicalDeviceVulkan11Properties 50 1.2
VkPhysicalDeviceVulkan12Properties 52 1.2
VkPhysicalDeviceVulkan13Properties 54 1.3
VkPhysicalDeviceDriverProperties 1000196000 1.2 VK_KHR_driver_properties
VkPhysicalDeviceFloatControlsProperties 1000197000 1.2 VK_KHR_shader_float_controls
VkPhysicalDeviceSubgroupSizeControlProperties 1000225000 1.3 VK_EXT_subgroup_size_control
VkPhysicalDeviceMaintenance4Properties 1000413001 1.3 VK_KHR_maintenance4
VkPhysicalDeviceMaintenance6Properties 1000545001 1.4 VK_KHR_maintenance6
VkPhysicalDevicePCIBusInfoPropertiesEXT 1000212000 - VK_EXT_pci_bus_info
VkPhysicalDeviceCooperativeMatrixPropertiesKHR 1000506002 - VK_KHR_cooperative_matrix
VkPhysicalDeviceCooperativeMatrixPropertiesNV 1000249002 - VK_NV_cooperative_matrix
VkPhysicalDeviceCooperativeMatrix2PropertiesNV 1000593002 - VK_NV_cooperative_matrix2
VkPhysicalDeviceCooperativeVectorPropertiesNV 1000491001 - VK_NV_cooperative_vector
VkPhysicalDeviceShaderLongVectorPropertiesEXT 1000635001 - VK_EXT_shader_long_vector
VkPhysicalDeviceRobustness2PropertiesKHR 1000286001 - VK_KHR_robustness2 VK_EXT_robustness2
VkPhysicalDeviceMeshShaderPropertiesEXT 1000328001 - VK_EXT_mesh_shader
VkPhysicalDeviceAccelerationStructurePropertiesKHR 1000150014 - VK_KHR_acceleration_structure
VkPhysicalDeviceRayTracingPipelinePropertiesKHR 1000347001 - VK_KHR_ray_tracing_pipeline
VkPhysicalDevicePipelineRobustnessProperties 1000068002 1.4 VK_EXT_pipeline_robustness
"""


@dataclass(frozen=True)
class Structure:
    """One line of a table."""

    name: str
    structure_type: int
    core: tuple[int, int] | None
    extensions: tuple[str, ...]

    def known_to(self, version: tuple[int, int], extensions: Iterable[str]) -> bool:
        """Whether a device of this version with these extensions knows the structure."""
        return (self.core is not None and version >= self.core) or any(
            extension in extensions for extension in self.extensions
        )


def _parse(table: str) -> tuple[Structure, ...]:
    found = []
    for line in table.strip().splitlines():
        name, value, core, *extensions = line.split()
        major, _, minor = core.partition(".")
        version = None if core == "-" else (int(major), int(minor))
        found.append(Structure(name, int(value), version, tuple(extensions)))
    return tuple(found)


def feature_structures() -> tuple[Structure, ...]:
    """The structures for VkPhysicalDeviceFeatures2."""
    return _parse(FEATURES)


def property_structures() -> tuple[Structure, ...]:
    """The structures for VkPhysicalDeviceProperties2."""
    return _parse(PROPERTIES)
