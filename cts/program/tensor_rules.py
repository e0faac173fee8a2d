"""What the specification demands of tensor layouts, views, loads and stores, as far as it can be
seen without working out addresses: the oracle refuses what leaves its buffer.

SPV_NV_tensor_addressing and SPV_NV_cooperative_matrix2, the descriptions of the instructions.
"""

from __future__ import annotations

from collections.abc import Mapping

from cts.program.tensor import (
    MOST_DIMENSIONS,
    BlockSize,
    Clamp,
    ClampValue,
    Clip,
    Dimensions,
    Slice,
    Strides,
    TensorLayout,
    TensorLoad,
    TensorStatement,
    TensorStore,
    TensorView,
)
from cts.program.types import Buffer, MatrixType, Storage


def broken(
    statement: TensorStatement, types: Mapping[str, MatrixType], buffers: Mapping[str, Buffer]
) -> str | None:
    """The first rule that ``statement`` breaks, as a sentence; None if it breaks none."""
    what = statement.result if isinstance(statement, TensorLoad) else statement.value
    if statement.tensor.buffer not in buffers:
        return f"{what}: there is no buffer {statement.tensor.buffer}."
    buffer = buffers[statement.tensor.buffer]
    unit = buffer.pointee.bytes
    if (statement.tensor.offset * unit) % 16 or (statement.tensor.pitch * unit) % 16:
        return f"{what}: a tensor starts at a multiple of 16 bytes."
    if isinstance(statement, TensorLoad):
        if types.get(statement.original) != statement.type:
            return f"{what}: what a clipped load keeps is of another type."
        if statement.decode is not None:
            reason = _decode(statement, buffer)
            if reason is not None:
                return f"{what}: {reason}"
    elif statement.value not in types:
        return f"{what} is stored before it has a value."
    reason = _layout(statement.layout, storing=isinstance(statement, TensorStore))
    if reason is None and statement.view is not None:
        reason = _view(statement.view, statement.layout)
    if reason is None and isinstance(statement, TensorLoad) and statement.decode is None:
        blocks = [it for it in statement.layout.steps if isinstance(it, BlockSize)]
        if any(set(it.sizes) != {1} for it in blocks):
            reason = "blocks need a decode function."
    return None if reason is None else f"{what}: {reason}"


def _layout(layout: TensorLayout, *, storing: bool) -> str | None:
    rank = layout.rank
    if not 1 <= rank <= MOST_DIMENSIONS:
        return f"a layout has 1 to {MOST_DIMENSIONS} dimensions."
    block = [1] * rank
    dimension = [0] * rank
    for step in layout.steps:
        match step:
            case BlockSize(sizes=numbers):
                block = list(numbers)
                if storing and set(numbers) != {1}:
                    return "a store with blocks would race."
            case Dimensions(sizes=numbers):
                dimension = list(numbers)
                if layout.clamp is Clamp.MIRROR and min(numbers) < 2:
                    return "mirroring divides by twice the size less two."
            case Strides(strides=numbers):
                for at in range(rank - 1):
                    if numbers[at] < numbers[at + 1] * -(-dimension[at + 1] // block[at + 1]):
                        return f"stride {at} is smaller than what lies inside of it."
            case Slice(offsets=offsets, spans=numbers):
                if len(offsets) != rank or not all(-(2**30) < it < 2**30 for it in offsets):
                    return "offsets are 32-bit integers, one for each dimension."
            case ClampValue(value=value):
                if not 0 <= value < 1 << 32:
                    return "the clamp value has 32 bits."
                continue
        if len(numbers) != rank or min(numbers) < 1 or max(numbers) >= 1 << 31:
            return "sizes, strides and spans are at least 1, one for each dimension."
    return None if all(dimension) else "the dimensions are not set."


def _view(view: TensorView, layout: TensorLayout) -> str | None:
    rank = len(view.permutation)
    if not 1 <= rank <= MOST_DIMENSIONS or sorted(view.permutation) != list(range(rank)):
        return "a view has a permutation of 1 to 5 dimensions."
    sized = [step for step in view.steps if isinstance(step, Dimensions | Strides)]
    if view.has_dimensions:
        if not any(isinstance(step, Dimensions) for step in sized):
            return "the dimensions of the view are not set."
    elif rank != layout.rank:
        return "a view without dimensions of its own has those of the layout."
    for step in sized:
        numbers = step.sizes if isinstance(step, Dimensions) else step.strides
        if len(numbers) != rank or min(numbers) < 1:
            return "dimensions and strides of a view are at least 1."
    for clip in view.steps:
        if isinstance(clip, Clip):
            ends = (clip.row_offset + clip.row_span, clip.column_offset + clip.column_span)
            if min(clip.row_span, clip.column_span) < 1 or max(ends) >= 1 << 32:
                return "a clip has at least one element and ends before 2^32."
    return None


def _decode(it: TensorLoad, buffer: Buffer) -> str | None:
    decode = it.decode
    assert decode is not None
    blocks = [step.sizes for step in it.layout.steps if isinstance(step, BlockSize)]
    if (blocks or [(1,) * it.layout.rank])[-1] != decode.block:
        return "the decode function is for other blocks."
    if buffer.storage is Storage.WORKGROUP:
        return "decode functions read buffers."
    if decode.lanes and (decode.lanes not in (2, 4, 8) or decode.block[-1] % decode.lanes):
        return "the innermost block size is a multiple of the vector's 2, 4 or 8 components."
    return None
