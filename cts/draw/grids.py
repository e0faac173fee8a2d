"""Drawing the shape of a dispatch."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.variety import Shape
from cts.program.model import Grid

MAX_SUBGROUPS = 8
MAX_TILES = 128
"""Matrices of one slot in an ordinary dispatch: enough to make its fixed costs small."""


_GROUPS = (1, 2, 3, 7, 8, 16, 32, 64, 128)


def grid_of(
    draw: st.DrawFn,
    info: DeviceInfo,
    shape: Shape,
    *,
    tiles: int = MAX_TILES,
    subgroups: int = MAX_SUBGROUPS,
    baked: bool = False,
    size: int | None = None,
    least: int = 1,
) -> Grid:
    """``least`` to ``subgroups`` full subgroups of ``size`` invocations (the device's default if
    None) in each of a few workgroups, at most ``tiles`` in all.

    The number of subgroups is part of the module; that of workgroups is too where it is
    ``baked`` into literal pitches. Most examples are large, since a dispatch costs the same for
    one tile as for many; shrinking ends at a single one.
    """
    size = info.subgroup_size if size is None else size
    limits = info.properties
    most = min(
        subgroups,
        int(limits["VkPhysicalDeviceLimits.maxComputeWorkGroupInvocations"]) // size,
        int(limits["VkPhysicalDeviceLimits.maxComputeWorkGroupSize"][0]) // size,
        tiles,
    )
    counts = [n for n in (1, 2, 3, 4, 5, 8) if least <= n <= most]
    count = shape.pick(draw, "subgroups", counts or [most])
    groups = [n for n in _GROUPS if n * count <= tiles]
    if baked:
        return Grid(shape.pick(draw, "workgroups", groups), count, size)
    # The first ones are what shrinking prefers; the others make large dispatches usual.
    large = [n for n in groups if 2 * n * count >= tiles] or groups
    usual = large * (2 * len(groups) // len(large))
    return Grid(draw(st.sampled_from((*groups, *usual))), count, size)
