"""What a shader does, as frozen data.

A :class:`Program` is the one description from which the SPIR-V module is lowered
(``cts/spirv``) and the set of legal results is evaluated (``reference``). It holds no
behaviour of its own, so the two can't share a mistake.

Conventions:

* Values are named by strings and assigned once, in order (SSA). Names are short because
  they are read by people in findings.
* Every address is counted in *pointee* elements of its buffer, as the SPIR-V instructions
  count it (SPV_KHR_cooperative_matrix, OpCooperativeMatrixLoadKHR).
* A *tile* is the share of one executing scope instance. For subgroup scope it is the
  subgroup: ``tile = workgroup * subgroups_per_workgroup + subgroup``. For workgroup scope
  it is the workgroup.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cts.program.arithmetic import Binary, Convert, Negate, Scale
from cts.program.controls import Control
from cts.program.flow import Barrier, Through
from cts.program.matrix2 import Matrix2
from cts.program.qcom import QcomStatement
from cts.program.tensor import TensorStatement
from cts.program.types import (
    Address,
    Buffer,
    Component,
    Dialect,
    Layout,
    MatrixType,
    Numbers,
    Pointee,
    Robust,
    Scope,
    Storage,
    Use,
)

__all__ = [
    "Address",
    "Barrier",
    "Binary",
    "Branch",
    "Buffer",
    "Carry",
    "Component",
    "Convert",
    "Dialect",
    "Form",
    "Grid",
    "Layout",
    "Length",
    "Load",
    "MatrixType",
    "Merge",
    "MulAdd",
    "Negate",
    "Numbers",
    "Pointee",
    "Program",
    "Rebuild",
    "Repeat",
    "Robust",
    "Scale",
    "Scope",
    "Splat",
    "Stamp",
    "Statement",
    "Storage",
    "Store",
    "Through",
    "Use",
    "walk",
]

# --- statements -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """OpCooperativeMatrixLoadKHR."""

    result: str
    type: MatrixType
    address: Address


@dataclass(frozen=True)
class Store:
    """OpCooperativeMatrixStoreKHR."""

    value: str
    address: Address


class Form(enum.Enum):
    """The ways to build a matrix from one scalar (M-10)."""

    CONSTANT = "OpConstantComposite"
    SPEC_CONSTANT = "OpSpecConstantComposite"
    NULL = "OpConstantNull"
    CONSTRUCT = "OpCompositeConstruct"
    INITIALIZER = "OpVariable initializer"
    REPLICATE = "OpCompositeConstructReplicateEXT"
    CONSTANT_REPLICATE = "OpConstantCompositeReplicateEXT"
    SPEC_CONSTANT_REPLICATE = "OpSpecConstantCompositeReplicateEXT"
    PRIVATE = "initializer of a private OpVariable"

    @property
    def label(self) -> str:
        """Lower-case name, as used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class Splat:
    """A matrix that holds one scalar, given by its ``bits``, in every element."""

    result: str
    type: MatrixType
    bits: int = 0
    form: Form = Form.CONSTANT


@dataclass(frozen=True)
class MulAdd:
    """OpCooperativeMatrixMulAddKHR: ``result = a x b + c``.

    ``type`` is the result type. The ``*_signed`` flags are the MatrixSignedComponentsKHR
    operands; they are set exactly where the advertised record's type is signed
    (VUID-RuntimeSpirv-OpCooperativeMatrixMulAddKHR-10060) and never for floats.
    """

    result: str
    type: MatrixType
    a: str
    b: str
    c: str
    a_signed: bool = False
    b_signed: bool = False
    c_signed: bool = False
    result_signed: bool = False
    saturating: bool = False


@dataclass(frozen=True)
class Length:
    """Writes OpCooperativeMatrixLengthKHR of ``type`` as uint32 to element
    ``tile * subgroup_size + subgroup invocation`` of ``buffer`` (pointee uint32); for workgroup
    scope ``tile * local size + local invocation index``."""

    type: MatrixType
    buffer: str


@dataclass(frozen=True)
class Stamp:
    """A matrix whose component ``i`` in subgroup invocation ``v`` is the low bits of the
    integer ``(i * subgroup_size + v) >> shift``, written through a pointer to the component
    (for workgroup scope: local invocation index and workgroup size instead).

    Which element a component is, is the implementation's choice; that all elements are
    covered exactly once isn't (M-09). Integer components only.
    """

    result: str
    type: MatrixType
    shift: int = 0


@dataclass(frozen=True)
class Rebuild:
    """Copies ``value`` component by component, through pointers indexed from 0 to the length."""

    result: str
    value: str


@dataclass(frozen=True)
class Merge:
    """``result`` is ``then`` where a branch was taken, else ``otherwise``."""

    result: str
    then: str
    otherwise: str


@dataclass(frozen=True)
class Branch:
    """A branch that each tile takes where ``bit`` of its index is set, and OpPhi behind it.

    The bodies hold no stores; what they define is visible only in them.
    """

    bit: int
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    results: tuple[Merge, ...]


@dataclass(frozen=True)
class Carry:
    """In the body ``name`` is ``initial`` at first, and ``following`` of the iteration before
    from then on; after the loop ``result`` is what ``name`` would be next."""

    name: str
    initial: str
    following: str
    result: str


@dataclass(frozen=True)
class Repeat:
    """A loop of ``count`` iterations; the count reaches the shader as the program's numbers do.

    The body holds no stores; what it defines is visible only in it. Addresses in it move on by
    their ``step``.
    """

    count: int
    carried: tuple[Carry, ...]
    body: tuple[Statement, ...]


Statement = (
    Load
    | Store
    | Splat
    | MulAdd
    | Length
    | Stamp
    | Rebuild
    | Matrix2
    | TensorStatement
    | QcomStatement
    | Branch
    | Repeat
    | Convert
    | Negate
    | Binary
    | Scale
    | Through
    | Barrier
)


def walk(body: Iterable[Statement]) -> Iterator[Statement]:
    """Every statement, those inside a statement right after it, in order."""
    for statement in body:
        yield statement
        match statement:
            case Branch():
                yield from walk(statement.then)
                yield from walk(statement.otherwise)
            case Repeat():
                yield from walk(statement.body)
            case _:
                pass


# --- the program ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """The dispatch: workgroups of ``subgroups`` full subgroups of ``subgroup_size``.

    ``required`` asks for the size with VkPipelineShaderStageRequiredSubgroupSizeCreateInfo;
    otherwise ``subgroup_size`` is the device's default, which it is going to use anyway.
    """

    workgroups: int
    subgroups: int
    subgroup_size: int
    required: bool = False
    varying: bool = False
    """The implementation may choose the size: the module is SPIR-V 1.6 and asks for none. Then
    ``subgroup_size`` is the smallest size, ``subgroups`` how many of these a workgroup has, and
    only the first of the workgroup's tiles are sure to be worked on."""

    @property
    def local_size(self) -> int:
        """Invocations in a workgroup."""
        return self.subgroups * self.subgroup_size

    @property
    def tiles(self) -> int:
        """Subgroups in the whole dispatch."""
        return self.workgroups * self.subgroups


@dataclass(frozen=True)
class Program:
    """A compute shader over cooperative types, and the dispatch that runs it.

    ``specialized`` names the operands of the matrix types that are given as specialization
    constants instead of literals: ``rows``, ``columns``, ``use``, ``scope``, ``layout``,
    ``local_size``.
    """

    grid: Grid
    buffers: tuple[Buffer, ...]
    body: tuple[Statement, ...]
    numbers: Numbers = Numbers.BUFFER
    specialized: frozenset[str] = field(default_factory=frozenset)
    dialect: Dialect = Dialect.NV
    """The extension that instructions which several extensions have are taken from."""
    controls: tuple[Control, ...] = ()
    """Float-controls execution modes."""
    precise: bool = False
    """Decorates float arithmetic on elements with NoContraction: nothing is rearranged."""
    robust: Robust | None = None
    """Robust access to buffers of which not all is ``visible``."""
    first: bool = False
    """Uses the types and instructions of the first extension, VK_NV_cooperative_matrix."""

    def buffer(self, name: str) -> Buffer:
        """The buffer called ``name``; KeyError if there is none."""
        for buffer in self.buffers:
            if buffer.name == name:
                return buffer
        raise KeyError(name)

    def types(self) -> dict[str, MatrixType]:
        """The type of every value, by name."""
        found: dict[str, MatrixType] = {}
        _infer(self.body, found)
        return found

    def matrix_types(self) -> Iterator[MatrixType]:
        """Every matrix type of the program, each once, in order of appearance."""
        seen: dict[MatrixType, None] = dict.fromkeys(self.types().values())
        for statement in walk(self.body):
            if isinstance(statement, Length):
                seen.setdefault(statement.type)
        return iter(seen)


def _infer(body: Iterable[Statement], found: dict[str, MatrixType]) -> None:
    """Adds the types of all values that ``body`` defines."""
    for statement in body:
        match statement:
            case Load() | Splat() | MulAdd() | Stamp():
                found[statement.result] = statement.type
            case Rebuild():
                found[statement.result] = found[statement.value]
            case Store() | Length():
                pass
            case Branch():
                _infer(statement.then, found)
                _infer(statement.otherwise, found)
                found.update((it.result, found[it.then]) for it in statement.results)
            case Repeat():
                found.update((it.name, found[it.initial]) for it in statement.carried)
                _infer(statement.body, found)
                found.update((it.result, found[it.initial]) for it in statement.carried)
            case _:
                found.update(statement.defines(found))
