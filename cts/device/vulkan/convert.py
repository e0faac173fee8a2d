"""Layout conversions of VK_NV_cooperative_vector, on the host and on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cts.device.errors import Refused
from cts.device.protocol import Convert, Reply
from cts.device.vulkan.api import Api
from cts.device.vulkan.dispatch import Worker, Workers
from cts.device.vulkan.infos import DEVICE_COMMAND, infos_of

_HOST_COMMAND = "vkConvertCooperativeVectorMatrixNV"
_FEATURE = "VkPhysicalDeviceCooperativeVectorFeaturesNV.cooperativeVector"
_EXTENSION = "VK_NV_cooperative_vector"
_ALIGNMENT = 64


def convert(
    workers: Workers, request: Convert, phase: Callable[[str], None], patience: float
) -> Reply:
    """Run the conversions of ``request`` over a copy of its memory, which comes back."""
    _check(request)
    worker = workers.get((_FEATURE,), (_EXTENSION,), ("bufferDeviceAddress",), phase)
    api = worker.logical.api
    name = _HOST_COMMAND if request.host else DEVICE_COMMAND
    command = api.device_function(worker.logical.handle, name)
    if command is None:
        raise Refused(f"the driver has no {name}.")
    if request.host:
        phase("convert")
        return on_host(api, command, api.foreign(worker.logical.handle), request)
    return _on_device(worker, command, request, phase, patience)


def on_host(api: Api, command: Any, device: Any, request: Convert) -> Reply:
    """One call of ``command`` for each conversion, over memory that is aligned to 64 bytes."""
    size = len(request.memory)
    memory = api.newer.new("char[]", size + _ALIGNMENT)
    address = int(api.newer.cast("uintptr_t", memory))
    shift = -address % _ALIGNMENT
    view = api.newer.buffer(memory)
    view[shift : shift + size] = request.memory
    base = address + shift
    infos, sizes = infos_of(api, [(one, base, base) for one in request.conversions])
    results = tuple(
        int(command(device, infos + index)) for index in range(len(request.conversions))
    )
    return Reply(
        buffers=(bytes(view[shift : shift + size]),),
        counts=tuple(int(one) for one in sizes),
        results=results,
    )


def _on_device(
    worker: Worker,
    command: Any,
    request: Convert,
    phase: Callable[[str], None],
    patience: float,
) -> Reply:
    api = worker.logical.api
    phase("submit")
    (offset,) = worker.arena.place([len(request.memory)])
    worker.arena.write(offset, request.memory)
    base = worker.arena.address + offset
    infos, sizes = infos_of(api, [(one, base, base) for one in request.conversions])
    commands = worker.recorder.begin()
    first = 0
    for count in request.steps or (len(request.conversions),):
        if first:
            worker.recorder.order()
        command(api.foreign(commands), count, infos + first)
        first += count
    worker.recorder.make_visible_to_host()
    worker.recorder.end()
    worker.recorder.submit()
    phase("fence")
    result = worker.recorder.wait(patience)
    if result:
        return Reply(result=result)
    phase("readback")
    return Reply(
        buffers=(worker.arena.read(offset, len(request.memory)),),
        counts=tuple(int(one) for one in sizes),
    )


def _check(request: Convert) -> None:
    if not request.conversions:
        raise Refused("there is nothing to convert.")
    if request.steps and (sum(request.steps) != len(request.conversions) or min(request.steps) < 1):
        raise Refused("the steps don't add up to the conversions.")
    for one in request.conversions:
        if not request.host and (one.null_source or one.null_destination):
            raise Refused("the device command takes no null address.")
        for side, null in (
            (one.source, one.null_source),
            (one.destination, one.null_destination),
        ):
            inside = side.offset >= 0 and side.offset + side.size <= len(request.memory)
            if not null and not (inside and side.size >= 0):
                raise Refused("a matrix lies outside the memory of its request.")
