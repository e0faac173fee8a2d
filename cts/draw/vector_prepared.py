"""Products whose matrices are converted in the same command buffer, right before the shader."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cts.conversion import Converting, Side
from cts.draw.vector import MATRIX_UNIT, TAIL
from cts.draw.vector_products import Plan
from cts.program.vector import MatrixLayout, Opaque, Place, Prepared, Weights
from cts.program.vector_program import VectorProgram
from reference.component import bits_dtype
from reference.layout import poison
from reference.vector_layout import scatter, strided_bytes, strided_positions


def prepared(
    plan: Plan, converting: Converting, layout: MatrixLayout
) -> tuple[VectorProgram, dict[str, bytes]]:
    """The program of ``plan`` with its matrices in an optimal ``layout`` that is made on the
    device, from row-major matrices in a buffer of their own, and its inputs."""
    draft = plan.draft()
    plan.load(draft)
    kind = plan.kinds.matrix
    stride = (plan.k + 1) * kind.bytes
    given = strided_bytes(plan.m, plan.k, kind, MatrixLayout.ROW_MAJOR, stride)
    (made,) = converting.sizes([(plan.m, plan.k, Side(kind, layout))])
    steps = [(-(-size // MATRIX_UNIT) + 1) * MATRIX_UNIT for size in (given, made)]
    count, base = len(plan.weights), plan.matrices.base
    source = poison(count * steps[0] + TAIL, salt=31)
    at = strided_positions(plan.m, plan.k, MatrixLayout.ROW_MAJOR, stride, kind.bytes)
    for number, matrix in enumerate(plan.weights):
        scatter(source, number * steps[0] + at, matrix, kind)
        elements = np.ascontiguousarray(matrix.astype(bits_dtype(kind))).tobytes()
        draft.prepared.append(Prepared("rows", number * steps[0], stride, len(draft.opaque)))
        draft.opaque.append(
            Opaque("w", base + number * steps[1], made, kind, layout, plan.m, plan.k, elements)
        )
    draft.memory("rows", kind, source.tobytes())
    draft.memory("w", kind, poison(base + count * steps[1] + TAIL, salt=32).tobytes())
    index = replace(plan.matrices.index, base=base, step=steps[1])
    weights = Weights(Place("w", index), kind, layout)
    draft.body.append(plan.multiply(draft, "y", "x", weights, plan.biases(draft)))
    plan.store(draft)
    return draft.program(), draft.inputs
