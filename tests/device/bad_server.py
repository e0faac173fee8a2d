"""A device server that fails on purpose. Sent to the device process, as the real one is.

The request says how: ``Dispatch.features`` holds one word, the fault, which shows from 65
workgroups in x and 3 in y on. The selector of the device says how the start fails.
"""

import os
import signal
import sys
import threading
import time

from cts.device import server
from cts.device.errors import Refused
from cts.device.protocol import DeviceInfo, Dispatch, Query, Reply
from cts.device.wire import encode_info

WIRE = -1
SEEN = 0


class Connection(server.Connection):
    def __init__(self):
        super().__init__()
        global WIRE
        WIRE = self._out


def die_soon(delay):
    def later():
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGSEGV)

    threading.Thread(target=later, daemon=True).start()


class Bad:
    def run(self, request, phase):
        global SEEN
        SEEN += 1
        if isinstance(request, Query):
            return Reply(counts=(SEEN,), results=(-4,))
        if not isinstance(request, Dispatch):
            return Reply(
                buffers=(encode_info(DeviceInfo("vulkan", "bad", "bad", "1", "1.3", "0")),)
            )
        fault = request.features[0] if request.features else ""
        x, y, _ = request.workgroups
        bad = x > 64 and y > 2
        for name in ("module", "pipeline", "submit", "fence", "readback"):
            phase(name)
            stall = fault == f"stall:{name}" and SEEN > 1
            if bad and (stall or fault == f"hang:{name}"):
                print("about to hang", file=sys.stderr, flush=True)
                time.sleep(600)
            if bad and fault == f"slow:{name}":
                time.sleep(1.0)
            if bad and name == "fence":
                reply = self.fail(fault)
                if reply:
                    return reply
        return Reply(buffers=tuple(one.data[::-1] for one in request.buffers))

    def fail(self, fault):
        match fault.split(":"):
            case ["segfault"]:
                print("driver: assertion failed", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGSEGV)
                time.sleep(10)
            case ["killed"]:
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(10)
            case ["abort"]:
                os.abort()
            case ["exit", status]:
                os._exit(int(status))
            case ["garbage"]:
                os.write(WIRE, b"Segmentation fault (core dumped)\n")
                time.sleep(10)
            case ["strange"]:
                os.write(WIRE, server.pack(server.Frame({"kind": "surprise"})))
                time.sleep(10)
            case ["print"]:
                os.write(1, b"a driver prints to standard output\n")
                print("so does Python", flush=True)
            case ["result", number]:
                return Reply(result=int(number))
            case ["once", number] if SEEN > 1:
                return Reply(result=int(number))
            case ["killed-once"] if SEEN > 1:
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(10)
            case ["later"]:
                die_soon(0.1)
            case ["refuse"]:
                raise Refused("the device doesn't support the feature x.")
            case ["bug"]:
                raise ZeroDivisionError("in the server")
            case _:
                pass
        return None


def connect(settings):
    match settings["select"].split(":"):
        case ["refuse"]:
            raise Refused("the Vulkan loader found no device: install a driver.")
        case ["segfault"]:
            os.kill(os.getpid(), signal.SIGSEGV)
        case ["hang"]:
            time.sleep(600)
        case ["bug"]:
            raise ZeroDivisionError("in the server")
        case _:
            pass
    return Bad()


def main():
    server.Connection = Connection
    os._exit(server.serve(connect))
