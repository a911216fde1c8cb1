"""Grow groups row by row within a bounded amount of work; cut what is left after it.

Growing a group looks for the nearest row again and again. Where rows differ in many
columns, no bound rules any of them out, and the work grows with the square of the table.
Work is counted in cells that were looked at, so that a seed repeats a result.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.clustering.clustering_task import (
    ClusteringPlan,
    ClusteringTask,
    facts_of,
    finish,
    prepare,
)
from sfumato.algorithms.clustering.k_member import (
    cells_looked_at,
    first_work,
    grow_all,
)
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.data.grouping import SUPPRESSED, Grouping
from sfumato.kernels.clustering.group_growth import GrowthState
from sfumato.kernels.clustering.group_state import rows_to_groups
from sfumato.models.common.groups import packed
from sfumato.models.k_anonymity import KAnonymity

CELLS_PER_ROW = 20_000
"""Cells that may be looked at, per row of the table: about five seconds for 30,000 rows."""
WIDE_TUPLES = 80_000
"""Up to this many distinct tuples a table is grown as a whole."""
PART = 12_000
"""The fewest rows of a part of a larger one."""


def grow_groups(request: Request) -> Solution:
    """Grow groups like `k-member` while work is left; within parts of a large table."""
    if tuples_of(request) <= WIDE_TUPLES:
        return _grown(request)
    coarse = replace(request, models=(KAnonymity(k=PART),))
    parts = Mondrian().search(coarse).grouping
    group_of = np.empty(request.rows, dtype=np.int32)
    count, cells = 0, 0
    for rows in np.split(np.argsort(parts.group_of), np.cumsum(parts.sizes())[:-1]):
        found = _grown(request.only(rows))
        group_of[rows] = found.grouping.group_of + count
        count += found.grouping.count
        cells += found.facts["cells_looked_at"]
    facts = {"cells_looked_at": cells}
    return Solution(grouping=Grouping(group_of, count), facts=facts)


def tuples_of(request: Request) -> int:
    """Count the distinct rows: growing groups searches once per distinct row."""
    key, _ = packed([coded.codes for coded in request.quasi])
    return len(np.unique(key))


def _grown(request: Request) -> Solution:
    task = prepare(request, ClusteringPlan())
    work = first_work(task, "first")
    if grow_all(task, work, most=CELLS_PER_ROW * request.rows):
        grouping = finish(task, work.clusters, work.middle, by_rows=True)
    else:
        grouping = _cut_rest(request, _groups_so_far(task, work))
    cells = cells_looked_at(work)
    facts = facts_of(task, grouping, seed="first", cells_looked_at=cells)
    return Solution(grouping=grouping, facts=facts)


def _groups_so_far(task: ClusteringTask, work: GrowthState) -> Grouping:
    """The groups that were grown; rows in none of them are not kept."""
    units, by_unit = task.units, np.full(task.request.rows, SUPPRESSED, dtype=np.int32)
    used = np.zeros(len(units.weight), dtype=np.int64)
    rows_to_groups(units.first, units.weight, work.clusters, used, by_unit)
    group_of = np.empty_like(by_unit)
    group_of[task.rows] = by_unit
    return Grouping.renumbered(group_of)


def _cut_rest(request: Request, grown: Grouping) -> Grouping:
    """Cut the rows that are in no group yet, by gain."""
    rest = np.flatnonzero(~grown.kept)
    part = replace(request.only(rest), table=request.table or request, removable=0)
    cut = Mondrian().search(part).grouping
    group_of = grown.group_of.copy()
    group_of[rest] = cut.group_of + grown.count
    return Grouping(group_of, grown.count + cut.count)
