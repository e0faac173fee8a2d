"""Whether a shader stage runs every invocation of a launch even without cooperative vectors.

A stage can lose invocations, or the device with them, for reasons of its own. What a case of
cooperative vectors finds there says nothing of them, so the same launch runs a shader without any
before a finding is believed.
"""

from __future__ import annotations

from collections import Counter

from cts.findings import Finding
from cts.program.types import Buffer, Component, Pointee
from cts.program.vector import Index, Place, Spread, Stage, WriteNumber
from cts.program.vector_program import Launch, VectorProgram
from cts.subject import Inconclusive, Operands, Subject

REPETITIONS = 20
"""Runs of the control: what fails once in three times, as was seen, fails among them."""
_ROOM = 16
"""Elements after the last one, which nothing may write."""


def control(stage: Stage, grid: Launch) -> VectorProgram:
    """Every invocation writes its number to a place of its own."""
    buffer = Buffer("numbers", Pointee(Component.UINT32), grid.invocations + _ROOM)
    place = Place(buffer.name, Index(step=1, spread=Spread.INVOCATION))
    return VectorProgram(grid, (buffer,), (WriteNumber(place),), stage=stage)


def check_in_stage(subject: Subject, program: VectorProgram, operands: Operands) -> list[bytes]:
    """:meth:`Subject.check`; a finding counts only if the control runs well in the same launch,
    else Inconclusive is raised in its place."""
    try:
        return subject.check(program, operands)
    except Finding as finding:
        lost = failures(subject, program.stage, program.grid)
        if lost:
            most, _ = lost.most_common(1)[0]
            raise Inconclusive(
                f"the {program.stage.label} stage fails without cooperative vectors too, in "
                f"{lost.total()} of {REPETITIONS} runs of a shader that writes the number of each "
                f"invocation ({most}); so this says nothing of them: {finding.message}"
            ) from finding
        raise


def failures(subject: Subject, stage: Stage, grid: Launch) -> Counter[str]:
    """What the control ended with where it didn't run well, and how often, in
    :data:`REPETITIONS` runs."""
    probe = Subject(subject.device)
    found: Counter[str] = Counter()
    for _ in range(REPETITIONS):
        try:
            probe.check(control(stage, grid), {})
        except Finding as finding:
            found[finding.message] += 1
    return found
