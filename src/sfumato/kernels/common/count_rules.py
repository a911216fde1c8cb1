"""Judge rules on the counts of one group's values, compiled.

All take ascending `codes[:n]` with `counts[:n]`; zero counts are skipped. Parts of
flat arrays are given as array and start: slices would cost time to compile.

Paper: entropy and recursive (c, l)-diversity, with values that may be disclosed and
values that must occur, as in Machanavajjhala et al. 2007; β-likeness as in Cao and
Karras 2012; δ-disclosure as in Brickell and Shmatikov 2008.
Cost: O(n) for n entries of the histogram; O(n × l) for recursive diversity, O(n × w)
for w required values; no memory.
Invariant: zero counts change nothing, so that a dense histogram is judged like a
sparse one; a limit that is met exactly is met, to within `TOLERANCE`, as in the models.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Counts
from sfumato.kernels.compilation.decorators import inner_numpy

TOLERANCE = 1e-9
"""The models' tolerance: a limit that is met exactly is met."""


@inner_numpy
def distinct(counts: Counts, n: int) -> int:
    """Count the values that occur."""
    found = 0
    for i in range(n):
        if counts[i] > 0:
            found += 1
    return found


@inner_numpy
def total_of(counts: Counts, n: int) -> int:
    """Sum the counts."""
    total = 0
    for i in range(n):
        total += counts[i]
    return total


@inner_numpy
def largest_of(counts: Counts, n: int) -> int:
    """Return the largest count."""
    largest = 0
    for i in range(n):
        if counts[i] > largest:
            largest = counts[i]
    return largest


@inner_numpy
def entropy(counts: Counts, n: int) -> float:
    """Return the entropy of the values, in natural units."""
    total = 0
    spread = 0.0
    for i in range(n):
        if counts[i] > 0:
            total += counts[i]
            spread += counts[i] * np.log(counts[i])
    # −Σ p ln p with p = count / total, rearranged: one logarithm per value, no division.
    return np.log(total) - spread / total


@inner_numpy
def recursive_ratio(
    codes: Codes, counts: Counts, n: int, l: int, whole: Counts, marks: int
) -> float:
    """Divide the commonest value not exempt by the tail of the others.

    The tail is what is left of the other values without their l − 2 commonest.
    """
    leader = -1
    for i in range(n):
        exempt = marks >= 0 and whole[marks + codes[i]] > 0
        if counts[i] > 0 and not exempt:
            if leader < 0 or counts[i] > counts[leader]:
                leader = i
    if leader < 0:
        return 0.0
    rest = total_of(counts, n) - counts[leader] - _commonest(counts, n, leader, l - 2)
    # No tail at all: the commonest value is certain, whatever c is.
    return counts[leader] / rest if rest > 0 else np.inf


@inner_numpy
def _commonest(counts: Counts, n: int, leader: int, number: int) -> int:
    """Sum the `number` largest counts, entry `leader` left aside.

    Walks down from count to count, so that nothing needs to be sorted.
    """
    summed = 0
    bound = np.iinfo(np.int64).max
    while number > 0:
        best, ties = 0, 0
        for i in range(n):
            if i != leader and best <= counts[i] < bound:
                ties = ties + 1 if counts[i] == best else 1
                best = counts[i]
        if best == 0:
            return summed
        summed += best * min(ties, number)
        number -= ties
        bound = best
    return summed


@inner_numpy
def rarest_required(
    codes: Codes, counts: Counts, n: int, size: int, whole: Counts, marks: int
) -> float:
    """Return the smallest share among the required values."""
    lowest = 1.0
    for wanted in range(whole[marks]):
        found = 0
        for i in range(n):
            if codes[i] == whole[marks + 1 + wanted]:
                found = counts[i]
        lowest = min(lowest, found / size)
    return lowest


@inner_numpy
def likeness_ok(
    codes: Codes,
    counts: Counts,
    n: int,
    reference: npt.NDArray[np.float64],
    start: int,
    beta: float,
    enhanced: bool,
) -> bool:
    """Tell whether no share exceeds its reference by more than its limit."""
    total = total_of(counts, n)
    for i in range(n):
        if counts[i] > 0:
            expected = reference[start + codes[i]]
            # A value that the reference lacks has an unbounded gain.
            if expected <= 0.0:
                return False
            excess = counts[i] / total / expected - 1.0
            if excess > beta + TOLERANCE:
                return False
            if enhanced and excess + np.log(expected) > TOLERANCE:
                return False
    return True


@inner_numpy
def disclosure_ok(
    codes: Codes,
    counts: Counts,
    n: int,
    reference: npt.NDArray[np.float64],
    start: int,
    domain: int,
    delta: float,
) -> bool:
    """Tell whether every value of the reference occurs about as often as there."""
    total = total_of(counts, n)
    found = 0
    for i in range(n):
        if counts[i] > 0:
            expected = reference[start + codes[i]]
            if expected <= 0.0:
                return False
            found += 1
            if abs(np.log(counts[i] / total / expected)) > delta - TOLERANCE:
                return False
    return found == domain
