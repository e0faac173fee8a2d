"""Faults of converting cooperative vector matrices."""

from __future__ import annotations

import dataclasses

import numpy as np

from cts.device.protocol import Conversion, Convert, Reply
from cts.program.model import Component
from cts.program.records import VECTOR
from reference.catalog import RECORDS
from reference.component import Bits, Rounding, decode, encode, float_format
from reference.device_convert import Converter
from reference.mutants.base import Executor, Fault, Mutant, overlay

CONVERSION = "conversion"


class Away(Converter):
    """Conversions to 8-bit floats round ties away from zero."""

    def change(
        self, bits: Bits, source: Component, destination: Component, conversion: Conversion
    ) -> Bits:
        right = super().change(bits, source, destination, conversion)
        if source is destination or float_format(destination).bits != 8:
            return right
        values = decode(bits, source)
        finite = np.abs(values) <= float_format(destination).maximum
        return np.where(finite, encode(values, destination, Rounding.NEAREST_AWAY), right)


class Truncates(Converter):
    """Conversions to narrower floats round toward zero."""

    def change(
        self, bits: Bits, source: Component, destination: Component, conversion: Conversion
    ) -> Bits:
        right = super().change(bits, source, destination, conversion)
        if source is destination:
            return right
        values = decode(bits, source)
        finite = np.abs(values) <= float_format(destination).maximum
        return np.where(finite, encode(values, destination, Rounding.TOWARD_ZERO), right)


class WrongConverter(Fault):
    """Puts the difference that a faulty converter makes over the device's reply."""

    converter: type[Converter] = Converter

    def convert(self, request: Convert, execute: Executor) -> Reply:
        reply = execute(request)
        if reply.result < 0:
            return reply
        matrices = {Component(record["matrixInterpretation"]) for record in RECORDS[VECTOR]}
        right = Converter(matrices).run(request).buffers[0]
        wrong = self.converter(matrices).run(request).buffers[0]
        buffers = tuple(overlay(memory, right, wrong) for memory in reply.buffers)
        return dataclasses.replace(reply, buffers=buffers)


def _mutant(name: str, converter: type[Converter]) -> Mutant:
    class Planted(WrongConverter):
        pass

    Planted.converter = converter
    return Mutant(name, CONVERSION, (converter.__doc__ or "").strip(), Planted)


MUTANTS = (
    _mutant("rounds_half_away", Away),
    _mutant("rounds_toward_zero", Truncates),
)
