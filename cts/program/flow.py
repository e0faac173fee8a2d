"""Statements that hand matrices on without changing them: through functions, aggregates,
variables and control flow, and across barriers.

SPV_KHR_cooperative_matrix makes a cooperative matrix a composite that can be used for all
operations that act on composite types.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cts.program.types import MatrixType, Scope


class Via(enum.Enum):
    """What matrices pass through. Where an index or a count decides, it reaches the shader as
    the program's numbers do."""

    COPY = "OpCopyObject"
    PARAMETER = "function parameters by value"
    POINTER = "function parameters by pointer"
    OUT = "a pointer that a function writes through"
    CALLS = "a function that calls a function"
    VARIABLE = "function variables"
    PRIVATE = "private variables"
    ARRAY = "an array in a variable, constant index"
    ARRAY_DYNAMIC = "an array in a variable, index of the run"
    ARRAY_VALUE = "OpCompositeConstruct and OpCompositeExtract of an array"
    PRIVATE_ARRAY = "a private array, index of the run"
    STRUCT = "members of a struct in a variable"
    STRUCT_VALUE = "OpCompositeInsert and OpCompositeExtract of a struct"
    NESTED = "an array in a struct in a variable"
    PHI = "OpPhi behind a uniform switch"
    LOOP = "OpPhi of a loop that rotates them"

    @property
    def label(self) -> str:
        """Lower-case name, as used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class Through:
    """All ``values``, of one type, go into ``via``; ``result`` is number ``index`` of them."""

    result: str
    values: tuple[str, ...]
    index: int
    via: Via

    def defines(self, types: Mapping[str, MatrixType]) -> Iterator[tuple[str, MatrixType]]:
        """The result and its type."""
        yield self.result, types[self.values[0]]


@dataclass(frozen=True)
class Barrier:
    """OpControlBarrier: what the invocations of the scope stored before, they all see after it.

    ``by_access`` makes stores available and visible to loads with the memory operands of these
    (MakePointerAvailable, MakePointerVisible) instead of the semantics of the barrier.
    """

    scope: Scope = Scope.WORKGROUP
    by_access: bool = False

    def defines(self, types: Mapping[str, MatrixType]) -> Iterator[tuple[str, MatrixType]]:
        """Nothing."""
        yield from ()
