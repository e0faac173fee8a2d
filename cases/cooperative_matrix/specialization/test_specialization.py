"""Operands that are specialization constants act as the same literals do."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.draw.axes import Family
from cts.draw.combinations import Combination, combinations
from cts.draw.products import operand_recipes
from cts.draw.programs import Recipes, mul_adds
from cts.draw.variety import members
from cts.findings import PolicyValue, WrongValue
from cts.outcome import Level
from cts.program.model import Numbers
from cts.subject import Subject

TYPE = "SPV_KHR_cooperative_matrix#OpTypeCooperativeMatrixKHR"
SIZES = frozenset({"rows", "columns"})
OPERANDS = {
    "rows": frozenset({"rows"}),
    "columns": frozenset({"columns"}),
    "sizes": SIZES,
    "use": frozenset({"use"}),
    "scope": frozenset({"scope"}),
    "layout": frozenset({"layout"}),
    "local_size": frozenset({"local_size"}),
    "stride": frozenset[str](),
    "all": SIZES | {"use", "scope", "layout", "local_size"},
}
NUMBERED = ("stride", "all")
KINDS = (
    Family("integer", lambda it: it.types.is_integer),
    Family("float", lambda it: not it.types.is_integer),
)


@case(
    id="cooperative_matrix.specialization.operand",
    rows=("M-13",),
    spec=TYPE,
    requirement="Rows, columns, use, scope, layout, stride and local size may be specialization "
    "constants: the specialised module does what the module with literals does.",
    level=Level.REQUIRED,
    axes={"operand": tuple(OPERANDS), "kind": KINDS},
)
def test_operand(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    found: list[Combination] = [
        it for it in combinations(subject.info) if axes.kind.accepts(it) and not it.saturating
    ]
    subject.require(bool(found), f"no advertised combination is {axes.kind.label}")
    combination = data.draw(members(found), label="combination")
    recipes = Recipes(*operand_recipes(combination, combination.k))
    sample = data.draw(mul_adds(subject.info, combination, recipes), label="program")
    numbers = Numbers.SPECIALIZATION if axes.operand in NUMBERED else sample.program.numbers
    literal = replace(sample.program, numbers=Numbers.LITERAL, specialized=frozenset())
    special = replace(sample.program, numbers=numbers, specialized=OPERANDS[axes.operand])
    subject.check(special, sample.operands)
    last = len(literal.buffers) - 1
    given, wanted = (subject.run(program, sample.operands)[last] for program in (special, literal))
    if given != wanted:
        kind = WrongValue if combination.types.is_integer else PolicyValue
        subject.found(kind("the specialised module gives other bytes than the one with literals"))
