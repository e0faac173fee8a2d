"""The Khronos validation layer for lavapipe, fetched once into the user's cache.

It comes from the same Debian as the driver (:mod:`cts.device.lavapipe`) and runs in the same
place; what it needs is there already.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from cts.device.debian import FetchError, cache_folder, download, once, only, unpack
from cts.device.lavapipe import SUITE

PACKAGE = "vulkan-validationlayers"
MANIFEST = "VkLayer_khronos_validation.json"
LAYOUT = 1
"""Raised when the folder's content changes."""


def fetch() -> Path:
    """The folder with the layer's manifest, for VK_ADD_LAYER_PATH; fetched if it isn't there yet
    (6 MB). FetchError where that fails."""
    root = cache_folder() / f"validation-{SUITE}-{LAYOUT}"
    try:
        once(root, (root / MANIFEST).is_file, lambda work: _build(work, root))
    except FetchError as error:
        raise FetchError(f"the validation layer can't be fetched: {error}") from error
    return root


def _build(work: Path, root: Path) -> Path:
    """The content of ``root``, made in ``work``."""
    tree = work / "tree"
    unpack(download(work, (PACKAGE,), (SUITE,), alone=True), tree)
    library = only(tree, "usr/lib/*/libVkLayer_khronos_validation.so")
    manifest = json.loads((tree / "usr/share/vulkan/explicit_layer.d" / MANIFEST).read_text())
    manifest["layer"]["library_path"] = str(root / library.name)
    staged = work / "layer"
    staged.mkdir()
    shutil.copy2(library, staged / library.name)
    (staged / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")
    return staged
