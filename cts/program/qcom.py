"""Statements of VK_QCOM_cooperative_matrix_conversion: matrices from arrays of the invocations,
and back (SPV_QCOM_cooperative_matrix_conversion).

Invocation ``i`` of a subgroup has row ``i`` of an A matrix or accumulator, or column ``i`` of a B
matrix; invocations beyond the last row or column have nothing. In a buffer the arrays of a tile's
invocations lie one after the other, and so do the tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cts.program.types import Component, MatrixType, Scope, Use

_OPERANDS = frozenset({Component.SINT8, Component.UINT8, Component.FLOAT16, Component.FLOAT32})
_ACCUMULATORS = frozenset(
    {Component.SINT32, Component.UINT32, Component.FLOAT16, Component.FLOAT32}
)
_CAST = frozenset({Component.SINT32, Component.UINT32, Component.FLOAT16, Component.FLOAT32})
LINE = 32
"""Bytes of a row of A and of a column of B."""


@dataclass(frozen=True)
class FromArrays:
    """OpCompositeConstructCoopMatQCOM. The array is loaded with elements of the matrix's component
    type, or with ``packed`` of uint32; with ``cast`` it is loaded as uint32 and goes through
    OpBitCastArrayQCOM. Where ``length`` isn't 0, arrays of so many elements are loaded, and
    OpExtractSubArrayQCOM takes the part from ``start`` on."""

    result: str
    type: MatrixType
    buffer: str
    packed: bool = False
    cast: bool = False
    length: int = 0
    start: int = 0

    def defines(self, types: Mapping[str, MatrixType]) -> Iterator[tuple[str, MatrixType]]:
        """The result and its type."""
        yield self.result, self.type


@dataclass(frozen=True)
class ToArrays:
    """OpCompositeExtractCoopMatQCOM, and a store of the array; ``packed`` and ``cast`` as for
    :class:`FromArrays`."""

    value: str
    buffer: str
    packed: bool = False
    cast: bool = False

    def defines(self, types: Mapping[str, MatrixType]) -> Iterator[tuple[str, MatrixType]]:
        """Nothing."""
        yield from ()


QcomStatement = FromArrays | ToArrays


def lines(type: MatrixType) -> tuple[int, int]:
    """(invocations that have a part of the matrix, elements of each)."""
    if type.use is Use.B:
        return type.columns, type.rows
    return type.rows, type.columns


def convertible(type: MatrixType, subgroup_size: int) -> bool:
    """Whether matrices of this type can be made of arrays."""
    count, length = lines(type)
    if type.scope is not Scope.SUBGROUP or count > subgroup_size:
        return False
    if type.use is Use.ACCUMULATOR:
        return type.component in _ACCUMULATORS and length <= subgroup_size
    return type.component in _OPERANDS and length * type.component.bytes == LINE


def packable(type: MatrixType) -> bool:
    """Whether the arrays may be of uint32 although the components aren't."""
    if type.use is Use.ACCUMULATOR:
        return type.component in (Component.FLOAT16, Component.FLOAT32) and type.columns % 2 == 0
    return True


def castable(type: MatrixType) -> bool:
    """Whether OpBitCastArrayQCOM makes arrays of the component type from uint32."""
    _, length = lines(type)
    return type.component in _CAST and length * type.component.bytes % 4 == 0


def broken(
    statement: QcomStatement,
    type: MatrixType,
    subgroup_size: int,
    room: int,
    unit: int,
    tiles: int,
) -> str | None:
    """The first rule that ``statement`` breaks; ``room`` are the buffer's bytes, ``unit`` those of
    its elements."""
    if not convertible(type, subgroup_size):
        return f"{type} isn't made of arrays with subgroups of {subgroup_size}."
    if statement.packed and not packable(type):
        return f"{type} isn't made of arrays of uint32."
    if statement.cast and (statement.packed or not castable(type)):
        return f"arrays of uint32 aren't cast to {type.component.label}."
    words = statement.packed or statement.cast
    if unit != (4 if words else type.component.bytes):
        return f"{statement.buffer} has elements of another size."
    count, length = lines(type)
    if isinstance(statement, FromArrays) and statement.length:
        if words or type.component not in _CAST or type.use is Use.ACCUMULATOR:
            return "parts are taken of arrays of 32-bit integers and floats, for A and B."
        if statement.start % length or statement.start + length > statement.length:
            return "a part begins at a multiple of its length and lies in its array."
        length = statement.length
    if tiles * count * length * type.component.bytes > room:
        return f"{statement.buffer} is too small."
    return None
