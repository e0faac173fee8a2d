"""Running one shader, and the logical devices that are kept for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cts.device.errors import Refused
from cts.device.protocol import BufferData, Dispatch, Reply
from cts.device.vulkan import graphics, preparation
from cts.device.vulkan.api import Api
from cts.device.vulkan.instance import PhysicalDevice
from cts.device.vulkan.logical import (
    COMPUTE_QUEUE,
    FULL_SUBGROUPS,
    GRAPHICS_QUEUE,
    SUBGROUP_SIZE_CONTROL,
    Features,
    Logical,
)
from cts.device.vulkan.memory import Arena
from cts.device.vulkan.pipelines import COMPUTE_STAGE, Layout, Pipelines
from cts.device.vulkan.rays import Tracers
from cts.device.vulkan.recorder import Recorder
from cts.device.vulkan.shaders import Shader

_BIND_GRAPHICS, _BIND_COMPUTE, _BIND_RAYS = 0, 1, 1000165000
_QUEUES = {"draw": GRAPHICS_QUEUE, "mesh": GRAPHICS_QUEUE, "rays": COMPUTE_QUEUE}
KEPT_DEVICES = 12


class Worker:
    """A logical device with its memory, pipelines and command buffer."""

    def __init__(
        self,
        api: Api,
        physical: PhysicalDevice,
        features: frozenset[str],
        extensions: tuple[str, ...],
        queue: int,
    ) -> None:
        self.logical = Logical(api, physical, features, extensions, queue)
        self.arena = Arena(self.logical)
        self._islands: list[Arena] = []
        self.pipelines = Pipelines(self.logical)
        self.recorder = Recorder(self.logical)
        self.tracers = Tracers(self.logical, self.recorder)

    def place(self, buffers: Sequence[BufferData]) -> list[Place]:
        """Where the buffers of a request lie: together, but for those with a range, each of which
        has an arena of its own."""
        offsets = self.arena.place([len(it.data) if it.range is None else 0 for it in buffers])
        islands = iter(self._islands)
        found = []
        for offset, one in zip(offsets, buffers, strict=True):
            if one.range is None:
                found.append(Place(self.arena, offset, max(4, len(one.data))))
                continue
            island = next(islands, None)
            if island is None:
                island = Arena(self.logical)
                self._islands.append(island)
            island.place([len(one.data)])
            found.append(Place(island, 0, one.range))
        return found

    def destroy(self) -> None:
        """Give everything back."""
        self.recorder.destroy()
        self.tracers.destroy()
        self.pipelines.destroy()
        for arena in (self.arena, *self._islands):
            arena.destroy()
        self.logical.destroy()


@dataclass(frozen=True)
class Place:
    """Where one buffer lies, and how many bytes of it its descriptor covers."""

    arena: Arena
    offset: int
    range: int


class Workers:
    """The few workers that were used last, by features and extensions."""

    def __init__(self, api: Api, physical: PhysicalDevice) -> None:
        self._api = api
        self._physical = physical
        self._features = Features(api, physical)
        self._kept: OrderedDict[tuple[Any, ...], Worker] = OrderedDict()

    def get(
        self,
        features: tuple[str, ...],
        extensions: tuple[str, ...],
        wanted: tuple[str, ...],
        phase: Callable[[str], None],
        queue: int = COMPUTE_QUEUE,
    ) -> Worker:
        """A worker with these features and extensions, and a queue that is able to ``queue``;
        ``wanted`` members where supported.

        It is made in the phase ``device`` if it isn't kept.
        """
        key = (features, extensions, wanted, queue)
        if key not in self._kept:
            self._features.check_extensions(extensions)
            normal = self._features.normal(features, wanted)
            phase("device")
            if len(self._kept) >= KEPT_DEVICES:
                self._kept.popitem(last=False)[1].destroy()
            self._kept[key] = Worker(self._api, self._physical, normal, extensions, queue)
        self._kept.move_to_end(key)
        return self._kept[key]


@dataclass(frozen=True)
class Work:
    """A pipeline and the command that runs it, for one request."""

    bind_point: int
    pipeline: Any
    command: Callable[[Any], None]
    """Records the command to a VkCommandBuffer."""
    addresses: tuple[int, ...] = ()
    """What comes in the push constants after the addresses of buffers."""


def dispatch(
    workers: Workers, request: Dispatch, phase: Callable[[str], None], patience: float
) -> Reply:
    """Run ``request``; waits at most ``patience`` seconds for each fence."""
    worker, shaders = _worker(workers, request, phase)
    addressed = [index for index, one in enumerate(request.buffers) if one.physical]
    bound = tuple(index for index, one in enumerate(request.buffers) if not one.physical)
    if addressed and not worker.logical.buffer_addresses:
        raise Refused("a buffer is passed by address but bufferDeviceAddress is not enabled.")
    pipelines, arena = worker.pipelines, worker.arena
    scene = request.staging is not None and bool(request.staging.scene)
    stages = 0
    for shader in shaders:
        stages |= shader.stage
    layout = pipelines.layout(bound, len(addressed) + scene, stages)
    work = _work(worker, request, shaders, layout, phase, patience)
    phase("submit")
    places = worker.place(request.buffers)
    offsets = [place.offset for place in places]
    pipelines.point(
        layout,
        [(places[index].arena.buffer, offsets[index], places[index].range) for index in bound],
    )
    addresses = [*(arena.address + offsets[index] for index in addressed), *work.addresses]
    commands = worker.recorder.begin()
    starts = [arena.address + offset for offset in offsets]
    held = preparation.record(worker.logical, commands, request, starts)
    _record(worker, commands, work, layout, addresses)
    worker.recorder.end()
    del held
    found: list[bytes] = []
    for number in range(request.repeat):
        if number:
            phase("submit")
        for place, one in zip(places, request.buffers, strict=True):
            place.arena.write(place.offset, one.data)
        worker.recorder.submit()
        phase("fence")
        result = worker.recorder.wait(patience)
        if result:
            return Reply(result=result, phase="fence")
        phase("readback")
        found += [
            place.arena.read(place.offset, len(one.data))
            for place, one in zip(places, request.buffers, strict=True)
        ]
    return Reply(buffers=tuple(found))


def _worker(
    workers: Workers, request: Dispatch, phase: Callable[[str], None]
) -> tuple[Worker, list[Shader]]:
    """What runs ``request``, and the shaders of its pipeline, the one under test first."""
    staging = request.staging
    if staging is None:
        wanted = (FULL_SUBGROUPS, SUBGROUP_SIZE_CONTROL)
        worker = workers.get(request.features, request.extensions, wanted, phase)
        return worker, [Shader(COMPUTE_STAGE, request.words, request.specialization)]
    if staging.kind not in _QUEUES:
        raise Refused(f"{staging.kind} is no way to run a shader.")
    queue = _QUEUES[staging.kind]
    worker = workers.get(request.features, request.extensions, (), phase, queue)
    shaders = [Shader(staging.stage, request.words, request.specialization)]
    shaders += [Shader(one.stage, one.words) for one in staging.companions]
    return worker, shaders


def _work(
    worker: Worker,
    request: Dispatch,
    shaders: list[Shader],
    layout: Layout,
    phase: Callable[[str], None],
    patience: float,
) -> Work:
    logical, pipelines = worker.logical, worker.pipelines
    staging, size = request.staging, request.workgroups
    if staging is None:
        compute = pipelines.pipeline(
            request.words, request.specialization, request.required_subgroup_size, layout, phase
        )
        return Work(
            _BIND_COMPUTE,
            compute,
            lambda commands: logical.api.lib.vkCmdDispatch(commands, *size),
        )
    if staging.kind == "rays":
        address = worker.tracers.scene(staging.scene, phase, patience) if staging.scene else None
        tracer = worker.tracers.tracer(shaders, layout, phase)
        return Work(
            _BIND_RAYS,
            tracer.pipeline,
            lambda commands: tracer.record(commands, size),
            () if address is None else (address,),
        )
    drawn = graphics.pipeline(logical, pipelines, staging, shaders, layout, phase)
    return Work(
        _BIND_GRAPHICS,
        drawn,
        lambda commands: graphics.record(logical, staging, size, commands),
    )


def _record(
    worker: Worker, commands: Any, work: Work, layout: Layout, addresses: list[int]
) -> None:
    api = worker.logical.api
    lib = api.lib
    lib.vkCmdBindPipeline(commands, work.bind_point, work.pipeline)
    if layout.bindings:
        sets = api.ffi.new("VkDescriptorSet[]", [layout.descriptor_set])
        lib.vkCmdBindDescriptorSets(
            commands, work.bind_point, layout.pipeline_layout, 0, 1, sets, 0, api.null
        )
    if addresses:
        pushed = api.ffi.new("uint64_t[]", addresses)
        lib.vkCmdPushConstants(
            commands, layout.pipeline_layout, layout.stages, 0, 8 * len(addresses), pushed
        )
    work.command(commands)
    worker.recorder.make_visible_to_host()
