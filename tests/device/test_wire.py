"""Requests, replies and descriptions come back as they went, and nothing else passes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cts.device.framing import Decoder, Frame, ProtocolError, pack
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
from cts.device.wire import (
    decode_info,
    decode_reply,
    decode_request,
    encode_info,
    encode_reply,
    encode_request,
)
from cts.program.model import Grid, Program

names = st.text(max_size=12)
numbers = st.integers(0, 1 << 40)
blobs = st.binary(max_size=64)
stagings = st.builds(
    Staging,
    kind=names,
    stage=numbers,
    companions=st.lists(st.builds(StageModule, numbers, blobs), max_size=3).map(tuple),
    topology=numbers,
    extent=st.tuples(numbers, numbers),
    scene=names,
)
matrices = st.builds(Matrix, numbers, numbers, numbers, numbers, numbers)
conversions = st.builds(
    Conversion, numbers, numbers, matrices, matrices, st.booleans(), st.booleans()
)
preparations = st.builds(Preparation, conversions, numbers, numbers)
dispatches = st.builds(
    Dispatch,
    words=blobs,
    buffers=st.lists(st.builds(BufferData, blobs, st.booleans()), max_size=4).map(tuple),
    workgroups=st.tuples(numbers, numbers, numbers),
    features=st.lists(names, max_size=3).map(tuple),
    extensions=st.lists(names, max_size=3).map(tuple),
    specialization=st.lists(st.tuples(numbers, numbers, numbers), max_size=3).map(tuple),
    required_subgroup_size=st.none() | numbers,
    repeat=numbers,
    staging=st.none() | stagings,
    preparations=st.lists(preparations, max_size=2).map(tuple),
)
queries = st.builds(
    Query,
    command=names,
    capacity=numbers,
    null=st.booleans(),
    allocated=numbers,
    poison=st.integers(0, 255),
    guard=numbers,
    parameters=st.lists(st.tuples(names, numbers), max_size=3).map(tuple),
    instance=st.integers(0, 1),
    threads=numbers,
)
converts = st.builds(
    Convert,
    conversions=st.lists(conversions, max_size=3).map(tuple),
    memory=blobs,
    host=st.booleans(),
    steps=st.lists(numbers, max_size=3).map(tuple),
)
requests = dispatches | queries | converts | st.just(Describe())
replies = st.builds(
    Reply,
    result=st.integers(-(1 << 31), 1 << 31),
    phase=names,
    buffers=st.lists(blobs, max_size=3).map(tuple),
    counts=st.lists(numbers, max_size=3).map(tuple),
    results=st.lists(st.integers(), max_size=3).map(tuple),
    seconds=st.dictionaries(names, st.floats(0, 100), max_size=3),
)
records = st.dictionaries(names, numbers, max_size=3)
infos = st.builds(
    DeviceInfo,
    kind=names,
    name=names,
    driver=names,
    driver_version=names,
    api_version=names,
    uuid=names,
    extensions=st.dictionaries(names, numbers, max_size=3),
    features=st.frozensets(names, max_size=3),
    properties=st.dictionaries(names, numbers | names | st.lists(numbers, max_size=2), max_size=3),
    records=st.dictionaries(names, st.lists(records, max_size=2).map(tuple), max_size=2),
    queues=st.lists(numbers, max_size=3).map(tuple),
    environment=st.dictionaries(names, names, max_size=3),
)


def over_the_wire(frame: Frame) -> Frame:
    (found,) = Decoder().feed(pack(frame))
    return found


@given(requests)
def test_requests_come_back(request: Request) -> None:
    assert decode_request(over_the_wire(encode_request(request))) == request


@given(replies)
def test_replies_come_back(reply: Reply) -> None:
    assert decode_reply(over_the_wire(encode_reply(reply))) == reply


@given(infos)
def test_descriptions_come_back_and_are_canonical(info: DeviceInfo) -> None:
    text = encode_info(info)
    assert decode_info(text) == info
    assert encode_info(decode_info(text)) == text


def test_a_program_does_not_travel() -> None:
    program = Program(Grid(1, 1, 8), (), ())
    request = Dispatch(b"words", (), (1, 1, 1), program=program)
    assert decode_request(over_the_wire(encode_request(request))) == Dispatch(
        b"words", (), (1, 1, 1)
    )


@given(requests, st.data())
def test_a_field_of_another_type_is_refused(request: Request, data: st.DataObject) -> None:
    frame = over_the_wire(encode_request(request))
    fields = [name for name in frame.header if name != "kind"]
    if not fields:
        return
    name = data.draw(st.sampled_from(sorted(fields)))
    bad = data.draw(st.sampled_from([{}, 1.5, "text", [[]], [{}], [1.5]]))
    if isinstance(frame.header[name], str) and isinstance(bad, str):
        return
    with pytest.raises(ProtocolError):
        decode_request(Frame({**frame.header, name: bad}, frame.blobs))


@given(requests, st.data())
def test_a_missing_field_is_refused(request: Request, data: st.DataObject) -> None:
    frame = over_the_wire(encode_request(request))
    optional = ("kind", "required_subgroup_size", "staging")
    fields = sorted(name for name in frame.header if name not in optional)
    if not fields:
        return
    name = data.draw(st.sampled_from(fields))
    header = {key: value for key, value in frame.header.items() if key != name}
    with pytest.raises(ProtocolError):
        decode_request(Frame(header, frame.blobs))


@pytest.mark.parametrize("kind", ["reply", "refused", "", "dispatch"])
def test_another_kind_is_no_request(kind: str) -> None:
    with pytest.raises(ProtocolError):
        decode_request(Frame({"kind": kind}))


def test_blobs_must_match_the_buffers() -> None:
    frame = over_the_wire(encode_request(Dispatch(b"words", (BufferData(b"a"),), (1, 1, 1))))
    with pytest.raises(ProtocolError):
        decode_request(Frame(frame.header, (*frame.blobs, b"b")))
    with pytest.raises(ProtocolError):
        decode_request(Frame(frame.header, ()))


@pytest.mark.parametrize("name", ["result", "phase", "counts", "results", "seconds"])
def test_a_damaged_reply_is_refused(name: str) -> None:
    frame = over_the_wire(encode_reply(Reply(seconds={"fence": 1.0})))
    for bad in (None, "1.5" if name != "phase" else 1, {"x": "y"}):
        with pytest.raises(ProtocolError):
            decode_reply(Frame({**frame.header, name: bad}))


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b"\xff", b'{"kind":1}'])
def test_a_damaged_description_is_refused(text: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_info(text)


@given(infos, st.data())
def test_a_description_without_a_field_is_refused(info: DeviceInfo, data: st.DataObject) -> None:
    fields = json.loads(encode_info(info))
    del fields[data.draw(st.sampled_from(sorted(fields)))]
    with pytest.raises(ProtocolError):
        decode_info(json.dumps(fields).encode())
