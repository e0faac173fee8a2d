"""``result.json``: merged from the list of selected cases and the events of all workers."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import cts
from cts.case import Case
from cts.collect import suite_hash
from cts.device.protocol import DeviceInfo
from cts.events import plain
from cts.outcome import Level, Outcome, worse
from cts.run import CaseResult

SCHEMA = 1
SHOWN_RECOVERIES = 5


@dataclass(frozen=True)
class Run:
    """What was asked of a run. ``started`` is ISO 8601 in UTC, ``total`` the number of cases of
    the whole suite."""

    profile: str
    seed: int
    command: str
    started: str
    workers: int
    total: int
    queries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class Progress:
    """What the events said so far: finished cases, running ones, findings, the device."""

    ended: dict[str, dict[str, Any]] = field(default_factory=dict)
    started: dict[str, float] = field(default_factory=dict)
    findings: dict[str, dict[str, Any]] = field(default_factory=dict)
    device: dict[str, Any] | None = None
    recovered: dict[str, list[str]] = field(default_factory=dict)

    def add(self, event: Mapping[str, Any]) -> None:
        """Take one event in."""
        match event["event"]:
            case "device":
                self.device = self.device or event["info"]
            case "start":
                self.started[event["case"]] = event["time"]
            case "finding":
                self.findings.setdefault(event["finding"]["id"], event["finding"])
            case "recovered":
                self.recovered[event["case"]] = event["texts"]
            case "end":
                self.ended[event["case"]["id"]] = event["case"]
                self.started.pop(event["case"]["id"], None)

    @property
    def examples(self) -> int:
        """Examples of the finished cases."""
        return sum(case["examples"] for case in self.ended.values())

    @property
    def counts(self) -> Counter[str]:
        """Finished cases by outcome."""
        return Counter(case["outcome"] for case in self.ended.values())


def device_record(info: DeviceInfo) -> dict[str, Any]:
    """The device as ``result.json`` has it."""
    size = info.properties.get("VkPhysicalDeviceSubgroupProperties.subgroupSize")
    return {
        "kind": info.kind,
        "name": info.name,
        "driver": info.driver,
        "driver_version": info.driver_version,
        "api_version": info.api_version,
        "uuid": info.uuid,
        "subgroup_size": size,
        "extensions": plain(info.extensions),
        "features": sorted(info.features),
        "properties": plain(info.properties),
        "records": {name: _ordered(name, listed) for name, listed in info.records.items()},
        "queues": list(info.queues),
        "environment": plain(info.environment),
    }


def _ordered(command: str, listed: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
    """Records with their members in the order of the structure, what is unknown behind."""
    from cts.program.records import RECORD_STRUCTS

    known = RECORD_STRUCTS[command].members if command in RECORD_STRUCTS else ()
    return [
        {name: record[name] for name in dict.fromkeys((*known, *record)) if name in record}
        for record in listed
    ]


def declared(case: Case) -> dict[str, Any]:
    """What is known of a case before it runs."""
    declaration = case.declaration
    return {
        "id": case.id,
        "rows": list(case.rows),
        "level": str(case.level),
        "spec": declaration.spec,
        "requirement": declaration.requirement,
        "axes": case.axes.labels(),
    }


def case_record(result: CaseResult, findings: Sequence[str]) -> dict[str, Any]:
    """A finished case as ``result.json`` has it; ``seconds``, ``accuracy`` and ``records`` are
    measurements that the merge and ``coopcts bench`` use."""
    tally = result.tally
    judged = tally.matrices > 0
    return declared(result.case) | {
        "outcome": str(result.outcome),
        "reason": result.reason,
        "examples": tally.examples,
        "matrices": tally.matrices,
        "worst_ratio": plain(float(tally.worst_ratio)) if judged else None,
        "duration": result.duration,
        "findings": list(findings),
        "distribution": {key: dict(counter) for key, counter in tally.distribution.items()},
        "used_records": sorted(tally.records),
        "records": dict(tally.records),
        "accuracy": plain(tally.accuracy),
        "seconds": dict(tally.seconds),
    }


def build(
    run: Run,
    cases: Sequence[Case],
    progress: Progress,
    device: Mapping[str, Any],
    *,
    duration: float,
    interrupted: bool,
) -> dict[str, Any]:
    """The result of a run of ``cases``. What didn't run is ``not_run``; what began and has no
    end, because its worker died, is an ``error``, unless the whole run was interrupted."""
    records = [_outcome(case, progress, interrupted) for case in cases]
    required = [it for it in records if it["level"] == Level.REQUIRED]
    conformant = all(Outcome(it["outcome"]).conformant for it in required)
    selection = {"queries": list(run.queries), "selected": len(cases), "total": run.total}
    return {
        "schema": SCHEMA,
        "suite": suite(run),
        "device": dict(progress.device or device),
        "seed": run.seed,
        "started": run.started,
        "duration": duration,
        "workers": run.workers,
        "interrupted": interrupted,
        "conformant": conformant,
        "counts": dict(Counter(it["outcome"] for it in records)),
        "notes": [*run.notes, *_recoveries(progress.recovered)],
        "selection": selection if len(cases) < run.total else None,
        "cases": [_without(it, "records", "accuracy", "seconds") for it in records],
        "findings": [
            finding for it in records for finding in _findings_of(it["findings"], progress)
        ],
        "coverage": _coverage(records, progress.device or device),
        "accuracy": _accuracy(records),
    }


def _recoveries(recovered: Mapping[str, list[str]]) -> Iterator[str]:
    """Sentences about what went wrong once and not again, which no case counts."""
    for case, texts in list(recovered.items())[:SHOWN_RECOVERIES]:
        yield f"Once, in {case}: {texts[0]}."
    rest = len(recovered) - SHOWN_RECOVERIES
    if rest > 0:
        yield f"The like happened in {rest} further cases."


def suite(run: Run) -> dict[str, str]:
    """What was run, down to the versions that decide what a seed draws."""
    return {
        "version": cts.__version__,
        "hash": suite_hash(),
        "profile": run.profile,
        "hypothesis": metadata.version("hypothesis"),
        "numpy": metadata.version("numpy"),
        "python": platform.python_version(),
        "command": run.command,
    }


def exit_code(result: Mapping[str, Any]) -> int:
    """0 as expected, 1 findings (policy or worse), 2 the run didn't get to its end."""
    if result["interrupted"]:
        return 2
    found = [Outcome(it["outcome"]) for it in result["cases"]]
    return int(any(worse(it, Outcome.QUALITY_WARNING) for it in found))


def _outcome(case: Case, progress: Progress, interrupted: bool) -> dict[str, Any]:
    ended = progress.ended.get(case.id)
    if ended is not None:
        return ended
    begun = case.id in progress.started
    if begun and not interrupted:
        outcome, reason = Outcome.ERROR, "its worker process ended while it ran"
    else:
        outcome = Outcome.NOT_RUN
        reason = "the run was stopped while it ran" if begun else "the run ended before it"
    return declared(case) | {
        "outcome": str(outcome),
        "reason": reason,
        "examples": 0,
        "matrices": 0,
        "worst_ratio": None,
        "duration": 0.0,
        "findings": [],
        "distribution": {},
        "used_records": [],
    }


def _without(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in names}


def _findings_of(names: Iterable[str], progress: Progress) -> list[dict[str, Any]]:
    return [progress.findings[name] for name in names if name in progress.findings]


def _coverage(
    records: Iterable[Mapping[str, Any]], device: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Each advertised record, with the examples and cases that used it."""
    from cts.program.records import describe_record

    examples: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    for record in records:
        used = record.get("records", {})
        examples.update(used)
        cases.update(used.keys())
    found = []
    for command, listed in device.get("records", {}).items():
        for index, values in enumerate(listed):
            name = f"{command}#{index}"
            found.append(
                {
                    "record": name,
                    "text": describe_record(command, values),
                    "examples": examples[name],
                    "cases": cases[name],
                }
            )
    return found


def _accuracy(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The worst ratio of each combination of float types, and the case that saw it."""
    worst: dict[str, tuple[float, Any, str]] = {}
    for record in records:
        for types, shown in record.get("accuracy", {}).items():
            ratio = float(shown)
            if "float" in types and (types not in worst or ratio > worst[types][0]):
                worst[types] = (ratio, shown, record["id"])
    return [
        {"types": types, "worst_ratio": shown, "case": case}
        for types, (_, shown, case) in sorted(worst.items())
    ]
