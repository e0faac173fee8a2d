"""The list of combinations, its enumeration command, and the limits of cooperative vectors."""

from __future__ import annotations

from cts.case import case
from cts.device.protocol import Query
from cts.enumeration import available, count, records, report
from cts.outcome import Level
from cts.subject import Subject
from reference import queries, query_values, vector_properties
from reference.queries import VECTOR

COMMAND = "VkSpec#vkGetPhysicalDeviceCooperativeVectorPropertiesNV"
RECORD = "VkSpec#VkCooperativeVectorPropertiesNV"


def _judge_calls(subject: Subject, row: str) -> None:
    available(subject, VECTOR)
    number = count(subject, VECTOR)
    for query in queries.plan(VECTOR, number):
        report(subject, queries.judge(query, subject.query(query), number), (row,))


def _judge_values(subject: Subject, row: str) -> None:
    available(subject, VECTOR)
    listed = records(subject, VECTOR)
    report(subject, query_values.judge_records(VECTOR, listed, subject.info), (row,))


@case(
    id="cooperative_vector.properties.count",
    rows=("Q-01",),
    spec=COMMAND,
    requirement="With a null array the count becomes the number of records and the result is "
    "VK_SUCCESS.",
    fixed=True,
)
def test_count(subject: Subject) -> None:
    _judge_calls(subject, "Q-01")


@case(
    id="cooperative_vector.properties.incomplete",
    rows=("Q-02",),
    spec=COMMAND,
    requirement="With room for fewer records than there are, no more than fit are written, the "
    "count becomes the number written, and the result is VK_INCOMPLETE.",
    fixed=True,
)
def test_incomplete(subject: Subject) -> None:
    _judge_calls(subject, "Q-02")


@case(
    id="cooperative_vector.properties.complete",
    rows=("Q-03",),
    spec=COMMAND,
    requirement="With room for all records, all are written, the count becomes their number, and "
    "the result is VK_SUCCESS.",
    fixed=True,
)
def test_complete(subject: Subject) -> None:
    _judge_calls(subject, "Q-03")


@case(
    id="cooperative_vector.properties.guards",
    rows=("Q-04",),
    spec=COMMAND,
    requirement="No byte behind the records that were written changes.",
    fixed=True,
)
def test_guards(subject: Subject) -> None:
    _judge_calls(subject, "Q-04")


@case(
    id="cooperative_vector.properties.headers",
    rows=("Q-05",),
    spec="VkSpec#fundamentals-validusage-pNext",
    requirement="sType and pNext of every record stay as the caller set them.",
    fixed=True,
)
def test_headers(subject: Subject) -> None:
    _judge_calls(subject, "Q-05")


@case(
    id="cooperative_vector.properties.agreement",
    rows=("Q-06",),
    spec=COMMAND,
    requirement="Repeated calls, calls from several threads and calls on a second instance list "
    "the same records in the same order.",
    level=Level.POLICY,
    fixed=True,
)
def test_agreement(subject: Subject) -> None:
    available(subject, VECTOR)
    number = count(subject, VECTOR)
    answers: list[tuple[str, list[dict[str, int]]]] = []
    for label, threads, instance in (
        ("the first call", 1, 0),
        ("a repeated call", 1, 0),
        ("a thread", 4, 0),
        ("a second instance", 1, 1),
    ):
        reply = subject.query(
            Query(VECTOR, capacity=number, allocated=number, threads=threads, instance=instance)
        )
        for memory, filled in zip(reply.buffers, reply.counts, strict=True):
            answers.append((label, queries.decode(VECTOR, memory, min(filled, number))))
    report(subject, queries.judge_agreement(VECTOR, answers), ("Q-06",))


@case(
    id="cooperative_vector.properties.values",
    rows=("Q-07",),
    spec="VkSpec#fundamentals-validusage-enums",
    requirement="Component types are values that an extension defines, preferably one of the "
    "device; transpose is 0 or 1.",
    fixed=True,
)
def test_values(subject: Subject) -> None:
    _judge_values(subject, "Q-07")


@case(
    id="cooperative_vector.properties.duplicates",
    rows=("Q-08",),
    spec=COMMAND,
    requirement="No two records are identical.",
    level=Level.POLICY,
    fixed=True,
)
def test_duplicates(subject: Subject) -> None:
    _judge_values(subject, "Q-08")


@case(
    id="cooperative_vector.properties.features",
    rows=("Q-09",),
    spec="VkSpec#features",
    requirement="A record needs no feature that the device doesn't support.",
    level=Level.POLICY,
    fixed=True,
)
def test_features(subject: Subject) -> None:
    _judge_values(subject, "Q-09")


@case(
    id="cooperative_vector.properties.required",
    rows=("V-01",),
    spec=RECORD,
    requirement="The six required combinations of types are listed.",
    fixed=True,
)
def test_required(subject: Subject) -> None:
    available(subject, VECTOR)
    report(subject, vector_properties.required_combinations(records(subject, VECTOR)), ("V-01",))


@case(
    id="cooperative_vector.properties.packed",
    rows=("V-02",),
    spec=RECORD,
    requirement="SINT8_PACKED and UINT8_PACKED appear as inputInterpretation only.",
    fixed=True,
)
def test_packed(subject: Subject) -> None:
    available(subject, VECTOR)
    report(subject, vector_properties.packed_types(records(subject, VECTOR)), ("V-02",))


@case(
    id="cooperative_vector.properties.limits",
    rows=("V-03",),
    spec="VkSpec#limits-maxCooperativeVectorComponents",
    requirement="maxCooperativeVectorComponents is at least 128, and the supported stages have "
    "COMPUTE where a queue family can compute.",
    fixed=True,
)
def test_limits(subject: Subject) -> None:
    available(subject, VECTOR)
    report(subject, vector_properties.limits(subject.info), ("V-03",))
