"""Cooperative vectors (VK_NV_cooperative_vector) as frozen data."""

from __future__ import annotations

import enum


class MatrixLayout(enum.IntEnum):
    """VkCooperativeVectorMatrixLayoutNV and SPIR-V Cooperative Vector Matrix Layout; the two
    share their values."""

    ROW_MAJOR = 0
    COLUMN_MAJOR = 1
    INFERENCING_OPTIMAL = 2
    TRAINING_OPTIMAL = 3

    @property
    def optimal(self) -> bool:
        """Whether the order of the elements is the implementation's own."""
        return self >= MatrixLayout.INFERENCING_OPTIMAL
