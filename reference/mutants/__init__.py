"""Devices with one planted fault, to show that the suite finds it.

A mutant wraps any device. Faults of a dispatch are put over the device's own reply: the program
is run twice on the concrete machine, right and wrong, and where the two differ the wrong bytes
replace the device's. So a mutant of a real driver is that driver but for the fault.
"""

from __future__ import annotations

from cts.device.protocol import Device
from reference.mutants import (
    arithmetic,
    arithmetic_shapes,
    conversions,
    convert_memory,
    convert_values,
    elementwise,
    flow,
    maintenance1,
    matrix2,
    memory,
    memory_shapes,
    queries,
    query_shapes,
    stages,
    tensor,
    trouble,
    trouble_shapes,
    values,
    vector,
    vector_shapes,
    vector_values,
)
from reference.mutants.base import Mutant

_ALL: tuple[Mutant, ...] = (
    *memory.MUTANTS,
    *memory_shapes.MUTANTS,
    *arithmetic.MUTANTS,
    *arithmetic_shapes.MUTANTS,
    *values.MUTANTS,
    *elementwise.MUTANTS,
    *flow.MUTANTS,
    *queries.MUTANTS,
    *query_shapes.MUTANTS,
    *trouble.MUTANTS,
    *trouble_shapes.MUTANTS,
    *conversions.MUTANTS,
    *convert_memory.MUTANTS,
    *convert_values.MUTANTS,
    *matrix2.MUTANTS,
    *maintenance1.MUTANTS,
    *tensor.MUTANTS,
    *stages.MUTANTS,
    *stages.WITHOUT_VECTORS,
    *vector.MUTANTS,
    *vector_values.MUTANTS,
    *vector_shapes.MUTANTS,
)
MUTANTS: dict[str, Mutant] = {mutant.name: mutant for mutant in _ALL}


def names() -> tuple[str, ...]:
    """The names of all mutants."""
    return tuple(MUTANTS)


def wrap(name: str, device: Device) -> Device:
    """``device`` with the fault called ``name``; KeyError where there is none, ValueError for a
    device that it can't be planted in."""
    return MUTANTS[name].wrap(device)
