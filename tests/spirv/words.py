"""Reads modules back, independently of the builder."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from cts.spirv.module import Module

SPEC_ID = 1
TYPE_INT = 21
DECORATE, CONSTANT, CONSTANT_COMPOSITE = 71, 43, 44
SPEC_CONSTANT, SPEC_CONSTANT_COMPOSITE = 50, 51


@dataclass(frozen=True)
class Instruction:
    opcode: int
    operands: tuple[int, ...]


def instructions(words: bytes) -> Iterator[Instruction]:
    values = struct.unpack(f"<{len(words) // 4}I", words)
    position = 5
    while position < len(values):
        count = values[position] >> 16
        yield Instruction(values[position] & 0xFFFF, values[position + 1 : position + count])
        position += count


def frozen(module: Module) -> bytes:
    """The module after specialization: its specialization constants are constants."""
    given = {spec_id: value for spec_id, _, value in module.specialization}
    values: dict[int, int] = {}
    signed: dict[int, int] = {}
    out = list(struct.unpack("<5I", module.words[:20]))
    for it in instructions(module.words):
        opcode, operands = it.opcode, list(it.operands)
        if opcode == DECORATE and operands[1] == SPEC_ID:
            values[operands[0]] = given[operands[2]]
            continue
        if opcode == TYPE_INT and operands[2]:
            signed[operands[0]] = operands[1]
        if opcode == SPEC_CONSTANT:
            value = values[operands[1]]
            bits = signed.get(operands[0], 32)
            if bits < 32 and value >> (bits - 1):
                value |= 0xFFFFFFFF ^ ((1 << bits) - 1)
            opcode = CONSTANT
            if len(operands) == 4:
                operands[2:] = [value & 0xFFFFFFFF, value >> 32]
            else:
                operands[2] = value
        elif opcode == SPEC_CONSTANT_COMPOSITE:
            opcode = CONSTANT_COMPOSITE
        out += ((len(operands) + 1) << 16 | opcode, *operands)
    return struct.pack(f"<{len(out)}I", *out)
