"""What models measure in the groups of a histogram, all groups at once.

Every function takes a histogram and returns one number per group of it. All work on
the sparse entries: nothing allocates groups × values.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Counts, Floats
from sfumato.hierarchies.axis import Axis
from sfumato.models.base import Histogram


def distinct(histogram: Histogram) -> Floats:
    """How many values occur."""
    return np.diff(histogram.starts).astype(np.float64)


def entropy(histogram: Histogram) -> Floats:
    """Entropy of the values, in natural units."""
    counts = histogram.counts
    spread = histogram.add_up(counts * np.log(counts))
    return np.log(histogram.totals) - spread / histogram.totals


def commonest_share(histogram: Histogram) -> Floats:
    """The commonest value's share of the rows, or persons."""
    return histogram.largest(histogram.counts) / histogram.sizes


def recursive_ratio(
    histogram: Histogram, *, l: int, exempt: tuple[str, ...] = ()
) -> Floats:
    """The commonest value not exempt, over what is left of the others.

    The l − 2 commonest other values are left out, as an attacker might rule them
    out. The group is recursive (c, l)-diverse for every c above this ratio; it is
    infinite where nothing is left, zero where only exempt values occur.
    """
    counts = histogram.counts
    exempted = flags(histogram.axis, exempt)[histogram.codes]
    leader = histogram.largest(np.where(exempted, 0, counts))
    owners, place = _places(histogram, exempted)
    # Place 0 is the leader (if any value is not exempt); then come all others.
    others = counts * (place >= np.where(leader[owners] > 0, l - 1, l - 2))
    rest = histogram.add_up(others)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(leader == 0, 0.0, leader / rest)


def _places(
    histogram: Histogram, exempted: npt.NDArray[np.bool_]
) -> tuple[Counts, Counts]:
    """Each entry's owner, and its place by count, the leader first.

    The leader of a group is its commonest entry that is not exempt.
    """
    owners = histogram.owners
    by_count = np.lexsort((-histogram.counts, exempted, owners))
    leader = np.zeros(len(owners), dtype=bool)
    leader[by_count[histogram.starts[:-1]]] = True
    leader &= ~exempted
    order = np.lexsort((-histogram.counts, ~leader, owners))
    place = np.empty(len(owners), dtype=np.int64)
    place[order] = np.arange(len(owners)) - histogram.starts[owners]
    return owners, place


def rarest_required(histogram: Histogram, *, required: tuple[str, ...]) -> Floats:
    """The smallest share among the required values; 0 where one does not occur."""
    lowest = np.ones(histogram.count)
    for label in required:
        marked = flags(histogram.axis, (label,))[histogram.codes]
        found = histogram.add_up(np.where(marked, histogram.counts, 0))
        lowest = np.minimum(lowest, found / histogram.sizes)
    return lowest


def largest_excess(histogram: Histogram) -> Floats:
    """The largest (share − reference) / reference over the values."""
    return histogram.largest(_ratios(histogram)) - 1.0


def excess_over_information(histogram: Histogram) -> Floats:
    """The largest of (share − reference) / reference + ln(reference).

    Enhanced β-likeness needs it to be at most 0: no value may gain more than −ln of
    its reference.
    """
    reference = histogram.reference[histogram.codes]
    with np.errstate(divide="ignore"):
        return histogram.largest(_ratios(histogram) - 1.0 + np.log(reference))


def largest_log_ratio(histogram: Histogram) -> Floats:
    """The largest |ln(share / reference)| over the values that occur."""
    with np.errstate(divide="ignore"):
        return histogram.largest(np.abs(np.log(_ratios(histogram))))


def absent(histogram: Histogram) -> Floats:
    """How many values of the reference do not occur."""
    expected = histogram.reference > 0
    found = histogram.add_up(expected[histogram.codes].astype(np.int64))
    return (int(expected.sum()) - found).astype(np.float64)


def flags(axis: Axis, labels: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Which codes of an axis carry one of the labels."""
    wanted = set(labels)
    return np.array([label in wanted for label in axis.labels], dtype=bool)


def _ratios(histogram: Histogram) -> Floats:
    with np.errstate(divide="ignore"):
        ratios: Floats = histogram.shares / histogram.reference[histogram.codes]
    return ratios
