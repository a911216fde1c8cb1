"""Label boxes: the smallest node over each, or an interval or set of its own."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes
from sfumato.data.values import exact_numbers
from sfumato.hierarchies.axis import STAR, Axis, CodedAxis
from sfumato.hierarchies.labels import Span, interval_label, parse_span, set_label


def shown_axes(
    quasi: tuple[CodedAxis, ...], low: Codes, high: Codes, *, hierarchies: bool
) -> tuple[tuple[CodedAxis, ...], Codes]:
    """The axes on which boxes are shown, and the (boxes, axes) nodes they show.

    Without hierarchies every run of leaves that is not one leaf becomes a node.
    """
    axes, nodes = [], np.empty(low.shape, dtype=np.int32)
    for place, coded in enumerate(quasi):
        axis = coded.axis
        if hierarchies:
            nodes[:, place] = axis.covering(low[:, place], high[:, place])
        else:
            axis, nodes[:, place] = _with_runs(axis, low[:, place], high[:, place])
        axes.append(CodedAxis(axis, coded.codes))
    return tuple(axes), nodes


def _with_runs(axis: Axis, low: Codes, high: Codes) -> tuple[Axis, Codes]:
    pairs, place = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    first = len(axis.node_labels)
    runs = [(int(a), int(b)) for a, b in pairs]
    node = np.where(
        pairs[:, 0] == pairs[:, 1], pairs[:, 0], first + np.arange(len(runs))
    )
    size = pairs[:, 1] - pairs[:, 0] + 1
    return (
        replace(
            axis,
            node_labels=(*axis.node_labels, *(_text(axis, *run) for run in runs)),
            node_ncp=np.append(axis.node_ncp, _ncp(axis, pairs)),
            node_loss=np.append(axis.node_loss, (size - 1) / max(axis.size - 1, 1)),
            node_bounds=_bounds(axis, pairs),
        ),
        node.astype(np.int32)[place.reshape(-1)],
    )


def _text(axis: Axis, low: int, high: int) -> str:
    if high - low + 1 == axis.size:
        return STAR
    if axis.node_bounds is None:
        return set_label([axis.labels[code] for code in range(low, high + 1)])
    if low <= axis.missing <= high:
        return STAR
    first, last = _span(axis, low), _span(axis, high)
    return interval_label(
        -inf if first.low is None else first.low,
        inf if last.high is None else last.high,
        kind=axis.kind,
        # The last leaf may be an interval without its end, or a value of its own.
        closed=last.high_in,
    )


def _span(axis: Axis, leaf: int) -> Span:
    """What a leaf stands for: the interval that it shows, or its number."""
    found = parse_span(axis.labels[leaf], kind=axis.kind)
    if found is not None:
        return found.closed(axis.kind)
    places = np.asarray(axis.positions)[[leaf]]
    number = exact_numbers(axis.kind, [axis.labels[leaf]], places)[0]
    return Span(number, number)


def _ncp(axis: Axis, pairs: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    size = pairs[:, 1] - pairs[:, 0] + 1
    return np.asarray(size / axis.size, dtype=np.float64)


def _bounds(axis: Axis, pairs: npt.NDArray[np.int32]) -> npt.NDArray[np.float64] | None:
    if axis.node_bounds is None:
        return None
    ends = np.column_stack(
        [axis.node_bounds[pairs[:, 0], 0], axis.node_bounds[pairs[:, 1], 1]]
    )
    return np.vstack([axis.node_bounds, ends])
