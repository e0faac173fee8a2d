"""What a run shows while it goes on."""

from __future__ import annotations

from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from cts.cli import progress as shown
from cts.result import Progress


@pytest.fixture
def progress() -> Progress:
    """One case passed, one failed, one runs."""
    found = Progress()
    for name, outcome in (("info.a", "pass"), ("info.b", "fail")):
        found.add({"event": "start", "case": name, "time": 1.0})
        found.add({"event": "end", "case": {"id": name, "outcome": outcome, "examples": 20}})
    found.add({"event": "start", "case": "info.c", "time": 2.0})
    message = "wrong \x1b[31m[bold]here\x07"
    finding = {"id": "abcdef", "case": "info.b", "outcome": "fail", "message": message}
    found.add({"event": "finding", "finding": finding})
    return found


def test_a_line_says_how_far_the_run_is(progress: Progress) -> None:
    expected = "2 of 9 cases: 1 fail, 1 pass, 40 examples; now info.c"
    assert shown.line(progress, 9) == expected


def test_plain_lines_come_every_ten_seconds(
    progress: Progress, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter((100.0, 101.0, 109.9, 110.1, 115.0, 120.2))
    monkeypatch.setattr(shown, "time", SimpleNamespace(monotonic=lambda: next(times)))
    plain = shown.Plain(9)
    for _ in range(5):
        plain.update(progress)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" s  ")[0].strip() for line in lines] == ["10", "20"]


@pytest.mark.parametrize("width", [40, 120])
def test_the_panel_fits_and_passes_no_control_characters_on(progress: Progress, width: int) -> None:
    bodies: list[Any] = []
    panel = shown.Panel(9, 2, SimpleNamespace(update=bodies.append))
    panel.update(progress)
    text = StringIO()
    Console(file=text, width=width).print(bodies[-1])
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert "\x1b" not in text.getvalue() and "\x07" not in text.getvalue()
    assert any("2 of 9" in line for line in lines)
    assert any("now  info.c" in line for line in lines)
    assert any("fail  info.b: wrong" in line for line in lines)
    assert width < 100 or "[bold]here" in text.getvalue()
