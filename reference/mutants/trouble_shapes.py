"""Crashes, hangs and errors that show only in some situations."""

from __future__ import annotations

from cts.device.protocol import Convert, Dispatch, Reply
from cts.findings import DeviceLost, DriverCrash, DriverHang
from cts.program.model import Layout, Load, MulAdd, Numbers, Storage, Store
from reference.mutants.base import Executor, Fault, Mutant, has_program
from reference.mutants.trouble import CRASHES

OUT_OF_HOST_MEMORY = -1
OUT_OF_DEVICE_MEMORY = -2
INITIALIZATION_FAILED = -3


class ColumnMajorWorkgroup(Fault):
    """The compiler aborts on column-major stores to workgroup memory."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        program = has_program(request)
        for statement in program.body:
            if not isinstance(statement, Store):
                continue
            address = statement.address
            shared = program.buffer(address.buffer).storage is Storage.WORKGROUP
            if shared and address.layout is Layout.COLUMN_MAJOR:
                raise DriverCrash(
                    "the device process was ended by SIGABRT in phase pipeline",
                    {"phase": "pipeline", "signal": "SIGABRT"},
                )
        return execute(request)


class FiveSubgroups(Fault):
    """Workgroups of five subgroups never end."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        if has_program(request).grid.subgroups == 5:
            raise DriverHang("phase fence didn't end in time", {"phase": "fence"})
        return execute(request)


class ManyTiles(Fault):
    """Dispatches of 64 tiles lose the device."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        if has_program(request).grid.tiles >= 64:
            raise DeviceLost("the device was lost in phase fence", {"phase": "fence"})
        return execute(request)


class SpecializedRefused(Fault):
    """Pipelines with specialization constants fail with VK_ERROR_INITIALIZATION_FAILED."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        if has_program(request).numbers is Numbers.SPECIALIZATION:
            return Reply(result=INITIALIZATION_FAILED, phase="pipeline")
        return execute(request)


class Leak(Fault):
    """Every pipeline leaks; after 40 of them there is no memory left."""

    MANY = 40

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant)
        self.modules: set[bytes] = set()

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        self.modules.add(request.words)
        if len(self.modules) > self.MANY:
            return Reply(result=OUT_OF_DEVICE_MEMORY, phase="pipeline")
        return execute(request)


class LongChain(Fault):
    """The compiler runs out of registers at four multiply-adds and gives up."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        adds = [it for it in has_program(request).body if isinstance(it, MulAdd)]
        if len(adds) >= 4:
            return Reply(result=OUT_OF_HOST_MEMORY, phase="pipeline")
        return execute(request)


class UnevenStride(Fault):
    """Loads with a stride that is no power of two end the process while the shader runs."""

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        for statement in has_program(request).body:
            if isinstance(statement, Load):
                stride = statement.address.stride
                if stride & (stride - 1):
                    raise DriverCrash(
                        "the device process was ended by SIGSEGV in phase fence",
                        {"phase": "fence", "signal": "SIGSEGV"},
                    )
        return execute(request)


class SmallConversion(Fault):
    """Converting a matrix of one row ends the process."""

    def convert(self, request: Convert, execute: Executor) -> Reply:
        if any(it.rows == 1 and not it.null_destination for it in request.conversions):
            raise DriverCrash("the device process was ended by SIGFPE in phase convert", {})
        return execute(request)


def _mutant(name: str, fault: type[Fault]) -> Mutant:
    return Mutant(name, CRASHES, " ".join((fault.__doc__ or "").split()), fault)


MUTANTS = (
    _mutant("crash_at_column_major_workgroup_store", ColumnMajorWorkgroup),
    _mutant("hang_at_five_subgroups", FiveSubgroups),
    _mutant("lost_at_64_tiles", ManyTiles),
    _mutant("specialization_refused", SpecializedRefused),
    _mutant("pipelines_leak", Leak),
    _mutant("long_chain_refused", LongChain),
    _mutant("crash_at_uneven_stride", UnevenStride),
    _mutant("crash_at_one_row_conversion", SmallConversion),
)
