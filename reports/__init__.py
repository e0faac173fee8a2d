"""Reports: the result file's schema and every rendering of it.

A report reads ``result.json`` and nothing else. ``from reports.diff import diff`` compares two.
"""

from reports.render.terminal import terminal_summary, terminal_text
from reports.result import ReportError, check, dumps, load, save
from reports.writing import write

__all__ = [
    "ReportError",
    "check",
    "dumps",
    "load",
    "save",
    "terminal_summary",
    "terminal_text",
    "write",
]
