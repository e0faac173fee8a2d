"""The Vulkan loader, called directly.

Only the declarations of the ``vulkan`` package are used (its compiled cffi module), not its
wrappers: those drop references, overflow on VK_WHOLE_SIZE, leave ``sType`` of array elements
zero and make importing fail where there is no loader. The loader itself is opened here.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from cts.device.errors import Refused
from cts.device.vulkan.declarations import declarations, newer

LIBRARIES = ("libvulkan.so.1", "libvulkan.so", "libvulkan.1.dylib", "vulkan-1.dll")
SUCCESS = 0
TIMEOUT = 2
INCOMPLETE = 5
OUT_OF_HOST_MEMORY = -1
OUT_OF_DEVICE_MEMORY = -2
DEVICE_LOST = -4


class VulkanError(Exception):
    """A command returned an error; ends the request with this result."""

    def __init__(self, result: int, command: str) -> None:
        super().__init__(f"{command} returned {result}")
        self.result = result
        self.command = command


class Api:
    """The two FFIs and the loader's functions."""

    def __init__(self) -> None:
        self.ffi = _package_ffi()
        self.newer = newer()
        self.lib = _open(self.ffi)
        self._newer_names = frozenset(one.name for one in declarations())
        self.null = self.ffi.NULL

    def new(self, name: str, structure_type: int | None = None, **members: Any) -> Any:
        """A zeroed structure ``name`` with its ``sType`` and these members.

        Whoever calls keeps hold of everything that the members point to.
        """
        made = self.ffi_of(name).new(name + "*")
        if structure_type is not None:
            made.sType = structure_type
        for member, value in members.items():
            setattr(made, member, value)
        return made

    def ffi_of(self, name: str) -> Any:
        """The FFI that declares the structure ``name``."""
        return self.newer if name in self._newer_names else self.ffi

    def pointer(self, made: Any, name: str) -> Any:
        """``made``, a structure ``name``, as ``void*`` of the package's FFI (for pNext)."""
        return self.ffi.cast("void*", int(self.ffi_of(name).cast("uintptr_t", made)))

    def link(self, made: Any, name: str, following: Any) -> None:
        """Make ``following`` (``void*`` of the package's FFI) the pNext of a structure ``name``."""
        address = int(self.ffi.cast("uintptr_t", following))
        made.pNext = self.ffi_of(name).cast("void*", address)

    def foreign(self, handle: Any) -> Any:
        """A handle or pointer of the package's FFI as ``void*`` of the newer one."""
        return self.newer.cast("void*", int(self.ffi.cast("uintptr_t", handle)))

    def function(self, found: Any, name: str) -> Any:
        """``found``, a PFN_vkVoidFunction, as the function ``name``; None where it is null."""
        if found == self.null:
            return None
        kind = "PFN_" + name
        try:
            return self.ffi.cast(kind, found)
        except self.ffi.error:  # the package doesn't know it
            return self.newer.cast(kind, int(self.ffi.cast("uintptr_t", found)))

    def instance_function(self, instance: Any, name: str) -> Any:
        """vkGetInstanceProcAddr; None where there is no such function."""
        return self.function(self.lib.vkGetInstanceProcAddr(instance, name.encode()), name)

    def device_function(self, device: Any, name: str) -> Any:
        """vkGetDeviceProcAddr; None where there is no such function."""
        return self.function(self.lib.vkGetDeviceProcAddr(device, name.encode()), name)

    def handles(self, command: Any, kind: str, *arguments: Any) -> list[Any]:
        """All handles ``kind`` that an enumeration ``command`` has."""
        items, count = self._enumerate(command, kind, None, arguments)
        return [items[index] for index in range(count)]

    def records(
        self, command: Any, kind: str, structure_type: int | None, *arguments: Any
    ) -> list[dict[str, Any]]:
        """All structures ``kind`` that an enumeration ``command`` has, as plain data."""
        items, count = self._enumerate(command, kind, structure_type, arguments)
        return [self.plain(items[index]) for index in range(count)]

    def _enumerate(
        self, command: Any, kind: str, structure_type: int | None, arguments: tuple[Any, ...]
    ) -> tuple[Any, int]:
        """Count, then elements. A list that grows in between (VK_INCOMPLETE) is asked again."""
        ffi = self.ffi_of(kind)
        count = ffi.new("uint32_t*")
        while True:
            check(command(*arguments, count, ffi.NULL), kind)
            items = ffi.new(kind + "[]", max(1, count[0]))
            if structure_type is not None:
                for index in range(count[0]):
                    items[index].sType = structure_type
            if check(command(*arguments, count, items), kind) != INCOMPLETE:
                return items, int(count[0])

    def plain(self, value: Any) -> Any:
        """C data as numbers, strings, lists and dicts; ``sType`` and pointers are left out.

        Arrays of char are text, arrays of uint8_t hexadecimal text.
        """
        if not isinstance(value, self.ffi.CData):
            return value
        ffi = self.ffi
        kind = ffi.typeof(value)
        if kind.kind in ("struct", "union"):
            return {
                name: self.plain(getattr(value, name))
                for name, field in kind.fields
                if name != "sType" and field.type.kind not in ("pointer", "function")
            }
        if kind.kind == "array":
            if kind.item.cname == "char":
                return ffi.string(value).decode("utf-8", "replace")
            if kind.item.cname in ("uint8_t", "unsigned char"):
                return bytes(value).hex()
            return [self.plain(item) for item in value]
        return int(ffi.cast("uintptr_t", value))


def check(result: int, command: str) -> int:
    """``result`` if it is no error; VulkanError otherwise."""
    if result < 0:
        raise VulkanError(int(result), command)
    return int(result)


def _package_ffi() -> Any:
    spec = importlib.util.find_spec("vulkan")
    if spec is None or not spec.submodule_search_locations:
        raise Refused("the Python package vulkan is not installed where the device server runs.")
    path = Path(spec.submodule_search_locations[0]) / "_vulkancache.py"
    declared = importlib.util.spec_from_file_location("vulkan_declarations", path)
    if declared is None or declared.loader is None:
        raise Refused(f"the Python package vulkan has no {path.name}: install version 1.3.275.1.")
    module = importlib.util.module_from_spec(declared)
    try:
        declared.loader.exec_module(module)
    except (OSError, ImportError) as error:
        raise Refused(f"the Python package vulkan can't be used: {error}.") from error
    return module.ffi


def _open(ffi: Any) -> Any:
    for name in LIBRARIES:
        try:
            return ffi.dlopen(name)
        except OSError:
            continue
    raise Refused(
        "there is no Vulkan loader (libvulkan.so.1): install it (Debian: libvulkan1) together "
        "with a driver."
    )
