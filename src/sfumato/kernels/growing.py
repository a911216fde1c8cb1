"""Groups that grow by their nearest unit: k-member and threshold-greedy clustering."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.data.rules import RuleKind
from sfumato.kernels.boxes import FLAT
from sfumato.kernels.clusters import (
    ENTRIES,
    FOLLOWER,
    GROUPS,
    HEAD,
    MEMBER,
    TIMES,
    Clusters,
    Law,
    Secrets,
    add_entry,
    allowed,
    contribution,
)
from sfumato.kernels.compiling import inner
from sfumato.kernels.layout import SHARES
from sfumato.kernels.nearest import (
    ACTIVE,
    ALIVE,
    CODE_COUNT,
    KIND,
    LEAST,
    SET,
    START,
    TABLE,
    Aim,
    Index,
    bucket,
    is_left,
    sort_tiers,
)
from sfumato.kernels.rules import RuleTable
from sfumato.kernels.units import (
    COUNT,
    HIGH,
    LOW,
    SHAPE,
    WORD,
    Floats,
    Ints,
    Units,
    clear,
    put,
    run_loss,
    set_loss,
)

DISTINCT = int(RuleKind.DISTINCT)
COMPARING = (
    int(RuleKind.CLOSENESS),
    int(RuleKind.LIKENESS),
    int(RuleKind.DISCLOSURE),
)

FIRST, FURTHEST, RANDOM = 0, 1, 2
"""Where the first unit of a group comes from."""

LAST, NEXT, PART, ROWS = 0, 1, 2, 3
"""Places of `Work.state`: the unit added last, the next seed, the part, and how many
rows are in the index."""

PATIENCE = 4
"""A group of so many times the least size takes rows that help, and no others."""


class Work(NamedTuple):
    """Everything a growing group touches."""

    units: Units
    index: Index
    aim: Aim
    clusters: Clusters
    secrets: Secrets
    sums: Floats
    """What the group's values tell of each sensitive value; one column after another."""
    sum_start: Ints
    filters: Ints
    """The view behind each filter column of the units."""
    seen: Ints
    """(filters, values): the values of the group."""
    order: Ints
    """Seeds, in the order in which they are tried."""
    middle: Ints
    """The groups that were there when a unit was left over."""
    changed: Ints
    state: Ints
    seed: int
    used: npt.NDArray[np.bool_]
    """Columns that cost something."""
    nearest: Any
    remove: Any
    """Compiled functions, behind pointers."""


@numba.njit(cache=True, nogil=True)
def grow_members(work: Work, law: Law, limit: int) -> bool:
    """Grow up to `limit` groups of k-member; True if nothing is left to grow from."""
    index, clusters = work.index, work.clusters
    root = index.roots[0]
    for _ in range(limit):
        if work.state[ROWS] < max(law.rules.minimum, 1):
            return True
        u = _seed(work, root)
        g = _begin(work)
        _take(work, g, u, min(clusters.left[u], _room_for(work, law.rules, g)))
        if _grow(work, g, root, law):
            _close(work, g)
        else:
            _dissolve(work, g)
    return False


@inner
def _seed(work: Work, root: int) -> int:
    """The unit that the next group begins with."""
    if work.seed == FIRST:
        return work.index.blocks[root, LEAST]
    if work.seed == FURTHEST:
        return _furthest(work, root)
    return _next_seed(work)


@inner
def _next_seed(work: Work) -> int:
    """The next unit left, in the drawn order."""
    index = work.index
    while True:
        u = work.order[work.state[NEXT]]
        if is_left(index, u):
            return u
        work.state[NEXT] += 1


@inner
def _furthest(work: Work, root: int) -> int:
    """The unit farthest from the one that was added last."""
    units, aim = work.units, work.aim
    clear(aim.box, 0)
    put(units, aim.box, 0, work.state[LAST], work.changed)
    aim.sign[0] = -1
    for j in range(len(aim.columns)):
        aim.columns[j, ACTIVE] = work.used[j] and j < units.axes
    work.changed[:] = 1
    _refresh(work, -1)
    found = work.nearest(units, work.index, aim, root)
    aim.sign[0] = 1
    return found


@inner
def _begin(work: Work) -> int:
    """Start an empty group; its number."""
    clusters = work.clusters
    g = clusters.number[GROUPS]
    clusters.chain[g, HEAD] = -1
    clusters.size[g] = 0
    clusters.pairs[g] = 0.0
    clear(work.aim.box, 0)
    work.sums[:] = 0.0
    work.seen[:] = 0
    work.changed[:] = 1
    work.aim.tier_mask[:, 0] = 0
    for j in range(len(work.used)):
        work.aim.columns[j, ACTIVE] = work.used[j]
    return g


@inner
def _take(work: Work, g: int, u: int, count: int) -> None:
    """Add copies of a unit to the growing group."""
    units, clusters, secrets, aim = work.units, work.clusters, work.secrets, work.aim
    rows = count * units.weight[u]
    put(units, aim.box, 0, u, work.changed)
    add_entry(clusters, g, u, count)
    clusters.size[g] += rows
    clusters.left[u] -= count
    work.state[LAST] = u
    work.state[ROWS] -= rows
    if clusters.left[u] == 0:
        _remove(work, u)
    for a in range(secrets.columns):
        value, at = units.low[u, units.axes + a], work.sum_start[a]
        clusters.pairs[g, a] += 2.0 * rows * work.sums[at + value] + float(rows) * rows
        for other in range(secrets.sizes[a]):
            work.sums[at + other] += rows * contribution(secrets, a, value, other)
    base = units.axes + secrets.columns
    for f in range(len(work.filters)):
        work.seen[f, units.low[u, base + f]] += rows
    for j in range(units.axes):
        if aim.columns[j, KIND] == SET and len(units.sets) == 0:
            at = bucket(units.low[u, j], aim.columns[j, CODE_COUNT])
            aim.tier_mask[j, 0] |= np.uint64(1) << np.uint64(at)


@inner
def _remove(work: Work, u: int) -> None:
    """Take a unit out of the index."""
    units = work.units
    work.remove(units.low, units.high, work.index, work.aim.columns, u)


@inner
def _refresh(work: Work, g: int) -> None:
    """Bring the tables of costs up to date with the group (g ≥ 0) or the last unit."""
    units, aim = work.units, work.aim
    for j in range(units.axes):
        if work.changed[j] and aim.columns[j, START] >= 0:
            _fill(units, aim, j)
            if aim.columns[j, KIND] == TABLE:
                sort_tiers(aim, j)
        work.changed[j] = 0
    if g < 0:
        return
    size = float(work.clusters.size[g])
    for a in range(work.secrets.columns):
        j = units.axes + a
        start, at = aim.columns[j, START], work.sum_start[a]
        factor = work.secrets.scale[a] / ((size + 1) * (size + 1))
        for value in range(work.secrets.sizes[a]):
            pairs = work.clusters.pairs[g, a] + 2.0 * work.sums[at + value] + 1.0
            aim.costs[start + value] = factor * pairs
        sort_tiers(aim, j)


@inner
def _fill(units: Units, aim: Aim, j: int) -> None:
    """The cost of the cell on axis j once it holds each code."""
    start, here = aim.columns[j, START], aim.box.cells[0, j]
    flat = units.axis[j, SHAPE] == FLAT
    for code in range(aim.columns[j, CODE_COUNT]):
        if flat:
            word = aim.box.words[0, units.axis[j, WORD] + code // 64]
            has = np.int64((word >> np.uint64(code % 64)) & np.uint64(1))
            cost = set_loss(units, j, np.int64(here[COUNT]) + 1 - has)
        else:
            cost = run_loss(units, j, min(here[LOW], code), max(here[HIGH], code))
        aim.costs[start + code] = cost if aim.sign[0] > 0 else -cost


@inner
def _grow(work: Work, g: int, root: int, law: Law) -> bool:
    """Add the nearest units until the group is allowed; False if it cannot be."""
    units, clusters, rules = work.units, work.clusters, law.rules
    while True:
        places = rules.minimum - clusters.size[g]
        if places <= 0 and allowed(units, clusters, law, g, -1, -1):
            return True
        filtered = _set_filters(work, g, places, rules)
        _refresh(work, g)
        u = work.nearest(units, work.index, work.aim, root)
        if u < 0 and filtered and places > (1 - PATIENCE) * rules.minimum:
            filtered = False
            _lift_filters(work)
            u = work.nearest(units, work.index, work.aim, root)
        if u < 0:
            return False
        count = 1 if filtered else _room_for(work, rules, g)
        _take(work, g, u, min(clusters.left[u], count))


@inner
def _room_for(work: Work, rules: RuleTable, g: int) -> int:
    """Copies of one unit that may be added at once."""
    places = rules.minimum - work.clusters.size[g]
    for f in range(len(work.filters)):
        places -= _lacking(work, f, rules)
    return max(1, places)


@inner
def _lacking(work: Work, f: int, rules: RuleTable) -> int:
    """How many more different values the rules ask of a filter's view."""
    asked = 0
    for line in range(len(rules.kinds)):
        if rules.views[line] == work.filters[f] and rules.kinds[line] == DISTINCT:
            asked = max(asked, np.int64(np.ceil(rules.parameters[line, 0] - 1e-9)))
    found = 0
    for value in range(work.seen.shape[1]):
        if work.seen[f, value] > 0:
            found += 1
    return max(0, asked - found)


@inner
def _set_filters(work: Work, g: int, places: int, rules: RuleTable) -> bool:
    """Admit only what helps, once it must: whether anything is kept out."""
    _lift_filters(work)
    filtered = False
    for f in range(len(work.filters)):
        lacking = _lacking(work, f, rules)
        if places <= 0 or (lacking > 0 and lacking >= places):
            filtered |= _filter(work, g, f, lacking, rules)
    return filtered


@inner
def _lift_filters(work: Work) -> None:
    base = work.units.axes + work.secrets.columns
    for f in range(len(work.filters)):
        work.aim.columns[base + f, ACTIVE] = False


@inner
def _filter(work: Work, g: int, f: int, lacking: int, rules: RuleTable) -> bool:
    """Keep out the values of a view that do not help: new ones help where some are
    lacking, rarer than in the table where it is compared, else all but the commonest.
    """
    aim = work.aim
    j = work.units.axes + work.secrets.columns + f
    start, view = aim.columns[j, START], work.filters[f]
    compared = False
    for line in range(len(rules.kinds)):
        if rules.views[line] == view and rules.kinds[line] in COMPARING:
            compared = True
    most = np.max(work.seen[f])
    some = False
    for value in range(aim.columns[j, CODE_COUNT]):
        count = work.seen[f, value]
        if lacking > 0:
            helps = count == 0
        elif compared:
            share = rules.real[rules.heads[view, SHARES] + value]
            helps = count < share * (work.clusters.size[g] + 1)
        else:
            helps = count < most
        aim.costs[start + value] = 0.0 if helps else np.inf
        some |= helps
    if some:
        aim.columns[j, ACTIVE] = True
        sort_tiers(aim, j)
    return some


@inner
def _close(work: Work, g: int) -> None:
    """Keep the group."""
    box, here = work.clusters.box, work.aim.box
    for j in range(work.units.axes):
        for place in range(3):
            box.cells[g, j, place] = here.cells[0, j, place]
    for w in range(box.words.shape[1]):
        box.words[g, w] = here.words[0, w]
    work.clusters.number[GROUPS] += 1


@inner
def _dissolve(work: Work, g: int) -> None:
    """Give the group up; its units are left over and start no other group."""
    clusters = work.clusters
    entry = clusters.chain[g, HEAD]
    first = entry
    while entry >= 0:
        u = clusters.entry[entry, MEMBER]
        if clusters.left[u] > 0 and is_left(work.index, u):
            _remove(work, u)
            work.state[ROWS] -= clusters.left[u] * work.units.weight[u]
        work.middle[u] = g
        entry = clusters.entry[entry, FOLLOWER]
    entry = first
    while entry >= 0:
        clusters.left[clusters.entry[entry, MEMBER]] += clusters.entry[entry, TIMES]
        entry = clusters.entry[entry, FOLLOWER]
    clusters.number[ENTRIES] = first
    clusters.chain[g, HEAD] = -1
    clusters.size[g] = 0


@numba.njit(cache=True, nogil=True)
def grow_to_threshold(work: Work, law: Law, delta: float, limit: int) -> bool:
    """Grow up to `limit` groups of TGC, part by part; True if all parts are done."""
    index, clusters = work.index, work.clusters
    tried = 0
    while work.state[PART] < len(index.roots):
        root = index.roots[work.state[PART]]
        while index.blocks[root, ALIVE] > 0:
            if tried == limit:
                return False
            tried += 1
            g = _begin(work)
            _take(work, g, _next_seed(work), 1)
            while index.blocks[root, ALIVE] > 0:
                _refresh(work, g)
                u = work.nearest(work.units, index, work.aim, root)
                if work.aim.best[0] > delta:
                    break
                _take(work, g, u, 1)
            if allowed(work.units, clusters, law, g, -1, -1):
                _close(work, g)
            else:
                _dissolve(work, g)
        work.state[PART] += 1
    return True


@numba.njit(cache=True, nogil=True)
def pre_partition(
    units: Units, sizes: Ints, secrets: Secrets, least: int, most: float
) -> tuple[Ints, Ints]:
    """Halve the units at medians while both halves are large and diverse enough.

    Algorithm 2 of Loukides and Shao: the axis with most values in the part is cut;
    both halves must have at least `least` units and a sum of S-diversities of at most
    `most` (the text; the printed comparison is reversed). Units with the median value
    are shared out so that both halves are equal, higher codes of the others first.
    Returns the order of the units and where parts begin.
    """
    n = len(units.low)
    order = np.arange(n)
    bounds = [0]
    stack = [(0, n)]
    histogram = np.zeros(max(1, np.max(sizes)), dtype=np.int64)
    while len(stack) > 0:
        low, high = stack.pop()
        middle = low + (high - low) // 2
        part = order[low:high]
        cut = middle - low >= least
        if cut:
            halves = _sorted_by_widest(units, part, histogram)
            half = middle - low
            cut = (
                _diversity(units, secrets, halves[:half], histogram) <= most + 1e-9
                and _diversity(units, secrets, halves[half:], histogram) <= most + 1e-9
            )
            if cut:
                part[:] = halves
                stack.append((middle, high))
                stack.append((low, middle))
        if not cut:
            bounds.append(high)
    return order, np.array(bounds)


@inner
def _sorted_by_widest(units: Units, part: Ints, marks: Ints) -> Ints:
    """The units of a part in the order of the axis with most values in it."""
    most, axis = 0, 0
    for j in range(units.axes):
        found = 0
        for u in part:
            code = units.low[u, j]
            found += marks[code] == 0
            marks[code] = 1
        for u in part:
            marks[units.low[u, j]] = 0
        if found > most:
            most, axis = found, j
    keys = np.empty(len(part), dtype=np.int64)
    top = np.int64(0xFFFFFFFF)
    for i in range(len(part)):
        keys[i] = np.int64(units.low[part[i], axis]) << 32 | (top - part[i])
    keys.sort()
    return top - (keys & top)


@inner
def _diversity(units: Units, secrets: Secrets, part: Ints, histogram: Ints) -> float:
    """The sum of the S-diversities of some units."""
    total = 0.0
    rows = 0
    for u in part:
        rows += units.weight[u]
    for a in range(secrets.columns):
        j = units.axes + a
        values = np.unique(units.low[part, j])
        for u in part:
            histogram[units.low[u, j]] += units.weight[u]
        pairs = 0.0
        for one in values:
            for two in values:
                told = contribution(secrets, a, one, two)
                pairs += told * histogram[one] * histogram[two]
        histogram[values] = 0
        total += pairs / (float(rows) * rows)
    return total
