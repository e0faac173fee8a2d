"""Messages between the supervisor and the device server: framed, versioned, never pickled.

A frame is a fixed head, a JSON object, and binary blobs:

    magic 4 bytes | version u16 | flags u16 | bytes of JSON u32 | bytes of blobs u64

little-endian. The JSON object has a ``kind`` and the sizes of the blobs. The blobs follow the
JSON one after another (inline), or lie in an :class:`Arena` that both sides have mapped, each
at a multiple of 64 bytes. Whatever comes in is checked before it is used.
"""

from __future__ import annotations

import json
import mmap
import os
import secrets
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAGIC = b"\x89cts"
"""Not text, so that no greeting contains it."""
VERSION = 1
HEAD = struct.Struct("<4sHHIQ")
IN_ARENA = 1
MAX_JSON = 64 << 20
MAX_BLOBS = 8 << 30
ALIGNMENT = 64
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_BEATS, _BEAT_BYTES = 64, 64
"""Heartbeats come again and again: this many frames, this small, are read once only."""
NONCE_BYTES = 32
"""At the start of an arena, so that an attached file is known to be the right one."""


class ProtocolError(Exception):
    """What came in is no frame, or one of another version."""


@dataclass(frozen=True)
class Frame:
    """One message."""

    header: dict[str, Any]
    blobs: tuple[bytes, ...] = ()

    @property
    def kind(self) -> str:
        """What the message is."""
        return str(self.header["kind"])


class Arena:
    """A file that both sides map; carries the blobs of one frame at a time, in turns."""

    def __init__(self, descriptor: int, path: Path, nonce: bytes) -> None:
        self._descriptor = descriptor
        self._map = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
        self.path = path
        self.nonce = nonce

    @classmethod
    def create(cls) -> Arena | None:
        """A new arena in memory, or on disk where there is no /dev/shm; None if neither works."""
        for folder in ("/dev/shm", tempfile.gettempdir()):
            try:
                descriptor, name = tempfile.mkstemp(prefix="coopcts-", dir=folder)
            except OSError:
                continue
            try:
                os.posix_fallocate(descriptor, 0, mmap.PAGESIZE)
                nonce = secrets.token_bytes(NONCE_BYTES)
                os.pwrite(descriptor, nonce, 0)
                return cls(descriptor, Path(name), nonce)
            except OSError:
                os.close(descriptor)
                os.unlink(name)
        return None

    @classmethod
    def attach(cls, path: str, nonce: str) -> Arena | None:
        """The arena at ``path`` if it is there and is the right one."""
        try:
            expected = bytes.fromhex(nonce)
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        try:
            if len(expected) == NONCE_BYTES and os.pread(descriptor, NONCE_BYTES, 0) == expected:
                return cls(descriptor, Path(path), expected)
        except (OSError, ValueError):
            pass
        os.close(descriptor)
        return None

    def unlink(self) -> None:
        """Remove the name; the memory lives as long as a side has it mapped."""
        self.path.unlink(missing_ok=True)

    def put(self, blobs: Sequence[bytes]) -> bool:
        """Copy ``blobs`` in, growing the file; False where there is no room for it."""
        end = _arena_end(len(blob) for blob in blobs)
        if end > len(self._map):
            size = -(-end * 2 // mmap.PAGESIZE) * mmap.PAGESIZE
            try:
                # Reserves the pages: without, a full /dev/shm is SIGBUS at the first touch.
                os.posix_fallocate(self._descriptor, 0, size)
                self._map.resize(size)
            except (OSError, ValueError, SystemError):
                return False
        for offset, blob in _places(blobs):
            self._map[offset : offset + len(blob)] = blob
        return True

    def get(self, sizes: Sequence[int]) -> tuple[bytes, ...]:
        """Copy blobs of ``sizes`` out; ProtocolError where the file is smaller than that."""
        end = _arena_end(sizes)
        if end > len(self._map):
            actual = os.fstat(self._descriptor).st_size
            if end > actual:
                raise ProtocolError(f"the shared memory has {actual} bytes, not {end}")
            self._map.resize(actual)
        found = []
        offset = NONCE_BYTES
        for size in sizes:
            offset = _align(offset)
            found.append(bytes(self._map[offset : offset + size]))
            offset += size
        return tuple(found)

    def close(self) -> None:
        """Unmap; safe to call twice."""
        if self._descriptor >= 0:
            self._map.close()
            os.close(self._descriptor)
            self._descriptor = -1


def parts(frame: Frame, arena: Arena | None = None) -> list[bytes]:
    """The bytes of ``frame`` in pieces; its blobs go through ``arena`` where that has room."""
    shared = bool(frame.blobs) and arena is not None and arena.put(frame.blobs)
    sizes = [len(blob) for blob in frame.blobs]
    text = _ENCODER.encode({**frame.header, "blobs": sizes}).encode()
    head = HEAD.pack(MAGIC, VERSION, IN_ARENA if shared else 0, len(text), sum(sizes))
    return [head + text, *(() if shared else frame.blobs)]


def pack(frame: Frame, arena: Arena | None = None) -> bytes:
    """The bytes of ``frame``; its blobs go through ``arena`` where that has room."""
    return b"".join(parts(frame, arena))


class Decoder:
    """Turns a stream of bytes into frames, however it is cut."""

    def __init__(self, arena: Arena | None = None, banner: bool = False) -> None:
        """``banner``: skip what comes before the first frame, such as a login's greeting."""
        self.arena = arena
        self._banner = banner
        self._pending = bytearray()
        self._beats: dict[bytes, Frame] = {}

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that ``data`` completes; ProtocolError at the first byte that is wrong."""
        self._pending += data
        if self._banner:
            start = self._pending.find(MAGIC)
            if start < 0:  # the end may be the beginning of a frame
                del self._pending[: -len(MAGIC)]
                return
            del self._pending[:start]
            self._banner = False
        while (frame := self._next()) is not None:
            yield frame

    def _next(self) -> Frame | None:
        pending = self._pending
        if len(pending) < HEAD.size:
            start = bytes(pending[: len(MAGIC)])
            if not MAGIC.startswith(start):
                raise ProtocolError(f"not a frame: {start!r}")
            return None
        magic, version, flags, length, total = HEAD.unpack_from(pending)
        if magic != MAGIC:
            raise ProtocolError(f"not a frame: {magic!r}")
        if version != VERSION:
            raise ProtocolError(f"frame of version {version}, not {VERSION}")
        if flags not in (0, IN_ARENA) or length > MAX_JSON or total > MAX_BLOBS:
            raise ProtocolError("frame head out of bounds")
        inline = 0 if flags else total
        end = HEAD.size + length + inline
        if len(pending) < end:
            return None
        text = bytes(pending[HEAD.size : HEAD.size + length])
        if text in self._beats and not total and not flags:
            del pending[:end]
            return self._beats[text]
        header = _header(text)
        sizes = header.pop("blobs")
        if sum(sizes) != total:
            raise ProtocolError("blob sizes don't add up")
        if flags:
            if self.arena is None:
                raise ProtocolError("blobs in shared memory, but none was agreed on")
            blobs = self.arena.get(sizes)
        else:
            blobs = _split(bytes(pending[HEAD.size + length : end]), sizes)
        del pending[:end]
        frame = Frame(header, blobs)
        if not blobs and not flags and length <= _BEAT_BYTES and len(self._beats) < _BEATS:
            self._beats[text] = frame
        return frame


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"frame header is no JSON: {error}") from error
    if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
        raise ProtocolError("frame header has no kind")
    sizes = header.get("blobs")
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
        raise ProtocolError("frame header has no blob sizes")
    return header


def _split(data: bytes, sizes: Sequence[int]) -> tuple[bytes, ...]:
    found = []
    offset = 0
    for size in sizes:
        found.append(data[offset : offset + size])
        offset += size
    return tuple(found)


def _align(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _places(blobs: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    offset = NONCE_BYTES
    for blob in blobs:
        offset = _align(offset)
        yield offset, blob
        offset += len(blob)


def _arena_end(sizes: Iterator[int] | Sequence[int]) -> int:
    offset = NONCE_BYTES
    for size in sizes:
        offset = _align(offset) + size
    return offset


def get(header: Mapping[str, Any], name: str, kind: type) -> Any:
    """``header[name]`` if it is a ``kind`` (bool is no int); ProtocolError otherwise."""
    value = header.get(name) if isinstance(header, Mapping) else None
    if type(value) is not kind:
        raise ProtocolError(f"{name} is no {kind.__name__}")
    return value
