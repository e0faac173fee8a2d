"""Break a part of the suite, and a check of the suite goes red.

Each fault has one check that is green while the suite is whole.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import cts.draw.variety
import cts.judge
import cts.profiles
import cts.run
import cts.subject
import reference.bounds
import reference.component
import reference.convert_judge
import reference.elementwise
import reference.layout
import reference.matrix
import reference.operands
import reference.queries
from cts.findings import Finding, PolicyValue
from cts.outcome import Outcome, worse
from cts.program import records, requires
from cts.program.model import (
    Address,
    Buffer,
    Component,
    Form,
    Grid,
    Layout,
    MatrixType,
    Pointee,
    Program,
    Splat,
    Store,
    Use,
)
from reference.accept import Accept, Band, Level
from reference.expectation import Expectation
from tests.proof.checks import (
    Check,
    differs_by_case,
    differs_by_seed,
    kills,
    lacks,
    nears,
    says,
    seeded_recipes,
    spares,
    tries,
)

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Fault:
    """How a part of the suite is broken, and the check that notices."""

    name: str
    plant: Callable[[Patch], None]
    check: Check


def replace(owner: object, name: str, value: object) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(owner, name, value)


# --- the oracle -----------------------------------------------------------------------------


def rounds_late(patch: Patch) -> None:
    """The exact result isn't rounded to the result type."""
    unrounded = lambda self, real: (real.low, real.high)  # noqa: E731
    patch.setattr(reference.elementwise._Rounding, "_neighbours", unrounded)


def bound(factor: float) -> Callable[[Patch], None]:
    """All error bounds of sums times a factor."""
    right = reference.bounds.Adder.growth

    def growth(self: Any, roundings: Any, precision: int | None = None) -> Any:
        return factor * right(self, roundings, precision)

    return replace(reference.bounds.Adder, "growth", growth)


def everything_permitted(patch: Patch) -> None:
    everything = lambda self, actual: (None, 0.0)  # noqa: E731
    patch.setattr(Accept, "levels", everything)


def policy_is_required(patch: Patch) -> None:
    """What lies outside the policy set counts as a violation of the specification."""
    right = Accept.levels

    def levels(self: Accept, actual: Any) -> Any:
        found, ratio = right(self, actual)
        if found is not None:
            found = np.where(found == Level.POLICY, np.uint8(Level.REQUIRED), found)
        return found, ratio

    patch.setattr(Accept, "levels", levels)


def signs_of_types(patch: Patch) -> None:
    """Operands are extended by the signedness of their types."""
    right = reference.matrix._integer

    def integer(statement: Any, a: Any, b: Any, c: Any) -> Any:
        changed = dataclasses.replace(statement, a_signed=a.component.is_signed, b_signed=False)
        return right(changed, a, b, c)

    patch.setattr(reference.matrix, "_integer", integer)


def nan_permitted(patch: Patch) -> None:
    right = Band.contains

    def contains(self: Band, actual: Any, values: Any, component: Any) -> Any:
        inside = right(self, actual, values, component)
        return inside if values is None else inside | np.isnan(values)

    patch.setattr(Band, "contains", contains)


def layouts_agree(patch: Patch) -> None:
    """The oracle takes every matrix for column-major, where operands are placed too."""
    right = reference.layout.region

    def region(matrix: Any, address: Any, buffer: Any, grid: Any) -> Any:
        found = right(matrix, address, buffer, grid)
        groups, subgroups, rows, columns = found.steps
        return dataclasses.replace(found, steps=(groups, subgroups, columns, rows))

    patch.setattr("reference.evaluate.region", region)


# --- comparing and reporting ----------------------------------------------------------------


def compare_always_equal(patch: Patch) -> None:
    nothing = lambda *given: cts.judge.Verdict((), 0.0, 1)  # noqa: E731
    patch.setattr(cts.judge, "compare", nothing)


def first_run_only(patch: Patch) -> None:
    right = cts.judge.compare

    def compare(*given: Any) -> cts.judge.Verdict:
        return dataclasses.replace(right(*given), differing=0)

    patch.setattr(cts.judge, "compare", compare)


def first_buffer_only(patch: Patch) -> None:
    right = Expectation.check

    def check(self: Expectation, actual: bytes) -> Any:
        found = right(self, actual)
        return found if not self.stores else dataclasses.replace(found, violations=())

    patch.setattr(Expectation, "check", check)


def failures_as_policy(patch: Patch) -> None:
    classes = {**cts.judge._CLASSES, "required": PolicyValue}
    patch.setattr(cts.judge, "_CLASSES", classes)


def findings_swallowed(patch: Patch) -> None:
    patch.setattr(cts.subject.Subject, "found", lambda self, finding: None)


def lesser_findings_swallowed(patch: Patch) -> None:
    """What is less than a failure is forgotten instead of kept for the second pass."""

    def found(self: cts.subject.Subject, finding: Finding) -> None:
        if worse(finding.outcome, Outcome.POLICY):
            raise finding

    patch.setattr(cts.subject.Subject, "found", found)


def crashes_swallowed(patch: Patch) -> None:
    right = cts.subject.Subject._execute

    def execute(self: cts.subject.Subject, evidence: Any) -> Any:
        try:
            return right(self, evidence)
        except Finding:
            raise cts.subject.NotSupported("something went wrong") from None

    patch.setattr(cts.subject.Subject, "_execute", execute)


def errors_swallowed(patch: Patch) -> None:
    """A dispatch that ends with an error counts as not supported."""

    def failed(reply: Any) -> Exception:
        return cts.subject.NotSupported("it failed")

    patch.setattr(cts.subject, "_failed", failed)


# --- support --------------------------------------------------------------------------------

NO_REASON = lambda program, info: None  # noqa: E731


def copy(matrix: MatrixType, form: Form = Form.CONSTANT) -> Program:
    """A matrix of zeros is stored."""
    buffer = Buffer("out", Pointee(Component.UINT32), 4096)
    stride = matrix.columns * matrix.component.bytes // 4
    body = (
        Splat("m", matrix, 0, form),
        Store("m", Address("out", Layout.ROW_MAJOR, stride)),
    )
    return Program(Grid(1, 1, 32), (buffer,), body)


# --- drawing --------------------------------------------------------------------------------


def recipes_ignore_seed(patch: Patch) -> None:
    right = reference.operands.random_words

    def words(seed: int, shape: Any, stream: int = 0) -> Any:
        return right(0, shape, stream) * 0

    patch.setattr(reference.operands, "random_words", words)


def seeds_are_one(patch: Patch) -> None:
    one = cts.draw.variety.Variety
    patch.setattr(cts.run, "case_seed", lambda seed, case_id: len(case_id))
    patch.setattr(cts.draw.variety, "Variety", lambda modules, seed: one(modules, 0))


def no_poison(patch: Patch) -> None:
    patch.setattr(reference.layout, "poison", lambda length, salt=0: np.zeros(length, np.uint8))


FAULTS = (
    Fault(
        "the oracle rounds late", rounds_late, spares("", "matrix.arithmetic.binary.add.float16")
    ),
    Fault(
        "bounds are ten times as wide",
        bound(10.0),
        nears("ascending_truncated", "matrix.mul_add.float.bound.float16_float16_float32", 0.3),
    ),
    Fault(
        "bounds are a tenth as wide",
        bound(0.1),
        spares("ascending_truncated", "matrix.mul_add.float.bound.float16_float16_float16"),
    ),
    Fault(
        "everything is permitted",
        everything_permitted,
        kills("last_k_dropped", "matrix.mul_add.integer.wrapping.uint8_uint8_uint32"),
    ),
    Fault(
        "policy counts as specification",
        policy_is_required,
        spares(
            "float16_sums",
            "matrix.mul_add.float.bound.float16_float16_float32",
            Outcome.POLICY,
        ),
    ),
    Fault(
        "signedness is taken from the type",
        signs_of_types,
        spares("", "matrix.mul_add.integer.wrapping.uint8_sint8_sint32"),
    ),
    Fault(
        "NaN is always permitted",
        nan_permitted,
        kills("nan_spreads_over_the_tile", "matrix.mul_add.float.special.float16_float16_float32"),
    ),
    Fault(
        "the oracle mirrors layouts",
        layouts_agree,
        spares("", "matrix.load_store.layout.uint16.row_major_to_column_major"),
    ),
    Fault(
        "comparing finds nothing",
        compare_always_equal,
        kills("load_ignores_layout", "matrix.load_store.layout.uint16.row_major_to_column_major"),
    ),
    Fault(
        "repeated runs aren't compared",
        first_run_only,
        says("restless", "matrix.execution.repeated.float16_float16_float32", Outcome.POLICY),
    ),
    Fault(
        "results aren't compared",
        first_buffer_only,
        kills("first_workgroup_loaded", "matrix.load_store.layout.uint16.row_major_to_row_major"),
    ),
    Fault(
        "guards aren't compared",
        replace(Expectation, "_guard", lambda self, before, after: None),
        kills("store_writes_padding", "matrix.load_store.untouched.uint16.storage_buffer"),
    ),
    Fault(
        "guards of enumeration commands aren't compared",
        replace(reference.queries, "_memory", lambda query, memory, written: []),
        kills("next_record_zeroed", "matrix.properties.guards.khr"),
    ),
    Fault(
        "memory isn't poisoned",
        no_poison,
        kills("store_clears_padding", "matrix.load_store.untouched.uint16.storage_buffer"),
    ),
    Fault(
        "failures count as policy findings",
        failures_as_policy,
        kills("stale_accumulator", "matrix.mul_add.integer.dependent.sint8_sint8_sint32"),
    ),
    Fault(
        "findings are swallowed",
        findings_swallowed,
        kills("record_doubled", "matrix.properties.duplicates.khr"),
    ),
    Fault(
        "lesser findings are swallowed",
        lesser_findings_swallowed,
        kills("accumulates_in_float16", "matrix.mul_add.float.bound.float16_float16_float32"),
    ),
    Fault(
        "crashes count as not supported",
        crashes_swallowed,
        kills("abort_in_fill", "matrix.properties.complete.khr"),
    ),
    Fault(
        "errors count as not supported",
        errors_swallowed,
        kills("pipeline_refused", "matrix.mul_add.integer.saturating.sint8_sint8_sint32"),
    ),
    Fault(
        "no record is asked for",
        replace(records, "unsupported", NO_REASON),
        lacks(copy(MatrixType(Component.FLOAT64, 16, 16, Use.ACCUMULATOR))),
    ),
    Fault(
        "no feature is asked for",
        replace(requires, "missing", lambda needs, info: []),
        lacks(copy(MatrixType(Component.FLOAT32, 16, 16, Use.ACCUMULATOR), Form.REPLICATE)),
    ),
    Fault(
        "every record is refused",
        replace(records, "unsupported", lambda program, info: "no record covers it"),
        tries("matrix.mul_add.float.exact.float16_float16_float32", "plain"),
    ),
    Fault(
        "every feature is missing",
        replace(requires, "missing", lambda needs, info: ["a feature is missing"]),
        tries("matrix.mul_add.float.exact.float16_float16_float32", "plain"),
    ),
    Fault(
        "the seed of a run is ignored",
        replace(cts.run, "case_seed", lambda seed, case_id: 7),
        differs_by_case,
    ),
    Fault(
        "all seeds are one",
        seeds_are_one,
        differs_by_seed,
    ),
    Fault(
        "recipes ignore their seeds",
        recipes_ignore_seed,
        seeded_recipes,
    ),
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda it: it.name.replace(" ", "_"))
def test_a_broken_suite_is_noticed(fault: Fault, monkeypatch: Patch) -> None:
    fault.check()
    fault.plant(monkeypatch)
    with pytest.raises(AssertionError):
        fault.check()
