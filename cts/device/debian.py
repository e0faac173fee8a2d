"""Packages of Debian, fetched once into the user's cache and unpacked there.

Nothing of the system is touched and no root is needed: ``apt-get`` works on a private state,
an empty list of installed packages and a private cache, with the mirrors that the system's own
sources name and the distribution's own keyring, and ``dpkg-deb -x`` only unpacks.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from cts.device.sources import debian_mirrors, without_credentials

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class FetchError(Exception):
    """A package can't be had here; the message is one sentence that says why."""


def cache_folder() -> Path:
    """The suite's folder in the user's cache (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "coopcts"


def once(root: Path, there: Callable[[], bool], build: Callable[[Path], Path]) -> None:
    """Unless ``root`` is ``there``, let ``build`` make its content in the folder it is given, and
    move that to ``root`` in one step. One process at a time does so. FetchError where it fails."""
    if there():
        return
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with _locked(root.with_suffix(".lock")):
            if there():  # another process fetched it while this one waited
                return
            shutil.rmtree(root, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=root.parent, prefix="staging-") as work:
                build(Path(work)).rename(root)
    except OSError as error:
        raise FetchError(
            f"{root.name} can't be stored in {root.parent}: {error.strerror or error}."
        ) from error
    if not there():
        raise FetchError(f"{root} was fetched but is incomplete: remove it and try again.")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def download(
    work: Path, packages: Sequence[str], suites: Sequence[str], *, alone: bool = False
) -> list[Path]:
    """The archives of ``packages`` in ``suites`` and, unless ``alone``, of all that they depend on,
    from the first of the system's mirrors that has them, into ``work``. FetchError where none
    has."""
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise FetchError(f"packages come only to Debian 12 or 13: there is no {tool}.")
    mirrors = debian_mirrors()
    if not mirrors:
        raise FetchError("the apt sources of this machine name no Debian mirror.")
    reasons = []
    for number, mirror in enumerate(mirrors):
        try:
            return _from(mirror, work / f"apt-{number}", packages, suites, alone)
        except FetchError as error:
            reasons.append(str(error).rstrip("."))
    raise FetchError(f"{'; '.join(reasons)}.")


def unpack(archives: Sequence[Path], tree: Path) -> None:
    """The files of ``archives`` below the new folder ``tree``."""
    tree.mkdir()
    for archive in archives:
        name = archive.name.partition("_")[0]
        call(["dpkg-deb", "-x", str(archive), str(tree)], f"unpacking {name} failed")


def only(tree: Path, pattern: str) -> Path:
    """The one file below ``tree`` that matches. FetchError unless there is exactly one."""
    found = sorted(tree.glob(pattern))
    if len(found) != 1:
        raise FetchError(f"the unpacked packages hold {len(found)} files {pattern}, not one.")
    return found[0]


def _from(
    mirror: str, state: Path, packages: Sequence[str], suites: Sequence[str], alone: bool
) -> list[Path]:
    for folder in ("state/lists/partial", "cache/archives/partial", "empty"):
        (state / folder).mkdir(parents=True)
    (state / "status").touch()
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    sources = state / "sources.list"
    sources.touch(mode=0o600)
    sources.write_text("".join(f"deb {signed}{mirror} {suite} main\n" for suite in suites), "utf-8")
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
        raise FetchError("apt-get downloaded nothing.")
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
    """Run ``command`` in ``folder``; FetchError with its first error where it fails."""
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
        raise FetchError(f"{failure}: {without_credentials(errors[0])}.")
