"""Statements that work on matrices element by element (SPV_KHR_cooperative_matrix, sections
"Conversion Instructions" and "Arithmetic Instructions").

Rows, columns, use and scope never change here; only the component does, in a conversion.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cts.program.types import MatrixType

Types = Mapping[str, MatrixType]


class Conversion(enum.Enum):
    """Conversion instructions. The instruction decides whether integers are signed, not their
    types."""

    F_TO_U = "OpConvertFToU"
    F_TO_S = "OpConvertFToS"
    S_TO_F = "OpConvertSToF"
    U_TO_F = "OpConvertUToF"
    U = "OpUConvert"
    S = "OpSConvert"
    F = "OpFConvert"
    BITS = "OpBitcast"

    @property
    def label(self) -> str:
        """Lower-case name, as used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class Convert:
    """``result`` is ``value`` with components of another type.

    ``saturating`` decorates a conversion to float8 with
    SaturatedToLargestFloat8NormalConversionEXT.
    """

    result: str
    type: MatrixType
    value: str
    by: Conversion
    saturating: bool = False

    def defines(self, types: Types) -> Iterator[tuple[str, MatrixType]]:
        """The result and its type."""
        yield self.result, self.type


@dataclass(frozen=True)
class Negate:
    """OpFNegate or OpSNegate, as the component says."""

    result: str
    value: str

    def defines(self, types: Types) -> Iterator[tuple[str, MatrixType]]:
        """The result and its type."""
        yield self.result, types[self.value]


class Operator(enum.Enum):
    """Arithmetic on two matrices of one type."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"

    @property
    def label(self) -> str:
        """Lower-case name, as used in case ids."""
        return self.name.lower()


@dataclass(frozen=True)
class Binary:
    """OpFAdd, OpISub, OpFMul, OpSDiv and so on: ``result = left operator right``.

    Integers divide by OpSDiv or OpUDiv, as their component is signed or not.
    """

    result: str
    operator: Operator
    left: str
    right: str

    def defines(self, types: Types) -> Iterator[tuple[str, MatrixType]]:
        """The result and its type."""
        yield self.result, types[self.left]


@dataclass(frozen=True)
class Scale:
    """OpMatrixTimesScalar; the scalar is given by its ``bits`` and reaches the shader as the
    program's numbers do."""

    result: str
    value: str
    bits: int

    def defines(self, types: Types) -> Iterator[tuple[str, MatrixType]]:
        """The result and its type."""
        yield self.result, types[self.value]
