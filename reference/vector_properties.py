"""What the list of cooperative vector combinations and its limits must say (rows V-01 to V-03).

Pure functions over what a device says of itself; the rules are those of
VkCooperativeVectorPropertiesNV, VkPhysicalDeviceCooperativeVectorPropertiesNV and "Required
Limits".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cts.device.protocol import DeviceInfo
from cts.outcome import Level
from cts.program.model import Component
from reference.properties import QUEUE_COMPUTE, STAGE_COMPUTE
from reference.rules import Violation
from reference.vector_info import MEMBERS, REQUIRED

Record = Mapping[str, int]

_STRUCT = "VkPhysicalDeviceCooperativeVectorPropertiesNV."
STAGES = _STRUCT + "cooperativeVectorSupportedStages"
MOST_COMPONENTS = _STRUCT + "maxCooperativeVectorComponents"
LEAST_COMPONENTS = 128
"""The smallest legal maxCooperativeVectorComponents."""

_PACKED = (Component.SINT8_PACKED, Component.UINT8_PACKED)


def required_combinations(records: Sequence[Record]) -> list[Violation]:
    """V-01: the six required combinations are listed, transposable or not."""
    listed = {tuple(record[member] for member in MEMBERS) for record in records}
    found = []
    for row in REQUIRED:
        if tuple(map(int, row)) not in listed:
            words = ", ".join(component.label for component in row)
            found.append(
                Violation(
                    "V-01",
                    Level.REQUIRED,
                    f"the required combination {words} is missing",
                    {"missing": dict(zip(MEMBERS, map(int, row), strict=True))},
                )
            )
    return found


def packed_types(records: Sequence[Record]) -> list[Violation]:
    """V-02: the packed types appear as inputInterpretation only."""
    return [
        Violation(
            "V-02",
            Level.REQUIRED,
            f"record {index}: {member} is {Component(record[member]).label}",
            {"record": index, "members": dict(record), "member": member},
        )
        for index, record in enumerate(records)
        for member in MEMBERS
        if member != "inputInterpretation" and record[member] in _PACKED
    ]


def limits(info: DeviceInfo) -> list[Violation]:
    """V-03: enough components, and COMPUTE among the stages where a queue family computes."""
    found = []
    most = int(info.properties.get(MOST_COMPONENTS, 0))
    if most < LEAST_COMPONENTS:
        message = f"maxCooperativeVectorComponents is {most}, less than {LEAST_COMPONENTS}"
        found.append(Violation("V-03", Level.REQUIRED, message, {"value": most}))
    stages = int(info.properties.get(STAGES, 0))
    if any(flags & QUEUE_COMPUTE for flags in info.queues) and not stages & STAGE_COMPUTE:
        message = (
            f"cooperativeVectorSupportedStages is {stages:#x}, without "
            "VK_SHADER_STAGE_COMPUTE_BIT, although a queue family can compute"
        )
        found.append(Violation("V-03", Level.REQUIRED, message, {"value": stages}))
    return found
