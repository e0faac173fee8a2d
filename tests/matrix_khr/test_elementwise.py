"""What the oracle permits of conversions and of arithmetic on elements."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cts.program.arithmetic import Binary, Conversion, Convert, Negate, Operator, Scale
from cts.program.controls import WIDTHS, Control, Mode
from cts.program.element_rules import fits
from cts.program.model import Component
from cts.program.recipe import Pattern, Recipe
from reference.adders import Arithmetic
from reference.component import Rounding, encode, float_format
from reference.evaluate import Undetermined
from reference.machine import Behaviour
from tests.matrix_khr.elements import Bench, matrix

F16, F32, F64 = Component.FLOAT16, Component.FLOAT32, Component.FLOAT64
BF16, E4M3, E5M2 = Component.BFLOAT16, Component.FLOAT8_E4M3, Component.FLOAT8_E5M2
S8, U8, S32, U32 = Component.SINT8, Component.UINT8, Component.SINT32, Component.UINT32
S64 = Component.SINT64
COMPONENTS = tuple(it for it in Component if not it.name.endswith("PACKED"))
IEEE = (F16, F32, F64)

FLOATS = (
    Pattern.FULL,
    Pattern.WIDE,
    Pattern.BITS,
    Pattern.SPECIALS,
    Pattern.SUBNORMALS,
    Pattern.NEAR_MAX,
    Pattern.SMALL,
    Pattern.TIES,
)
INTEGERS = (Pattern.BITS, Pattern.SPECIALS, Pattern.NEAR_MAX, Pattern.SMALL, Pattern.WIDE)
BEHAVIOURS = tuple(
    Behaviour(arithmetic=Arithmetic(rounding=rounding, flushes=flushes))
    for rounding, flushes in itertools.product(Rounding, (False, True))
)
CONTROLS = ((), *(tuple(Control(mode, width) for width in WIDTHS) for mode in Mode))
WAYS = tuple(
    (by, source, target)
    for by, source, target in itertools.product(Conversion, COMPONENTS, COMPONENTS)
    if fits(by, source, target) and by not in (Conversion.F_TO_S, Conversion.F_TO_U)
)


def recipes(component: Component) -> st.SearchStrategy[Recipe]:
    patterns = FLOATS if component.is_float else INTEGERS
    return st.builds(Recipe, st.sampled_from(patterns), st.integers(0, 99), limit=st.just(6))


def nothing_worse_than_quality(found, behaviour: Behaviour) -> bool:
    """Directed rounding, and rounding ties away, are legal but worth a remark."""
    usual = behaviour.arithmetic.rounding in (Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO)
    return all(it.band == "quality" and not usual for it in found)


def code(value: float, component: Component) -> int:
    import numpy as np

    return int(encode(np.array([value]), component)[0])


class TestEveryLegalDevice:
    @given(data=st.data())
    def test_converts(self, data: st.DataObject) -> None:
        by, source, target = data.draw(st.sampled_from(WAYS))
        controls = data.draw(st.sampled_from(CONTROLS))
        behaviour = data.draw(st.sampled_from(BEHAVIOURS))
        bench = Bench(source, target, [Convert("r", matrix(target), "a", by)], controls)
        found = bench.run({"a": data.draw(recipes(source))}, behaviour)
        assert nothing_worse_than_quality(found, behaviour), found

    @pytest.mark.parametrize("behaviour", BEHAVIOURS)
    @pytest.mark.parametrize("source", [S64, Component.UINT64])
    def test_cuts_long_integers(self, behaviour: Behaviour, source: Component) -> None:
        """They don't fit the 53 bits that the device itself calculates with."""
        bench = converted(source, F64, controls=RTZ64)
        found = bench.run({"a": Recipe(Pattern.BITS, 0)}, behaviour)
        assert nothing_worse_than_quality(found, behaviour), found

    @given(data=st.data())
    def test_computes(self, data: st.DataObject) -> None:
        component = data.draw(st.sampled_from((*IEEE, S8, U8, S32, S64)))
        operator = data.draw(st.sampled_from(tuple(Operator)))
        if component.is_integer and operator is Operator.DIVIDE:
            operator = Operator.MULTIPLY
        controls = data.draw(st.sampled_from(CONTROLS)) if component.is_float else ()
        behaviour = data.draw(st.sampled_from(BEHAVIOURS))
        body = [Binary("r", operator, "a", "b")]
        bench = Bench(component, component, body, controls, "ab")
        operands = {name: data.draw(recipes(component)) for name in "ab"}
        found = bench.run(operands, behaviour)
        assert nothing_worse_than_quality(found, behaviour), found

    @given(data=st.data())
    def test_negates_and_scales(self, data: st.DataObject) -> None:
        component = data.draw(st.sampled_from((*IEEE, S8, U8, S32)))
        statement = data.draw(st.sampled_from((Negate("r", "a"), Scale("r", "a", 3))))
        behaviour = data.draw(st.sampled_from(BEHAVIOURS))
        found = Bench(component, component, [statement]).run(
            {"a": data.draw(recipes(component))}, behaviour
        )
        assert nothing_worse_than_quality(found, behaviour), found


def converted(source: Component, target: Component, *, saturating=False, controls=()) -> Bench:
    by = Conversion.F
    if source.is_integer:
        by = Conversion.S_TO_F if source.is_signed else Conversion.U_TO_F
    if target.is_integer:
        by = Conversion.F_TO_S if target.is_signed else Conversion.F_TO_U
    return Bench(source, target, [Convert("r", matrix(target), "a", by, saturating)], controls)


RTE = (Control(Mode.TO_EVEN, 16), Control(Mode.TO_EVEN, 32))
RTZ64 = (Control(Mode.TO_ZERO, 64),)
SPECIALS = (Control(Mode.SPECIALS, 16), Control(Mode.SPECIALS, 32))
PRESERVE = (Control(Mode.DENORM_PRESERVE, 16), Control(Mode.DENORM_PRESERVE, 32))
FLUSH = (Control(Mode.DENORM_FLUSH, 16), Control(Mode.DENORM_FLUSH, 32))

VERDICTS = [
    # (bench, source code, result code, violated band)
    # Either neighbour of a tie, but rounding away is remarkable; with RTE it is wrong.
    (converted(F32, F16), 0x3F801000, 0x3C00, None),
    (converted(F32, F16), 0x3F801000, 0x3C01, "quality"),
    (converted(F32, F16), 0x3F801000, 0x3C02, "required"),
    (converted(F32, F16, controls=RTE), 0x3F801000, 0x3C00, None),
    (converted(F32, F16, controls=RTE), 0x3F801000, 0x3C01, "required"),
    # Above a tie.
    (converted(F32, F16, controls=RTE), 0x3F801001, 0x3C01, None),
    (converted(F32, F16, controls=RTE), 0x3F801001, 0x3C00, "required"),
    # Subnormal results may be flushed, unless a mode says otherwise.
    (converted(F32, F16), code(2.0**-20, F32), 0x0010, None),
    (converted(F32, F16), code(2.0**-20, F32), 0x0000, None),
    (converted(F32, F16), code(2.0**-20, F32), 0x0011, "required"),
    (converted(F32, F16, controls=PRESERVE), code(2.0**-20, F32), 0x0000, "required"),
    (converted(F32, F16, controls=FLUSH), code(2.0**-20, F32), 0x0010, "required"),
    (converted(F32, F16, controls=FLUSH), code(2.0**-20, F32), 0x0000, None),
    # So may subnormal operands, whose values float32 holds as normal numbers.
    (converted(F16, F32), 0x0001, code(2.0**-24, F32), None),
    (converted(F16, F32), 0x0001, 0, None),
    (converted(F16, F32), 0x0001, code(2.0**-25, F32), "required"),
    # float8 subnormals survive the way to float16, and may vanish on the way to float32.
    (converted(E4M3, F16), 0x01, code(2.0**-9, F16), None),
    (converted(E4M3, F16), 0x01, 0, "required"),
    (converted(E4M3, F32), 0x01, 0, None),
    # Out of range: infinity or the largest value; infinity counts only where specials do.
    (converted(F32, F16), code(70000.0, F32), 0x7BFF, None),
    (converted(F32, F16), code(70000.0, F32), 0x7C00, None),
    (converted(F32, F16), code(70000.0, F32), 0x3C00, "policy"),
    (converted(F32, F16, controls=SPECIALS), code(70000.0, F32), 0x3C00, "required"),
    (converted(F32, F16, controls=RTE + SPECIALS), code(70000.0, F32), 0x7BFF, "required"),
    # NaN.
    (converted(F32, F16), 0x7FC00000, 0x7E01, None),
    (converted(F32, F16), 0x7FC00000, 0x7C00, "policy"),
    (converted(F32, F16, controls=SPECIALS), 0x7FC00000, 0x7C00, "required"),
    (converted(BF16, F32, controls=SPECIALS), 0x7FC1, 0x7F800000, "required"),
    # E4M3 has no infinity and ends at 448.
    (converted(F32, E4M3), code(448.0, F32), 0x7E, None),
    (converted(F32, E4M3), code(450.0, F32), 0x7E, None),
    (converted(F32, E4M3), code(450.0, F32), 0x7F, None),
    (converted(F32, E4M3), code(480.0, F32), 0x7F, None),
    (converted(F32, E4M3), code(480.0, F32), 0x7E, "quality"),
    (converted(F32, E4M3), code(480.0, F32), 0x7D, "policy"),
    (converted(F32, E4M3, saturating=True), code(1e9, F32), 0x7E, None),
    (converted(F32, E4M3, saturating=True), code(-1e9, F32), 0xFE, None),
    (converted(F32, E4M3, saturating=True), code(1e9, F32), 0x7F, "required"),
    (converted(F32, E5M2, saturating=True), code(1e9, F32), 0x7C, "required"),
    (converted(F32, E5M2), code(1e9, F32), 0x7C, None),
    # bfloat16 goes by way of float32, so that rounding twice is right.
    (converted(F64, BF16), code(1 + 2.0**-8 + 2.0**-40, F64), 0x3F80, None),
    (converted(F64, BF16), code(1 + 2.0**-8 + 2.0**-40, F64), 0x3F81, "quality"),
    (converted(F32, BF16), code(1 + 2.0**-8 + 2.0**-20, F32), 0x3F81, None),
    # Integers: cut toward zero; low bits; correctly rounded.
    (converted(F32, S32), code(-2.75, F32), 0xFFFFFFFE, None),
    (converted(F32, S32), code(-2.75, F32), 0xFFFFFFFD, "required"),
    (converted(F32, U8), code(-0.75, F32), 0, None),
    (converted(S32, F16), 2049, code(2048.0, F16), None),
    (converted(S32, F16), 2049, code(2050.0, F16), "quality"),
    (converted(S32, F16), 2049, code(2052.0, F16), "required"),
    (converted(S64, F32), (1 << 40) + 1, code(2.0**40, F32), None),
    # 2^54 + 3 has no double of its own. A double need only be as precise as a single.
    (converted(S64, F64), (1 << 54) + 3, code(2.0**54 + 4, F64), None),
    (converted(S64, F64), (1 << 54) + 3, code(2.0**54, F64), None),
    (converted(S64, F64, controls=RTZ64), (1 << 54) + 3, code(2.0**54, F64), None),
    (converted(S64, F64, controls=RTZ64), (1 << 54) + 3, code(2.0**54 + 4, F64), "policy"),
    (converted(S64, F64, controls=RTZ64), (1 << 54) + 3, code(2.0**54 + 2.0**34, F64), "required"),
]


@pytest.mark.parametrize(("bench", "source", "result", "band"), VERDICTS)
def test_a_conversion_is_judged(bench: Bench, source: int, result: int, band: str | None) -> None:
    assert bench.judge({"a": [source]}, result) == band


def computed(component: Component, operator: Operator, controls=()) -> Bench:
    return Bench(component, component, [Binary("r", operator, "a", "b")], controls, "ab")


SUMS = [
    (computed(F16, Operator.ADD), (0x3C00, 0x1000), 0x3C00, None),
    (computed(F16, Operator.ADD), (0x3C00, 0x1000), 0x3C01, "quality"),
    (computed(F16, Operator.ADD), (0x3C00, 0x1000), 0x3BFF, "required"),
    (computed(F16, Operator.ADD, RTE), (0x3C00, 0x1000), 0x3C01, "required"),
    (computed(F16, Operator.SUBTRACT), (0x3C00, 0x3C00), 0x0000, None),
    (computed(F16, Operator.SUBTRACT), (0x3C00, 0x3C00), 0x0001, "required"),
    # 1 / 3 within 2.5 units.
    (computed(F16, Operator.DIVIDE), (0x3C00, 0x4200), 0x3555, None),
    (computed(F16, Operator.DIVIDE), (0x3C00, 0x4200), 0x3557, None),
    (computed(F16, Operator.DIVIDE), (0x3C00, 0x4200), 0x3559, "required"),
    # A divisor beyond 2^14, or zero, leaves float16 quotients open.
    (computed(F16, Operator.DIVIDE), (0x3C00, 0x7800), 0x3C00, None),
    (computed(F16, Operator.DIVIDE), (0x3C00, 0x0000), 0x3C00, None),
    # An infinity times a subnormal that may be flushed: infinity or NaN.
    (computed(F16, Operator.MULTIPLY, SPECIALS), (0x7C00, 0x0001), 0x7C00, None),
    (computed(F16, Operator.MULTIPLY, SPECIALS), (0x7C00, 0x0001), 0x7E00, None),
    (computed(F16, Operator.MULTIPLY, SPECIALS), (0x7C00, 0x3C00), 0x7E00, "required"),
    (computed(S32, Operator.MULTIPLY), (0x10001, 0x10001), 0x20001, None),
    (computed(S8, Operator.DIVIDE), (0xF9, 0x02), 0xFD, None),
    (computed(S8, Operator.DIVIDE), (0xF9, 0x02), 0xFC, "required"),
    (computed(U8, Operator.SUBTRACT), (1, 2), 0xFF, None),
]


@pytest.mark.parametrize(("bench", "operands", "result", "band"), SUMS)
def test_arithmetic_is_judged(
    bench: Bench, operands: tuple[int, int], result: int, band: str | None
) -> None:
    given = {"a": [operands[0]], "b": [operands[1]]}
    assert bench.judge(given, result) == band


@pytest.mark.parametrize(
    ("bench", "operands"),
    [
        (computed(S8, Operator.DIVIDE), (1, 0)),
        (computed(S8, Operator.DIVIDE), (0x80, 0xFF)),
        (computed(U8, Operator.DIVIDE), (1, 0)),
    ],
)
def test_undefined_quotients_are_refused(bench: Bench, operands: tuple[int, int]) -> None:
    with pytest.raises(Undetermined):
        bench.judge({"a": [operands[0]], "b": [operands[1]]}, 0)


@pytest.mark.parametrize(
    ("target", "value"),
    [(S8, 128.0), (S8, -129.0), (U8, -1.0), (U8, 256.0), (S32, 2.0**31), (S32, float("nan"))],
)
def test_floats_that_do_not_fit_an_integer_are_refused(target: Component, value: float) -> None:
    with pytest.raises(Undetermined):
        converted(F32, target).judge({"a": [code(value, F32)]}, 0)


def test_the_largest_fraction_still_fits() -> None:
    assert converted(F32, S8).judge({"a": [code(127.96875, F32)]}, 127) is None


class TestRearranging:
    """(a + b) - a may become b, so the order counts only where every order is exact."""

    body = (Binary("s", Operator.ADD, "a", "b"), Binary("r", Operator.SUBTRACT, "s", "a"))

    def test_is_refused_where_rounding_depends_on_it(self) -> None:
        bench = Bench(F16, F16, self.body, inputs="ab")
        with pytest.raises(Undetermined):
            bench.judge({"a": [code(2048.0, F16)], "b": [code(2.0, F16)]}, 0)

    def test_does_not_matter_for_small_whole_numbers(self) -> None:
        bench = Bench(F16, F16, self.body, inputs="ab")
        operands = {"a": [code(100.0, F16)], "b": [code(7.0, F16)]}
        assert bench.judge(operands, code(7.0, F16)) is None
        assert bench.judge(operands, code(8.0, F16)) == "required"

    def test_is_forbidden_by_no_contraction(self) -> None:
        bench = Bench(F16, F16, self.body, inputs="ab", precise=True)
        operands = {"a": [code(1024.0, F16)], "b": [code(2.0, F16)]}
        assert bench.judge(operands, code(2.0, F16)) is None


def test_formats_hold_what_the_tables_say() -> None:
    assert [float_format(it).maximum for it in (E4M3, E5M2, F16)] == [448.0, 57344.0, 65504.0]
