"""How a device server is started: a command prefix and an environment.

The prefix ends with a Python interpreter, anywhere: here, in another root, in a container, on
another machine. That interpreter needs ``cffi`` and ``vulkan``; the server's own modules are
sent over its standard input, so nothing has to be installed or shared.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cts.device.lavapipe import Prefix

BOOTSTRAP = "import sys;r=sys.stdin.buffer.read;exec(r(int(r(8),16)))"
"""Runs the program that its standard input begins with: eight hexadecimal digits, then text."""

_IMPORTER = """
import importlib.abc, importlib.util, sys

class Importer(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    def find_spec(self, name, path=None, target=None):
        if name in SOURCES:
            return importlib.util.spec_from_loader(name, self, origin=name)

    def is_package(self, name):
        return any(other.startswith(name + ".") for other in SOURCES)

    def get_source(self, name):
        return SOURCES[name]

    def get_code(self, name):
        return compile(SOURCES[name], name, "exec", dont_inherit=True)  # named in tracebacks

sys.path[:] = [folder for folder in sys.path if folder]  # never the working directory
sys.meta_path.insert(0, Importer())
"""


@dataclass(frozen=True)
class Launcher:
    """A way to start a device server."""

    name: str
    command: tuple[str, ...]
    """The prefix, with the interpreter as its last word."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment of this process."""
    removed: tuple[str, ...] = ()
    """Variables taken away from it."""
    quoted: bool = False
    """Whether a shell at the other end reads the words once more, as with ssh."""

    def arguments(self, bootstrap: str = BOOTSTRAP) -> list[str]:
        """The whole command line."""
        words = ["-c", bootstrap]
        return [*self.command, *(map(shlex.quote, words) if self.quoted else words)]

    def variables(self) -> dict[str, str]:
        """The whole environment."""
        kept = {name: text for name, text in os.environ.items() if name not in self.removed}
        return {**kept, **self.environment}


def local(environment: Mapping[str, str] | None = None) -> Launcher:
    """The interpreter that runs this."""
    return Launcher("local", (sys.executable,), dict(environment or {}))


def prefixed(prefix: str) -> Launcher:
    """A command line that ends with an interpreter: ``podman run -i image python3``."""
    words = tuple(shlex.split(prefix))
    if not words:
        raise ValueError("a launcher needs a command")
    return Launcher(prefix, words, quoted=Path(words[0]).name == "ssh")


def over_ssh(
    host: str, python: str = "python3", environment: Mapping[str, str] | None = None
) -> Launcher:
    """An interpreter on another machine, reached without a password."""
    words = [f"{name}={text}" for name, text in sorted((environment or {}).items())]
    remote = ["env", *words, python] if words else [python]
    command = ("ssh", "-T", "-o", "BatchMode=yes", host, *map(shlex.quote, remote))
    return Launcher(f"ssh {host}", command, quoted=True)


def lavapipe(prefix: Prefix) -> Launcher:
    """lavapipe's own interpreter and C library in the user's cache."""
    return Launcher(
        "lavapipe",
        (str(prefix.loader), "--library-path", str(prefix.libraries), str(prefix.python)),
        {
            "PYTHONHOME": str(prefix.home),
            "PYTHONPATH": os.pathsep.join(map(str, prefix.modules)),
            "VK_DRIVER_FILES": str(prefix.icd),
            # Layers of the system are built against another C library.
            "VK_LOADER_LAYERS_DISABLE": "~implicit~",
            # Compiling is most of what this driver does; the user's own cache stays as it is.
            "MESA_SHADER_CACHE_DIR": str(prefix.shader_cache),
        },
        removed=("LD_LIBRARY_PATH", "LD_PRELOAD", "VK_ADD_DRIVER_FILES", "VK_INSTANCE_LAYERS"),
    )


def validated(launcher: Launcher, layer: Path | None = None) -> Launcher:
    """``launcher`` with the Khronos validation layer at work, from the folder ``layer`` (None: from
    where the loader looks by itself)."""
    added = {"COOPCTS_VALIDATE": "1"}
    if layer is not None:
        added["VK_ADD_LAYER_PATH"] = str(layer)
    environment = {**launcher.environment, **added}
    return dataclasses.replace(launcher, environment=environment)


@functools.cache
def program(entry: str = "cts.device.server", extra: tuple[tuple[str, str], ...] = ()) -> bytes:
    """What standard input begins with: the modules, a way to import them, a call of main.

    ``entry`` is the module whose ``main()`` is called; ``extra`` are modules (name, text) that
    are sent as well.
    """
    sources = _imported(entry, dict(extra))
    text = f"SOURCES = {sources!r}\n{_IMPORTER}\nfrom {entry} import main\nmain()\n".encode()
    return b"%08x" % len(text) + text


_ROOT = Path(__file__).resolve().parents[2]


def _imported(entry: str, extra: Mapping[str, str]) -> dict[str, str]:
    """``entry`` and every module of this project that it needs, with their text."""
    found: dict[str, str] = {}
    waiting = [entry, *extra]
    while waiting:
        name = waiting.pop()
        text = extra.get(name) or _text(name)
        if name in found or text is None:
            continue  # known, or a name inside a module
        found[name] = text
        waiting.append(name.rpartition(".")[0] or name)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cts"):
                waiting += [str(node.module), *(f"{node.module}.{it.name}" for it in node.names)]
    return found


_UNUSED = "cts.program"
_NOTHING = "def __getattr__(name):\n    return object\n"
"""In place of the program's model: the server names its types and never sees a program."""


def _text(name: str) -> str | None:
    if name.startswith(_UNUSED):
        return _NOTHING
    place = _ROOT.joinpath(*name.split("."))
    for file in (place / "__init__.py", place.with_suffix(".py")):
        if file.is_file():
            return file.read_text("utf-8")
    return None
