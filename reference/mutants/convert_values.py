"""Faults of converting cooperative vector matrices: the values."""

from __future__ import annotations

import dataclasses

import numpy as np

from cts.device.protocol import Conversion, Convert, DeviceInfo, Query, Reply
from cts.program.model import Component
from cts.program.records import VECTOR
from reference import vector_info
from reference.component import (
    Bits,
    Rounding,
    decode,
    encode,
    float_format,
    is_nan,
    is_subnormal,
    magnitude_code,
)
from reference.convert import rounded_bits
from reference.device import query
from reference.device_convert import Converter
from reference.mutants.base import Executor, Fault, Mutant
from reference.mutants.converter import converter_mutant


class _Values(Converter):
    """A fault in the values, ``wrong(bits, source, destination, conversion)``."""

    def change(
        self, bits: Bits, source: Component, destination: Component, conversion: Conversion
    ) -> Bits:
        right = rounded_bits(bits, source, destination)
        if not destination.is_float:
            return right
        return self.wrong(bits, right, source, destination, conversion)

    def wrong(
        self,
        bits: Bits,
        right: Bits,
        source: Component,
        destination: Component,
        conversion: Conversion,
    ) -> Bits:
        raise NotImplementedError


class DoubleRounding(_Values):
    """float32 goes to 8 bits through float16."""

    def wrong(
        self,
        bits: Bits,
        right: Bits,
        source: Component,
        destination: Component,
        conversion: Conversion,
    ) -> Bits:
        if source is not Component.FLOAT32 or destination.bits != 8:
            return right
        middle = rounded_bits(bits, source, Component.FLOAT16)
        return rounded_bits(middle, Component.FLOAT16, destination)


class SubnormalsFlushed(_Values):
    """Subnormal results become zero."""

    def wrong(
        self,
        bits: Bits,
        right: Bits,
        source: Component,
        destination: Component,
        conversion: Conversion,
    ) -> Bits:
        zero = right & right.dtype.type(float_format(destination).sign_bit)
        return np.where(is_subnormal(right, destination), zero, right)


class NanLost(_Values):
    """NaN becomes zero."""

    def wrong(
        self,
        bits: Bits,
        right: Bits,
        source: Component,
        destination: Component,
        conversion: Conversion,
    ) -> Bits:
        return np.where(is_nan(bits, source), right.dtype.type(0), right)


class ZeroSignLost(_Values):
    """-0 becomes +0 in float32."""

    def wrong(
        self,
        bits: Bits,
        right: Bits,
        source: Component,
        destination: Component,
        conversion: Conversion,
    ) -> Bits:
        if destination is not Component.FLOAT32:
            return right
        zero = magnitude_code(right, destination) == 0
        return np.where(zero, right.dtype.type(0), right)


class PayloadLost(_Values):
    """NaNs become the canonical NaN."""

    def wrong(
        self,
        bits: Bits,
        right: Bits,
        source: Component,
        destination: Component,
        conversion: Conversion,
    ) -> Bits:
        canonical = right.dtype.type(float_format(destination).nan_code)
        return np.where(is_nan(right, destination), canonical, right)


class LowBitsIgnored(_Values):
    """The low 16 bits of a float32 are ignored."""

    def wrong(
        self,
        bits: Bits,
        right: Bits,
        source: Component,
        destination: Component,
        conversion: Conversion,
    ) -> Bits:
        if source is not Component.FLOAT32:
            return right
        return rounded_bits(bits & np.uint32(0xFFFF0000), source, destination)


class OddElementsTruncated(_Values):
    """Elements in odd columns are rounded toward zero."""

    def wrong(
        self,
        bits: Bits,
        right: Bits,
        source: Component,
        destination: Component,
        conversion: Conversion,
    ) -> Bits:
        if source == destination:
            return right
        cut = encode(decode(bits, source), destination, Rounding.TOWARD_ZERO)
        return np.where(np.arange(right.shape[1]) % 2, cut, right)


_WORDS = {**vector_info.RECORDS[-1], "matrixInterpretation": int(Component.SINT16)}
"""A combination of a matrix type that no other device has."""


class _HighBytes(Converter):
    """Keeps the high byte of 16-bit integers."""

    def change(
        self, bits: Bits, source: Component, destination: Component, conversion: Conversion
    ) -> Bits:
        right = super().change(bits, source, destination, conversion)
        return right & np.uint16(0xFF00) if source is Component.SINT16 else right


class WordsCut(Fault):
    """Matrices of 16-bit integers are listed, too, and lose their low bytes where one is
    converted."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant)
        self._wrong = _HighBytes({*vector_info.MATRICES, Component.SINT16})
        self._listed = (*vector_info.RECORDS, _WORDS)

    def info(self, info: DeviceInfo) -> DeviceInfo:
        return dataclasses.replace(info, records={**info.records, VECTOR: self._listed})

    def query(self, request: Query, execute: Executor) -> Reply:
        if request.command != VECTOR:
            return execute(request)
        return query(request, self._listed)

    def convert(self, request: Convert, execute: Executor) -> Reply:
        if any(it.source.component == Component.SINT16 for it in request.conversions):
            return self._wrong.run(request)
        return execute(request)


MUTANTS = (
    Mutant("convert_words_cut", "conversion", (WordsCut.__doc__ or "").strip(), WordsCut),
    converter_mutant("convert_double_rounding", DoubleRounding),
    converter_mutant("convert_subnormals_flushed", SubnormalsFlushed),
    converter_mutant("convert_nan_lost", NanLost),
    converter_mutant("convert_zero_sign_lost", ZeroSignLost),
    converter_mutant("convert_payload_lost", PayloadLost),
    converter_mutant("convert_low_bits_ignored", LowBitsIgnored),
    converter_mutant("convert_odd_elements_truncated", OddElementsTruncated),
)
