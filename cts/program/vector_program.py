"""A shader over cooperative vectors, and the dispatch that runs it, as frozen data.

A :class:`VectorProgram` is to cooperative vectors what :class:`cts.program.model.Program` is to
cooperative matrices: the one description that is lowered to SPIR-V and evaluated by the
reference, and that holds no behaviour of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cts.program.flow import Through
from cts.program.model import Carry, Merge
from cts.program.types import Buffer, Numbers
from cts.program.vector import (
    Condition,
    Index,
    MatrixMul,
    Opaque,
    OuterProduct,
    Prepared,
    ReduceSum,
    Stage,
    ValueType,
    VectorLoad,
    VectorStore,
    VectorType,
    WriteNumber,
)
from cts.program.vector_values import (
    Constant,
    Construct,
    Elementwise,
    Extract,
    Insert,
    Pick,
    ScalarConstant,
    TimesScalar,
    VectorConvert,
)

# --- control flow ---------------------------------------------------------------------------


@dataclass(frozen=True)
class If:
    """A selection that each invocation decides for itself. ``phi`` merges with OpPhi, otherwise
    through Function variables. What the bodies define is visible only in them."""

    condition: Condition
    then: tuple[VectorStatement, ...]
    otherwise: tuple[VectorStatement, ...] = ()
    merges: tuple[Merge, ...] = ()
    phi: bool = True


@dataclass(frozen=True)
class Loop:
    """The body, ``times`` times; each invocation may have its own number of rounds."""

    times: Index
    body: tuple[VectorStatement, ...]
    carried: tuple[Carry, ...] = ()


@dataclass(frozen=True)
class Exit:
    """OpReturn where the condition holds: these invocations are inactive from here on. Only
    outside of other statements."""

    condition: Condition


@dataclass(frozen=True)
class Helpers:
    """A body for helper invocations alone. None of them counts as an invocation of the launch,
    and their stores have no effect (VkSpec, "Helper Invocations"); outside of fragment shaders
    there are none. Only outside of other statements."""

    body: tuple[VectorStatement, ...]


VectorStatement = (
    VectorLoad
    | VectorStore
    | WriteNumber
    | MatrixMul
    | OuterProduct
    | ReduceSum
    | Constant
    | ScalarConstant
    | Elementwise
    | TimesScalar
    | VectorConvert
    | Extract
    | Insert
    | Construct
    | Through
    | Pick
    | If
    | Loop
    | Exit
    | Helpers
)


# --- the program ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Launch:
    """Workgroups of ``local_size`` invocations, which may leave subgroups partly filled."""

    workgroups: int
    local_size: int

    @property
    def invocations(self) -> int:
        """Invocations in the whole dispatch."""
        return self.workgroups * self.local_size


@dataclass(frozen=True)
class VectorProgram:
    """``body``, run by every invocation of ``grid``.

    ``numbers`` says how indices, strides, thresholds and round counts reach the shader.
    ``specialized`` names the operands that are specialization constants instead of literals:
    ``m``, ``k``, ``length``, ``layout``, ``transpose``, ``interpretation``, ``local_size``.
    ``opaque`` lists the matrices in optimal layouts that lie in the buffers, ``prepared`` those
    of them that are made on the device, right before the shader.
    """

    grid: Launch
    buffers: tuple[Buffer, ...]
    body: tuple[VectorStatement, ...]
    numbers: Numbers = Numbers.BUFFER
    specialized: frozenset[str] = field(default_factory=frozenset)
    stage: Stage = Stage.COMPUTE
    opaque: tuple[Opaque, ...] = ()
    prepared: tuple[Prepared, ...] = ()

    def buffer(self, name: str) -> Buffer:
        """The buffer called ``name``; KeyError if there is none."""
        for buffer in self.buffers:
            if buffer.name == name:
                return buffer
        raise KeyError(name)

    def types(self) -> dict[str, ValueType]:
        """The type of every value, by name. KeyError where a name is used before it is made."""
        found: dict[str, ValueType] = {}
        _infer(self.body, found)
        return found


def walk_vectors(body: tuple[VectorStatement, ...]) -> Iterator[VectorStatement]:
    """Every statement, those inside a statement right after it, in order."""
    for statement in body:
        yield statement
        match statement:
            case If():
                yield from walk_vectors(statement.then)
                yield from walk_vectors(statement.otherwise)
            case Loop() | Helpers():
                yield from walk_vectors(statement.body)
            case _:
                pass


def _infer(body: tuple[VectorStatement, ...], found: dict[str, ValueType]) -> None:
    for statement in body:
        match statement:
            case VectorLoad() | MatrixMul() | Constant() | ScalarConstant():
                found[statement.result] = statement.type
            case VectorConvert() | Construct():
                found[statement.result] = statement.type
            case Elementwise():
                found[statement.result] = found[statement.operands[0]]
            case TimesScalar() | Insert():
                found[statement.result] = found[statement.vector]
            case Extract():
                vector = found[statement.vector]
                if not isinstance(vector, VectorType):
                    raise KeyError(f"{statement.vector} is no vector")
                found[statement.result] = vector.component
            case Through() | Pick():
                found[statement.result] = found[statement.values[0]]
            case If():
                _infer(statement.then, found)
                _infer(statement.otherwise, found)
                found.update((it.result, found[it.then]) for it in statement.merges)
            case Loop():
                found.update((it.name, found[it.initial]) for it in statement.carried)
                _infer(statement.body, found)
                found.update((it.result, found[it.initial]) for it in statement.carried)
            case Helpers():
                _infer(statement.body, found)
            case VectorStore() | WriteNumber() | OuterProduct() | ReduceSum() | Exit():
                pass
