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
EXTENSIONS = (b"VK_EXT_debug_utils", b"VK_EXT_validation_features")

ACCEPTED = {
    "vkGetDeviceProcAddr(): pName is trying to grab": (
        "the loader asks for every device function it knows, those that became instance functions "
        "included; the suite asks for a device's own commands only, as a test shows"
    ),
    "unknown VkStructureType (1000141000)": (
        "the layer is older than VK_KHR_shader_bfloat16, whose features these are"
    ),
    "contains unsupported cooperative vector matrix mul with result component type "
    "(VK_COMPONENT_TYPE_UINT32_KHR)": (
        "the layer takes every integer product for one of unsigned numbers, whatever its types "
        "and its operands say; records are matched before by cts.program.vector_records"
    ),
    "].transpose (2779096485) is neither VK_TRUE nor VK_FALSE": (
        "the layer looks at the members of structures that the command is to fill, which hold "
        "poison (0xa5a5a5a5) on purpose"
    ),
    "less than minimum size for row/col-major layout": (
        "one case gives a size that is too small, as the text of the command allows and its valid "
        "usage doesn't; it is policy"
    ),
    "VK_KHR_robustness2 is not a known extension string": (
        "the layer (1.4.309) is older than the extension"
    ),
    "Cooperative matrix type must be A Type": (
        "SPIRV-Tools up to 2026.4 takes every Use that is a specialization constant for a wrong "
        "one; the specialised module is valid, as the tests of the lowering show"
    ),
}
"""What the layer says wrongly, by a part of its message, and why that is so."""

_MESSENGER_CREATE_INFO = 1000128004
_VALIDATION_FEATURES = 1000247000
_SYNCHRONIZATION = 4
_ERROR, _WARNING = 0x1000, 0x100
_VALIDATION = 2


class InvalidUsage(Exception):
    """The layer objected; the message is what it said."""


def wanted() -> bool:
    """Whether this server has to work with the layer."""
    return bool(os.environ.get(VARIABLE))


class Messages:
    """What the layer says, through VK_EXT_debug_utils. Synchronisation is looked at as well."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._said: list[str] = []
        ffi = api.ffi
        self._names = [ffi.new("char[]", name) for name in (LAYER, *EXTENSIONS)]
        self.layers = ffi.new("const char*[]", self._names[:1])
        """For VkInstanceCreateInfo::ppEnabledLayerNames."""
        self.extensions = ffi.new("const char*[]", self._names[1:])
        """For VkInstanceCreateInfo::ppEnabledExtensionNames."""
        self._callback = ffi.callback(
            "VkBool32(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT, "
            "const VkDebugUtilsMessengerCallbackDataEXT*, void*)",
            self._hear,
        )
        self._create = api.new(
            "VkDebugUtilsMessengerCreateInfoEXT",
            _MESSENGER_CREATE_INFO,
            messageSeverity=_ERROR | _WARNING,
            messageType=_VALIDATION,
            pfnUserCallback=self._callback,
        )
        self._enabled = ffi.new("VkValidationFeatureEnableEXT[]", [_SYNCHRONIZATION])
        self.chain = api.new(
            "VkValidationFeaturesEXT",
            _VALIDATION_FEATURES,
            pNext=self._create,
            enabledValidationFeatureCount=1,
            pEnabledValidationFeatures=self._enabled,
        )
        """For VkInstanceCreateInfo::pNext, to hear of the instance's own creation, too."""

    def listen(self, instance: Any) -> None:
        """From now on keep what is said about ``instance`` and all that is made of it."""
        name = "vkCreateDebugUtilsMessengerEXT"
        create = self._api.instance_function(instance, name)
        made = self._api.ffi.new("VkDebugUtilsMessengerEXT*")
        check(create(instance, self._create, self._api.null, made), name)

    def demand_silence(self) -> None:
        """Raise InvalidUsage with all that was said since the last time."""
        said, self._said = self._said, []
        if said:
            raise InvalidUsage("\n".join(dict.fromkeys(said)))

    def _hear(self, severity: int, kind: int, data: Any, user: Any) -> int:
        text = self._api.ffi.string(data.pMessage).decode("utf-8", "replace")
        if any(part in text for part in ACCEPTED):
            return 0
        self._said.append(text)
        return int(severity == _ERROR)  # 1: the layer keeps the call from the driver
