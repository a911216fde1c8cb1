"""Simulatable partition: cuts that tell nothing about who has which sensitive value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.data.arrays import Codes, Flags, Floats, Ints
from sfumato.data.grouping import Grouping
from sfumato.data.rules import Rule
from sfumato.errors import RefusedError
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.models.base import Groups, Histogram, OutputModel


@dataclass(frozen=True, kw_only=True)
class Simulatable(Algorithm):
    """Median cuts, made only where every arrangement of the values would allow them.

    Guarantee: every group meets every requirement; no row is left out by the search.
    Exchanging sensitive values within published groups leaves the groups as they are, so
    that knowing the algorithm tells nothing about who has which value: the minimality
    attack gains nothing.
    Method: like Mondrian, each group is cut in two at the median of a column. A cut is
    made only if the smaller half would meet the requirements *whichever* rows fell into
    it, the commonest values first. How often each value occurs in the group decides
    that, and the published groups show it. Among the columns, the one whose cut lowers
    NCP most is taken. Departs from Mondrian, which looks at the halves themselves.
    Cost: a sort of the rows per column and level of cuts.
    Limits: groups stay larger where few values are common; with two values, one of which
    most rows have, nothing can be cut. Serves requirements on sizes, distinct values,
    entropy and shares, without a subject column. If rows must be left out before the
    search, the choice depends on their values.
    Reference: LeFevre et al. 2006 for the cuts; Kenthapadi, Mishra and Nissim 2005 for
    answers that an attacker can simulate; Wong et al. 2007 for the attack.
    """

    name: ClassVar[str] = "simulatable"
    sentence: ClassVar[str] = (
        "Cuts only where any arrangement of the sensitive values would allow it."
    )
    counts_persons: ClassVar[bool] = False

    def serves(self, rule: Rule) -> bool:
        """Whether a rule asks how often values occur, whichever values they are."""
        traits = rule.traits
        special = traits.needs_axis or traits.needs_population or rule.exempt
        joint = rule.view is not None and rule.view.others_known
        return not (special or traits.compares_with_table or joint)

    def check(self, request: Request) -> None:
        """Refuse what cannot be judged for every arrangement of values."""
        names = tuple(request.sensitive)
        for model in request.models:
            known = all(map(self.serves, model.rules(names, subjects=False)))
            if not (known and model.judges_each_group):
                raise RefusedError(
                    f"'{self.name}' knows sizes, distinct values, entropy and shares; "
                    f"{model.name} asks for more.",
                    hint="Take 'mondrian', or require l-diversity or theta-diversity.",
                )
        if request.subject is not None:
            raise RefusedError(
                f"'{self.name}' counts rows; the policy has a subject column, so that "
                "persons are counted.",
                hint="Take 'mondrian', or drop the subject column.",
            )
        if self.refine:
            raise RefusedError(
                f"'{self.name}' cannot be refined: refinement looks at sensitive values.",
                hint="Leave out 'refine'.",
            )
        if request.missing_any and _missing_sensitive(request):
            raise RefusedError(
                f"'{self.name}' cannot let a missing sensitive value stand for any value "
                '(data.missing_as = "any").',
                hint='Set data.missing_as to "value".',
            )

    def search(self, request: Request) -> Solution:
        """Cut all groups of a level at once, until no group can be cut."""
        group = np.zeros(request.rows, dtype=np.int64)
        whole = np.zeros(1, dtype=np.bool_)
        levels = 0
        while request.rows and not whole.all():
            request.progress("cutting groups", float(whole.mean()))
            group, whole = _cut_once(request, group, whole)
            levels += 1
        grouping = Grouping.renumbered(group)
        facts = {"groups": grouping.count, "rows_suppressed": 0, "levels": levels}
        return Solution(grouping=grouping, facts=facts)


def _missing_sensitive(request: Request) -> bool:
    return any(coded.axis.missing >= 0 for coded in request.sensitive.values())


def _cut_once(request: Request, group: Ints, whole: Flags) -> tuple[Ints, Flags]:
    """Cut every group that can be cut; returns groups, and which are final."""
    least = np.where(whole, np.iinfo(np.int64).max, _least_parts(request, group))
    best = np.full(len(whole), -np.inf)
    upper = np.zeros(len(group), dtype=np.bool_)
    for coded in request.quasi:
        cut = _median_cuts(coded, group)
        better = (cut.smaller >= least) & (cut.gain > best)
        best = np.where(better, cut.gain, best)
        upper = np.where(better[group], coded.codes > cut.last[group], upper)
    done = np.isneginf(best)
    # A group keeps its number, and its upper half gets the next one.
    _, number = np.unique(group * 2 + upper, return_inverse=True)
    first = np.zeros(int(number.max()) + 1, dtype=np.int64)
    first[number] = group
    return number.ravel().astype(np.int64), done[first]


@dataclass(frozen=True, eq=False)
class _Cuts:
    """The cut of each group on one column that comes nearest to halving it."""

    last: Codes
    """The highest code of the lower half."""
    smaller: Ints
    """Rows of the smaller half; 0 where all rows have the same value."""
    gain: Floats
    """By how much NCP, summed over rows and weighted, would fall on this column."""


def _median_cuts(coded: CodedAxis, group: Ints) -> _Cuts:
    """Find the most even cut between two values, in every group."""
    order = np.lexsort((coded.codes, group))
    codes, owner = coded.codes[order], group[order]
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    size = np.diff(np.append(start, len(owner)))
    fresh = np.diff(codes, prepend=-1) != 0
    fresh[start] = False
    before = np.arange(len(codes)) - start[owner]
    uneven = np.where(fresh, np.abs(2 * before - size[owner]), len(codes) + 1)
    left = before[_first_least(uneven, start)]
    there = np.minimum.reduceat(uneven, start) <= len(codes)
    left = np.where(there, left, 0)
    parts = (start, start + np.maximum(left, 1) - 1, start + left, start + size - 1)
    ends = [codes[part] for part in parts]
    kinds = np.add.reduceat(fresh.astype(np.int64), start) + 1
    values = np.cumsum(fresh)
    lower = values[parts[1]] - values[start] + 1
    cost = size * _ncp(coded.axis, ends[0], ends[3], kinds)
    cost -= left * _ncp(coded.axis, ends[0], ends[1], lower)
    cost -= (size - left) * _ncp(coded.axis, ends[2], ends[3], kinds - lower)
    smaller = np.where(there, np.minimum(left, size - left), 0)
    return _Cuts(ends[1], smaller, coded.axis.weight * cost)


def _first_least(values: Ints, start: Ints) -> Ints:
    """The place of the smallest value of each run, the first one of ties."""
    owner = np.repeat(np.arange(len(start)), np.diff(np.append(start, len(values))))
    return np.asarray(np.lexsort((values, owner))[start])


def _ncp(axis: Axis, low: Codes, high: Codes, values: Ints) -> Floats:
    """NCP of cells that cover some codes, from the lowest to the highest."""
    if axis.shape is Shape.TREE:
        return axis.node_ncp[axis.covering(low, high)]
    if axis.shape is Shape.FREE:
        return axis.interval_ncp(low, high)
    return axis.set_ncp(values)


def _least_parts(request: Request, group: Ints) -> Ints:
    """How many rows of each group meet every requirement, whichever rows they are."""
    count = int(group.max()) + 1
    groups = request.groups(Grouping(group.astype(np.int32), count))
    low, high = np.zeros(count, dtype=np.int64), groups.rows.copy()
    while (high - low > 1).any():
        middle = (low + high + 1) // 2
        open_ = high - low > 1
        fails = _breaks(request.models, _worst_rows(groups, np.maximum(middle, 1)))
        low = np.where(open_ & fails, middle, low)
        high = np.where(open_ & ~fails, middle, high)
    return high


def _breaks(models: tuple[OutputModel, ...], groups: Groups) -> Flags:
    """Which groups break a requirement."""
    broken = np.zeros(groups.count, dtype=np.bool_)
    for model in models:
        verdict = model.verify(groups)
        broken |= not verdict.holds if verdict.broken is None else verdict.broken
    return broken


def _worst_rows(groups: Groups, rows: Ints) -> Groups:
    """So many rows of each group, with its commonest values before all others."""
    histograms = {v: _commonest(h, rows) for v, h in groups.histograms.items()}
    return replace(groups, sizes=rows, rows=rows, histograms=histograms, total=None)


def _commonest(histogram: Histogram, rows: Ints) -> Histogram:
    """The histogram of the rows with the commonest values; values are renamed."""
    owner = histogram.owners
    order = np.lexsort((-histogram.counts, owner))
    counts, starts = histogram.counts[order], histogram.starts
    before = np.cumsum(counts) - counts
    before -= before[starts[:-1]][owner]
    filled = np.clip(rows[owner] - before, 0, counts)
    kept = filled > 0
    rank = np.arange(len(owner)) - starts[:-1][owner]
    number = np.bincount(owner[kept], minlength=histogram.count)
    return replace(
        histogram,
        starts=np.concatenate([[0], np.cumsum(number)]),
        codes=rank[kept].astype(np.int32),
        counts=filled[kept],
        sizes=rows,
        persons=None,
    )
