"""VK_QCOM_cooperative_matrix_conversion: matrices made of the invocations' arrays, and taken apart
into them."""

from __future__ import annotations

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.arrays import Way, candidates, conversions
from cts.outcome import Level
from cts.program.model import Component, Use
from cts.subject import Subject

CONSTRUCT = "SPV_QCOM_cooperative_matrix_conversion#OpCompositeConstructCoopMatQCOM"
EXTRACT = "SPV_QCOM_cooperative_matrix_conversion#OpCompositeExtractCoopMatQCOM"
COMPONENTS = (
    Component.FLOAT16,
    Component.FLOAT32,
    Component.SINT8,
    Component.UINT8,
    Component.SINT32,
    Component.UINT32,
)
OPERANDS = COMPONENTS[:4]
ACCUMULATORS = (*COMPONENTS[:2], *COMPONENTS[4:])


def _exists(axes: Axes) -> bool:
    accumulator = axes.use is Use.ACCUMULATOR
    if axes.component not in (ACCUMULATORS if accumulator else OPERANDS):
        return False
    if axes.way is Way.CAST:
        return axes.component not in (Component.SINT8, Component.UINT8)
    if axes.way is Way.PART:
        return not accumulator and axes.component.is_float
    if axes.way is Way.PACKED and accumulator:
        return bool(axes.component.is_float)
    return True


def _check(subject: Subject, axes: Axes, data: st.DataObject, *, back: bool) -> None:
    subject.require_needs("ConversionQCOM")
    found = candidates(subject.info, axes.use, axes.component, axes.way)
    subject.require(
        bool(found), f"no advertised {axes.component.label} matrix is made of arrays this way"
    )
    sample = data.draw(
        conversions(subject.info, axes.use, axes.component, axes.way, back=back), label="program"
    )
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.qcom.construct",
    rows=("M-29",),
    spec=CONSTRUCT,
    requirement="The array of invocation i becomes row i of an A matrix or accumulator, or column "
    "i of a B matrix.",
    level=Level.REQUIRED,
    axes={"use": tuple(Use), "component": COMPONENTS, "way": tuple(Way)},
    where=_exists,
)
def test_construct(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, axes, data, back=False)


@case(
    id="cooperative_matrix.qcom.extract",
    rows=("M-29",),
    spec=EXTRACT,
    requirement="Invocation i gets row i of an A matrix or accumulator, column i of a B matrix.",
    level=Level.REQUIRED,
    axes={"use": tuple(Use), "component": COMPONENTS, "way": tuple(Way)[:3]},
    where=_exists,
)
def test_extract(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, axes, data, back=True)
