"""How a faulty converter becomes a mutant."""

from __future__ import annotations

import dataclasses

from cts.device.protocol import Convert, Dispatch, Reply
from reference import vector_info
from reference.device_convert import Converter
from reference.mutants.base import Executor, Fault, Mutant, overlay


class FaultyConverter(Fault):
    """Puts the difference that a faulty converter makes over the device's reply: the memory,
    the sizes and the results."""

    converter: type[Converter] = Converter

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant)
        self._right = Converter(vector_info.MATRICES)
        self._wrong = self.converter(vector_info.MATRICES)

    def dispatch(self, request: Dispatch, execute: Executor) -> Reply:
        """What the device makes of a dispatch; of conversions before it that trust a wrong size,
        this converter's results."""
        try:
            self._right.prepare(request)
        except ValueError:
            made = zip(request.buffers, self._wrong.prepare(request), strict=True)
            buffers = tuple(dataclasses.replace(one, data=data) for one, data in made)
            request = dataclasses.replace(request, buffers=buffers, preparations=())
        return execute(request)

    def convert(self, request: Convert, execute: Executor) -> Reply:
        """The device's reply with the converter's mistakes. Where the caller trusted a size that is
        one of them, the device, which knows better, isn't asked."""
        if self._right.invalid(request) and not self._wrong.invalid(request):
            return self._wrong.run(request)
        reply = execute(request)
        if reply.result < 0:
            return reply
        right, wrong = self._right.run(request), self._wrong.run(request)
        memory = overlay(reply.buffers[0], right.buffers[0], wrong.buffers[0])
        return dataclasses.replace(
            reply,
            buffers=(memory,),
            counts=_edited(reply.counts, right.counts, wrong.counts),
            results=_edited(reply.results, right.results, wrong.results),
        )


def _edited(
    actual: tuple[int, ...], right: tuple[int, ...], wrong: tuple[int, ...]
) -> tuple[int, ...]:
    return tuple(a if r == w else w for a, r, w in zip(actual, right, wrong, strict=True))


def converter_mutant(name: str, converter: type[Converter]) -> Mutant:
    """A mutant that converts with ``converter``, whose docstring says what is wrong."""

    class Planted(FaultyConverter):
        pass

    Planted.converter = converter
    return Mutant(name, "conversion", (converter.__doc__ or "").strip(), Planted)
