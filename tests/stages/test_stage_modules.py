"""Modules of every stage are valid, and say what they need."""

from __future__ import annotations

import dataclasses
import enum
import re

import pytest
from vulkan_object import get_vulkan_object

from cts.device.framing import Decoder, pack
from cts.device.wire import decode_request, encode_request
from cts.program.codec import from_json, to_json
from cts.program.requires import STAGE_NEEDS, requirements
from cts.program.stages import ONCE, RAYS, WITH_WORKGROUPS, invalid_stage, stage_reasons
from cts.program.vector import Stage
from cts.program.vector_program import Helpers, Launch, VectorProgram
from cts.spirv import stage_opcodes
from cts.spirv.companions import stand
from cts.spirv.request import dispatch
from cts.spirv.tools import disassemble, validate
from cts.spirv.vector import lower_vector
from reference.device import ReferenceDevice
from tests.stages.modules import OTHERS, numbered, request
from tests.vector.examples import EXAMPLES

GRID = Launch(3, 5)
CORE = "VkPhysicalDeviceFeatures."
EXAMPLE_NAMES = ("product-row_major", "product-physical", "exit", "if-phi", "components", "pick")


def staged(name: str, stage: Stage) -> VectorProgram:
    return dataclasses.replace(EXAMPLES[name], stage=stage)


@pytest.mark.parametrize("physical", [False, True])
@pytest.mark.parametrize("stage", Stage, ids=lambda it: it.label)
def test_a_module_of_a_stage_is_valid(stage: Stage, physical: bool) -> None:
    assert validate(numbered(stage, GRID, physical, helpers=True).words) is None


@pytest.mark.parametrize("stage", OTHERS, ids=lambda it: it.label)
def test_the_companions_of_a_stage_are_valid(stage: Stage) -> None:
    for one in stand(stage, GRID, 2).staging.companions:
        assert validate(one.words) is None


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
@pytest.mark.parametrize("stage", OTHERS, ids=lambda it: it.label)
def test_a_vector_program_of_a_stage_is_valid(stage: Stage, name: str) -> None:
    assert validate(lower_vector(staged(name, stage)).words) is None


def test_what_helper_invocations_do_is_only_in_fragment_shaders() -> None:
    base = EXAMPLES["product-row_major"]
    program = dataclasses.replace(base, body=(*base.body, Helpers(base.body[-1:])))
    for stage in (Stage.FRAGMENT, Stage.COMPUTE):
        module = lower_vector(dataclasses.replace(program, stage=stage))
        text = disassemble(module.words)
        assert text is not None
        assert validate(module.words) is None
        assert ("HelperInvocation" in text) == (stage is Stage.FRAGMENT)
        assert text.count("OpCooperativeVectorStoreNV") == (2 if stage is Stage.FRAGMENT else 1)


@pytest.mark.parametrize("stage", sorted(WITH_WORKGROUPS, key=lambda it: it.value))
def test_stages_with_workgroups_have_their_memory(stage: Stage) -> None:
    assert validate(lower_vector(staged("copy-workgroup", stage)).words) is None


@pytest.mark.parametrize("stage", sorted(ONCE, key=lambda it: it.value))
def test_stages_that_run_once_accumulate(stage: Stage) -> None:
    assert validate(lower_vector(staged("training-float16", stage)).words) is None


@pytest.mark.parametrize("stage", OTHERS, ids=lambda it: it.label)
def test_a_program_without_one_meaning_is_refused(stage: Stage) -> None:
    if stage not in WITH_WORKGROUPS:
        with pytest.raises(ValueError, match="no workgroup memory"):
            lower_vector(staged("copy-workgroup", stage))
    if stage not in ONCE:
        training = staged("training-float16", stage)
        with pytest.raises(ValueError, match="more than once"):
            lower_vector(training)
        alone = dataclasses.replace(training, body=(Helpers(training.body),))
        assert invalid_stage(alone) is None


FEATURES = {
    Stage.VERTEX: {CORE + "vertexPipelineStoresAndAtomics"},
    Stage.TESSELLATION_CONTROL: {CORE + "tessellationShader"},
    Stage.TESSELLATION_EVALUATION: {CORE + "tessellationShader"},
    Stage.GEOMETRY: {CORE + "geometryShader", CORE + "vertexPipelineStoresAndAtomics"},
    Stage.FRAGMENT: {CORE + "fragmentStoresAndAtomics"},
    Stage.TASK: {"VkPhysicalDeviceMeshShaderFeaturesEXT.taskShader"},
    Stage.MESH: {"VkPhysicalDeviceMeshShaderFeaturesEXT.meshShader"},
    **{it: {"VkPhysicalDeviceRayTracingPipelineFeaturesKHR.rayTracingPipeline"} for it in RAYS},
}


@pytest.mark.parametrize("stage", OTHERS, ids=lambda it: it.label)
def test_a_stage_needs_its_features_and_no_other_s(stage: Stage) -> None:
    plain = requirements(lower_vector(EXAMPLES["product-plain"])).features
    found = set(requirements(lower_vector(staged("product-plain", stage))).features) - set(plain)
    assert FEATURES[stage] <= found
    own = {feature for features in FEATURES.values() for feature in features}
    vertices = {CORE + "vertexPipelineStoresAndAtomics"}
    mesh = FEATURES[Stage.MESH] if stage is Stage.TASK else set()
    assert found & own <= FEATURES[stage] | vertices | mesh
    stored = stage in (Stage.VERTEX, Stage.GEOMETRY) or "tessellation" in stage.label
    assert (vertices <= found) == stored


REGISTRY = get_vulkan_object()


def test_a_stage_is_the_registry_s() -> None:
    values = {it.name: it.value for it in REGISTRY.bitmasks["VkShaderStageFlagBits"].flags}
    for stage in Stage:
        name = "RAYGEN" if stage is Stage.RAY_GENERATION else stage.name
        found = {values.get(f"VK_SHADER_STAGE_{name}_BIT{end}") for end in ("", "_KHR", "_EXT")}
        assert stage.value in found


@pytest.mark.parametrize("name", STAGE_NEEDS)
def test_a_need_names_members_of_the_registry(name: str) -> None:
    need = STAGE_NEEDS[name]
    assert need.extension is None or need.extension in REGISTRY.extensions
    if need.feature is not None:
        structure, member = need.feature.split(".")
        known = REGISTRY.structs[structure]
        assert member in [it.name for it in known.members]
        assert need.extension is None or need.extension in known.extensions


def test_a_ray_that_is_traced_needs_what_it_meets() -> None:
    feature = "VkPhysicalDeviceAccelerationStructureFeaturesKHR.accelerationStructure"
    for stage in RAYS:
        found = requirements(numbered(stage, GRID))
        assert "VK_KHR_acceleration_structure" in found.extensions
        assert (feature in found.features) == bool(stand(stage, GRID).staging.scene)


def test_every_enumerant_disassembles_to_its_name() -> None:
    words = []
    for stage in Stage:
        words.append(numbered(stage, GRID, helpers=True).words)
        if stage is not Stage.COMPUTE:
            words += [one.words for one in stand(stage, GRID).staging.companions]
    texts = [text for one in words if (text := disassemble(one)) is not None]
    assert len(texts) == len(words), "spirv-dis is a development dependency"
    known = set(re.findall(r"\w+", "\n".join(texts)))
    tables: tuple[type[enum.IntEnum], ...] = (
        stage_opcodes.Capability,
        stage_opcodes.Model,
        stage_opcodes.Mode,
        stage_opcodes.BuiltIn,
        stage_opcodes.Decoration,
        stage_opcodes.StorageClass,
    )
    assert {one.name for table in tables for one in table} <= known
    assert {"Op" + one.name for one in stage_opcodes.Op} <= known


@pytest.mark.parametrize("stage", OTHERS, ids=lambda it: it.label)
def test_requests_of_a_stage_travel_and_are_kept(stage: Stage) -> None:
    program = staged("product-physical", stage)
    inputs = {
        buffer.name: bytes(buffer.backing_bytes(program.grid.workgroups))
        for buffer in program.buffers
    }
    made = dispatch(program, inputs)
    assert made.staging is not None and made.staging.stage == stage.value
    assert from_json(to_json(made)) == made
    (frame,) = Decoder().feed(pack(encode_request(made)))
    assert decode_request(frame) == dataclasses.replace(made, program=None)


def test_a_compute_request_has_no_staging() -> None:
    assert request(Stage.COMPUTE, GRID).staging is None
    with pytest.raises(ValueError, match="compute"):
        stand(Stage.COMPUTE, GRID)


@pytest.mark.parametrize("stage", OTHERS, ids=lambda it: it.label)
def test_the_reference_device_runs_every_stage(stage: Stage) -> None:
    program = staged("product-row_major", stage)
    assert list(stage_reasons(program, ReferenceDevice().info)) == []


@pytest.mark.parametrize(
    ("stage", "grid", "text"),
    [
        (Stage.GEOMETRY, Launch(1, 33), "33 instances exceed 32"),
        (Stage.TESSELLATION_CONTROL, Launch(1, 33), "33 output vertices exceed 32"),
        (Stage.TESSELLATION_EVALUATION, Launch(1, 66), "66 generated vertices exceed 65"),
        (Stage.FRAGMENT, Launch(1, 1 << 15), "32768 pixels of width exceed 16384"),
        (Stage.FRAGMENT, Launch(1 << 15, 1), "32768 pixels of height exceed 16384"),
        (Stage.MESH, Launch(1, 129), "129 local invocations exceed 128"),
        (Stage.TASK, Launch(1 << 16, 1), "65536 workgroups exceed 65535"),
        (Stage.MISS, Launch(1 << 16, 1 << 15), "exceed 1073741824"),
    ],
    ids=lambda it: it.label if isinstance(it, Stage) else None,
)
def test_a_launch_beyond_a_limit_has_a_reason(stage: Stage, grid: Launch, text: str) -> None:
    program = dataclasses.replace(staged("product-row_major", stage), grid=grid)
    info = ReferenceDevice().info
    assert text in "; ".join(stage_reasons(program, info))
    none = dataclasses.replace(info, queues=(), properties={})
    reasons = list(stage_reasons(program, none))
    assert any("no queue" in reason for reason in reasons)
    assert any("exceed 0" in reason or "exceed 1 in" in reason for reason in reasons)
