"""The Debian mirrors that the system's own apt sources name (sources.list(5))."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

APT = Path("/etc/apt")

# Codenames and aliases of Debian releases: a source of another distribution or of a vendor is
# no mirror of Debian's archive.
RELEASES = frozenset(
    [
        "bullseye",
        "bookworm",
        "trixie",
        "forky",
        "duke",
        "sid",
        "oldoldstable",
        "oldstable",
        "stable",
        "testing",
        "unstable",
    ]
)


@dataclass(frozen=True)
class Source:
    """One archive that a sources file names."""

    uri: str
    suite: str
    components: tuple[str, ...]


def debian_mirrors(apt: Path = APT) -> list[str]:
    """URIs of Debian's main archive in the sources below ``apt``, in order, each once."""
    files = [
        apt / "sources.list",
        *sorted((apt / "sources.list.d").glob("*.list")),
        *sorted((apt / "sources.list.d").glob("*.sources")),
    ]
    found: dict[str, None] = {}
    for file in files:
        try:
            text = file.read_text("utf-8", errors="replace")
        except OSError:
            continue
        parse = deb822 if file.suffix == ".sources" else one_line
        for source in parse(text):
            if "main" in source.components and _is_main_archive(source.suite):
                found.setdefault(source.uri)
    return list(found)


def _is_main_archive(suite: str) -> bool:
    """The security archive lies elsewhere on a mirror and has no backports."""
    release, _, pocket = suite.partition("-")
    return release in RELEASES and pocket in ("", "updates", "backports", "proposed-updates")


def one_line(text: str) -> Iterator[Source]:
    """The binary archives of a file in the one-line style."""
    for line in text.splitlines():
        fields = re.sub(r"\[[^\]]*\]", " ", line.partition("#")[0]).split()
        if len(fields) >= 3 and fields[0] == "deb":
            yield Source(fields[1], fields[2], tuple(fields[3:]))


def deb822(text: str) -> Iterator[Source]:
    """The binary archives of a file in the deb822 style."""
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n[ \t]*\n", plain):
        fields: dict[str, list[str]] = {}
        name = ""
        for line in stanza.splitlines():
            if line[:1] in (" ", "\t"):  # continues the field above
                fields.setdefault(name, []).extend(line.split())
                continue
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.split()
        if "deb" not in fields.get("types", []) or fields.get("enabled", ["yes"]) == ["no"]:
            continue
        for uri in fields.get("uris", []):
            for suite in fields.get("suites", []):
                yield Source(uri, suite, tuple(fields.get("components", [])))


def without_credentials(text: str) -> str:
    """``text`` with the user part of every URI removed."""
    return re.sub(r"//[^/@\s]+@", "//", text)
