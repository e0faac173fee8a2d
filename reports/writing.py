"""Writing the renderings of a result into a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.render.html import html
from reports.render.junit import junit
from reports.render.markdown import markdown
from reports.result import check, write_atomic

RENDERINGS = {"report.html": html, "junit.xml": junit, "summary.md": markdown}
"""File name to the function that renders a complete result as its text."""


def write(result: Mapping[str, Any], folder: str | os.PathLike[str]) -> list[Path]:
    """Render ``result`` into ``folder`` (made if missing) and return the files' paths.

    Each file is replaced atomically: whoever reads it sees the old one or the whole new one.

    :raises reports.result.ReportError: ``result`` is no valid result, or the system refused.
    """
    checked = check(dict(result))
    folder = Path(folder)
    written = []
    for name, render in RENDERINGS.items():
        write_atomic(folder / name, render(checked))
        written.append(folder / name)
    return written
