"""Declaring and selecting cases."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import pytest

from cts.case import Case, CaseError, case, declaration_of, matches, order, unique
from cts.outcome import Level

GOOD: dict[str, Any] = {
    "id": "cooperative_matrix.a.b",
    "rows": ("M-01",),
    "spec": "VkSpec#x",
    "requirement": "It holds.",
}


class Colour(enum.Enum):
    RED = 1
    DARK_BLUE = 2


@dataclass(frozen=True)
class Labelled:
    label: str


def cases_of(**given: Any) -> list[Case]:
    def test_it(subject: Any, axes: Any, data: Any) -> None: ...

    declared = declaration_of(case(**{**GOOD, **given})(test_it))
    assert declared is not None
    return list(declared.cases())


def test_ids_append_the_labels_of_the_axes_in_order() -> None:
    found = cases_of(axes={"colour": tuple(Colour), "what": (Labelled("x.y"), 3, True)})
    assert [it.id.removeprefix("cooperative_matrix.a.b.") for it in found] == [
        "red.x.y",
        "red.3",
        "red.yes",
        "dark_blue.x.y",
        "dark_blue.3",
        "dark_blue.yes",
    ]
    assert found[3].axes.colour is Colour.DARK_BLUE
    assert found[3].axes.labels() == {"colour": "dark_blue", "what": "x.y"}


def test_combinations_can_be_left_out() -> None:
    found = cases_of(axes={"a": (1, 2), "b": (1, 2)}, where=lambda axes: axes.a != axes.b)
    assert [it.id for it in found] == ["cooperative_matrix.a.b.1.2", "cooperative_matrix.a.b.2.1"]


def test_axes_are_fixed_and_name_what_is_missing() -> None:
    axes = cases_of(axes={"a": (1,)})[0].axes
    with pytest.raises(AttributeError, match="axes are fixed"):
        axes.a = 2
    with pytest.raises(AttributeError, match="no axis 'c'"):
        _ = axes.c


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"id": "matrix.a"}, "must begin with one of"),
        ({"id": "info"}, "must begin with one of"),
        ({"id": "info.Upper"}, "can't be part of an id"),
        ({"axes": {"a": ()}}, "has no values"),
        ({"axes": {"a": ("two words",)}}, "can't be part of an id"),
        ({"rows": ("M-99",)}, "unknown requirement row M-99"),
        ({"rows": ()}, "checks no requirement row"),
        ({"requirement": ""}, "needs a spec anchor and a requirement"),
        ({"fixed": True}, "either it is fixed or it takes `data`"),
    ],
)
def test_wrong_declarations_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(CaseError, match=said):
        cases_of(**given)


def test_functions_take_what_a_case_can_give() -> None:
    def test_it(subject: Any, device: Any) -> None: ...

    with pytest.raises(CaseError, match="its function takes"):
        case(**GOOD)(test_it)


def test_a_case_passes_what_its_function_names() -> None:
    seen: list[Any] = []

    def test_it(data: Any, subject: Any) -> None:
        seen.append((subject, data))

    declared = declaration_of(case(**GOOD)(test_it))
    assert declared is not None
    next(declared.cases()).call("subject", "data")
    assert seen == [("subject", "data")]


def test_examples_scale_and_fixed_cases_have_one() -> None:
    assert cases_of(examples=0.5)[0].examples(50) == 25
    assert cases_of(examples=0.001)[0].examples(50) == 1

    def test_it(subject: Any) -> None: ...

    declared = declaration_of(case(**GOOD, fixed=True)(test_it))
    assert declared is not None
    assert next(declared.cases()).examples(50) == 1


@pytest.mark.parametrize(
    ("query", "selected"),
    [
        ("info.a.b", True),
        ("info.a", True),
        ("info.a.", True),
        ("info", True),
        ("*", True),
        ("info.*.b", True),
        ("*.b", True),
        ("info.*", True),
        ("inf", False),
        ("info.a.b.c", False),
        ("info.a.bb", False),
        ("*.a", False),
    ],
)
def test_queries_are_ids_with_stars_or_dotted_prefixes(query: str, selected: bool) -> None:
    assert matches("info.a.b", query) is selected


def test_information_runs_first() -> None:
    ids = ["cooperative_vector.a", "cooperative_matrix.b", "info.z", "cooperative_matrix.a"]
    assert sorted(ids, key=order) == [
        "info.z",
        "cooperative_matrix.a",
        "cooperative_matrix.b",
        "cooperative_vector.a",
    ]


def test_two_cases_may_not_share_an_id() -> None:
    with pytest.raises(CaseError, match=r"two cases have the id cooperative_matrix\.a\.b"):
        unique(cases_of() + cases_of())


def test_level_is_required_unless_said() -> None:
    assert cases_of()[0].level is Level.REQUIRED
    assert cases_of(level=Level.POLICY)[0].level is Level.POLICY
