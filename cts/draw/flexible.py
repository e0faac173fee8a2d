"""Sizes of flexible dimensions: multiples of a granularity, up to the largest dimension.

A record of VkCooperativeMatrixFlexibleDimensionsPropertiesNV stands for very many combinations.
They are drawn by size class, so that every class is met however many there are. What a program
costs a compiler grows with the blocks of the granularity that it multiplies, so the classes keep
these few; only MAXIMUM goes to the end, in one dimension.
"""

from __future__ import annotations

import enum
import itertools
import zlib
from dataclasses import dataclass

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.combinations import Combination, Types
from cts.draw.variety import Shape, members, shape_of
from cts.program.model import Component, Grid, Scope
from cts.program.records import FLEXIBLE
from cts.program.records import combinations as advertised

FACTORS = {
    "one": (1,),
    "few": (1, 2, 3, 4),
    "odd": (1, 3, 5, 6, 7),
}
MOST_BLOCKS = {"few": 4, "odd": 7}
"""Blocks that one multiplication may have: M x N x K in granularities."""


class SizeClass(enum.Enum):
    """Which multiples of the granularities."""

    ONE = "one"
    """The granularities themselves."""
    FEW = "few"
    """Two to four times, each dimension by itself."""
    ODD = "odd"
    """Multiples by 3, 5, 6 or 7 in at least one dimension: no powers of two."""
    MAXIMUM = "maximum"
    """One dimension as large as can be."""

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.value


@dataclass(frozen=True)
class Flexible:
    """One advertised record of flexible dimensions."""

    types: Types
    granularity: tuple[int, int, int]
    """Of M, N and K."""
    limit: int
    scope: Scope
    invocations: int
    """The workgroup size it is for, at workgroup scope; else 0."""
    saturating: bool
    record: str
    """``command#index``."""

    def sized(self, m: int, n: int, k: int) -> Combination:
        """The combination of these sizes."""
        return Combination(self.types, m, n, k, self.scope, self.saturating, self.record)


MOST_LARGE = 4096
"""No dimension is larger than this, whatever the limit: it is far beyond those of devices."""


def flexible(info: DeviceInfo, scope: Scope = Scope.SUBGROUP) -> tuple[Flexible, ...]:
    """The device's records of flexible dimensions of ``scope`` that programs of the suite can use,
    in the device's order; none where the feature isn't supported. The others are left to the
    property cases."""
    return tuple(
        Flexible(
            Types(*(Component(part) for part in it.types)),
            it.sizes,
            min(it.limit, MOST_LARGE),
            scope,
            it.invocations,
            it.saturating,
            it.key,
        )
        for it in advertised(info)
        if it.key.startswith(FLEXIBLE)
        and it.scope == scope
        and it.sensible
        and max(it.sizes) <= min(it.limit, MOST_LARGE)
        and (scope is not Scope.WORKGROUP or _whole(it.invocations, info.subgroup_size))
    )


def _whole(invocations: int, subgroup_size: int) -> bool:
    """Whether a workgroup is made of whole subgroups."""
    return invocations > 0 and invocations % subgroup_size == 0


@st.composite
def sizes(draw: st.DrawFn, record: Flexible, size_class: SizeClass) -> tuple[int, int, int]:
    """(M, N, K) of a class; smaller ones where the limit leaves nothing of the class."""
    units, limit = record.granularity, record.limit
    if size_class is SizeClass.ONE:
        return units
    shape = shape_of(draw)
    # Every dimension has its turn, among the modules of a case and, where there is only one,
    # among the cases.
    name = f"{record.types.label} {size_class.value}"
    which = (shape.index + zlib.crc32(name.encode())) % 3
    if size_class is SizeClass.MAXIMUM:
        largest = limit // units[which] * units[which]
        found = tuple(largest if axis == which else unit for axis, unit in enumerate(units))
        return found[0], found[1], found[2]
    factors, most = FACTORS[size_class.value], MOST_BLOCKS[size_class.value]
    m, n, k = units
    options = [
        (m * i, n * j, k * h)
        for i, j, h in itertools.product(factors, repeat=3)
        if 1 < i * j * h <= most
        and max(m * i, n * j, k * h) <= limit
        and (i, j, h)[which] == max(i, j, h)
    ]
    return shape.pick(draw, f"sizes of {name}", options or [units])


@st.composite
def combinations(
    draw: st.DrawFn, records: tuple[Flexible, ...], size_class: SizeClass
) -> Combination:
    """A combination of a class, of one of ``records``."""
    record = draw(members(records))
    return record.sized(*draw(sizes(record, size_class)))


@st.composite
def workgroups(
    draw: st.DrawFn,
    info: DeviceInfo,
    shape: Shape,
    scope: Scope,
    invocations: int,
    elements: int,
) -> Grid:
    """A dispatch for matrices of ``elements`` elements: at workgroup scope of workgroups of
    exactly ``invocations``; the more elements, the fewer tiles."""
    most = max(1, min(16, 32768 // elements))
    size = info.subgroup_size
    if scope is Scope.WORKGROUP:
        subgroups = invocations // size
    else:
        room = min(
            int(info.properties["VkPhysicalDeviceLimits.maxComputeWorkGroupInvocations"]),
            int(info.properties["VkPhysicalDeviceLimits.maxComputeWorkGroupSize"][0]),
        )
        counts = [n for n in (1, 2, 3, 4) if n * size <= room and n <= most]
        subgroups = shape.pick(draw, "subgroups", counts)
        most //= subgroups
    groups = draw(st.sampled_from([n for n in (1, 2, 3, 5, 8) if n <= most]))
    return Grid(groups, subgroups, size)
