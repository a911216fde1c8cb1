"""Judge both sides of a cut by the rules, without touching rows per candidate.

`label_views` numbers, once per group, the values of each view that occur in it, so
that histograms are as wide as the group has values and no wider. A candidate's left
histogram is filled (or moved along) from labels; the right one is what is left over.

Paper: the test for an allowable cut (Mondrian, LeFevre et al. 2006, section 4),
asked of any rule rather than of k alone.
Cost: O(r × d) per group and view to number values of r records; per candidate O(v) for
v values of the group, plus the records that changed sides.
Invariant: left + right = total in every histogram; codes ascend; what is judged are
exactly the rows of the two sides.
"""

from __future__ import annotations

from sfumato.data.arrays import Bytes, Codes, Ints
from sfumato.kernels.common.group_rules import asks_for_everybody, group_ok
from sfumato.kernels.common.packed_records import NUMBER, TAG
from sfumato.kernels.common.sorting import LOWER, POSITION, sort_keys
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.partition.cut_workspace import (
    KEYS,
    MASK,
    SHIFT,
    SIDE,
    SPARE,
    WORD,
    CutRules,
    CutSettings,
    CutWorkspace,
    weight_of,
)
from sfumato.kernels.partition.population_counts import people_beside


@inner
def samples_end(planes: Ints, samples: int, low: int, high: int) -> int:
    """Find where the table's own records end; the population's follow them.

    Splitting is stable, so that this order holds in every range: a binary search does.
    """
    tag = len(planes) - 1
    if planes.shape[1] == samples:
        return high
    while low < high:
        middle = (low + high) // 2
        if planes[tag, middle] & NUMBER < samples:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def label_views(
    fields: Ints,
    axes: int,
    planes: Ints,
    low: int,
    end: int,
    workspace: CutWorkspace,
    judge: CutRules,
) -> None:
    """Number the values of each view in a group, ascending, and count them."""
    keys = workspace.wide[KEYS]
    for v in range(judge.views):
        shift = fields[SHIFT, axes + v]
        mask = fields[MASK, axes + v]
        word = fields[WORD, axes + v]
        for i in range(end - low):
            keys[i] = ((planes[word, low + i] >> shift) & mask) << LOWER | i
        sort_keys(keys, workspace.wide[SPARE], end - low, mask)
        judge.lengths[v] = number_values(
            keys,
            planes[len(planes) - 1, low:end],
            judge.labels[v],
            judge.codes[v],
            judge.total[v],
        )


@inner
def number_values(
    keys: Ints, tags: Ints, labels: Codes, codes: Codes, total: Ints
) -> int:
    """Number the distinct codes of sorted keys; return how many there are."""
    count = 0
    for i in range(len(tags)):
        code = keys[i] >> LOWER
        if count == 0 or codes[count - 1] != code:
            codes[count] = code
            total[count] = 0
            count += 1
        at = keys[i] & POSITION
        labels[at] = count - 1
        total[count - 1] += tags[at] >> TAG
    return count


@inner
def clear_left(judge: CutRules) -> None:
    """Empty the left histograms."""
    for v in range(judge.views):
        for label in range(judge.lengths[v]):
            judge.left[v, label] = 0


@inner
def fill_left(
    judge: CutRules, order: Codes, weights: Ints, first: int, last: int
) -> None:
    """Count the records at places first … last − 1 of a line to the left."""
    for v in range(judge.views):
        labels = judge.labels[v]
        left = judge.left[v]
        for i in range(first, last):
            left[labels[order[i]]] += weights[i]


@inner
def left_by_side(
    judge: CutRules, planes: Ints, low: int, end: int, flags: Bytes
) -> None:
    """Fill the left histograms from the side flags."""
    tag = len(planes) - 1
    clear_left(judge)
    for v in range(judge.views):
        labels = judge.labels[v]
        left = judge.left[v]
        for i in range(end - low):
            if flags[SIDE, i]:
                left[labels[i]] += planes[tag, low + i] >> TAG


@inner
def both_ok(
    settings: CutSettings,
    planes: Ints,
    low: int,
    end: int,
    high: int,
    left: int,
    n: int,
    flags: Bytes,
    judge: CutRules,
) -> bool:
    """Tell whether the left side (`left` of n rows) and the right may both be groups.

    The left histograms are filled; with a population the sides are set as well.
    """
    people = people_beside(settings, planes, low, end, high, 1, flags, judge)
    if not group_ok(left, people, judge.codes, judge.left, judge.lengths, judge.rules):
        return False
    return rest_ok(settings, planes, low, end, high, n - left, flags, judge)


@inner
def sides_ok(
    settings: CutSettings,
    planes: Ints,
    low: int,
    end: int,
    high: int,
    left: int,
    n: int,
    flags: Bytes,
    judge: CutRules,
) -> bool:
    """Tell whether a group may be cut so: both sides are allowed, nobody falls out."""
    if not both_ok(settings, planes, low, end, high, left, n, flags, judge):
        return False
    if high == end or not asks_for_everybody(judge.rules):
        return True
    people = people_beside(settings, planes, low, end, high, 1, flags, judge)
    people += people_beside(settings, planes, low, end, high, 0, flags, judge)
    return people == weight_of(planes, end, high)


@inner
def rest_ok(
    settings: CutSettings,
    planes: Ints,
    low: int,
    end: int,
    high: int,
    size: int,
    flags: Bytes,
    judge: CutRules,
) -> bool:
    """Tell whether the right side, of `size` rows, may be a group."""
    for v in range(judge.views):
        for label in range(judge.lengths[v]):
            judge.right[v, label] = judge.total[v, label] - judge.left[v, label]
    people = people_beside(settings, planes, low, end, high, 0, flags, judge)
    return group_ok(size, people, judge.codes, judge.right, judge.lengths, judge.rules)


@both
def whole_ok(
    settings: CutSettings, planes: Ints, workspace: CutWorkspace, judge: CutRules
) -> bool:
    """Tell whether all records together may be a group."""
    high = planes.shape[1]
    end = judge.samples
    size = weight_of(planes, 0, end)
    for i in range(high):
        workspace.flags[SIDE, i] = 0
    label_views(settings.fields, settings.axes, planes, 0, end, workspace, judge)
    clear_left(judge)
    return rest_ok(settings, planes, 0, end, high, size, workspace.flags, judge)
