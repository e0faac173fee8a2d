"""The rules of the statements of extensions on cooperative matrices, in one place to ask."""

from __future__ import annotations

from collections.abc import Mapping

from cts.program import matrix2_rules, qcom, tensor_rules
from cts.program.matrix2 import ConvertUse, Locate, Matrix2, PerElement, Reduce
from cts.program.model import Program
from cts.program.qcom import FromArrays, QcomStatement, ToArrays
from cts.program.tensor import TensorLoad, TensorStatement, TensorStore
from cts.program.types import MatrixType, Storage

Extended = Matrix2 | TensorStatement | QcomStatement
KINDS = (Reduce, ConvertUse, PerElement, Locate, TensorLoad, TensorStore, FromArrays, ToArrays)


def broken(program: Program, it: Extended, types: Mapping[str, MatrixType]) -> str | None:
    """The first rule that a statement breaks, as a sentence; None if it breaks none."""
    match it:
        case Reduce() | ConvertUse() | PerElement() | Locate():
            return matrix2_rules.broken(it, types, program.dialect)
        case TensorLoad() | TensorStore():
            buffers = {buffer.name: buffer for buffer in program.buffers}
            return tensor_rules.broken(it, types, buffers)
        case FromArrays() | ToArrays():
            return _arrays(program, it, types)


def _arrays(
    program: Program, it: FromArrays | ToArrays, types: Mapping[str, MatrixType]
) -> str | None:
    if isinstance(it, ToArrays) and it.value not in types:
        return f"{it.value} is stored before it has a value."
    type = it.type if isinstance(it, FromArrays) else types[it.value]
    found = [buffer for buffer in program.buffers if buffer.name == it.buffer]
    if not found or found[0].storage is Storage.WORKGROUP:
        return f"Arrays are in a buffer, which {it.buffer} isn't."
    unit = found[0].pointee.bytes
    grid = program.grid
    return qcom.broken(it, type, grid.subgroup_size, found[0].size * unit, unit, grid.tiles)
