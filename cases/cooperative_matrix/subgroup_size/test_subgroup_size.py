"""Pipelines that require one of the subgroup sizes that the device has."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.bodies import Around
from cts.draw.combinations import Combination, combinations
from cts.draw.products import blocked
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.limits import required_size_refused
from cts.subject import Subject

SIZE = "VkSpec#VkPipelineShaderStageRequiredSubgroupSizeCreateInfo"
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


def _check(subject: Subject, axes: Axes, data: st.DataObject, *, integer: bool, tiles: int) -> None:
    size = int(axes.size)
    refused = required_size_refused(size, subject.info)
    subject.require(refused is None, refused or "")
    found: list[Combination] = [
        it
        for it in combinations(subject.info)
        if it.types.is_integer is integer and not it.saturating and it.types.c is it.types.result
    ]
    kind = "integers" if integer else "floats"
    subject.require(bool(found), f"no combination of {kind} is advertised")
    combination = data.draw(members(found), label="combination")
    around = Around(required=size, tiles=tiles)
    drawn = blocked(subject.info, combination, accumulators=((1, 1), (2, 2)), around=around)
    sample = data.draw(drawn, label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.subgroup_size.integer",
    rows=("M-15",),
    spec=SIZE,
    requirement="With each subgroup size that a pipeline can require, every subgroup multiplies "
    "its own matrices, however many subgroups there are.",
    level=Level.REQUIRED,
    axes={"size": SIZES},
)
def test_integer(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, axes, data, integer=True, tiles=64)


@case(
    id="cooperative_matrix.subgroup_size.float",
    rows=("M-07", "M-15"),
    spec=SIZE,
    requirement="With each subgroup size that a pipeline can require, every subgroup multiplies "
    "its own matrices, however many subgroups there are.",
    level=Level.POLICY,
    axes={"size": SIZES},
)
def test_float(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, axes, data, integer=False, tiles=64)
