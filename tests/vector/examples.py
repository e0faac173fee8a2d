"""Cooperative vector programs that between them use every statement, operand and form."""

from __future__ import annotations

from cts.program.arithmetic import Conversion
from cts.program.flow import Through, Via
from cts.program.model import Carry, Merge
from cts.program.types import Buffer, Component, Numbers, Pointee, Storage
from cts.program.vector import (
    Bias,
    Condition,
    Index,
    MatrixLayout,
    MatrixMul,
    OuterProduct,
    Place,
    ReduceSum,
    Spread,
    VectorLoad,
    VectorStore,
    VectorType,
    Weights,
)
from cts.program.vector_program import Exit, If, Launch, Loop, VectorProgram, VectorStatement
from cts.program.vector_values import (
    Constant,
    Construct,
    Elementwise,
    Extract,
    Insert,
    Make,
    Pick,
    ScalarConstant,
    TimesScalar,
    VectorConvert,
    VectorOp,
)

F16, F32, E4M3 = Component.FLOAT16, Component.FLOAT32, Component.FLOAT8_E4M3
S8, U8, S32, U32 = Component.SINT8, Component.UINT8, Component.SINT32, Component.UINT32

EACH = Index(0, 64, Spread.INVOCATION)
GRID = Launch(2, 5)
START = Index()
SPREADS = (
    Index(64),
    Index(64, 64, Spread.INVOCATION),
    Index(64, 64, Spread.CLUSTERED, 3),
    Index(64, 64, Spread.REVERSED),
    Index(0, 64, Spread.TABLE, table=tuple(range(9, -1, -1))),
)


def buffer(
    name: str,
    component: Component,
    size: int = 4096,
    storage: Storage = Storage.STORAGE_BUFFER,
    lanes: int = 1,
) -> Buffer:
    return Buffer(name, Pointee(component, lanes), size, storage)


def moved(
    component: Component, *statements: VectorStatement, length: int = 5, last: str = "y"
) -> VectorProgram:
    """Load x, run the statements, store the last value."""
    body = (
        VectorLoad("x", VectorType(component, length), Place("a", EACH)),
        *statements,
        VectorStore(last, Place("b", EACH)),
    )
    return VectorProgram(GRID, (buffer("a", component), buffer("b", component)), body)


def copy(storage: Storage, spread: Index = EACH, lanes: int = 1) -> VectorProgram:
    body = (
        VectorLoad("x", VectorType(F16, 7), Place("a", spread)),
        VectorStore("x", Place("b", EACH)),
    )
    buffers = (buffer("a", F16, storage=storage, lanes=lanes), buffer("b", F16, storage=storage))
    return VectorProgram(GRID, buffers, body)


def product(
    kinds: tuple[Component, Component, Component, Component, Component] = (F16,) * 5,
    layout: MatrixLayout = MatrixLayout.ROW_MAJOR,
    *,
    bias: bool = True,
    transpose: bool = False,
    m: int = 6,
    k: int = 10,
    at: Index = START,
    storage: Storage = Storage.STORAGE_BUFFER,
    numbers: Numbers = Numbers.BUFFER,
    specialized: frozenset[str] = frozenset(),
) -> VectorProgram:
    given, interpretation, matrix, added, result = kinds
    packed = interpretation in (Component.SINT8_PACKED, Component.UINT8_PACKED)
    length = -(-k // 4) if packed else k
    scalar = U8 if matrix.bits == 8 and matrix.is_float else matrix
    body = (
        VectorLoad("x", VectorType(given, length), Place("a", EACH)),
        MatrixMul(
            "y",
            VectorType(result, m),
            "x",
            interpretation,
            k,
            Weights(
                Place("w", at), matrix, layout, 0 if layout.optimal else 64, transpose=transpose
            ),
            Bias(Place("v", Index(16)), added) if bias else None,
            given.is_signed,
            result.is_signed,
        ),
        VectorStore("y", Place("b", EACH)),
    )
    buffers = (
        buffer("a", given),
        buffer("w", scalar, storage=storage),
        buffer("v", added, storage=storage),
        buffer("b", result),
    )
    return VectorProgram(GRID, buffers, body, numbers, specialized)


def _elementwise(op: VectorOp) -> VectorProgram:
    component = F16 if op.floating else (S8 if op.name.startswith("S") else U32)
    return moved(component, Elementwise("y", op, ("x",) * op.operands))


def _converted(by: Conversion, source: Component, target: Component) -> VectorProgram:
    body = (
        VectorLoad("x", VectorType(source, 5), Place("a", EACH)),
        VectorConvert("y", VectorType(target, 5), "x", by),
        VectorStore("y", Place("b", EACH)),
    )
    return VectorProgram(GRID, (buffer("a", source), buffer("b", target)), body)


def training(interpretation: Component = F16) -> VectorProgram:
    body = (
        VectorLoad("x", VectorType(F16, 5), Place("a", EACH)),
        VectorLoad("z", VectorType(F16, 3), Place("a", EACH)),
        OuterProduct("x", "z", Place("g", Index(64)), interpretation),
        ReduceSum("x", Place("s", Index(16, 32, Spread.CLUSTERED, 2))),
    )
    buffers = (buffer("a", F16), buffer("g", interpretation), buffer("s", F16))
    return VectorProgram(GRID, buffers, body)


EXAMPLES: dict[str, VectorProgram] = {
    **{f"copy-{storage.label}": copy(storage) for storage in Storage},
    "copy-vector-pointee": copy(Storage.STORAGE_BUFFER, lanes=4),
    **{f"copy-{spread.spread.label}": copy(Storage.STORAGE_BUFFER, spread) for spread in SPREADS},
    **{f"product-{layout.label}": product(layout=layout) for layout in MatrixLayout},
    "product-plain": product(bias=False),
    "product-physical": product(storage=Storage.PHYSICAL_STORAGE_BUFFER),
    "product-transposed": product(layout=MatrixLayout.INFERENCING_OPTIMAL, transpose=True),
    "product-literal": product(numbers=Numbers.LITERAL),
    "product-specialization": product(numbers=Numbers.SPECIALIZATION),
    "product-specialized": product(
        layout=MatrixLayout.TRAINING_OPTIMAL,
        specialized=frozenset(
            {"m", "k", "length", "layout", "transpose", "interpretation", "local_size"}
        ),
    ),
    "product-packed": product((U32, Component.SINT8_PACKED, S8, S32, S32)),
    "product-int8": product((S8, S8, S8, S32, S32)),
    "product-float-int8": product((F32, S8, S8, S32, S32)),
    "product-float8": product((F16, E4M3, E4M3, F16, F16), MatrixLayout.INFERENCING_OPTIMAL),
    "product-scattered": product(at=SPREADS[4]),
    "training-float16": training(F16),
    "training-float32": training(F32),
    **{f"op-{op.label}": _elementwise(op) for op in VectorOp},
    "convert-f-to-s": _converted(Conversion.F_TO_S, F16, S32),
    "convert-f-to-u": _converted(Conversion.F_TO_U, F32, U8),
    "convert-s-to-f": _converted(Conversion.S_TO_F, S8, F16),
    "convert-u-to-f": _converted(Conversion.U_TO_F, U32, F32),
    "convert-u": _converted(Conversion.U, U8, U32),
    "convert-s": _converted(Conversion.S, S32, S8),
    "convert-f": _converted(Conversion.F, F16, F32),
    "convert-bits": _converted(Conversion.BITS, U32, F32),
    **{f"via-{via.label}": moved(F16, Through("y", ("x", "x"), 1, via)) for via in Via},
    **{
        f"make-{form.label}": moved(
            F16,
            Constant(
                "c",
                VectorType(F16, 5),
                () if form is Make.NULL else (0x3C00,) if form.splat else (1, 2, 3, 4, 0x3C00),
                form,
            ),
            Elementwise("y", VectorOp.FADD, ("x", "c")),
        )
        for form in Make
    },
    "components": moved(
        F16,
        Extract("s", "x", Index(2), dynamic=False),
        Extract("d", "x", Index(0, 1, Spread.TABLE, table=(0, 1, 2, 3, 4, 4, 3, 2, 1, 0))),
        Insert("i", "x", "s", Index(0), dynamic=False),
        Insert("j", "i", "d", Index(4)),
        Construct("k", VectorType(F16, 5), ("s", "d", "s", "d", "s")),
        ScalarConstant("t", F16, 0x4000),
        TimesScalar("l", "k", "t"),
        Elementwise("y", VectorOp.FADD, ("j", "l")),
    ),
    "pick": moved(F16, Pick("y", ("x", "x", "x"), Index(0, 1, Spread.CLUSTERED, 4))),
    **{
        f"if-{'phi' if phi else 'variable'}": moved(
            F16,
            If(
                Condition(Index(0, 1, Spread.INVOCATION), 4),
                (Elementwise("p", VectorOp.FADD, ("x", "x")),),
                (Elementwise("q", VectorOp.FMUL, ("x", "x")),),
                (Merge("y", "p", "q"),),
                phi,
            ),
        )
        for phi in (True, False)
    },
    "loop": moved(
        F16,
        Loop(
            Index(1, 1, Spread.CLUSTERED, 3),
            (Elementwise("n", VectorOp.FADD, ("c", "x")),),
            (Carry("c", "x", "n", "y"),),
        ),
    ),
    "exit": moved(
        F16,
        Exit(Condition(Index(0, 1, Spread.REVERSED), 3)),
        Elementwise("y", VectorOp.FNEGATE, ("x",)),
    ),
}
"""Programs by what they show."""
