"""Allocate the histograms of one group that the rules look at.

Cost: memory O(v × c) for v views with values below c, once per search.
Invariant: `tally` is 0 between uses, so that it is never cleared for its whole width;
the first `lengths[v]` entries of `codes` and `counts` are the histogram of view v.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Ints


class BoxHistograms(NamedTuple):
    """Room for the histogram of each view of one group."""

    tally: Ints
    codes: Codes
    counts: Ints
    lengths: Ints


def histograms_for(values: Codes) -> BoxHistograms:
    """Room for histograms of these views."""
    views = values.shape[0]
    most = int(values.max(initial=0)) + 1
    return BoxHistograms(
        tally=np.zeros((views, most), dtype=np.int64),
        codes=np.zeros((views, most), dtype=np.int32),
        counts=np.zeros((views, most), dtype=np.int64),
        lengths=np.zeros(views, dtype=np.int64),
    )
