"""Frozen dataclasses as JSON data and back, by their annotations.

A codec knows the types that can be reached from an annotation and nothing else: no name in a
document leads to any other class, and no code runs. Every dataclass is an object with its name
as ``$type``; members that have their default are left out; enumerants go by name. What becomes
of bytes is the caller's choice. What can't be decoded raises ValueError, with words that follow
the name of the member.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

TAG = "$type"
DEEPEST = 64
"""Objects inside objects."""

Pack = Callable[[bytes], Any]
Unpack = Callable[[Any], bytes]
Encode = Callable[[Any, Pack], Any]
Decode = Callable[[Any, Unpack, int], Any]


@dataclasses.dataclass(frozen=True)
class Codec:
    """Both directions of one annotation. ``encode`` is None where the value is JSON itself.
    ``shapes`` are the Python types of the JSON it makes, to choose between alternatives."""

    encode: Encode | None
    decode: Decode
    shapes: tuple[type, ...]


@functools.cache
def codec_of(annotation: Any) -> Codec:
    """The codec of an annotation. TypeError for one that no document can hold: a fault of
    whoever declared it."""
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if annotation is bytes:
        return Codec(lambda raw, pack: pack(raw), lambda data, unpack, _: unpack(data), (str,))
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _enum(annotation)
    if dataclasses.is_dataclass(annotation):
        return _dataclass(typing.cast("type", annotation))
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (types.UnionType, typing.Union):
        return union_of(arguments)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return _sequence(arguments[0], tuple)
    if origin is tuple:
        return _tuple(arguments)
    if origin is frozenset and arguments == (str,):
        return _sequence(str, frozenset)
    if origin is not None and issubclass(origin, Mapping) and arguments[0] is str:
        return _mapping(arguments[1])
    raise TypeError(f"{annotation} has no JSON form.")


def _integer(data: Any, _: Unpack, __: int) -> int:
    if type(data) is not int or data.bit_length() > 128:
        raise ValueError("isn't an integer of a sensible size")
    return data


def _boolean(data: Any, _: Unpack, __: int) -> bool:
    if type(data) is not bool:
        raise ValueError("isn't true or false")
    return data


def _string(data: Any, _: Unpack, __: int) -> str:
    if not isinstance(data, str):
        raise ValueError("isn't text")
    return data


def _float(data: Any, _: Unpack, __: int) -> float:
    if type(data) not in (int, float) or not math.isfinite(data):
        raise ValueError("isn't a finite number")
    return float(data)


def _nothing(data: Any, _: Unpack, __: int) -> None:
    if data is not None:
        raise ValueError("isn't null")


def _encode_any(value: Any, pack: Pack) -> Any:
    if isinstance(value, list | tuple):
        return [_encode_any(item, pack) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _encode_any(item, pack) for key, item in value.items()}
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"A {type(value).__name__} can't be written as JSON.")


def _decode_any(data: Any, unpack: Unpack, depth: int) -> Any:
    if depth > DEEPEST:
        raise ValueError("is nested too deeply")
    if isinstance(data, list):
        return [_decode_any(item, unpack, depth + 1) for item in data]
    if isinstance(data, dict):
        return {
            _string(key, unpack, depth): _decode_any(item, unpack, depth + 1)
            for key, item in data.items()
        }
    if data is None or type(data) in (bool, str):
        return data
    return _integer(data, unpack, depth) if type(data) is int else _float(data, unpack, depth)


_SCALARS: dict[Any, Codec] = {
    int: Codec(None, _integer, (int,)),
    bool: Codec(None, _boolean, (bool,)),
    str: Codec(None, _string, (str,)),
    float: Codec(None, _float, (float, int)),
    type(None): Codec(None, _nothing, (type(None),)),
    Any: Codec(_encode_any, _decode_any, ()),
}


def _enum(annotation: type[enum.Enum]) -> Codec:
    members = {member.name: member for member in annotation}

    def decode(data: Any, _: Unpack, __: int) -> enum.Enum:
        if not isinstance(data, str) or data not in members:
            raise ValueError(f"isn't a {annotation.__name__}")
        return members[data]

    return Codec(lambda value, _: value.name, decode, (str,))


def _sequence(item: Any, make: Callable[[list[Any]], Any]) -> Codec:
    inner = codec_of(item)
    inner_encode = inner.encode

    def encode(value: Any, pack: Pack) -> Any:
        items = sorted(value) if make is frozenset else value
        return list(items) if inner_encode is None else [inner_encode(it, pack) for it in items]

    def decode(data: Any, unpack: Unpack, depth: int) -> Any:
        if not isinstance(data, list):
            raise ValueError("isn't a list")
        return make([inner.decode(it, unpack, depth) for it in data])

    return Codec(encode, decode, (list,))


def _tuple(items: tuple[Any, ...]) -> Codec:
    inners = [codec_of(item) for item in items]

    def encode(value: Any, pack: Pack) -> Any:
        return [
            it if inner.encode is None else inner.encode(it, pack)
            for it, inner in zip(value, inners, strict=True)
        ]

    def decode(data: Any, unpack: Unpack, depth: int) -> Any:
        if not isinstance(data, list) or len(data) != len(inners):
            raise ValueError(f"isn't a list of {len(inners)}")
        return tuple(
            inner.decode(it, unpack, depth) for it, inner in zip(data, inners, strict=True)
        )

    return Codec(encode, decode, (list,))


def _mapping(item: Any) -> Codec:
    inner = codec_of(item)
    inner_encode = inner.encode

    def encode(value: Any, pack: Pack) -> Any:
        if inner_encode is None:
            return dict(value)
        return {key: inner_encode(it, pack) for key, it in value.items()}

    def decode(data: Any, unpack: Unpack, depth: int) -> Any:
        if not isinstance(data, dict):
            raise ValueError("isn't an object")
        return {
            _string(key, unpack, depth): inner.decode(it, unpack, depth) for key, it in data.items()
        }

    return Codec(encode, decode, (dict,))


def union_of(alternatives: tuple[Any, ...]) -> Codec:
    """Dataclasses are told apart by their tag, the rest by the kind of JSON value."""
    classes: dict[str, Any] = {
        getattr(it, "__name__", ""): it for it in alternatives if dataclasses.is_dataclass(it)
    }
    others = [codec_of(it) for it in alternatives if it not in classes.values()]
    shapes = {shape: codec for codec in others for shape in codec.shapes}
    if len(shapes) != sum(len(codec.shapes) for codec in others) or (classes and dict in shapes):
        raise TypeError(f"{alternatives} look alike in JSON.")

    def encode(value: Any, pack: Pack) -> Any:
        kind: Any = type(value)
        if kind not in alternatives:
            raise TypeError(f"A {kind.__name__} has no JSON form here.")
        inner = codec_of(kind).encode
        return value if inner is None else inner(value, pack)

    def decode(data: Any, unpack: Unpack, depth: int) -> Any:
        if classes and isinstance(data, dict):
            found = classes.get(data[TAG]) if isinstance(data.get(TAG), str) else None
            if found is None:
                raise ValueError(f"has a type that isn't one of {', '.join(sorted(classes))}")
            return codec_of(found).decode(data, unpack, depth)
        if type(data) not in shapes:
            raise ValueError("has the wrong kind of value")
        return shapes[type(data)].decode(data, unpack, depth)

    return Codec(encode, decode, (*shapes, *((dict,) if classes else ())))


def _dataclass(annotation: type) -> Codec:
    hints = typing.get_type_hints(annotation)
    fields = dataclasses.fields(annotation)
    name = annotation.__name__
    # Codecs of members are looked up on first use: bodies may hold bodies.
    members: dict[str, Codec] = {}
    defaults: list[tuple[str, Any]] = []
    needed = {
        field.name
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    for field in fields:
        factory = field.default_factory
        made = field.default if factory is dataclasses.MISSING else factory()
        defaults.append((field.name, made))

    def codecs() -> dict[str, Codec]:
        if not members:
            members.update({field.name: codec_of(hints[field.name]) for field in fields})
        return members

    def encode(value: Any, pack: Pack) -> Any:
        found: dict[str, Any] = {TAG: name}
        inner = codecs()
        for member, default in defaults:
            content = getattr(value, member)
            if content is default or (member not in needed and content == default):
                continue
            coder = inner[member].encode
            found[member] = content if coder is None else coder(content, pack)
        return found

    def decode(data: Any, unpack: Unpack, depth: int) -> Any:
        if not isinstance(data, dict) or data.get(TAG) != name:
            raise ValueError(f"isn't a {name}")
        if depth > DEEPEST:
            raise ValueError("is nested too deeply")
        inner = codecs()
        if missing := needed - data.keys():
            raise ValueError(f"{name} has no {', '.join(sorted(missing))}")
        if unknown := data.keys() - inner.keys() - {TAG}:
            raise ValueError(f"{name} has unknown members {', '.join(sorted(map(str, unknown)))}")
        found: dict[str, Any] = {}
        for member, content in data.items():
            if member == TAG:
                continue
            try:
                found[member] = inner[member].decode(content, unpack, depth + 1)
            except ValueError as error:
                raise ValueError(f"{name}.{member} {error}") from None
        return annotation(**found)

    return Codec(encode, decode, (dict,))
