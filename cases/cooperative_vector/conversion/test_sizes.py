"""Sizes of converted matrices: asked for, depended on, written."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import strategies as st

from cts.case import Axes, case
from cts.conversion import (
    FLOAT8,
    Converting,
    Hop,
    matrix_components,
    require_types,
    source,
)
from cts.device.protocol import Convert
from cts.draw.convert import (
    MATRIX_COMPONENTS,
    STRIDED,
    elements,
    layouts_for,
    shapes,
    sides,
    sources,
    strides,
)
from cts.findings import PolicyProperty, WrongProperty
from cts.outcome import Level
from cts.program.model import Component
from cts.program.vector import MatrixLayout
from cts.subject import Subject
from reference.convert import convertible
from reference.convert_judge import INCOMPLETE, SUCCESS, judge_size

COMMAND = "VkSpec#vkConvertCooperativeVectorMatrixNV"
INFO = "VkSpec#VkConvertCooperativeVectorMatrixInfoNV"
DESTINATIONS = {"component": MATRIX_COMPONENTS, "layout": tuple(MatrixLayout)}


def _allowed(axes: Axes) -> bool:
    return axes.layout in layouts_for(axes.component)


@case(
    id="cooperative_vector.conversion.size_query",
    rows=("C-01",),
    spec=COMMAND,
    requirement="With a null destination the size is stored and the result is VK_SUCCESS, with "
    "or without a source, each time the same.",
    axes=DESTINATIONS,
    where=_allowed,
)
def test_size_query(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_types(subject, axes.component)
    converting = Converting(subject, ("C-01",))
    region = data.draw(sources(axes.component))
    side = data.draw(sides(region.rows, region.columns, axes.component, axes.layout))
    (asked,) = converting.size_request([(region.rows, region.columns, side)]).conversions
    matrix = dataclasses.replace(
        asked.source,
        component=int(region.side.component),
        layout=int(region.side.layout),
        stride=region.side.stride,
        size=len(region.data),
    )
    given = dataclasses.replace(asked, source=matrix, null_source=False)
    # What *pDstSize holds before doesn't matter when there is no destination.
    full = dataclasses.replace(
        asked, destination=dataclasses.replace(asked.destination, size=1 << 20)
    )
    request = Convert((asked, asked, given, full), region.data, True)
    reply = subject.convert(request)
    for conversion, result, count in zip(
        request.conversions, reply.results, reply.counts, strict=True
    ):
        converting.report(judge_size(conversion, result, count))
    if len(set(reply.counts)) > 1:
        subject.found(
            WrongProperty(
                f"the same size was stated as {sorted(set(reply.counts))}",
                {"row": "C-01", "sizes": list(reply.counts)},
            )
        )


@case(
    id="cooperative_vector.conversion.strided_size",
    rows=("C-05",),
    spec=INFO,
    requirement="The size of a row- or column-major matrix is that of its strided lines.",
    axes={
        "component": tuple(c for c in MATRIX_COMPONENTS if c not in FLOAT8),
        "layout": STRIDED,
    },
)
def test_strided_size(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_types(subject, axes.component)
    converting = Converting(subject, ("C-05",))
    rows, columns = data.draw(shapes(), label="shape")
    converting.sizes(
        [(rows, columns, data.draw(sides(rows, columns, axes.component, axes.layout)))]
    )


@case(
    id="cooperative_vector.conversion.size_depends_on_destination",
    rows=("C-04",),
    spec=INFO,
    requirement="The size depends on rows, columns and the destination's type, layout and stride, "
    "never on the source; an optimal layout ignores the stride.",
    axes=DESTINATIONS,
    where=_allowed,
)
def test_size_depends_on_destination(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_types(subject, axes.component)
    converting = Converting(subject, ("C-04",))
    rows, columns = data.draw(shapes(), label="shape")
    side = data.draw(sides(rows, columns, axes.component, axes.layout))
    (first,) = converting.size_request([(rows, columns, side)]).conversions
    known = sorted(matrix_components(subject.info))
    usable = [one for one in known if convertible(one, axes.component)]
    asked = [first]
    for _ in range(3):
        kind = data.draw(st.sampled_from(usable), label="source type")
        layout = data.draw(st.sampled_from(tuple(MatrixLayout)), label="source layout")
        stride = data.draw(strides(rows, columns, kind, layout), label="source stride")
        other = first.destination
        if axes.layout.optimal:
            ignored = data.draw(strides(rows, columns, axes.component, axes.layout))
            other = dataclasses.replace(other, stride=ignored)
        matrix = dataclasses.replace(
            first.source, component=int(kind), layout=int(layout), stride=stride
        )
        asked.append(dataclasses.replace(first, source=matrix, destination=other))
    reply = subject.convert(Convert(tuple(asked), b"", True))
    if len(set(reply.counts)) > 1:
        subject.found(
            WrongProperty(
                f"one destination has the sizes {sorted(set(reply.counts))}",
                {"row": "C-04", "sizes": list(reply.counts), "asked": [str(a) for a in asked]},
            )
        )


@case(
    id="cooperative_vector.conversion.written",
    rows=("C-03",),
    spec=COMMAND,
    requirement="With a large enough destination the result is VK_SUCCESS, *pDstSize becomes the "
    "number of bytes written, and no byte past it changes.",
    axes=DESTINATIONS,
    where=_allowed,
)
def test_written(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    require_types(subject, axes.component)
    converting = Converting(subject, ("C-03",))
    region = data.draw(sources(axes.component))
    side = data.draw(sides(region.rows, region.columns, axes.component, axes.layout))
    room = data.draw(st.sampled_from((0, 1, 4, 64, 100)), label="room")
    skew = data.draw(st.sampled_from((0, 16, 4)), label="skew")
    host = data.draw(st.booleans(), label="host")
    converting.run([Hop(region, side, room)], host=host, skew=skew)


@case(
    id="cooperative_vector.conversion.too_small",
    rows=("C-02",),
    spec=COMMAND,
    requirement="With too small a destination nothing is written and the result is VK_INCOMPLETE. "
    "The text gives this result, while VUID-vkConvertCooperativeVectorMatrixNV-pInfo-10075 "
    "forbids the call, so it is never a failure.",
    level=Level.POLICY,
    axes={"layout": tuple(MatrixLayout)},
)
def test_too_small(subject: Subject, axes: Axes, data: st.DataObject) -> None:
    component = Component.FLOAT16
    require_types(subject, component)
    converting = Converting(subject, ("C-02",))
    rows, columns = data.draw(shapes(), label="shape")
    plain = data.draw(sides(rows, columns, component, MatrixLayout.ROW_MAJOR))
    region = source(rows, columns, plain, data.draw(elements(component, rows, columns)))
    side = data.draw(sides(rows, columns, component, axes.layout))
    request, sizes, _ = converting.request([Hop(region, side)], host=True)
    short = data.draw(st.integers(1, sizes[0]), label="bytes too few")
    (conversion,) = request.conversions
    conversion = dataclasses.replace(
        conversion,
        destination=dataclasses.replace(conversion.destination, size=sizes[0] - short),
    )
    request = dataclasses.replace(request, conversions=(conversion,))
    reply = subject.convert(request)
    result = reply.results[0]
    detail = {"row": "C-02", "size": sizes[0], "given": sizes[0] - short, "result": result}
    if result != INCOMPLETE:
        word = "VK_SUCCESS" if result == SUCCESS else f"VkResult {result}"
        subject.found(PolicyProperty(f"{word} instead of VK_INCOMPLETE", detail))
    before, after = (np.frombuffer(m, np.uint8) for m in (request.memory, reply.buffers[0]))
    if (before != after).any():
        first = int(np.flatnonzero(before != after)[0]) - conversion.destination.offset
        subject.found(
            PolicyProperty(
                f"bytes were written although the destination is too small, the first at {first}",
                {**detail, "offset": first},
            )
        )
