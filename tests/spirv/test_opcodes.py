"""The table of opcodes agrees with the published disassembler, and has nothing unused."""

from __future__ import annotations

import enum
import re

import pytest

from cts.spirv import opcodes as spv
from cts.spirv.lower import lower
from cts.spirv.opcodes import Capability, Op
from cts.spirv.tools import disassemble
from tests.spirv.everything import PROGRAMS
from tests.spirv.words import instructions


@pytest.fixture(scope="module")
def listings() -> list[tuple[bytes, str]]:
    found = []
    for program in PROGRAMS:
        words = lower(program).words
        text = disassemble(words)
        assert text is not None, "spirv-dis is a development dependency"
        found.append((words, text))
    return found


def names(text: str) -> list[str]:
    return re.findall(r"^\s*(?:%\w+ = )?Op(\w+)", text, re.MULTILINE)


def test_every_instruction_disassembles_to_its_name(listings: list[tuple[bytes, str]]) -> None:
    seen: set[Op] = set()
    for words, text in listings:
        mine = [Op(it.opcode) for it in instructions(words)]
        assert [op.name for op in mine] == names(text)
        seen.update(mine)
    assert seen == set(Op)


@pytest.mark.parametrize(
    "table",
    [
        spv.Capability,
        spv.StorageClass,
        spv.Decoration,
        spv.BuiltIn,
        spv.Addressing,
        spv.Encoding,
        spv.Memory,
        spv.Operands,
    ],
)
def test_every_enumerant_disassembles_to_its_name(
    listings: list[tuple[bytes, str]], table: type[enum.IntEnum]
) -> None:
    words = set(re.findall(r"\w+", "\n".join(text for _, text in listings)))
    assert {member.name for member in table} <= words


def test_bare_numbers_disassemble_to_their_names(listings: list[tuple[bytes, str]]) -> None:
    text = "\n".join(text for _, text in listings)
    assert re.search(r"OpMemoryModel Logical Vulkan$", text, re.MULTILINE)
    assert re.search(r"OpEntryPoint GLCompute %\w+ \"main\"", text)
    assert re.search(r"OpLoopMerge %\w+ %\w+ DontUnroll$", text, re.MULTILINE)
    assert re.search(r"OpLoopMerge %\w+ %\w+ None$", text, re.MULTILINE)
    assert re.search(r"OpExecutionMode %\w+ LocalSize 16 1 1$", text, re.MULTILINE)
    assert re.search(r"OpExecutionModeId %\w+ LocalSizeId %\w+ %\w+ %\w+$", text, re.MULTILINE)


def test_every_capability_has_its_extension() -> None:
    # Numbers from 4096 on are extensions'; SPIR-V 1.5 took these four over.
    core = {
        Capability.StorageBuffer16BitAccess,
        Capability.StorageBuffer8BitAccess,
        Capability.VulkanMemoryModel,
        Capability.PhysicalStorageBufferAddresses,
    }
    for capability in Capability:
        outside = capability >= 4096 and capability not in core
        assert (capability in spv.CAPABILITY_EXTENSION) == outside, capability.name
