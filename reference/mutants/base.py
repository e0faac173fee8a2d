"""What mutants are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cts.device.protocol import (
    Convert,
    Describe,
    Device,
    DeviceInfo,
    Dispatch,
    Query,
    Reply,
    Request,
)
from cts.program.model import Grid, Program
from reference.machine import Machine

Executor = Callable[[Request], Reply]


@dataclass(frozen=True)
class Mutant:
    """One planted fault."""

    name: str
    fault_class: str
    """The kind of fault that it is an example of."""
    doc: str
    """What is wrong, in one sentence."""
    fault: Callable[[Mutant], Fault]
    """Makes the fault's state, for one device."""

    def wrap(self, device: Device) -> Device:
        """``device`` with this fault."""
        return MutantDevice(self, device)


class Fault:
    """A fault does nothing unless a method is overridden. One instance lives as long as the
    device."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def info(self, info: DeviceInfo) -> DeviceInfo:
        """What the device says of itself."""
        return info

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        """The reply to a dispatch."""
        return execute(request)

    def query(self, request: Query, execute: Executor) -> Reply:
        """The reply to a call of an enumeration command."""
        return execute(request)

    def convert(self, request: Convert, execute: Executor) -> Reply:
        """The reply to conversions."""
        return execute(request)


class MutantDevice:
    """A device with one fault."""

    def __init__(self, mutant: Mutant, device: Device) -> None:
        self._device = device
        self._fault = mutant.fault(mutant)
        self._name = mutant.name
        self._info: DeviceInfo | None = None

    @property
    def info(self) -> DeviceInfo:
        """What the wrapped device says of itself, but for the name and the fault."""
        if self._info is None:
            inner = self._device.info
            named = dataclasses.replace(
                inner, kind="mutant", name=f"{inner.name} with fault {self._name}"
            )
            self._info = self._fault.info(named)
        return self._info

    def execute(self, request: Request) -> Reply:
        """Runs one request, with the fault."""
        match request:
            case Dispatch():
                return self._fault.dispatch(request, self._device.execute)
            case Query():
                return self._fault.query(request, self._device.execute)
            case Convert():
                return self._fault.convert(request, self._device.execute)
            case Describe():
                return self._device.execute(request)

    def close(self) -> None:
        """Closes the wrapped device."""
        self._device.close()


# --- faults of what a program does ----------------------------------------------------------


class WrongMachine(Fault):
    """Puts the difference that a faulty machine makes over the device's reply."""

    machine: type[Machine] = Machine

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        """The device's reply with the faulty machine's mistakes."""
        reply = execute(request)
        program = request.program
        if not isinstance(program, Program) or reply.result < 0:
            return reply
        names = [buffer.name for buffer in program.buffers]
        data = [buffer.data for buffer in request.buffers]
        inputs = dict(zip(names, data, strict=False))
        right = Machine(program, inputs).run()
        wrong = self.machine(program, inputs).run()
        count = len(request.buffers)
        buffers = list(reply.buffers)
        for index in range(len(buffers)):
            place = index % count
            if place < len(names):
                name = names[place]
                buffers[index] = overlay(buffers[index], right[name], wrong[name])
        return dataclasses.replace(reply, buffers=tuple(buffers))


def overlay(actual: bytes, right: bytes, wrong: bytes) -> bytes:
    """``actual``, with the bytes of ``wrong`` where it differs from ``right``."""
    if right == wrong:
        return actual
    before, after = np.frombuffer(right, np.uint8), np.frombuffer(wrong, np.uint8)
    result = np.frombuffer(actual, np.uint8).copy()
    changed = before != after
    result[changed] = after[changed]
    return result.tobytes()


def machine_mutant(name: str, fault_class: str, machine: type[Machine]) -> Mutant:
    """A mutant whose dispatches are run by ``machine``; its docstring says what is wrong."""

    class Planted(WrongMachine):
        pass

    Planted.machine = machine
    return Mutant(name, fault_class, (machine.__doc__ or "").strip(), Planted)


def has_program(request: Dispatch) -> Program:
    """The matrix program of a dispatch; an empty one if it has none."""
    program = request.program
    return program if isinstance(program, Program) else Program(Grid(1, 1, 1), (), ())
