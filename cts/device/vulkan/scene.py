"""What rays can meet: one instance of one geometry, in acceleration structures.

Bottom and top level are built on the device, once; nothing changes afterwards.
"""

from __future__ import annotations

import struct
from typing import Any

from cts.device.errors import Refused
from cts.device.vulkan.api import VulkanError, check
from cts.device.vulkan.logical import Logical
from cts.device.vulkan.memory import Block
from cts.device.vulkan.recorder import Recorder

_GEOMETRY = 1000150006
_TRIANGLES_DATA = 1000150005
_AABBS_DATA = 1000150003
_INSTANCES_DATA = 1000150004
_BUILD_GEOMETRY_INFO = 1000150000
_BUILD_SIZES_INFO = 1000150020
_CREATE_INFO = 1000150017
_ADDRESS_INFO = 1000150002

_BUILD_INPUT_USAGE = 0x80000
_STORAGE_USAGE = 0x100000
_SCRATCH_USAGE = 0x20
_TOP, _BOTTOM = 0, 1
_TRIANGLES, _AABBS, _INSTANCES = 0, 1, 2
_NO_DUPLICATE_ANY_HIT = 2
_CULLING_DISABLED = 1
_THREE_FLOATS = 106
"""VK_FORMAT_R32G32B32_SFLOAT."""
_NO_INDICES = 1000165000
_ON_THE_DEVICE = 1
_ALIGNMENT = 256
"""At least every alignment of scratch memory that Vulkan permits (256)."""
_INSTANCE_AT, _INPUT_SIZE = 256, 512

_TRIANGLE = (-1.0, -1.0, 1.0, 3.0, -1.0, 1.0, -1.0, 3.0, 1.0)
_BOX = (-1.0, -1.0, 1.0, 1.0, 1.0, 2.0)
KINDS = ("triangles", "boxes")


class Scene:
    """One geometry at z = 1 around the z axis: a triangle, or the box of a procedural one.

    ``address`` is the device address of the top level.
    """

    def __init__(self, logical: Logical, recorder: Recorder, kind: str, patience: float) -> None:
        """Build; waits at most ``patience`` seconds."""
        if kind not in KINDS:
            raise Refused(f"{kind} is no scene.")
        if not logical.buffer_addresses:
            raise Refused("rays need bufferDeviceAddress, which is not enabled.")
        self._logical = logical
        self._api = logical.api
        self._blocks: list[Block] = []
        self._structures: list[Any] = []
        self.address = 0
        try:
            self._build(recorder, kind, patience)
        except VulkanError:
            self.destroy()
            raise

    def destroy(self) -> None:
        """Give the structures and their memory back."""
        api, device = self._api, self._logical.handle
        destroy = self._function("vkDestroyAccelerationStructureKHR")
        for structure in self._structures:
            destroy(device, structure, api.null)
        for block in self._blocks:
            block.destroy()
        self._structures, self._blocks = [], []

    def _function(self, name: str) -> Any:
        found = self._api.device_function(self._logical.handle, name)
        if found is None:
            raise Refused(f"the device has no {name}.")
        return found

    def _block(self, size: int, usage: int, *, shared: bool = False) -> Block:
        self._blocks.append(Block(self._logical, size, usage, shared=shared))
        return self._blocks[-1]

    def _build(self, recorder: Recorder, kind: str, patience: float) -> None:
        given = self._block(_INPUT_SIZE, _BUILD_INPUT_USAGE, shared=True)
        numbers = _TRIANGLE if kind == "triangles" else _BOX
        given.view[: 4 * len(numbers)] = struct.pack(f"<{len(numbers)}f", *numbers)
        geometry = self._triangles(given) if kind == "triangles" else self._boxes(given)
        bottom, reference = self._structure(_BOTTOM, geometry)
        given.view[_INSTANCE_AT : _INSTANCE_AT + 64] = _instance(reference)
        top, self.address = self._structure(_TOP, self._instances(given))
        commands = recorder.begin()
        self._record(commands, bottom)
        recorder.order()
        self._record(commands, top)
        recorder.order()
        recorder.end()
        recorder.submit()
        if result := recorder.wait(patience):
            raise VulkanError(result, "vkWaitForFences")

    # --- geometries -------------------------------------------------------------------------

    def _geometry(self, kind: int, flags: int = 0) -> Any:
        geometry = self._api.new("VkAccelerationStructureGeometryKHR", _GEOMETRY)
        geometry.geometryType = kind
        geometry.flags = flags
        return geometry

    def _triangles(self, given: Block) -> Any:
        geometry = self._geometry(_TRIANGLES, _NO_DUPLICATE_ANY_HIT)
        triangles = geometry.geometry.triangles
        triangles.sType = _TRIANGLES_DATA
        triangles.vertexFormat = _THREE_FLOATS
        triangles.vertexData.deviceAddress = given.address
        triangles.vertexStride = 12
        triangles.maxVertex = 2
        triangles.indexType = _NO_INDICES
        return geometry

    def _boxes(self, given: Block) -> Any:
        geometry = self._geometry(_AABBS)
        boxes = geometry.geometry.aabbs
        boxes.sType = _AABBS_DATA
        boxes.data.deviceAddress = given.address
        boxes.stride = 24
        return geometry

    def _instances(self, given: Block) -> Any:
        geometry = self._geometry(_INSTANCES)
        instances = geometry.geometry.instances
        instances.sType = _INSTANCES_DATA
        instances.data.deviceAddress = given.address + _INSTANCE_AT
        return geometry

    # --- structures -------------------------------------------------------------------------

    def _structure(self, level: int, geometry: Any) -> tuple[Any, int]:
        """What builds a structure of one primitive, and the structure's address."""
        api, device = self._api, self._logical.handle
        info = api.new(
            "VkAccelerationStructureBuildGeometryInfoKHR",
            _BUILD_GEOMETRY_INFO,
            type=level,
            geometryCount=1,
            pGeometries=geometry,
        )
        sizes = api.new("VkAccelerationStructureBuildSizesInfoKHR", _BUILD_SIZES_INFO)
        one = api.ffi.new("uint32_t[]", [1])
        self._function("vkGetAccelerationStructureBuildSizesKHR")(
            device, _ON_THE_DEVICE, info, one, sizes
        )
        storage = self._block(int(sizes.accelerationStructureSize), _STORAGE_USAGE)
        create = api.new(
            "VkAccelerationStructureCreateInfoKHR",
            _CREATE_INFO,
            buffer=storage.buffer,
            size=sizes.accelerationStructureSize,
            type=level,
        )
        made = api.ffi.new("VkAccelerationStructureKHR*")
        check(
            self._function("vkCreateAccelerationStructureKHR")(device, create, api.null, made),
            "vkCreateAccelerationStructureKHR",
        )
        self._structures.append(made[0])
        scratch = self._block(int(sizes.buildScratchSize) + _ALIGNMENT, _SCRATCH_USAGE)
        info.dstAccelerationStructure = made[0]
        info.scratchData.deviceAddress = -(-scratch.address // _ALIGNMENT) * _ALIGNMENT
        asked = api.new(
            "VkAccelerationStructureDeviceAddressInfoKHR",
            _ADDRESS_INFO,
            accelerationStructure=made[0],
        )
        found = self._function("vkGetAccelerationStructureDeviceAddressKHR")(device, asked)
        return (info, geometry), int(found)

    def _record(self, commands: Any, build: tuple[Any, Any]) -> None:
        info, _ = build  # the geometry is held as long as what points to it
        api = self._api
        ranges = api.new("VkAccelerationStructureBuildRangeInfoKHR", primitiveCount=1)
        pointers = api.ffi.new("VkAccelerationStructureBuildRangeInfoKHR*[]", [ranges])
        self._function("vkCmdBuildAccelerationStructuresKHR")(commands, 1, info, pointers)


def _instance(reference: int) -> bytes:
    """A VkAccelerationStructureInstanceKHR: where it was made, seen by all rays from both sides,
    with the first hit group."""
    place = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    return struct.pack("<12f2IQ", *place, 0xFF << 24, _CULLING_DISABLED << 24, reference)
