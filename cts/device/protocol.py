"""Requests, replies and what a device says of itself: plain, serialisable data.

Everything that a driver is asked is one of these requests, so that it can be written to
disk before it is sent, replayed, and judged again. The module needs nothing but the
standard library, because the device server imports it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cts.program.model import Program
from cts.program.vector_program import VectorProgram


@dataclass(frozen=True)
class Matrix:
    """One side of a VkConvertCooperativeVectorMatrixInfoNV."""

    component: int
    layout: int
    stride: int
    size: int
    offset: int
    """Byte offset in the request's memory."""


@dataclass(frozen=True)
class Conversion:
    """One VkConvertCooperativeVectorMatrixInfoNV. ``null_destination`` asks for the size only."""

    rows: int
    columns: int
    source: Matrix
    destination: Matrix
    null_source: bool = False
    null_destination: bool = False


@dataclass(frozen=True)
class Preparation:
    """A conversion on the device from one buffer of a dispatch to another one, before the
    shader; ``source`` and ``destination`` are positions in ``Dispatch.buffers``, and the offsets
    of the matrices count from the starts of these buffers."""

    conversion: Conversion
    source: int
    destination: int


@dataclass(frozen=True)
class BufferData:
    """The bytes of one buffer. ``physical`` buffers are passed by device address, in a push
    constant block that is an array of uint64 in the order of the physical buffers; the others
    are storage buffers of descriptor set 0, with the position in ``Dispatch.buffers`` as
    binding (physical buffers use up their binding number).

    With a ``range`` the buffer is a VkBuffer of its own in memory of its own, and its descriptor
    covers so many bytes of it, so that what robust accesses out of bounds may change is exactly
    ``data``."""

    data: bytes
    physical: bool = False
    range: int | None = None


@dataclass(frozen=True)
class StageModule:
    """A fixed shader that the one under test needs beside it; the entry point is ``main``."""

    stage: int
    """VkShaderStageFlagBits."""
    words: bytes


@dataclass(frozen=True)
class Staging:
    """What runs ``Dispatch.words`` in another stage than compute."""

    kind: str
    """``draw``: vkCmdDraw, ``mesh``: vkCmdDrawMeshTasksEXT, ``rays``: vkCmdTraceRaysKHR."""
    stage: int
    """VkShaderStageFlagBits of ``Dispatch.words``."""
    companions: tuple[StageModule, ...] = ()
    topology: int = 0
    """VkPrimitiveTopology of a draw; a patch has one control point."""
    extent: tuple[int, int] = (0, 0)
    """Width and height of what is drawn to, which has no attachment; zeros: primitives are
    discarded before rasterization."""
    scene: str = ""
    """What rays meet at z = 1, all around x = y = 0: ``triangles``, ``boxes`` (of 1 to 2), or
    nothing. Its address is in the push constants after those of the buffers."""


@dataclass(frozen=True)
class Dispatch:
    """Run one shader, a compute shader unless ``staging`` says otherwise, once (``repeat``
    times, with the buffers reset in between, when asked), and bring back every buffer."""

    words: bytes
    """The SPIR-V module, little-endian words; the entry point is ``main``."""
    buffers: tuple[BufferData, ...]
    workgroups: tuple[int, int, int]
    """Workgroups of a compute, task or mesh shader; (vertices, instances, 1) of a draw; width,
    height and depth of a trace."""
    features: tuple[str, ...] = ()
    """``VkPhysicalDeviceXFeatures.member`` names to enable, sorted; nothing else is enabled."""
    extensions: tuple[str, ...] = ()
    """Device extensions to enable, sorted."""
    specialization: tuple[tuple[int, int, int], ...] = ()
    """(SpecId, size in bytes, unsigned value)."""
    required_subgroup_size: int | None = None
    repeat: int = 1
    staging: Staging | None = None
    preparations: tuple[Preparation, ...] = ()
    """Made by one vkCmdConvertCooperativeVectorMatrixNV in the same command buffer, with a barrier
    from the conversions' own stage to the shader. Needs bufferDeviceAddress and
    synchronization2."""
    program: Program | VectorProgram | None = None
    """Where the module came from. The reference device and mutants run this; a Vulkan device
    runs ``words``."""


@dataclass(frozen=True)
class Query:
    """Call an enumeration command on memory that the suite prepared.

    The server makes an array of ``allocated`` structures whose bytes after ``pNext`` are all
    ``poison``, with ``sType`` set and ``pNext`` null, followed by ``guard`` bytes of poison;
    sets the count to ``capacity``; and passes null instead of the array where ``null`` is
    true.
    """

    command: str
    """Full command name, ``vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR`` and so on."""
    capacity: int = 0
    null: bool = False
    allocated: int = 0
    poison: int = 0xA5
    guard: int = 256
    parameters: tuple[tuple[str, int], ...] = ()
    """Members of VkPhysicalDeviceCooperativeMatrixInfo2EXT: scope, flags, invocations,
    subgroupSize."""
    instance: int = 0
    """0: the server's instance; 1: a second one, made for this call."""
    threads: int = 1
    """Calls made at the same time, each on memory of its own; all come back."""


@dataclass(frozen=True)
class Convert:
    """Run conversions, on the host or in one command buffer, over one block of memory."""

    conversions: tuple[Conversion, ...]
    memory: bytes
    host: bool
    steps: tuple[int, ...] = ()
    """How many conversions each command has (device) before a barrier; empty: all in one."""


@dataclass(frozen=True)
class Describe:
    """Ask for the :class:`DeviceInfo`."""


Request = Dispatch | Query | Convert | Describe


@dataclass(frozen=True)
class Reply:
    """What came back. ``result`` is the VkResult of the call that ended the request and
    ``phase`` where that was; buffers are complete only where ``result`` is not negative."""

    result: int = 0
    phase: str = "done"
    buffers: tuple[bytes, ...] = ()
    """Dispatch: one per request buffer, times ``repeat``. Query: the array with its guard, one
    per thread. Convert: the memory."""
    counts: tuple[int, ...] = ()
    """Query: the count after the call, per thread. Convert: each *pDstSize after its call."""
    results: tuple[int, ...] = ()
    """Query and host Convert: the VkResult of each call."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time in each phase: module, pipeline, submit, fence, readback."""


@dataclass(frozen=True)
class DeviceInfo:
    """What a device says of itself. Unknown enum values stay numbers."""

    kind: str
    """``vulkan``, ``reference`` or ``mutant``."""
    name: str
    driver: str
    driver_version: str
    api_version: str
    uuid: str
    extensions: Mapping[str, int] = field(default_factory=dict)
    features: frozenset[str] = frozenset()
    """Supported features, ``VkPhysicalDeviceXFeatures.member``."""
    properties: Mapping[str, Any] = field(default_factory=dict)
    """``VkPhysicalDeviceXProperties.member`` and ``VkPhysicalDeviceLimits.member``."""
    records: Mapping[str, tuple[Mapping[str, int], ...]] = field(default_factory=dict)
    """The elements of each property array, by command name, members by their own names."""
    queues: tuple[int, ...] = ()
    """VkQueueFlags of each queue family."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Host facts: operating system, kernel, CPU, loader version, layers."""

    @property
    def subgroup_size(self) -> int:
        """VkPhysicalDeviceSubgroupProperties::subgroupSize."""
        return int(self.properties["VkPhysicalDeviceSubgroupProperties.subgroupSize"])


class Device(Protocol):
    """The implementation under test. ``execute`` raises the finding classes of
    :mod:`cts.findings` where the driver crashed, hung or lost its device."""

    @property
    def info(self) -> DeviceInfo:
        """What the device says of itself; asked once and kept."""

    def execute(self, request: Request) -> Reply:
        """Run one request to its end."""

    def close(self) -> None:
        """Give everything back; safe to call twice."""
