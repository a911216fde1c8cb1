"""Tell refinement, by prices of rows, where loss can be lowered and by which boxes.

No groups of the same rows lose less than the prices of these rows together. So a group
that loses no more than that is as good as it can be, and what there is to gain lies in
groups far above their prices. Groups that lose little lie in boxes that cost hardly more
than prices ask for. The search for prices has met such boxes (`row_prices`), so that they
need not be searched again.
"""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.best.row_prices import TuplePrices
from sfumato.algorithms.request import PriceGuide
from sfumato.data.arrays import Counts, Floats, Ints
from sfumato.kernels.best.price_ascent import box_spares

NEAR = 0.25
"""How much of its cost, above what rows lose anyway, a box may cost more than prices ask
for."""


def price_guide(
    found: TuplePrices, weights: Counts, tuple_of: Ints, *, own: Floats, least: int
) -> PriceGuide:
    """What is known of rows, given the tuple of each and what tuples lose anyway."""
    boxes = found.boxes
    lengths = np.diff(boxes.starts)
    box_of = np.repeat(np.arange(len(lengths)), lengths)
    rows = weights[boxes.tuples]
    anyway = np.bincount(box_of, rows * own[boxes.tuples], len(lengths))
    above = boxes.costs - anyway / np.bincount(box_of, rows, len(lengths))
    near = box_spares(boxes, weights, least, found.prices) <= NEAR * above
    starts = np.concatenate([[0], np.cumsum(lengths[near])]).astype(np.int64)
    return PriceGuide(
        prices=found.prices[tuple_of],
        own=own[tuple_of],
        tuple_of=tuple_of,
        costs=boxes.costs[near],
        starts=starts,
        tuples=boxes.tuples[near[box_of]],
    )
