"""The newest validator that Debian has, fetched once into the user's cache.

The validator that is installed with the development tools may be older than an extension. Debian's
next release, or else its unstable branch, has one that knows more; it comes with its own C library
and is started by its own dynamic linker, so it runs on older systems too.
"""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

from cts.device.debian import FetchError, cache_folder, download, once, only, unpack
from cts.spirv.tools import TARGET, said

SUITES = ("forky", "sid")
PACKAGE = "spirv-tools"
LAYOUT = 1
"""Raised when the folder's content changes."""
TOOL = "usr/bin/spirv-val"


def fetch() -> Path:
    """The folder that the packages were unpacked to, fetched if it isn't there yet (15 MB).
    FetchError where that can't be; it isn't tried twice."""
    found = _fetched()
    if isinstance(found, Path):
        return found
    raise FetchError(found)


@functools.cache
def _fetched() -> Path | str:
    """The folder, or why there is none."""
    reasons = []
    for suite in SUITES:
        root = cache_folder() / f"{PACKAGE}-{suite}-{LAYOUT}"
        try:
            once(root, (root / TOOL).is_file, functools.partial(_build, suite))
            return root
        except FetchError as error:
            reasons.append(f"{suite}: {str(error).rstrip('.')}")
    return f"no newer validator can be fetched ({'; '.join(reasons)})."


def _build(suite: str, work: Path) -> Path:
    tree = work / "tree"
    unpack(download(work, (PACKAGE,), (suite,)), tree)
    return tree


def validate(words: bytes) -> str | None:
    """This validator's complaint about a module; None if it has none. FetchError where it can't be
    had."""
    tree = fetch()
    loader = only(tree, "usr/lib/*/ld-linux-*.so.*")
    libraries = ["--library-path", str(loader.parent)]
    command = [str(loader), *libraries, str(tree / TOOL), "--target-env", TARGET, "-"]
    return said(subprocess.run(command, input=words, capture_output=True, timeout=60))
