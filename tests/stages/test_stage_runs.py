"""Every stage runs on a real driver, Mesa lavapipe, each invocation once under its number."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from cts.device import launcher, lavapipe
from cts.device.debian import FetchError
from cts.device.errors import ServerFault
from cts.device.protocol import Staging
from cts.device.supervisor import SupervisedDevice
from cts.draw.stages import launches_of
from cts.program.vector import Stage
from cts.program.vector_program import Launch
from tests.stages.modules import OTHERS, expected, request

LAUNCHES = [
    pytest.param(stage, grid, id=f"{stage.label}-{grid.workgroups}x{grid.local_size}")
    for stage in Stage
    for grid in (Launch(1, 1), Launch(3, 5), Launch(2, 32), *launches_of(stage)[-2:])
]


@pytest.fixture(scope="module")
def device() -> Iterator[SupervisedDevice]:
    try:
        prefix = lavapipe.fetch()
    except FetchError as error:
        pytest.skip(str(error))
    made = SupervisedDevice(launcher.lavapipe(prefix))
    yield made
    made.close()


@pytest.mark.parametrize(("stage", "grid"), LAUNCHES)
def test_every_invocation_finds_its_number(
    device: SupervisedDevice, stage: Stage, grid: Launch
) -> None:
    assert device.execute(request(stage, grid)).buffers == expected(grid)


@pytest.mark.parametrize("stage", Stage, ids=lambda it: it.label)
def test_buffers_come_by_address_and_constants_arrive(
    device: SupervisedDevice, stage: Stage
) -> None:
    grid = Launch(3, 5)
    reply = device.execute(request(stage, grid, physical=True, factor=7))
    assert reply.buffers == expected(grid, 7)


def test_what_helper_invocations_store_has_no_effect(device: SupervisedDevice) -> None:
    grid = Launch(13, 17)
    reply = device.execute(request(Stage.FRAGMENT, grid, helpers=True))
    assert reply.buffers == expected(grid)


@pytest.mark.parametrize("stage", OTHERS, ids=lambda it: it.label)
def test_pipelines_are_kept_and_run_again(device: SupervisedDevice, stage: Stage) -> None:
    grid = Launch(2, 7)
    made = dataclasses.replace(request(stage, grid), repeat=2)
    assert device.execute(made).buffers == expected(grid) * 2
    reply = device.execute(made)
    assert reply.buffers == expected(grid) * 2
    assert not {"device", "module", "pipeline"} & set(reply.seconds)


def test_extents_share_a_pipeline(device: SupervisedDevice) -> None:
    made = request(Stage.FRAGMENT, Launch(4, 4))
    device.execute(made)
    assert made.staging is not None
    smaller = dataclasses.replace(made, staging=dataclasses.replace(made.staging, extent=(4, 2)))
    reply = device.execute(smaller)
    assert "pipeline" not in reply.seconds
    assert reply.buffers[1][: 4 * 8] == expected(Launch(4, 4))[1][: 4 * 8]
    assert set(reply.buffers[1][4 * 8 :]) == {0xA5}


@pytest.mark.parametrize(
    ("staging", "text"),
    [
        (Staging("blit", Stage.VERTEX.value), "no way to run"),
        (Staging("rays", Stage.VERTEX.value), "of no stage that rays have"),
        (Staging("rays", Stage.MISS.value, scene="spheres"), "no scene"),
    ],
)
def test_what_cannot_run_is_refused(device: SupervisedDevice, staging: Staging, text: str) -> None:
    made = dataclasses.replace(request(Stage.MISS, Launch(1, 1)), staging=staging)
    with pytest.raises(ServerFault, match=text):
        device.execute(made)


def test_rays_need_addresses(device: SupervisedDevice) -> None:
    made = request(Stage.RAY_GENERATION, Launch(1, 1))
    plain = tuple(name for name in made.features if "bufferDeviceAddress" not in name)
    with pytest.raises(ServerFault, match="bufferDeviceAddress"):
        device.execute(dataclasses.replace(made, features=plain))
