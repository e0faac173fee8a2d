"""The Markdown summary and the terminal's."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

import reports
from reports import check
from reports.render.markdown import LISTED, code, escape, markdown
from tests.reports import factory
from tests.reports.page import Page

TRICKS = [
    "<script>alert(1)</script>",
    "![x](http://a.b/c) [y](javascript:1)",
    "*a* _b_ `c` ~~d~~ | # e",
    "```\n</details>\n# big",
    "@someone #12 http://evil.example www.evil.example",
    "- item",
    "1. item",
    "> quote",
    "\\",
    "&lt;",
]


def rendered(text: str) -> Page:
    """Markdown as a page, with HTML passed through as hosts do."""
    return Page(MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text))


@pytest.mark.parametrize("trick", TRICKS)
def test_text_can_not_form_markup(trick: str) -> None:
    page = rendered(escape(trick))
    assert [tag for tag, _ in page.elements] == ["p"]
    assert page.text.replace("\u200b", "") == " ".join(trick.split())
    page = rendered(code(trick))
    assert [tag for tag, _ in page.elements] == ["p", "code"]
    assert page.text == " ".join(trick.split())


def test_text_can_not_notify_or_link() -> None:
    shown = rendered(escape(TRICKS[4])).text
    assert not re.search(r"@\w|#\d|://|www\.\w", shown)


@pytest.mark.parametrize("trick", TRICKS)
def test_a_hostile_result_renders_to_the_same_elements(trick: str) -> None:
    plain = rendered(markdown(check(factory.failing())))
    page = rendered(markdown(check(factory.hostile(trick))))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]


def test_the_summary_says_verdict_counts_findings_and_gaps() -> None:
    page = rendered(markdown(check(factory.failing())))
    assert "coopcts: Not conformant" in page.text
    assert len(page.all("tr")) == 5
    for finding in factory.failing()["findings"]:
        assert finding["id"] in page.text and finding["message"] in page.text
    assert "a case made an invalid program" in page.text
    assert "1 of 5 advertised records had no example" in page.text
    assert len(page.all("details")) == 5
    assert len(page.all("pre")) == 5


def test_the_summary_of_many_findings_stays_short() -> None:
    text = markdown(check(factory.large(5000)))
    assert len(text) < 20_000
    listed = re.findall(r"^- `[0-9a-f]{6}`", text, re.MULTILINE)
    assert len(listed) == LISTED
    assert "and " in text and "more in the report" in text


def on_a_terminal(result: dict[str, Any]) -> str:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system="truecolor")
    console.print(reports.terminal_summary(result))
    return out.getvalue()


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_the_terminal_and_the_plain_lines_say_the_same() -> None:
    shown = " ".join(plain(on_a_terminal(factory.failing())).split())
    lines = " ".join(reports.terminal_text(factory.failing()).split())
    for finding in factory.failing()["findings"]:
        for part in (finding["case"], finding["message"], finding["replay"]):
            assert part in shown and part in lines
    for part in ("Not conformant", "4 fail", "1 suite error", "Violations of the specification"):
        assert part in shown and part in lines
    assert "\x1b[" in on_a_terminal(factory.failing())
    assert "\x1b" not in reports.terminal_text(factory.failing())


def test_long_lists_are_cut_with_a_count() -> None:
    for shown in (
        plain(on_a_terminal(factory.large(400))),
        reports.terminal_text(factory.large(5000)),
    ):
        assert shown.count("Element [0, 5]") == 12
    assert "and 66 more" in reports.terminal_text(factory.large(5000))


def test_a_hostile_result_can_not_steer_the_terminal() -> None:
    text = "\x1b[2J\x1b]0;title\x07[bold]x[/nothing]\u202e"
    shown = on_a_terminal(factory.hostile(text))
    assert re.fullmatch(r"[^\x00-\x09\x0b-\x1f\x7f\u202e]*", plain(shown))
    assert "[bold]x[/nothing]" in shown
    assert "\x1b" not in reports.terminal_text(factory.hostile(text))


def test_notes_reach_the_terminal() -> None:
    sample = factory.passing() | {"notes": ["No driver was found."]}
    assert "Note: No driver was found." in reports.terminal_text(sample)
    assert "Note: No driver was found." in on_a_terminal(sample)
