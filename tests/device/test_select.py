"""Which device a text means, and what ``auto`` chooses and says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cts.device import launcher, lavapipe, select
from cts.device.debian import FetchError
from cts.device.errors import DeviceError, Refused
from cts.device.lavapipe import Prefix
from cts.device.select import Candidate
from cts.device.supervisor import SupervisedDevice
from cts.device.vulkan.api import Api
from cts.findings import DriverCrash

GPU = Candidate(1, "a GPU", "aa" * 16, hardware=True, cooperative=True)
OLD_GPU = Candidate(0, "an old GPU", "bb" * 16, hardware=True, cooperative=False)
CPU = Candidate(2, "a CPU driver", "cc" * 16, hardware=False, cooperative=True)
ROOT = Path("/cache/prefix")
PREFIX = Prefix(ROOT, ROOT, ROOT, ROOT, ROOT, (), ROOT, "26.1.6")
FETCH_FAILS = "lavapipe can't be fetched: there is no network; install Mesa 26.1."


def machine(
    monkeypatch: pytest.MonkeyPatch, found: list[Candidate] | str, *, fetch: bool = True
) -> None:
    """A machine with these devices, or with this trouble when they are listed."""

    def candidates(of: launcher.Launcher) -> list[Candidate]:
        if isinstance(found, str):
            raise DeviceError(found)
        return found

    def get() -> Prefix:
        if fetch:
            return PREFIX
        raise FetchError(FETCH_FAILS)

    monkeypatch.setattr(select, "candidates", candidates)
    monkeypatch.setattr(lavapipe, "fetch", get)
    monkeypatch.setattr(lavapipe, "cached", lambda: None)


def automatic() -> tuple[str, tuple[str, ...], list[str]]:
    said: list[str] = []
    return *select._automatic(said.append), said


def test_a_gpu_with_the_extension_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, [OLD_GPU, CPU, GPU])
    assert automatic() == (f"vulkan:{GPU.uuid}", (), [])


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ([], "there is no hardware driver"),
        ([CPU], "there is no hardware driver"),
        ([OLD_GPU], "none of the drivers found has a cooperative extension"),
        ("there is no Vulkan loader.", "there is no Vulkan loader"),
    ],
)
def test_then_lavapipe_saying_why(
    monkeypatch: pytest.MonkeyPatch, found: list[Candidate] | str, reason: str
) -> None:
    machine(monkeypatch, found)
    spec, notes, said = automatic()
    assert spec == "lavapipe"
    assert notes == (f"Runs on Mesa lavapipe 26.1.6, a driver for the CPU: {reason}.",)
    assert said == ["Fetching Mesa lavapipe (80 MB) into the user's cache ..."]


def test_then_another_cpu_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, [CPU], fetch=False)
    spec, notes, _ = automatic()
    assert spec == f"vulkan:{CPU.uuid}"
    assert "a CPU driver" in notes[0]


def test_then_the_reference_device_saying_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "there is no Vulkan loader.", fetch=False)
    spec, notes, _ = automatic()
    assert spec == "reference"
    assert "says nothing about any driver" in notes[0]
    assert "install Mesa 26.1" in notes[0]


@pytest.mark.parametrize(
    "spec", ["", "gpu", "vulkan", "vulkan:", "reference:1", "lavapipe:", "mutant:", "mutant"]
)
def test_an_unknown_device_is_one_sentence_with_the_forms(spec: str) -> None:
    with pytest.raises(DeviceError, match=r"say auto, reference, lavapipe, vulkan:INDEX"):
        select.open_device(spec)


def test_the_reference_device_needs_no_driver() -> None:
    found = select.resolve("reference", lambda line: None)
    assert found.spec == "reference"
    assert found.info.kind == "reference"


def test_an_unknown_mutant_is_one_sentence() -> None:
    with pytest.raises(DeviceError, match="there is no mutant nonsense: say") as caught:
        select.open_device("mutant:nonsense")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("meant", "near"),
    [("mutant:branch_taken_by_every", "branch_taken_by_all"), ("legal:fused_25_bit", "fused_25")],
)
def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(meant: str, near: str) -> None:
    with pytest.raises(DeviceError, match=f": say {near}"):
        select.open_device(meant)


def test_a_mutant_of_a_mutant_is_refused() -> None:
    with pytest.raises(DeviceError, match="of a mutant"):
        select.open_device("mutant:x@mutant:y")


def test_every_worker_has_a_journal_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw3")
    device = select.open_device("vulkan:0", tmp_path)
    assert (tmp_path / "journal-gw3" / "in-flight").exists()
    device.close()


def test_the_launcher_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(select.VARIABLE, "sh -c 'echo no interpreter >&2; exit 7' --")
    with pytest.raises(DeviceError, match="no interpreter"):
        select.resolve("vulkan:0", lambda line: None)
    monkeypatch.setenv(select.VARIABLE, "'unfinished")
    with pytest.raises(DeviceError, match="COOPCTS_LAUNCHER is no command line"):
        select.resolve("vulkan:0", lambda line: None)


def test_a_driver_that_crashes_when_asked_about_itself_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def crash(self: SupervisedDevice) -> None:
        raise DriverCrash("the device process was ended by SIGSEGV in phase instance")

    monkeypatch.setattr(SupervisedDevice, "info", property(crash))
    with pytest.raises(DeviceError, match="SIGSEGV in phase instance while it was asked"):
        select.resolve("vulkan:0", lambda line: None)


LISTER = """
import json, os, signal
from cts.device import server
from cts.device.protocol import Reply

class Lister:
    def run(self, request, phase):
        phase("describe")
        {body}

def main():
    os._exit(server.serve(lambda settings: Lister()))
"""


def listed(monkeypatch: pytest.MonkeyPatch, body: str) -> list[Candidate]:
    code = launcher.program("lister", (("lister", LISTER.format(body=body)),))
    monkeypatch.setattr("cts.device.process.program", lambda: code)
    return select.candidates(launcher.local())


def test_devices_are_listed_by_a_server_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [
        {
            "index": 0,
            "name": "x",
            "uuid": "ab",
            "type": kind,
            "extensions": ["VK_NV_cooperative_vector"],
        }
        for kind in (4, 2)
    ]
    found = listed(monkeypatch, f"return Reply(buffers=({json.dumps(devices).encode()!r},))")
    assert [one.hardware for one in found] == [False, True]
    assert all(one.cooperative for one in found)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"failed in phase describe \(SIGSEGV\)"),
        ("return Reply(buffers=(b'nonsense',))", "can't be read"),
        ("return Reply(buffers=(b'[{}]',))", "can't be read"),
        ("return Reply()", "can't be read"),
    ],
)
def test_a_driver_that_fails_when_listed_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, body: str, text: str
) -> None:
    with pytest.raises(DeviceError, match=text):
        listed(monkeypatch, body)


def test_no_loader_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cts.device.vulkan.api.LIBRARIES", ("libno-vulkan-at-all.so",))
    with pytest.raises(Refused, match="no Vulkan loader"):
        Api()
