"""Generated sequences: programs composed of many statements that stay valid and exact.

A statement is only added where its result is determined whatever order an implementation takes:
float values are whole numbers that their component counts exactly, and float products have no
negative addends. So hazards, spills and the flow of values are exercised as no hand-written case
does, and every element has one right value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from cts.device.protocol import DeviceInfo
from cts.draw.bodies import finish, space_of
from cts.draw.composer import Composer, Known, anything, capacity, placeholder
from cts.draw.elements import types_of
from cts.draw.matrix_conversions import instruction
from cts.draw.programs import Sample, Slot, mul_add
from cts.draw.recipes import exact_bits
from cts.draw.variety import rich_shape_of
from cts.program.arithmetic import Binary, Convert, Negate, Operator
from cts.program.flow import Through, Via
from cts.program.model import (
    Address,
    Branch,
    Carry,
    Component,
    Load,
    Merge,
    Rebuild,
    Repeat,
    Statement,
    Store,
)

LONGEST = 14
"""Steps of a sequence, not counting those inside branches and loops."""
SCRATCHES, OUTPUTS = 2, 5
"""Buffers of these kinds at most."""
_ANY = 1 << 62

Step = Callable[[Composer], None]


def nothing(it: Composer) -> None:
    """What every step shrinks to."""


# --- arithmetic ---------------------------------------------------------------------------


def multiply(it: Composer) -> None:
    """A multiply-add whose operands are what there is, or new."""
    found = it.pick(it.combinations)
    integer = found.types.is_integer
    budget, limit, c_limit = _ANY, _ANY, _ANY
    if not integer:
        types = found.types
        budget = 1 << exact_bits(types.a, types.b, types.c, types.result)
        limit = max(1, int((budget // 2 / found.k) ** 0.5))
        c_limit = budget // 2
    a = it.operand(found.a, limit, positive=not integer)
    b = it.operand(found.b, limit, positive=not integer)
    c = it.operand(found.c, c_limit, positive=not integer)
    reach = found.k * a.bound * b.bound + c.bound
    if not integer and reach > budget:
        return
    known = Known("", found.result, reach, False)
    if integer:
        known = anything("", found.result)
    it.add(lambda name: mul_add(found, name, a.name, b.name, c.name), known)


def combine(it: Composer) -> None:
    """Two matrices of one type, element by element."""
    left = it.recent(it.arithmetical())
    if left is None:
        return
    right = it.pick([other for other in it.values if other.type == left.type])
    operator = it.pick((Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY))
    product = operator is Operator.MULTIPLY
    bound = left.bound * right.bound if product else left.bound + right.bound
    negative = left.negative or right.negative or operator is Operator.SUBTRACT
    known = Known("", left.type, bound, negative)
    if bound >= capacity(left.component) or (negative and not left.component.is_signed):
        if left.component.is_float:
            if bound > capacity(left.component):
                return
        else:
            known = anything("", left.type)
    it.add(lambda name: Binary(name, operator, left.name, right.name), known)


def negate(it: Composer) -> None:
    """The negative of a value."""
    value = it.recent(it.arithmetical())
    if value is not None:
        known = replace(value, negative=True)
        if value.component.is_integer:
            known = anything("", value.type)
        it.add(lambda name: Negate(name, value.name), known)


def convert(it: Composer) -> None:
    """A value as another component that holds all of it."""
    value = it.recent(it.values)
    if value is None:
        return
    targets = [
        (target, by)
        for target in Component
        if target is not value.component
        and (by := instruction(value.component, target)) is not None
        and replace(value.type, component=target) in types_of(it.info, target)
        and value.bound < capacity(target)
        and not (value.negative and target.is_integer and not target.is_signed)
    ]
    if targets:
        target, by = it.pick(targets)
        type = replace(value.type, component=target)
        it.add(lambda name: Convert(name, type, value.name, by), replace(value, type=type))


# --- flow ---------------------------------------------------------------------------------


_VIAS = (
    Via.COPY,
    Via.VARIABLE,
    Via.PARAMETER,
    Via.POINTER,
    Via.ARRAY,
    Via.ARRAY_DYNAMIC,
    Via.PHI,
    Via.LOOP,
    Via.PRIVATE,
)


def through(it: Composer) -> None:
    """Several values of one type through something."""
    value = it.recent(it.values)
    if value is None:
        return
    same = [other for other in it.values if other.type == value.type][-3:]
    index, via = it.pick(range(len(same))), it.pick(_VIAS)
    names = tuple(other.name for other in same)
    it.add(lambda name: Through(name, names, index, via), same[index])


def rebuild(it: Composer) -> None:
    """A value component by component."""
    value = it.recent(it.values)
    if value is not None:
        it.add(lambda name: Rebuild(name, value.name), value)


def revisit(it: Composer) -> None:
    """A value through memory, and perhaps into another use."""
    value = it.recent(it.values)
    if value is None or it.depth:
        return
    shape = (value.component, value.type.rows, value.type.columns)
    slots = [
        slot
        for slot in it.scratches
        if (slot.matrix.component, slot.matrix.rows, slot.matrix.columns) == shape
    ]
    if not slots:
        if len(it.scratches) == SCRATCHES:
            return
        slots = [Slot(f"m{len(it.scratches)}", value.type, stores=True)]
        it.scratches += slots
    place = placeholder(slots[0].name)
    it.body.append(Store(value.name, place))
    uses = [
        other
        for other in types_of(it.info, value.component)
        if (other.component, other.rows, other.columns) == shape
    ]
    type = it.pick([value.type, *uses])
    it.add(lambda name: Load(name, type, place), replace(value, type=type))


def branch(it: Composer) -> None:
    """Two sides that compute values of one type."""
    value = it.recent(it.values)
    if value is None or it.depth:
        return
    bodies, results = [], []
    for _ in range(2):
        with it.inside() as body:
            _some(it)
            results.append(_last(it, value))
            bodies.append(tuple(body))
    then, otherwise = results
    bit, name = it.pick((0, 1)), it.name()
    it.body.append(Branch(bit, bodies[0], bodies[1], (Merge(name, then.name, otherwise.name),)))
    bound = max(then.bound, otherwise.bound)
    it.values.append(Known(name, value.type, bound, then.negative or otherwise.negative))


def _some(it: Composer) -> None:
    """A few steps that only compute."""
    for _ in range(it.pick((1, 2, 3))):
        it.pick(PURE)(it)


def _last(it: Composer, value: Known) -> Known:
    """The last value of the same type."""
    return [other for other in it.values if other.type == value.type][-1]


def repeat(it: Composer) -> None:
    """A loop that works on an integer, or adds to a float, again and again."""
    value = it.recent(it.arithmetical())
    if value is None or it.depth:
        return
    count, carry, result = it.pick((1, 2, 3, 5)), it.name(), it.name()
    if value.component.is_integer:
        with it.inside() as inner:
            it.values.append(anything(carry, value.type))
            _some(it)
            following = _last(it, value).name
        body, known = tuple(inner), anything(result, value.type)
    else:
        other = it.pick([other for other in it.values if other.type == value.type])
        bound = value.bound + count * other.bound
        if bound > capacity(value.component):
            return
        following = it.name()
        body = (Binary(following, Operator.ADD, carry, other.name),)
        known = Known(result, value.type, bound, value.negative or other.negative)
    it.body.append(Repeat(count, (Carry(carry, value.name, following, result),), body))
    it.values.append(known)


PURE: tuple[Step, ...] = (nothing, combine, combine, multiply, negate, through, convert)
"""Steps inside branches and loops."""

STEPS: tuple[Step, ...] = (
    nothing,
    *(multiply, multiply, multiply),
    *(combine, combine, negate, convert),
    *(through, rebuild, revisit, revisit, branch, repeat),
)
"""What a sequence is made of."""


# --- whole programs -----------------------------------------------------------------------


@st.composite
def sequences(
    draw: st.DrawFn, info: DeviceInfo, steps: Sequence[Step] = STEPS, variety: int = 8
) -> Sample | None:
    """A program of up to LONGEST steps; None for a device without combinations. There are
    ``variety`` times more modules than other cases have."""
    composer = Composer(draw, info, rich_shape_of(draw, variety))
    if not composer.combinations:
        return None
    multiply(composer)
    for _ in range(composer.pick((1, *range(6, LONGEST + 1)))):
        composer.pick(steps)(composer)
    outputs = {it.name: it.type for it in composer.values[-OUTPUTS:]}
    memory = space_of(draw, info, composer.inputs, outputs, extra=composer.scratches)
    addresses = {name: address for name, (_, address) in memory.places.items()}
    stores = [Store(name, memory.address(f"{name}.out")) for name in outputs]
    return finish(memory, composer.inputs, [*_placed(composer.body, addresses), *stores])


def _placed(body: Iterable[Statement], addresses: dict[str, Address]) -> list[Statement]:
    """The statements with real addresses."""
    return [
        replace(it, address=addresses[it.address.buffer]) if isinstance(it, Load | Store) else it
        for it in body
    ]
