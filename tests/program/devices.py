"""Facts of made-up devices."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from cts.device.protocol import DeviceInfo
from cts.program.model import Component, Scope
from cts.program.records import FLEXIBLE, KHR
from cts.program.requires import CAPABILITIES, FLEXIBLE_DIMENSIONS, NEEDS

F16, F32, S8, S32 = Component.FLOAT16, Component.FLOAT32, Component.SINT8, Component.SINT32

_NEEDS = (*CAPABILITIES.values(), *NEEDS.values(), FLEXIBLE_DIMENSIONS)
_LIMITS = "VkPhysicalDeviceLimits."
_SIZES = "VkPhysicalDeviceSubgroupSizeControlProperties."
_MATRIX2 = "VkPhysicalDeviceCooperativeMatrix2PropertiesNV.cooperativeMatrix"


def khr(
    m: int = 8,
    n: int = 8,
    k: int = 8,
    types: tuple[Component, ...] = (F16, F16, F32, F32),
    saturating: bool = False,
    scope: Scope = Scope.SUBGROUP,
) -> Mapping[str, int]:
    names = ("AType", "BType", "CType", "ResultType")
    return {
        "MSize": m,
        "NSize": n,
        "KSize": k,
        **{name: int(component) for name, component in zip(names, types, strict=True)},
        "saturatingAccumulation": int(saturating),
        "scope": int(scope),
    }


def flexible(invocations: int = 0, **given: Any) -> Mapping[str, int]:
    record = dict(khr(**given))
    for letter in "MNK":
        record[f"{letter}Granularity"] = record.pop(f"{letter}Size")
    return {**record, "workgroupInvocations": invocations}


INFO = DeviceInfo(
    kind="vulkan",
    name="made up",
    driver="none",
    driver_version="1",
    api_version="1.3.275",
    uuid="00",
    extensions={need.extension: 1 for need in _NEEDS if need.extension is not None},
    features=frozenset(need.feature for need in _NEEDS if need.feature is not None),
    properties={
        "VkPhysicalDeviceSubgroupProperties.subgroupSize": 8,
        _SIZES + "minSubgroupSize": 4,
        _SIZES + "maxSubgroupSize": 32,
        _SIZES + "maxComputeWorkgroupSubgroups": 16,
        _SIZES + "requiredSubgroupSizeStages": 0x20,
        _LIMITS + "maxComputeWorkGroupInvocations": 256,
        _LIMITS + "maxComputeWorkGroupSize": [256, 256, 64],
        _LIMITS + "maxComputeWorkGroupCount": [65535, 65535, 65535],
        _LIMITS + "maxComputeSharedMemorySize": 32768,
        _LIMITS + "maxPushConstantsSize": 128,
        _LIMITS + "maxStorageBufferRange": 1 << 27,
        _LIMITS + "maxPerStageDescriptorStorageBuffers": 8,
        _MATRIX2 + "FlexibleDimensionsMaxDimension": 256,
        _MATRIX2 + "WorkgroupScopeReservedSharedMemory": 16384,
    },
    records={
        KHR: (
            khr(),
            khr(types=(S8, S8, S32, S32)),
            khr(types=(S8, S8, S32, S32), saturating=True),
            khr(16, 8, 32),
        ),
        FLEXIBLE: (
            flexible(m=16, n=16, k=16),
            flexible(m=32, n=32, k=16, scope=Scope.WORKGROUP, invocations=32),
        ),
    },
)


def without(feature: str) -> DeviceInfo:
    return dataclasses.replace(INFO, features=INFO.features - {feature})


def having(**properties: Any) -> DeviceInfo:
    """INFO with properties replaced, by the ends of their names."""
    changed = dict(INFO.properties)
    for name, value in properties.items():
        (full,) = (key for key in changed if key.endswith("." + name))
        changed[full] = value
    return dataclasses.replace(INFO, properties=changed)
