"""A driver that crashes, hangs or loses its device is a finding, and Hypothesis shrinks it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, reject, seed, settings
from hypothesis import strategies as st

from cts.device.errors import BudgetSpent, DeviceError, ServerFault
from cts.device.framing import ProtocolError
from cts.device.journal import read_journal
from cts.device.launcher import Launcher, local
from cts.device.protocol import Query, Reply
from cts.device.results import DEVICE_LOST
from cts.device.supervisor import SupervisedDevice
from cts.device.troubles import MEMORY, Trouble, Troubles
from cts.findings import DeviceLost, DriverCrash, DriverHang, Finding, UnexpectedResult
from tests.device.servers import CODE, HANG, bad_device, limits
from tests.device.servers import request as dispatch

PHASES = ("module", "pipeline", "submit", "fence", "readback")
CRASHES = ("segfault", "abort", "killed", "exit:3", "exit:0", "garbage", "strange")
HANGS = tuple(f"hang:{phase}" for phase in PHASES)
FAULTS = {
    **dict.fromkeys(CRASHES, DriverCrash),
    **dict.fromkeys(HANGS, DriverHang),
    "result:2": DriverHang,
    "result:-4": DeviceLost,
    "result:-2": UnexpectedResult,
    "result:-13": UnexpectedResult,
}


@pytest.fixture
def device(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[SupervisedDevice]:
    """A device; in a test that takes a ``fault``, its phase has a short limit."""
    fault = request.getfixturevalue("fault") if "fault" in request.fixturenames else ""
    made = bad_device(tmp_path, limits=limits(fault))
    yield made
    made.close()


def finding_of(device: SupervisedDevice, fault: str) -> Finding:
    with pytest.raises(Finding) as caught:
        device.execute(dispatch(fault))
    return caught.value


def shrunk(device: SupervisedDevice, fault: str) -> tuple[type[Finding], tuple[int, int]]:
    """What Hypothesis ends with for this fault: the class of finding, and the example."""
    last: list[tuple[int, int]] = []

    @seed(0)
    @settings(max_examples=40, database=None, deadline=None, derandomize=False)
    @given(st.integers(1, 2000), st.integers(1, 50))
    def example(x: int, y: int) -> None:
        try:
            device.execute(dispatch(fault, x, y))
        except BudgetSpent:
            reject()
        except Finding:
            last.append((x, y))
            raise

    with pytest.raises(Finding) as caught:
        example()
    return type(caught.value), last[-1]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_a_finding_of_its_class(device: SupervisedDevice, fault: str) -> None:
    found = finding_of(device, fault)
    assert type(found) is FAULTS[fault]
    assert found.detail["phase"] in PHASES
    # the device is usable at once, by a new process where the old one was ruined
    assert device.execute(dispatch(fault, 1, 1)).buffers == (b"cba",)


@pytest.mark.parametrize(
    "fault", ["segfault", "abort", "exit:3", "garbage", "result:-4", "result:-13"]
)
def test_a_fault_is_shrunk_to_the_smallest_request(device: SupervisedDevice, fault: str) -> None:
    assert shrunk(device, fault) == (FAULTS[fault], (65, 3))


@pytest.mark.parametrize("fault", ["hang:module", "hang:fence", "result:2"])
def test_a_hang_is_shrunk_within_its_budget(tmp_path: Path, fault: str) -> None:
    device = bad_device(tmp_path, limits=limits(fault), hangs_per_case=4)
    start = time.monotonic()
    kind, (x, y) = shrunk(device, fault)
    assert kind is DriverHang
    assert x > 64 and y > 2
    assert device.starts <= 9  # one at first, two for each hang: it's tried once more
    assert time.monotonic() - start < 30
    device.close()


def test_a_hang_is_shrunk_to_the_smallest_request_with_a_larger_budget(tmp_path: Path) -> None:
    device = bad_device(tmp_path, limits=limits("hang:pipeline"), hangs_per_case=1000)
    assert shrunk(device, "hang:pipeline") == (DriverHang, (65, 3))
    device.close()


def test_a_crash_tells_signal_phase_and_last_words(device: SupervisedDevice) -> None:
    found = finding_of(device, "segfault")
    assert found.message == "the device process was ended by SIGSEGV in phase fence"
    assert found.detail["signal"] == "SIGSEGV"
    assert found.detail["exit_status"] == -11
    assert found.detail["stderr"] == "driver: assertion failed"


def test_an_exit_tells_its_status(device: SupervisedDevice) -> None:
    found = finding_of(device, "exit:3")
    assert found.message == "the device process ended by itself with status 3 in phase fence"
    assert found.detail["exit_status"] == 3


@pytest.mark.parametrize("fault", ["hang:submit"])
def test_a_hang_tells_phase_and_limit(device: SupervisedDevice, fault: str) -> None:
    found = finding_of(device, fault)
    assert found.message == f"phase submit did not end within {HANG} s"
    assert found.detail["stderr"] == "about to hang"


def test_an_unexpected_result_has_its_name(device: SupervisedDevice) -> None:
    assert "VK_ERROR_UNKNOWN" in finding_of(device, "result:-13").message


def test_what_a_driver_prints_is_kept_apart_from_the_messages(device: SupervisedDevice) -> None:
    assert device.execute(dispatch("print")).buffers == (b"cba",)


def test_a_known_fault_is_not_run_again(device: SupervisedDevice) -> None:
    first = finding_of(device, "segfault")
    starts = device.starts
    again = finding_of(device, "segfault")
    assert device.starts == starts
    assert (again.message, again.detail) == (first.message, first.detail)


def test_the_hangs_of_a_case_are_limited(tmp_path: Path) -> None:
    device = bad_device(tmp_path, limits=limits("hang:fence"), hangs_per_case=2)
    for x in (70, 71):
        with pytest.raises(DriverHang):
            device.execute(dispatch("hang:fence", x))
    with pytest.raises(BudgetSpent):
        device.execute(dispatch("hang:fence", 72))
    with pytest.raises(DriverHang):  # remembered, so the same again
        device.execute(dispatch("hang:fence", 71))
    device.new_case()
    with pytest.raises(DriverHang):
        device.execute(dispatch("hang:fence", 72))
    device.close()


@pytest.mark.parametrize("fault", ["once:-2", "once:2", "stall:pipeline", "killed-once"])
def test_what_a_machine_in_trouble_does_is_tried_again(
    device: SupervisedDevice, fault: str
) -> None:
    device.execute(dispatch(fault, 1, 1))
    assert device.recovered == []
    assert device.execute(dispatch(fault)).buffers == (b"cba",)
    assert device.starts == 2
    (note,) = device.recovered
    assert "but not when request" in note


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[SupervisedDevice, SupervisedDevice]]:
    """Two of the devices of one run."""
    made = [bad_device(tmp_path / f"journal-{name}") for name in "ab"]
    yield made[0], made[1]
    for device in made:
        device.close()


Pair = tuple[SupervisedDevice, SupervisedDevice]
LOST = f"once:{DEVICE_LOST}"


def test_a_device_that_is_lost_once_is_a_finding(pair: Pair) -> None:
    device, other = pair
    device.execute(dispatch(LOST, 1, 1))
    finding_of(other, "segfault")  # ends a process, but resets no device
    assert type(finding_of(device, LOST)) is DeviceLost
    assert device.recovered == []


def test_a_device_that_is_lost_to_another_process_is_tried_again(pair: Pair) -> None:
    device, other = pair
    device.execute(dispatch(LOST, 1, 1))
    finding_of(other, f"result:{DEVICE_LOST}")
    assert device.execute(dispatch(LOST)).buffers == (b"cba",)
    (note,) = device.recovered
    assert "the device was lost in phase fence, but not when request" in note


def test_what_loses_the_device_each_time_is_found_whatever_others_do(pair: Pair) -> None:
    device, other = pair
    for one in (other, device, other):
        assert type(finding_of(one, f"result:{DEVICE_LOST}")) is DeviceLost


def test_losses_that_do_not_come_again_excuse_none(pair: Pair) -> None:
    # A driver that loses every device after a while loses it in each process.
    for one in pair:
        one.execute(dispatch(LOST, 1, 1))
    for one in (*pair, *pair):
        assert type(finding_of(one, LOST)) is DeviceLost
        assert one.recovered == []


def test_trouble_of_long_ago_excuses_nothing(pair: Pair, tmp_path: Path) -> None:
    device, _ = pair
    (tmp_path / "troubles.log").write_text(f"{time.time() - MEMORY - 1:.3f} again journal-b\n")
    device.execute(dispatch(LOST, 1, 1))
    assert type(finding_of(device, LOST)) is DeviceLost


@pytest.mark.parametrize("ending", [Trouble.AGAIN, Trouble.OVER])
def test_who_still_tries_is_waited_for(pair: Pair, tmp_path: Path, ending: Trouble) -> None:
    device, _ = pair
    other = Troubles(tmp_path, "journal-b")
    other.add(Trouble.MET)
    device.execute(dispatch(LOST, 1, 1))
    later = threading.Timer(2.0, other.add, [ending])
    later.start()
    if ending is Trouble.AGAIN:
        assert device.execute(dispatch(LOST)).buffers == (b"cba",)
    else:
        assert type(finding_of(device, LOST)) is DeviceLost
    assert not later.is_alive()


def test_a_fault_can_be_reproduced_in_a_fresh_process(device: SupervisedDevice) -> None:
    device.execute(dispatch("once:-13", 1, 1))
    found = finding_of(device, "once:-13")
    assert type(found) is UnexpectedResult
    assert device.reproduce(dispatch("once:-13")) is None  # it took the request before
    assert isinstance(device.reproduce(dispatch("abort")), DriverCrash)


def test_a_request_that_is_tried_alone_gets_more_time(tmp_path: Path) -> None:
    for fault, kind in (("slow:pipeline", None), ("hang:pipeline", DriverHang)):
        device = bad_device(tmp_path / fault, limits=limits(fault))
        assert type(finding_of(device, fault)) is DriverHang
        again = device.reproduce(dispatch(fault))
        assert again is None if kind is None else type(again) is kind
        device.close()


def test_a_process_that_ends_between_requests_is_told_apart(device: SupervisedDevice) -> None:
    device.execute(dispatch("later"))
    assert device._process
    end = time.monotonic() + 30
    while device._process.alive() and time.monotonic() < end:
        time.sleep(0.02)
    with pytest.raises(DriverCrash, match="SIGSEGV between two requests") as caught:
        device.execute(dispatch("", 1, 1))
    assert len(caught.value.detail["requests_before"]) == 1
    device.new_case()
    assert device.execute(dispatch("", 1, 1)).buffers == (b"cba",)


def test_what_a_query_returned_is_for_the_case_to_judge(device: SupervisedDevice) -> None:
    assert device.execute(Query("vkGetExample")).results == (-4,)


def test_a_refusal_and_a_bug_of_the_server_are_no_findings(device: SupervisedDevice) -> None:
    with pytest.raises(ServerFault, match="doesn't support the feature x"):
        device.execute(dispatch("refuse"))
    with pytest.raises(ServerFault, match="ZeroDivisionError"):
        device.execute(dispatch("bug"))
    assert device.execute(dispatch("", 1, 1)).buffers == (b"cba",)


@pytest.mark.parametrize(
    ("selector", "error", "text"),
    [
        ("refuse", DeviceError, "the Vulkan loader found no device: install a driver."),
        ("bug", DeviceError, "failed while it started: ZeroDivisionError"),
        ("segfault", DriverCrash, "SIGSEGV in phase instance"),
        ("hang", DriverHang, "phase instance did not end within"),
    ],
)
def test_a_start_that_fails(
    tmp_path: Path, selector: str, error: type[Exception], text: str
) -> None:
    device = bad_device(tmp_path, selector, limits=limits(f"{selector}:instance"))
    with pytest.raises(error, match=text):
        device.info  # noqa: B018 (asking is what fails)
    device.close()


def test_a_server_that_never_starts_is_no_finding(tmp_path: Path) -> None:
    slow = Launcher("slow", ("sh", "-c", "sleep 60", "--"))
    device = SupervisedDevice(slow, journal=tmp_path, limits=limits("hang:start"), code=CODE)
    with pytest.raises(DeviceError, match="did not start within"):
        device.execute(dispatch(""))
    device.close()


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (("/nonexistent/python3",), "No such file or directory"),
        (("sh", "-c", "echo no such host >&2; exit 255", "--"), "no such host"),
        (("sh", "-c", "exec sleep 0", "--"), "status 0"),
    ],
)
def test_a_launcher_that_fails_says_why(
    tmp_path: Path, command: tuple[str, ...], text: str
) -> None:
    device = SupervisedDevice(Launcher("x", command), journal=tmp_path, limits=limits(), code=CODE)
    with pytest.raises(DeviceError, match=text):
        device.execute(dispatch(""))
    device.close()


def test_a_launcher_may_greet_first(tmp_path: Path) -> None:
    greeting = ("sh", "-c", 'echo Welcome to this machine, coo-p-s; exec "$@"', "--")
    launcher = replace(local(), command=greeting + local().command)
    device = SupervisedDevice(launcher, journal=tmp_path, limits=limits(), code=CODE)
    assert device.execute(dispatch("", 1, 1)).buffers == (b"cba",)
    device.close()


def test_the_request_is_on_disk_before_it_is_sent(device: SupervisedDevice, tmp_path: Path) -> None:
    sent = dispatch("segfault", 65, 3, data=bytes(range(256)))
    device.execute(dispatch("", 1, 1))
    assert read_journal(tmp_path / "in-flight") == (False, dispatch("", 1, 1))
    with pytest.raises(DriverCrash):
        device.execute(sent)
    assert read_journal(tmp_path / "in-flight") == (True, sent)
    assert len((tmp_path / "requests.log").read_text().splitlines()) == 2


def test_the_log_starts_anew_with_the_process(device: SupervisedDevice, tmp_path: Path) -> None:
    for _ in range(3):
        device.execute(dispatch("", 1, 1))
    finding_of(device, "abort")
    device.execute(dispatch("", 2, 2))
    assert len((tmp_path / "requests.log").read_text().splitlines()) == 1


def test_a_damaged_journal_is_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "in-flight"
    path.write_bytes(b"nonsense")
    with pytest.raises(ProtocolError, match="no journal"):
        read_journal(path)


def test_large_buffers_go_both_ways(device: SupervisedDevice) -> None:
    data = bytes(range(256)) * (1 << 14)
    reply = device.execute(dispatch("", 1, 1, data=data))
    assert reply == Reply(buffers=(data[::-1],), seconds=reply.seconds)
    assert device.execute(dispatch("", 1, 1)).buffers == (b"cba",)


def test_closing_twice_and_using_again_after_a_hang(tmp_path: Path) -> None:
    device = bad_device(tmp_path, limits=limits("hang:fence"))
    with pytest.raises(DriverHang):
        device.execute(dispatch("hang:fence"))
    device.execute(dispatch("", 1, 1))
    device.close()
    device.close()
