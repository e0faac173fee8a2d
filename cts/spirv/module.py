"""A finished SPIR-V module, and what it takes to run it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Module:
    """The words of one shader, entry point ``main``, and the facts recorded with them."""

    words: bytes
    """Little-endian 32-bit words."""
    capabilities: frozenset[str]
    """Declared capabilities, by their names in the specification."""
    extensions: frozenset[str]
    """Declared SPIR-V extensions (``SPV_…``)."""
    needs: frozenset[str]
    """What the pipeline needs that no capability stands for: keys of
    ``cts.program.requires.NEEDS``."""
    specialization: tuple[tuple[int, int, int], ...]
    """(SpecId, size in bytes, unsigned value)."""
    parameters: bytes
    """Contents of the uint32 buffer in the binding after the last buffer; empty: no such
    buffer."""
    physical: tuple[str, ...]
    """Names of the buffers that are passed by address, in the order of the push constants."""
