"""The instance, its physical devices, and the choice of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cts.device.errors import Refused
from cts.device.vulkan.api import Api, check
from cts.device.vulkan.validation import Messages

API_VERSION = (1, 4)
"""The highest version that the suite is written for."""

_APPLICATION_INFO = 0
_INSTANCE_CREATE_INFO = 1
_PROPERTIES_2 = 1000059001
_ID_PROPERTIES = 1000071004


def version_text(version: int) -> str:
    """A version number as VK_MAKE_API_VERSION packs it, without the variant."""
    return f"{version >> 22 & 0x7F}.{version >> 12 & 0x3FF}.{version & 0xFFF}"


def make_version(major: int, minor: int) -> int:
    """VK_MAKE_API_VERSION(0, major, minor, 0)."""
    return major << 22 | minor << 12


@dataclass(frozen=True)
class PhysicalDevice:
    """One physical device and what is needed to tell it from the others."""

    handle: Any
    index: int
    name: str
    uuid: str
    """VkPhysicalDeviceIDProperties::deviceUUID, hexadecimal."""
    device_type: int
    """VkPhysicalDeviceType."""
    version: tuple[int, int]
    """The Vulkan version that can be used: the device's, at most :data:`API_VERSION`."""
    extensions: dict[str, int]


class Instance:
    """A VkInstance."""

    def __init__(self, api: Api, messages: Messages | None = None) -> None:
        """With ``messages`` the validation layer works in between and says what it finds there.

        VulkanError where no driver works, or where there is no such layer.
        """
        self.api = api
        name = api.ffi.new("char[]", b"coopcts")
        application = api.new(
            "VkApplicationInfo",
            _APPLICATION_INFO,
            pApplicationName=name,
            apiVersion=make_version(*API_VERSION),
        )
        create = api.new(
            "VkInstanceCreateInfo", _INSTANCE_CREATE_INFO, pApplicationInfo=application
        )
        if messages is not None:
            create.enabledLayerCount, create.ppEnabledLayerNames = 1, messages.layers
            create.enabledExtensionCount = len(messages.extensions)
            create.ppEnabledExtensionNames = messages.extensions
            create.pNext = messages.chain
        made = api.ffi.new("VkInstance*")
        check(api.lib.vkCreateInstance(create, api.null, made), "vkCreateInstance")
        self.handle = made[0]
        if messages is not None:
            messages.listen(self.handle)

    def loader_version(self) -> str:
        """vkEnumerateInstanceVersion."""
        version = self.api.ffi.new("uint32_t*")
        check(self.api.lib.vkEnumerateInstanceVersion(version), "vkEnumerateInstanceVersion")
        return version_text(version[0])

    def devices(self) -> list[PhysicalDevice]:
        """All physical devices, in the loader's order."""
        api = self.api
        handles = api.handles(api.lib.vkEnumeratePhysicalDevices, "VkPhysicalDevice", self.handle)
        return [self._device(index, handle) for index, handle in enumerate(handles)]

    def _device(self, index: int, handle: Any) -> PhysicalDevice:
        api = self.api
        identity = api.new("VkPhysicalDeviceIDProperties", _ID_PROPERTIES)
        properties = api.new(
            "VkPhysicalDeviceProperties2",
            _PROPERTIES_2,
            pNext=api.pointer(identity, "VkPhysicalDeviceIDProperties"),
        )
        api.lib.vkGetPhysicalDeviceProperties2(handle, properties)
        basic = properties.properties
        version = (basic.apiVersion >> 22 & 0x7F, basic.apiVersion >> 12 & 0x3FF)
        extensions = api.records(
            api.lib.vkEnumerateDeviceExtensionProperties,
            "VkExtensionProperties",
            None,
            handle,
            api.null,
        )
        return PhysicalDevice(
            handle=handle,
            index=index,
            name=api.plain(basic.deviceName),
            uuid=api.plain(identity.deviceUUID),
            device_type=int(basic.deviceType),
            version=min(version, API_VERSION),
            extensions={one["extensionName"]: one["specVersion"] for one in extensions},
        )

    def choose(self, selector: str) -> PhysicalDevice:
        """The device that ``selector`` names: its index, or the start of its UUID."""
        devices = self.devices()
        if not devices:
            raise Refused("the Vulkan loader found no device: install a driver.")
        wanted = selector.replace("-", "").lower()
        if wanted.isdecimal() and int(wanted) < len(devices):
            return devices[int(wanted)]
        found = [one for one in devices if len(wanted) >= 4 and one.uuid.startswith(wanted)]
        if len(found) == 1:
            return found[0]
        known = ", ".join(f"{one.index} ({one.name}, {one.uuid})" for one in devices)
        what = "several devices" if found else "no device"
        raise Refused(f"{what} answers to {selector}; there are: {known}.")

    def destroy(self) -> None:
        """vkDestroyInstance."""
        self.api.lib.vkDestroyInstance(self.handle, self.api.null)
