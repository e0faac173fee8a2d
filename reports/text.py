"""Numbers and names as people read them; shared by all renderings."""

from __future__ import annotations

import math
import unicodedata
from datetime import UTC, datetime

TIMES = "\u00d7"
"""The multiplication sign."""

OUTCOME_NAMES = {
    "pass": "pass",
    "not_supported": "not supported",
    "quality_warning": "quality warning",
    "policy": "policy",
    "flaky": "flaky",
    "not_run": "not run",
    "fail": "fail",
    "timeout": "time-out",
    "device_lost": "device lost",
    "crash": "crash",
    "error": "suite error",
}
"""Outcome to its name in prose, from best to worst."""


def plural(number: int, noun: str, nouns: str = "") -> str:
    """``1 case``, ``1,200 cases``; ``nouns`` where the plural isn't ``noun`` + s."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def seconds(value: float) -> str:
    """A duration to about three digits: ``0.4 ms``, ``61.2 s``, ``12 min 5 s``."""
    if value < 1:
        return f"{value * 1000:.3g} ms"
    if value < 120:
        return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 120 else f"{minutes} min {rest} s"


def moment(text: str) -> str:
    """An ISO 8601 time as ``2026-11-30 10:00 UTC``; anything else as it is."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    if when.tzinfo is None:
        return f"{when:%Y-%m-%d %H:%M}"
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def show_ratio(value: float | None) -> str:
    """A ratio of error to bound: ``0``, ``0.41``, ``4.00``, ``1.2e+05``, ``∞``, ``—``."""
    if value is None:
        return "—"
    if math.isinf(value):
        return "∞"
    if value == 0:
        return "0"
    if value < 0.005 or value >= 10000:
        return f"{value:.1e}"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def show_value(value: float | str | None) -> str:
    """An element's value, short enough for a table cell: about four digits, its sign even at 0;
    whole numbers of 32 bits in full, since integers are wrong or right in each digit.
    ``value`` is a number or the text of one, as the result file has both."""
    if value is None:
        return ""
    text = str(value)
    try:
        number = float(text)
    except ValueError:
        return text
    if number.is_integer() and abs(number) < 2**32:
        return ("-" if math.copysign(1, number) < 0 else "") + str(abs(int(number)))
    return text if len(text) <= 7 else f"{number:.4g}"


def printable(text: str) -> str:
    """``text`` without characters that could steer a terminal or break a markup language:
    control and format characters and lone surrogates become U+FFFD; line feeds and tabs stay."""
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in _UNSAFE else "\ufffd"
        for char in text.replace("\r\n", "\n")
    )


_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Cn"})


def one_line(text: str) -> str:
    """``text`` on one line, printable."""
    return " ".join(printable(text).split())
