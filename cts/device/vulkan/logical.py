"""Logical devices, each with exactly the features and extensions that a module requires."""

from __future__ import annotations

from typing import Any

from cts.device.errors import Refused
from cts.device.vulkan.api import Api, check
from cts.device.vulkan.describe import features as supported_features
from cts.device.vulkan.describe import queue_flags
from cts.device.vulkan.instance import PhysicalDevice
from cts.device.vulkan.structures import feature_structures

_DEVICE_QUEUE_CREATE_INFO = 2
_DEVICE_CREATE_INFO = 3
_FEATURES_2 = 1000059000
GRAPHICS_QUEUE, COMPUTE_QUEUE = 1, 2
"""VkQueueFlagBits."""

CORE = "VkPhysicalDeviceFeatures"
VERSIONED = (
    "VkPhysicalDeviceVulkan11Features",
    "VkPhysicalDeviceVulkan12Features",
    "VkPhysicalDeviceVulkan13Features",
)
SUBGROUP_SIZE_CONTROL = "subgroupSizeControl"
FULL_SUBGROUPS = "computeFullSubgroups"


class Logical:
    """A VkDevice with one queue."""

    def __init__(
        self,
        api: Api,
        physical: PhysicalDevice,
        features: frozenset[str],
        extensions: tuple[str, ...],
        queue: int = COMPUTE_QUEUE,
    ) -> None:
        """``features`` must be supported and normal (:meth:`Features.normal`); ``queue`` is what
        the queue must be able to."""
        self.api = api
        self.physical = physical
        self.features = features
        self.full_subgroups = _has(features, FULL_SUBGROUPS)
        self.buffer_addresses = _has(features, "bufferDeviceAddress")
        self.family = _family(api, physical, queue)
        priority = api.ffi.new("float[]", [1.0])
        queues = api.new(
            "VkDeviceQueueCreateInfo",
            _DEVICE_QUEUE_CREATE_INFO,
            queueFamilyIndex=self.family,
            queueCount=1,
            pQueuePriorities=priority,
        )
        names = [api.ffi.new("char[]", name.encode()) for name in extensions]
        name_array = api.ffi.new("char*[]", names or [api.null])
        head, chain = _feature_chain(api, features)
        create = api.new(
            "VkDeviceCreateInfo",
            _DEVICE_CREATE_INFO,
            pNext=api.pointer(head, "VkPhysicalDeviceFeatures2"),
            queueCreateInfoCount=1,
            pQueueCreateInfos=queues,
            enabledExtensionCount=len(names),
            ppEnabledExtensionNames=name_array,
        )
        made = api.ffi.new("VkDevice*")
        result = api.lib.vkCreateDevice(physical.handle, create, api.null, made)
        del chain  # held until here: the driver read it
        check(result, "vkCreateDevice")
        self.handle = made[0]
        found = api.ffi.new("VkQueue*")
        api.lib.vkGetDeviceQueue(self.handle, self.family, 0, found)
        self.queue = found[0]

    def destroy(self) -> None:
        """Wait until the device is idle and destroy it; its objects must be gone."""
        self.api.lib.vkDeviceWaitIdle(self.handle)
        self.api.lib.vkDestroyDevice(self.handle, self.api.null)


class Features:
    """What the physical device supports, and the one way to write a set of features."""

    def __init__(self, api: Api, physical: PhysicalDevice) -> None:
        self.supported = supported_features(api, physical)
        self._extensions = physical.extensions
        self._versioned = self.versioned(api.ffi, physical.version)

    @staticmethod
    def versioned(ffi: Any, version: tuple[int, int]) -> dict[str, str]:
        """The versioned structure that holds each promoted feature, by member."""
        core = {one.name: one.core for one in feature_structures()}
        return {
            member: name
            for name in VERSIONED
            if version >= (core[name] or version)
            for member, _ in ffi.typeof(name).fields
        }

    def normal(self, names: tuple[str, ...], wanted: tuple[str, ...] = ()) -> frozenset[str]:
        """``names``, with a feature that a versioned structure holds named there.

        VkDeviceCreateInfo must not chain a versioned structure and one whose members were
        promoted into it. ``wanted`` are members of versioned structures that are added where
        they are supported. Refused where a name is unknown or not supported.
        """
        found = set()
        for name in names:
            if name not in self.supported:
                raise Refused(f"the device doesn't support the feature {name}.")
            structure, _, member = name.partition(".")
            if structure != CORE and member in self._versioned:
                name = f"{self._versioned[member]}.{member}"
            found.add(name)
        for member in wanted:
            structure = self._versioned.get(member, _PROMOTED_FROM.get(member, ""))
            if f"{structure}.{member}" in self.supported:
                found.add(f"{structure}.{member}")
        return frozenset(found)

    def check_extensions(self, names: tuple[str, ...]) -> None:
        """Refused where the device lacks one of ``names``."""
        for name in names:
            if name not in self._extensions:
                raise Refused(f"the device doesn't have the extension {name}.")


_PROMOTED_FROM = {
    SUBGROUP_SIZE_CONTROL: "VkPhysicalDeviceSubgroupSizeControlFeatures",
    FULL_SUBGROUPS: "VkPhysicalDeviceSubgroupSizeControlFeatures",
    "bufferDeviceAddress": "VkPhysicalDeviceBufferDeviceAddressFeatures",
    "synchronization2": "VkPhysicalDeviceSynchronization2Features",
}
"""Where a feature is on a device older than the versioned structure that holds it."""


def _has(features: frozenset[str], member: str) -> bool:
    return any(name.endswith("." + member) for name in features)


def _family(api: Api, physical: PhysicalDevice, wanted: int) -> int:
    for index, flags in enumerate(queue_flags(api, physical)):
        if flags & wanted:
            return index
    work = "compute" if wanted == COMPUTE_QUEUE else "graphics"
    raise Refused(f"{physical.name} has no queue for {work} work.")


def _feature_chain(api: Api, features: frozenset[str]) -> tuple[Any, dict[str, Any]]:
    head = api.new("VkPhysicalDeviceFeatures2", _FEATURES_2)
    types = {one.name: one.structure_type for one in feature_structures()}
    chain: dict[str, Any] = {}
    following = api.null
    for feature in sorted(features):
        structure, _, member = feature.partition(".")
        if structure == CORE:
            setattr(head.features, member, 1)
            continue
        if structure not in chain:
            made = api.new(structure, types[structure])
            api.link(made, structure, following)
            chain[structure] = made
            following = api.pointer(made, structure)
        setattr(chain[structure], member, 1)
    head.pNext = following
    return head, chain
