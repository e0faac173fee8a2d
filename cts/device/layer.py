"""The Khronos validation layer for lavapipe, fetched once into the user's cache.

It comes from the same Debian as the driver (:mod:`cts.device.lavapipe`) and runs in the same
place; what it needs is there already.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from cts.device.lavapipe import SUITE, LavapipeError, cache_folder, call, download, locked

PACKAGE = "vulkan-validationlayers"
MANIFEST = "VkLayer_khronos_validation.json"
LAYOUT = 1
"""Raised when the folder's content changes."""


def fetch() -> Path:
    """The folder with the layer's manifest, for VK_ADD_LAYER_PATH; fetched if it isn't there yet
    (6 MB). LavapipeError where that fails."""
    root = cache_folder() / f"validation-{SUITE}-{LAYOUT}"
    if (root / MANIFEST).is_file():
        return root
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with locked(root.with_suffix(".lock")):
            if not (root / MANIFEST).is_file():
                shutil.rmtree(root, ignore_errors=True)
                with tempfile.TemporaryDirectory(dir=root.parent, prefix="staging-") as work:
                    _build(Path(work), root)
    except OSError as error:
        raise LavapipeError(
            f"the validation layer can't be stored in {root.parent}: {error.strerror or error}."
        ) from error
    return root


def _build(work: Path, root: Path) -> None:
    """Download and unpack into ``work``, then move the result to ``root`` in one step."""
    (archive,) = download(work, (PACKAGE,), alone=True)
    tree = work / "tree"
    tree.mkdir()
    call(["dpkg-deb", "-x", str(archive), str(tree)], "unpacking the validation layer failed")
    library = next(tree.glob("usr/lib/*/libVkLayer_khronos_validation.so"))
    manifest = json.loads((tree / "usr/share/vulkan/explicit_layer.d" / MANIFEST).read_text())
    manifest["layer"]["library_path"] = str(root / library.name)
    staged = work / "layer"
    staged.mkdir()
    shutil.copy2(library, staged / library.name)
    (staged / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")
    staged.rename(root)
