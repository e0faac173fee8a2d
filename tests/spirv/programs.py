"""Random programs over everything that the model can express."""

from __future__ import annotations

from hypothesis import strategies as st

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

COMPONENTS = [c for c in Component if not c.name.endswith("PACKED")]
POINTEES = [
    Pointee(component, lanes)
    for component in COMPONENTS
    if component not in (Component.BFLOAT16, Component.FLOAT8_E4M3, Component.FLOAT8_E5M2)
    for lanes in (1, 2, 4)
]
SPECIALIZED = ("rows", "columns", "use", "scope", "layout", "local_size")


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A valid program: a multiplication and a random handful of other statements."""
    scope = draw(st.sampled_from((Scope.SUBGROUP, Scope.SUBGROUP, Scope.WORKGROUP)))
    m, n, k = (draw(st.sampled_from((8, 16))) for _ in range(3))
    component = st.sampled_from(COMPONENTS)
    a = MatrixType(draw(component), m, k, Use.A, scope)
    b = MatrixType(draw(component), k, n, Use.B, scope)
    c = MatrixType(draw(component), m, n, Use.ACCUMULATOR, scope)
    result = MatrixType(draw(component), m, n, Use.ACCUMULATOR, scope)
    grid = Grid(draw(st.integers(1, 3)), draw(st.integers(1, 4)), 8, draw(st.booleans()))
    buffers: list[Buffer] = []
    body: list[Statement] = []

    def address(type: MatrixType) -> Address:
        """A place in a buffer of its own: tiles one after another, every 4096 bytes."""
        pointee, storage = draw(st.sampled_from(POINTEES)), draw(st.sampled_from(Storage))
        unit = pointee.bytes
        name = f"b{len(buffers)}"
        buffers.append(Buffer(name, pointee, 4096 * 13 // unit, storage))
        layout = draw(st.sampled_from(Layout))
        stride, offset = draw(st.sampled_from(((128, 0), (160, 32), (192, 64))))
        return Address(name, layout, stride // unit, offset // unit, 4096 // unit)

    def value(name: str, type: MatrixType) -> str:
        form = draw(st.sampled_from((None, *Form)))
        if form is None:
            body.append(Load(name, type, address(type)))
        else:
            top = 0 if form is Form.NULL else (1 << type.component.bits) - 1
            body.append(Splat(name, type, draw(st.integers(0, top)), form))
        return name

    values = {"a": a, "b": b, "c": c}
    for name, type in values.items():
        value(name, type)
    saturating = result.component.is_integer and draw(st.booleans())
    signs = [type.component.is_signed for type in (a, b, c, result)]
    body.append(MulAdd("d", result, "a", "b", "c", *signs, saturating))
    values["d"] = result
    for step in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(("length", "stamp", "rebuild", "reload")))
        type = draw(st.sampled_from((a, b, c, result)))
        if kind == "length":
            storage = draw(st.sampled_from(Storage))
            buffers.append(Buffer(f"l{step}", Pointee(Component.UINT32), 128, storage))
            body.append(Length(type, f"l{step}"))
        elif kind == "stamp" and type.component.is_integer:
            body.append(Stamp(f"s{step}", type, draw(st.integers(0, 8))))
            values[f"s{step}"] = type
        elif kind == "rebuild":
            source = draw(st.sampled_from(sorted(values)))
            body.append(Rebuild(f"r{step}", source))
            values[f"r{step}"] = values[source]
        else:
            source = draw(st.sampled_from(sorted(values)))
            place = address(values[source])
            body.append(Store(source, place))
            body.append(Load(f"q{step}", values[source], place))
            values[f"q{step}"] = values[source]
    body.append(Store(draw(st.sampled_from(sorted(values))), address(result)))
    return Program(
        grid,
        tuple(buffers),
        tuple(body),
        draw(st.sampled_from(Numbers)),
        draw(st.frozensets(st.sampled_from(SPECIALIZED))),
    )
