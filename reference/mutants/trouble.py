"""Crashes, hangs, lost devices and errors out of the blue.

The faults raise what the supervisor of a device process raises when a real one misbehaves, so
that they can be planted in the suite's own process.
"""

from __future__ import annotations

from cts.device.protocol import Dispatch, Reply
from cts.findings import DeviceLost, DriverCrash, DriverHang
from cts.program.model import Load, MulAdd
from reference.mutants.base import Executor, Fault, Mutant, has_program
from reference.mutants.queries import ERROR_UNKNOWN

CRASHES = "crashes and hangs"


class CrashAtK48(Fault):
    """The compiler aborts on multiply-adds with K = 48."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        program = has_program(request)
        types = program.types()
        for statement in program.body:
            if isinstance(statement, MulAdd) and types[statement.a].columns == 48:
                raise DriverCrash(
                    "the device process was ended by SIGABRT in phase pipeline",
                    {"phase": "pipeline", "signal": "SIGABRT"},
                )
        return execute(request)


class HangAtStrideZero(Fault):
    """The compiler never ends on loads with stride 0."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        for statement in has_program(request).body:
            if isinstance(statement, Load) and statement.address.stride == 0:
                raise DriverHang("phase pipeline didn't end in time", {"phase": "pipeline"})
        return execute(request)


class PipelineRefused(Fault):
    """Pipelines with a saturating multiply-add fail with VK_ERROR_UNKNOWN."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        for statement in has_program(request).body:
            if isinstance(statement, MulAdd) and statement.saturating:
                return Reply(result=ERROR_UNKNOWN, phase="pipeline")
        return execute(request)


class LostAtFifty(Fault):
    """Every fiftieth dispatch loses the device."""

    PERIOD = 50

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant)
        self.count = 0

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        self.count += 1
        if self.count % self.PERIOD == 0:
            raise DeviceLost("the device was lost in phase fence", {"phase": "fence"})
        return execute(request)


def _mutant(name: str, fault: type[Fault]) -> Mutant:
    return Mutant(name, CRASHES, (fault.__doc__ or "").strip(), fault)


MUTANTS = (
    _mutant("crash_at_k_48", CrashAtK48),
    _mutant("hang_at_stride_zero", HangAtStrideZero),
    _mutant("pipeline_refused", PipelineRefused),
    _mutant("lost_at_fiftieth_dispatch", LostAtFifty),
)
