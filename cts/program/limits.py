"""Whether a dispatch stays inside a device's limits."""

from __future__ import annotations

from cts.device.protocol import DeviceInfo
from cts.program.controls import EXCLUSIVE, INDEPENDENCE, PROPERTIES, WIDTHS
from cts.program.model import Program, Scope, Storage

_LIMITS = "VkPhysicalDeviceLimits."
_SUBGROUPS = "VkPhysicalDeviceSubgroupSizeControlProperties."
_MATRIX2 = "VkPhysicalDeviceCooperativeMatrix2PropertiesNV."
_COMPUTE = 0x20
"""VK_SHADER_STAGE_COMPUTE_BIT."""


def over_limits(program: Program, info: DeviceInfo) -> str | None:
    """The first limit that ``program`` exceeds on this device, as a sentence; None if none."""
    return (
        _subgroups(program, info)
        or _workgroups(program, info)
        or _memory(program, info)
        or _controls(program, info)
    )


def _subgroups(program: Program, info: DeviceInfo) -> str | None:
    size = program.grid.subgroup_size
    if program.grid.varying:
        least = int(info.properties[_SUBGROUPS + "minSubgroupSize"])
        most = int(info.properties[_SUBGROUPS + "maxSubgroupSize"])
        if size != least or program.grid.local_size % most:
            return f"A workgroup of {program.grid.local_size} can't be full at every size."
        return None
    if not program.grid.required:
        if size != info.subgroup_size:
            return f"The device's subgroups have {info.subgroup_size} invocations, not {size}."
        return None
    return required_size_refused(size, info)


def required_size_refused(size: int, info: DeviceInfo) -> str | None:
    """Why a compute shader can't require subgroups of ``size``; None if it can
    (VUID-VkPipelineShaderStageRequiredSubgroupSizeCreateInfo-requiredSubgroupSize-02760 to
    02762, VUID-VkPipelineShaderStageCreateInfo-pNext-02755)."""
    least = int(info.properties[_SUBGROUPS + "minSubgroupSize"])
    most = int(info.properties[_SUBGROUPS + "maxSubgroupSize"])
    if size & (size - 1) or not least <= size <= most:
        return f"Subgroups of {size} can't be required: {least} to {most} and powers of two can."
    if not int(info.properties[_SUBGROUPS + "requiredSubgroupSizeStages"]) & _COMPUTE:
        return "Compute shaders can't require a subgroup size."
    return None


def _workgroups(program: Program, info: DeviceInfo) -> str | None:
    grid, properties = program.grid, info.properties
    most = min(
        int(properties[_LIMITS + "maxComputeWorkGroupInvocations"]),
        int(properties[_LIMITS + "maxComputeWorkGroupSize"][0]),
    )
    if grid.local_size > most:
        return f"A workgroup of {grid.local_size} invocations exceeds {most}."
    groups = int(properties[_LIMITS + "maxComputeWorkGroupCount"][0])
    if grid.workgroups > groups:
        return f"{grid.workgroups} workgroups exceed {groups}."
    if grid.required:
        most = int(properties[_SUBGROUPS + "maxComputeWorkgroupSubgroups"])
        if grid.subgroups > most:
            return f"A workgroup of {grid.subgroups} subgroups exceeds {most}."
    return None


def _memory(program: Program, info: DeviceInfo) -> str | None:
    properties = info.properties
    shared = physical = 0
    for buffer in program.buffers:
        # Arrays of different element types may need padding between them.
        if buffer.storage is Storage.WORKGROUP:
            shared += -(-buffer.size * buffer.pointee.bytes // 16) * 16
        physical += buffer.storage is Storage.PHYSICAL_STORAGE_BUFFER
    room = int(properties[_LIMITS + "maxComputeSharedMemorySize"])
    if any(type.scope is Scope.WORKGROUP for type in program.matrix_types()):
        # VUID-RuntimeSpirv-maxComputeSharedMemorySize-10168
        room -= int(properties[_MATRIX2 + "cooperativeMatrixWorkgroupScopeReservedSharedMemory"])
    if shared > room:
        return f"{shared} bytes of workgroup memory exceed {room}."
    if 8 * physical > int(properties[_LIMITS + "maxPushConstantsSize"]):
        return f"{physical} buffer addresses don't fit the push constants."
    longest = int(properties[_LIMITS + "maxStorageBufferRange"])
    for buffer in program.buffers:
        size = buffer.backing_bytes(program.grid.workgroups)
        if size > longest and buffer.storage is not Storage.PHYSICAL_STORAGE_BUFFER:
            return f"Buffer {buffer.name} of {size} bytes exceeds {longest}."
    bound = len(program.buffers) - physical + 1
    slots = int(properties[_LIMITS + "maxPerStageDescriptorStorageBuffers"])
    if bound > slots:
        return f"{bound} storage buffers exceed {slots}."
    return None


_ONLY_32, _NONE = 0, 2
"""VkShaderFloatControlsIndependence."""


def _controls(program: Program, info: DeviceInfo) -> str | None:
    """VUID-RuntimeSpirv-denormBehaviorIndependence-06289 to …shaderRoundingModeRTZFloat64-06307."""
    controls = program.controls
    for control in controls:
        if not info.properties.get(control.property, 0):
            return f"The device has no {control.mode.value} for {control.width} bits."
    for pair, member in zip(EXCLUSIVE, INDEPENDENCE, strict=True):
        chosen = [
            next((it.mode for it in controls if it.width == width and it.mode in pair), None)
            for width in WIDTHS
        ]
        independence = info.properties.get(PROPERTIES + member, _NONE)
        if independence == _NONE and len(set(chosen)) > 1:
            return f"The device has no {pair[0].value} or {pair[1].value} of one width alone."
        if independence == _ONLY_32 and chosen[0] is not chosen[2]:
            return f"The device has {pair[0].value} or {pair[1].value} for 16 and 64 bits together."
    return None
