"""Starting a server anywhere with nothing but an interpreter there."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cts.device import launcher
from cts.device.launcher import Launcher
from cts.device.lavapipe import Prefix

ALLOWED = ("cffi", "_cffi_backend", "pycparser", "vulkan", "cts")
FORBIDDEN = ("numpy", "hypothesis", "pytest", "rich", "click", "jinja2", "reference")


def run(started: Launcher, text: str, cwd: Path) -> str:
    """What a server's interpreter prints for a main() of this text."""
    code = launcher.program("probe", (("probe", text),))
    done = subprocess.run(
        started.arguments(),
        env=started.variables(),
        input=code,
        capture_output=True,
        cwd=cwd,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


PROBE = """
import importlib, sys
from cts.device import server
from cts.device.vulkan import backend

def main():
    ours = [name for name in sys.modules if name.partition(".")[0] == "cts"]
    assert all("__file__" not in vars(sys.modules[name]) for name in ours), ours
    print(*sorted(sys.modules))
"""


def test_the_server_needs_only_the_standard_library_cffi_and_vulkan(tmp_path: Path) -> None:
    loaded = {name.partition(".")[0] for name in run(launcher.local(), PROBE, tmp_path).split()}
    outside = {
        name
        for name in loaded
        if name not in sys.stdlib_module_names and name not in (*ALLOWED, "__main__", "probe")
    }
    startup = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert outside <= {name.partition(".")[0] for name in startup.split()}
    assert loaded.isdisjoint(FORBIDDEN)


def test_nothing_is_imported_from_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "cffi.py").write_text("raise ImportError('from the working directory')")
    assert "cts.device.server" in run(launcher.local(), PROBE, tmp_path)


def test_what_is_sent_is_what_the_server_imports() -> None:
    sent = launcher._imported("cts.device.server", {})
    assert "cts.device.vulkan.dispatch" in sent
    assert "class" not in sent["cts.program.model"]  # it never sees a program
    assert not {"cts.device.supervisor", "cts.device.launcher", "cts.findings"} & set(sent)


def test_a_traceback_shows_the_source(tmp_path: Path) -> None:
    text = "import traceback\ndef main():\n    try:\n        1 / 0  # here\n"
    text += "    except ZeroDivisionError:\n        print(traceback.format_exc())\n"
    assert "1 / 0  # here" in run(launcher.local(), text, tmp_path)


def test_the_words_survive_the_shell_of_ssh(tmp_path: Path) -> None:
    """ssh joins its words and a shell at the other end reads them again."""
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nwhile [ "$1" != "host" ]; do shift; done; shift; exec sh -c "$*"\n')
    ssh.chmod(0o755)
    far = launcher.over_ssh("host", sys.executable, {"VK_DRIVER_FILES": "/a b/$icd.json"})
    far = Launcher(far.name, far.command, {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, quoted=True)
    text = "import os\ndef main():\n    print(os.environ['VK_DRIVER_FILES'])\n"
    assert run(far, text, tmp_path) == "/a b/$icd.json\n"


def test_a_prefix_is_read_as_a_shell_reads_it() -> None:
    made = launcher.prefixed("podman run -i 'my image' python3")
    assert made.command == ("podman", "run", "-i", "my image", "python3")
    assert made.arguments()[-2:] == ["-c", launcher.BOOTSTRAP]
    assert launcher.prefixed("ssh host python3").arguments()[-1] == shlex.quote(launcher.BOOTSTRAP)
    for empty in ("", "  ", "'unfinished"):
        with pytest.raises(ValueError, match=r"."):
            launcher.prefixed(empty)


def test_lavapipe_runs_under_its_own_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/system/libc-bound.so")
    root = Path("/cache/prefix")
    prefix = Prefix(
        root=root,
        loader=root / "ld.so",
        libraries=root / "lib",
        python=root / "python3.13",
        home=root / "usr",
        modules=(root / "site", root / "dist"),
        icd=root / "icd.json",
        version="1",
    )
    made = launcher.lavapipe(prefix)
    assert made.command == (
        "/cache/prefix/ld.so",
        "--library-path",
        "/cache/prefix/lib",
        "/cache/prefix/python3.13",
    )
    variables = made.variables()
    assert variables["PYTHONHOME"] == "/cache/prefix/usr"
    assert variables["PYTHONPATH"] == "/cache/prefix/site:/cache/prefix/dist"
    assert variables["VK_DRIVER_FILES"] == "/cache/prefix/icd.json"
    assert "LD_PRELOAD" not in variables
