"""Whether a whole table can meet a limit, with some rows left out.

To get the most even distribution, cut the commonest values to one level: no other
choice of equally many rows is more even. Limits that ask for evenness can therefore be
judged by trying levels. A missing value counts as a value of its own here, which is
never worse than the worst case over all values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.data.arrays import Counts, Flags
from sfumato.models.base import Feasibility, Groups, Histogram, SensitiveModel

Test = Callable[[Counts, int], bool]
Score = Callable[[Counts, int], float]


@dataclass(frozen=True, eq=False, kw_only=True)
class Limit:
    """A limit on the counts of a column's values, in words and as tests.

    Tests also get the most rows, or persons, that can be left: with rows it is the
    sum of the counts, with persons who have several values it is less.
    """

    test: Test
    """Whether counts meet it."""
    score: Score
    """The value of the parameter that counts would just meet."""
    demand: str
    """What it asks, with its number: "no value above 0.3"."""
    parameter: str
    """The parameter to change."""
    at_least: bool
    """Whether the parameter must be lowered to be met, rather than raised."""
    cut: Flags | None = None
    """Which values it helps to cut; None: all."""
    partial: bool = False
    """Whether cutting only some of the commonest values helps too."""
    strict: bool = False
    """Whether the parameter must go beyond the score, rather than reach it."""


@dataclass(frozen=True, eq=False)
class Removal:
    """The fewest rows to leave out, per value; or that no number suffices."""

    possible: bool
    lost: Counts

    @property
    def rows(self) -> int:
        return int(self.lost.sum())


def limited(
    model: SensitiveModel,
    whole: Groups,
    limit_on: Callable[[Histogram], Limit],
    *,
    removable: int,
    least: int = 1,
    alone: bool = True,
) -> Feasibility:
    """Judge whether every column of a model can meet its limit.

    Leaving out rows helps only if at least this many remain. The answer is
    about the column that is furthest from its limit, and its hint helps all of them.
    `alone` says that the model has no other limit that leaving out rows may break.
    """
    views = model.views(whole.sensitive)
    limits = [limit_on(whole.histograms[view]) for view in views]
    found = [
        _on_column(
            f"{model.name} on '{view.column}'",
            view.column,
            whole.histograms[view],
            limit,
            removable,
            rows=int(whole.rows.sum()),
            least=least,
            alone=alone and judged_alone(model, whole),
        )
        for view, limit in zip(views, limits, strict=True)
    ]
    ranked = _worst_first(found, at_least=any(limit.at_least for limit in limits))
    return replace(together(ranked), level=model.level)


def rows_to_count_on(model: SensitiveModel, whole: Groups, removable: int) -> int:
    """How many rows left out a hint may count on; see `judged_alone`."""
    return removable if judged_alone(model, whole) else 0


def judged_alone(model: SensitiveModel, whole: Groups) -> bool:
    """Whether the counts of one column tell which rows to leave out, and what helps.

    Several columns may each need other rows. Missing values that can be any value, and
    persons who can be in several groups, make counts a bound that may be out of reach.
    """
    histograms = model.histograms(whole)
    rows = int(whole.rows.sum())
    bounded = any(_opened(h) or rows > int(h.sizes.sum()) for h in histograms)
    return len(model.views(whole.sensitive)) == 1 and not bounded


def _opened(histogram: Histogram) -> bool:
    """Whether it has missing values that may be any value."""
    missing = histogram.codes == histogram.axis.missing
    return histogram.missing_any and bool(missing.any())


def within_reach(model: SensitiveModel, whole: Groups) -> bool:
    """Whether a hint may name a model: the whole table meets it, where counts may not
    tell."""
    return judged_alone(model, whole) or model.verify(whole).holds


def _worst_first(found: list[Feasibility], *, at_least: bool) -> list[Feasibility]:
    def place(one: Feasibility) -> float:
        if one.best is None:
            return -math.inf
        return one.best if at_least else -one.best

    return sorted(found, key=place)


def together(found: Iterable[Feasibility]) -> Feasibility:
    """Combine answers: the first that is infeasible, or all rows to remove."""
    listed = list(found)
    for one in listed:
        if not one.feasible:
            return one
    remove: dict[tuple[str, int], int] = {}
    for one in listed:
        for key, rows in one.remove.items():
            remove[key] = max(rows, remove.get(key, 0))
    first = listed[0]
    level = max(one.level for one in listed)
    return replace(first, remove=remove, level=level, other_ways=())


def _on_column(
    who: str,
    column: str,
    histogram: Histogram,
    limit: Limit,
    removable: int,
    *,
    rows: int,
    least: int,
    alone: bool,
) -> Feasibility:
    counts = whole_counts(histogram)
    sizes = [int(size) for size in histogram.sizes]
    needed, removals = _needed(counts, sizes, limit)
    reachable = needed is not None and needed <= removable
    spare = rows - int(histogram.counts.sum())
    persons = rows > sum(sizes)
    at_best = needed
    if persons:
        # Persons may be in several groups, and count in each of them.
        counts, sizes = [raised(c, spare) for c in counts], [rows] * len(sizes)
        at_best, _ = _needed(counts, sizes, limit)
    best = _best(counts, sizes, limit, removable)
    helps = at_best is not None and rows - at_best >= least and not persons
    ways = _other_ways(at_best if helps else None, rows, alone=alone)
    within_reach = best if alone else _best(counts, sizes, limit, 0)
    return Feasibility(
        feasible=at_best is not None and at_best <= removable,
        best=best,
        parameter=limit.parameter,
        message=_message(who, limit, best, removable, at_best),
        hint=sentence([*_change(limit, within_reach), *ways]),
        other_ways=ways,
        remove=_plan(column, removals) if reachable else {},
    )


def _needed(
    parts: list[Counts], sizes: list[int], limit: Limit
) -> tuple[int | None, list[Removal]]:
    """The fewest rows to leave out of all parts, and of each."""
    removals = [
        fewest_removed(counts, limit, size=size)
        for counts, size in zip(parts, sizes, strict=True)
    ]
    if len(parts) == 1:
        return (removals[0].rows if removals[0].possible else None), removals
    return _cheapest(parts, removals), removals


def raised(counts: Counts, spare: int) -> Counts:
    """Return the most even counts after adding this many to values that occur."""
    occurring = np.flatnonzero(counts)
    if not spare or not len(occurring):
        return counts
    low, high = 0, int(counts.max()) + spare
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.maximum(middle - counts[occurring], 0).sum()) <= spare:
            low = middle
        else:
            high = middle - 1
    return np.where(counts > 0, np.maximum(counts, low), 0)


def _cheapest(parts: list[Counts], removals: list[Removal]) -> int | None:
    """Choose the rows to leave out if each part is repaired, or left out whole."""
    costs = [
        min(removal.rows, int(counts.sum())) if removal.possible else int(counts.sum())
        for counts, removal in zip(parts, removals, strict=True)
    ]
    everything = sum(int(counts.sum()) for counts in parts)
    return sum(costs) if sum(costs) < everything else None


def _best(
    parts: list[Counts], sizes: list[int], limit: Limit, removable: int
) -> float | None:
    """Return the best value within reach; for several parts, that of the worst."""
    scores = [
        _best_of(counts, size, limit, removable)
        for counts, size in zip(parts, sizes, strict=True)
    ]
    value = min(scores) if limit.at_least else max(scores)
    return value if math.isfinite(value) else None


def _best_of(counts: Counts, size: int, limit: Limit, removable: int) -> float:
    choose = max if limit.at_least else min
    tries = evened(counts, removable, cut=limit.cut)
    return choose(
        limit.score(left, min(size, int(left.sum())))
        for left in (counts, *tries)
        if left.sum() > 0
    )


def _message(
    who: str, limit: Limit, best: float | None, removable: int, needed: int | None
) -> str:
    reach = "no value of it can be met" if best is None else f"the best is {best:,.6g}"
    left_out = f" with {removable:,} rows left out" if removable else ""
    need = "" if not needed else f" (it takes {needed:,})"
    return f"{who} needs {limit.demand}; {reach}{left_out}{need}."


def _change(limit: Limit, best: float | None) -> list[str]:
    if best is None:
        return []
    verb = "lower" if limit.at_least else "raise"
    value = nearest(best, at_least=limit.at_least, strict=limit.strict)
    return [f"{verb} {limit.parameter} to {value}"]


def _other_ways(needed: int | None, rows: int, *, alone: bool) -> tuple[str, ...]:
    another = "name another sensitive column in 'on'"
    if not needed:
        return (another,)
    if not alone:
        return ("allow more rows to be left out (publish.max_suppressed)", another)
    share = math.ceil(10**4 * needed / rows) / 10**4
    setting = f"publish.max_suppressed = {short_number(share)}"
    return (f"allow {needed:,} rows to be left out ({setting})", another)


def sentence(ways: Sequence[str]) -> str:
    """Join ways out into one sentence."""
    text = ", or ".join(ways)
    return f"{text[0].upper()}{text[1:]}."


def nearest(value: float, *, at_least: bool, strict: bool = False) -> str:
    """Return a short number on the feasible side of a bound."""
    scale = 10**4
    if at_least:
        return short_number(math.floor(value * scale + 1e-6) / scale)
    rounded = math.ceil(value * scale - 1e-6) / scale
    if strict and rounded <= value + 1e-8:
        rounded += 1 / scale
    return short_number(rounded)


def short_number(value: float) -> str:
    """Format a number with up to four decimals."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _plan(column: str, removals: list[Removal]) -> Mapping[tuple[str, int], int]:
    lost = np.sum([removal.lost for removal in removals], axis=0)
    return {(column, int(code)): int(lost[code]) for code in np.flatnonzero(lost)}


def fewest_removed(counts: Counts, limit: Limit, *, size: int) -> Removal:
    """Cut the values to the highest level at which the limit holds.

    A limit that holds at some level holds at every lower one, as long as rows remain.
    """

    def holds(left: Counts) -> bool:
        rows = int(left.sum())
        return rows > 0 and limit.test(left, min(size, rows))

    cut = np.ones(len(counts), dtype=bool) if limit.cut is None else limit.cut
    low, high = 0, int(counts[cut].max(initial=0))
    if holds(counts):
        return Removal(True, np.zeros_like(counts))
    while high - low > 1:
        middle = (low + high) // 2
        if holds(_leveled(counts, cut, middle)):
            low = middle
        else:
            high = middle
    left = _leveled(counts, cut, low)
    if not holds(left):
        return Removal(False, np.zeros_like(counts))
    if limit.partial:
        left = _partly(_leveled(counts, cut, high), left, holds)
    return Removal(True, counts - left)


def _partly(above: Counts, below: Counts, holds: Callable[[Counts], bool]) -> Counts:
    """Cut as few values as possible from one level to the next to meet the limit."""
    tied = np.flatnonzero(above > below)
    low, high = 0, len(tied)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(_cut_some(above, tied[:middle])):
            high = middle
        else:
            low = middle
    return _cut_some(above, tied[:high])


def _cut_some(counts: Counts, codes: Counts) -> Counts:
    left = counts.copy()
    left[codes] -= 1
    return left


def evened(
    counts: Counts, removable: int, *, cut: Flags | None = None
) -> tuple[Counts, Counts]:
    """The most even counts that leaving out at most `removable` rows can give.

    First cut to one level; then take the remaining removable rows from as many of the
    commonest values.
    """
    adjustable = np.ones(len(counts), dtype=bool) if cut is None else cut
    low, high = 0, int(counts[adjustable].max(initial=0))
    while low < high:
        middle = (low + high) // 2
        if int((counts - _leveled(counts, adjustable, middle)).sum()) <= removable:
            high = middle
        else:
            low = middle + 1
    level = _leveled(counts, adjustable, low)
    spare = removable - int((counts - level).sum())
    tied = np.flatnonzero(adjustable & (level == low) & (level > 0))
    return level, _cut_some(level, tied[:spare])


def _leveled(counts: Counts, cut: Flags, level: int) -> Counts:
    return np.where(cut, np.minimum(counts, level), counts)


def whole_counts(histogram: Histogram) -> list[Counts]:
    """Dense counts of each group of a whole table (one, unless others are known)."""
    result = []
    for start, end in zip(histogram.starts[:-1], histogram.starts[1:], strict=True):
        counts = np.zeros(histogram.axis.size, dtype=np.int64)
        counts[histogram.codes[start:end]] = histogram.counts[start:end]
        result.append(counts)
    return result


def rows_left(model: SensitiveModel, whole: Groups, found: Feasibility) -> int:
    """The most rows, or persons, left once the rows to be left out are gone.

    A person who loses one of several values is still there.
    """
    entries = min(int(h.counts.sum()) for h in model.histograms(whole))
    return min(int(whole.sizes.sum()), entries - sum(found.remove.values()))


def enough_rows(name: str, *, needed: int, found: int, parameter: str) -> Feasibility:
    """Whether a table has the rows, or persons, that its smallest group needs."""
    return Feasibility(
        feasible=found >= needed,
        best=float(found),
        parameter=parameter,
        message=f"{name} needs groups of at least {needed:,}; the table has {found:,}.",
        hint=f"Lower {parameter} to {found:,} or less, or add rows.",
        other_ways=("add rows",),
    )
