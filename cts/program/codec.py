"""Programs, recipes, requests, replies and device facts as JSON data, and back.

The types are those of :data:`ROOTS` and what they hold; :mod:`cts.program.plain` has the form.
Bytes are zlib-compressed and base64-encoded. What can't be decoded raises ValueError with a
sentence that says where and why.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import json
import zlib
from typing import Any

from cts.device.protocol import Convert, Describe, DeviceInfo, Dispatch, Query, Reply, Request
from cts.program.model import Program
from cts.program.plain import Codec, Pack, Unpack, codec_of, union_of
from cts.program.recipe import Operand, Recipe
from cts.program.vector_program import VectorProgram

ROOTS = (
    Program,
    VectorProgram,
    Recipe,
    Operand,
    Dispatch,
    Query,
    Convert,
    Describe,
    Reply,
    DeviceInfo,
)
"""What a document can be; :func:`from_json` gives one of these."""

LARGEST_BYTES = 1 << 30
"""Bytes that one compressed member may expand to."""

# --- public ---------------------------------------------------------------------------------


def to_json(obj: object) -> dict[str, Any]:
    """``obj``, one of :data:`ROOTS`, as data that the json module can write. TypeError for
    anything else."""
    return _encode_root(obj, _pack)


def from_json(data: object) -> Any:
    """The object that :func:`to_json` made ``data`` from. ValueError for anything else."""
    return _decode_root(data, _unpack)


def digest(request: Request) -> str:
    """Hexadecimal SHA-256 of everything in a request; equal requests have equal digests."""
    plain = _encode_root(request, lambda raw: hashlib.sha256(raw).hexdigest())
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# --- roots ----------------------------------------------------------------------------------


@functools.cache
def _roots() -> Codec:
    return union_of(ROOTS)


def _encode_root(obj: object, pack: Pack) -> dict[str, Any]:
    kind: Any = type(obj)
    if kind not in ROOTS:
        raise TypeError(f"{kind.__name__} has no JSON form.")
    encode = codec_of(kind).encode
    assert encode is not None
    encoded = encode(obj, pack)
    assert isinstance(encoded, dict)
    return encoded


def _decode_root(data: object, unpack: Unpack) -> Any:
    try:
        return _roots().decode(data, unpack, 0)
    except ValueError as error:
        raise ValueError(f"This isn't a document of the suite: {error}.") from None


def _pack(raw: bytes) -> str:
    return base64.b64encode(zlib.compress(raw)).decode("ascii")


def _unpack(data: Any) -> bytes:
    if not isinstance(data, str):
        raise ValueError("isn't base64 text")
    try:
        reader = zlib.decompressobj()
        raw = reader.decompress(base64.b64decode(data, validate=True), LARGEST_BYTES)
    except (binascii.Error, ValueError, zlib.error):
        raise ValueError("isn't base64 of zlib data") from None
    if not reader.eof or reader.unused_data:
        raise ValueError("is cut off or too large")
    return raw
