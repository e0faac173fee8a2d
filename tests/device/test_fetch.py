"""Fetching lavapipe: sources, atomicity, and one clear sentence where it can't be had.

``apt-get`` and ``dpkg-deb`` are stand-ins here; the real ones serve the tests on lavapipe.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cts.device import debian, lavapipe, sources
from cts.device.debian import FetchError
from cts.spirv import newest

DEB822 = """\
# a comment
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
# another comment
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb
URIs:
 http://folded.example/debian
 http://second.example/debian
Suites: trixie-backports
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 AAAA
 -----END PGP PUBLIC KEY BLOCK-----
"""

ONE_LINE = """\
# deb http://commented.example/debian bookworm main
deb [arch=amd64 signed-by=/x.gpg] http://line.example/debian bookworm main contrib # note
deb-src http://source.example/debian bookworm main
deb http://line.example/debian-security bookworm-security main
deb http://line.example/debian bookworm-updates main
deb https://vendor.example/packages cloud-bookworm main
deb http://contrib.example/debian bookworm contrib
deb http://incomplete.example
"""

APT_GET = """#!/bin/sh
echo "$@" >> "$FAKE/calls"
for word in "$@"; do
  case "$word" in
    update) grep -q good "$(dirname "$3")/sources.list" || {
      echo "E: Failed to fetch $(grep -o 'http[^ ]*' "$(dirname "$3")/sources.list" | head -1)"
      exit 100; } ;;
    install) cp "$FAKE"/*.deb "$(dirname "$3")/cache/archives/"
      sleep 0.2 ;;
  esac
done
"""
DPKG_DEB = """#!/bin/sh
[ "$(cat "$2")" = damaged ] && { echo "dpkg-deb: error: not a Debian archive"; exit 2; }
mkdir -p "$3"; cp -r "$FAKE/tree/." "$3"
"""
LOADER = """#!/bin/sh
[ "$1" = --library-path ] && [ -n "$PYTHONHOME" ] && exec echo "$@" > "$PYTHONHOME/../loaded"
"""
DRIVER = "mesa-vulkan-drivers_26.1.6-1~bpo13+1_amd64.deb"
FILES = {
    "usr/lib/x86_64-linux-gnu/libvulkan_lvp.so": "",
    "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": LOADER,
    "usr/bin/python3.13": "",
    "usr/share/doc/x/copyright": "",
    "usr/share/vulkan/icd.d/lvp_icd.json": '{"ICD": {"library_path": "libvulkan_lvp.so"}}',
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose mirror ``good`` has the packages; its cache is empty."""
    fake = tmp_path / "fake"
    for name, text in (("apt-get", APT_GET), ("dpkg-deb", DPKG_DEB)):
        path = fake / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    for name, text in FILES.items():
        path = fake / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    (fake / DRIVER).write_text("archive")
    monkeypatch.setenv("FAKE", str(fake))
    monkeypatch.setenv("PATH", f"{fake / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    use_mirrors(monkeypatch, "http://good.example/debian")
    return fake


def use_mirrors(monkeypatch: pytest.MonkeyPatch, *uris: str) -> None:
    monkeypatch.setattr(debian, "debian_mirrors", lambda: list(uris))


def calls(world: Path) -> list[str]:
    path = world / "calls"
    return path.read_text().splitlines() if path.exists() else []


def test_sources_of_both_styles(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(ONE_LINE)
    (tmp_path / "sources.list.d" / "debian.sources").write_text(DEB822)
    (tmp_path / "sources.list.d" / "other.disabled").write_text("deb http://x.example sid main")
    assert sources.debian_mirrors(tmp_path) == [
        "http://line.example/debian",
        "http://mirror.example/debian",
        "http://folded.example/debian",
        "http://second.example/debian",
    ]


def test_no_sources_at_all(tmp_path: Path) -> None:
    assert sources.debian_mirrors(tmp_path) == []


def test_credentials_are_not_repeated() -> None:
    text = "E: Failed to fetch http://me:secret@mirror.example/debian"
    assert sources.without_credentials(text) == "E: Failed to fetch http://mirror.example/debian"


def test_a_fetched_prefix_is_complete_and_kept(world: Path) -> None:
    assert lavapipe.cached() is None
    prefix = lavapipe.fetch()
    assert prefix.version == "26.1.6-1~bpo13+1"
    assert prefix.root.parent == debian.cache_folder()
    for path in (prefix.loader, prefix.libraries, prefix.python, prefix.icd):
        assert path.exists(), path
    assert (prefix.modules[0] / "vulkan" / "_vulkancache.py").exists()
    assert str(prefix.root / "usr/lib/x86_64-linux-gnu/libvulkan_lvp.so") in prefix.icd.read_text()
    assert not (prefix.root / "usr/share/doc").exists()
    assert str(prefix.python.name) in (prefix.root / "loaded").read_text()
    before = len(calls(world))
    assert lavapipe.fetch() == lavapipe.cached() == prefix
    assert len(calls(world)) == before == 2


def test_apt_works_on_a_private_state(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = world / "state"
    sources_list = state / "sources.list"
    text = debian._configuration(state, sources_list)
    for name in ("Dir::State ", "Dir::State::status ", "Dir::Cache ", "Dir::Etc::sourcelist "):
        line = next(line for line in text.splitlines() if line.startswith(name))
        assert str(state) in line
    assert 'Debug::NoLocking "true";' in text
    assert "#clear APT::Update::Post-Invoke;" in text


def test_two_callers_at_once_fetch_once(world: Path) -> None:
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(lavapipe.fetch().root)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and len(set(found)) == 1
    assert len(calls(world)) == 2


def test_the_next_mirror_serves_where_the_first_does_not(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_mirrors(monkeypatch, "http://bad.example/debian", "http://good.example/debian")
    assert lavapipe.fetch().loader.exists()


def failure(match: str) -> None:
    with pytest.raises(FetchError, match=match) as caught:
        lavapipe.fetch()
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message
    assert lavapipe.cached() is None
    left = {path.name for path in debian.cache_folder().iterdir() if path.suffix != ".lock"}
    assert left == set()


def test_an_unreachable_mirror_is_one_sentence(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_mirrors(monkeypatch, "http://me:secret@bad.example/debian")
    failure(r"can't be read: E: Failed to fetch http://bad\.example/debian; install Mesa 26\.1")


def test_no_debian_is_one_sentence(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (world / "bin" / "apt-get").unlink()
    monkeypatch.setenv("PATH", str(world / "bin"))
    failure("only to Debian 12 or 13")


def test_no_mirror_is_one_sentence(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_mirrors(monkeypatch)
    failure("name no Debian mirror")


def test_a_damaged_package_is_one_sentence(world: Path) -> None:
    (world / DRIVER).write_text("damaged")
    failure("unpacking mesa-vulkan-drivers failed: dpkg-deb: error")


def test_packages_without_the_driver_are_one_sentence(world: Path) -> None:
    (world / "tree/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so").unlink()
    failure("hold 0 files")


def test_a_python_that_does_not_run_is_one_sentence(world: Path) -> None:
    loader = world / "tree/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    loader.write_text("#!/bin/sh\necho Illegal instruction\nexit 132\n")
    failure("Python does not run here: Illegal instruction")


def test_a_cache_that_cannot_be_written_is_one_sentence(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(FetchError, match="can't be stored in"):
        lavapipe.fetch()


def test_an_incomplete_folder_is_fetched_again(world: Path) -> None:
    prefix = lavapipe.fetch()
    (prefix.root / "prefix.json").write_text("{")
    assert lavapipe.cached() is None
    assert lavapipe.fetch() == prefix


def test_the_cache_follows_the_base_directory_specification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for unusable in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert debian.cache_folder() == tmp_path / ".cache" / "coopcts"


PLAIN_LOADER = """#!/bin/sh
shift 2; exec "$@"
"""
VALIDATOR = """#!/bin/sh
[ "$(cat)" = valid ] || { echo "error: not valid"; exit 1; }
"""


@pytest.fixture
def validator(world: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A mirror whose suite ``good`` has a validator."""
    files = {"usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": PLAIN_LOADER, newest.TOOL: VALIDATOR}
    for name, text in files.items():
        (world / "tree" / name).write_text(text)
        (world / "tree" / name).chmod(0o755)
    use_mirrors(monkeypatch, "http://mirror.example/debian")
    newest._fetched.cache_clear()
    yield world
    newest._fetched.cache_clear()


def test_the_newest_validator_comes_from_the_first_suite_that_has_one(
    validator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newest, "SUITES", ("bad", "good"))
    assert newest.validate(b"valid") is None
    assert newest.validate(b"other") == "error: not valid"
    assert len(calls(validator)) == 3, "bad was asked for its lists, good for the package, too"


def test_a_validator_that_nobody_has_is_asked_for_once(
    validator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newest, "SUITES", ("bad", "worse"))
    for _ in range(2):
        with pytest.raises(FetchError, match=r"bad: .*; worse: .*\)\."):
            newest.validate(b"valid")
    assert len(calls(validator)) == 2
