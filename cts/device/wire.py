"""Requests and replies as frames.

A request travels without its program, which a driver has no use for. Both directions check
what they decode: a damaged journal or a server that a driver corrupted ends in a
:class:`~cts.device.framing.ProtocolError`, never in nonsense.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cts.device.framing import Frame, ProtocolError, get
from cts.device.protocol import (
    BufferData,
    Conversion,
    Convert,
    Describe,
    DeviceInfo,
    Dispatch,
    Matrix,
    Preparation,
    Query,
    Reply,
    Request,
    StageModule,
    Staging,
)

_MATRIX = ("component", "layout", "stride", "size", "offset")


def encode_request(request: Request) -> Frame:
    """``request`` as a frame."""
    match request:
        case Dispatch():
            header: dict[str, Any] = {
                "kind": "dispatch",
                "workgroups": request.workgroups,
                "features": request.features,
                "extensions": request.extensions,
                "specialization": request.specialization,
                "required_subgroup_size": request.required_subgroup_size,
                "repeat": request.repeat,
                "physical": [one.physical for one in request.buffers],
                "ranges": [one.range for one in request.buffers],
                "preparations": [
                    {**_fields(one), "conversion": _conversion_data(one.conversion)}
                    for one in request.preparations
                ],
            }
            companions: tuple[bytes, ...] = ()
            if request.staging is not None:
                header["staging"] = _staging_data(request.staging)
                companions = tuple(one.words for one in request.staging.companions)
            data = (one.data for one in request.buffers)
            return Frame(header, (request.words, *companions, *data))
        case Query():
            return Frame({"kind": "query", **_fields(request)})
        case Convert():
            header = {
                "kind": "convert",
                "host": request.host,
                "steps": request.steps,
                "conversions": [_conversion_data(one) for one in request.conversions],
            }
            return Frame(header, (request.memory,))
        case Describe():
            return Frame({"kind": "describe"})


def decode_request(frame: Frame) -> Request:
    """The request in ``frame``; ProtocolError if there is none."""
    header = frame.header
    try:
        match frame.kind:
            case "dispatch":
                return _dispatch(header, frame.blobs)
            case "query":
                return _query(header)
            case "convert":
                (memory,) = frame.blobs
                return Convert(
                    conversions=tuple(_conversion(one) for one in get(header, "conversions", list)),
                    memory=memory,
                    host=get(header, "host", bool),
                    steps=_numbers(header, "steps"),
                )
            case "describe":
                return Describe()
    except (ValueError, TypeError, KeyError) as error:
        raise ProtocolError(f"not a {frame.kind} request: {error}") from error
    raise ProtocolError(f"{frame.kind} is no request")


def encode_reply(reply: Reply) -> Frame:
    """``reply`` as a frame."""
    header = {
        "kind": "reply",
        "result": reply.result,
        "phase": reply.phase,
        "counts": reply.counts,
        "results": reply.results,
        "seconds": dict(reply.seconds),
    }
    return Frame(header, reply.buffers)


def decode_reply(frame: Frame) -> Reply:
    """The reply in ``frame``; ProtocolError if there is none."""
    header = frame.header
    if frame.kind != "reply":
        raise ProtocolError(f"{frame.kind} is no reply")
    seconds = get(header, "seconds", dict)
    if not all(isinstance(value, float | int) for value in seconds.values()):
        raise ProtocolError("seconds are no numbers")
    return Reply(
        result=get(header, "result", int),
        phase=get(header, "phase", str),
        buffers=frame.blobs,
        counts=_numbers(header, "counts"),
        results=_numbers(header, "results"),
        seconds={name: float(value) for name, value in seconds.items()},
    )


def encode_info(info: DeviceInfo) -> bytes:
    """``info`` as canonical JSON: the same description gives the same bytes."""
    data = {
        **_fields(info),
        "extensions": dict(info.extensions),
        "features": sorted(info.features),
        "properties": dict(info.properties),
        "records": {name: [dict(one) for one in items] for name, items in info.records.items()},
        "environment": dict(info.environment),
    }
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode()


def decode_info(text: bytes) -> DeviceInfo:
    """The description in ``text``; ProtocolError if there is none."""
    try:
        data = json.loads(text)
        names = ("kind", "name", "driver", "driver_version", "api_version", "uuid")
        return DeviceInfo(
            **{name: get(data, name, str) for name in names},
            extensions=get(data, "extensions", dict),
            features=frozenset(get(data, "features", list)),
            properties=get(data, "properties", dict),
            records={
                name: tuple(dict(one) for one in items)
                for name, items in get(data, "records", dict).items()
            },
            queues=_numbers(data, "queues"),
            environment=get(data, "environment", dict),
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise ProtocolError(f"not a description of a device: {error}") from error


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def _conversion_data(one: Conversion) -> dict[str, Any]:
    return {
        **_fields(one),
        "source": [getattr(one.source, name) for name in _MATRIX],
        "destination": [getattr(one.destination, name) for name in _MATRIX],
    }


def _conversion(data: Any) -> Conversion:
    return Conversion(
        rows=get(data, "rows", int),
        columns=get(data, "columns", int),
        source=Matrix(**dict(zip(_MATRIX, _numbers(data, "source"), strict=True))),
        destination=Matrix(**dict(zip(_MATRIX, _numbers(data, "destination"), strict=True))),
        null_source=get(data, "null_source", bool),
        null_destination=get(data, "null_destination", bool),
    )


def _dispatch(header: Mapping[str, Any], blobs: tuple[bytes, ...]) -> Dispatch:
    staging = None
    if "staging" in header:
        staging = _staging(get(header, "staging", dict), blobs[1:])
        blobs = blobs[:1] + blobs[1 + len(staging.companions) :]
    words, *buffers = blobs
    x, y, z = _numbers(header, "workgroups")
    size = header.get("required_subgroup_size")
    specialization = []
    for item in get(header, "specialization", list):
        identifier, width, value = _integers(item)
        specialization.append((identifier, width, value))
    return Dispatch(
        words=words,
        buffers=tuple(
            BufferData(data, bool(physical), _range(visible, data))
            for data, physical, visible in zip(
                buffers, get(header, "physical", list), get(header, "ranges", list), strict=True
            )
        ),
        workgroups=(x, y, z),
        features=_texts(header, "features"),
        extensions=_texts(header, "extensions"),
        specialization=tuple(specialization),
        required_subgroup_size=None if size is None else get(header, "required_subgroup_size", int),
        repeat=get(header, "repeat", int),
        staging=staging,
        preparations=tuple(map(_preparation, get(header, "preparations", list))),
    )


def _range(visible: Any, data: bytes) -> int | None:
    if visible is None:
        return None
    (size,) = _integers([visible])
    if not 0 < size <= len(data):
        raise ProtocolError("a descriptor covers more than its buffer")
    return size


def _preparation(data: Any) -> Preparation:
    return Preparation(
        conversion=_conversion(get(data, "conversion", dict)),
        source=get(data, "source", int),
        destination=get(data, "destination", int),
    )


def _staging_data(staging: Staging) -> dict[str, Any]:
    return {**_fields(staging), "companions": [one.stage for one in staging.companions]}


def _staging(data: Mapping[str, Any], blobs: tuple[bytes, ...]) -> Staging:
    stages = _numbers(data, "companions")
    width, height = _numbers(data, "extent")
    return Staging(
        kind=get(data, "kind", str),
        stage=get(data, "stage", int),
        companions=tuple(
            StageModule(stage, words)
            for stage, words in zip(stages, blobs[: len(stages)], strict=True)
        ),
        topology=get(data, "topology", int),
        extent=(width, height),
        scene=get(data, "scene", str),
    )


def _query(header: Mapping[str, Any]) -> Query:
    parameters = []
    for name, value in get(header, "parameters", list):
        if type(name) is not str or type(value) is not int:
            raise ProtocolError("a parameter is no name and number")
        parameters.append((name, value))
    numbers = ("capacity", "allocated", "poison", "guard", "instance", "threads")
    return Query(
        command=get(header, "command", str),
        null=get(header, "null", bool),
        parameters=tuple(parameters),
        **{name: get(header, name, int) for name in numbers},
    )


def _numbers(header: Mapping[str, Any], name: str) -> tuple[int, ...]:
    return _integers(get(header, name, list))


def _integers(items: Any) -> tuple[int, ...]:
    if not isinstance(items, list) or not all(type(item) is int for item in items):
        raise ProtocolError("not a list of integers")
    return tuple(items)


def _texts(header: Mapping[str, Any], name: str) -> tuple[str, ...]:
    items = get(header, name, list)
    if not all(isinstance(item, str) for item in items):
        raise ProtocolError(f"{name} is no list of names")
    return tuple(items)
