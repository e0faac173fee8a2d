"""Running one compute shader, and the logical devices that are kept for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from cts.device.errors import Refused
from cts.device.protocol import Dispatch, Reply
from cts.device.vulkan.api import Api
from cts.device.vulkan.instance import PhysicalDevice
from cts.device.vulkan.logical import (
    FULL_SUBGROUPS,
    SUBGROUP_SIZE_CONTROL,
    Features,
    Logical,
)
from cts.device.vulkan.memory import Arena
from cts.device.vulkan.pipelines import Layout, Pipelines
from cts.device.vulkan.recorder import Recorder

_COMPUTE_STAGE = 0x20
_BIND_COMPUTE = 1
KEPT_DEVICES = 12


class Worker:
    """A logical device with its memory, pipelines and command buffer."""

    def __init__(
        self,
        api: Api,
        physical: PhysicalDevice,
        features: frozenset[str],
        extensions: tuple[str, ...],
    ) -> None:
        self.logical = Logical(api, physical, features, extensions)
        self.arena = Arena(self.logical)
        self.pipelines = Pipelines(self.logical)
        self.recorder = Recorder(self.logical)

    def destroy(self) -> None:
        """Give everything back."""
        self.recorder.destroy()
        self.pipelines.destroy()
        self.arena.destroy()
        self.logical.destroy()


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
    ) -> Worker:
        """A worker with these features and extensions; ``wanted`` members where supported.

        It is made in the phase ``device`` if it isn't kept.
        """
        key = (features, extensions, wanted)
        if key not in self._kept:
            self._features.check_extensions(extensions)
            normal = self._features.normal(features, wanted)
            phase("device")
            if len(self._kept) >= KEPT_DEVICES:
                self._kept.popitem(last=False)[1].destroy()
            self._kept[key] = Worker(self._api, self._physical, normal, extensions)
        self._kept.move_to_end(key)
        return self._kept[key]


def dispatch(
    workers: Workers, request: Dispatch, phase: Callable[[str], None], patience: float
) -> Reply:
    """Run ``request``; waits at most ``patience`` seconds for each fence."""
    worker = workers.get(
        request.features, request.extensions, (FULL_SUBGROUPS, SUBGROUP_SIZE_CONTROL), phase
    )
    addressed = [index for index, one in enumerate(request.buffers) if one.physical]
    bound = tuple(index for index, one in enumerate(request.buffers) if not one.physical)
    if addressed and not worker.logical.buffer_addresses:
        raise Refused("a buffer is passed by address but bufferDeviceAddress is not enabled.")
    pipelines, arena = worker.pipelines, worker.arena
    layout = pipelines.layout(bound, len(addressed))
    pipeline = pipelines.pipeline(
        request.words, request.specialization, request.required_subgroup_size, layout, phase
    )
    phase("submit")
    offsets = arena.place([len(one.data) for one in request.buffers])
    pipelines.point(
        layout,
        arena.buffer,
        [(offsets[index], max(4, len(request.buffers[index].data))) for index in bound],
    )
    addresses = [arena.address + offsets[index] for index in addressed]
    commands = worker.recorder.begin()
    _record(worker, commands, pipeline, layout, addresses, request.workgroups)
    worker.recorder.end()
    found: list[bytes] = []
    for number in range(request.repeat):
        if number:
            phase("submit")
        for offset, one in zip(offsets, request.buffers, strict=True):
            arena.write(offset, one.data)
        worker.recorder.submit()
        phase("fence")
        result = worker.recorder.wait(patience)
        if result:
            return Reply(result=result, phase="fence")
        phase("readback")
        found += [
            arena.read(offset, len(one.data))
            for offset, one in zip(offsets, request.buffers, strict=True)
        ]
    return Reply(buffers=tuple(found))


def _record(
    worker: Worker,
    commands: Any,
    pipeline: Any,
    layout: Layout,
    addresses: list[int],
    workgroups: tuple[int, int, int],
) -> None:
    api = worker.logical.api
    lib = api.lib
    lib.vkCmdBindPipeline(commands, _BIND_COMPUTE, pipeline)
    if layout.bindings:
        sets = api.ffi.new("VkDescriptorSet[]", [layout.descriptor_set])
        lib.vkCmdBindDescriptorSets(
            commands, _BIND_COMPUTE, layout.pipeline_layout, 0, 1, sets, 0, api.null
        )
    if addresses:
        pushed = api.ffi.new("uint64_t[]", addresses)
        lib.vkCmdPushConstants(
            commands, layout.pipeline_layout, _COMPUTE_STAGE, 0, 8 * len(addresses), pushed
        )
    lib.vkCmdDispatch(commands, *workgroups)
    worker.recorder.make_visible_to_host()
