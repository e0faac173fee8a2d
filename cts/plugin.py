"""The pytest plugin: ``pytest cases/`` collects and runs cases, with and without xdist.

Every case is an item of its own whose name is the case's id. Collection needs no device. Each
worker process opens the device once, at its first case, and closes it at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cts import witness
from cts.case import Case, CaseError, declaration_of, matches, order, unique
from cts.collect import suite_hash
from cts.device.errors import DeviceError
from cts.device.protocol import Device
from cts.events import EventWriter
from cts.outcome import Outcome, worse
from cts.profiles import PROFILES, Profile, run_seed
from cts.result import case_record, device_record
from cts.run import CaseResult, StopRun, run_case, stop_if_hopeless

_SESSION = pytest.StashKey["Session"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of a run of cases; ``coopcts run`` gives all of them."""
    group = parser.getgroup("coopcts", "conformance cases")
    group.addoption("--cts-device", default="auto", help="device under test (default: auto)")
    group.addoption("--cts-profile", default="default", choices=sorted(PROFILES), help="how much")
    group.addoption("--cts-seed", type=int, default=None, help="seed of the run")
    group.addoption("--cts-query", action="append", default=[], help="case id with *, repeatable")
    group.addoption("--cts-cases", default=None, help="file with the ids to run, one a line")
    group.addoption(
        "--cts-known", default=None, help="file of known faults, one `QUERY: reason` a line"
    )
    group.addoption("--cts-out", default=None, help="existing folder for events and witnesses")


def pytest_configure(config: pytest.Config) -> None:
    """Fix the run's seed, once, so that every worker has the same."""
    option = config.option
    given = getattr(config, "workerinput", {}).get("cts_seed", option.cts_seed)
    option.cts_seed = run_seed(PROFILES[option.cts_profile], given)
    config.stash[_SESSION] = Session(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a pytest-xdist worker the seed of the run."""
    node.workerinput["cts_seed"] = node.config.option.cts_seed


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give the device back."""
    if _SESSION in config.stash:
        config.stash[_SESSION].close()


def pytest_report_header(config: pytest.Config) -> str | None:
    """What decides the inputs of a run."""
    option = config.option
    return (
        f"coopcts: device {option.cts_device}, profile {option.cts_profile}, seed {option.cts_seed}"
    )


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    """Collect a declared case function as one item per combination of its axes."""
    declaration = declaration_of(obj)
    if declaration is None or not name.startswith("test_"):
        return None
    return [
        CaseItem.from_parent(collector, name=case.id, case=case) for case in declaration.cases()
    ]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the cases into the order of a run, and keep the selected ones."""
    cases = [item for item in items if isinstance(item, CaseItem)]
    try:
        unique([item.case for item in cases])
    except CaseError as error:
        raise pytest.UsageError(str(error)) from None
    chosen = [item for item in cases if _wanted(config, item.case.id)]
    chosen.sort(key=lambda item: order(item.case.id))
    others = [item for item in items if not isinstance(item, CaseItem)]
    dropped = set(map(id, cases)) - set(map(id, chosen))
    if dropped:
        config.hook.pytest_deselected(items=[item for item in cases if id(item) in dropped])
    items[:] = others + list(chosen)


def _wanted(config: pytest.Config, case_id: str) -> bool:
    """Whether the options select a case; all are selected where they say nothing."""
    queries = config.option.cts_query
    listed = config.stash[_SESSION].listed
    if queries and not any(matches(case_id, query) for query in queries):
        return False
    return listed is None or case_id in listed


class Session:
    """What the cases of one process share: the device and the event file."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.option
        self.profile: Profile = PROFILES[option.cts_profile]
        self.origin = witness.Origin(option.cts_seed, option.cts_profile, suite_hash())
        self.folder = Path(option.cts_out) if option.cts_out else None
        self.listed: frozenset[str] | None = None
        if option.cts_cases:
            text = Path(option.cts_cases).read_text(encoding="utf-8")
            self.listed = frozenset(text.split())
        self.known = known_faults(Path(option.cts_known)) if option.cts_known else {}
        self._spec: str = option.cts_device
        self._worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        self._device: Device | None = None
        self._events: EventWriter | None = None

    def write(self, kind: str, **fields: object) -> None:
        """Append an event, if there is a run folder. StopRun if the disk is full."""
        if self.folder is None:
            return
        try:
            if self._events is None:
                self._events = EventWriter(self.folder, self._worker)
            self._events.write(kind, **fields)
        except OSError as error:
            stop_if_hopeless(error)
            raise StopRun(f"the run folder can't be written: {error}") from error

    def device(self) -> Device:
        """The device under test, opened at the first call. StopRun if there is none."""
        if self._device is None:
            from cts.opening import open_device

            try:
                self._device = open_device(self._spec, self.folder)
            except DeviceError as error:
                raise StopRun(str(error)) from error
            self.write("device", info=device_record(self._device.info))
        return self._device

    def run(self, case: Case) -> tuple[CaseResult, list[dict[str, Any]]]:
        """Run one case and write what happened; its result and its findings as stored."""
        device = self.device()
        self.write("start", case=case.id)
        result = run_case(case, device, self.profile, self.origin.seed)
        reports: list[dict[str, Any]] = []
        try:
            for found in result.found:
                report = witness.store(found, case, device.info, self.origin, self.folder)
                if report["id"] not in [it["id"] for it in reports]:
                    reports.append(report)
                    self.write("finding", finding=report)
        except OSError as error:
            stop_if_hopeless(error)
            raise
        if result.recovered:
            self.write("recovered", case=case.id, texts=result.recovered)
        self.write(
            "end", case=case_record(result, [it["id"] for it in reports]), trace=result.trace
        )
        return result, reports

    def known_reason(self, result: CaseResult) -> str | None:
        """Why the driver is known to fail this case. The suite's own errors are never known."""
        if result.outcome is Outcome.ERROR:
            return None
        found = (why for query, why in self.known.items() if matches(result.case.id, query))
        return next(found, None)

    def close(self) -> None:
        """Close the device and the event file."""
        if self._device is not None:
            self._device.close()
            self._device = None
        if self._events is not None:
            self._events.close()


def known_faults(path: Path) -> dict[str, str]:
    """Query to reason, from a file with `QUERY: reason` lines and comments that begin with #.
    UsageError where a line is neither."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        query, colon, reason = text.partition(":")
        if not colon or not reason.strip():
            raise pytest.UsageError(f"{path}, line {number}: not `QUERY: reason`")
        found[query.strip()] = reason.strip()
    return found


class CaseFailed(Exception):
    """A case didn't end as expected; carries what the report shows."""

    def __init__(self, result: CaseResult, reports: list[dict[str, Any]]) -> None:
        super().__init__(result.reason)
        self.result = result
        self.reports = reports


class CaseStopped(Exception):
    """The run can't go on."""


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case

    def runtest(self) -> None:
        """Run the case; its outcome becomes the item's."""
        session = self.config.stash[_SESSION]
        try:
            result, reports = session.run(self.case)
        except StopRun as stop:
            self.session.shouldstop = str(stop)
            raise CaseStopped(str(stop)) from None
        self.user_properties.append(("outcome", str(result.outcome)))
        self.user_properties.append(("examples", result.tally.examples))
        if result.outcome is Outcome.NOT_SUPPORTED:
            pytest.skip(result.reason)
        if not worse(Outcome.POLICY, result.outcome):
            reason = session.known_reason(result)
            if reason is not None:
                pytest.xfail(reason)
            raise CaseFailed(result, reports)
        for report in reports:
            self.add_report_section("call", "quality", "\n".join(finding_lines(report)))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | Any:
        """The findings as a person reads them; a traceback for the suite's own errors only."""
        error = excinfo.value
        if isinstance(error, CaseStopped):
            return str(error)
        if not isinstance(error, CaseFailed):
            return super().repr_failure(excinfo, style)
        case, result = self.case, error.result
        lines = [
            f"{case.id}: {result.outcome} ({case.level} by {case.declaration.spec})",
            f"rule: {case.declaration.requirement}",
        ]
        if not error.reports:
            lines += ["", result.reason]
        for report in error.reports:
            lines += ["", *finding_lines(report)]
        if result.trace:
            lines += ["", result.trace]
        return "\n".join(lines)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the case function is, and its id."""
        code = self.case.declaration.function.__code__
        return self.path, code.co_firstlineno - 1, self.case.id


def finding_lines(report: dict[str, Any]) -> Iterator[str]:
    """A finding in a few lines of text."""
    yield f"{report['id']} {report['kind']}: {report['message']}"
    for name in ("record", "pattern", "explanation"):
        if report.get(name):
            yield f"{name}: {report[name]}"
    yield from str(report.get("program", "")).splitlines()
    for operand in report.get("operands", []):
        yield f"operand {operand['name']}: {operand['recipe']}"
    yield from (f"{name}: {value}" for name, value in report.get("facts", {}).items())
    if report.get("replay"):
        yield f"again: {report['replay']}"
