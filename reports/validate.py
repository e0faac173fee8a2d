"""Checks data against the result schema, and fills in its defaults.

The schema file is the one description of the format. This module interprets the few keywords
of JSON Schema 2020-12 that the file uses, so that a report can be made where no schema library
is installed; the tests hold it against a full implementation.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from typing import Any

KEYWORDS = frozenset(
    {
        "$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "enum",
        "required", "properties", "additionalProperties", "items", "minimum", "default",
    }
)  # fmt: skip
"""Every keyword that the schema file may use."""

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: _number(value) and value == math.floor(value),
    "number": lambda value: _number(value),
}


def _number(value: Any) -> bool:
    """JSON numbers: no booleans, no infinities, no NaN."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@cache
def schema() -> dict[str, Any]:
    """The schema of ``result.json``, version 1."""
    path = resources.files("reports").joinpath("schema", "result-1.json")
    loaded: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return loaded


def problems(value: Any) -> Iterator[str]:
    """What is wrong with ``value``, one sentence each with the place; nothing if it is valid."""
    return _problems(value, schema(), "result")


def complete(value: dict[str, Any]) -> dict[str, Any]:
    """A copy of a valid result in which every optional member is present."""
    filled = _complete(value, schema())
    assert isinstance(filled, dict)
    return filled


def _resolve(node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    target: dict[str, Any] = schema()["$defs"][node["$ref"].removeprefix("#/$defs/")]
    return {**target, **{key: node[key] for key in node if key != "$ref"}}


def _problems(value: Any, node: dict[str, Any], where: str) -> Iterator[str]:
    node = _resolve(node)
    types = node.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_TYPES[name](value) for name in types):
        yield f"{where} is {_show(value)}, not {' or '.join(types)}"
        return
    if "const" in node and (value != node["const"] or isinstance(value, bool)):
        yield f"{where} is {_show(value)}, not {_show(node['const'])}"
    if "enum" in node and value not in node["enum"]:
        yield f"{where} is {_show(value)}, not one of {', '.join(map(str, node['enum']))}"
    if _number(value) and value < node.get("minimum", value):
        yield f"{where} is {_show(value)}, less than {node['minimum']}"
    if isinstance(value, dict):
        yield from _object_problems(value, node, where)
    if isinstance(value, list) and "items" in node:
        for index, item in enumerate(value):
            yield from _problems(item, node["items"], f"{where}[{index}]")


def _object_problems(value: dict[str, Any], node: dict[str, Any], where: str) -> Iterator[str]:
    for name in node.get("required", []):
        if name not in value:
            yield f"{where} has no member {name!r}"
    properties = node.get("properties", {})
    for name, member in value.items():
        inner = properties.get(name, node.get("additionalProperties"))
        if inner is not None:
            yield from _problems(member, inner, f"{where}.{name}")


def _complete(value: Any, node: dict[str, Any]) -> Any:
    node = _resolve(node)
    if isinstance(value, list):
        items = node.get("items")
        return value if items is None else [_complete(item, items) for item in value]
    if not isinstance(value, dict):
        return value
    properties = node.get("properties", {})
    other = node.get("additionalProperties")
    filled = {}
    for name, inner in properties.items():
        inner = _resolve(inner)
        if name in value:
            filled[name] = _complete(value[name], inner)
        elif "default" in inner:
            filled[name] = copy.deepcopy(inner["default"])
    for name, member in value.items():
        if name not in properties:
            filled[name] = member if other is None else _complete(member, other)
    return filled


def _show(value: Any) -> str:
    """``value`` in a message: short, on one line, whatever it is."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
