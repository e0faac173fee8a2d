"""The device as the templates show it: records with names beside numbers, limits, features."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cts.program.model import Component, Scope

_QUEUE_BITS = (
    "graphics",
    "compute",
    "transfer",
    "sparse binding",
    "protected",
    "video decode",
    "video encode",
)
"""VkQueueFlagBits from bit 0."""


@dataclass(frozen=True)
class RecordTable:
    """The records of one enumeration command."""

    command: str
    members: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def record_tables(device: Mapping[str, Any]) -> tuple[RecordTable, ...]:
    """One table for each enumeration command that the device answered."""
    tables = []
    for command, records in device["records"].items():
        members = tuple(dict.fromkeys(member for record in records for member in record))
        rows = tuple(
            tuple(show_member(member, record.get(member)) for member in members)
            for record in records
        )
        tables.append(RecordTable(command, members, rows))
    return tuple(tables)


def show_member(member: str, value: int | None) -> str:
    """A record's member; enumerants by name, unknown ones as numbers."""
    if value is None:
        return "—"
    if member in ("saturatingAccumulation", "transpose"):
        return {0: "no", 1: "yes"}.get(value, str(value))
    enum: type[Component | Scope] | None = None
    if member.endswith(("Type", "Interpretation")) and member != "sType":
        enum = Component
    elif member == "scope":
        enum = Scope
    if enum is None:
        return f"{value:,}" if value >= 1 << 20 else str(value)
    try:
        return enum(value).name
    except ValueError:
        return f"{value} (unknown)"


def grouped(names: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """``Structure.member`` to value, as structure to member to text."""
    groups: dict[str, dict[str, str]] = {}
    for name in sorted(names):
        structure, _, member = name.rpartition(".")
        groups.setdefault(structure, {})[member] = show_property(names[name])
    return groups


def show_property(value: Any) -> str:
    """A property's value on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int | float):
        return str(value)
    return json.dumps(value)


def features(device: Mapping[str, Any]) -> dict[str, list[str]]:
    """Structure to the supported features in it."""
    groups: dict[str, list[str]] = {}
    for name in sorted(device["features"]):
        structure, _, member = name.rpartition(".")
        groups.setdefault(structure, []).append(member)
    return groups


def queues(device: Mapping[str, Any]) -> list[str]:
    """Each queue family's flags in words; bits without a name stay numbers."""
    families = []
    for flags in device["queues"]:
        names = [name for bit, name in enumerate(_QUEUE_BITS) if flags >> bit & 1]
        rest = flags >> len(_QUEUE_BITS) << len(_QUEUE_BITS)
        families.append(", ".join(names + ([f"0x{rest:x}"] if rest else [])) or "none")
    return families
