"""Names of VkResult (Vulkan registry). Standard library only."""

from __future__ import annotations

TIMEOUT = 2
DEVICE_LOST = -4
OUT_OF_MEMORY = frozenset({-1, -2})

_NAMES = {
    0: "VK_SUCCESS",
    1: "VK_NOT_READY",
    2: "VK_TIMEOUT",
    5: "VK_INCOMPLETE",
    -1: "VK_ERROR_OUT_OF_HOST_MEMORY",
    -2: "VK_ERROR_OUT_OF_DEVICE_MEMORY",
    -3: "VK_ERROR_INITIALIZATION_FAILED",
    -4: "VK_ERROR_DEVICE_LOST",
    -5: "VK_ERROR_MEMORY_MAP_FAILED",
    -6: "VK_ERROR_LAYER_NOT_PRESENT",
    -7: "VK_ERROR_EXTENSION_NOT_PRESENT",
    -8: "VK_ERROR_FEATURE_NOT_PRESENT",
    -9: "VK_ERROR_INCOMPATIBLE_DRIVER",
    -10: "VK_ERROR_TOO_MANY_OBJECTS",
    -11: "VK_ERROR_FORMAT_NOT_SUPPORTED",
    -12: "VK_ERROR_FRAGMENTED_POOL",
    -13: "VK_ERROR_UNKNOWN",
    -1000011001: "VK_ERROR_VALIDATION_FAILED",
    -1000012000: "VK_ERROR_INVALID_SHADER_NV",
    -1000069000: "VK_ERROR_OUT_OF_POOL_MEMORY",
    -1000174001: "VK_ERROR_NOT_PERMITTED",
    -1000257000: "VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS",
    1000297000: "VK_PIPELINE_COMPILE_REQUIRED",
}


def result_name(result: int) -> str:
    """The name of a VkResult, or the number itself where it has none here."""
    return _NAMES.get(result, f"VkResult {result}")
