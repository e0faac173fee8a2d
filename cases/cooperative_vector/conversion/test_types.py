"""Conversions between component types: rounding, overflow, NaN, signed zero."""

from __future__ import annotations

import enum

import numpy as np
from hypothesis import strategies as st

from cts.case import Axes, case
from cts.conversion import Converting, Hop, Region, Side, require_types, source
from cts.draw.convert import (
    MATRIX_COMPONENTS,
    OPTIMAL,
    STRIDED,
    TYPE_PAIRS,
    Pair,
    exact_component,
    layouts_for,
    sides,
    sources,
)
from cts.findings import PolicyValue
from cts.outcome import Level
from cts.program.model import Component
from cts.program.vector import MatrixLayout
from cts.subject import Subject
from reference.component import bits_dtype, decode, float_format
from reference.convert import boundaries

INFO = "VkSpec#VkConvertCooperativeVectorMatrixInfoNV"
FORMATS = "VkSpec#fundamentals-fp-conversion"
NARROWING = tuple(pair for pair in TYPE_PAIRS if pair.destination.bits < pair.source.bits)
FLOATS = tuple(component for component in MATRIX_COMPONENTS if component.is_float)
COLUMNS = 256
"""Columns of the matrices that hold whole tables."""


class Where(enum.Enum):
    """Which of the two commands converts."""

    HOST = "host"
    DEVICE = "device"


def _there_and_back(
    converting: Converting, region: Region, there: Side, back: Side, *, host: bool
) -> None:
    (made,) = converting.run([Hop(region, there)], host=host)
    if there.layout.optimal:
        converting.run([Hop(made, back)], host=host)


def _back(data: st.DataObject, region: Region, component: Component) -> Side:
    layout = data.draw(st.sampled_from(STRIDED), label="back to")
    return data.draw(sides(region.rows, region.columns, exact_component(component), layout))


@case(
    id="cooperative_vector.conversion.rounding",
    rows=("C-07",),
    spec=INFO,
    requirement="A conversion between floating-point types rounds to nearest, ties to even, for "
    "every finite value of every pair, whatever the layouts.",
    axes={"types": TYPE_PAIRS},
)
def test_rounding(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    pair = axes.types
    require_types(subject, pair.source, pair.destination, exact_component(pair.destination))
    converting = Converting(subject, ("C-07",))
    region = data.draw(sources(pair.source, towards=pair.destination))
    layout = data.draw(st.sampled_from(layouts_for(pair.destination)), label="layout")
    there = data.draw(sides(region.rows, region.columns, pair.destination, layout))
    host = data.draw(st.booleans(), label="host")
    back = _back(data, region, pair.destination)
    _there_and_back(converting, region, there, back, host=host)


def _table(pair: Pair) -> Region:
    """Every code of a narrow source; of float32 every upper half and every rounding boundary."""
    if pair.source.bits <= 16:
        codes = np.arange(1 << pair.source.bits, dtype=bits_dtype(pair.source))
    else:
        upper = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
        codes = np.unique(np.concatenate([upper, boundaries(pair.source, pair.destination)]))
    rows = -(-len(codes) // COLUMNS)
    bits = np.resize(codes, (rows, COLUMNS))
    stride = COLUMNS * pair.source.bytes + 16
    return source(rows, COLUMNS, Side(pair.source, MatrixLayout.ROW_MAJOR, stride), bits)


@case(
    id="cooperative_vector.conversion.tables",
    rows=("C-07",),
    spec=INFO,
    requirement="Every 8- and 16-bit source value, and of float32 every boundary between two "
    "results, converts to the nearest value, ties to even.",
    axes={"types": TYPE_PAIRS, "where": tuple(Where)},
    fixed=True,
)
def test_tables(subject: Subject, axes: Axes) -> None:
    pair = axes.types
    require_types(subject, pair.source, pair.destination, exact_component(pair.destination))
    converting = Converting(subject, ("C-07",))
    region = _table(pair)
    back_to = exact_component(pair.destination)
    stride = COLUMNS * back_to.bytes + 16
    back = Side(back_to, MatrixLayout.ROW_MAJOR, stride)
    for layout in layouts_for(pair.destination):
        if layout is MatrixLayout.COLUMN_MAJOR:
            continue
        there = Side(pair.destination, layout, COLUMNS * pair.destination.bytes + 16)
        _there_and_back(converting, region, there, back, host=axes.where is Where.HOST)


@case(
    id="cooperative_vector.conversion.overflow",
    rows=("C-08",),
    spec=FORMATS,
    requirement="What is beyond the range becomes infinity (E4M3: NaN) or the largest finite value "
    "of its sign; infinity stays infinity (E4M3: NaN or 448); NaN stays NaN.",
    level=Level.POLICY,
    axes={"types": TYPE_PAIRS},
)
def test_overflow(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    pair = axes.types
    require_types(subject, pair.source, pair.destination, exact_component(pair.destination))
    converting = Converting(subject, ("C-08",))
    region = data.draw(sources(pair.source, towards=pair.destination, specials=True))
    layout = data.draw(st.sampled_from(layouts_for(pair.destination)), label="layout")
    there = data.draw(sides(region.rows, region.columns, pair.destination, layout))
    host = data.draw(st.booleans(), label="host")
    back = _back(data, region, pair.destination)
    _there_and_back(converting, region, there, back, host=host)


def _beyond(pair: Pair) -> Region:
    """Finite values beyond the range of the destination, of both signs."""
    codes = boundaries(pair.source, pair.destination)
    largest = float_format(pair.destination).maximum
    values = decode(codes, pair.source)
    codes = codes[np.isfinite(values) & (np.abs(values) > largest)]
    bits = np.resize(codes, (9, 19))
    return source(9, 19, Side(pair.source, MatrixLayout.ROW_MAJOR, 96), bits)


@case(
    id="cooperative_vector.conversion.overflow_choice",
    rows=("C-08",),
    spec=FORMATS,
    requirement="A device makes one choice between the largest finite value and infinity (E4M3: "
    "NaN) for a pair of types: on the host and on the device, in each layout.",
    level=Level.POLICY,
    axes={"types": NARROWING},
    fixed=True,
)
def test_overflow_choice(subject: Subject, axes: Axes) -> None:
    pair = axes.types
    require_types(subject, pair.source, pair.destination, exact_component(pair.destination))
    region = _beyond(pair)
    back_to = exact_component(pair.destination)
    back = Side(back_to, MatrixLayout.ROW_MAJOR, region.columns * back_to.bytes + 16)
    made: dict[str, str] = {}
    for layout in layouts_for(pair.destination):
        stride = max(region.rows, region.columns) * pair.destination.bytes + 16
        for where in Where:
            converting = Converting(subject, ())
            there = Side(pair.destination, layout, stride)
            _there_and_back(converting, region, there, back, host=where is Where.HOST)
            choices = {name.split()[-1] for name in converting.choices}
            made[f"{where.value} {layout.label}"] = " and ".join(sorted(choices))
    for choice in set(made.values()):
        subject.event("overflow", f"{pair.label}: {choice}")
    if len(set(made.values())) > 1 or any(" and " in choice for choice in made.values()):
        subject.found(
            PolicyValue(f"overflow of {pair.label} differs: {made}", {"row": "C-08", "made": made})
        )


@case(
    id="cooperative_vector.conversion.zero_sign",
    rows=("C-09",),
    spec="VkSpec#fundamentals-general",
    requirement="The sign survives of zeros and of results that round to zero.",
    level=Level.QUALITY,
    axes={
        "types": (*(Pair(component, component) for component in FLOATS), *TYPE_PAIRS),
        "layout": tuple(MatrixLayout),
    },
    where=lambda axes: axes.layout in layouts_for(axes.types.destination),
)
def test_zero_sign(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    pair = axes.types
    require_types(subject, pair.source, pair.destination, exact_component(pair.destination))
    converting = Converting(subject, ("C-09",))
    region = data.draw(sources(pair.source, towards=pair.destination, specials=True))
    there = data.draw(sides(region.rows, region.columns, pair.destination, axes.layout))
    host = data.draw(st.booleans(), label="host")
    back = _back(data, region, pair.destination)
    _there_and_back(converting, region, there, back, host=host)


@case(
    id="cooperative_vector.conversion.payload",
    rows=("C-06",),
    spec=INFO,
    requirement="NaNs keep their bits when only the layout changes.",
    level=Level.QUALITY,
    axes={"component": tuple(c for c in FLOATS if c.bits > 8), "layout": OPTIMAL},
)
def test_payload(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_types(subject, axes.component)
    converting = Converting(subject, ("C-06",))
    region = data.draw(sources(axes.component, towards=axes.component, specials=True))
    there = data.draw(sides(region.rows, region.columns, axes.component, axes.layout))
    host = data.draw(st.booleans(), label="host")
    _there_and_back(converting, region, there, _back(data, region, axes.component), host=host)
