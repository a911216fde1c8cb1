"""From a measure per group to a verdict on a table.

`judge` compares one measure with one limit on every histogram of a model, taking
missing values at their worst where the policy says they may be anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Counts, Floats
from sfumato.models.base import TOLERANCE, Groups, Histogram, Verdict

GroupMeasure = Callable[[Histogram], Floats]

EXACT_VALUES = 1024
"""Up to this many values, a missing cell is tried as every one of them; beyond it, as
each value of its group, the rarest, the first and the last (kernels do the same)."""

CHUNK = 1 << 22
"""How many entries are expanded at a time."""


class Side(StrEnum):
    """On which side of its limit a measure must lie."""

    AT_LEAST = "at least"
    AT_MOST = "at most"
    BELOW = "below"


@dataclass(frozen=True, eq=False)
class Judgement:
    """Which groups of a table break a limit, and the worst value found."""

    broken: npt.NDArray[np.bool_]
    worst: float | None

    def verdict(self, **details: Any) -> Verdict:
        """The verdict of a model that measures this."""
        offending = int(self.broken.sum())
        return Verdict(
            offending == 0, self.worst, offending, details, broken=self.broken
        )


def verdict_on_limits(limits: Mapping[str, Judgement], **details: Any) -> Verdict:
    """The verdict of a model with several limits, by name; the first is measured."""
    first = next(iter(limits.values()))
    broken = np.logical_or.reduce([limit.broken for limit in limits.values()])
    verdict = Judgement(broken, first.worst).verdict(**details)
    return replace(
        verdict,
        broken_limits={
            name: limit.worst for name, limit in limits.items() if limit.broken.any()
        },
    )


def judge(
    groups: Groups,
    histograms: Sequence[Histogram],
    measure: GroupMeasure,
    *,
    side: Side,
    limit: float,
) -> Judgement:
    """Compare a measure with a limit in every group of every histogram."""
    broken = np.zeros(groups.count, dtype=bool)
    worst: list[float] = []
    for histogram in histograms:
        values = at_worst(histogram, measure, smallest=side is Side.AT_LEAST)
        broken |= lifted(histogram, breaks(values, side, limit), groups.count)
        if len(values):
            worst.append(float(values.min() if side is Side.AT_LEAST else values.max()))
    return Judgement(broken, _finite(worst, side))


def judge_sizes(sizes: Counts, *, k: float) -> Judgement:
    """Compare the sizes of groups with the smallest allowed."""
    smallest = float(sizes.min()) if len(sizes) else None
    return Judgement(sizes < k, smallest)


def breaks(values: Floats, side: Side, limit: float) -> npt.NDArray[np.bool_]:
    """Which values lie on the wrong side; values equal to the limit within the
    tolerance are equal to it."""
    if side is Side.AT_LEAST:
        return values < limit - TOLERANCE
    if side is Side.AT_MOST:
        return values > limit + TOLERANCE
    return values > limit - TOLERANCE


def lifted(
    histogram: Histogram, broken: npt.NDArray[np.bool_], count: int
) -> npt.NDArray[np.bool_]:
    """The table's groups in which a group of the histogram is broken."""
    if histogram.groups is None:
        return broken
    return np.bincount(histogram.groups[broken], minlength=count) > 0


def at_worst(histogram: Histogram, measure: GroupMeasure, *, smallest: bool) -> Floats:
    """The measure of each group, with its missing cells at their worst.

    All missing cells of a group are taken as one value, whichever is worst.
    """
    gone = _missing_counts(histogram)
    if not gone.any():
        return measure(histogram)
    values = np.full(histogram.count, np.inf if smallest else -np.inf)
    whole = np.flatnonzero(gone == 0)
    values[whole] = measure(_chosen(histogram, whole))
    keep = np.minimum if smallest else np.maximum
    for part, owners in _expanded(histogram, np.flatnonzero(gone > 0)):
        keep.at(values, owners, measure(part))
    return values


def _missing_counts(histogram: Histogram) -> Counts:
    """How many missing cells each group has, where they may be anything."""
    if not histogram.missing_any or histogram.axis.missing < 0:
        return np.zeros(histogram.count, dtype=np.int64)
    missing = histogram.codes == histogram.axis.missing
    return np.asarray(histogram.add_up(np.where(missing, histogram.counts, 0)))


def _chosen(histogram: Histogram, groups: Counts) -> Histogram:
    """The histogram of some groups, in the order given, repeats allowed."""
    lengths = np.diff(histogram.starts)[groups]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    shift = np.repeat(histogram.starts[groups] - starts[:-1], lengths)
    entries = np.arange(starts[-1]) + shift
    return replace(
        histogram,
        starts=starts,
        codes=histogram.codes[entries],
        counts=histogram.counts[entries],
        sizes=histogram.sizes[groups],
        groups=groups if histogram.groups is None else histogram.groups[groups],
        persons=None,
    )


def _expanded(
    histogram: Histogram, groups: Counts
) -> Iterator[tuple[Histogram, Counts]]:
    """Chunks of histograms with one group per group and candidate value."""
    lengths = np.diff(histogram.starts)
    everything = candidates(histogram)
    tries = lengths[groups] + len(everything)
    work = np.cumsum(tries * (lengths[groups] + 1))
    bounds = np.searchsorted(work, np.arange(CHUNK, work[-1] + CHUNK, CHUNK), "right")
    for part in np.split(groups, np.unique(bounds[bounds < len(groups)])):
        if len(part):
            yield _with_each_candidate(histogram, part, everything)


def candidates(histogram: Histogram) -> Counts:
    """The values a missing cell is tried as, besides those of its own group."""
    known = np.flatnonzero(histogram.reference > 0)
    if len(known) <= EXACT_VALUES:
        return known
    rarest = known[np.argmin(histogram.reference[known])]
    return np.asarray(np.unique([known[0], known[-1], rarest]), dtype=np.int64)


def _with_each_candidate(
    histogram: Histogram, groups: Counts, everything: Counts
) -> tuple[Histogram, Counts]:
    """Every group once per candidate, its missing cells counted there."""
    base = _chosen(histogram, groups)
    missing = histogram.axis.missing
    gone = base.add_up(np.where(base.codes == missing, base.counts, 0))
    turn, value = _pairs(base, everything, missing)
    copies = _chosen(base, turn)
    known = copies.codes != missing
    owners = np.concatenate([copies.owners[known], np.arange(len(turn))])
    codes = np.concatenate([copies.codes[known], value])
    counts = np.concatenate([copies.counts[known], gone[turn]])
    return _assembled(copies, owners, codes, counts), groups[turn]


def _pairs(base: Histogram, everything: Counts, missing: int) -> tuple[Counts, Counts]:
    """Group and candidate of every try: own values, and the given ones."""
    groups = np.arange(base.count)
    own = base.codes != missing
    turn = np.concatenate([base.owners[own], np.repeat(groups, len(everything))])
    value = np.concatenate([base.codes[own], np.tile(everything, base.count)])
    if len(turn) == 0:
        return groups, np.full(base.count, missing)
    return turn, value


def _assembled(
    like: Histogram, owners: Counts, codes: Counts, counts: Counts
) -> Histogram:
    """A histogram from entries in any order; equal ones are added up."""
    size = np.int64(like.axis.size)
    keys, inverse = np.unique(owners * size + codes, return_inverse=True)
    summed = np.bincount(inverse, weights=counts).astype(np.int64)
    starts = np.searchsorted(keys, np.arange(like.count + 1) * size)
    return replace(
        like, starts=starts, codes=(keys % size).astype(np.int32), counts=summed
    )


def _finite(worst: Sequence[float], side: Side) -> float | None:
    """The worst of some values; None where there is none or it has no bound."""
    if not worst:
        return None
    value = min(worst) if side is Side.AT_LEAST else max(worst)
    return value if math.isfinite(value) else None
