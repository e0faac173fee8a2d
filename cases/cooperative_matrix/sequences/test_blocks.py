"""Several multiply-adds in one program: many live accumulators, loops, and dependent chains."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import FLOAT_FAMILIES, INTEGER_FAMILIES, Family
from cts.draw.combinations import Combination, combinations
from cts.draw.products import blocked, chainable, chained
from cts.draw.variety import members
from cts.outcome import Level
from cts.subject import Subject

MUL_ADD = "SPV_KHR_cooperative_matrix#OpCooperativeMatrixMulAddKHR"
PRECISION = "VkSpec#spirvenv-op-prec"


def _choose(
    subject: Subject,
    data: st.DataObject,
    family: Family,
    fits: Callable[[Combination], bool],
    lacking: str,
) -> Combination:
    found = [
        it
        for it in combinations(subject.info)
        if family.accepts(it) and not it.saturating and fits(it)
    ]
    subject.require(bool(found), f"no advertised combination is {family.label}{lacking}")
    return data.draw(members(found), label="combination")


def _accumulates(combination: Combination) -> bool:
    return combination.types.c is combination.types.result


def _blocked(subject: Subject, axes: Axes, data: st.DataObject, looped: bool) -> None:
    lacking = " with a result that can be its C"
    combination = _choose(subject, data, axes.types, _accumulates, lacking)
    sample = data.draw(blocked(subject.info, combination, looped=looped), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.sequences.blocks.integer",
    rows=("M-05", "M-12"),
    spec=MUL_ADD,
    requirement="Up to twelve accumulators that live at once keep their values, through steps "
    "along K that follow each other.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES},
)
def test_blocks_integer(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _blocked(subject, axes, data, looped=False)


@case(
    id="cooperative_matrix.sequences.blocks.float",
    rows=("M-07", "M-12"),
    spec=PRECISION,
    requirement="Up to twelve accumulators that live at once keep their values, through steps "
    "along K that follow each other.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_blocks_float(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _blocked(subject, axes, data, looped=False)


@case(
    id="cooperative_matrix.sequences.loop.integer",
    rows=("M-05", "M-12", "M-14"),
    spec=MUL_ADD,
    requirement="A loop along K that loads blocks of A and B and carries all accumulators gives "
    "the product of the whole matrices.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES},
)
def test_loop_integer(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _blocked(subject, axes, data, looped=True)


@case(
    id="cooperative_matrix.sequences.loop.float",
    rows=("M-07", "M-12", "M-14"),
    spec=PRECISION,
    requirement="A loop along K that loads blocks of A and B and carries all accumulators gives "
    "the product of the whole matrices.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_loop_float(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _blocked(subject, axes, data, looped=True)


def _chained(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    info = subject.info
    lacking = " with a result that can be stored and loaded as A"
    combination = _choose(subject, data, axes.types, lambda it: chainable(info, it), lacking)
    sample = data.draw(chained(info, combination), label="program")
    subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.sequences.chain.integer",
    rows=("M-05", "M-17"),
    spec=MUL_ADD,
    requirement="A product that is stored and loaded again as A multiplies as any other matrix.",
    level=Level.REQUIRED,
    axes={"types": INTEGER_FAMILIES},
)
def test_chain_integer(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _chained(subject, axes, data)


@case(
    id="cooperative_matrix.sequences.chain.float",
    rows=("M-07", "M-17"),
    spec=PRECISION,
    requirement="A product that is stored, narrowed if need be, and loaded again as A multiplies "
    "as any other matrix.",
    level=Level.POLICY,
    axes={"types": FLOAT_FAMILIES},
)
def test_chain_float(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _chained(subject, axes, data)
