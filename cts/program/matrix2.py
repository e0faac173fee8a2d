"""Statements of VK_NV_cooperative_matrix2 and VK_EXT_cooperative_matrix_maintenance1.

An instruction that both extensions have is one statement; which of them a module declares is
:attr:`cts.program.model.Program.dialect`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cts.program.expression import Expression, Operator
from cts.program.types import MatrixType


class Reduction(enum.IntEnum):
    """Which elements a reduction combines; the value is the Cooperative Matrix Reduce mask."""

    ROW = 1
    COLUMN = 2
    ALL = 3
    QUAD = 4
    """Aligned 2x2 neighbourhoods."""

    @property
    def label(self) -> str:
        """The name used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class _Typed:
    """A statement that gives its result's type."""

    result: str
    type: MatrixType
    value: str

    def defines(self, types: Mapping[str, MatrixType]) -> Iterator[tuple[str, MatrixType]]:
        """The result and its type."""
        yield self.result, self.type


@dataclass(frozen=True)
class Reduce(_Typed):
    """OpCooperativeMatrixReduceEXT/NV of an accumulator: each element of the result combines a
    row, a column, all or a 2x2 neighbourhood of ``value`` with ``operator``."""

    reduction: Reduction
    operator: Operator


@dataclass(frozen=True)
class ConvertUse(_Typed):
    """OpCooperativeMatrixConvertUseEXT (ConvertNV): the same elements with another use. With
    ``transpose``, rows and columns are swapped: OpCooperativeMatrixTransposeNV, or the decoration
    CooperativeMatrixTransposeEXT."""

    transpose: bool = False


@dataclass(frozen=True)
class PerElement(_Typed):
    """OpCooperativeMatrixPerElementOpEXT/NV: ``function`` of every element.

    Its further parameters are ``scalars``, given by their bits, and then the elements of
    ``matrices`` at the same place, all of the matrix's component type.
    """

    function: Expression
    scalars: tuple[int, ...] = ()
    matrices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Locate(_Typed):
    """Component by component: ``function`` of the component and of the coordinates that
    OpCooperativeMatrixGetCoordinateEXT gives for its index."""

    function: Expression


Matrix2 = Reduce | ConvertUse | PerElement | Locate
