"""The enumeration commands: counts, capacities, VK_INCOMPLETE, guards, and the records' values."""

from __future__ import annotations

from cts.case import Axes, case
from cts.device.protocol import Query
from cts.enumeration import MATRIX_COMMANDS, available, count, parameters, records, report
from cts.outcome import Level
from cts.subject import Subject
from reference import queries, query_values

SPEC = "VkSpec#vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"
COMMANDS = {"command": MATRIX_COMMANDS}


def _judge(subject: Subject, command: str, row: str) -> None:
    """Make the calls that Q-01 to Q-05 need and report what broke ``row``."""
    available(subject, command)
    for given in parameters(command, subject.info):
        number = count(subject, command, given)
        for query in queries.plan(command, number, given):
            report(subject, queries.judge(query, subject.query(query), number), (row,))


@case(
    id="cooperative_matrix.properties.count",
    rows=("Q-01",),
    spec=SPEC,
    requirement="With a null array the count becomes the number of records and the result is "
    "VK_SUCCESS.",
    level=Level.REQUIRED,
    axes=COMMANDS,
    fixed=True,
)
def test_count(subject: Subject, axes: Axes) -> None:
    _judge(subject, axes.command.name, "Q-01")


@case(
    id="cooperative_matrix.properties.incomplete",
    rows=("Q-02",),
    spec=SPEC,
    requirement="With room for fewer records than there are, no more than fit are written, the "
    "count becomes the number written, and the result is VK_INCOMPLETE.",
    level=Level.REQUIRED,
    axes=COMMANDS,
    fixed=True,
)
def test_incomplete(subject: Subject, axes: Axes) -> None:
    _judge(subject, axes.command.name, "Q-02")


@case(
    id="cooperative_matrix.properties.complete",
    rows=("Q-03",),
    spec=SPEC,
    requirement="With room for all records, all are written, the count becomes their number, and "
    "the result is VK_SUCCESS.",
    level=Level.REQUIRED,
    axes=COMMANDS,
    fixed=True,
)
def test_complete(subject: Subject, axes: Axes) -> None:
    _judge(subject, axes.command.name, "Q-03")


@case(
    id="cooperative_matrix.properties.guards",
    rows=("Q-04",),
    spec=SPEC,
    requirement="No byte behind the records that were written changes.",
    level=Level.REQUIRED,
    axes=COMMANDS,
    fixed=True,
)
def test_guards(subject: Subject, axes: Axes) -> None:
    _judge(subject, axes.command.name, "Q-04")


@case(
    id="cooperative_matrix.properties.headers",
    rows=("Q-05",),
    spec="VkSpec#fundamentals-validusage-pNext",
    requirement="sType and pNext of every record stay as the caller set them.",
    level=Level.REQUIRED,
    axes=COMMANDS,
    fixed=True,
)
def test_headers(subject: Subject, axes: Axes) -> None:
    _judge(subject, axes.command.name, "Q-05")


@case(
    id="cooperative_matrix.properties.agreement",
    rows=("Q-06",),
    spec=SPEC,
    requirement="Repeated calls, calls from several threads and calls on a second instance list "
    "the same records in the same order.",
    level=Level.POLICY,
    axes=COMMANDS,
    fixed=True,
)
def test_agreement(subject: Subject, axes: Axes) -> None:
    command = axes.command.name
    available(subject, command)
    for given in parameters(command, subject.info):
        number = count(subject, command, given)
        answers: list[tuple[str, list[dict[str, int]]]] = []
        for label, threads, instance in (
            ("the first call", 1, 0),
            ("a repeated call", 1, 0),
            ("a thread", 4, 0),
            ("a second instance", 1, 1),
        ):
            reply = subject.query(
                Query(
                    command,
                    capacity=number,
                    allocated=number,
                    parameters=given,
                    threads=threads,
                    instance=instance,
                )
            )
            for memory, filled in zip(reply.buffers, reply.counts, strict=True):
                answers.append((label, queries.decode(command, memory, min(filled, number))))
        report(subject, queries.judge_agreement(command, answers), ("Q-06",))


def _judge_values(subject: Subject, command: str, row: str) -> None:
    available(subject, command)
    for given in parameters(command, subject.info):
        listed = records(subject, command, given)
        report(subject, query_values.judge_records(command, listed, subject.info), (row,))


@case(
    id="cooperative_matrix.properties.values",
    rows=("Q-07",),
    spec="VkSpec#fundamentals-validusage-enums",
    requirement="Component types and scopes are values that an extension defines, preferably one "
    "of the device; booleans are 0 or 1; sizes are not 0.",
    level=Level.REQUIRED,
    axes=COMMANDS,
    fixed=True,
)
def test_values(subject: Subject, axes: Axes) -> None:
    _judge_values(subject, axes.command.name, "Q-07")


@case(
    id="cooperative_matrix.properties.duplicates",
    rows=("Q-08",),
    spec=SPEC,
    requirement="No two records are identical.",
    level=Level.POLICY,
    axes=COMMANDS,
    fixed=True,
)
def test_duplicates(subject: Subject, axes: Axes) -> None:
    _judge_values(subject, axes.command.name, "Q-08")


@case(
    id="cooperative_matrix.properties.features",
    rows=("Q-09",),
    spec="VkSpec#features",
    requirement="A record needs no feature that the device doesn't support.",
    level=Level.POLICY,
    axes=COMMANDS,
    fixed=True,
)
def test_features(subject: Subject, axes: Axes) -> None:
    _judge_values(subject, axes.command.name, "Q-09")
