"""A fixed list of programs that together use all that the model can express."""

from __future__ import annotations

import itertools

from cts.program.model import (
    Address,
    Buffer,
    Component,
    Form,
    Grid,
    Layout,
    Length,
    Load,
    MatrixType,
    MulAdd,
    Numbers,
    Pointee,
    Program,
    Rebuild,
    Scope,
    Splat,
    Stamp,
    Statement,
    Storage,
    Store,
    Use,
)

COMPONENTS = tuple(c for c in Component if not c.name.endswith("PACKED"))
_BITS = {8: Component.UINT8, 16: Component.UINT16, 32: Component.UINT32, 64: Component.UINT64}


def product(
    component: Component = Component.FLOAT16,
    storage: Storage = Storage.STORAGE_BUFFER,
    numbers: Numbers = Numbers.BUFFER,
    specialized: frozenset[str] = frozenset(),
    scope: Scope = Scope.SUBGROUP,
    saturating: bool = False,
    grid: Grid | None = None,
    size: int = 8,
) -> Program:
    """d = a x b + c, and all ways to build and take apart a matrix of ``component``."""
    narrow = component.name.startswith(("BFLOAT", "FLOAT8"))
    pointee = Pointee(_BITS[component.bits] if narrow else component)
    types = {use: MatrixType(component, size, size, use, scope) for use in Use}
    accumulator = types[Use.ACCUMULATOR]
    tile = size * size
    buffers = [Buffer(name, pointee, 16 * tile, storage) for name in "abcd"]
    buffers.append(Buffer("l", Pointee(Component.UINT32), 256))
    tight = {
        name: Address(name, layout, size, 0, tile)
        for name, layout in zip("abcd", itertools.cycle(Layout), strict=False)
    }
    body: list[Statement] = [
        Load("a", types[Use.A], tight["a"]),
        Load("b", types[Use.B], tight["b"]),
        Load("c", accumulator, tight["c"]),
    ]
    signed = [component.is_signed] * 4
    body.append(MulAdd("d", accumulator, "a", "b", "c", *signed, saturating))
    for form in Form:
        bits = 0 if form is Form.NULL else 1
        body.append(Splat(form.name, accumulator, bits, form))
    body.append(Rebuild("e", "d"))
    if component.is_integer:
        body.append(Stamp("s", accumulator, 1))
    body += [Store("e", tight["d"]), Load("f", accumulator, tight["d"])]
    body += [Store("f", tight["d"]), Length(accumulator, "l")]
    grid = grid or Grid(2, 2, 8)
    return Program(grid, tuple(buffers), tuple(body), numbers, specialized)


PROGRAMS = (
    *(product(component) for component in COMPONENTS),
    *(product(component, numbers=Numbers.SPECIALIZATION) for component in COMPONENTS),
    *(product(Component.SINT32, storage, numbers) for storage in Storage for numbers in Numbers),
    product(Component.UINT8, Storage.WORKGROUP, Numbers.LITERAL, saturating=True),
    product(Component.SINT32, specialized=frozenset({"local_size", "rows", "columns"})),
    product(scope=Scope.WORKGROUP, grid=Grid(2, 4, 8, required=True)),
)
