"""Whole results as a run writes them, made up of the parts beside this module."""

from __future__ import annotations

import copy
from typing import Any

from tests.reports.parts import (
    KHR,
    PROGRAM,
    TYPES,
    case,
    crash_finding,
    device,
    finding,
    float_finding,
    integer_finding,
    operand,
    property_finding,
)

__all__ = ["KHR", "case", "device", "failing", "finding", "hostile", "large", "operand", "passing"]


def passing() -> dict[str, Any]:
    """A result in which everything is in order and one case isn't supported."""
    cases = [case("cooperative_matrix.mul_add.integer", "M-05", axes={"types": t}) for t in TYPES]
    cases += [
        case(
            "cooperative_matrix.load_store.bits",
            "M-01",
            axes={"component": component, "layout": layout},
            spec="SPV_KHR_cooperative_matrix#OpCooperativeMatrixLoadKHR",
            worst_ratio=None,
        )
        for component in ("float16", "float32", "uint8", "sint32")
        for layout in ("row_major", "column_major")
    ]
    cases.append(
        case(
            "cooperative_matrix.load_store.bits",
            "M-01",
            axes={"component": "float64", "layout": "row_major"},
            spec="SPV_KHR_cooperative_matrix#OpCooperativeMatrixLoadKHR",
            outcome="not_supported",
            reason="no advertised record has float64",
            examples=0,
            matrices=0,
            worst_ratio=None,
            distribution={},
            used_records=[],
            duration=0.001,
        )
    )
    cases.append(case("cooperative_matrix.mul_add.float.bound", "M-07", "policy", worst_ratio=0.41))
    vulkan = f"Vulkan#{KHR}"
    cases += [
        case("cooperative_matrix.properties.incomplete", "Q-02", spec=vulkan),
        case("cooperative_matrix.properties.usable", "Q-11", "policy", spec=vulkan),
        case("cooperative_matrix.properties.saturation", "P-08", "quality", spec=vulkan),
        case("info.environment", "I-01", "info", spec="", examples=1, matrices=0, duration=0.01),
    ]
    records = device()["records"][KHR]
    words = ("float16 x float16 + float16", "float16 x float16 + float32", "uint8 x uint8 + uint32")
    return {
        "schema": 1,
        "suite": {
            "version": "0.1.0",
            "hash": "5e1f" * 16,
            "profile": "default",
            "hypothesis": "6.170.17",
            "numpy": "2.4.6",
            "python": "3.11.7",
            "command": "coopcts run --profile default --seed 1 -n 2",
        },
        "device": device(),
        "seed": 1,
        "started": "2026-11-30T10:00:00Z",
        "duration": 61.2,
        "workers": 2,
        "interrupted": False,
        "conformant": True,
        "counts": {},
        "notes": [],
        "selection": None,
        "cases": cases,
        "findings": [],
        "coverage": [
            {
                "record": f"{KHR}#{index}",
                "text": f"8x8x8 {words[index] if index < 3 else 'sint8 x sint8 + sint32'}",
                "examples": (240, 180, 610, 400, 0)[index],
                "cases": (5, 4, 9, 7, 0)[index],
            }
            for index in range(len(records))
        ],
        "accuracy": [
            {"types": words[0], "worst_ratio": 0.92, "case": cases[-5]["id"]},
            {"types": words[1], "worst_ratio": 0.41, "case": cases[-5]["id"]},
        ],
    }


def failing() -> dict[str, Any]:
    """A result with a finding of every weight."""
    result = passing()
    by_id = {item["id"]: item for item in result["cases"]}

    def fail(name: str, outcome: str, **more: Any) -> dict[str, Any]:
        by_id[name].update(outcome=outcome, **more)
        return by_id[name]

    integer = "cooperative_matrix.mul_add.integer."
    first = fail(integer + TYPES[0], "fail", worst_ratio="inf")
    second = fail(integer + TYPES[1], "fail", worst_ratio="inf")
    crashed = case("cooperative_matrix.mul_add.dimensions", "M-05", outcome="crash", examples=7)
    hung = case("cooperative_matrix.load_store.stride_zero", "M-02", outcome="timeout", examples=3)
    guard = case("cooperative_matrix.load_store.guards", "M-03", outcome="fail", examples=11)
    broken = case("cooperative_matrix.load_store.views", "M-02", outcome="error", examples=2)
    for item in (hung, guard, broken):
        item["spec"] = "SPV_KHR_cooperative_matrix#OpCooperativeMatrixStoreKHR"
    broken["reason"] = "a case made an invalid program: stride 3 is less than 8 columns"
    result["cases"] += [crashed, hung, guard, broken]
    flaky = case("cooperative_matrix.mul_add.repeat", "M-07", "policy", outcome="flaky")
    result["cases"].append(flaky)
    policy = fail("cooperative_matrix.mul_add.float.bound", "policy", worst_ratio=6.2)
    incomplete = fail("cooperative_matrix.properties.incomplete", "fail")
    quality = fail("cooperative_matrix.properties.saturation", "quality_warning")
    result["accuracy"][1]["worst_ratio"] = 6.2
    result["findings"] = [
        integer_finding(first),
        integer_finding(second, "77d0b2"),
        crash_finding(crashed),
        finding(
            "e5a001",
            hung,
            "DriverHang",
            "The fence wasn't signalled within 10 s.",
            facts={"phase": "fence", "seconds": 10.0},
            program=PROGRAM.format(k=8).replace("stride 24", "stride 0"),
        ),
        finding(
            "4b6c11",
            guard,
            "GuardTouched",
            "A store of 8x8 uint8 with stride 13 changed 40 bytes of row padding in d.",
            pattern="bytes 8 to 12 of rows 0 to 7: the padding after each row",
            worst={"buffer": "d", "actual_bits": "0x00", "accepted": "0xa5, as it was"},
            program=PROGRAM.format(k=64),
        ),
        property_finding(incomplete),
        float_finding(policy),
        finding("a0a0a0", flaky, "Nondeterministic", "2 of 5 runs gave other bits."),
        finding("d00d1e", quality, "QualityProperty", "Record 3 has only the saturating form."),
    ]
    result["conformant"] = False
    return result


def large(cases: int = 5000) -> dict[str, Any]:
    """A result with many cases of realistic size, three in a hundred of them failed."""
    result = passing()
    made = []
    for index in range(cases):
        group, axes = divmod(index, 100)
        item = case(
            f"cooperative_matrix.section_{group % 7}.rule_{group}",
            "M-05",
            ("required", "required", "policy", "quality")[group % 4],
            axes={"types": TYPES[axes % 4], "layout": f"layout_{axes // 4}"},
            spec=f"SPV_KHR_cooperative_matrix#section_{group % 7}",
        )
        if axes in (1, 5, 9):
            item["outcome"] = "fail"
        made.append(item)
    result["cases"] = made
    failed = [item for item in made if item["outcome"] == "fail"][:60]
    result["findings"] = [
        integer_finding(item, f"{index:06x}") for index, item in enumerate(failed)
    ]
    result["conformant"] = False
    result["accuracy"] = []
    return result


def hostile(text: str) -> dict[str, Any]:
    """A failing result in which every free string is followed by ``text``."""
    fixed = {"level", "outcome", "started"}

    def poison(value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            return value if key in fixed or not value else value + text
        if isinstance(value, list):
            return [poison(item, key) for item in value]
        if isinstance(value, dict):
            names = key in ("extensions", "properties", "records", "environment", "distribution")
            return {
                name + text if names or key in ("axes", "facts") else name: poison(item, name)
                for name, item in value.items()
            }
        return value

    poisoned: dict[str, Any] = poison(copy.deepcopy(failing()))
    for item in poisoned["findings"]:
        if item.get("errors"):
            item["errors"] |= {"down": text, "across": text}
        for row in item.get("errors", {}).get("ratios", []):
            row[:] = [0.0 if isinstance(cell, str) else cell for cell in row]
    return poisoned
