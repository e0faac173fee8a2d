"""Strategies for the shape of a dispatch."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.variety import Shape
from cts.program.model import Grid

MAX_SUBGROUPS = 8


_GROUPS = (1, 2, 3, 7, 8, 16, 32, 64)


@st.composite
def grids(
    draw: st.DrawFn,
    info: DeviceInfo,
    shape: Shape,
    *,
    tiles: int = 64,
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
    # The first alternative is what shrinking prefers; the other makes large dispatches usual.
    large = [n for n in groups if 2 * n * count >= tiles] or groups
    usual = st.sampled_from(large)
    return Grid(draw(st.one_of(st.sampled_from(groups), usual, usual)), count, size)
