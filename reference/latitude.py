"""What an implementation may choose, as data.

Vulkan says that OpCooperativeMatrixMulAddKHR works in "implementation-dependent order and internal
precision", and that without further execution modes the sign of a zero, infinities and NaN may be
ignored and subnormals flushed (appendix "Vulkan Environment for SPIR-V", section "Precision and
Operation of SPIR-V Instructions"). One record holds each of these freedoms with one of three
values; the acceptance sets read it and nothing else. A vendor profile may only narrow it.
"""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass


class Choice(enum.Enum):
    """Whether implementations do something."""

    YES = "yes"
    NO = "no"
    EITHER = "either"

    @property
    def possible(self) -> bool:
        """Whether an implementation may do it."""
        return self is not Choice.NO


@dataclass(frozen=True)
class Latitude:
    """Freedoms of one edition of the specification, as the suite's policy reads them."""

    edition: str = "1.4"
    flushes_subnormals: Choice = Choice.EITHER
    """Subnormal operands, intermediate values and results of a multiply-add may become zero."""
    drops_zero_sign: Choice = Choice.EITHER
    """A zero may come back with the other sign, even from a load and store (NSZ is assumed)."""
    assumes_no_specials: Choice = Choice.EITHER
    """NaN and infinity as operand or result give anything (NotNaN and NotInf are assumed)."""
    directed_rounding: Choice = Choice.EITHER
    """Intermediate roundings may be truncations or directed, not only to nearest."""
    narrow_accumulation: Choice = Choice.EITHER
    """Sums with a float16 or bfloat16 C or result may be kept in that type."""
    short_float8_sums: Choice = Choice.EITHER
    """Products of 8-bit floats may be summed with 14 significant bits, whatever the result."""
    unit_errors: Choice = Choice.EITHER
    """An addend of the other sign may be off by one unit of the adder's grid, even where the sum
    is representable (adders that negate by inverting bits); zeros may count as addends."""
    overflows_early: Choice = Choice.EITHER
    """A partial sum may overflow although the whole sum does not."""
    rounds_float32_inputs: Choice = Choice.NO
    """float32 operands of A and B may be rounded to 11 significant bits before multiplying."""

    def narrowed(self, **changes: Choice) -> Latitude:
        """A copy in which some EITHER became YES or NO; ValueError for any other change."""
        for name, choice in changes.items():
            before = getattr(self, name)
            if before is not Choice.EITHER and before is not choice:
                raise ValueError(f"{name} is {before.value} and can't become {choice.value}")
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return Latitude(**(fields | changes))


VULKAN = Latitude()
"""The latitude of the Vulkan 1.4 specification without float-controls execution modes."""
