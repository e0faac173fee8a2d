"""What the lists of combinations and the property structures must say."""

from __future__ import annotations

from cts.case import Axes, case
from cts.draw.combinations import combinations
from cts.draw.direct import product
from cts.enumeration import available, records, report
from cts.outcome import Level
from cts.program.model import Grid
from cts.subject import Subject
from reference import properties
from reference.queries import FLEXIBLE, KHR, NV

PROPERTIES = "VkSpec#VkCooperativeMatrixPropertiesKHR"
LISTS = {"khr": KHR, "nv": NV}


@case(
    id="cooperative_matrix.properties.mandatory",
    rows=("Q-10",),
    spec="VkSpec#features-required",
    requirement="An extension that is listed supports the features that come with it, and the "
    "commands of a listed extension exist.",
    level=Level.REQUIRED,
    fixed=True,
)
def test_mandatory(subject: Subject) -> None:
    report(subject, properties.mandatory(subject.info), ("Q-10",))


@case(
    id="cooperative_matrix.properties.usable",
    rows=("Q-11",),
    spec=PROPERTIES,
    requirement="Every combination that is listed can be used: a pipeline with exactly it is "
    "created and multiplies.",
    level=Level.POLICY,
    fixed=True,
)
def test_usable(subject: Subject) -> None:
    found = combinations(subject.info)
    subject.require(bool(found), "no subgroup combination is advertised")
    for combination in found:
        sample = product(combination, Grid(2, 1, subject.info.subgroup_size))
        subject.check(sample.program, sample.operands)


@case(
    id="cooperative_matrix.properties.powers_of_two",
    rows=("P-01",),
    spec=PROPERTIES,
    requirement="At least one element has powers of two for M, N and K.",
    level=Level.REQUIRED,
    axes={"list": tuple(LISTS)},
    fixed=True,
)
def test_powers_of_two(subject: Subject, axes: Axes) -> None:
    command = LISTS[axes.list]
    available(subject, command)
    found = properties.powers_of_two(command, records(subject, command))
    report(subject, found, ("P-01",))


@case(
    id="cooperative_matrix.properties.scope",
    rows=("P-02",),
    spec=PROPERTIES,
    requirement="The scope of every KHR element is subgroup, unless workgroup scope is supported.",
    level=Level.REQUIRED,
    fixed=True,
)
def test_scope(subject: Subject) -> None:
    available(subject, KHR)
    report(subject, properties.scopes(KHR, records(subject, KHR), subject.info), ("P-02",))


@case(
    id="cooperative_matrix.properties.stages",
    rows=("P-03",),
    spec="VkSpec#VkPhysicalDeviceCooperativeMatrixPropertiesKHR",
    requirement="The supported stages have COMPUTE where a queue family can compute; those of the "
    "KHR structure have no other.",
    level=Level.REQUIRED,
    axes={"list": tuple(LISTS)},
    fixed=True,
)
def test_stages(subject: Subject, axes: Axes) -> None:
    available(subject, LISTS[axes.list])
    khr = axes.list == "khr"
    member = properties.KHR_STAGES if khr else properties.NV_STAGES
    report(subject, properties.stages(subject.info, member, only_compute=khr), ("P-03",))


@case(
    id="cooperative_matrix.properties.granularities",
    rows=("P-04",),
    spec="VkSpec#VkCooperativeMatrixFlexibleDimensionsPropertiesNV",
    requirement="Granularities are powers of two; without flexible dimensions nothing is listed.",
    level=Level.REQUIRED,
    fixed=True,
)
def test_granularities(subject: Subject) -> None:
    available(subject, FLEXIBLE)
    listed = records(subject, FLEXIBLE)
    report(subject, properties.granularities(listed, subject.info), ("P-04",))


@case(
    id="cooperative_matrix.properties.limits",
    rows=("P-05",),
    spec="VkSpec#limits-required",
    requirement="The limits of workgroup scope and flexible dimensions reach their minimum, and "
    "reserved shared memory its maximum.",
    level=Level.REQUIRED,
    fixed=True,
)
def test_limits(subject: Subject) -> None:
    available(subject, FLEXIBLE)
    report(subject, properties.limits(subject.info), ("P-05",))


@case(
    id="cooperative_matrix.properties.workgroup_invocations",
    rows=("P-06",),
    spec="VkSpec#VkCooperativeMatrixFlexibleDimensionsPropertiesNV",
    requirement="workgroupInvocations is 0 for subgroup scope; for workgroup scope it is a "
    "multiple of the subgroup size within the limit.",
    level=Level.POLICY,
    fixed=True,
)
def test_workgroup_invocations(subject: Subject) -> None:
    available(subject, FLEXIBLE)
    listed = records(subject, FLEXIBLE)
    report(subject, properties.workgroup_invocations(listed, subject.info), ("P-06",))


@case(
    id="cooperative_matrix.properties.lists_agree",
    rows=("P-07",),
    spec=PROPERTIES,
    requirement="The KHR and NV lists agree on the combinations that both can express.",
    level=Level.POLICY,
    fixed=True,
)
def test_lists_agree(subject: Subject) -> None:
    available(subject, KHR)
    available(subject, NV)
    found = properties.agreement(records(subject, KHR), records(subject, NV))
    report(subject, found, ("P-07",))


@case(
    id="cooperative_matrix.properties.companions",
    rows=("P-08",),
    spec=PROPERTIES,
    requirement="A saturating combination has its wrapping form, and 8-bit integers are listed "
    "in both signednesses.",
    level=Level.QUALITY,
    fixed=True,
)
def test_companions(subject: Subject) -> None:
    available(subject, KHR)
    report(subject, properties.companions(KHR, records(subject, KHR)), ("P-08",))
