"""The report in a real browser, where one is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape
from pathlib import Path
from typing import Any

import pytest

from reports import check
from reports.render.html import html
from tests.reports import factory

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="neither chromium nor google-chrome is on the PATH"
)

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=4000",
    "--enable-logging=stderr",
)


def browse(page: str, folder: Path, width: int = 1400, *flags: str) -> tuple[str, str]:
    """Open ``page`` in a window of ``width``; the document afterwards, and the console."""
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    done = subprocess.run(
        [
            str(BROWSER),
            *FLAGS,
            *flags,
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width},900",
            "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, "\n".join(x for x in done.stderr.splitlines() if "CONSOLE" in x)


def ask(page: str, folder: Path, script: str, width: int = 1400, *flags: str) -> Any:
    """What ``script`` (an expression, maybe a promise) gives on ``page`` in a viewport of
    ``width``. The copy has no content security policy, which would forbid the question; a narrow
    one lies in a frame, because a window has a least width."""
    page = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    probe = f"(async () => {{ top.document.title = JSON.stringify(await ({script})); }})()"
    page = page.replace("</body>", f"<script>{probe}</script></body>")
    if width < 600:
        style = f"width: {width}px; height: 900px; border: 0"
        frame = f'<iframe style="{style}" srcdoc="{escape(page)}"></iframe>'
        page = f"<!DOCTYPE html><title></title><body style='margin: 0'>{frame}"
    document, _ = browse(page, folder, max(width, 600), *flags)
    found = re.search(r"<title>(.*?)</title>", document, re.DOTALL)
    assert found is not None
    return json.loads(found[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))


@pytest.fixture(scope="module")
def report() -> str:
    return html(check(factory.failing()))


def test_the_report_opens_without_a_complaint_and_its_script_runs(
    report: str, tmp_path: Path
) -> None:
    document, console = browse(report, tmp_path)
    assert console == ""
    assert re.search(r'<form id="filter"(?![^>]*hidden)', document)


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("scheme", [0, 1])
def test_the_page_never_scrolls_sideways(
    report: str, tmp_path: Path, width: int, scheme: int
) -> None:
    script = """(() => {
      document.querySelectorAll("details").forEach((d) => { d.open = true; });
      const root = document.documentElement;
      const wide = [...document.querySelectorAll("main *")].filter((e) =>
        !e.closest(".scroll, pre, .off, thead") &&
        e.getBoundingClientRect().right > root.clientWidth + 1);
      return {
        inner: innerWidth,
        scroll: root.scrollWidth,
        wide: wide.map((e) => e.outerHTML.slice(0, 80)),
        paper: getComputedStyle(document.body).backgroundColor,
      };
    })()"""
    flag = f"--blink-settings=preferredColorScheme={scheme}"
    said = ask(report, tmp_path, script, width, flag)
    assert said["inner"] == width
    assert said["scroll"] <= width and said["wide"] == []
    assert said["paper"] == ("rgb(21, 24, 27)", "rgb(253, 253, 251)")[scheme]


FILTER = """(async () => {
  const form = document.getElementById("filter");
  const change = async () => {
    form.dispatchEvent(new Event("input"));
    await new Promise((done) => setTimeout(done, 300));
    return {
      shown: document.querySelectorAll("tr.case:not([hidden])").length,
      groups: document.querySelectorAll("details.requirement:not([hidden])").length,
      open: document.querySelectorAll("details.requirement[open]:not([hidden])").length,
      said: document.getElementById("filter-said").textContent,
    };
  };
  const all = await change();
  form.querySelector("input[type=search]").value = "M-01 float32";
  const words = await change();
  form.querySelector("input[type=search]").value = "";
  form.querySelectorAll("[name=outcome]").forEach((box) => {
    box.checked = box.value === "crash";
  });
  const crash = await change();
  form.querySelector("[name=level][value=required]").checked = false;
  const none = await change();
  form.reset();
  const reset = await change();
  return {all, words, crash, none, reset};
})()"""


def test_the_filter_narrows_by_text_outcome_and_level(report: str, tmp_path: Path) -> None:
    said = ask(report, tmp_path, FILTER)
    assert said["all"]["shown"] == 23 and said["all"]["said"] == ""
    assert said["words"] == {"shown": 2, "groups": 1, "open": 1, "said": "2 of 23 cases shown"}
    assert said["crash"] == {"shown": 1, "groups": 1, "open": 1, "said": "1 of 23 cases shown"}
    assert said["none"]["shown"] == 0 and said["none"]["groups"] == 0
    assert said["reset"] == said["all"]


def test_a_link_to_a_folded_case_unfolds_it(report: str, tmp_path: Path) -> None:
    script = """(async () => {
      const row = [...document.querySelectorAll("tr.case")].find((r) => !r.closest("details").open);
      location.hash = "#" + row.id;
      await new Promise((done) => setTimeout(done, 300));
      return row.closest("details").open;
    })()"""
    assert ask(report, tmp_path, script) is True


def test_everything_can_be_reached_with_the_keyboard(report: str, tmp_path: Path) -> None:
    script = """(() => {
      document.querySelectorAll("details").forEach((d) => { d.open = true; });
      return [...document.querySelectorAll(".scroll, pre")].filter((e) => e.tabIndex !== 0).length;
    })()"""
    assert ask(report, tmp_path, script) == 0


def test_a_hostile_result_runs_nothing(tmp_path: Path) -> None:
    hit = "document.documentElement.dataset.hit=1"
    attack = f"<img src=x onerror='{hit}'><script>{hit}</script>"
    page = html(check(factory.hostile(attack + "\"' onmouseover='x'")))
    document, console = browse(page, tmp_path)
    assert "data-hit=" not in document and console == ""
    assert ask(page, tmp_path, "document.documentElement.dataset.hit || null") is None


def test_five_thousand_cases_are_usable(tmp_path: Path) -> None:
    script = """(async () => {
      const form = document.getElementById("filter");
      form.querySelector("input[type=search]").value = "layout_7";
      const start = performance.now();
      form.dispatchEvent(new Event("submit", {cancelable: true}));
      return {shown: document.querySelectorAll("tr.case:not([hidden])").length,
        took: performance.now() - start, nodes: document.querySelectorAll("*").length};
    })()"""
    said = ask(html(check(factory.large(5000))), tmp_path, script)
    assert said["shown"] == 200
    assert said["took"] < 2000
    assert said["nodes"] < 400_000
