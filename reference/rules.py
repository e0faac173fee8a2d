"""How a broken rule is reported by the judges of this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cts.outcome import Level


@dataclass(frozen=True)
class Violation:
    """One broken rule: the row it belongs to, how bad it is, one sentence, JSON-able detail."""

    row: str
    level: Level
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)


_ORDER = (Level.REQUIRED, Level.POLICY, Level.QUALITY, Level.INFO)


def worst_first(found: list[Violation]) -> list[Violation]:
    """The violations with the worst level in front, otherwise in the order they were found."""
    return sorted(found, key=lambda violation: _ORDER.index(violation.level))
