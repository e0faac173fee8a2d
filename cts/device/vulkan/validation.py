"""The messages of the Khronos validation layer, kept for whoever made the calls.

They say what the suite did wrong, never what a driver did: the layer sits between the two.
"""

from __future__ import annotations

import os
from typing import Any

from cts.device.vulkan.api import Api, check

VARIABLE = "COOPCTS_VALIDATE"
"""Set in the environment of a server that has to work with the layer."""
LAYER = b"VK_LAYER_KHRONOS_validation"
EXTENSION = b"VK_EXT_debug_utils"

_MESSENGER_CREATE_INFO = 1000128004
_ERROR, _WARNING = 0x1000, 0x100
_VALIDATION = 2


class InvalidUsage(Exception):
    """The layer objected; the message is what it said."""


def wanted() -> bool:
    """Whether this server has to work with the layer."""
    return bool(os.environ.get(VARIABLE))


class Messages:
    """What the layer says, through VK_EXT_debug_utils."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._said: list[str] = []
        self._layers = api.ffi.new("char[]", LAYER)
        self._extensions = api.ffi.new("char[]", EXTENSION)
        self.layers = api.ffi.new("const char*[]", [self._layers])
        """For VkInstanceCreateInfo::ppEnabledLayerNames."""
        self.extensions = api.ffi.new("const char*[]", [self._extensions])
        """For VkInstanceCreateInfo::ppEnabledExtensionNames."""
        self._callback = api.ffi.callback(
            "VkBool32(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT, "
            "const VkDebugUtilsMessengerCallbackDataEXT*, void*)",
            self._hear,
        )
        self.create = api.new(
            "VkDebugUtilsMessengerCreateInfoEXT",
            _MESSENGER_CREATE_INFO,
            messageSeverity=_ERROR | _WARNING,
            messageType=_VALIDATION,
            pfnUserCallback=self._callback,
        )
        """Also for VkInstanceCreateInfo::pNext, to hear of the instance's own creation."""

    def listen(self, instance: Any) -> None:
        """From now on keep what is said about ``instance`` and all that is made of it."""
        name = "vkCreateDebugUtilsMessengerEXT"
        create = self._api.instance_function(instance, name)
        made = self._api.ffi.new("VkDebugUtilsMessengerEXT*")
        check(create(instance, self.create, self._api.null, made), name)

    def demand_silence(self) -> None:
        """Raise InvalidUsage with all that was said since the last time."""
        said, self._said = self._said, []
        if said:
            raise InvalidUsage("\n".join(dict.fromkeys(said)))

    def _hear(self, severity: int, kind: int, data: Any, user: Any) -> int:
        text = self._api.ffi.string(data.pMessage).decode("utf-8", "replace")
        self._said.append(text)
        return 0
