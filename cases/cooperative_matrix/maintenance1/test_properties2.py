"""vkGetPhysicalDeviceCooperativeMatrixProperties2EXT: what each valid set of parameters lists, and
that what is listed can be used."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from hypothesis import strategies as st

from cts import judge
from cts.case import Axes, case
from cts.device.protocol import Query
from cts.draw.combinations import Combination, Types
from cts.draw.direct import product
from cts.draw.flexible import Flexible, SizeClass, sizes
from cts.enumeration import available, count, records, report
from cts.outcome import Level
from cts.program.model import Component, Grid, Scope
from cts.program.records import KHR, PROPERTIES2, asked
from cts.program.sense import sensible
from cts.subject import Subject
from reference import properties2
from reference.properties import has_feature2
from reference.properties2 import Parameters, Record
from reference.rules import Violation

QUERY = "VkSpec#vkGetPhysicalDeviceCooperativeMatrixProperties2EXT"
RECORD = "VkSpec#VkCooperativeMatrixProperties2EXT"
INFO = "VkSpec#VkPhysicalDeviceCooperativeMatrixInfo2EXT"
FEATURE = "VkPhysicalDeviceCooperativeMatrixMaintenance1FeaturesEXT.cooperativeMatrixProperties2"
MAX_DIMENSION = (
    "VkPhysicalDeviceCooperativeMatrix2PropertiesNV.cooperativeMatrixFlexibleDimensionsMaxDimension"
)
PRODUCTS = {"float16": "E-02", "uint8": "E-03", "sint8": "E-04"}
"""Types of A and B that a required parameter must have, and the row that says so."""
SUBGROUPS = "VkPhysicalDeviceSubgroupSizeControlProperties."


def _supported(subject: Subject) -> None:
    """The command may be called only with its feature supported (VUID 13371)."""
    available(subject, PROPERTIES2)
    subject.require(FEATURE in subject.info.features, "cooperativeMatrixProperties2 is missing")


def _judge(
    subject: Subject,
    parameters: tuple[Parameters, ...],
    rule: Callable[[Parameters, list[dict[str, int]]], list[Violation]],
    row: str,
) -> None:
    for given in parameters:
        report(subject, rule(given, records(subject, PROPERTIES2, given.members())), (row,))


@case(
    id="cooperative_matrix.maintenance1.required.not_empty",
    rows=("E-01",),
    spec=QUERY,
    requirement="For every required set of parameters the number of records is not 0.",
    level=Level.REQUIRED,
    fixed=True,
)
def test_not_empty(subject: Subject) -> None:
    _supported(subject)
    for given in properties2.required(subject.info):
        number = count(subject, PROPERTIES2, given.members())
        report(subject, properties2.not_empty(given, number), ("E-01",))


@case(
    id="cooperative_matrix.maintenance1.required.types",
    rows=("E-02", "E-03", "E-04"),
    spec=QUERY,
    requirement="Every required set of parameters lists a float16 product, a uint8 product and a "
    "sint8 product with the accumulators that the specification names.",
    level=Level.REQUIRED,
    axes={"product": tuple(PRODUCTS)},
    fixed=True,
)
def test_types(subject: Subject, axes: Axes) -> None:
    _supported(subject)
    _judge(
        subject,
        properties2.required(subject.info),
        properties2.combinations,
        PRODUCTS[axes.product],
    )


@case(
    id="cooperative_matrix.maintenance1.required.alternatives",
    rows=("E-05",),
    spec=QUERY,
    requirement="Of the float16 and uint8 products both accumulators are listed.",
    level=Level.QUALITY,
    fixed=True,
)
def test_alternatives(subject: Subject) -> None:
    _supported(subject)
    _judge(subject, properties2.required(subject.info), properties2.combinations, "E-05")


@case(
    id="cooperative_matrix.maintenance1.powers_of_two",
    rows=("E-06",),
    spec=RECORD,
    requirement="Some record of a list that isn't empty has powers of two for its three "
    "granularities.",
    level=Level.REQUIRED,
    fixed=True,
)
def test_powers_of_two(subject: Subject) -> None:
    _supported(subject)
    _judge(subject, properties2.valid(subject.info), properties2.powers_of_two, "E-06")


@case(
    id="cooperative_matrix.maintenance1.saturation",
    rows=("E-08",),
    spec="VkSpec#VkCooperativeMatrixFlagBitsEXT",
    requirement="The lists without and with saturation have the types of the KHR records of their "
    "kind.",
    level=Level.POLICY,
    fixed=True,
)
def test_saturation(subject: Subject) -> None:
    _supported(subject)
    size = subject.info.subgroup_size
    given = Parameters(Scope.SUBGROUP, size)
    plain = records(subject, PROPERTIES2, given.members())
    flagged = dataclasses.replace(given, saturating=True)
    saturating = records(subject, PROPERTIES2, flagged.members())
    khr = subject.info.records.get(KHR, ())
    found = properties2.saturation(given, plain, saturating, khr)
    report(subject, found, ("E-08",))


@case(
    id="cooperative_matrix.maintenance1.every_parameter",
    rows=("E-09",),
    spec=INFO,
    requirement="Every valid set of parameters can be asked for, and gives the same number of "
    "records with and without an array.",
    level=Level.POLICY,
    fixed=True,
)
def test_every_parameter(subject: Subject) -> None:
    _supported(subject)
    for given in properties2.valid(subject.info):
        number = len(records(subject, PROPERTIES2, given.members()))
        reply = subject.query(Query(PROPERTIES2, null=True, parameters=given.members()))
        if (reply.counts[0], reply.results[0]) != (number, 0):
            message = (
                f"{given}: without an array {reply.counts[0]} records are counted (VkResult "
                f"{reply.results[0]}), with one {number} are listed"
            )
            report(subject, [Violation("E-09", Level.POLICY, message)], ("E-09",))


# --- use ------------------------------------------------------------------------------------


def _usable(subject: Subject, given: Parameters) -> list[dict[str, int]]:
    """The records that are listed for ``given`` and that programs can be made with; an event says
    how many others there are."""
    listed = records(subject, PROPERTIES2, given.members())
    found = [it for it in listed if sensible(it, saturating=given.saturating)]
    if len(found) < len(listed):
        subject.event("left out", f"{len(listed) - len(found)} of {len(listed)} for {given}")
    return found


def _listed(subject: Subject, given: Parameters, record: Record) -> Flexible:
    """The record, as one of flexible dimensions."""
    flexible = has_feature2(subject.info, "cooperativeMatrixFlexibleDimensions")
    limit = int(subject.info.properties.get(MAX_DIMENSION, 0)) if flexible else 0
    units = (record["MGranularity"], record["NGranularity"], record["KGranularity"])
    return Flexible(
        Types(*(Component(part) for part in properties2.types(record))),
        units,
        limit or max(units),
        Scope(given.scope),
        given.invocations,
        given.saturating,
        f"{PROPERTIES2}#0",
    )


def _combination(
    subject: Subject, data: st.DataObject, given: Parameters, record: Record, size: SizeClass
) -> Combination:
    """A combination that the record allows."""
    flexible = has_feature2(subject.info, "cooperativeMatrixFlexibleDimensions")
    subject.require(flexible or size is SizeClass.ONE, "dimensions are not flexible")
    listed = _listed(subject, given, record)
    return listed.sized(*data.draw(sizes(listed, size), label="sizes"))


def _grid(subject: Subject, given: Parameters) -> Grid:
    info = subject.info
    size = given.subgroup_size
    invocations = given.invocations or size
    return Grid(2, invocations // size, size, required=size != info.subgroup_size)


def _use(subject: Subject, data: st.DataObject, given: Parameters, size: SizeClass) -> None:
    listed = _usable(subject, given)
    subject.require(bool(listed), f"nothing that can be used is listed for {given}")
    record = data.draw(st.sampled_from(listed), label="record")
    combination = _combination(subject, data, given, record, size)
    sample = product(combination, _grid(subject, given), seed=data.draw(st.integers(0, 99)))
    subject.event("parameters", given)
    subject.event("types", combination.types.label)
    info = asked(subject.info, [record], dict(given.members()))
    subject.check(sample.program, sample.operands, info=info)


@case(
    id="cooperative_matrix.maintenance1.usable.every_record",
    rows=("E-07", "E-09", "Q-11"),
    spec=RECORD,
    requirement="Every record that is listed for some valid parameters can be used as these say: a "
    "pipeline with its granularities as sizes is created and multiplies.",
    level=Level.POLICY,
    axes={"scope": (Scope.SUBGROUP, Scope.WORKGROUP)},
    fixed=True,
)
def test_every_record(subject: Subject, axes: Axes) -> None:
    _supported(subject)
    found = [
        it for it in properties2.valid(subject.info) if it.scope == axes.scope and it.subgroup_size
    ]
    subject.require(bool(found), "cooperativeMatrixWorkgroupScope isn't supported")
    for given in found:
        for record in _usable(subject, given):
            listed = _listed(subject, given, record)
            sample = product(listed.sized(*listed.granularity), _grid(subject, given))
            info = asked(subject.info, [record], dict(given.members()))
            subject.check(sample.program, sample.operands, info=info)


@case(
    id="cooperative_matrix.maintenance1.usable.subgroup",
    rows=("E-07", "E-09"),
    spec=RECORD,
    requirement="What is listed for subgroups of a size works in a pipeline with that size: at the "
    "granularities, and with flexible dimensions at multiples of them.",
    level=Level.POLICY,
    axes={"size": tuple(SizeClass)},
    examples=2.0,
)
def test_usable_subgroup(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _supported(subject)
    given = data.draw(
        st.sampled_from(
            [
                it
                for it in properties2.valid(subject.info)
                if it.scope == Scope.SUBGROUP and it.subgroup_size
            ]
        ),
        label="parameters",
    )
    _use(subject, data, given, axes.size)


@case(
    id="cooperative_matrix.maintenance1.usable.workgroup",
    rows=("E-07", "E-09", "M-26"),
    spec=RECORD,
    requirement="What is listed for workgroups of a number of invocations works in these.",
    level=Level.POLICY,
    axes={"size": (SizeClass.ONE, SizeClass.FEW)},
    examples=2.0,
)
def test_usable_workgroup(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    _supported(subject)
    found = [
        it
        for it in properties2.valid(subject.info)
        if it.scope == Scope.WORKGROUP and it.subgroup_size
    ]
    subject.require(bool(found), "cooperativeMatrixWorkgroupScope isn't supported")
    _use(subject, data, data.draw(st.sampled_from(found), label="parameters"), axes.size)


@case(
    id="cooperative_matrix.maintenance1.usable.varying",
    rows=("E-09",),
    spec=INFO,
    requirement="What is listed for a subgroup size of 0 works in a shader whose subgroup size the "
    "implementation chooses.",
    level=Level.POLICY,
)
def test_usable_varying(subject: Subject, data: st.DataObject) -> None:
    _supported(subject)
    given = Parameters(Scope.SUBGROUP, 0)
    listed = _usable(subject, given)
    subject.require(bool(listed), f"nothing that can be used is listed for {given}")
    record = data.draw(st.sampled_from(listed), label="record")
    combination = _combination(subject, data, given, record, SizeClass.ONE)
    least = int(subject.info.properties[SUBGROUPS + "minSubgroupSize"])
    most = int(subject.info.properties[SUBGROUPS + "maxSubgroupSize"])
    sample = product(combination, Grid(1, most // least, least, varying=True))
    info = asked(subject.info, [record], dict(given.members()))
    buffers = subject.run(sample.program, sample.operands, info=info)
    # Larger subgroups are fewer, so that only the first tiles may have been worked on.
    inputs = judge.images(sample.program, sample.operands)
    worst = None
    for tiles in (most // least >> shift for shift in range((most // least).bit_length())):
        fewer = dataclasses.replace(
            sample.program, grid=dataclasses.replace(sample.program.grid, subgroups=tiles)
        )
        expected = judge.expect(fewer, inputs)
        violations = [
            violation
            for buffer, actual in zip(fewer.buffers, buffers, strict=False)
            for violation in expected[buffer.name].check(actual).violations
        ]
        finding = judge.as_finding(judge.Verdict(tuple(violations), 0.0, 0))
        if finding is None:
            return
        worst = worst or finding
    assert worst is not None
    subject.found(worst)
