"""Findings as data for the report, and witnesses: the stored request that shows a finding.

A witness is one JSON file in the run folder. It holds all that is needed to ask a device the
same thing again and to judge the answer, or, where a case judges by itself, to run that case
again with the seed it had.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cts import judge
from cts.case import Case
from cts.device.protocol import Convert, DeviceInfo, Dispatch, Query, Request
from cts.device.results import result_name
from cts.events import plain
from cts.program.model import Load, MulAdd, Program
from cts.program.recipe import Operand, Recipe
from cts.program.types import Component
from cts.program.vector_program import VectorProgram
from cts.run import Found
from cts.subject import Evidence

if TYPE_CHECKING:
    from reference.component import Bits

SCHEMA = 1
LARGEST = 64
"""Rows and columns of an operand that are written out."""

_STRUCTURED = ("worst", "errors", "pattern", "explanation", "stderr")


class WitnessError(Exception):
    """A witness can't be found, read or used; the message says why and what to do."""


@dataclass(frozen=True)
class Origin:
    """Where a finding comes from: the run's seed and profile, and the suite that made it."""

    seed: int
    profile: str
    suite: str


@dataclass(frozen=True)
class Witness:
    """A stored finding. ``judged`` says that request and reply alone decide; otherwise the case
    ``case`` is run again with ``origin``."""

    id: str
    case: str
    kind: str
    outcome: str
    message: str
    judged: bool
    request: Request | None
    device: Mapping[str, Any]
    origin: Origin

    @property
    def inputs(self) -> dict[str, bytes]:
        """The buffers of a dispatch before it, by name."""
        request = self.request
        if not isinstance(request, Dispatch) or request.program is None:
            return {}
        pairs = zip(request.program.buffers, request.buffers, strict=False)
        return {buffer.name: data.data for buffer, data in pairs}

    @property
    def evidence(self) -> Evidence:
        """What can be run and judged again; WitnessError if the case judges by itself."""
        if not self.judged or self.request is None:
            raise WitnessError(f"finding {self.id} is judged by its case {self.case}")
        return Evidence(self.request, {}, self.inputs, judged=True)


# --- writing --------------------------------------------------------------------------------


def store(
    found: Found, case: Case, info: DeviceInfo, origin: Origin, folder: Path | None
) -> dict[str, Any]:
    """The finding as a member of ``result.json``'s ``findings``; its witness is written under
    ``folder``, if there is one. OSError where that fails."""
    evidence = found.finding.evidence
    request = evidence.request if isinstance(evidence, Evidence) else None
    digest = identity(case.id, found, request)
    name = _name(digest, folder)
    report = {"id": name, "case": case.id, "kind": found.kind, "outcome": str(found.outcome)}
    report |= {"message": found.message, "rule": case.declaration.requirement}
    report |= _from_detail(found.finding.detail)
    if isinstance(evidence, Evidence):
        report |= _from_evidence(evidence, info, report.get("worst"))
    if folder is not None:
        path = folder / "witness" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        judged = isinstance(evidence, Evidence) and evidence.judged
        document = _document(found, case, info, origin, request, judged)
        text = json.dumps({"id": name, "digest": digest, **document})
        path.write_text(text, encoding="utf-8")
        report |= {"witness": f"witness/{name}.json", "replay": f"coopcts replay {name}"}
        if isinstance(request, Dispatch):
            report["export"] = f"coopcts export {name}"
    return plain_mapping(report)


def identity(case_id: str, found: Found, request: Request | None) -> str:
    """What a finding is told by, hexadecimal: the same case, kind and request give the same
    anywhere. Findings without a dispatch of their own are told apart by their message."""
    from cts.program import codec

    what = codec.digest(request) if request is not None else ""
    if not isinstance(request, Dispatch):
        what += found.message
    text = "/".join((case_id, type(found.finding).__name__, what))
    return hashlib.sha256(text.encode()).hexdigest()


def _name(digest: str, folder: Path | None) -> str:
    """The first six digits; more where another finding of the run has these."""
    for length in (6, 8, 12):
        name = digest[:length]
        try:
            taken = json.loads((folder or Path()).joinpath("witness", f"{name}.json").read_text())
        except (OSError, ValueError):
            return name
        if taken.get("digest") == digest:
            return name
    return digest


def plain_mapping(value: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping as strict JSON data."""
    made = plain(value)
    assert isinstance(made, dict)
    return made


def _document(
    found: Found,
    case: Case,
    info: DeviceInfo,
    origin: Origin,
    request: Request | None,
    judged: bool,
) -> dict[str, Any]:
    from cts.program import codec

    return {
        "coopcts": "witness",
        "schema": SCHEMA,
        "case": case.id,
        "kind": type(found.finding).__name__,
        "outcome": str(found.outcome),
        "message": found.message,
        "judged": judged,
        "device": {
            "name": info.name,
            "driver": info.driver,
            "driver_version": info.driver_version,
            "uuid": info.uuid,
        },
        "origin": dataclasses.asdict(origin),
        "request": codec.to_json(request) if request is not None else None,
    }


def _from_detail(detail: Mapping[str, Any]) -> dict[str, Any]:
    """The finding's own detail: the members the report knows, and scalars as facts."""
    report: dict[str, Any] = {key: detail[key] for key in _STRUCTURED if key in detail}
    facts = {
        key: value
        for key, value in detail.items()
        if key not in _STRUCTURED and isinstance(value, str | int | float)
    }
    if "result" in facts:
        facts["result"] = result_name(int(facts["result"]))
    return report | {"facts": facts}


def _from_evidence(evidence: Evidence, info: DeviceInfo, worst: Any) -> dict[str, Any]:
    program = evidence.program
    if program is None or not isinstance(evidence.request, Dispatch):
        return {"program": _question(evidence.request)}
    from cts.program.text import describe as listing
    from cts.spirv.tools import disassemble

    used = judge.used_records(program, info)
    worst = worst if isinstance(worst, dict) else {}
    return {
        "program": listing(program),
        "grid": _grid(program),
        "record": "; ".join(record_text(name, info) for name in used),
        "operands": (
            [
                _operand(name, operand, program, worst)
                for name, operand in evidence.operands.items()
                if isinstance(operand, Operand)
            ]
            if isinstance(program, Program)
            else _seen(program, evidence.inputs, worst)
        ),
        "disassembly": disassemble(evidence.request.words) or "",
    }


def _grid(program: judge.AnyProgram) -> dict[str, int]:
    """The size of the dispatch; vector programs know nothing of subgroups."""
    if isinstance(program, VectorProgram):
        return {"workgroups": program.grid.workgroups}
    grid = program.grid
    return {
        "workgroups": grid.workgroups,
        "subgroups": grid.subgroups,
        "subgroup_size": grid.subgroup_size,
    }


def record_text(name: str, info: DeviceInfo) -> str:
    """``command#index`` with the record in words."""
    from cts.program.records import describe_record

    command, _, index = name.partition("#")
    return f"{name}: {describe_record(command, info.records[command][int(index)])}"


def _question(request: Request) -> str:
    """A query or conversion in words."""
    from cts.program.asked import describe_convert, describe_query

    if isinstance(request, Query):
        return describe_query(request)
    return describe_convert(request) if isinstance(request, Convert) else type(request).__name__


def _operand(
    name: str, operand: Operand, program: Program, worst: Mapping[str, Any]
) -> dict[str, Any]:
    """The operand's matrix of the worst element's tile, and what that element depends on."""
    kind = operand.type
    tile = min(int(worst.get("tile") or 0), operand.tiles - 1)
    return {
        "name": name,
        "recipe": f"{recipe_text(operand.recipe)} {kind.rows}x{kind.columns}",
        "tile": tile,
        **_table(judge.realised(operand)[tile], kind.component),
        "focus": _focus(name, program, worst),
    }


def _seen(
    program: VectorProgram, inputs: Mapping[str, bytes], worst: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """What the invocation with the worst component works with; nothing if it is none's."""
    invocation = worst.get("invocation")
    if invocation is None:
        return []
    from reference.vector_seen import seen_by

    found = seen_by(program, inputs, invocation)
    only = sum(it.product for it in found) == 1
    focus = {"row": worst["column"], "column": None}
    return [
        {
            "name": it.name,
            "recipe": f"invocation {invocation}, " + "x".join(map(str, it.bits.shape)),
            **_table(it.bits, it.component),
            "focus": focus if only and it.product and worst["column"] < len(it.bits) else None,
        }
        for it in found
    ]


def _table(bits: Bits, component: Component) -> dict[str, Any]:
    """Elements [rows, columns] as values and as bits, the first :data:`LARGEST` of either."""
    from reference.component import text

    cells = bits[:LARGEST, :LARGEST].tolist()
    digits = component.bytes * 2
    return {
        "component": component.label,
        "values": [[text(cell, component) for cell in row] for row in cells],
        "bits": [[f"{cell:0{digits}x}" for cell in row] for row in cells],
    }


def _focus(name: str, program: Program, worst: Mapping[str, Any]) -> dict[str, Any] | None:
    """Row of A, column of B or element of C that the worst element is made from."""
    if worst.get("row") is None or worst.get("column") is None:
        return None
    values = {
        it.result for it in program.body if isinstance(it, Load) and it.address.buffer == name
    }
    for statement in program.body:
        if not isinstance(statement, MulAdd):
            continue
        if statement.a in values:
            return {"row": worst["row"], "column": None}
        if statement.b in values:
            return {"row": None, "column": worst["column"]}
        if statement.c in values:
            return {"row": worst["row"], "column": worst["column"]}
    return None


def recipe_text(recipe: Recipe) -> str:
    """A recipe in words; members that change nothing are left out."""
    words = [recipe.pattern.value]
    plain_recipe = Recipe()
    for name in ("seed", "limit", "keep", "scale"):
        value = getattr(recipe, name)
        if value != getattr(plain_recipe, name):
            words.append(f"{name} {value}")
    words += ["negated"] if recipe.negate else []
    words += [f"0x{it.bits:x} at [{it.tile}, {it.row}, {it.column}]" for it in recipe.plants]
    return ", ".join(words)


# --- reading --------------------------------------------------------------------------------


def load(path: Path) -> Witness:
    """The witness in ``path``. WitnessError where it is missing, damaged or of a newer schema."""
    from cts.program import codec

    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise WitnessError(f"there is no witness {path}") from None
    except OSError as error:
        raise WitnessError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise WitnessError(f"{path} is damaged: it isn't JSON; run the case again") from None
    if not isinstance(data, dict) or data.get("coopcts") != "witness":
        raise WitnessError(f"{path} isn't a witness of this suite")
    if not isinstance(data.get("schema"), int) or data["schema"] > SCHEMA:
        raise WitnessError(f"{path} was written by a newer coopcts (schema {data.get('schema')})")
    try:
        asked = data["request"]
        request = codec.from_json(asked) if asked is not None else None
        if request is not None and not isinstance(request, Request):
            raise ValueError("its request is none")
        texts = {name: _string(data, name) for name in ("id", "case", "kind", "outcome", "message")}
        origin = Origin(
            int(data["origin"]["seed"]),
            _string(data["origin"], "profile"),
            _string(data["origin"], "suite"),
        )
        return Witness(
            **texts,
            judged=data["judged"] is True,
            request=request,
            device=dict(data["device"]),
            origin=origin,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise WitnessError(f"{path} is damaged: {error}; run the case again") from None


def _string(data: Mapping[str, Any], name: str) -> str:
    value = data[name]
    if not isinstance(value, str):
        raise ValueError(f"{name} isn't text")
    return value


def names(folder: Path) -> Iterator[str]:
    """The ids of the witnesses in a run folder."""
    for path in sorted((folder / "witness").glob("*.json")):
        yield path.stem
