"""The cases about stages pass on the reference device, with valid modules, and end at once where
a stage isn't there."""

from __future__ import annotations

import dataclasses

import pytest

from cts.case import Case
from cts.collect import collect
from cts.device.protocol import Dispatch, Reply, Request
from cts.outcome import Outcome
from cts.profiles import Profile
from cts.program.vector import Stage
from cts.run import run_case
from cts.spirv.tools import validate
from reference.device import ReferenceDevice

ROOT = "cooperative_vector.stages."
CASES: dict[str, Case] = {case.id: case for case in collect() if case.id.startswith(ROOT)}
FEW = Profile("few", 2, "tests", shrink=False, target=False)
STAGES = "VkPhysicalDeviceCooperativeVectorPropertiesNV.cooperativeVectorSupportedStages"


class Validating(ReferenceDevice):
    """Has every module looked at by the published validator."""

    def execute(self, request: Request) -> Reply:
        if isinstance(request, Dispatch):
            assert validate(request.words) is None
        return super().execute(request)


@pytest.mark.parametrize("name", CASES)
def test_a_case_passes_with_valid_modules(name: str) -> None:
    result = run_case(CASES[name], Validating(), FEW, 1)
    assert result.outcome is Outcome.PASS, result.trace or result.reason


@pytest.mark.parametrize("stage", Stage, ids=lambda it: it.label)
def test_a_stage_without_vectors_is_not_supported(stage: Stage) -> None:
    device = ReferenceDevice()
    properties = {**device.info.properties, STAGES: 0x7FFFFFFF & ~stage.value}
    device._info = dataclasses.replace(device.info, properties=properties)
    result = run_case(CASES[f"{ROOT}product.{stage.label}"], device, FEW, 1)
    assert result.outcome is Outcome.NOT_SUPPORTED
    assert f"in the {stage.label} stage" in result.reason


@pytest.mark.parametrize(
    ("stage", "feature"),
    [
        (Stage.VERTEX, "VkPhysicalDeviceFeatures.vertexPipelineStoresAndAtomics"),
        (Stage.FRAGMENT, "VkPhysicalDeviceFeatures.fragmentStoresAndAtomics"),
        (Stage.TASK, "VkPhysicalDeviceMeshShaderFeaturesEXT.taskShader"),
        (Stage.MISS, "VkPhysicalDeviceRayTracingPipelineFeaturesKHR.rayTracingPipeline"),
    ],
)
def test_a_stage_that_the_device_lacks_is_not_supported(stage: Stage, feature: str) -> None:
    device = ReferenceDevice()
    features = device.info.features - {feature}
    device._info = dataclasses.replace(device.info, features=features)
    result = run_case(CASES[f"{ROOT}product.{stage.label}"], device, FEW, 1)
    assert result.outcome is Outcome.NOT_SUPPORTED
    assert feature in result.reason
