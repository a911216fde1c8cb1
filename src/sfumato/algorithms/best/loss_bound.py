"""Lower bounds on the loss of every grouping.

Whatever group a row is published in, at least k rows share its cells, so it loses no less
than the cheapest box around it that holds k rows (`row_boxes`). That ignores that those
rows would have to agree. Where all columns have hierarchies, `row_prices` counts that as
well, over all rows, unless it would take too long. Both ignore every rule but the size
of groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sfumato.algorithms.best.price_guide import price_guide
from sfumato.algorithms.best.row_boxes import RowBoxes
from sfumato.algorithms.best.row_prices import MOST, can_price, row_prices
from sfumato.algorithms.request import PriceGuide, Request
from sfumato.data.arrays import Codes, Counts, Floats, Ints
from sfumato.data.rules import least_rows
from sfumato.models.common.groups import packed

LEAST_ROWS, MOST_ROWS, TRIED_ROWS = 200, 1000, 20
"""Rows for which a box is searched: at least, at most, and to see how long it takes."""
LOOKS = 1_000_000_000
"""Cells that all searches for boxes may look at by default: a second or two."""
LOOKS_PER_SECOND = 60_000_000
"""The same for every second that a run may take: about a tenth of it."""
FEWEST_ROWS = 10
"""A mean of fewer rows says nothing, unless they are all there are."""
CELL_LOOKS = 8
"""Getting ready for a search takes as long as so many looks at each cell."""
SHARE = 8
"""A search may take so many times its even share of the looks that are left."""
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


def cells_within(seconds: float | None) -> int:
    """How many cells searches for boxes may look at, by the time limit of the run."""
    return LOOKS if seconds is None else int(min(seconds * LOOKS_PER_SECOND, LOOKS))


def lower_bound(
    request: Request, *, looks: int = MOST, cells: int = LOOKS
) -> MeanLossBound | None:
    """A lower bound on the loss of any grouping; None where persons have several rows.

    `looks` is how many tuples the search for prices may look at, and `cells` how many
    cells searches for boxes may. Nor is there one where losses are bits and rows may be
    left out: such a row may count for less than its bits.
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
    found = _by_boxes(request, codes, tuples, weights, cells)
    if found is None:
        return None
    losses, chosen = found
    # Losses of rows may differ from what they cost anyway by rounding.
    above = np.maximum(losses - _own_losses(request, chosen), 0.0)
    return _summary(above, request.rows)


def _by_prices(
    request: Request,
    tuples: Codes,
    weights: Ints,
    tuple_of: Ints,
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


def _by_boxes(
    request: Request, codes: Codes, tuples: Codes, weights: Counts, cells: int
) -> tuple[Floats, Codes] | None:
    """The bounds of some random rows, and these rows; None if it would take too long."""
    axes = [coded.axis for coded in request.quasi]
    least = min(least_rows(request.rules()), request.rows)
    boxes = RowBoxes(axes=axes, tuples=tuples, weights=weights, least=least)
    ready = CELL_LOOKS * tuples.size
    order = _sample(request, codes)
    most = min(MOST_ROWS, request.rows, cells // ready)
    if most < min(FEWEST_ROWS, max(request.rows, 2)):
        return None
    if most > LEAST_ROWS:
        tried = codes[order[::-1][:TRIED_ROWS]]
        most = min(most, _affordable(boxes, tried, ready, cells))
    chosen = codes[order[:most]]
    total = sum(axis.weight for axis in axes) or 1.0
    told = partial(request.progress, "computing the lower bound on the loss")
    return _cheapest(boxes, chosen, cells, told)[0] / total, chosen


def _affordable(boxes: RowBoxes, rows: Codes, ready: int, cells: int) -> int:
    """How many searches there are looks for, by some rows that count for nothing else.

    If rows that count told it, a sample that takes long would also be a small one.
    """
    _, spent = _cheapest(boxes, rows, cells * len(rows) // LEAST_ROWS)
    return max(cells * len(rows) // (spent + ready * len(rows)), LEAST_ROWS)


def _cheapest(
    boxes: RowBoxes,
    rows: Codes,
    looks: int,
    told: Callable[[float], None] = lambda _: None,
) -> tuple[Floats, int]:
    """The weighted losses of rows in their cheapest boxes, and the looks it took."""
    found, left = np.empty(len(rows)), looks
    for i, row in enumerate(rows):
        if i % 20 == 0:
            told(i / len(rows))
        limit = min(SHARE * left // (len(rows) - i), left)
        found[i], spent = boxes.cheapest(row, max(limit, 0))
        left -= spent
    return found, looks - left


def _sample(request: Request, codes: Codes) -> Ints:
    """Draw rows in a random order that depends on their content, not their position."""
    order: Ints = np.lexsort(codes.T)
    return order[request.seed.child("bound").permutation(len(order))]


def _own_losses(request: Request, chosen: Codes) -> Floats:
    """What each row costs as it is: nothing, unless losses are bits."""
    axes = [coded.axis for coded in request.quasi]
    total = sum(axis.weight for axis in axes) or 1.0
    own = [
        axis.weight * axis.node_ncp[codes]
        for axis, codes in zip(axes, chosen.T, strict=True)
    ]
    return np.asarray(np.sum(own, axis=0) / total)


def _summary(losses: Floats, rows: int) -> MeanLossBound:
    """Summarize a sample without replacement; for all rows the interval is a point."""
    mean, count = float(losses.mean()), len(losses)
    if count == rows:
        return MeanLossBound(loss=mean, low=mean, high=mean, rows=count)
    # A few rows that lose nothing may all be missing from a sample. With one more row
    # that loses nothing, the low end is too high in less than 5% of all samples.
    more = np.append(losses, 0.0)
    low = float(more.mean()) - _half_width(more, rows)
    high = mean + _half_width(losses, rows)
    return MeanLossBound(loss=mean, low=max(low, 0.0), high=high, rows=count)


def _half_width(losses: Floats, rows: int) -> float:
    """Half of the 95% interval of a mean, over some of so many rows."""
    count = len(losses)
    rest = math.sqrt(max(rows - count, 0) / max(rows - 1, 1))
    # The quantile of Student's distribution, nearly, because the spread is estimated.
    width = NORMAL + (NORMAL**3 + NORMAL) / (4 * (count - 1))
    return width * float(losses.std(ddof=1)) / math.sqrt(count) * rest
