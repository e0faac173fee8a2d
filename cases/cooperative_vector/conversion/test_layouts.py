"""Conversions between layouts: elements keep their bits and their places."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from cts.case import Axes, case
from cts.conversion import (
    FLOAT8,
    Converting,
    Hop,
    Region,
    Side,
    matrix_components,
    require_types,
    source,
    tight,
)
from cts.draw.convert import (
    MATRIX_COMPONENTS,
    STRIDED,
    elements,
    exact_component,
    layouts_for,
    shapes,
    sides,
    sources,
)
from cts.outcome import Level
from cts.program.model import Component
from cts.program.vector import MatrixLayout
from cts.subject import Subject

INFO = "VkSpec#VkConvertCooperativeVectorMatrixInfoNV"
WIDE = tuple(component for component in MATRIX_COMPONENTS if component not in FLOAT8)


@dataclass(frozen=True)
class Two:
    """A value of a ``layouts`` axis."""

    first: MatrixLayout
    second: MatrixLayout

    @property
    def label(self) -> str:
        """``row_major-training_optimal``."""
        return f"{self.first.label}-{self.second.label}"


LAYOUT_PAIRS = tuple(Two(a, b) for a in MatrixLayout for b in MatrixLayout)
STRIDED_PAIRS = tuple(Two(a, b) for a in STRIDED for b in STRIDED)


def _chain(
    converting: Converting, data: st.DataObject, region: Region, layouts: tuple[MatrixLayout, ...]
) -> None:
    """Convert ``region`` through ``layouts`` and back to a strided matrix, each step on the
    host or on the device as drawn."""
    component = region.side.component
    for layout in layouts:
        side = data.draw(sides(region.rows, region.columns, component, layout))
        (region,) = converting.run([Hop(region, side)], host=data.draw(st.booleans(), label="host"))
    if region.side.layout.optimal:
        last = exact_component(component)
        layout = data.draw(st.sampled_from(STRIDED), label="back to")
        side = data.draw(sides(region.rows, region.columns, last, layout))
        converting.run([Hop(region, side)], host=data.draw(st.booleans(), label="host"))


@case(
    id="cooperative_vector.conversion.layouts",
    rows=("C-06",),
    spec=INFO,
    requirement="A matrix that goes through any two layouts, on the host or on the device, comes "
    "back with the bits it had.",
    axes={"component": MATRIX_COMPONENTS, "layouts": LAYOUT_PAIRS},
    where=lambda axes: (
        {axes.layouts.first, axes.layouts.second} <= set(layouts_for(axes.component))
    ),
)
def test_layouts(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_types(subject, axes.component, exact_component(axes.component))
    converting = Converting(subject, ("C-06",))
    region = data.draw(sources(axes.component))
    _chain(converting, data, region, (axes.layouts.first, axes.layouts.second))


@case(
    id="cooperative_vector.conversion.positions",
    rows=("C-05",),
    spec=INFO,
    requirement="Element (r, c) starts r strides and c elements (row-major) or c strides and r "
    "elements (column-major) after the first one, in the source and in the destination.",
    axes={"component": WIDE, "layouts": STRIDED_PAIRS},
)
def test_positions(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_types(subject, axes.component)
    converting = Converting(subject, ("C-05",))
    region = data.draw(sources(axes.component, axes.layouts.first))
    side = data.draw(sides(region.rows, region.columns, axes.component, axes.layouts.second))
    converting.run([Hop(region, side)], host=data.draw(st.booleans(), label="host"))


@case(
    id="cooperative_vector.conversion.tight",
    rows=("C-05",),
    spec="VkSpec#VUID-VkConvertCooperativeVectorMatrixInfoNV-srcLayout-10077",
    requirement="A stride equal to the length of a line works. The rule says greater than; every "
    "user of tightly packed matrices reads it as not less than.",
    level=Level.POLICY,
    axes={"component": WIDE, "layouts": STRIDED_PAIRS},
)
def test_tight(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component, layouts = axes.component, axes.layouts
    require_types(subject, component)
    converting = Converting(subject, ("C-05",), most=Level.POLICY)
    rows, columns = data.draw(shapes(), label="shape")
    bits = data.draw(elements(component, rows, columns))
    packed = [
        Side(component, layout, tight(rows, columns, component, layout))
        for layout in (layouts.first, layouts.second)
    ]
    hop = Hop(source(rows, columns, packed[0], bits), packed[1])
    converting.run([hop], host=data.draw(st.booleans(), label="host"))


@case(
    id="cooperative_vector.conversion.host_pointers",
    rows=("C-06",),
    spec="VkSpec#vkConvertCooperativeVectorMatrixNV",
    requirement="Host addresses need no alignment: the same conversion gives the same bytes "
    "wherever its matrices begin.",
    axes={"component": MATRIX_COMPONENTS, "layout": tuple(MatrixLayout)},
    where=lambda axes: axes.layout in layouts_for(axes.component),
)
def test_host_pointers(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_types(subject, axes.component, exact_component(axes.component))
    converting = Converting(subject, ("C-06",))
    region = data.draw(sources(axes.component))
    side = data.draw(sides(region.rows, region.columns, axes.component, axes.layout))
    skew = data.draw(st.integers(1, 63), label="skew")
    (made,) = converting.run([Hop(region, side)], host=True, skew=skew)
    back = exact_component(axes.component)
    plain = data.draw(sides(region.rows, region.columns, back, MatrixLayout.ROW_MAJOR))
    converting.run([Hop(made, plain)], host=True, skew=63 - skew)


@case(
    id="cooperative_vector.conversion.large",
    rows=("C-06",),
    spec=INFO,
    requirement="Matrices larger than a cooperative vector multiplies with convert like small "
    "ones.",
    axes={"component": MATRIX_COMPONENTS, "layout": tuple(MatrixLayout)},
    where=lambda axes: axes.layout in layouts_for(axes.component),
    examples=0.2,
)
def test_large(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = axes.component
    require_types(subject, component, exact_component(component))
    converting = Converting(subject, ("C-06",))
    limit = int(
        subject.info.properties.get(
            "VkPhysicalDeviceCooperativeVectorPropertiesNV.maxCooperativeVectorComponents", 128
        )
    )
    size = st.sampled_from((128, 200, 256, 257, 300, 511, limit, limit + 1))
    rows = data.draw(size, label="rows")
    columns = min(data.draw(size, label="columns"), (1 << 18) // rows)
    side = data.draw(sides(rows, columns, component, MatrixLayout.ROW_MAJOR))
    region = source(rows, columns, side, data.draw(elements(component, rows, columns)))
    _chain(converting, data, region, (axes.layout,))


@case(
    id="cooperative_vector.conversion.other_types",
    rows=("C-06",),
    spec=INFO,
    requirement="Matrices of every other type that a combination has as matrixInterpretation go "
    "through the layouts and come back with the bits they had.",
)
def test_other_types(subject: Subject, data: st.DataObject) -> None:
    require_types(subject, Component.FLOAT32)
    others = sorted(matrix_components(subject.info) - set(MATRIX_COMPONENTS))
    subject.require(bool(others), "no combination has a matrix of another type")
    component = data.draw(st.sampled_from(others), label="component")
    converting = Converting(subject, ("C-06",))
    region = data.draw(sources(component))
    first = data.draw(st.sampled_from(tuple(MatrixLayout)), label="layout")
    _chain(converting, data, region, (first,))
