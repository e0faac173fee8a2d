"""Strategies for the shape of a dispatch."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.program.model import Grid

MAX_SUBGROUPS = 8


def grids(
    info: DeviceInfo, *, tiles: int = 64, subgroups: int = MAX_SUBGROUPS
) -> st.SearchStrategy[Grid]:
    """One to ``subgroups`` full subgroups of the device's default size in each of a few
    workgroups, at most ``tiles`` in all. Most examples are large, since a dispatch costs the
    same for one tile as for many; shrinking ends at a single one."""
    size = info.subgroup_size
    limits = info.properties
    most = min(
        subgroups,
        int(limits["VkPhysicalDeviceLimits.maxComputeWorkGroupInvocations"]) // size,
        int(limits["VkPhysicalDeviceLimits.maxComputeWorkGroupSize"][0]) // size,
    )
    shapes = [
        (groups, count)
        for groups in (1, 2, 3, 7, 8, 16, 32, 64)
        for count in (1, 2, 3, 4, 5, 8)
        if count <= most and groups * count <= tiles
    ]
    shapes.sort(key=lambda shape: (shape[0] * shape[1], shape))
    large = [shape for shape in shapes if 2 * shape[0] * shape[1] >= tiles]
    # The first alternative is what shrinking prefers; the repeated one makes large usual.
    return st.one_of(
        st.sampled_from(shapes), st.sampled_from(large or shapes), st.sampled_from(large or shapes)
    ).map(lambda shape: Grid(shape[0], shape[1], size))
