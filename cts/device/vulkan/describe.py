"""Everything that a device says of itself, as a :class:`DeviceInfo`."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from cts.device.protocol import DeviceInfo
from cts.device.vulkan.api import Api
from cts.device.vulkan.instance import Instance, PhysicalDevice, version_text
from cts.device.vulkan.queries import COMMANDS, available, records
from cts.device.vulkan.structures import Structure, feature_structures, property_structures

_FEATURES_2 = 1000059000
_PROPERTIES_2 = 1000059001
_VARIABLES = (
    "VK_DRIVER_FILES",
    "VK_ADD_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_INSTANCE_LAYERS",
    "VK_LOADER_LAYERS_ENABLE",
    "VK_LOADER_LAYERS_DISABLE",
)


def describe(api: Api, instance: Instance, device: PhysicalDevice) -> DeviceInfo:
    """Ask the device for everything that it knows of the tables in ``structures``."""
    properties = _properties(api, device)
    size = int(properties["VkPhysicalDeviceSubgroupProperties.subgroupSize"])
    driver = str(properties.get("VkPhysicalDeviceDriverProperties.driverName", "unknown"))
    version = properties.get("VkPhysicalDeviceDriverProperties.driverInfo") or str(
        properties["VkPhysicalDeviceProperties.driverVersion"]
    )
    return DeviceInfo(
        kind="vulkan",
        name=device.name,
        driver=driver,
        driver_version=str(version),
        api_version=version_text(properties["VkPhysicalDeviceProperties.apiVersion"]),
        uuid=device.uuid,
        extensions=dict(sorted(device.extensions.items())),
        features=features(api, device),
        properties=dict(sorted(properties.items())),
        records={
            command: tuple(records(api, instance, device, command, size))
            for command in COMMANDS
            if available(api, instance, device, command)
        },
        queues=tuple(queue_flags(api, device)),
        environment=_environment(instance),
    )


def features(api: Api, device: PhysicalDevice) -> frozenset[str]:
    """Names of all supported features, ``Structure.member``."""
    asked = api.new("VkPhysicalDeviceFeatures2", _FEATURES_2)
    chain = _chain(api, device, feature_structures(), asked)
    api.lib.vkGetPhysicalDeviceFeatures2(device.handle, asked)
    found = {"VkPhysicalDeviceFeatures": api.plain(asked.features)}
    found.update({name: api.plain(made[0]) for name, made in chain.items()})
    return frozenset(
        f"{name}.{member}"
        for name, members in found.items()
        for member in members
        if members[member]
    )


def _properties(api: Api, device: PhysicalDevice) -> dict[str, Any]:
    asked = api.new("VkPhysicalDeviceProperties2", _PROPERTIES_2)
    chain = _chain(api, device, property_structures(), asked)
    api.lib.vkGetPhysicalDeviceProperties2(device.handle, asked)
    basic = api.plain(asked.properties)
    limits = basic.pop("limits")
    sparse = basic.pop("sparseProperties")
    found = {
        "VkPhysicalDeviceProperties": basic,
        "VkPhysicalDeviceLimits": limits,
        "VkPhysicalDeviceSparseProperties": sparse,
    }
    found.update({name: api.plain(made[0]) for name, made in chain.items()})
    return {
        f"{name}.{member}": value
        for name, members in found.items()
        for member, value in members.items()
    }


def _chain(
    api: Api, device: PhysicalDevice, structures: tuple[Structure, ...], head: Any
) -> dict[str, Any]:
    """Chain to ``head`` every structure that the device knows; returns them by name."""
    made: dict[str, Any] = {}
    following = api.null
    for one in structures:
        if one.known_to(device.version, device.extensions):
            structure = api.new(one.name, one.structure_type)
            api.link(structure, one.name, following)
            made[one.name] = structure
            following = api.pointer(structure, one.name)
    head.pNext = following
    return made


def queue_flags(api: Api, device: PhysicalDevice) -> list[int]:
    """VkQueueFlags of each queue family."""
    count = api.ffi.new("uint32_t*")
    command = api.lib.vkGetPhysicalDeviceQueueFamilyProperties
    command(device.handle, count, api.null)
    families = api.ffi.new("VkQueueFamilyProperties[]", max(1, count[0]))
    command(device.handle, count, families)
    return [int(families[index].queueFlags) for index in range(count[0])]


def _environment(instance: Instance) -> dict[str, str]:
    system = platform.uname()
    found = {
        "system": f"{system.system} {system.release}",
        "machine": system.machine,
        "distribution": _distribution(),
        "cpu": _cpu(),
        "cpus": str(os.cpu_count() or 0),
        "python": platform.python_version(),
        "loader": instance.loader_version(),
    }
    found.update({name: os.environ[name] for name in _VARIABLES if os.environ.get(name)})
    return {name: value for name, value in found.items() if value}


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return platform.processor()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())
