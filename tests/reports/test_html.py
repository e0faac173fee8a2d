"""The HTML report: what it says, and that nothing in a result can act in it."""

from __future__ import annotations

import base64
import hashlib
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reports import check
from reports.render.html import html
from tests.reports import factory
from tests.reports.page import Page

RESULTS = {
    "passing": factory.passing,
    "failing": factory.failing,
    "empty": lambda: factory.passing() | {"cases": [], "coverage": [], "accuracy": []},
}
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'`{{7*7}}{% raw %}&lt;</style>-->"


@pytest.fixture(scope="module", params=RESULTS)
def page(request: pytest.FixtureRequest) -> Page:
    return Page(html(check(RESULTS[request.param]())))


@pytest.fixture(scope="module")
def failing() -> Page:
    return Page(html(check(factory.failing())))


def test_the_page_is_well_formed_and_its_ids_are_unique(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    assert [tag for tag, _ in page.elements[:2]] == ["html", "head"]


def test_every_link_and_reference_stays_in_the_page(page: Page) -> None:
    for _, given in page.elements:
        for name in ("href", "aria-labelledby"):
            if name in given:
                assert given[name].removeprefix("#") in page.ids, given[name]
        if "href" in given:
            assert given["href"].startswith("#")


def test_nothing_is_loaded_from_anywhere(page: Page) -> None:
    forbidden = {"link", "img", "iframe", "object", "embed", "video", "audio", "base", "source"}
    assert forbidden.isdisjoint(tag for tag, _ in page.elements)
    for _, given in page.elements:
        assert not {"src", "srcset", "action", "formaction", "poster", "data"} & set(given)
    css = "".join(page.styles)
    assert "@import" not in css
    assert set(re.findall(r"url\(([^)]*)\)", css)) <= {"#hatch"}
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|import)\b", "".join(page.scripts))


def test_the_policy_allows_the_suites_script_and_no_other(page: Page) -> None:
    [script] = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(g["content"] for t, g in page.elements if g.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_headings_do_not_skip_a_level(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    levels = [level for level in levels if level < 5]  # h5 stands under the finding's own heading
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_all_that_a_finding_knows_is_on_the_page(failing: Page) -> None:
    text = failing.text
    for finding in factory.failing()["findings"]:
        parts = [finding[name] for name in ("id", "case", "kind", "message", "rule", "replay")]
        parts += [finding["export"], finding["witness"]]
        parts += [finding.get(name, "") for name in ("pattern", "explanation", "stderr")]
        parts += [finding.get("program", ""), finding.get("disassembly", "")]
        parts += [finding.get("record", "").partition(": ")[2]]
        worst = finding.get("worst") or {}
        parts += [worst.get(name, "") for name in ("actual_bits", "actual", "exact", "accepted")]
        for operand in finding.get("operands", []):
            parts += [operand["name"], operand["recipe"]]
        for name, value in finding.get("facts", {}).items():
            parts += [name[1:], str(value).removesuffix(".0")]
        for part in parts:
            assert " ".join(part.split()) in text, part


def test_all_that_a_case_knows_is_on_the_page(failing: Page) -> None:
    text = failing.text
    titles = {given.get("title") for tag, given in failing.elements if tag == "th"}
    for case in factory.failing()["cases"]:
        assert case["id"] in titles
        for part in (case["requirement"], case["reason"], *case["rows"], *case["used_records"]):
            assert part in text
        document, _, anchor = case["spec"].partition("#")
        assert document in text and anchor in text
        for name, values in case["distribution"].items():
            assert name in text
            for value, number in values.items():
                assert f"{value} \u00d7 {number}" in text


def test_all_of_the_device_and_the_run_is_on_the_page(failing: Page) -> None:
    text = failing.text
    device = factory.device()
    parts = [device[k] for k in ("name", "driver", "driver_version", "api_version", "uuid")]
    parts += [*device["extensions"], *device["records"], *device["environment"].values()]
    parts += [name.rpartition(".")[2] for name in (*device["features"], *device["properties"])]
    parts += ["1000999000 (unknown)", "FLOAT16", "SUBGROUP", "[1024, 1024, 1024]", "32768"]
    parts += [str(value) for value in factory.failing()["suite"].values()]
    for part in parts:
        assert part in text, part


def test_levels_and_bands_are_separate_sections(failing: Page) -> None:
    for name in ("required", "policy", "quality", "info"):
        assert failing.all("section", id=f"level-{name}")
    for name in ("required", "policy", "quality", "suite"):
        assert failing.all("section", id=f"band-{name}")
    text = failing.text
    assert text.count("Not part of the verdict.") >= 4


def test_outcomes_are_written_not_only_coloured(failing: Page) -> None:
    rows = failing.all("tr", cls="case")
    assert len(rows) == 23
    tags = failing.all("span", cls="tag")
    assert len(tags) >= 23
    for name in ("suite error", "crash", "time-out", "fail", "not supported", "flaky", "policy"):
        assert name in failing.text


def test_a_record_without_an_example_is_said_plainly(failing: Page) -> None:
    assert "1 of 5 records had no example: nothing in this report speaks for it." in failing.text
    assert failing.all("tr", cls="none")


def test_a_ratio_outside_is_said_in_words(failing: Page) -> None:
    assert "6.20 outside" in failing.text


def test_findings_of_one_requirement_stand_together_and_only_the_first_is_open() -> None:
    page = Page(html(check(factory.large(400))))
    shown = page.all("details", cls="finding")
    assert len(shown) == 12
    assert sum("open" in given for given in shown) == 4
    assert "Only cases with types = sint8_sint8_sint32 are affected: 3 of 25." in page.text


def test_requirements_with_something_to_see_are_open(failing: Page) -> None:
    for given in failing.all("details", cls="requirement"):
        assert ("open" in given) == ("look" in given["class"].split())
    assert failing.all("details", cls="look")


def test_a_clean_result_says_so() -> None:
    page = Page(html(check(factory.passing())))
    assert "None. No case found anything to report." in page.text
    assert page.all("header", cls="v-conformant")


def test_hostile_strings_are_only_text() -> None:
    plain = Page(html(check(factory.failing())))
    page = Page(html(check(factory.hostile(HOSTILE))))
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert page.scripts == plain.scripts and page.styles == plain.styles
    assert {tag for tag, _ in page.elements} == {tag for tag, _ in plain.elements}
    for _, given in page.elements:
        assert not [name for name in given if name.startswith("on")]
    assert len(page.ids) == len(set(page.ids))
    assert "{{7*7}}" in page.text and "49{%" not in page.text
    first = factory.hostile(HOSTILE)["findings"][0]
    for name in ("message", "pattern", "explanation"):
        assert first[name] in page.text


def test_files_of_a_hostile_result_hold_no_bare_markup(tmp_path: Path) -> None:
    text = html(check(factory.hostile(HOSTILE)))
    assert "<script>alert" not in text
    assert "<img" not in text


def test_a_page_with_many_cases_stays_small() -> None:
    page = html(check(factory.large(1000)))
    assert len(page) < 1_600_000


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb`` (WCAG 2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def schemes() -> dict[str, dict[str, str]]:
    css = "".join(Page(html(check(factory.passing()))).styles)
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    parsed: list[dict[str, Any]] = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", text)) for text in (light, dark)
    ]
    return {"light": parsed[0], "dark": parsed[1]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(scheme: str) -> None:
    colours = schemes()[scheme]
    pairs = [("ink", "paper"), ("soft", "paper"), ("soft", "raised"), ("link", "paper")]
    names = ("pass", "bad", "policy", "quality", "flaky", "mute")
    pairs += [(name, f"{name}-bg") for name in names] + [(name, "paper") for name in names]
    pairs += [("paper", "bad"), ("paper", "ink"), ("soft", "quality-bg"), ("ink", "policy-bg")]
    pairs += [("on-h3", "h3")]
    for front, back in pairs:
        bright, dim = sorted((luminance(colours[front]), luminance(colours[back])), reverse=True)
        assert (bright + 0.05) / (dim + 0.05) >= 4.5, (front, back)
    bright, dim = sorted((luminance(colours["paper"]), luminance(colours["h4"])), reverse=True)
    assert (bright + 0.05) / (dim + 0.05) >= 3  # large bold numbers on the map


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_heat_map_reads_in_greyscale(scheme: str) -> None:
    colours = schemes()[scheme]
    steps = [luminance(colours[f"h{n}"]) for n in range(6)]
    assert len({round(step, 2) for step in steps}) == 6
    outside = steps[4:]
    inside = steps[:3]
    assert max(inside) < min(outside) or max(outside) < min(inside)
