"""Frames survive any cut of the stream; anything else is refused before it is used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cts.device.framing import (
    ALIGNMENT,
    HEAD,
    IN_ARENA,
    MAGIC,
    VERSION,
    Arena,
    Decoder,
    Frame,
    ProtocolError,
    get,
    pack,
)

headers = st.dictionaries(
    st.text(max_size=8).filter(lambda name: name not in ("kind", "blobs")),
    st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers(), max_size=3),
    max_size=4,
)
frames = st.builds(
    lambda kind, header, blobs: Frame({**header, "kind": kind}, tuple(blobs)),
    st.text(max_size=8),
    headers,
    st.lists(st.binary(max_size=200), max_size=4),
)


def raw(text: bytes, blobs: bytes = b"", *, flags: int = 0, total: int | None = None) -> bytes:
    size = len(blobs) if total is None else total
    return HEAD.pack(MAGIC, VERSION, flags, len(text), size) + text + blobs


@pytest.fixture
def arena() -> Iterator[Arena]:
    made = Arena.create()
    assert made is not None
    yield made
    made.unlink()
    made.close()


@given(st.lists(frames, max_size=4), st.data())
def test_frames_come_back_however_the_stream_is_cut(sent: list[Frame], data: st.DataObject) -> None:
    stream = b"".join(map(pack, sent))
    decoder = Decoder()
    found: list[Frame] = []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        found += decoder.feed(stream[:cut])
        stream = stream[cut:]
    assert found == sent


@given(st.binary(max_size=200))
def test_noise_is_refused_or_waited_for(noise: bytes) -> None:
    try:
        assert list(Decoder().feed(noise)) == []
    except ProtocolError:
        assert not MAGIC.startswith(noise[: len(MAGIC)])


@given(frames, st.data())
def test_a_changed_byte_never_passes_for_another_blob_size(
    frame: Frame, data: st.DataObject
) -> None:
    packed = bytearray(pack(frame))
    packed[data.draw(st.integers(0, len(packed) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        for found in Decoder().feed(bytes(packed)):
            assert isinstance(found.kind, str)
            assert sum(map(len, found.blobs)) == sum(map(len, frame.blobs))
    except ProtocolError:
        pass


@pytest.mark.parametrize(
    "data",
    [
        b"x",
        b"\x89ct\x00",
        HEAD.pack(MAGIC, VERSION + 1, 0, 2, 0) + b"{}",
        HEAD.pack(MAGIC, VERSION, 8, 2, 0) + b"{}",
        HEAD.pack(MAGIC, VERSION, 0, 1 << 31, 0),
        HEAD.pack(MAGIC, VERSION, 0, 2, 1 << 60),
        raw(b"{}"),
        raw(b"[]"),
        raw(b"\xff\xff"),
        raw(b"[" * 100_000),
        raw(b'{"kind":"x"}'),
        raw(b'{"kind":7,"blobs":[]}'),
        raw(b'{"kind":"x","blobs":[-1,2]}', b"a"),
        raw(b'{"kind":"x","blobs":[1.0]}', b"a"),
        raw(b'{"kind":"x","blobs":[true]}', b"a"),
        raw(b'{"kind":"x","blobs":[2]}', b"a"),
        raw(b'{"kind":"x","blobs":[2]}', flags=IN_ARENA, total=2),
    ],
)
def test_a_hostile_frame_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        list(Decoder().feed(data))


def test_a_banner_before_the_first_frame_is_skipped_and_only_there() -> None:
    frame = Frame({"kind": "hello"})
    decoder = Decoder(banner=True)
    assert list(decoder.feed(b"Welcome, \x89c")) == []
    assert list(decoder.feed(b"ooperator\n" + pack(frame))) == [frame]
    with pytest.raises(ProtocolError):
        list(decoder.feed(b"Welcome"))


@given(st.lists(st.binary(max_size=5000), max_size=5))
def test_blobs_go_through_shared_memory(blobs: list[bytes]) -> None:
    ours = Arena.create()
    assert ours is not None
    theirs = Arena.attach(str(ours.path), ours.nonce.hex())
    assert theirs is not None
    ours.unlink()
    frame = Frame({"kind": "x"}, tuple(blobs))
    packed = pack(frame, ours)
    assert len(packed) < 200
    assert list(Decoder(theirs).feed(packed)) == [frame]
    assert list(Decoder(ours).feed(pack(frame, theirs))) == [frame]
    ours.close()
    theirs.close()


def test_either_side_can_grow_the_shared_memory(arena: Arena) -> None:
    other = Arena.attach(str(arena.path), arena.nonce.hex())
    assert other is not None
    for side, peer, size in ((arena, other, 1 << 20), (other, arena, 5 << 20), (arena, other, 9)):
        frame = Frame({"kind": "x"}, (b"a" * size, b"b"))
        assert list(Decoder(peer).feed(pack(frame, side))) == [frame]
    other.close()


def test_without_room_in_shared_memory_blobs_go_inline(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, offset: int, length: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    frame = Frame({"kind": "x"}, (b"a" * (1 << 20),))
    assert list(Decoder().feed(pack(frame, arena))) == [frame]


def test_sizes_beyond_the_shared_memory_are_refused(arena: Arena) -> None:
    text = b'{"kind":"x","blobs":[%d]}' % (1 << 30)
    with pytest.raises(ProtocolError, match="shared memory"):
        list(Decoder(arena).feed(raw(text, flags=IN_ARENA, total=1 << 30)))


def test_only_the_right_file_is_attached(arena: Arena, tmp_path: Path) -> None:
    other = tmp_path / "file"
    other.write_bytes(bytes(4096))
    assert Arena.attach(str(other), arena.nonce.hex()) is None
    assert Arena.attach(str(tmp_path / "none"), arena.nonce.hex()) is None
    assert Arena.attach(str(arena.path), "00" * len(arena.nonce)) is None
    assert Arena.attach(str(arena.path), "no hexadecimal text") is None
    assert Arena.attach("", "") is None


def test_blobs_are_aligned_in_shared_memory(arena: Arena) -> None:
    assert arena.put((b"a", b"bc"))
    assert arena.get((1, 2)) == (b"a", b"bc")
    with open(arena.path, "rb") as file:
        content = file.read()
    assert content[ALIGNMENT : ALIGNMENT + 1] == b"a"
    assert content[2 * ALIGNMENT : 2 * ALIGNMENT + 2] == b"bc"


@pytest.mark.parametrize(("value", "kind"), [(True, int), (1, bool), ("1", int), (None, str)])
def test_a_value_of_another_type_is_refused(value: object, kind: type) -> None:
    with pytest.raises(ProtocolError, match="x is no"):
        get({"x": value}, "x", kind)
