"""``result.json``: reading, checking and writing it.

A result file may come from anywhere. It is read as data only, every fault of it ends in one
:class:`ReportError` with one sentence, and nothing in it is ever executed.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
from pathlib import Path
from typing import Any

from reports.validate import complete, problems

SCHEMA = 1
"""The version of the format that this release writes and the newest that it reads."""

VIOLATIONS = frozenset({"fail", "timeout", "device_lost", "crash"})
"""Outcomes in which a driver broke a rule. A conformant device has none at a required case."""


class ReportError(Exception):
    """A result that can't be read, or a report that can't be written; one sentence each."""


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The result in the file ``path`` (or in ``result.json`` of that run folder), complete:
    optional members that the file leaves out have the schema's defaults.

    :raises ReportError: no such file, unreadable, damaged, or of a newer schema.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "result.json"
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise ReportError(f"{path}: no such file; `coopcts run` writes one") from None
    except OSError as error:
        raise ReportError(f"{path}: can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ReportError(f"{path}: damaged, or not a coopcts result: not UTF-8") from None
    try:
        return check(_parse(text))
    except ReportError as error:
        raise ReportError(f"{path}: {error}") from None


def check(result: object) -> dict[str, Any]:
    """A plain copy of ``result``, checked against the schema, with the defaults filled in.

    Infinities and NaNs, which JSON lacks, become the strings ``inf``, ``-inf`` and ``nan``.

    :raises ReportError: it isn't a result of a schema that this release knows.
    """
    try:
        plain = _parse(json.dumps(result))
    except (TypeError, ValueError, RecursionError) as error:
        raise ReportError(f"not a coopcts result: {error}") from None
    if not isinstance(plain, dict) or "schema" not in plain:
        raise ReportError("not a coopcts result: no member 'schema'")
    version = plain["schema"]
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ReportError("damaged, or not a coopcts result: 'schema' is no version number")
    if version > SCHEMA:
        raise ReportError(f"made by a newer coopcts (schema {version}, known {SCHEMA}); update")
    found = list(itertools.islice(problems(plain), 4))
    if found:
        more = "; and more" if len(found) > 3 else ""
        raise ReportError(f"damaged: {'; '.join(found[:3])}{more}")
    _consistent(plain)
    return complete(plain)


def dumps(result: object) -> str:
    """``result`` as the text of a ``result.json``: checked, strict JSON, one case a line.

    :raises ReportError: see :func:`check`.
    """
    checked = check(result)
    parts = []
    for name, value in checked.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines = ",\n  ".join(json.dumps(item, allow_nan=False) for item in value)
            parts.append(f"{json.dumps(name)}: [\n  {lines}\n ]")
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(value, allow_nan=False)}")
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def write_atomic(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8 so that ``path`` holds either what it held or all of ``text``;
    its folder is made if missing.

    :raises ReportError: the system refused (no space, no permission).
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise ReportError(f"{path}: can't be written: {error.strerror}") from None


def save(result: object, path: str | os.PathLike[str]) -> Path:
    """Write ``result`` as ``path``, checked and atomically.

    :raises ReportError: see :func:`check` and :func:`write_atomic`.
    """
    path = Path(path)
    write_atomic(path, dumps(result))
    return path


def ratio(value: float | str | None) -> float | None:
    """A ratio of the file as a number: infinite for ``inf`` and ``nan``, None for not judged."""
    if value is None:
        return None
    if isinstance(value, str):
        return math.inf
    return float(value)


def _parse(text: str) -> Any:
    names = {"Infinity": "inf", "-Infinity": "-inf", "NaN": "nan"}
    try:
        return json.loads(text, parse_constant=names.__getitem__, parse_float=_parse_float)
    except RecursionError:
        raise ReportError("damaged, or not a coopcts result: nested too deeply") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ReportError(f"damaged, or not a coopcts result: no JSON at {place}") from None
    except ValueError as error:
        raise ReportError(f"damaged, or not a coopcts result: {error}") from None


def _parse_float(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else str(value)


def _consistent(result: dict[str, Any]) -> None:
    """Rules between members that a schema can't state."""
    for name in ("cases", "findings"):
        seen = set()
        for item in result[name]:
            if item["id"] in seen:
                raise ReportError(f"damaged: two {name} with the id {item['id']!r}")
            seen.add(item["id"])
    for case in result["cases"]:
        if result["conformant"] and case["level"] == "required" and case["outcome"] in VIOLATIONS:
            raise ReportError(
                f"damaged: says conformant, but {case['id']!r} ended in {case['outcome']}"
            )
