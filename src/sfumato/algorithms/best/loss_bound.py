"""Lower bounds on the loss of every grouping.

Whatever group a row is published in, at least k rows share its cells. Where all columns
have hierarchies, its cells are nodes that cover it, and it loses no less than its
cheapest generalization that k rows share. `row_bounds` has two bounds for columns of any
shape; a row counts with the largest of the three. They ignore that those rows
would have to agree. Where all columns have hierarchies, `row_prices` counts that as well,
over all rows, unless it would take too long. All of them ignore every rule but the size
of groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.best.price_guide import price_guide
from sfumato.algorithms.best.row_bounds import column_bound, neighbor_bound
from sfumato.algorithms.best.row_prices import MOST, can_price, row_prices
from sfumato.algorithms.request import PriceGuide, Request
from sfumato.data.rules import least_rows
from sfumato.hierarchies.axis import Shape
from sfumato.kernels.best.agreement_levels import count_matching_rows
from sfumato.models.common.groups import packed

SAMPLE = 200
"""Rows for which the bound is computed."""
NODES = 50_000
"""No bound is computed on a larger lattice."""
STEPS = 400_000_000
"""No bound is computed if it would take longer than a few seconds."""
NORMAL = 1.96


@dataclass(frozen=True, kw_only=True)
class MeanLossBound:
    """The mean of the rows' lower bounds, with its 95% interval."""

    loss: float
    low: float
    high: float
    rows: int
    guide: PriceGuide | None = field(default=None, compare=False, repr=False)
    """The prices behind it, where it comes from prices."""

    def facts(self, loss: float) -> dict[str, Any]:
        """For the report: the bound, and how far above it a loss is."""
        return {
            "at_least": self.loss,
            "interval": [self.low, self.high],
            "rows": self.rows,
            **gap(loss, self.loss, self.low),
        }


def gap(loss: float, bound: float, low: float) -> dict[str, float | None]:
    """How far a loss is from its bound, and at most above the optimum.

    The latter counts from the low end of the interval, since the bound is a mean over
    some rows.
    """
    return {
        "times": loss / bound if bound > 0 else None,
        "at_most_above": max(loss / low - 1, 0.0) if low > 0 else None,
    }


def lower_bound(request: Request, *, looks: int = MOST) -> MeanLossBound | None:
    """A lower bound on the loss of any grouping; None where persons have several rows.

    `looks` is how many tuples the search for prices may look at. Nor is there one where
    losses are bits and rows may be left out: such a row may count for less than its bits.
    """
    if request.rows == 0 or not request.quasi or request.subject is not None:
        return None
    bits = any(coded.axis.shares is not None for coded in request.quasi)
    if bits and request.removable:
        return None
    codes = np.column_stack([coded.codes for coded in request.quasi])
    key, _ = packed([coded.codes for coded in request.quasi])
    _, first, tuple_of, weights = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    tuples = codes[first]
    by_prices = _by_prices(request, tuples, weights, tuple_of.ravel(), looks)
    if by_prices is not None:
        return by_prices
    count = min(SAMPLE, request.rows, STEPS // (2 * tuples.size))
    if count < 2:
        return None
    least = least_rows(request.rules())
    chosen = codes[_sample(request, codes)[:count]]
    losses = np.maximum(
        _losses_of_rows(request, tuples, weights, chosen, least),
        _losses_in_lattice(request, tuples, weights, chosen, least),
    )
    # Losses of rows may differ from what they cost anyway by rounding.
    above = np.maximum(losses - _own_losses(request, chosen), 0.0)
    return _summary(above, request.rows)


def _by_prices(
    request: Request,
    tuples: npt.NDArray[np.int32],
    weights: npt.NDArray[np.int64],
    tuple_of: npt.NDArray[np.int64],
    looks: int,
) -> MeanLossBound | None:
    """The bound by prices: the mean over all rows, so that nothing is estimated.

    None where a column has no hierarchy or the search would take too long.
    """
    if not can_price(request, len(tuples), looks):
        return None
    axes = [coded.axis for coded in request.quasi]
    least = least_rows(request.rules())
    found = row_prices(
        axes,
        tuples,
        weights,
        least=least,
        looks=looks,
        threads=request.threads,
        progress=partial(request.progress, "computing the lower bound on the loss"),
    )
    if found is None:
        return None
    total = sum(axis.weight for axis in axes) or 1.0
    # A row that is left out loses all its cells, and has no group to share with.
    most = total if request.removable else math.inf
    mean = float(weights @ np.minimum(found.prices, most)) / (total * request.rows)
    own = _own_losses(request, tuples)
    loss = max(mean - float(weights @ own) / request.rows, 0.0)
    guide = price_guide(found, weights, tuple_of, own=own * total, least=least)
    return MeanLossBound(loss=loss, low=loss, high=loss, rows=request.rows, guide=guide)


def _losses_of_rows(
    request: Request,
    tuples: npt.NDArray[np.int32],
    weights: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.int32],
    least: int,
) -> npt.NDArray[np.float64]:
    """The bounds by column and by neighbor, whichever is larger."""
    total = sum(coded.axis.weight for coded in request.quasi) or 1.0
    result = np.empty(len(chosen))
    for i, row in enumerate(chosen):
        if i % 20 == 0:
            request.progress("computing the lower bound on the loss", i / len(chosen))
        by_column = sum(
            coded.axis.weight * column_bound(coded, int(code), least)
            for coded, code in zip(request.quasi, row, strict=True)
        )
        near = neighbor_bound(request.quasi, tuples, weights, row=row, least=least)
        result[i] = max(by_column, near) / total
    return result


def _losses_in_lattice(
    request: Request,
    tuples: npt.NDArray[np.int32],
    weights: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.int32],
    least: int,
) -> npt.NDArray[np.float64]:
    """The bounds by generalization; zeros where hierarchies give none in time."""
    axes = [coded.axis for coded in request.quasi]
    heights = np.array([axis.height for axis in axes], dtype=np.int64)
    nodes = math.prod(heights.tolist())
    trees = all(axis.shape is Shape.TREE for axis in axes)
    steps = (len(tuples) + nodes) * len(axes) * len(chosen)
    if not trees or nodes > NODES or steps > STEPS:
        return np.zeros(len(chosen))
    return _losses(request, tuples, weights, chosen, heights, least)


def _sample(request: Request, codes: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Draw rows in a random order that depends on their content, not their position."""
    order: npt.NDArray[np.int64] = np.lexsort(codes.T)
    return order[request.seed.child("bound").permutation(len(order))]


def _losses(
    request: Request,
    tuples: npt.NDArray[np.int32],
    weights: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.int32],
    heights: npt.NDArray[np.int64],
    least: int,
) -> npt.NDArray[np.float64]:
    axes = [coded.axis for coded in request.quasi]
    sizes = np.array([axis.size for axis in axes], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes * heights)[:-1]]).astype(np.int64)
    levels = np.concatenate([axis.levels.ravel() for axis in axes]).astype(np.int32)
    found = np.zeros(math.prod(heights.tolist()), dtype=np.int64)
    total = sum(axis.weight for axis in axes) or 1.0
    result = np.empty(len(chosen))
    for i, row in enumerate(chosen):
        if i % 20 == 0:
            request.progress("computing the lower bound on the loss", i / len(chosen))
        count_matching_rows(tuples, weights, row, levels, starts, heights, sizes, found)
        cells = [
            a.weight * a.node_ncp[a.levels[:, c]]
            for a, c in zip(axes, row, strict=True)
        ]
        loss = reduce(np.add.outer, cells).ravel()
        result[i] = loss[found >= least].min(initial=loss.max()) / total
    return result


def _own_losses(
    request: Request, chosen: npt.NDArray[np.int32]
) -> npt.NDArray[np.float64]:
    """What each row costs as it is: nothing, unless losses are bits."""
    axes = [coded.axis for coded in request.quasi]
    total = sum(axis.weight for axis in axes) or 1.0
    own = [
        axis.weight * axis.node_ncp[codes]
        for axis, codes in zip(axes, chosen.T, strict=True)
    ]
    return np.asarray(np.sum(own, axis=0) / total)


def _summary(losses: npt.NDArray[np.float64], rows: int) -> MeanLossBound:
    """Summarize a sample without replacement; for all rows the interval is a point."""
    mean, count = float(losses.mean()), len(losses)
    rest = math.sqrt((rows - count) / max(rows - 1, 1))
    half = NORMAL * float(losses.std(ddof=1)) / math.sqrt(count) * rest
    return MeanLossBound(
        loss=mean, low=max(mean - half, 0.0), high=mean + half, rows=count
    )
