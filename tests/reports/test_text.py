"""Numbers, times and names as people read them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reports import text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "\u2014"),
        (0.0, "0"),
        (0.414, "0.41"),
        (0.001, "1.0e-03"),
        (6.2, "6.20"),
        (250.4, "250"),
        (math.inf, "\u221e"),
    ],
)
def test_ratios_are_short(value: float | None, shown: str) -> None:
    assert text.show_ratio(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0004, "0.4 ms"),
        (0.9, "900 ms"),
        (61.2, "61.2 s"),
        (119.0, "119 s"),
        (725, "12 min 5 s"),
        (7260, "2 h 1 min"),
    ],
)
def test_durations_are_short(value: float, shown: str) -> None:
    assert text.seconds(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1"),
        ("-0.0", "-0"),
        ("255", "255"),
        ("18446744073709551615", "1.845e+19"),
        ("0.0001220703125", "0.0001221"),
        ("nan", "nan"),
        ("0x7f", "0x7f"),
        (None, ""),
    ],
)
def test_values_fit_a_cell(value: Any, shown: str) -> None:
    assert text.show_value(value) == shown


def test_times_are_utc() -> None:
    assert text.moment("2026-11-30T10:00:00Z") == "2026-11-30 10:00 UTC"
    assert text.moment("2026-11-30T12:30:00+02:00") == "2026-11-30 10:30 UTC"
    assert text.moment("2026-11-30T10:00:00") == "2026-11-30 10:00"
    assert text.moment("yesterday") == "yesterday"


def test_what_could_steer_a_terminal_is_replaced() -> None:
    assert text.printable("a\x1b[31m\u202eb\x00\ud800\ttab\r\nend") == (
        "a\ufffd[31m\ufffdb\ufffd\ufffd\ttab\nend"
    )
    assert text.one_line(" a\n b\t") == "a b"
