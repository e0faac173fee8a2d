"""Every structure, value and command that the server declares is the Vulkan registry's."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cffi
import pytest
import vulkan_object

from cts.device import results
from cts.device.vulkan import (
    convert,
    graphics,
    infos,
    instance,
    logical,
    memory,
    pipelines,
    preparation,
    queries,
    rays,
    recorder,
    scene,
    shaders,
)
from cts.device.vulkan.api import Api
from cts.device.vulkan.declarations import (
    INPUTS,
    Declaration,
    declarations,
    newer,
    source,
)
from cts.device.vulkan.structures import (
    Structure,
    feature_structures,
    property_structures,
)

REGISTRY = vulkan_object.get_vulkan_object()
TYPES = {
    name: field.value
    for field in REGISTRY.enums["VkStructureType"].fields
    for name in (field.name, *field.aliases)
}


def package_ffi() -> Any:
    """The declarations of the ``vulkan`` package, without its loader."""
    spec = importlib.util.find_spec("vulkan")
    assert spec and spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0]) / "_vulkancache.py"
    found = importlib.util.spec_from_file_location("declared", path)
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.ffi


PACKAGE = package_ffi()


@pytest.mark.parametrize("one", declarations(), ids=lambda one: one.name)
def test_a_newer_structure_is_the_registry_s(one: Declaration) -> None:
    known = REGISTRY.structs[one.name]
    assert one.structure_type == TYPES[known.sType]
    assert [member.name for member in known.members[:2]] == ["sType", "pNext"]
    assert (known.members[1].fullType == "const void*") == (one.name in INPUTS)
    assert list(one.members) == [(it.fullType, it.name) for it in known.members[2:]]
    assert not any(member.fixedSizeArray for member in known.members)


def test_the_types_of_members_have_the_registry_s_width() -> None:
    ffi = newer()
    used = {kind for one in declarations() for kind, _ in one.members if kind.startswith("Vk")}
    for kind in used:
        if kind in REGISTRY.enums:
            assert ffi.sizeof(kind) == 4
        elif kind in REGISTRY.flags:
            assert ffi.sizeof(kind) == REGISTRY.flags[kind].bitWidth // 8
        else:
            assert kind in (
                "VkBool32",
                "VkDeviceSize",
                "VkDeviceOrHostAddressKHR",
                "VkDeviceOrHostAddressConstKHR",
            )
            assert ffi.sizeof(kind) == PACKAGE.sizeof(kind)


def test_the_package_knows_none_of_the_newer_structures() -> None:
    for one in declarations():
        with pytest.raises(PACKAGE.error):
            PACKAGE.typeof(one.name)


def test_every_structure_of_the_cooperative_extensions_is_declared() -> None:
    ours = {one.name for one in declarations()}
    for name, known in REGISTRY.structs.items():
        if any("cooperative" in extension for extension in known.extensions):
            try:
                PACKAGE.typeof(name)
            except PACKAGE.error:
                assert name in ours


@pytest.mark.parametrize(
    "one", feature_structures() + property_structures(), ids=lambda one: one.name
)
def test_a_structure_of_the_tables_is_the_registry_s(one: Structure) -> None:
    known = REGISTRY.structs[one.name]
    assert one.structure_type == TYPES[known.sType]
    version = known.version.name if known.version else None
    assert version == (one.core and f"VK_VERSION_{one.core[0]}_{one.core[1]}")
    assert set(one.extensions) <= set(known.extensions)
    assert one.core or one.extensions


def test_features_and_properties_are_in_their_own_table() -> None:
    for one in feature_structures():
        assert "VkPhysicalDeviceFeatures2" in REGISTRY.structs[one.name].extends
    for one in property_structures():
        assert "VkPhysicalDeviceProperties2" in REGISTRY.structs[one.name].extends


def test_a_feature_that_a_versioned_structure_took_over_means_the_same() -> None:
    """``Features.normal`` goes by the member's name alone."""
    versioned = {
        member.name: name
        for name in logical.VERSIONED
        for member in REGISTRY.structs[name].members[2:]
    }
    for one in feature_structures():
        if one.name in logical.VERSIONED:
            continue
        for member in REGISTRY.structs[one.name].members[2:]:
            if member.name in versioned:
                taken = REGISTRY.structs[versioned[member.name]].version.name
                known = REGISTRY.structs[one.name].version
                assert known is not None and known.name <= taken, (one.name, member.name)


@pytest.mark.parametrize("command", queries.COMMANDS)
def test_an_enumeration_command_fills_its_structure(command: str) -> None:
    known = REGISTRY.commands[command]
    entry = queries.COMMANDS[command]
    assert known.params[-1].type == entry.structure
    assert entry.structure_type == TYPES[REGISTRY.structs[entry.structure].sType]
    assert entry.extension in known.extensions
    assert entry.parameterised == (len(known.params) == 4)


def test_every_enumeration_command_of_both_extensions_families_is_there() -> None:
    assert set(queries.COMMANDS) == {
        name for name in REGISTRY.commands if name.startswith("vkGetPhysicalDeviceCooperative")
    }


CONSTANTS = {
    "VkApplicationInfo": instance._APPLICATION_INFO,
    "VkInstanceCreateInfo": instance._INSTANCE_CREATE_INFO,
    "VkPhysicalDeviceProperties2": instance._PROPERTIES_2,
    "VkPhysicalDeviceIDProperties": instance._ID_PROPERTIES,
    "VkDeviceQueueCreateInfo": logical._DEVICE_QUEUE_CREATE_INFO,
    "VkDeviceCreateInfo": logical._DEVICE_CREATE_INFO,
    "VkPhysicalDeviceFeatures2": logical._FEATURES_2,
    "VkBufferCreateInfo": memory._BUFFER_CREATE_INFO,
    "VkMemoryAllocateInfo": memory._MEMORY_ALLOCATE_INFO,
    "VkMemoryAllocateFlagsInfo": memory._MEMORY_ALLOCATE_FLAGS_INFO,
    "VkBufferDeviceAddressInfo": memory._BUFFER_DEVICE_ADDRESS_INFO,
    "VkShaderModuleCreateInfo": shaders._SHADER_MODULE_CREATE_INFO,
    "VkPipelineShaderStageCreateInfo": shaders._STAGE_CREATE_INFO,
    "VkComputePipelineCreateInfo": pipelines._COMPUTE_PIPELINE_CREATE_INFO,
    "VkPipelineLayoutCreateInfo": pipelines._PIPELINE_LAYOUT_CREATE_INFO,
    "VkDescriptorSetLayoutCreateInfo": pipelines._SET_LAYOUT_CREATE_INFO,
    "VkDescriptorPoolCreateInfo": pipelines._POOL_CREATE_INFO,
    "VkDescriptorSetAllocateInfo": pipelines._SET_ALLOCATE_INFO,
    "VkWriteDescriptorSet": pipelines._WRITE_SET,
    "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo": pipelines._REQUIRED_SIZE_CREATE_INFO,
    "VkGraphicsPipelineCreateInfo": graphics._GRAPHICS_PIPELINE_CREATE_INFO,
    "VkPipelineVertexInputStateCreateInfo": graphics._VERTEX_INPUT_CREATE_INFO,
    "VkPipelineInputAssemblyStateCreateInfo": graphics._INPUT_ASSEMBLY_CREATE_INFO,
    "VkPipelineTessellationStateCreateInfo": graphics._TESSELLATION_CREATE_INFO,
    "VkPipelineViewportStateCreateInfo": graphics._VIEWPORT_CREATE_INFO,
    "VkPipelineRasterizationStateCreateInfo": graphics._RASTERIZATION_CREATE_INFO,
    "VkPipelineMultisampleStateCreateInfo": graphics._MULTISAMPLE_CREATE_INFO,
    "VkPipelineDynamicStateCreateInfo": graphics._DYNAMIC_STATE_CREATE_INFO,
    "VkPipelineRenderingCreateInfo": graphics._RENDERING_CREATE_INFO,
    "VkRenderingInfo": graphics._RENDERING_INFO,
    "VkRayTracingPipelineCreateInfoKHR": rays._PIPELINE_CREATE_INFO,
    "VkRayTracingShaderGroupCreateInfoKHR": rays._GROUP_CREATE_INFO,
    "VkPhysicalDeviceRayTracingPipelinePropertiesKHR": rays._PIPELINE_PROPERTIES,
    "VkAccelerationStructureGeometryKHR": scene._GEOMETRY,
    "VkAccelerationStructureGeometryTrianglesDataKHR": scene._TRIANGLES_DATA,
    "VkAccelerationStructureGeometryAabbsDataKHR": scene._AABBS_DATA,
    "VkAccelerationStructureGeometryInstancesDataKHR": scene._INSTANCES_DATA,
    "VkAccelerationStructureBuildGeometryInfoKHR": scene._BUILD_GEOMETRY_INFO,
    "VkAccelerationStructureBuildSizesInfoKHR": scene._BUILD_SIZES_INFO,
    "VkAccelerationStructureCreateInfoKHR": scene._CREATE_INFO,
    "VkAccelerationStructureDeviceAddressInfoKHR": scene._ADDRESS_INFO,
    "VkSubmitInfo": recorder._SUBMIT_INFO,
    "VkFenceCreateInfo": recorder._FENCE_CREATE_INFO,
    "VkCommandPoolCreateInfo": recorder._COMMAND_POOL_CREATE_INFO,
    "VkCommandBufferAllocateInfo": recorder._COMMAND_BUFFER_ALLOCATE_INFO,
    "VkCommandBufferBeginInfo": recorder._COMMAND_BUFFER_BEGIN_INFO,
    "VkMemoryBarrier": recorder._MEMORY_BARRIER,
    infos._INFO: infos._INFO_TYPE,
    "VkMemoryBarrier2": preparation._MEMORY_BARRIER_2,
    "VkDependencyInfo": preparation._DEPENDENCY_INFO,
    queries._INFO_2: queries._INFO_2_TYPE,
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_structure_type_is_the_registry_s(name: str) -> None:
    assert CONSTANTS[name] == TYPES[REGISTRY.structs[name].sType]


def test_results_have_the_registry_s_names() -> None:
    known = {
        name: field.value
        for field in REGISTRY.enums["VkResult"].fields
        for name in (field.name, *field.aliases)
    }
    for value, name in results._NAMES.items():
        assert known[name] == value
    assert results.result_name(-12345) == "VkResult -12345"


def test_the_table_is_valid_c_of_its_own() -> None:
    ffi = cffi.FFI()
    ffi.cdef(source())
    for one in declarations():
        made = ffi.new(one.name + "*")
        assert [name for name, _ in ffi.typeof(made[0]).fields][:2] == ["sType", "pNext"]


def test_plain_data_of_a_structure() -> None:
    """What a description is made of, without a driver."""
    api = Api.__new__(Api)
    api.ffi, api.newer = PACKAGE, newer()
    limits = PACKAGE.new("VkPhysicalDeviceProperties*")
    limits.deviceName = b"a name"
    limits.pipelineCacheUUID = bytes(range(16))
    limits.limits.maxComputeWorkGroupCount = [1, 2, 3]
    limits.limits.timestampPeriod = 0.5
    plain = api.plain(limits[0])
    assert plain["deviceName"] == "a name"
    assert plain["pipelineCacheUUID"] == bytes(range(16)).hex()
    assert plain["limits"]["maxComputeWorkGroupCount"] == [1, 2, 3]
    assert plain["limits"]["timestampPeriod"] == 0.5
    record = api.newer.new("VkCooperativeVectorPropertiesNV*")
    record.inputType = 1000491002
    assert api.plain(record[0]) == {
        "inputType": 1000491002,
        "inputInterpretation": 0,
        "matrixInterpretation": 0,
        "biasInterpretation": 0,
        "resultType": 0,
        "transpose": 0,
    }


def test_a_parameterised_list_is_asked_for_subgroups_of_the_default_size() -> None:
    api = Api.__new__(Api)
    api.ffi, api.newer, api.null = PACKAGE, newer(), PACKAGE.NULL
    api._newer_names = frozenset(one.name for one in declarations())
    asked: list[tuple[int, ...]] = []

    def driver(device: Any, info: Any, count: Any, items: Any) -> int:
        asked.append((info.scope, info.flags, info.invocations, info.subgroupSize))
        count[0] = 2
        if items != api.newer.NULL:
            items[0].MGranularity, items[1].MGranularity = 8, 16
        return 0

    command = "vkGetPhysicalDeviceCooperativeMatrixProperties2EXT"
    kind = (
        "int(void*, const VkPhysicalDeviceCooperativeMatrixInfo2EXT*, uint32_t*,"
        " VkCooperativeMatrixProperties2EXT*)"
    )
    function = api.newer.callback(kind)(driver)
    instance_ = SimpleNamespace(handle=None)
    device = SimpleNamespace(handle=PACKAGE.NULL)
    api.instance_function = lambda handle, name: function  # type: ignore[method-assign]
    found = queries.records(api, instance_, device, command, 32)  # type: ignore[arg-type]
    assert asked == [(3, 0, 0, 32)] * 2
    assert [one["MGranularity"] for one in found] == [8, 16]


DISPATCHABLE = {"VkDevice", "VkQueue", "VkCommandBuffer"}
"""What vkGetDeviceProcAddr gives commands for."""


def asked_of_a_device() -> set[str]:
    """Every name that the server gives to vkGetDeviceProcAddr."""
    names = {convert.DEVICE_COMMAND, convert._HOST_COMMAND}
    for path in Path(convert.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr not in ("device_function", "_function"):
                continue
            given = node.args[-1]
            if isinstance(given, ast.Constant):
                names.add(given.value)
            else:
                assert ast.unparse(given) in ("name", "DEVICE_COMMAND"), ast.unparse(node)
    return names


def test_a_device_is_asked_for_its_own_commands_only() -> None:
    names = asked_of_a_device()
    assert "vkCmdTraceRaysKHR" in names and len(names) >= 12
    for name in names:
        assert REGISTRY.commands[name].params[0].type in DISPATCHABLE, name
