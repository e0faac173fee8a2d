"""Legal devices: what the specification permits and the reference device doesn't do.

They are the suite's false-alarm tests. A case that fails on one of them accuses a driver that
conforms. Most may not even get a policy finding; where the suite's policy asks for more than the
specification, the device says so.
"""

from __future__ import annotations

from cts.outcome import Outcome
from cts.program.model import Component
from reference.adders import Arithmetic, Order
from reference.component import Rounding
from reference.device_convert import Converter
from reference.legal import conversions, lists, machines, vectors
from reference.legal.base import Area, Legal, LegalDevice
from reference.machine import Behaviour, Machine, Ownership

__all__ = ["LEGAL", "Area", "Legal", "LegalDevice", "named"]

_SUM = "VkSpec#spirvenv-op-prec: implementation-dependent order and internal precision"
_ROUND = "VkSpec#spirvenv-correctly-rounded-impl-defined: either neighbour"
_DIVISION = "VkSpec#spirvenv-precision-core-table: OpFDiv within 2.5 ULP"
_CONTRACTION = "VkSpec#spirvenv-evaluation-expressions: rearranged unless NoContraction"
_DENORM = "VkSpec#spirvenv-precision-operation: subnormals may be flushed"
_ZERO = "VkSpec#spirvenv-precision-operation: NSZ is assumed without SignedZeroInfNanPreserve"
_NAN = "VkSpec#spirvenv-precision-operation: NotNaN is assumed; payloads may change"
_FLOAT8 = "SPV_EXT_float8: out-of-range values become NaN or infinity"
_OWN = "SPV_KHR_cooperative_matrix: which invocation holds which component is not defined"
_OPTIMAL = "VkSpec#VkCooperativeVectorMatrixLayoutNV: optimal layouts are implementation-dependent"
_CONVERT = "VkSpec#fundamentals-fp-conversion"
_PADDING = "VkSpec#vkConvertCooperativeVectorMatrixNV: says nothing of bytes between lines"
_LIST = "VkSpec: the order of records is not defined"
_HIDDEN = "VkSpec#fundamentals-validusage-enums: values of any extension, listed or not"
_INPUT = "SPV_NV_cooperative_vector: inputs should be converted, and how is not said"
_ATOMIC = "SPV_NV_cooperative_vector: atomic additions, whose order is free"
_ROBUST = "VkSpec#features-robustBufferAccess: anywhere within the buffer's memory"
_SHORT = "VkSpec: at most as many records as there is room for are written"
_OPTIONAL = "VkSpec: every other extension and feature is optional"
_SIZE = "VkSpec#VkPhysicalDeviceSubgroupProperties: any power of two"


def _sentence(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split())


def _machine(
    name: str,
    machine: type[Machine],
    source: str,
    area: Area = Area.SUMS,
    worst: Outcome = Outcome.QUALITY_WARNING,
    behaviour: Behaviour | None = None,
    freedom: str = "",
) -> Legal:
    class Chosen(LegalDevice):
        pass

    Chosen.machine = machine
    said = freedom or _sentence(machine)
    return Legal(name, said, source, area, Chosen, behaviour or Behaviour(), worst)


def _adder(
    name: str, freedom: str, arithmetic: Arithmetic, worst: Outcome = Outcome.QUALITY_WARNING
) -> Legal:
    behaviour = Behaviour(arithmetic)
    return _machine(name, machines.WideEnough, _SUM, Area.SUMS, worst, behaviour, freedom)


def _fused(bits: int, block: int, worst: Outcome = Outcome.QUALITY_WARNING) -> Legal:
    freedom = f"Fused adders of {block} products, aligned to {bits} fraction bits and truncated."
    arithmetic = Arithmetic(Order.FUSED, fraction_bits=bits, block=block)
    return _adder(f"fused_{bits}", freedom, arithmetic, worst)


def _unit_errors(bits: int) -> Legal:
    freedom = f"Opposing addends are off by one unit of a grid of {bits} fraction bits."
    return _adder(f"unit_errors_{bits}", freedom, Arithmetic(Order.UNIT_ERRORS, fraction_bits=bits))


def _converter(
    name: str, converter: type[Converter], source: str, worst: Outcome = Outcome.QUALITY_WARNING
) -> Legal:
    class Chosen(LegalDevice):
        pass

    Chosen.converter = converter
    return Legal(name, _sentence(converter), source, Area.CONVERSIONS, Chosen, worst=worst)


def _device(
    name: str,
    kind: type[LegalDevice],
    source: str,
    area: Area,
    worst: Outcome = Outcome.QUALITY_WARNING,
) -> Legal:
    return Legal(name, _sentence(kind), source, area, kind, worst=worst)


def _behaviour(name: str, freedom: str, source: str, area: Area, behaviour: Behaviour) -> Legal:
    return Legal(name, freedom, source, area, behaviour=behaviour)


_ADDERS = (
    _adder(
        "ascending",
        "Sums C first, then one product after the other.",
        Arithmetic(Order.ASCENDING),
    ),
    _adder(
        "descending",
        "Sums the products from the last to the first, then C.",
        Arithmetic(Order.DESCENDING),
    ),
    _adder(
        "pairwise",
        "Sums products in a balanced tree, then C.",
        Arithmetic(Order.PAIRWISE),
    ),
    _adder(
        "ascending_truncated",
        "Truncates after every addition, and in conversions.",
        Arithmetic(Order.ASCENDING, Rounding.TOWARD_ZERO),
    ),
    _adder(
        "pairwise_up",
        "Rounds every sum and every conversion up.",
        Arithmetic(Order.PAIRWISE, Rounding.UP),
    ),
    _adder(
        "descending_down",
        "Rounds every sum and every conversion down.",
        Arithmetic(Order.DESCENDING, Rounding.DOWN),
    ),
    _adder(
        "ascending_away",
        "Rounds every sum and every conversion away from zero.",
        Arithmetic(Order.ASCENDING, Rounding.AWAY),
    ),
    _adder(
        "ascending_flushing",
        "Flushes subnormal operands, sums and results.",
        Arithmetic(Order.ASCENDING, flushes=True),
    ),
    _fused(13, 16, Outcome.POLICY),
    _fused(23, 4),
    _fused(24, 8),
    _fused(25, 16),
    _unit_errors(23),
    _unit_errors(24),
    _unit_errors(25),
    _adder(
        "float16_sums",
        "Keeps the partial sums of everything in float16.",
        Arithmetic(Order.ASCENDING, accumulator=Component.FLOAT16),
        Outcome.POLICY,
    ),
    _adder(
        "bfloat16_sums",
        "Keeps the partial sums of everything in bfloat16.",
        Arithmetic(Order.ASCENDING, accumulator=Component.BFLOAT16),
        Outcome.POLICY,
    ),
    _machine("short_float8_sums", machines.ShortFloat8Sums, _SUM),
    _machine("short_float32_inputs", machines.ShortFloat32Inputs, _SUM, Area.SUMS, Outcome.POLICY),
    _device("restless", machines.Restless, _SUM, Area.SUMS, Outcome.POLICY),
)

_ELEMENTS = (
    _machine("no_specials", machines.NoSpecials, _NAN, Area.SUMS, Outcome.POLICY),
    _machine("mixed_directions", machines.MixedDirections, _ROUND),
    _machine("inexact_division", machines.InexactDivision, _DIVISION),
    _machine("contracting", machines.Contracting, _CONTRACTION),
    _machine("flushes_everywhere", machines.FlushesEverywhere, _DENORM),
    _machine("overflows_to_special", machines.OverflowsToSpecial, _FLOAT8),
    _machine("other_nans", machines.OtherNaNs, _NAN, Area.LOADS),
    _behaviour(
        "nans_quieted",
        "Loads set the quiet bit of NaNs.",
        _NAN,
        Area.LOADS,
        Behaviour(quiets_nan=True),
    ),
    _behaviour(
        "zero_signs_lost",
        "Loads turn -0 into +0.",
        _ZERO,
        Area.LOADS,
        Behaviour(drops_zero_sign=True),
    ),
    _behaviour(
        "components_blocked",
        "Consecutive elements belong to one invocation.",
        _OWN,
        Area.COMPONENTS,
        Behaviour(ownership=Ownership.BLOCKED),
    ),
    _behaviour(
        "components_doubled",
        "Every element is held twice.",
        _OWN,
        Area.COMPONENTS,
        Behaviour(ownership=Ownership.DOUBLED),
    ),
)

_LISTS = (
    _machine("robust_elsewhere", machines.Elsewhere, _ROBUST, Area.ROBUST),
    _behaviour(
        "records_reversed",
        "Lists of combinations come in another order.",
        _LIST,
        Area.LISTS,
        Behaviour(reverses_records=True),
    ),
    _device("reluctant", lists.Reluctant, _SHORT, Area.LISTS),
    _device("newer", lists.Newer, _HIDDEN, Area.EVERYTHING),
    _device("plain", lists.Plain, _OPTIONAL, Area.EVERYTHING),
    _device("subgroups_of_8", lists.Subgroups8, _SIZE, Area.EVERYTHING),
    _device("subgroups_of_16", lists.Subgroups16, _SIZE, Area.EVERYTHING),
    _device("subgroups_of_64", lists.Subgroups64, _SIZE, Area.EVERYTHING),
    _device("subgroups_of_128", lists.Subgroups128, _SIZE, Area.EVERYTHING),
)

_VECTORS = (
    _device("vectors_cut", vectors.VectorsCut, _INPUT, Area.VECTORS),
    _device("vectors_backwards", vectors.VectorsBackwards, _ATOMIC, Area.VECTORS),
    _device("wide_rows", conversions.WideRowsDevice, _OPTIMAL, Area.VECTORS),
    _converter("convert_saturates", conversions.Saturates, _CONVERT),
    _converter("convert_one_nan", conversions.OneNan, _CONVERT),
    _converter("convert_zero_signs_lost", conversions.PositiveZeros, _ZERO),
    _converter("convert_padding_cleared", conversions.PaddingCleared, _PADDING, Outcome.POLICY),
    _device("vectors_in_order", vectors.VectorsOneAfterAnother, _SUM, Area.VECTORS),
    _device("vectors_fused", vectors.VectorsFused, _SUM, Area.VECTORS),
    _device("vectors_flushing", vectors.VectorsFlushing, _SUM, Area.VECTORS),
)

LEGAL: dict[str, Legal] = {
    legal.name: legal for legal in (*_ADDERS, *_ELEMENTS, *_LISTS, *_VECTORS)
}


def named(name: str) -> LegalDevice:
    """A new legal device; KeyError where there is none of that name."""
    return LEGAL[name].device()
