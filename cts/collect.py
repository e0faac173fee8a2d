"""Finding the cases: by importing the files under ``cases/``, without pytest and without a
device."""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

from cts.case import Case, CaseError, declaration_of, matches, order, unique

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "cases"
_SOURCES = ("cts", "cases", "reference")


def cases_of(module: ModuleType) -> list[Case]:
    """The cases that a module declares, in the order of its source."""
    found: list[Case] = []
    for name, obj in vars(module).items():
        declaration = declaration_of(obj)
        if declaration is not None and name.startswith("test_"):
            found += declaration.cases()
    return found


def collect(folder: Path = CASES) -> list[Case]:
    """Every case under ``folder``, in the order of a run. CaseError where there is no such
    folder or two cases share an id."""
    if not folder.is_dir():
        raise CaseError(f"there are no cases at {folder}: run from a checkout of the project")
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    found: list[Case] = []
    # Imports make no garbage, and looking for it costs an eighth of the time. What they make lives
    # as long as the process, so it is never looked through again.
    collecting = gc.isenabled()
    gc.disable()
    try:
        for path in sorted(folder.rglob("test_*.py")):
            found += cases_of(_load(path, folder))
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
    unique(found)
    return sorted(found, key=lambda case: order(case.id))


def _load(path: Path, folder: Path) -> ModuleType:
    name = ".".join((folder.name, *path.relative_to(folder).with_suffix("").parts))
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def select(cases: Sequence[Case], queries: Iterable[str]) -> list[Case]:
    """The cases that any of ``queries`` selects; all of them if there are no queries."""
    wanted = list(queries)
    if not wanted:
        return list(cases)
    return [case for case in cases if any(matches(case.id, query) for query in wanted)]


@functools.cache
def suite_hash() -> str:
    """SHA-256 over the names and contents of the sources of ``cts``, ``cases`` and
    ``reference``, hexadecimal."""
    digest = hashlib.sha256()
    for name in _SOURCES:
        for path in sorted((ROOT / name).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()
