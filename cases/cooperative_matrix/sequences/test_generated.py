"""Generated programs of many statements."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import case
from cts.draw.sequences import sequences
from cts.outcome import Level
from cts.subject import Subject


@case(
    id="cooperative_matrix.sequences.generated",
    rows=("M-05", "M-11", "M-12", "M-14"),
    spec="SPV_KHR_cooperative_matrix#OpTypeCooperativeMatrixKHR",
    requirement="Loads, constructions, arithmetic, conversions, multiply-adds, aggregates, "
    "functions, branches and loops give the same in one program as each by itself.",
    level=Level.REQUIRED,
    examples=4.0,
)
def test_generated(subject: Subject, data: st.DataObject) -> None:
    sample = data.draw(sequences(subject.info), label="program")
    subject.require(sample is not None, "no subgroup combination is advertised")
    assert sample is not None
    subject.check(sample.program, sample.operands)
