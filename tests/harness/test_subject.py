"""A subject on the reference device: support, judging, counting, and a reply that is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from cts import judge
from cts.device.protocol import Device, DeviceInfo, Dispatch, Reply, Request
from cts.findings import (
    DeviceLost,
    DriverHang,
    Finding,
    GuardTouched,
    Nondeterministic,
    UnexpectedResult,
    WrongValue,
)
from cts.outcome import Outcome
from cts.program.model import (
    Address,
    Buffer,
    Component,
    Grid,
    Layout,
    Load,
    MatrixType,
    Pointee,
    Program,
    Store,
    Use,
)
from cts.program.recipe import Operand, Pattern, Recipe
from cts.run import judge_again
from cts.subject import DISTINCT, Evidence, NotSupported, Subject
from reference.device import ReferenceDevice
from reference.expectation import Expectation, Judgement

KHR = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"


class Altered:
    """The reference device with its replies, or what it says of itself, altered."""

    def __init__(
        self,
        change: Callable[[Reply], Reply] = lambda reply: reply,
        info: DeviceInfo | None = None,
    ) -> None:
        self._device = ReferenceDevice()
        self._change = change
        self.info = info or self._device.info

    def execute(self, request: Request) -> Reply:
        return self._change(self._device.execute(request))

    def close(self) -> None:
        self._device.close()


def copying(info: DeviceInfo, *, tiles: int = 2) -> tuple[Program, dict[str, Operand]]:
    """A program that copies matrices of the device's first float16 combination."""
    record = next(it for it in info.records[KHR] if it["AType"] == Component.FLOAT16)
    matrix = MatrixType(Component.FLOAT16, record["MSize"], record["KSize"], Use.A)
    pitch = matrix.rows * (matrix.columns + 8)
    size = tiles * pitch + 16
    place = Address("x", Layout.ROW_MAJOR, matrix.columns + 8, 0, pitch)
    target = dataclasses.replace(place, buffer="y")
    unit = Pointee(Component.FLOAT16)
    program = Program(
        Grid(tiles, 1, info.subgroup_size),
        (Buffer("x", unit, size), Buffer("y", unit, size)),
        (Load("m", matrix, place), Store("m", target)),
    )
    return program, {"x": Operand(place, matrix, Recipe(Pattern.INDEX), tiles)}


def flipped(buffer: int, byte: int) -> Callable[[Reply], Reply]:
    """A change of one byte of one buffer of a reply."""

    def change(reply: Reply) -> Reply:
        data = bytearray(reply.buffers[buffer])
        data[byte] ^= 1
        buffers = (*reply.buffers[:buffer], bytes(data), *reply.buffers[buffer + 1 :])
        return dataclasses.replace(reply, buffers=buffers)

    return change


def check(device: Device, **given: Any) -> Subject:
    subject = Subject(device)
    program, operands = copying(device.info)
    with subject.example():
        subject.check(program, operands, **given)
    return subject


def test_a_good_reply_counts() -> None:
    subject = check(Altered())
    tally = subject.tally
    assert (tally.examples, tally.matrices, tally.worst_ratio) == (1, 2, 0.0)
    assert sum(tally.records.values()) >= 1 and all(it.startswith("vk") for it in tally.records)
    assert tally.distribution["store layout"] == {"row_major": 1}
    assert tally.distribution["load stride"] == {"padded": 1}
    assert tally.distribution["pattern"] == {"index": 1}
    assert set(tally.seconds) >= {"lower", "operands", "transport", "oracle", "compare"}
    assert len(tally.own) == 1 and tally.own[0] > 0


def test_a_wrong_element_is_a_wrong_value_with_its_evidence() -> None:
    with pytest.raises(WrongValue) as caught:
        check(Altered(flipped(1, 0)))
    evidence = caught.value.evidence
    assert isinstance(evidence, Evidence) and evidence.judged and evidence.program is not None
    assert caught.value.detail["worst"]["row"] == 0
    assert judge_again(evidence, Altered()) is None
    again = judge_again(evidence, Altered(flipped(1, 0)))
    assert again is not None and again.message == caught.value.message


def test_a_touched_byte_between_elements_is_a_guard() -> None:
    program, _ = copying(ReferenceDevice().info)
    load = program.body[0]
    assert isinstance(load, Load)
    with pytest.raises(GuardTouched):
        check(Altered(flipped(1, 2 * load.type.columns)))


def test_a_touched_input_is_a_guard_too() -> None:
    with pytest.raises(GuardTouched):
        check(Altered(flipped(0, 0)))


def test_touched_numbers_are_a_guard_as_well() -> None:
    with pytest.raises(GuardTouched, match="strides and offsets"):
        check(Altered(flipped(2, 0)))


def test_runs_of_one_dispatch_that_differ_are_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(Altered(), repeat=3).tally.matrices == 6
    # An oracle that permits anything leaves only the difference between the runs.
    monkeypatch.setattr(Expectation, "check", lambda self, actual: Judgement((), 0.0, 1))
    with pytest.raises(Nondeterministic, match="1 of 2 runs"):
        check(Altered(flipped(4, 0)), repeat=2)


@pytest.mark.parametrize(
    ("result", "kind"), [(-4, DeviceLost), (-13, UnexpectedResult), (-2, UnexpectedResult)]
)
def test_a_result_that_is_an_error_is_a_finding(result: int, kind: type[Finding]) -> None:
    with pytest.raises(kind, match="phase pipeline"):
        check(Altered(lambda reply: Reply(result=result, phase="pipeline")))


def test_a_finding_of_the_device_keeps_its_place_and_gets_the_evidence() -> None:
    class Hanging(Altered):
        def execute(self, request: Request) -> Reply:
            raise DriverHang("no answer")

    with pytest.raises(DriverHang) as caught:
        check(Hanging())
    assert isinstance(caught.value.evidence, Evidence)
    assert caught.traceback[-1].name == "execute"


def test_without_a_record_nothing_is_asked() -> None:
    info = dataclasses.replace(ReferenceDevice().info, records={KHR: ()})
    subject = Subject(Altered(info=info))
    program, operands = copying(ReferenceDevice().info)
    with pytest.raises(NotSupported), subject.example():
        subject.check(program, operands)
    assert subject.tally.examples == 0 and subject.tally.rejected.total() == 1


def test_without_a_feature_nothing_is_asked_and_the_reason_names_it() -> None:
    info = ReferenceDevice().info
    feature = "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrix"
    poorer = dataclasses.replace(info, features=info.features - {feature})
    program, operands = copying(info)
    with pytest.raises(NotSupported, match=feature):
        Subject(Altered(info=poorer)).check(program, operands)


def test_an_invalid_program_is_the_suite_s_fault_and_not_unsupported() -> None:
    program, operands = copying(ReferenceDevice().info)
    broken = dataclasses.replace(program, body=(program.body[1],))
    with pytest.raises(ValueError, match="invalid program"):
        Subject(Altered()).check(broken, operands)


def test_records_by_predicate() -> None:
    subject = Subject(Altered())
    wide = subject.records(KHR, lambda it: it["AType"] == Component.FLOAT16)
    assert wide and all(it["AType"] == Component.FLOAT16 for it in wide)
    with pytest.raises(NotSupported, match="no record of this kind"):
        subject.records(KHR, lambda it: False)
    with pytest.raises(NotSupported, match="no records at all"):
        subject.records("vkNothing")


def test_what_a_buffer_holds_depends_on_its_place_and_the_recipe() -> None:
    program, operands = copying(ReferenceDevice().info)
    made = judge.images(program, operands)
    assert made["x"] != made["y"]
    assert len(made["x"]) == program.buffers[0].backing_bytes(2)
    given = judge.images(program, {"x": bytes(len(made["x"]))})
    assert given["x"] == bytes(len(made["x"])) and given["y"] == made["y"]


def test_run_gives_the_buffers_back_unjudged() -> None:
    subject = Subject(Altered(flipped(1, 0)))
    program, operands = copying(subject.info)
    buffers = subject.run(program, operands)
    assert len(buffers) >= 2
    assert subject.tally.matrices == 0


def test_distributions_are_bounded() -> None:
    subject = Subject(Altered())
    for value in range(2 * DISTINCT):
        with subject.example():
            subject.event("value", value)
    counter = subject.tally.distribution["value"]
    assert len(counter) == DISTINCT + 1 and counter["other"] == DISTINCT


def test_the_floor_decides_what_is_raised() -> None:
    subject = Subject(Altered(), floor=Outcome.FAIL)
    subject.found(Nondeterministic("not now"))
    assert list(subject.lesser) == [Nondeterministic]
    with pytest.raises(WrongValue):
        subject.found(WrongValue("now"))


def test_a_dispatch_knows_its_program() -> None:
    program, operands = copying(ReferenceDevice().info)
    info = ReferenceDevice().info
    request = judge.request(program, judge.images(program, operands), info)
    assert isinstance(request, Dispatch) and Evidence(request).program == program
    assert judge.lacking(request, info) == []
