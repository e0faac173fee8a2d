"""Mesa's lavapipe for a machine without a driver: fetched once into the user's cache.

lavapipe is a Vulkan driver that runs on any CPU. Debian 12 and 13 have it new enough (with
VK_KHR_cooperative_matrix) only in the backports of Debian 13, so it is downloaded from there
with all it needs, its C library and a Python included, and unpacked into a folder of its own.
Only the device server runs there (:func:`cts.device.launcher.lavapipe`).

Nothing of the system is touched and no root is needed: ``apt-get`` works on a private state,
an empty list of installed packages and a private cache, with the mirrors that the system's own
sources name and the distribution's own keyring, and ``dpkg-deb -x`` only unpacks.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cts.device.sources import debian_mirrors, without_credentials

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

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
ALTERNATIVE = (
    "install Mesa 26.1 or later with its Vulkan drivers and choose it with --device vulkan:INDEX, "
    "or use --device reference"
)


class LavapipeError(Exception):
    """lavapipe can't be had here; the message is one sentence that says why."""


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


def cache_folder() -> Path:
    """The suite's folder in the user's cache (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "coopcts"


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
    """The prefix, fetched if it isn't there yet (80 MB, half a minute); LavapipeError if not."""
    found = cached()
    if found:
        return found
    root = _root()
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with locked(root.with_suffix(".lock")):
            found = cached()
            if found:  # another process fetched it while this one waited
                return found
            shutil.rmtree(root, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=root.parent, prefix="staging-") as work:
                _build(Path(work), root)
    except OSError as error:
        raise LavapipeError(
            f"lavapipe can't be stored in {root.parent}: {error.strerror or error}."
        ) from error
    found = cached()
    if not found:
        raise LavapipeError(f"lavapipe was fetched but {root} is incomplete: remove it, try again.")
    return found


def _root() -> Path:
    return cache_folder() / f"lavapipe-{BACKPORTS}-{LAYOUT}"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of a folder that one process at a time fetches."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(work: Path, root: Path) -> None:
    """Download and unpack into ``work``, then move the result to ``root`` in one step."""
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise LavapipeError(
                f"lavapipe can be fetched only on Debian 12 or 13 (there is no {tool}): "
                f"{ALTERNATIVE}."
            )
    archives = download(work, PACKAGES)
    tree = work / "tree"
    tree.mkdir()
    for archive in archives:
        call(["dpkg-deb", "-x", str(archive), str(tree)], "unpacking the driver failed")
    for idle in ("doc", "man", "locale", "info", "lintian"):
        shutil.rmtree(tree / "usr/share" / idle, ignore_errors=True)
    _copy_vulkan(tree / "site")
    _describe(tree, root, archives)
    _compile(tree)
    tree.rename(root)


def download(work: Path, packages: tuple[str, ...], *, alone: bool = False) -> list[Path]:
    """The archives of ``packages`` and, unless ``alone``, of all that they depend on, from the
    first of the system's mirrors that has them, into ``work``. LavapipeError where none has."""
    mirrors = debian_mirrors()
    if not mirrors:
        raise LavapipeError(
            "lavapipe can't be fetched: the apt sources of this machine name no Debian mirror; "
            f"{ALTERNATIVE}."
        )
    reasons = []
    for number, mirror in enumerate(mirrors):
        try:
            return _download_from(mirror, work / f"apt-{number}", packages, alone)
        except LavapipeError as error:
            reasons.append(str(error).rstrip("."))
    raise LavapipeError(f"lavapipe can't be fetched: {'; '.join(reasons)}; {ALTERNATIVE}.")


def _download_from(mirror: str, state: Path, packages: tuple[str, ...], alone: bool) -> list[Path]:
    for folder in ("state/lists/partial", "cache/archives/partial", "empty"):
        (state / folder).mkdir(parents=True)
    (state / "status").touch()
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    sources = state / "sources.list"
    sources.touch(mode=0o600)
    sources.write_text(
        "".join(f"deb {signed}{mirror} {suite} main\n" for suite in (SUITE, BACKPORTS)), "utf-8"
    )
    configuration = state / "apt.conf"
    configuration.write_text(_configuration(state, sources), "utf-8")
    apt = ["apt-get", "-q", "-c", str(configuration)]
    call([*apt, "update"], "the package lists can't be read")
    command = ["install", "-y", "--no-install-recommends", "--download-only"]
    kept = state / "cache/archives"
    call(
        [*apt, *(["download"] if alone else command), *packages],
        "the packages can't be downloaded",
        folder=kept,
    )
    archives = sorted(kept.glob("*.deb"))
    if not archives:
        raise LavapipeError("apt-get downloaded nothing.")
    return archives


def _configuration(state: Path, sources: Path) -> str:
    """Settings read after the system's own (its proxy stays, its hooks and sources don't)."""
    empty = state / "empty"
    settings = {
        "Dir::State": state / "state",
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": empty,
        "Dir::Etc::preferences": "/dev/null",
        "Dir::Etc::preferencesparts": empty,
        "Dir::Log": state,
        "APT::Sandbox::User": "",
        "APT::Get::List-Cleanup": "false",
        "APT::Update::Error-Mode": "any",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Debug::NoLocking": "true",
    }
    hooks = ("APT::Update", "APT::Install", "DPkg")
    moments = ("Pre-Invoke", "Post-Invoke", "Post-Invoke-Success", "Pre-Install-Pkgs")
    return "".join(
        [
            *(f"#clear {hook}::{moment};\n" for hook in hooks for moment in moments),
            *(f'{name} "{value}";\n' for name, value in settings.items()),
        ]
    )


def call(
    command: list[str],
    failure: str,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> None:
    """Run ``command`` in ``folder``; LavapipeError with its first error where it fails."""
    if environment is None:
        environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        cwd=folder,
    )
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("E:")] or lines[-1:] or ["no output"]
        raise LavapipeError(f"{failure}: {without_credentials(errors[0])}.")


def _copy_vulkan(site: Path) -> None:
    """The ``vulkan`` package is plain Python, so the one that is installed here serves there."""
    spec = importlib.util.find_spec("vulkan")  # finds without importing: no loader needed
    if spec is None or not spec.submodule_search_locations:
        raise LavapipeError("the Python package vulkan is not installed here: install it first.")
    source = Path(spec.submodule_search_locations[0])
    shutil.copytree(source, site / "vulkan", ignore=shutil.ignore_patterns("__pycache__"))


def _describe(tree: Path, root: Path, archives: list[Path]) -> None:
    """Write the driver's manifest with its final place, and the facts that make the prefix."""
    driver = _only(tree, "usr/lib/*/libvulkan_lvp.so")
    manifest = json.loads(_only(tree, "usr/share/vulkan/icd.d/lvp_icd*.json").read_text("utf-8"))
    manifest["ICD"]["library_path"] = str(root / driver.relative_to(tree))
    (tree / "icd.json").write_text(json.dumps(manifest, indent=1), "utf-8")
    version = next(
        (found[1] for a in archives if (found := re.match(r"mesa-vulkan-drivers_(.+)_", a.name))),
        "unknown",
    )
    facts = {
        "loader": str(_only(tree, "usr/lib/*/ld-linux-*.so.*").relative_to(tree)),
        "libraries": str(driver.parent.relative_to(tree)),
        "python": str(_only(tree, "usr/bin/python3.[0-9][0-9]").relative_to(tree)),
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


def _only(tree: Path, pattern: str) -> Path:
    found = sorted(tree.glob(pattern))
    if len(found) != 1:
        raise LavapipeError(f"the unpacked packages hold {len(found)} files {pattern}, not one.")
    return found[0]


def main() -> int:
    """Print the prefix, fetching it if need be."""
    try:
        print(fetch().root)
    except LavapipeError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
