"""Conversions between matrices that differ in their component type."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.elements import CONVERSIONS, conversions, convertible, modes_for
from cts.draw.variety import members
from cts.outcome import Level
from cts.program.arithmetic import Conversion
from cts.program.controls import Mode
from cts.program.element_rules import FLOAT8
from cts.program.model import Component, MatrixType
from cts.subject import Subject

CONVERT = "SPV_KHR_cooperative_matrix#OpTypeCooperativeMatrixKHR"
PRECISION = "VkSpec#spirvenv-op-prec"
SATURATED = "SPV_EXT_float8#SaturatedToLargestFloat8NormalConversionEXT"
IEEE = (Component.FLOAT16, Component.FLOAT32, Component.FLOAT64)
NARROW = FLOAT8 | {Component.BFLOAT16}


@dataclass(frozen=True)
class Way:
    """One value of the axes here: an instruction, and the components it converts between."""

    by: Conversion
    source: Component
    target: Component

    @property
    def label(self) -> str:
        """``f.float32_to_float16``: two parts of a case id."""
        return f"{self.by.label}.{self.source.label}_to_{self.target.label}"

    @property
    def agrees(self) -> bool:
        """Whether the instruction takes integers for as signed as their types are."""
        signed = {Conversion.S_TO_F: True, Conversion.U_TO_F: False}.get(self.by)
        if self.by in (Conversion.S, Conversion.U):
            signed = self.by is Conversion.S
            return self.source.is_signed is signed and self.target.is_signed is signed
        return signed is None or self.source.is_signed is signed


WAYS = tuple(Way(*way) for way in CONVERSIONS)
AGREEING = tuple(way for way in WAYS if way.agrees)
OTHER_SIGN = tuple(way for way in WAYS if not way.agrees and not {way.source, way.target} & NARROW)
PLAIN = tuple(way for way in AGREEING if not {way.source, way.target} & NARROW)
NEWER = tuple(way for way in AGREEING if {way.source, way.target} & NARROW)
TO_FLOAT8 = tuple(
    way
    for way in AGREEING
    if way.target in FLOAT8 and way.by in (Conversion.F, Conversion.S_TO_F, Conversion.U_TO_F)
)
CONTROLLED = tuple(
    way
    for way in WAYS
    if way.by is Conversion.F and way.target in IEEE and way.source not in FLOAT8
)


def _pair(subject: Subject, data: st.DataObject, way: Way) -> tuple[MatrixType, MatrixType]:
    found = convertible(subject.info, way.source, way.target)
    subject.require(
        bool(found),
        f"no advertised matrix type has both {way.source.label} and {way.target.label} components",
    )
    return data.draw(members(found), label="matrix types")


def _check(subject: Subject, data: st.DataObject, way: Way, *saturating: tuple[bool, ...]) -> None:
    """Judge a conversion, or several that saturate as one of ``saturating`` says."""
    pair = _pair(subject, data, way)
    order = data.draw(members(saturating), label="saturating") if saturating else (False,)
    drawn = conversions(subject.info, pair, way.by, saturating=order)
    sample = data.draw(drawn, label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.convert.elements",
    rows=("M-11",),
    spec=PRECISION,
    requirement="A conversion between component types converts each element as the scalar "
    "instruction does: floats are correctly rounded, or cut toward zero on their way to integers; "
    "integers are cut, or extended as the instruction says.",
    level=Level.REQUIRED,
    axes={"way": PLAIN},
)
def test_elements(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, axes.way)


@case(
    id="cooperative_matrix.convert.other_sign",
    rows=("M-11",),
    spec=CONVERT,
    requirement="The conversion instruction, not the type, says whether integers are signed. "
    "(Conversions are allowed where the component types are appropriate, and which those are isn't "
    "defined: so this is no more than expected.)",
    level=Level.POLICY,
    axes={"way": OTHER_SIGN},
    examples=0.5,
)
def test_other_sign(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, axes.way)


@case(
    id="cooperative_matrix.convert.newer",
    rows=("M-11", "M-28"),
    spec="SPV_KHR_bfloat16#OpFConvert",
    requirement="Conversions from and to bfloat16 and float8 are correctly rounded; those of "
    "bfloat16 go by way of float32, and what a float8 can't hold becomes NaN or infinity.",
    level=Level.REQUIRED,
    axes={"way": NEWER},
)
def test_newer(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, axes.way)


@case(
    id="cooperative_matrix.convert.saturating",
    rows=("M-28",),
    spec=SATURATED,
    requirement="A saturating conversion to float8 gives the largest value for what is out of "
    "range, and the same as any other for the rest.",
    level=Level.REQUIRED,
    axes={"way": TO_FLOAT8},
)
def test_saturating(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, axes.way, (True,))


@case(
    id="cooperative_matrix.convert.saturates_itself",
    rows=("M-28",),
    spec=SATURATED,
    requirement="A conversion saturates if it is decorated, whatever conversions surround it.",
    level=Level.REQUIRED,
    axes={"way": TO_FLOAT8},
    examples=0.5,
)
def test_saturates_itself(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _check(subject, data, axes.way, (True, False), (False, True, False))


@case(
    id="cooperative_matrix.convert.controls",
    rows=("M-11",),
    spec="VkSpec#spirvenv-precision-operation",
    requirement="OpFConvert of matrices obeys the float-controls execution modes: the direction of "
    "rounding, whether subnormals are kept or flushed, and whether NaN and infinities count.",
    level=Level.REQUIRED,
    axes={"mode": tuple(Mode), "way": CONTROLLED},
)
def test_controls(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    way = axes.way
    modes = modes_for(subject.info, axes.mode, way.source, way.target)
    subject.require(bool(modes), f"the device has no {axes.mode.value} for these widths alone")
    pair = _pair(subject, data, way)
    drawn = conversions(subject.info, pair, way.by, modes=modes)
    sample = data.draw(drawn, label="program")
    subject.check(sample.program, sample.operands)
