"""Every module that the model can express is valid SPIR-V for Vulkan."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings

from cts.program.model import Numbers, Program
from cts.program.requires import requirements
from cts.program.valid import invalid
from cts.spirv.lower import lower
from cts.spirv.opcodes import Capability
from cts.spirv.tools import validate
from tests.spirv.programs import programs
from tests.spirv.words import frozen, instructions

# spirv-val 2025.5 takes a Use operand that is a specialization constant for a wrong one; the
# specialised module is validated instead, as a driver sees it.
USE_UNKNOWN = "Cooperative matrix type must be A Type"


@settings(max_examples=150, deadline=None)
@given(programs())
def test_generated_programs_lower_to_valid_modules(program: Program) -> None:
    assert invalid(program) is None
    module = lower(program)
    assert (validate(frozen(module)) or "") == ""
    complaint = validate(module.words)
    if "use" in program.specialized:
        assert complaint is not None and USE_UNKNOWN in complaint
    else:
        assert complaint is None


@settings(max_examples=100, deadline=None)
@given(programs())
def test_declared_capabilities_are_the_recorded_ones_and_have_requirements(
    program: Program,
) -> None:
    module = lower(program)
    declared = [it.operands[0] for it in instructions(module.words) if it.opcode == 17]
    assert {Capability(value).name for value in declared} == module.capabilities
    assert len(set(declared)) == len(declared)
    requires = requirements(module)
    assert "VK_KHR_cooperative_matrix" in requires.extensions
    assert requires.api_version == (1, 3)


@settings(max_examples=100, deadline=None)
@given(programs())
def test_numbers_outside_the_module_leave_its_words_alone(program: Program) -> None:
    moved = dataclasses.replace(
        program,
        body=tuple(
            dataclasses.replace(
                statement,
                address=dataclasses.replace(statement.address, stride=statement.address.stride * 2),
            )
            if hasattr(statement, "address")
            else statement
            for statement in program.body
        ),
    )
    words, moved_words = lower(program).words, lower(moved).words
    assert (words == moved_words) == (program.numbers is not Numbers.LITERAL)
    if program.numbers is Numbers.BUFFER:
        assert lower(program).parameters != lower(moved).parameters
    if program.numbers is Numbers.SPECIALIZATION:
        assert lower(program).specialization != lower(moved).specialization
