"""Whether a device's records, limits and properties allow a cooperative vector program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cts.device.protocol import DeviceInfo
from cts.program.records import VECTOR
from cts.program.stages import stage_reasons
from cts.program.types import Component, Storage
from cts.program.vector import MatrixMul, OuterProduct, ReduceSum, Stage, VectorType
from cts.program.vector_program import VectorProgram, walk_vectors

PROPERTIES = "VkPhysicalDeviceCooperativeVectorPropertiesNV."
MEMBERS = (
    "inputType",
    "inputInterpretation",
    "matrixInterpretation",
    "biasInterpretation",
    "resultType",
)
_LIMITS = "VkPhysicalDeviceLimits."
_BUFFERS = (Storage.STORAGE_BUFFER, Storage.PHYSICAL_STORAGE_BUFFER)

Record = Mapping[str, int]


def most_components(info: DeviceInfo) -> int:
    """The largest number of components that a vector may have."""
    return int(info.properties.get(PROPERTIES + "maxCooperativeVectorComponents", 0))


def unsupported_vectors(program: VectorProgram, info: DeviceInfo) -> str | None:
    """The first reason why this device can't run ``program``, beyond features and extensions;
    None if it can."""
    return next(_reasons(program, info), None)


def used_records(program: VectorProgram, info: DeviceInfo) -> tuple[str, ...]:
    """``command#index`` of the first record that each product matches."""
    found: dict[str, None] = {}
    for product in _products(program):
        for index, record in enumerate(info.records.get(VECTOR, ())):
            if matches(record, product, program):
                found[f"{VECTOR}#{index}"] = None
                break
    return tuple(found)


def matches(record: Record, product: MatrixMul, program: VectorProgram) -> bool:
    """VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10089."""
    given = program.types()[product.input]
    component = given.component if isinstance(given, VectorType) else given
    return (
        record["inputType"] == component
        and record["inputInterpretation"] == product.interpretation
        and record["matrixInterpretation"] == product.weights.interpretation
        and (product.bias is None or record["biasInterpretation"] == product.bias.interpretation)
        and record["resultType"] == product.type.component
        and (not product.weights.transpose or bool(record["transpose"]))
    )


def _products(program: VectorProgram) -> list[MatrixMul]:
    return [it for it in walk_vectors(program.body) if isinstance(it, MatrixMul)]


def _reasons(program: VectorProgram, info: DeviceInfo) -> Iterator[str]:
    records = info.records.get(VECTOR, ())
    yield from _stages(program, info)
    yield from _types(program, info, records)
    for product in _products(program):
        if not any(matches(record, product, program) for record in records):
            yield f"no record for the product {_product_text(product, program)}"
    yield from _training(program, info)
    limits = _limits if program.stage is Stage.COMPUTE else stage_reasons
    yield from limits(program, info)


def _product_text(product: MatrixMul, program: VectorProgram) -> str:
    given = program.types()[product.input]
    component = given.component if isinstance(given, VectorType) else given
    bias = "" if product.bias is None else f" + {product.bias.interpretation.label}"
    transposed = ", transposed" if product.weights.transpose else ""
    return (
        f"{product.weights.interpretation.label} x {component.label} as "
        f"{product.interpretation.label}{bias} -> {product.type.component.label}{transposed}"
    )


def _stages(program: VectorProgram, info: DeviceInfo) -> Iterator[str]:
    stages = int(info.properties.get(PROPERTIES + "cooperativeVectorSupportedStages", 0))
    if not stages & program.stage.value:
        yield f"cooperative vectors aren't supported in the {program.stage.label} stage"


def _types(program: VectorProgram, info: DeviceInfo, records: tuple[Record, ...]) -> Iterator[str]:
    """VUID-RuntimeSpirv-OpTypeCooperativeVector-10095 and …maxCooperativeVectorComponents-10094."""
    reported = {record[member] for record in records for member in MEMBERS}
    most = most_components(info)
    for kind in program.types().values():
        if not isinstance(kind, VectorType):
            continue
        if kind.component not in reported:
            yield f"no record has {kind.component.label} vectors"
        if kind.length > most:
            yield f"{kind.length} components exceed {most}"


def _training(program: VectorProgram, info: DeviceInfo) -> Iterator[str]:
    """VUID-RuntimeSpirv-OpCooperativeVectorReduceSumAccumulateNV-10092 and
    …OuterProductAccumulateNV-10093."""
    for it in walk_vectors(program.body):
        if isinstance(it, ReduceSum):
            kind = program.types()[it.value]
            component = kind.component if isinstance(kind, VectorType) else kind
        elif isinstance(it, OuterProduct):
            component = it.interpretation
        else:
            continue
        if component not in (Component.FLOAT16, Component.FLOAT32):
            yield f"there is no accumulation in {component.label}"
            continue
        bits = component.bits
        if not info.properties.get(f"{PROPERTIES}cooperativeVectorTrainingFloat{bits}Accumulation"):
            yield f"accumulation in {component.label} isn't supported"
        if program.buffer(it.place.buffer).storage not in _BUFFERS:
            yield "accumulation needs a storage buffer"


def _limits(program: VectorProgram, info: DeviceInfo) -> Iterator[str]:
    properties, grid = info.properties, program.grid
    most = min(
        int(properties[_LIMITS + "maxComputeWorkGroupInvocations"]),
        int(properties[_LIMITS + "maxComputeWorkGroupSize"][0]),
    )
    if grid.local_size > most:
        yield f"a workgroup of {grid.local_size} invocations exceeds {most}"
    groups = int(properties[_LIMITS + "maxComputeWorkGroupCount"][0])
    if grid.workgroups > groups:
        yield f"{grid.workgroups} workgroups exceed {groups}"
    shared = sum(
        buffer.size * buffer.pointee.bytes + 16
        for buffer in program.buffers
        if buffer.storage is Storage.WORKGROUP
    )
    room = int(properties[_LIMITS + "maxComputeSharedMemorySize"])
    if shared > room:
        yield f"{shared} bytes of workgroup memory exceed {room}"
