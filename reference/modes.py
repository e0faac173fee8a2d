"""What the float controls of a program pin down."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cts.program.controls import Control, Mode
from cts.program.model import Component
from reference.latitude import Choice, Latitude

_IEEE = {Component.FLOAT16: 16, Component.FLOAT32: 32, Component.FLOAT64: 64}


@dataclass(frozen=True)
class Modes:
    """The execution modes of a program."""

    controls: frozenset[Control] = frozenset()

    @classmethod
    def of(cls, controls: Collection[Control]) -> Modes:
        """The modes of a program with these controls."""
        return cls(frozenset(controls))

    def has(self, mode: Mode, *components: Component) -> bool:
        """Whether ``mode`` holds for all of the components, which are IEEE formats."""
        return all(
            component in _IEEE and Control(mode, _IEEE[component]) in self.controls
            for component in components
        )

    def keeps_specials(self, *components: Component) -> bool:
        """Whether NaN, infinities and the sign of zero count between these float components.
        The mode goes by width, so it covers bfloat16 as well."""
        widths = [Control(Mode.SPECIALS, component.bits) for component in components]
        return bool(widths) and self.controls.issuperset(widths)

    def narrowed(self, latitude: Latitude, component: Component) -> Latitude:
        """``latitude`` for loads and stores of a component: operations that keep bits respect
        SignedZeroInfNanPreserve."""
        if not component.is_float or not self.keeps_specials(component):
            return latitude
        return latitude.narrowed(assumes_no_specials=Choice.NO, drops_zero_sign=Choice.NO)


NO_MODES = Modes()
