"""Cases, findings and a device, made up but coherent: the values in a finding really follow from
its operands and its fault."""

from __future__ import annotations

from typing import Any

import numpy as np

KHR = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"
FLEXIBLE = "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV"
MULADD = "SPV_KHR_cooperative_matrix#OpCooperativeMatrixMulAddKHR"
TYPES = ("uint8_uint8_uint32", "sint8_sint8_sint32", "uint8_sint8_sint32", "sint8_uint8_sint32")

RULES = {
    "M-01": "Load and store preserve every bit of every component.",
    "M-02": "Element (r, c) lies at Pointer + r * Stride + c in a row-major matrix and at "
    "Pointer + c * Stride + r in a column-major one; Stride counts pointee elements.",
    "M-03": "A store writes the elements of the matrix and nothing else.",
    "M-05": "Every element of the result is the low N bits of the exact A x B + C, each operand "
    "extended as its signedness operand says.",
    "M-07": "Where every partial sum in every order is exactly representable, a float product is "
    "exact; elsewhere it is within the error bound of a sum in the precision of the result.",
    "Q-02": "With fewer places than records, the command writes only those, overwrites the count "
    "with the number written and returns VK_INCOMPLETE.",
    "Q-11": "Every advertised record is usable: a pipeline with exactly that combination is "
    "created and gives a correct product.",
    "P-08": "A record with a saturating form has the non-saturating form too.",
    "I-01": "The properties and the environment of the device are recorded.",
}

PROGRAM = """\
workgroups 1, subgroups 1 of 8 invocations
buffer a  uint8[{k}]   storage
buffer b  uint8[256]   storage
buffer c  uint32[64]   storage
buffer d  uint32[64]   storage

A = load   uint8[8x8] A            from a  row_major     stride 8
B = load   uint8[8x8] B            from b  column_major  stride 24  offset 8
C = load   uint32[8x8] Accumulator from c  row_major     stride 8
D = muladd uint32[8x8] A x B + C
    store  D                       to   d  row_major     stride 8
"""

DISASSEMBLY = """\
; SPIR-V
; Version: 1.5
               OpCapability Shader
               OpCapability VulkanMemoryModel
               OpCapability CooperativeMatrixKHR
               OpExtension "SPV_KHR_cooperative_matrix"
               OpMemoryModel Logical Vulkan
               OpEntryPoint GLCompute %main "main" %a %b %c %d
               OpExecutionMode %main LocalSize 8 1 1
       %uint = OpTypeInt 32 0
      %uchar = OpTypeInt 8 0
     %mat_a  = OpTypeCooperativeMatrixKHR %uchar %uint_3 %uint_8 %uint_8 %uint_0
     %mat_b  = OpTypeCooperativeMatrixKHR %uchar %uint_3 %uint_8 %uint_8 %uint_1
     %mat_c  = OpTypeCooperativeMatrixKHR %uint %uint_3 %uint_8 %uint_8 %uint_2
         %D  = OpCooperativeMatrixMulAddKHR %mat_c %A %B %C
"""


def case(base: str, row: str, level: str = "required", **more: Any) -> dict[str, Any]:
    """One passed case; ``axes`` among ``more`` are put on its id."""
    axes = more.pop("axes", {})
    made = {
        "id": ".".join((base, *axes.values())),
        "rows": [row],
        "level": level,
        "spec": MULADD,
        "requirement": RULES[row],
        "axes": axes,
        "outcome": "pass",
        "reason": "",
        "examples": 50,
        "matrices": 3200,
        "worst_ratio": 0.0,
        "duration": 0.9,
        "findings": [],
        "distribution": {
            "matrix": {"uint8[8x8] A": 50, "uint8[8x8] B": 50, "uint32[8x8] ACCUMULATOR": 50},
            "load layout": {"row_major": 71, "column_major": 79},
            "load stride": {"tight": 60, "padded": 70, "zero": 20},
            "grid": {"1x1x8": 31, "2x4x8": 19},
        },
        "used_records": [f"{KHR}#2"],
    }
    return made | more


def finding(name: str, of: dict[str, Any], kind: str, message: str, **more: Any) -> dict[str, Any]:
    """A finding of the case ``of``, which gets its id and its outcome."""
    made = {
        "id": name,
        "case": of["id"],
        "kind": kind,
        "outcome": of["outcome"],
        "message": message,
        "rule": of["requirement"],
        "grid": {"workgroups": 1, "subgroups": 1, "subgroup_size": 8},
        "witness": f"witness/{name}.json",
        "replay": f"coopcts replay {name}",
        "export": f"coopcts export {name}",
    }
    of["findings"].append(name)
    return made | more


def operand(name: str, recipe: str, component: str, bits: np.ndarray, **more: Any) -> Any:
    """An operand; ``bits`` is an array of the component's own NumPy type."""
    digits = bits.dtype.itemsize * 2
    raw = bits.view(f"u{bits.dtype.itemsize}")
    return {
        "name": name,
        "recipe": recipe,
        "component": component,
        "tile": 0,
        "values": [[str(value) for value in row] for row in bits.tolist()],
        "bits": [[f"{value:0{digits}x}" for value in row] for row in raw.tolist()],
    } | more


def integer_finding(of: dict[str, Any], name: str = "3f2a9c") -> dict[str, Any]:
    """MulAdd forgets the last k: wrong wherever B's last row isn't 0."""
    a = np.ones((8, 8), np.uint8)
    b = np.zeros((8, 8), np.uint8)
    b[7, 5:] = 1
    b[2, 1] = 3
    c = np.arange(64, dtype=np.uint32).reshape(8, 8)
    exact = a.astype(np.uint32) @ b + c
    got = a[:, :7].astype(np.uint32) @ b[:7] + c
    wrong = exact != got
    return finding(
        name,
        of,
        "WrongValue",
        "Element [0, 5] of tile 0 of d is 5 (0x00000005); accepted: exactly 6.",
        program=PROGRAM.format(k=64),
        record=f"{KHR}#2: 8x8x8 uint8 x uint8 + uint32 -> uint32",
        facts={"module": "valid (spirv-val)", "seen in": "5 of 5 repetitions"},
        operands=[
            operand("a", "ones 8x8", "uint8", a, focus={"row": 0, "column": None}),
            operand(
                "b",
                "zeros 8x8, 0x1 at [0, 7, 5]",
                "uint8",
                b,
                focus={"row": None, "column": 5},
            ),
            operand("c", "iota, limit 63 8x8", "uint32", c, focus={"row": 0, "column": 5}),
        ],
        worst={
            "buffer": "d",
            "component": "uint32",
            "tile": 0,
            "row": 0,
            "column": 5,
            "actual_bits": "0x00000005",
            "actual": "5",
            "exact": "6",
            "accepted": "exactly 6 (0x00000006)",
            "ratio": "inf",
        },
        errors={
            "tile": 0,
            "rows": 8,
            "columns": 8,
            "ratios": [["inf" if bad else 0.0 for bad in row] for row in wrong],
        },
        pattern=f"columns 5, 6 and 7, every row; {wrong.sum()} of 64 elements, all too small by 1",
        explanation="Unsigned 8-bit factors and a 32-bit result: every product and sum is exact "
        "modulo 2^32, whatever their order, so one bit pattern is right.",
        disassembly=DISASSEMBLY,
    )


def float_finding(of: dict[str, Any]) -> dict[str, Any]:
    """Accumulates in float16 although the result is float32: 16 x 16 with K = 16."""
    random = np.random.default_rng(7)
    a = random.uniform(-2, 2, (16, 16)).astype(np.float16)
    b = random.uniform(-2, 2, (16, 16)).astype(np.float16)
    c = random.uniform(-1, 1, (16, 16)).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64) + c
    total = c.astype(np.float16)
    for k in range(16):
        total = (total + a[:, k : k + 1] * b[k : k + 1, :]).astype(np.float16)
    got = total.astype(np.float32)
    size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + np.abs(c)
    bound = size * 2.0**-12
    ratios = np.abs(got - exact) / bound
    row, column = (int(i) for i in np.unravel_index(np.argmax(ratios), ratios.shape))
    worst = float(got[row, column])
    bits = int(got[row : row + 1, column].view(np.uint32)[0])
    low, high = (exact[row, column] + sign * bound[row, column] for sign in (-1, 1))
    return finding(
        "b81e07",
        of,
        "PolicyValue",
        f"Element [{row}, {column}] of tile 0 of d is {worst!r} (0x{bits:08x}); "
        f"accepted: [{low:.7g}, {high:.7g}].",
        program=PROGRAM.format(k=256).replace("uint8", "float16").replace("uint32", "float32"),
        record="KHR 16x16x16 float16 x float16 + float32 -> float32",
        grid={"workgroups": 2, "subgroups": 4, "subgroup_size": 32},
        operands=[
            operand("a", "full, seed 7 16x16", "float16", a, focus={"row": row, "column": None}),
            operand("b", "full, seed 8 16x16", "float16", b, focus={"row": None, "column": column}),
            operand("c", "zeros 16x16", "float32", np.zeros((16, 16), np.float32)),
        ],
        worst={
            "buffer": "d",
            "component": "float32",
            "tile": 0,
            "row": row,
            "column": column,
            "actual_bits": f"0x{bits:08x}",
            "actual": repr(worst),
            "exact": repr(float(exact[row, column])),
            "accepted": f"[{low:.7g}, {high:.7g}]",
            "ratio": float(ratios[row, column]),
        },
        errors={"tile": 0, "rows": 16, "columns": 16, "ratios": ratios.tolist()},
        pattern="no row or column stands out; all values have the low 13 bits of their fraction 0",
        explanation="The specification leaves order and precision of the sum open. The suite "
        "expects the precision of the result: n additions, each rounded in any direction, are off "
        "by at most n * 2^-16 times the sum of the magnitudes.",
        disassembly=DISASSEMBLY,
    )


def crash_finding(of: dict[str, Any]) -> dict[str, Any]:
    """The compiler dies on K = 48."""
    return finding(
        "c0ffee",
        of,
        "DriverCrash",
        "The device process was ended by SIGSEGV while it created the pipeline.",
        program=PROGRAM.format(k=384).replace("8x8", "8x48"),
        record=f"{FLEXIBLE}#0: granularity 8x8x8 float16 x float16 + float32 -> float32",
        facts={"phase": "pipeline", "signal": "SIGSEGV", "seconds": 0.31, "module": "valid"},
        stderr="lower_cooperative_matrix: slice 6 of 6\nSegmentation fault (core dumped)\n",
        disassembly=DISASSEMBLY,
    )


def property_finding(of: dict[str, Any]) -> dict[str, Any]:
    """VK_SUCCESS where VK_INCOMPLETE is due."""
    return finding(
        "9d41aa",
        of,
        "WrongProperty",
        "With room for 3 of 4 records the command returned VK_SUCCESS instead of VK_INCOMPLETE.",
        program=f"Query\n  command = {KHR}\n  capacity = 3\n  allocated = 3",
        grid=None,
        facts={"capacity": 3, "count returned": 3, "result": "VK_SUCCESS", "records": 4},
        explanation="The array is too small for all records, so the result must say so.",
    )


def device() -> dict[str, Any]:
    """A software driver that has the KHR records."""
    types = ((0, 0, 0, 0), (0, 0, 1, 1), (7, 7, 9, 9), (3, 3, 5, 5), (1000999000, 0, 1, 1))
    records = [
        {
            "MSize": 8,
            "NSize": 8,
            "KSize": 8,
            "AType": a,
            "BType": b,
            "CType": c,
            "ResultType": r,
            "saturatingAccumulation": 0,
            "scope": 3,
        }
        for a, b, c, r in types
    ]
    limits = {
        f"VkPhysicalDeviceLimits.{name}": value
        for name, value in (
            ("maxComputeSharedMemorySize", 32768),
            ("maxComputeWorkGroupInvocations", 1024),
            ("maxComputeWorkGroupSize", [1024, 1024, 1024]),
        )
    }
    return {
        "kind": "vulkan",
        "name": "llvmpipe (LLVM 19.1.7, 256 bits)",
        "driver": "llvmpipe",
        "driver_version": "Mesa 26.1.6",
        "api_version": "1.4.335",
        "uuid": "6d657361-3236-2e31-2e36-000000000000",
        "subgroup_size": 8,
        "extensions": {"VK_KHR_cooperative_matrix": 2, "VK_NV_cooperative_matrix2": 1},
        "features": [
            "VkPhysicalDeviceCooperativeMatrixFeaturesKHR.cooperativeMatrix",
            "VkPhysicalDeviceCooperativeMatrix2FeaturesNV.cooperativeMatrixFlexibleDimensions",
            "VkPhysicalDeviceCooperativeMatrix2FeaturesNV.cooperativeMatrixReductions",
        ],
        "properties": {
            "VkPhysicalDeviceSubgroupProperties.subgroupSize": 8,
            "VkPhysicalDeviceCooperativeMatrixPropertiesKHR.cooperativeMatrixSupportedStages": 32,
        }
        | limits,
        "records": {KHR: records, FLEXIBLE: []},
        "queues": [15],
        "environment": {
            "system": "Linux 6.1.0 x86_64",
            "cpu": "AMD EPYC 9654",
            "loader": "1.4.335",
        },
    }
