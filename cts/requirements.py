"""The requirement rows: what the two APIs promise, each in one sentence of this project.

A case names the rows it checks, and ``coopcts plan`` prints every row with its cases. The
level says what the rule rests on: the specification (*required*), a documented expectation of
this suite where the specification is silent (*policy*), or good manners (*quality*).

Anchors name a document and a place in it: ``VkSpec#<command, structure or VUID>`` is the Vulkan
specification, ``SPV_...#<instruction>`` a SPIR-V extension specification.
"""

from __future__ import annotations

from dataclasses import dataclass

from cts.outcome import Level


@dataclass(frozen=True)
class Row:
    """One requirement. ``section`` is the heading that it is printed under."""

    id: str
    level: Level
    section: str
    text: str
    spec: str


_ENUMERATION = "Enumeration commands"
_PROPERTIES = "Cooperative matrix properties"
_EXTENDED = "Cooperative matrix properties of VK_EXT_cooperative_matrix_maintenance1"
_MATRIX = "Cooperative matrix instructions"
_VECTOR = "Cooperative vectors"
_CONVERSION = "Cooperative vector matrix conversion"

_KHR_QUERY = "VkSpec#vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"
_KHR_RECORD = "VkSpec#VkCooperativeMatrixPropertiesKHR"
_EXT_QUERY = "VkSpec#vkGetPhysicalDeviceCooperativeMatrixProperties2EXT"
_KHR_MATRIX = "SPV_KHR_cooperative_matrix"
_NV_MATRIX2 = "SPV_NV_cooperative_matrix2"
_NV_VECTOR = "SPV_NV_cooperative_vector"
_CONVERT = "VkSpec#vkConvertCooperativeVectorMatrixNV"
_CONVERT_INFO = "VkSpec#VkConvertCooperativeVectorMatrixInfoNV"

_R, _P, _Q = Level.REQUIRED, Level.POLICY, Level.QUALITY

# fmt: off
_ROWS: tuple[tuple[str, Level, str, str, str], ...] = (
    ("Q-01", _R, _ENUMERATION, _KHR_QUERY,
     "A call without an array stores the number of records and returns VK_SUCCESS."),
    ("Q-02", _R, _ENUMERATION, _KHR_QUERY,
     "A call with too small an array writes no more records than fit, stores how many it wrote "
     "and returns VK_INCOMPLETE."),
    ("Q-03", _R, _ENUMERATION, _KHR_QUERY,
     "A call with a large enough array writes every record, stores their number and returns "
     "VK_SUCCESS."),
    ("Q-04", _R, _ENUMERATION, _KHR_QUERY,
     "Memory behind the last written record keeps its value."),
    ("Q-05", _R, _ENUMERATION, _KHR_RECORD,
     "The sType and pNext of every record stay as the caller set them."),
    ("Q-06", _P, _ENUMERATION, _KHR_QUERY,
     "Repeated calls, calls from several threads and calls through another instance give the "
     "same records in the same order."),
    ("Q-07", _R, _ENUMERATION, _KHR_RECORD,
     "Every enumerant is one that an available extension defines, every boolean is 0 or 1, and "
     "no size is 0."),
    ("Q-08", _P, _ENUMERATION, _KHR_RECORD,
     "No record is listed twice."),
    ("Q-09", _P, _ENUMERATION, _KHR_RECORD,
     "A record needs no feature that the device doesn't report."),
    ("Q-10", _R, _ENUMERATION, "VkSpec#features-requirements",
     "A listed extension reports the features it must, and its commands have addresses."),
    ("Q-11", _P, _ENUMERATION, _KHR_RECORD,
     "Each advertised combination can be used: its pipeline is created and its product is right."),

    ("P-01", _R, _PROPERTIES, _KHR_RECORD,
     "Some record has powers of two for M, N and K."),
    ("P-02", _R, _PROPERTIES, _KHR_RECORD,
     "The scope of a record is the subgroup, unless the workgroup-scope feature is reported."),
    ("P-03", _R, _PROPERTIES, "VkSpec#VkPhysicalDeviceCooperativeMatrixPropertiesKHR",
     "The supported stages are the compute stage where a queue family can compute, and for the "
     "KHR extension no other stage."),
    ("P-04", _R, _PROPERTIES, "VkSpec#VkCooperativeMatrixFlexibleDimensionsPropertiesNV",
     "Granularities of flexible dimensions are powers of two, and there are no such records "
     "without the feature."),
    ("P-05", _R, _PROPERTIES, "VkSpec#limits-required",
     "Limits of workgroup scope and of flexible dimensions reach their required values."),
    ("P-06", _P, _PROPERTIES, "VkSpec#VkCooperativeMatrixFlexibleDimensionsPropertiesNV",
     "The workgroup invocations of a record are 0 at subgroup scope, and at workgroup scope a "
     "possible workgroup size made of whole subgroups."),
    ("P-07", _P, _PROPERTIES, "VkSpec#VkCooperativeMatrixPropertiesNV",
     "The KHR and NV lists agree wherever both can say a combination."),
    ("P-08", _Q, _PROPERTIES, _KHR_RECORD,
     "A saturating combination is listed without saturation too, and integer combinations come "
     "in both signednesses."),

    ("E-01", _R, _EXTENDED, _EXT_QUERY,
     "Every required parameter has at least one record."),
    ("E-02", _R, _EXTENDED, _EXT_QUERY,
     "Every required parameter has a float16 product that accumulates in float16 or float32."),
    ("E-03", _R, _EXTENDED, _EXT_QUERY,
     "Every required parameter has a uint8 product that accumulates in uint32 or sint32."),
    ("E-04", _R, _EXTENDED, _EXT_QUERY,
     "Every required parameter has a sint8 product that accumulates in sint32."),
    ("E-05", _Q, _EXTENDED, _EXT_QUERY,
     "Every required parameter has both accumulators of the float16 and uint8 products."),
    ("E-06", _R, _EXTENDED, _EXT_QUERY,
     "A list that isn't empty has a record whose three granularities are powers of two."),
    ("E-07", _P, _EXTENDED, _EXT_QUERY,
     "A combination works at its granularity, and with flexible dimensions at every multiple of "
     "it up to the largest dimension."),
    ("E-08", _P, _EXTENDED, _EXT_QUERY,
     "The lists with and without saturation agree with the KHR records."),
    ("E-09", _P, _EXTENDED, _EXT_QUERY,
     "Every valid subgroup size can be asked for, and what is listed for it works at it."),

    ("M-01", _R, _MATRIX, f"{_KHR_MATRIX}#OpCooperativeMatrixLoadKHR",
     "Load and store keep every bit pattern of every component type."),
    ("M-02", _R, _MATRIX, f"{_KHR_MATRIX}#OpCooperativeMatrixLoadKHR",
     "Elements lie where layout, pointer and stride say, the stride counting elements of the type "
     "pointed to."),
    ("M-03", _R, _MATRIX, f"{_KHR_MATRIX}#OpCooperativeMatrixStoreKHR",
     "A load may repeat a row or column with stride 0; a store writes its elements and nothing "
     "else."),
    ("M-04", _R, _MATRIX, f"{_KHR_MATRIX}#OpCooperativeMatrixLoadKHR",
     "Load and store work in storage buffers, physical storage buffers and workgroup memory."),
    ("M-05", _R, _MATRIX, f"{_KHR_MATRIX}#OpCooperativeMatrixMulAddKHR",
     "An integer multiply-add gives the low bits of the exact result, each operand extended as its "
     "signedness operand says."),
    ("M-06", _R, _MATRIX, f"{_KHR_MATRIX}#OpCooperativeMatrixMulAddKHR",
     "A saturating multiply-add clamps its final addition to the range of the result."),
    ("M-07", _P, _MATRIX, "VkSpec#spirvenv-precision-operation",
     "A float multiply-add is exact where no order of addition can round, and elsewhere as "
     "accurate as steps in the result type."),
    ("M-08", _P, _MATRIX, "VkSpec#spirvenv-precision-operation",
     "A NaN or infinity stays in the rows or columns that it belongs to, and a zero row adds "
     "nothing."),
    ("M-09", _R, _MATRIX, f"{_KHR_MATRIX}#OpCooperativeMatrixLengthKHR",
     "The components of all invocations hold every element, no component serves two, and they "
     "survive extraction and insertion."),
    ("M-10", _R, _MATRIX, f"{_KHR_MATRIX}#OpTypeCooperativeMatrixKHR",
     "A matrix made of one scalar holds it in every element, however it is made."),
    ("M-11", _R, _MATRIX, f"{_KHR_MATRIX}#OpTypeCooperativeMatrixKHR",
     "Arithmetic and conversion work on every element as the scalar instructions do."),
    ("M-12", _R, _MATRIX, f"{_KHR_MATRIX}#OpTypeCooperativeMatrixKHR",
     "A matrix passes unchanged through functions, aggregates, variables, branches and loops."),
    ("M-13", _R, _MATRIX, f"{_KHR_MATRIX}#OpTypeCooperativeMatrixKHR",
     "Operands given as specialization constants act as the same literals do."),
    ("M-14", _R, _MATRIX, f"{_KHR_MATRIX}#OpCooperativeMatrixMulAddKHR",
     "Every subgroup of every workgroup works on its own matrices under uniform control flow."),
    ("M-15", _R, _MATRIX, "VkSpec#VkPipelineShaderStageRequiredSubgroupSizeCreateInfo",
     "Combinations work at each subgroup size for which they are advertised."),
    ("M-16", _R, _MATRIX, "VkSpec#features-cooperativeMatrixRobustBufferAccess",
     "With robust access a load out of bounds gives a permitted value and a store out of bounds "
     "changes nothing outside its buffer."),
    ("M-17", _R, _MATRIX, "VkSpec#memory-model",
     "A store that was made visible is seen by the loads after the barrier."),
    ("M-18", _P, _MATRIX, f"{_KHR_MATRIX}#OpCooperativeMatrixMulAddKHR",
     "The same dispatch gives the same bits again."),
    ("M-19", _R, _MATRIX, "SPV_NV_cooperative_matrix#OpTypeCooperativeMatrixNV",
     "The first version of the extension works with its own instructions."),
    ("M-20", _R, _MATRIX, f"{_NV_MATRIX2}#OpCooperativeMatrixConvertNV",
     "An accumulator converts to an operand, transposed where that is asked for."),
    ("M-21", _R, _MATRIX, f"{_NV_MATRIX2}#OpCooperativeMatrixReduceNV",
     "Reductions combine the elements of each row, column, 2x2 block or the whole matrix."),
    ("M-22", _R, _MATRIX, f"{_NV_MATRIX2}#OpCooperativeMatrixPerElementOpNV",
     "A per-element function receives each element with its row and column."),
    ("M-23", _R, _MATRIX, "SPV_NV_tensor_addressing#OpTypeTensorLayoutNV",
     "Tensor layouts and views address, clamp and clip as they describe."),
    ("M-24", _R, _MATRIX, f"{_NV_MATRIX2}#OpCooperativeMatrixLoadTensorNV",
     "A block load hands its decode function the block and the coordinates in it."),
    ("M-25", _R, _MATRIX, "VkSpec#features-cooperativeMatrixFlexibleDimensions",
     "Every multiple of the granularity works as a dimension, square or not."),
    ("M-26", _R, _MATRIX, "VkSpec#features-cooperativeMatrixWorkgroupScope",
     "Matrices at workgroup scope give what those at subgroup scope give on exact data."),
    ("M-27", _R, _MATRIX, "SPV_EXT_cooperative_matrix_maintenance1"
     "#OpCooperativeMatrixGetCoordinateEXT",
     "The coordinates of the components are those of the elements they hold, each once."),
    ("M-28", _R, _MATRIX, "SPV_EXT_float8#SaturatedToLargestFloat8NormalConversionEXT",
     "bfloat16 and float8 components work where they are advertised."),
    ("M-29", _R, _MATRIX, "SPV_QCOM_cooperative_matrix_conversion",
     "Conversions between matrices and arrays or vectors give every component back."),

    ("V-01", _R, _VECTOR, "VkSpec#VkCooperativeVectorPropertiesNV",
     "The required combinations of types are listed."),
    ("V-02", _R, _VECTOR, "VkSpec#VkCooperativeVectorPropertiesNV",
     "Packed types appear as input interpretations only."),
    ("V-03", _R, _VECTOR, "VkSpec#VkPhysicalDeviceCooperativeVectorPropertiesNV",
     "The limit of components is large enough, and compute is a supported stage."),
    ("V-04", _R, _VECTOR, f"{_NV_VECTOR}#OpCooperativeVectorLoadNV",
     "Load and store keep every bit at every length and offset."),
    ("V-05", _R, _VECTOR, f"{_NV_VECTOR}#OpCooperativeVectorMatrixMulAddNV",
     "Integer products convert their input as its interpretation says and add exactly."),
    ("V-06", _P, _VECTOR, "VkSpec#spirvenv-precision-operation",
     "Float products are as accurate as steps in the result type."),
    ("V-07", _R, _VECTOR, f"{_NV_VECTOR}#OpCooperativeVectorMatrixMulNV",
     "Matrices may be given in each layout, transposed where the record allows it."),
    ("V-08", _R, _VECTOR, f"{_NV_VECTOR}#OpCooperativeVectorMatrixMulNV",
     "Each invocation computes its own product, whatever the others do."),
    ("V-09", _R, _VECTOR, f"{_NV_VECTOR}#OpTypeCooperativeVectorNV",
     "Arithmetic on vectors is as precise as the scalar instruction."),
    ("V-10", _R, _VECTOR, "VkSpec#VkPhysicalDeviceCooperativeVectorPropertiesNV",
     "Vectors work in every supported stage."),
    ("V-11", _R, _VECTOR, f"{_NV_VECTOR}#OpCooperativeVectorOuterProductAccumulateNV",
     "Outer products and sums accumulate atomically."),
    ("V-12", _R, _VECTOR, "VkSpec#VkCooperativeVectorMatrixLayoutNV",
     "Training-optimal data may be treated as an array of elements."),

    ("C-01", _R, _CONVERSION, _CONVERT,
     "Without a destination the needed size is stored, and no source is needed."),
    ("C-02", _P, _CONVERSION, _CONVERT,
     "With too small a destination nothing is written and VK_INCOMPLETE returned."),
    ("C-03", _R, _CONVERSION, _CONVERT,
     "With a large enough destination the written size is stored, and nothing behind it changes."),
    ("C-04", _R, _CONVERSION, _CONVERT_INFO,
     "The needed size depends on the destination alone."),
    ("C-05", _R, _CONVERSION, _CONVERT_INFO,
     "Sizes and positions of the strided layouts are those of the strided matrix."),
    ("C-06", _R, _CONVERSION, _CONVERT_INFO,
     "Every chain of layouts gives the elements back."),
    ("C-07", _R, _CONVERSION, _CONVERT_INFO,
     "Conversion to a narrower float rounds to nearest, ties to even."),
    ("C-08", _P, _CONVERSION, _CONVERT_INFO,
     "Overflow and NaN convert in one documented way everywhere."),
    ("C-09", _Q, _CONVERSION, _CONVERT_INFO,
     "The sign of zero survives conversion."),
    ("C-10", _R, _CONVERSION, _CONVERT,
     "Conversion on the host and on the device give the same bytes."),
    ("C-11", _R, _CONVERSION, "VkSpec#vkCmdConvertCooperativeVectorMatrixNV",
     "Several conversions in one command work, ordered by their own pipeline stage."),
    ("C-12", _P, _CONVERSION, _CONVERT_INFO,
     "Padding of a strided destination keeps its value."),
    ("C-13", _R, _CONVERSION, _CONVERT_INFO,
     "A matrix in an optimal layout multiplies as it does row-major."),
)
# fmt: on

ROWS: dict[str, Row] = {
    id_: Row(id_, level, section, text, spec) for id_, level, section, spec, text in _ROWS
}
"""Every row by its id, in the order they are printed."""
