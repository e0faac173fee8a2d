"""What cases about shader stages draw: launches that each stage can hold, programs in a stage."""

from __future__ import annotations

import dataclasses

from cts.conversion import available
from cts.program.requires import missing, requirements
from cts.program.stages import ONCE, RAYS, WITH_WORKGROUPS
from cts.program.vector import Stage
from cts.program.vector_program import Launch, VectorProgram
from cts.program.vector_records import unsupported_vectors
from cts.spirv.vector import lower_vector
from cts.subject import Subject

STAGES = tuple(Stage)
"""Every stage, as the values of an axis."""
ONCE_STAGES = tuple(stage for stage in Stage if stage in ONCE)
"""Stages that run once for each invocation, and so can accumulate."""
GROUP_STAGES = tuple(
    stage for stage in Stage if stage in WITH_WORKGROUPS and stage is not Stage.COMPUTE
)
"""Stages beside compute that have workgroup memory."""

_COMMON = (
    Launch(1, 1),
    Launch(1, 3),
    Launch(2, 5),
    Launch(1, 32),
    Launch(5, 8),
    Launch(3, 17),
    Launch(7, 31),
)
_LONG = (Launch(1, 33), Launch(1, 64), Launch(2, 65))
_WIDE = (Launch(16, 16), Launch(1, 150), Launch(150, 1))


def launches_of(stage: Stage) -> tuple[Launch, ...]:
    """Launches that ``stage`` holds on every device that has it: rows of up to 32 invocations
    (geometry instances, vertices of a patch), 65 (vertices that tessellation generates), 128 (the
    least workgroups of meshes), or more."""
    if stage in (Stage.GEOMETRY, Stage.TESSELLATION_CONTROL):
        return _COMMON
    if stage in (Stage.VERTEX, Stage.FRAGMENT) or stage in RAYS:
        return _COMMON + _LONG + _WIDE
    return _COMMON + _LONG


def require_stage(subject: Subject, stage: Stage) -> None:
    """Not supported unless the device has cooperative vectors in ``stage``, and the stage."""
    available(subject)
    empty = VectorProgram(Launch(1, 1), (), (), stage=stage)
    reason = unsupported_vectors(empty, subject.info)
    subject.require(reason is None, reason or "")
    lacking = missing(requirements(lower_vector(empty)), subject.info)
    subject.require(not lacking, "; ".join(lacking))


def in_stage(program: VectorProgram, stage: Stage) -> VectorProgram:
    """The same program in another stage."""
    return dataclasses.replace(program, stage=stage)
