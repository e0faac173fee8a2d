"""The HTML report: one self-contained file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reports import summary
from reports.render import device, findings, matrix
from reports.render.heatmap import HATCH
from reports.result import ratio
from reports.text import OUTCOME_NAMES, moment, plural, seconds, show_ratio

_TEMPLATES = Path(__file__).parent / "templates"

OPEN_FINDINGS = 5
"""Groups of findings, in each band, whose first is unfolded; more would bury the rest."""

SLOWEST = 12
"""Cases in the table of the slowest."""


def html(result: Mapping[str, Any]) -> str:
    """The report on a complete result, as the text of one HTML file.

    Every string of the result is escaped; the only script is the suite's own, and the content
    security policy forbids any other.
    """
    style, script = _asset("report.css"), _asset("report.js")
    levels = matrix.levels(result)
    bands = findings.bands(result, matrix.siblings(levels))
    anchors = {
        view.data["id"]: view.anchor
        for level in levels
        for section in level.sections
        for requirement in section.requirements
        for view in requirement.cases
    }
    template = _environment().get_template("report.html.j2")
    return template.render(
        result=result,
        style=Markup(style),
        script=Markup(script),
        hatch=HATCH,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        verdict=summary.verdict(result),
        subject=summary.device_name(result),
        caveats=summary.caveats(result),
        counts=summary.counts(result),
        levels_text=summary.LEVELS,
        outcome_names=OUTCOME_NAMES,
        bands=bands,
        finding_anchors={
            view.data["id"]: view.anchor
            for band in bands
            for group in band.groups
            for view in group.findings
        },
        case_anchors=anchors,
        open_findings=OPEN_FINDINGS,
        levels=levels,
        coverage=_coverage(result),
        accuracy=_accuracy(result),
        slowest=sorted(result["cases"], key=lambda case: -case["duration"])[:SLOWEST],
        record_tables=device.record_tables(result["device"]),
        properties=device.grouped(result["device"]["properties"]),
        features=device.features(result["device"]),
        queues=device.queues(result["device"]),
        examples=sum(case["examples"] for case in result["cases"]),
        matrices=sum(case["matrices"] for case in result["cases"]),
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        seconds=seconds, show_ratio=show_ratio, thousands="{:,}".format, moment=moment
    )
    environment.globals.update(plural=plural, ratio=ratio)
    return environment


@cache
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _coverage(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Records with the share of the most used one's examples, for the bars."""
    most = max((row["examples"] for row in result["coverage"]), default=0) or 1
    return [{**row, "share": row["examples"] / most} for row in result["coverage"]]


def _accuracy(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows with the ratio as a number (None: not judged) and as a bar's share of 1."""
    rows = []
    for row in result["accuracy"]:
        number = ratio(row["worst_ratio"])
        share = 0.0 if number is None else min(number, 1.0)
        rows.append({**row, "number": number, "share": share})
    return rows
