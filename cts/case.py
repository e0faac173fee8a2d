"""Cases: a stable id, one requirement, a level, listed axes, and the function that checks it.

A case function is an ordinary function decorated with :func:`case`. It is collected without a
device, so that its ids are the same on every machine; what a device lacks is found while it
runs and ends as ``not_supported`` with a reason.
"""

from __future__ import annotations

import enum
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from cts.outcome import Level

ROOTS = ("info", "cooperative_matrix", "cooperative_vector")
"""What an id may begin with."""

_SEGMENT = re.compile(r"[a-z0-9_]+(-[a-z0-9_]+)*")
_PARAMETERS = ("subject", "axes", "data")
_Function = TypeVar("_Function", bound=Callable[..., None])


class CaseError(Exception):
    """A case is declared wrongly: the suite's own fault, found at collection."""


class Axes:
    """The value of each axis of one case, as attributes: ``axes.component``."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this case has no axis {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("axes are fixed")

    def labels(self) -> dict[str, str]:
        """The label of each value by axis, as written in ids and reports."""
        return {name: label(value) for name, value in self.__dict__.items()}

    def __repr__(self) -> str:
        return f"Axes({', '.join(f'{k}={v}' for k, v in self.labels().items())})"


def label(value: object) -> str:
    """The text of an axis value in an id: its ``label``, an enum's lower-case name, or str."""
    own = getattr(value, "label", None)
    if isinstance(own, str):
        return own
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


@dataclass(frozen=True)
class Declaration:
    """What :func:`case` was given, before the axes are multiplied out."""

    id: str
    rows: tuple[str, ...]
    spec: str
    requirement: str
    level: Level
    axes: Mapping[str, tuple[Any, ...]]
    where: Callable[[Axes], bool] | None
    examples: float
    fixed: bool
    function: Callable[..., None]

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """What the function wants to be given, by name."""
        return tuple(inspect.signature(self.function).parameters)

    def cases(self) -> Iterator[Case]:
        """One case per permitted combination of axis values, in the order they are listed."""
        for values in itertools.product(*self.axes.values()):
            axes = Axes(dict(zip(self.axes, values, strict=True)))
            if self.where is None or self.where(axes):
                yield Case(".".join((self.id, *axes.labels().values())), axes, self)


@dataclass(frozen=True)
class Case:
    """One case as it is listed, selected, run and reported."""

    id: str
    axes: Axes = field(compare=False, repr=False)
    declaration: Declaration = field(compare=False, repr=False)

    @property
    def rows(self) -> tuple[str, ...]:
        """The requirement rows it checks, such as ``M-05``."""
        return self.declaration.rows

    @property
    def level(self) -> Level:
        """What its rule rests on."""
        return self.declaration.level

    @property
    def fixed(self) -> bool:
        """Whether it draws nothing and runs once."""
        return self.declaration.fixed

    def examples(self, base: int) -> int:
        """How many examples it runs where the profile gives ``base`` to an ordinary case."""
        return 1 if self.fixed else max(1, round(base * self.declaration.examples))

    def call(self, subject: object, data: object | None) -> None:
        """Run the function once, with the arguments that it names."""
        given = {"subject": subject, "axes": self.axes, "data": data}
        self.declaration.function(**{name: given[name] for name in self.declaration.parameters})


def case(
    *,
    id: str,
    rows: Sequence[str],
    spec: str,
    requirement: str,
    level: Level = Level.REQUIRED,
    axes: Mapping[str, Sequence[Any]] | None = None,
    where: Callable[[Axes], bool] | None = None,
    examples: float = 1.0,
    fixed: bool = False,
) -> Callable[[_Function], _Function]:
    """Declare the decorated function ``test_*(subject, axes, data)`` a case.

    ``id`` is dotted; each axis adds the label of its value, one segment or more. ``rows`` are
    requirement rows (cts/requirements.py), ``spec`` the anchor of the rule and ``requirement``
    the rule in one sentence. ``where`` drops combinations of axes that make no sense.
    ``examples`` scales the profile's number of examples. A ``fixed`` case draws nothing
    (takes no ``data``) and runs once.

    Raises CaseError where the declaration can't be right.
    """

    def declare(function: _Function) -> _Function:
        declaration = Declaration(
            id,
            tuple(rows),
            spec,
            requirement,
            level,
            {name: tuple(values) for name, values in (axes or {}).items()},
            where,
            examples,
            fixed,
            function,
        )
        _validate(declaration)
        function.__dict__["__case__"] = declaration
        return function

    return declare


def declaration_of(obj: object) -> Declaration | None:
    """The declaration on a decorated function; None on anything else."""
    found = getattr(obj, "__dict__", {}).get("__case__")
    return found if isinstance(found, Declaration) else None


def _validate(declaration: Declaration) -> None:
    from cts.requirements import ROWS

    name = declaration.id
    segments = name.split(".")
    if segments[0] not in ROOTS or len(segments) < 2:
        raise CaseError(f"case id {name!r} must begin with one of {', '.join(ROOTS)}")
    for axis, values in declaration.axes.items():
        if not values:
            raise CaseError(f"case {name}: axis {axis!r} has no values")
        segments += [part for value in values for part in label(value).split(".")]
    for segment in segments:
        if not _SEGMENT.fullmatch(segment):
            raise CaseError(f"case {name}: {segment!r} can't be part of an id")
    unknown = [row for row in declaration.rows if row not in ROWS]
    if unknown:
        raise CaseError(f"case {name}: unknown requirement row {', '.join(unknown)}")
    if not declaration.rows and declaration.level is not Level.INFO:
        raise CaseError(f"case {name} checks no requirement row")
    if not declaration.spec or not declaration.requirement:
        raise CaseError(f"case {name} needs a spec anchor and a requirement sentence")
    wanted = list(declaration.parameters)
    if "subject" not in wanted or not set(wanted) <= set(_PARAMETERS):
        raise CaseError(f"case {name}: its function takes {wanted}, not {list(_PARAMETERS)}")
    if declaration.fixed == ("data" in wanted):
        raise CaseError(f"case {name}: either it is fixed or it takes `data`")


# --- selecting ------------------------------------------------------------------------------


def matches(case_id: str, query: str) -> bool:
    """Whether ``query`` selects ``case_id``: an id with ``*``, or a dotted prefix of one."""
    return fnmatchcase(case_id, query) or case_id.startswith(query.rstrip(".") + ".")


def order(case_id: str) -> tuple[int, str]:
    """Sort key of a run: information first, then by id."""
    return (ROOTS.index(case_id.split(".", 1)[0]), case_id)


def unique(cases: Sequence[Case]) -> None:
    """Raise CaseError if two cases share an id."""
    seen: set[str] = set()
    for one in cases:
        if one.id in seen:
            raise CaseError(f"two cases have the id {one.id}")
        seen.add(one.id)
