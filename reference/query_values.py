"""What the records of the enumeration commands may hold (rows Q-07 to Q-09)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cts.device.protocol import DeviceInfo
from cts.outcome import Level
from cts.program.model import Component, Scope
from cts.program.sense import nonsense
from reference.queries import VECTOR, key
from reference.rules import Violation

_DEFINED_BY: Mapping[int, tuple[str, ...]] = {
    Component.BFLOAT16: ("VK_KHR_shader_bfloat16",),
    Component.SINT8_PACKED: ("VK_NV_cooperative_vector",),
    Component.UINT8_PACKED: ("VK_NV_cooperative_vector",),
    Component.FLOAT8_E4M3: ("VK_NV_cooperative_vector", "VK_EXT_shader_float8"),
    Component.FLOAT8_E5M2: ("VK_NV_cooperative_vector", "VK_EXT_shader_float8"),
    # FLOAT6_E2M3, FLOAT6_E3M2, FLOAT4_E2M1, FLOAT8_UNSIGNED_E8M0, MXINT8
    **{1000672000 + i: ("VK_EXT_shader_ocp_microscaling_types",) for i in range(5)},
}
"""Extensions that define a VkComponentTypeKHR; those of VK_KHR_cooperative_matrix need none."""

_NEEDS: Mapping[int, str] = {
    Component.FLOAT16: "shaderFloat16",
    Component.FLOAT64: "shaderFloat64",
    Component.SINT8: "shaderInt8",
    Component.UINT8: "shaderInt8",
    Component.SINT16: "shaderInt16",
    Component.UINT16: "shaderInt16",
    Component.SINT64: "shaderInt64",
    Component.UINT64: "shaderInt64",
    Component.BFLOAT16: "shaderBFloat16CooperativeMatrix",
    Component.FLOAT8_E4M3: "shaderFloat8CooperativeMatrix",
    Component.FLOAT8_E5M2: "shaderFloat8CooperativeMatrix",
}
"""The feature that a shader needs to have an object of the component type."""


def _visible(command: str, member: str) -> bool:
    """Whether the shader has an object of the member's type: the interpretations of a
    cooperative vector product are only how memory is read."""
    if command == VECTOR:
        return member in ("inputType", "resultType")
    return member.endswith("Type")


def judge_records(
    command: str, records: Sequence[Mapping[str, int]], info: DeviceInfo
) -> list[Violation]:
    """Q-07 (values), Q-08 (duplicates) and Q-09 (features) of a full list."""
    found: list[Violation] = []
    features = {name.rpartition(".")[2] for name in info.features}
    for index, record in enumerate(records):
        detail = {"command": command, "record": index, "members": dict(record)}
        reason = nonsense(record)
        if reason and not any(_wrong_value(*member, info) for member in record.items()):
            message = f"record {index}: no program can use it: {reason}"
            found.append(Violation("Q-07", Level.POLICY, message, detail))
        for member, value in record.items():
            wrong = _wrong_value(member, value, info)
            if wrong is not None:
                level, what = wrong
                found.append(
                    Violation(
                        "Q-07",
                        level,
                        f"record {index}: {member} = {value} {what}",
                        {**detail, "member": member, "value": value},
                    )
                )
            need = _NEEDS.get(value) if _visible(command, member) else None
            if need and need not in features:
                found.append(
                    Violation(
                        "Q-09",
                        Level.POLICY,
                        f"record {index}: {member} {Component(value).label} needs {need}, "
                        "which is not supported",
                        {**detail, "member": member, "feature": need},
                    )
                )
    found += _duplicates(command, records)
    return found


_OF_EXTENSIONS = range(1000000000, 0x7FFFFFFF)
"""Where the enumerants of extensions are; the number behind is that of ..._MAX_ENUM."""


def _wrong_value(member: str, value: int, info: DeviceInfo) -> tuple[Level, str] | None:
    """What is wrong with the value of a member, and how wrong that is.

    No query may give "values not defined by any extension" (VkSpec, "Valid Usage for Enumerated
    Types"). A note there permits those of extensions that aren't listed, and an extension may be
    younger than this suite, so these are only worth a word.
    """
    if member.endswith(("Type", "Interpretation")):
        if value <= Component.UINT64:
            return None
        homes = _DEFINED_BY.get(value, ())
        if not homes:
            return _undefined(value, "VkComponentTypeKHR")
        if not any(home in info.extensions for home in homes):
            text = f"is defined by {' or '.join(homes)}, which the device does not list"
            return Level.QUALITY, text
    elif member == "scope":
        if value not in set(Scope):
            return _undefined(value, "VkScopeKHR")
    elif member in ("saturatingAccumulation", "transpose"):
        if value not in (0, 1):
            return Level.REQUIRED, "is neither VK_TRUE nor VK_FALSE"
    elif member.endswith(("Size", "Granularity")) and value == 0:
        return Level.REQUIRED, "is no size"
    return None


def _undefined(value: int, enumeration: str) -> tuple[Level, str]:
    if value in _OF_EXTENSIONS:
        return Level.QUALITY, f"is no {enumeration} that this suite knows"
    return Level.REQUIRED, f"is no {enumeration}"


def _duplicates(command: str, records: Iterable[Mapping[str, int]]) -> list[Violation]:
    seen: dict[tuple[tuple[str, int], ...], int] = {}
    found = []
    for index, record in enumerate(records):
        first = seen.setdefault(key(record), index)
        if first != index:
            found.append(
                Violation(
                    "Q-08",
                    Level.POLICY,
                    f"records {first} and {index} are identical",
                    {"command": command, "records": [first, index], "members": dict(record)},
                )
            )
    return found
