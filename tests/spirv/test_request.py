"""Requests are complete."""

from __future__ import annotations

import dataclasses

import pytest

from cts.program.model import Component, Grid, Numbers, Program, Scope, Storage
from cts.spirv.lower import lower
from cts.spirv.request import dispatch
from tests.spirv.everything import product


def inputs(program: Program) -> dict[str, bytes]:
    workgroups = program.grid.workgroups
    return {buffer.name: bytes(buffer.backing_bytes(workgroups)) for buffer in program.buffers}


def test_buffers_come_in_program_order_with_the_numbers_last() -> None:
    program = product(Component.FLOAT32, Storage.PHYSICAL_STORAGE_BUFFER)
    request = dispatch(program, inputs(program))
    assert [buffer.physical for buffer in request.buffers] == [True] * 4 + [False] * 2
    assert request.buffers[-1].data == lower(program).parameters
    assert request.words == lower(program).words
    assert request.workgroups == (2, 1, 1)
    assert request.program is program


def test_programs_without_run_time_numbers_have_no_further_buffer() -> None:
    program = product(numbers=Numbers.SPECIALIZATION)
    request = dispatch(program, inputs(program))
    assert len(request.buffers) == len(program.buffers)
    assert request.specialization == lower(program).specialization


def test_workgroup_arrays_are_backed_for_every_workgroup() -> None:
    program = product(storage=Storage.WORKGROUP)
    request = dispatch(program, inputs(program))
    buffer = program.buffers[0]
    assert len(request.buffers[0].data) == 2 * buffer.size * buffer.pointee.bytes


def test_features_and_extensions_are_exactly_those_needed() -> None:
    program = product(Component.FLOAT32)
    request = dispatch(program, inputs(program))
    assert request.extensions == (
        "VK_EXT_shader_replicated_composites",
        "VK_KHR_cooperative_matrix",
    )
    assert request.features == (
        "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrix",
        "VkPhysicalDeviceShaderReplicatedCompositesFeaturesEXT.shaderReplicatedComposites",
        "VkPhysicalDeviceVulkan12Features.vulkanMemoryModel",
        "VkPhysicalDeviceVulkan13Features.computeFullSubgroups",
    )
    assert request.required_subgroup_size is None


def test_a_required_subgroup_size_needs_its_feature() -> None:
    program = product(grid=Grid(1, 1, 16, required=True))
    request = dispatch(program, inputs(program))
    assert request.required_subgroup_size == 16
    assert "VkPhysicalDeviceVulkan13Features.subgroupSizeControl" in request.features


def test_workgroup_scope_and_local_size_need_their_features() -> None:
    program = product(scope=Scope.WORKGROUP, specialized=frozenset({"local_size"}))
    request = dispatch(program, inputs(program))
    assert (
        "VkPhysicalDeviceCooperativeMatrix2FeaturesNV.cooperativeMatrixWorkgroupScope"
        in request.features
    )
    assert "VK_NV_cooperative_matrix2" in request.extensions
    assert "VkPhysicalDeviceVulkan13Features.maintenance4" in request.features


def test_inputs_have_to_fit() -> None:
    program = product()
    given = inputs(program)
    with pytest.raises(ValueError, match="exactly"):
        dispatch(program, {**given, "a": b"1"})
    with pytest.raises(ValueError, match="Buffer d"):
        dispatch(program, {name: data for name, data in given.items() if name != "d"})
    with pytest.raises(ValueError, match="doesn't have"):
        dispatch(program, {**given, "z": b""})


def test_equal_programs_give_equal_requests() -> None:
    program = product()
    again = dataclasses.replace(program)
    assert dispatch(program, inputs(program)) == dispatch(again, inputs(again))
