"""Host and device commands together: equal bytes, several conversions at once, chains."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from cts.case import Axes, case
from cts.conversion import (
    FLOAT8,
    Converting,
    Hop,
    Region,
    available,
    matrix_components,
    require_types,
)
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
from cts.draw.vector_kinds import (
    listed,
)
from cts.draw.vector_prepared import prepared
from cts.draw.vector_products import (
    plans,
)
from cts.findings import Finding, PolicyProperty, QualityProperty, WrongProperty
from cts.outcome import Level
from cts.program.vector import MatrixLayout
from cts.subject import Subject
from reference.component import float_format
from reference.convert import convertible

COMMAND = "VkSpec#vkCmdConvertCooperativeVectorMatrixNV"
ALL_PAIRS = (*(Pair(c, c) for c in MATRIX_COMPONENTS), *TYPE_PAIRS)
WIDE = tuple(component for component in MATRIX_COMPONENTS if component not in FLOAT8)


@case(
    id="cooperative_vector.conversion.host_and_device",
    rows=("C-10",),
    spec=COMMAND,
    requirement="The device command does the same conversions as the host command: either reads "
    "the same matrix from what the two made.",
    axes={"types": ALL_PAIRS, "layout": tuple(MatrixLayout)},
    where=lambda axes: axes.layout in layouts_for(axes.types.destination),
)
def test_host_and_device(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    pair = axes.types
    require_types(subject, pair.source, pair.destination)
    converting = Converting(subject, ())
    region = data.draw(sources(pair.source, towards=pair.destination, specials=True))
    side = data.draw(sides(region.rows, region.columns, pair.destination, axes.layout))
    hop = Hop(region, side)
    made = [converting.run([hop], host=host)[0] for host in (True, False)]
    if made[0].data != made[1].data:
        subject.found(_differing(converting, region, made[0], made[1]))


def _differing(converting: Converting, source: Region, host: Region, device: Region) -> Finding:
    """What it means that the two commands gave other bytes.

    Bytes of an optimal layout may be padding, and no rule is known for the sign of a zero: what
    counts is which numbers either command reads of either matrix. What becomes of a number out of
    range is free as long as nothing says which, so that a difference there is no more than policy.
    """
    left, right = (np.frombuffer(region.data, np.uint8) for region in (host, device))
    wrong = np.flatnonzero(left != right)
    at = int(wrong[0])
    detail: dict[str, object] = {
        "row": "C-10",
        "matrix": f"{host.rows}x{host.columns} {host.side.component.label} "
        f"{host.side.layout.label}",
        "differing bytes": f"{len(wrong)} of {len(left)}",
        "first at byte": at,
        "host wrote": f"0x{int(left[at]):02x}",
        "device wrote": f"0x{int(right[at]):02x}",
    }
    read = {
        f"{writer} wrote, {'host' if reader else 'device'} read": converting.numbers(
            region, host=reader
        )
        for writer, region in (("host", host), ("device", device))
        for reader in (True, False)
    }
    first, *others = read.values()
    unequal = [it != first for it in others]
    if first.dtype.kind == "f":
        unequal = [(it != first) & ~(np.isnan(it) & np.isnan(first)) for it in others]
    different = np.logical_or.reduce(unequal)
    if not different.any():
        return QualityProperty(
            f"host and device wrote other bytes (the first at {at}) for the same numbers", detail
        )
    component = host.side.component
    kind: type[Finding] = PolicyProperty
    if component.is_float:
        numbers = converting.numbers(source, host=True)
        ruled = different & (np.abs(numbers) <= float_format(component).maximum)
    else:
        ruled = different
    if ruled.any():
        kind, different = WrongProperty, ruled
    row, column = (int(axis[0]) for axis in np.nonzero(different))
    detail |= {how: f"{values[row, column]!s}" for how, values in read.items()}
    return kind(f"element ({row}, {column}) isn't the same in what host and device made", detail)


@case(
    id="cooperative_vector.conversion.interchange",
    rows=("C-10",),
    spec=COMMAND,
    requirement="An optimal matrix that one command made is read by the other.",
    axes={"component": MATRIX_COMPONENTS, "layout": OPTIMAL},
)
def test_interchange(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = axes.component
    require_types(subject, component, exact_component(component))
    converting = Converting(subject, ("C-10",))
    region = data.draw(sources(component))
    side = data.draw(sides(region.rows, region.columns, component, axes.layout))
    back_layout = data.draw(st.sampled_from(STRIDED), label="back to")
    back = data.draw(sides(region.rows, region.columns, exact_component(component), back_layout))
    for host in (True, False):
        (made,) = converting.run([Hop(region, side)], host=host)
        converting.run([Hop(made, back)], host=not host)


@case(
    id="cooperative_vector.conversion.several",
    rows=("C-11",),
    spec=COMMAND,
    requirement="One command makes every conversion it is given, of different shapes, types and "
    "layouts; a later command after a barrier reads what it made.",
    axes={"component": MATRIX_COMPONENTS},
)
def test_several(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    back_to = exact_component(axes.component)
    require_types(subject, axes.component, back_to)
    converting = Converting(subject, ("C-11",))
    hops = []
    for _ in range(data.draw(st.integers(2, 5), label="conversions")):
        region = data.draw(sources(axes.component, most=1 << 11))
        layout = data.draw(st.sampled_from(layouts_for(axes.component)), label="layout")
        hops.append(
            Hop(region, data.draw(sides(region.rows, region.columns, axes.component, layout)))
        )
    converting.run_chained(
        hops,
        [
            data.draw(
                sides(
                    hop.source.rows,
                    hop.source.columns,
                    back_to,
                    data.draw(st.sampled_from(STRIDED), label="back to"),
                )
            )
            for hop in hops
        ],
    )


@case(
    id="cooperative_vector.conversion.shader_use",
    rows=("C-11", "C-13"),
    spec="VkSpec#VK_PIPELINE_STAGE_2_CONVERT_COOPERATIVE_VECTOR_MATRIX_BIT_NV",
    requirement="A shader behind a barrier from the conversions' own pipeline stage multiplies "
    "with what a conversion in the same command buffer made.",
    axes={"layout": OPTIMAL},
)
def test_shader_use(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    available(subject)
    wide = [one for one in listed(subject.info) if one.matrix not in FLOAT8]
    subject.require(bool(wide), "no record has a matrix that can be row-major")
    plan = data.draw(plans(subject.info, wide))
    program, inputs = prepared(plan, Converting(subject, ()), axes.layout)
    subject.check(program, inputs)


@case(
    id="cooperative_vector.conversion.padding",
    rows=("C-12",),
    spec="VkSpec#VkConvertCooperativeVectorMatrixInfoNV",
    requirement="The bytes between the lines of a strided destination keep their value, so that a "
    "part of a larger matrix can be a destination.",
    level=Level.POLICY,
    axes={"component": WIDE, "layout": STRIDED},
)
def test_padding(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_types(subject, axes.component)
    converting = Converting(subject, ("C-12",))
    region = data.draw(sources(axes.component))
    side = data.draw(sides(region.rows, region.columns, axes.component, axes.layout))
    converting.run([Hop(region, side)], host=data.draw(st.booleans(), label="host"))


class Machine:
    """Matrices in memory and the conversions that may be made of them. Each rule draws what it
    does; what a matrix holds is carried along by the judge and seen whenever a strided matrix
    is made."""

    def __init__(self, converting: Converting, data: st.DataObject) -> None:
        self.converting = converting
        self.data = data
        self.live: list[Region] = []
        self.usable = sorted(matrix_components(converting.subject.info) & set(MATRIX_COMPONENTS))

    def create(self) -> None:
        """A new matrix, row- or column-major."""
        component = self.data.draw(st.sampled_from(self.usable), label="component")
        self.live.append(self.data.draw(sources(component, specials=True, most=1 << 10)))

    def convert(self) -> None:
        """Convert one to three of the matrices, in one request."""
        count = self.data.draw(st.integers(1, min(3, len(self.live))), label="conversions")
        hops = [self.hop() for _ in range(count)]
        host = self.data.draw(st.booleans(), label="host")
        together = self.data.draw(st.booleans(), label="one command")
        self.live += self.converting.run(hops, host=host, together=together)

    def hop(self) -> Hop:
        """A conversion of a live matrix to any type and layout that it may have."""
        region = self.data.draw(st.sampled_from(range(len(self.live))), label="matrix")
        source = self.live[region]
        kinds = [c for c in self.usable if convertible(source.side.component, c)]
        component = self.data.draw(st.sampled_from(kinds), label="component")
        layout = self.data.draw(st.sampled_from(layouts_for(component)), label="layout")
        side = self.data.draw(sides(source.rows, source.columns, component, layout))
        return Hop(source, side)

    def drop(self) -> None:
        """Forget the oldest matrix."""
        if len(self.live) > 1:
            self.live.pop(0)

    def settle(self) -> None:
        """Bring every optimal matrix back to where it can be looked at."""
        hops = []
        for region in self.live:
            if region.side.layout.optimal:
                component = exact_component(region.side.component)
                side = self.data.draw(
                    sides(region.rows, region.columns, component, MatrixLayout.ROW_MAJOR)
                )
                hops.append(Hop(region, side))
        if hops:
            self.converting.run(hops, host=self.data.draw(st.booleans(), label="host"))


@case(
    id="cooperative_vector.conversion.chains",
    rows=("C-06", "C-07", "C-10", "C-11"),
    spec=COMMAND,
    requirement="Any sequence of conversions between types and layouts, on the host and on the "
    "device, keeps each matrix what the rules say.",
)
def test_chains(subject: Subject, data: st.DataObject) -> None:
    available(subject)
    machine = Machine(Converting(subject, ()), data)
    machine.create()
    rules = (machine.convert, machine.convert, machine.create, machine.drop)
    for _ in range(data.draw(st.integers(1, 8), label="steps")):
        data.draw(st.sampled_from(rules), label="rule")()
    machine.settle()
