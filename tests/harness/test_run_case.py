"""What a case ends with, on devices that are good, bad, crashing, hanging and unsteady."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cts.case import Case, case, declaration_of
from cts.device.errors import BudgetSpent, DeviceError
from cts.device.protocol import Query
from cts.findings import DriverHang, Finding, PolicyProperty, QualityProperty, WrongProperty
from cts.outcome import Outcome
from cts.profiles import PROFILES
from cts.run import ENOUGH, REPEAT, CaseResult, StopRun, run_case
from cts.subject import Subject
from tests.harness import fakes
from tests.harness.fakes import Fake

DEFAULT = PROFILES["default"]


def ask(subject: Subject, capacity: int) -> int:
    return subject.query(Query("vkExample", capacity=capacity)).counts[0]


def made(function: Callable[..., None], **given: Any) -> Case:
    declared = declaration_of(
        case(
            id="cooperative_matrix.x",
            rows=("Q-01",),
            spec="VkSpec#x",
            requirement="It holds.",
            **given,
        )(function)
    )
    assert declared is not None
    return next(declared.cases())


def drawn(subject: Subject, data: st.DataObject) -> None:
    capacity = data.draw(st.integers(0, 1000))
    subject.event("large", capacity > 500)
    if ask(subject, capacity) != capacity:
        raise WrongProperty(f"the count of {capacity} is wrong", {"capacity": capacity})


def run(function: Callable[..., None], device: Fake, seed: int = 1, **given: Any) -> CaseResult:
    return run_case(made(function, **given), device, DEFAULT, seed)


def test_a_good_device_passes_and_the_pass_says_how_much_it_saw() -> None:
    result = run(drawn, fakes.good())
    assert result.outcome is Outcome.PASS and not result.found and not result.reason
    assert result.tally.examples == DEFAULT.examples
    large = result.tally.distribution["large"]
    assert large.total() == DEFAULT.examples and min(large["True"], large["False"]) > 5
    assert result.duration > 0


def test_a_failure_is_minimal() -> None:
    result = run(drawn, fakes.bad())
    assert result.outcome is Outcome.FAIL
    assert [it.message for it in result.found] == ["the count of 10 is wrong"]
    assert result.reason == "the count of 10 is wrong"


@pytest.mark.parametrize(
    ("device", "outcome"),
    [(fakes.crashing, Outcome.CRASH), (fakes.hanging, Outcome.TIMEOUT)],
)
def test_a_driver_that_fails_is_shrunk_like_any_other_failure(
    device: Callable[[], Fake], outcome: Outcome
) -> None:
    result = run(drawn, device())
    assert result.outcome is outcome
    (found,) = result.found
    evidence: Any = found.finding.evidence
    assert evidence.request == Query("vkExample", capacity=10)


def test_the_same_seed_asks_the_same() -> None:
    def questions(seed: int) -> list[int]:
        asked: list[int] = []
        run(drawn, Fake(lambda capacity, call: asked.append(capacity) or capacity), seed)
        return asked

    assert questions(1) == questions(1) != questions(2)


def test_an_unsteady_device_is_flaky_and_never_a_pass() -> None:
    result = run(drawn, fakes.flaky())
    assert result.outcome is Outcome.FLAKY
    (found,) = result.found
    assert found.kind == "Nondeterministic"
    assert "WrongProperty in 1 of 2 runs of the same request" in found.message


def test_lacking_before_drawing_is_not_supported_with_its_reason() -> None:
    def lacking(subject: Subject, data: st.DataObject) -> None:
        subject.require(False, "the device has no such thing")

    result = run(lacking, fakes.bad())
    assert result.outcome is Outcome.NOT_SUPPORTED
    assert result.reason == "the device has no such thing"
    assert result.tally.examples == 0


def test_if_nothing_drawn_is_supported_the_case_gives_up_early_with_the_reasons() -> None:
    def lacking(subject: Subject, data: st.DataObject) -> None:
        which = data.draw(st.integers(0, 1 << 30))
        subject.require(False, "no odd ones" if which % 2 else "no even ones")

    result = run(lacking, fakes.bad())
    assert result.outcome is Outcome.NOT_SUPPORTED
    assert set(result.reason.split("; ")) == {"no odd ones", "no even ones"}
    assert result.tally.rejected.total() == ENOUGH


def test_unsupported_examples_don_t_count_and_don_t_hide_a_failure() -> None:
    def partly(subject: Subject, data: st.DataObject) -> None:
        capacity = data.draw(st.integers(0, 1000))
        subject.require(capacity % 2 == 0, "only even ones")
        if ask(subject, capacity) != capacity:
            raise WrongProperty(f"the count of {capacity} is wrong")

    assert run(partly, fakes.good()).tally.examples == DEFAULT.examples
    assert run(partly, fakes.bad()).reason == "the count of 10 is wrong"


def test_lesser_findings_are_minimised_when_there_is_nothing_worse() -> None:
    def lesser(subject: Subject, data: st.DataObject) -> None:
        capacity = data.draw(st.integers(0, 1000))
        if capacity >= 100:
            subject.found(QualityProperty(f"{capacity} is worth a warning"))
        if capacity >= 300:
            subject.found(PolicyProperty(f"{capacity} is unusual"))

    result = run(lesser, fakes.good())
    assert result.outcome is Outcome.POLICY
    assert [it.message for it in result.found] == ["300 is unusual"]
    assert result.tally.examples == DEFAULT.examples


def test_a_warning_never_hides_a_wrong_value() -> None:
    def both(subject: Subject, data: st.DataObject) -> None:
        capacity = data.draw(st.integers(0, 1000))
        subject.found(QualityProperty("always worth a warning"))
        if ask(subject, capacity) != capacity:
            raise WrongProperty(f"the count of {capacity} is wrong")

    result = run(both, fakes.bad())
    assert result.outcome is Outcome.FAIL
    assert [it.message for it in result.found] == ["the count of 10 is wrong"]


def test_raised_warnings_are_kept_back_too() -> None:
    def raising(subject: Subject, data: st.DataObject) -> None:
        capacity = data.draw(st.integers(0, 1000))
        if capacity >= 7:
            raise QualityProperty(f"{capacity} is worth a warning")

    result = run(raising, fakes.good())
    assert result.outcome is Outcome.QUALITY_WARNING
    assert result.reason == "7 is worth a warning"
    assert result.tally.examples == DEFAULT.examples


def test_distinct_findings_are_each_kept_and_minimal() -> None:
    def two(subject: Subject, data: st.DataObject) -> None:
        capacity = data.draw(st.integers(0, 1000))
        if capacity % 2 and capacity > 20:
            raise WrongProperty(f"{capacity} is odd")
        ask(subject, capacity)

    result = run(two, fakes.crashing())
    assert result.outcome is Outcome.CRASH
    assert {it.kind for it in result.found} == {"WrongProperty", "DriverCrash"}
    assert "21 is odd" in [it.message for it in result.found]


def test_a_fixed_case_runs_once_and_reports_everything_it_found() -> None:
    def fixed(subject: Subject) -> None:
        for capacity in (1, 20, 30):
            if ask(subject, capacity) != capacity:
                subject.found(WrongProperty(f"the count of {capacity} is wrong"))

    result = run(fixed, fakes.bad(), fixed=True)
    assert result.outcome is Outcome.FAIL
    assert [it.message for it in result.found] == [
        "the count of 20 is wrong",
        "the count of 30 is wrong",
    ]
    assert result.tally.examples == 1
    assert run(fixed, fakes.good(), fixed=True).outcome is Outcome.PASS


def test_a_finding_of_a_fixed_case_that_doesn_t_come_back_is_flaky() -> None:
    def fixed(subject: Subject) -> None:
        if ask(subject, 20) != 20:
            subject.found(WrongProperty("the count of 20 is wrong"))

    result = run(fixed, Fake(lambda capacity, call: capacity + (call == 0)), fixed=True)
    assert result.outcome is Outcome.FLAKY
    assert f"in 0 of {REPEAT} runs" in result.reason


def test_the_suite_s_own_fault_is_an_error_and_not_shrunk() -> None:
    calls = []

    def broken(subject: Subject, data: st.DataObject) -> None:
        calls.append(data.draw(st.integers(0, 1 << 40)))
        raise ZeroDivisionError("a slip in the case")

    result = run(broken, fakes.good())
    assert result.outcome is Outcome.ERROR
    assert result.reason == "the suite failed: ZeroDivisionError: a slip in the case"
    assert "Traceback" in result.trace and not result.found
    assert len(calls) == 1


def test_a_case_that_can_draw_nothing_is_an_error() -> None:
    def impossible(subject: Subject, data: st.DataObject) -> None:
        assume(data.draw(st.integers(0, 1 << 40)) < 0)

    result = run(impossible, fakes.good())
    assert result.outcome is Outcome.ERROR
    assert "Unsatisfiable" in result.reason


def test_a_refused_request_is_rejected_and_a_case_of_only_refused_ones_not_run() -> None:
    def refusing(capacity: int, call: int) -> int:
        raise BudgetSpent("too many hangs")

    result = run(drawn, Fake(refusing))
    assert result.outcome is Outcome.NOT_RUN
    assert "hung too often" in result.reason


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "journal"), "the disk is full"),
        (DeviceError("no server can be started"), "no server can be started"),
    ],
)
@pytest.mark.parametrize("fixed", [True, False])
def test_what_concerns_the_whole_run_stops_it(error: Exception, said: str, fixed: bool) -> None:
    def answer(capacity: int, call: int) -> int:
        raise error

    def once(subject: Subject) -> None:
        ask(subject, 1)

    with pytest.raises(StopRun, match=said):
        run(once if fixed else drawn, Fake(answer), fixed=fixed)


def test_each_case_of_a_supervised_device_has_its_own_budget_and_crashes_are_tried_alone() -> None:
    class Supervised(Fake):
        cases = 0
        recovered: ClassVar[list[str]] = []

        def new_case(self) -> None:
            self.cases += 1

        def reproduce(self, request: object) -> Finding | None:
            return None

    device = Supervised(fakes.crashing()._answer)
    result = run(drawn, device)
    assert device.cases == 1
    assert result.outcome is Outcome.CRASH
    assert result.found[0].finding.detail["alone in a fresh process"] == "ran well"


@pytest.mark.parametrize("alone", [None, DriverHang("phase fence did not end within 80 s")])
def test_a_request_that_ends_when_it_is_given_more_time_is_no_hang(alone: Finding | None) -> None:
    class Supervised(Fake):
        recovered: ClassVar[list[str]] = []

        def new_case(self) -> None:
            pass

        def reproduce(self, request: object) -> Finding | None:
            return alone

    result = run(drawn, Supervised(fakes.hanging()._answer))
    assert result.outcome is (Outcome.FLAKY if alone is None else Outcome.TIMEOUT)


def test_an_interruption_passes_through_even_where_it_trips_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer(capacity: int, call: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(drawn, Fake(answer))

    def tripping(*_: object, **__: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise AssertionError("tripped")

    monkeypatch.setattr("hypothesis.core.ConjectureRunner", tripping)
    with pytest.raises(KeyboardInterrupt):
        run(drawn, fakes.good())


class Steadied(Fake):
    """Its process was in trouble once, in the first request of a case."""

    def __init__(self) -> None:
        super().__init__(lambda capacity, call: capacity)
        self.recovered = ["of the case before"]

    def new_case(self) -> None:
        self.recovered = []

    def reproduce(self, request: object) -> None:
        raise AssertionError("nothing was found")

    def execute(self, request: Any) -> Any:
        self.recovered = ["the queue hung, but not when request a ran again"]
        return super().execute(request)


def test_what_went_wrong_once_is_no_finding_but_said() -> None:
    result = run(drawn, Steadied())
    assert result.outcome is Outcome.PASS
    assert result.recovered == ("the queue hung, but not when request a ran again",)
