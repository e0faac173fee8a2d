"""Mesa's lavapipe for a machine without a driver: fetched once into the user's cache.

lavapipe is a Vulkan driver that runs on any CPU. Debian 12 and 13 have it new enough (with
VK_KHR_cooperative_matrix) only in the backports of Debian 13, so it is downloaded from there
with all it needs, its C library and a Python included, and unpacked into a folder of its own.
Only the device server runs there (:func:`cts.device.launcher.lavapipe`).
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from cts.device.debian import FetchError, cache_folder, call, download, once, only, unpack

SUITE = "trixie"
BACKPORTS = "trixie-backports"
PACKAGES = (
    f"mesa-vulkan-drivers/{BACKPORTS}",
    "libvulkan1",
    "python3",
    "python3-cffi-backend",
    "python3-cffi",
    "python3-pycparser",
)
LAYOUT = 2
"""Raised when the folder's content changes, so that an older folder isn't taken for it."""

ALTERNATIVE = (
    "install Mesa 26.1 or later with its Vulkan drivers and choose it with --device vulkan:INDEX, "
    "or use --device reference"
)


@dataclass(frozen=True)
class Prefix:
    """Where the driver was unpacked to; every path is absolute."""

    root: Path
    loader: Path
    """The dynamic linker, which starts programs of the prefix."""
    libraries: Path
    python: Path
    home: Path
    """PYTHONHOME."""
    modules: tuple[Path, ...]
    """PYTHONPATH: where cffi, pycparser and vulkan are."""
    icd: Path
    """The driver's manifest, for VK_DRIVER_FILES."""
    version: str
    """Package version of the driver."""

    @property
    def shader_cache(self) -> Path:
        """Where the driver keeps compiled shaders between runs."""
        return self.root.parent / f"{self.root.name}-shaders"


def cached() -> Prefix | None:
    """The prefix, if it was fetched before."""
    try:
        return _read(_root())
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read(root: Path) -> Prefix:
    facts = json.loads((root / "prefix.json").read_text("utf-8"))
    return Prefix(
        root=root,
        loader=root / facts["loader"],
        libraries=root / facts["libraries"],
        python=root / facts["python"],
        home=root / "usr",
        modules=(root / "site", root / "usr/lib/python3/dist-packages"),
        icd=root / "icd.json",
        version=facts["version"],
    )


def fetch() -> Prefix:
    """The prefix, fetched if it isn't there yet (80 MB, half a minute); FetchError if it can't
    be."""
    root = _root()
    try:
        once(root, lambda: cached() is not None, lambda work: _build(work, root))
    except FetchError as error:
        reason = str(error).rstrip(".")
        raise FetchError(f"lavapipe can't be fetched: {reason}; {ALTERNATIVE}.") from error
    return _read(root)


def _root() -> Path:
    return cache_folder() / f"lavapipe-{BACKPORTS}-{LAYOUT}"


def _build(work: Path, root: Path) -> Path:
    """The content of ``root``, made in ``work``."""
    archives = download(work, PACKAGES, (SUITE, BACKPORTS))
    tree = work / "tree"
    unpack(archives, tree)
    for idle in ("doc", "man", "locale", "info", "lintian"):
        shutil.rmtree(tree / "usr/share" / idle, ignore_errors=True)
    _copy_vulkan(tree / "site")
    _describe(tree, root, archives)
    _compile(tree)
    return tree


def _copy_vulkan(site: Path) -> None:
    """The ``vulkan`` package is plain Python, so the one that is installed here serves there."""
    spec = importlib.util.find_spec("vulkan")  # finds without importing: no loader needed
    if spec is None or not spec.submodule_search_locations:
        raise FetchError("the Python package vulkan is not installed here.")
    source = Path(spec.submodule_search_locations[0])
    shutil.copytree(source, site / "vulkan", ignore=shutil.ignore_patterns("__pycache__"))


def _describe(tree: Path, root: Path, archives: list[Path]) -> None:
    """Write the driver's manifest with its final place, and the facts that make the prefix."""
    driver = only(tree, "usr/lib/*/libvulkan_lvp.so")
    manifest = json.loads(only(tree, "usr/share/vulkan/icd.d/lvp_icd*.json").read_text("utf-8"))
    manifest["ICD"]["library_path"] = str(root / driver.relative_to(tree))
    (tree / "icd.json").write_text(json.dumps(manifest, indent=1), "utf-8")
    version = next(
        (found[1] for a in archives if (found := re.match(r"mesa-vulkan-drivers_(.+)_", a.name))),
        "unknown",
    )
    facts = {
        "loader": str(only(tree, "usr/lib/*/ld-linux-*.so.*").relative_to(tree)),
        "libraries": str(driver.parent.relative_to(tree)),
        "python": str(only(tree, "usr/bin/python3.[0-9][0-9]").relative_to(tree)),
        "version": version.replace("%3a", ":"),
    }
    (tree / "prefix.json").write_text(json.dumps(facts, indent=1), "utf-8")


_IMPORTS = """
import dataclasses, enum, hashlib, io, json, mmap, pathlib, platform, secrets, tempfile, threading
import traceback
import cffi
from importlib.util import find_spec, module_from_spec, spec_from_file_location
cffi.FFI().cdef("typedef int number;")
path = find_spec("vulkan").submodule_search_locations[0] + "/_vulkancache.py"
spec = spec_from_file_location("vulkan_declarations", path)
spec.loader.exec_module(module_from_spec(spec))
"""
"""What a device server imports there."""


def _compile(tree: Path) -> None:
    """Import once what every server imports: the compiled modules stay, and it's shown to work.

    Without them a server takes more than twice the time to start.
    """
    prefix = _read(tree)
    paths = os.pathsep.join(map(str, prefix.modules))
    environment = {"PYTHONHOME": str(prefix.home), "PYTHONPATH": paths, "PATH": os.defpath}
    command = [str(prefix.loader), "--library-path", str(prefix.libraries), str(prefix.python)]
    call([*command, "-c", _IMPORTS], "the unpacked Python does not run here", environment)


def main() -> int:
    """Print the prefix, fetching it if need be."""
    try:
        print(fetch().root)
    except FetchError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
