"""Track the sensitive values of a growing group: S-diversity, and values still needed.

Paper: S-diversity (Loukides and Shao 2008, definition 2.4) of a growing group, as the
objective of TGC and K-Members-p; which values a group still needs is ours.
Cost: O(v) per unit counted and O(v) to update the costs of a column's v values; O(v)
per rule and filter to find what is missing.
Invariant: `sums` and `pairs` equal the double sum over the group's rows; a value is kept
out only while another one that is left helps more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.data.rules import kinds_where
from sfumato.kernels.clustering.block_tree import ACTIVE, CODE_COUNT, START
from sfumato.kernels.clustering.group_state import (
    Clusters,
    PairwiseContributions,
    contribution,
)
from sfumato.kernels.clustering.nearest_unit import UnitSearch
from sfumato.kernels.clustering.units import Units
from sfumato.kernels.common.group_rules import RuleTable
from sfumato.kernels.common.rule_layout import SHARES
from sfumato.kernels.compilation.decorators import inner

COUNTING_VALUES = kinds_where(lambda traits: traits.counts_values)
COMPARING_SHARES = kinds_where(lambda traits: traits.compares_shares)


class SensitiveState(NamedTuple):
    """Sensitive columns that count in the loss, and those that the rules look at."""

    contributions: PairwiseContributions
    sums: Floats
    """What the group's values tell of each sensitive value; one column after another."""
    sum_start: Ints
    filters: Ints
    """The view behind each filter column of the units."""
    seen: Ints
    """(filters, values): the values of the group."""


def make_sensitive_state(
    contributions: PairwiseContributions, filters: Ints, values: int
) -> SensitiveState:
    """Nothing known yet; filter columns have at most so many values."""
    return SensitiveState(
        contributions=contributions,
        sums=np.zeros(max(int(contributions.sizes.sum()), 1)),
        sum_start=np.concatenate([[0], np.cumsum(contributions.sizes)]).astype(
            np.int64
        ),
        filters=filters,
        seen=np.zeros((len(filters), values), dtype=np.int64),
    )


@inner
def clear_values(clusters: Clusters, sensitive_state: SensitiveState, g: int) -> None:
    """Group g has no values yet."""
    for a in range(sensitive_state.contributions.columns):
        clusters.pairs[g, a] = 0.0
    for at in range(len(sensitive_state.sums)):
        sensitive_state.sums[at] = 0.0
    for f in range(sensitive_state.seen.shape[0]):
        for value in range(sensitive_state.seen.shape[1]):
            sensitive_state.seen[f, value] = 0


@inner
def count_values_of_unit(
    units: Units,
    clusters: Clusters,
    sensitive_state: SensitiveState,
    g: int,
    u: int,
    rows: int,
) -> None:
    """Count the values of unit u."""
    contributions, sums = sensitive_state.contributions, sensitive_state.sums
    for a in range(contributions.columns):
        value, at = np.int64(units.low[u, units.axes + a]), sensitive_state.sum_start[a]
        clusters.pairs[g, a] += 2.0 * rows * sums[at + value] + float(rows) * rows
        for other in range(contributions.sizes[a]):
            sums[at + other] += rows * contribution(contributions, a, value, other)
    base = units.axes + contributions.columns
    for f in range(len(sensitive_state.filters)):
        sensitive_state.seen[f, units.low[u, base + f]] += rows


@inner
def update_value_costs(
    units: Units,
    clusters: Clusters,
    search: UnitSearch,
    sensitive_state: SensitiveState,
    g: int,
) -> None:
    """The S-diversity of group g once it holds each value."""
    contributions, size = sensitive_state.contributions, float(clusters.size[g])
    for a in range(contributions.columns):
        j, at = units.axes + a, sensitive_state.sum_start[a]
        factor = contributions.scale[a] / ((size + 1) * (size + 1))
        for value in range(contributions.sizes[a]):
            pairs = clusters.pairs[g, a] + 2.0 * sensitive_state.sums[at + value] + 1.0
            search.costs[search.columns[j, START] + value] = factor * pairs
        search.changed[j] = 1


@inner
def lacking(sensitive_state: SensitiveState, f: int, rules: RuleTable) -> int:
    """How many more different values the rules ask of a filter's view."""
    asked = 0
    for line in range(len(rules.kinds)):
        counting = rules.kinds[line] in COUNTING_VALUES
        if rules.views[line] == sensitive_state.filters[f] and counting:
            asked = max(asked, np.int64(np.ceil(rules.parameters[line, 0] - 1e-9)))
    for value in range(sensitive_state.seen.shape[1]):
        if sensitive_state.seen[f, value] > 0:
            asked -= 1
    return max(0, asked)


@inner
def keep_out(
    search: UnitSearch,
    sensitive_state: SensitiveState,
    f: int,
    j: int,
    missing: int,
    size: int,
    rules: RuleTable,
) -> bool:
    """Keep out the values of a view that do not help: new ones help where some are
    missing, rarer than in the table where it is compared, else all but the commonest.
    Nothing is kept out if none helps; whether some do.
    """
    view, compared, most = sensitive_state.filters[f], False, 0
    for line in range(len(rules.kinds)):
        if rules.views[line] == view and rules.kinds[line] in COMPARING_SHARES:
            compared = True
    for value in range(sensitive_state.seen.shape[1]):
        most = max(most, sensitive_state.seen[f, value])
    some = False
    for value in range(search.columns[j, CODE_COUNT]):
        count = sensitive_state.seen[f, value]
        if missing > 0:
            helps = count == 0
        elif compared:
            share = rules.real[rules.heads[view, SHARES] + value]
            helps = count < share * (size + 1)
        else:
            helps = count < most
        search.costs[search.columns[j, START] + value] = 0.0 if helps else np.inf
        some |= helps
    search.columns[j, ACTIVE] = some
    search.changed[j] = 1
    return some
