"""What a stage does wrong by itself isn't counted against cooperative vectors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from cts import judge
from cts.control import REPETITIONS, control
from cts.device import launcher, lavapipe
from cts.device.protocol import Dispatch, Reply, Request
from cts.device.supervisor import SupervisedDevice
from cts.draw.stages import launches_of
from cts.findings import DeviceLost
from cts.outcome import Outcome
from cts.profiles import Profile
from cts.program.vector import Stage
from cts.program.vector_program import Launch
from cts.run import run_case
from cts.spirv.tools import validate
from cts.spirv.vector import lower_vector
from reference.device import ReferenceDevice
from reference.mutants import stages
from tests.stages.test_stage_mutants import CASES, ROOT

BRIEF = Profile("brief", 20, "tests", shrink=False)
FEW = Profile("few", 2, "tests", shrink=False)


class Losing:
    """Every third draw stores nothing but what the first invocation does, or loses the device."""

    def __init__(self, stage: Stage, lost: bool = False) -> None:
        self._device = ReferenceDevice()
        self._stage = stage.value
        self._lost = lost
        self._draws = 0
        self.info = self._device.info

    def execute(self, request: Request) -> Reply:
        reply = self._device.execute(request)
        staging = request.staging if isinstance(request, Dispatch) else None
        if staging is None or staging.stage != self._stage:
            return reply
        assert isinstance(request, Dispatch)
        self._draws += 1
        if self._draws % 3:
            return reply
        if self._lost:
            raise DeviceLost("the device was lost in phase fence")
        count = len(request.buffers)
        kept = tuple(
            done[:4] + before.data[4:] if before.data else done
            for done, before in zip(reply.buffers, request.buffers * (count or 1), strict=False)
        )
        return dataclasses.replace(reply, buffers=kept)

    def close(self) -> None:
        """Nothing to give back."""


@pytest.mark.parametrize("lost", [False, True], ids=["stores", "device"])
@pytest.mark.parametrize("case", ["product.vertex", "own_matrix.vertex", "memory.vertex"])
def test_a_stage_that_loses_invocations_is_not_judged(case: str, lost: bool) -> None:
    result = run_case(CASES[ROOT + case], Losing(Stage.VERTEX, lost), BRIEF, 1)
    assert result.outcome is Outcome.NOT_RUN and not result.outcome.conformant
    assert "fails without cooperative vectors too" in result.reason
    assert f"of {REPETITIONS} runs" in result.reason


def test_the_control_itself_says_so() -> None:
    result = run_case(CASES[ROOT + "control.vertex"], Losing(Stage.VERTEX), BRIEF, 1)
    assert result.outcome in (Outcome.FAIL, Outcome.FLAKY)


def test_other_stages_are_judged() -> None:
    device = Losing(Stage.VERTEX)
    assert run_case(CASES[ROOT + "product.mesh"], device, BRIEF, 1).outcome is Outcome.PASS


@pytest.mark.parametrize("mutant", stages.MUTANTS, ids=lambda it: it.name)
def test_faults_of_cooperative_vectors_leave_the_control_alone(mutant: stages.Mutant) -> None:
    device = mutant.wrap(ReferenceDevice())
    for stage in Stage:
        result = run_case(CASES[f"{ROOT}control.{stage.label}"], device, FEW, 1)
        assert result.outcome is Outcome.PASS


LAUNCHES = [
    pytest.param(stage, grid, id=f"{stage.label}-{grid.workgroups}x{grid.local_size}")
    for stage in Stage
    for grid in (Launch(3, 5), launches_of(stage)[-1])
]


@pytest.fixture(scope="module")
def device() -> Iterator[SupervisedDevice]:
    try:
        prefix = lavapipe.fetch()
    except lavapipe.LavapipeError as error:
        pytest.skip(str(error))
    made = SupervisedDevice(launcher.lavapipe(prefix))
    yield made
    made.close()


@pytest.mark.parametrize(("stage", "grid"), LAUNCHES)
def test_the_control_runs_without_cooperative_vectors(
    device: SupervisedDevice, stage: Stage, grid: Launch
) -> None:
    program = control(stage, grid)
    assert validate(lower_vector(program).words) is None
    inputs = judge.images(program, {})
    request = judge.request(program, inputs, device.info)
    assert not any("ooperative" in name for name in (*request.features, *request.extensions))
    reply = device.execute(request)
    assert not judge.compare(request, judge.expect(program, inputs), reply.buffers).violations
