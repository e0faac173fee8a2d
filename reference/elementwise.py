"""Arithmetic and conversions of elements: which results the specification permits.

Vulkan specification, appendix "Vulkan Environment for SPIR-V", "Precision and Operation of SPIR-V
Instructions": a correctly rounded result is the number itself if the component holds it, else
either neighbour, unless an execution mode chooses the direction; subnormal operands and results
may be flushed to zero; without SignedZeroInfNanPreserve NaN, infinities and the sign of zero are
nobody's business. Integers are determined, and what the specification calls undefined
(division by zero, a float that doesn't fit the integer) is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cts.program.arithmetic import Conversion, Operator
from cts.program.controls import Mode
from cts.program.model import Component
from reference import reals
from reference.accept import ANYTHING, ZERO, Accept, Band
from reference.component import (
    Flags,
    Floats,
    bits_dtype,
    decode,
    decode_int,
    encode,
    encode_int,
    float_format,
    is_subnormal,
    spacing,
)
from reference.matrix import Undetermined
from reference.modes import NO_MODES, Modes
from reference.reals import Real
from reference.specials import FLOAT8, expected
from reference.values import Exact, Ranged
from reference.whole_numbers import undefined_in, whole_numbers

_DIVISOR_EXPONENT = {Component.FLOAT16: 14, Component.FLOAT32: 126, Component.FLOAT64: 126}
"""OpFDiv is bounded for divisors between 2^-e and 2^e."""
_DIVISION_UNITS = 2.5
_SINGLE = 24
"""Double precision is at least as precise as single precision, which has so many bits."""

Result = Exact | Ranged
Operation = Callable[..., Real]


# --- conversions ----------------------------------------------------------------------------


def convert(
    value: Exact,
    by: Conversion,
    target: Component,
    saturating: bool = False,
    modes: Modes = NO_MODES,
) -> Result:
    """``value`` converted to ``target``. Undetermined for a float that doesn't fit the integer."""
    source = value.component
    match by:
        case Conversion.BITS:
            return Exact(target, value.bits, value.undefined, value.assumed)
        case Conversion.U | Conversion.S:
            whole = decode_int(value.bits, source, by is Conversion.S)
            return Exact(target, encode_int(whole, target), value.undefined, value.assumed)
        case Conversion.F_TO_U | Conversion.F_TO_S:
            return _truncated(value, target)
        case Conversion.U_TO_F | Conversion.S_TO_F:
            real = reals.whole(decode_int(value.bits, source, by is Conversion.S_TO_F))
            return _Rounding(value, target, modes, (), saturating).result(real)
        case Conversion.F:
            rounding = _Rounding(value, target, modes, (source,), saturating)
            numbers = decode(value.bits, source)
            finite = np.isfinite(numbers)
            real = reals.exactly(np.where(finite, numbers, 0.0))
            alternatives = _flushed_operands((value,), reals.exactly, rounding)
            special = None if finite.all() else ~finite
            return rounding.result(real, [numbers], alternatives, special)


def _truncated(value: Exact, target: Component) -> Exact:
    numbers = decode(value.bits, value.component)
    if value.undefined is not None:
        numbers = np.where(value.undefined, 0.0, numbers)
    cut = np.trunc(numbers)
    low = -(2.0 ** (target.bits - 1)) if target.is_signed else 0.0
    with np.errstate(invalid="ignore"):
        fits = (cut >= low) & (cut < 2.0 ** (target.bits - target.is_signed))
    if not fits.all():
        raise Undetermined(f"a float is converted to {target.label}, which can't hold it")
    words = cut.astype(np.int64).view(np.uint64) if target.is_signed else cut.astype(np.uint64)
    return Exact(target, encode_int(words, target), value.undefined, value.assumed)


# --- arithmetic -----------------------------------------------------------------------------


def negate(value: Exact, modes: Modes = NO_MODES) -> Result:
    """The negative of every element."""
    component = value.component
    if component.is_integer:
        zero = Exact(component, np.zeros((1, 1, 1), bits_dtype(component)))
        return whole_numbers(Operator.SUBTRACT, zero, value)
    return floating(lambda x: reals.exactly(np.negative(x)), np.negative, (value,), modes)


def binary(operator: Operator, left: Exact, right: Exact, modes: Modes = NO_MODES) -> Result:
    """``left operator right`` element by element. Undetermined for an undefined division."""
    if left.component.is_integer:
        return whole_numbers(operator, left, right)
    match operator:
        case Operator.ADD:
            return floating(reals.total, np.add, (left, right), modes)
        case Operator.SUBTRACT:
            return floating(
                lambda x, y: reals.total(x, np.negative(y)), np.subtract, (left, right), modes
            )
        case Operator.MULTIPLY:
            return floating(reals.product, np.multiply, (left, right), modes)
        case Operator.DIVIDE:
            return _divided(left, right, modes)


def _finite(operands: tuple[Exact, ...]) -> tuple[list[Floats], Flags | None]:
    """The numbers with 0 in place of NaN and infinity, and where some operand is such."""
    numbers = [decode(it.bits, it.component) for it in operands]
    finite = [np.isfinite(it) for it in numbers]
    if all(flags.all() for flags in finite):
        return numbers, None
    special: Flags = np.logical_not(np.logical_and.reduce(np.broadcast_arrays(*finite)))
    safe = [np.where(flags, it, 0.0) for it, flags in zip(numbers, finite, strict=True)]
    return safe, special


def floating(
    operation: Operation,
    ieee: Callable[..., Floats],
    operands: tuple[Exact, ...],
    modes: Modes,
) -> Result:
    """A correctly rounded operation on floats of one component: ``operation`` gives the exact
    results of finite numbers, ``ieee`` what IEEE 754 says of all."""
    component = operands[0].component
    rounding = _Rounding(operands[0], component, modes, (component,), others=operands[1:])
    numbers, special = _finite(operands)
    results: list[Floats] = []
    if special is not None:
        whole = [decode(it.bits, component) for it in operands]
        results.append(np.where(special, ieee(*whole), 0.0))
        if not rounding.keeps_subnormals:
            tiny = (is_subnormal(it.bits, component) for it in operands)
            flushed = [np.where(flags, 0.0, it) for flags, it in zip(tiny, whole, strict=True)]
            results.append(np.where(special, ieee(*flushed), 0.0))
    real = operation(*numbers)
    alternatives = _flushed_operands(operands, operation, rounding)
    return rounding.result(real, results, alternatives, special)


def _flushed_operands(
    operands: tuple[Exact, ...], operation: Operation, rounding: _Rounding
) -> list[Real]:
    """The operation's results if subnormal operands were zero."""
    tiny = [is_subnormal(it.bits, it.component) for it in operands]
    if rounding.keeps_subnormals or not any(flags.any() for flags in tiny):
        return []
    numbers, _ = _finite(operands)
    flushed = [np.where(flags, 0.0, it) for flags, it in zip(tiny, numbers, strict=True)]
    found = [operation(*flushed)]
    if len(operands) == 2:
        found += [operation(flushed[0], numbers[1]), operation(numbers[0], flushed[1])]
    return found


def _divided(left: Exact, right: Exact, modes: Modes) -> Result:
    """Within 2.5 units in the last place where the divisor is neither tiny nor huge."""
    component = left.component
    (x, y), special = _finite((left, right))
    limit = 2.0 ** _DIVISOR_EXPONENT[component]
    with np.errstate(divide="ignore"):
        bounded = (np.abs(y) >= 1 / limit) & (np.abs(y) <= limit)
    if special is not None:
        bounded = bounded & ~special
    real = reals.quotient(x, np.where(bounded, y, 1.0))
    unit = _DIVISION_UNITS * spacing(real.nearest, component)
    rounding = _Rounding(left, component, modes, (component,), others=(right,))
    with np.errstate(over="ignore", invalid="ignore"):
        low = np.nextafter(real.low - unit, -np.inf)
        high = np.nextafter(real.high + unit, np.inf)
        single = np.abs(real.nearest) * (_DIVISION_UNITS * 2.0 ** (1 - _SINGLE))
    flags = np.where(bounded, np.uint8(0), np.uint8(ANYTHING))
    least = float_format(component).minimum_normal
    tiny = is_subnormal(left.bits, component) | (np.minimum(np.abs(low), np.abs(high)) < least)
    flags = np.where(tiny & (x != 0), flags | np.uint8(ZERO), flags)
    over = np.maximum(np.abs(low), np.abs(high)) > float_format(component).maximum
    flags = np.where(over, np.uint8(ANYTHING), flags)
    if (undefined := undefined_in((left, right))) is not None:
        flags = np.where(undefined, np.uint8(ANYTHING), flags)
    policy = Band(low=low, high=high, flags=flags)
    required = policy
    if component is Component.FLOAT64:
        required = Band(low=low - single, high=high + single, flags=flags)
    return rounding.ranged(required, policy, policy, real.nearest, unit)


# --- from exact numbers to acceptance sets -----------------------------------------------------


@dataclass(frozen=True)
class _Rounding:
    """How one operation rounds to its result."""

    operand: Exact
    component: Component
    modes: Modes
    sources: tuple[Component, ...]
    """Float components of the operands, for the rules that look at them."""
    saturating: bool = False
    others: tuple[Exact, ...] = ()

    @property
    def keeps_subnormals(self) -> bool:
        """Whether subnormal operands and results have to be kept."""
        if self.component is Component.FLOAT16 and set(self.sources) & FLOAT8:
            return True  # "must be preserved during conversions to IEEE 754 binary 16"
        return bool(self.sources) and self.modes.has(
            Mode.DENORM_PRESERVE, *self.sources, self.component
        )

    @property
    def keeps_specials(self) -> bool:
        """Whether NaN, infinities and the sign of zero count."""
        return bool(self.sources) and self.modes.keeps_specials(*self.sources, self.component)

    def result(
        self,
        real: Real,
        ieee: Sequence[Floats] = (),
        alternatives: Sequence[Real] = (),
        special: Flags | None = None,
    ) -> Result:
        """The value of an operation whose exact result is ``real``, or one of ``ieee`` where it is
        ``special``; ``alternatives`` are further legal exact results."""
        component = self.component
        down, up = self._neighbours(real)
        zeros = self._may_vanish(real)
        for other in alternatives:
            lower, upper = self._neighbours(other)
            zeros = zeros | (other.zero & ~real.zero) | self._may_vanish(other)
            down = np.where(other.zero, down, np.minimum(down, lower))
            up = np.where(other.zero, up, np.maximum(up, upper))
        even, cut = self._usual(real)
        overflow = np.isinf(down) | np.isinf(up)
        undefined = undefined_in((self.operand, *self.others))
        plain = special is None and undefined is None and not overflow.any()
        if component is Component.FLOAT64:  # less precise is legal, whatever the direction
            plain = plain and np.array_equal(real.low, real.high)
        if plain and not zeros.any() and np.array_equal(down, up):
            bits = encode(np.where(real.zero, real.nearest, down), component)
            return Exact(component, bits, None, self._assumed)
        if self.modes.has(Mode.DENORM_FLUSH, component):
            down, up = self._without_subnormals(down, up)
        flags = np.where(zeros, np.uint8(ZERO), np.uint8(0))
        strict = expected(component, real.nearest, ieee, special, overflow, self.saturating)
        flags = flags | strict.flags
        free = strict.free
        if self.keeps_specials:
            free = np.zeros_like(free)
        if undefined is not None:
            free = free | undefined
            flags = np.where(undefined, np.uint8(ANYTHING), flags)
        low, high = self._inside(down, up, special)
        policy = Band(low=low, high=high, flags=flags)
        finite = np.isfinite(even)
        first = np.where(finite, np.minimum(even, cut), cut)
        last = np.where(finite, np.maximum(even, cut), cut)
        if len(alternatives):
            first, last = np.minimum(first, down), np.maximum(last, up)
        first, last = self._inside(first, last, strict.outside)
        tight = Band(low=np.maximum(first, low), high=np.minimum(last, high), flags=flags)
        open_flags = np.where(free, np.uint8(ANYTHING), flags)
        required = Band(low=low, high=high, flags=open_flags)
        if component is Component.FLOAT64:
            slack = np.abs(real.nearest) * 2.0 ** (1 - _SINGLE)
            required = Band(low=low - slack, high=high + slack, flags=open_flags)
        return self.ranged(required, policy, tight, real.nearest, spacing(real.nearest, component))

    def _without_subnormals(self, down: Floats, up: Floats) -> tuple[Floats, Floats]:
        """Intervals without their subnormal numbers; empty ones leave the zero to its flag."""
        least = float_format(self.component).minimum_normal
        below = (down > -least) & (down < least) & (down != 0)
        above = (up > -least) & (up < least) & (up != 0)
        return np.where(below, np.maximum(up, least), down), np.where(
            above, np.minimum(down, -least), up
        )

    def _inside(self, low: Floats, high: Floats, outside: Flags | None) -> tuple[Floats, Floats]:
        """Intervals of finite numbers, empty where ``outside``."""
        largest = float_format(self.component).maximum
        low, high = np.maximum(low, -largest), np.minimum(high, largest)
        if outside is None:
            return low, high
        return np.where(outside, np.inf, low), np.where(outside, -np.inf, high)

    def _neighbours(self, real: Real) -> tuple[Floats, Floats]:
        component = self.component
        if self.modes.has(Mode.TO_EVEN, component):
            even = reals.nearest_even(real, component)
            return even, even
        if self.modes.has(Mode.TO_ZERO, component):
            cut = reals.toward_zero(real, component)
            return cut, cut
        down, up = reals.downward(real, component), reals.upward(real, component)
        if self.saturating:
            largest = float_format(component).maximum
            down, up = np.clip(down, -largest, largest), np.clip(up, -largest, largest)
        return down, up

    def _usual(self, real: Real) -> tuple[Floats, Floats]:
        """Rounded to nearest, ties to even, and toward zero; to bfloat16 by way of float32."""
        component, even, cut = self.component, real, real
        if component is Component.BFLOAT16:
            even = reals.exactly(reals.nearest_even(real, Component.FLOAT32))
            cut = reals.exactly(reals.toward_zero(real, Component.FLOAT32))
        return reals.nearest_even(even, component), reals.toward_zero(cut, component)

    def _may_vanish(self, real: Real) -> Flags:
        """Where the result counts as subnormal and may be flushed to zero."""
        if self.keeps_subnormals:
            return np.zeros(real.nearest.shape, bool)
        least = float_format(self.component).minimum_normal
        found: Flags = (real.smallest < least) & ~real.zero
        return found

    @property
    def _assumed(self) -> bool:
        return self.operand.assumed or any(it.assumed for it in self.others)

    def ranged(
        self, required: Band, policy: Band, tight: Band, exact: Floats, unit: Floats
    ) -> Ranged:
        """The value with these bands; an operand that is only assumed leaves all open."""
        accept = Accept(
            self.component,
            (*np.broadcast_shapes(exact.shape, self.operand.shape),),
            Band(flags=ANYTHING) if self._assumed else required,
            policy,
            tight,
            exact,
            unit,
            "the exact result is rounded to a neighbour; subnormals may be flushed, and NaN and "
            "infinities count only where an execution mode says so",
        )
        return Ranged(accept)
