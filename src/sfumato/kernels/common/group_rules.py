"""Judge privacy rules in compiled form: may these rows be a group?

`group_ok` judges a group from its size and, for each view of a sensitive column, a
histogram given as ascending `codes[v, :n]` with `counts[v, :n]`, n = `lengths[v]`;
zero counts are allowed and skipped, so that a dense histogram serves as well as a
sparse one. Codes of a view with other columns known are
other combination × values + value: each combination is judged as a group of its own.

Cost: O(1) for a group below the minimum; otherwise the sum over the rules of what each
takes (`count_rules`, `distance_rules`), linear in the entries of its view.
Invariant: the verdict is that of the models' own NumPy form, group by group; it does
not depend on the order of the rules, on zero counts, or on codes that do not occur.
"""

from __future__ import annotations

from sfumato.data.arrays import Codes, Counts
from sfumato.data.rules import RuleKind
from sfumato.kernels.common.count_rules import TOLERANCE, distinct
from sfumato.kernels.common.rule_layout import APART
from sfumato.kernels.common.rule_table import RuleTable, rule_table
from sfumato.kernels.compilation.decorators import both_numpy, inner_numpy

__all__ = ["RuleTable", "distinct", "group_ok", "rule_table"]

POPULATION = int(RuleKind.POPULATION)
PRESENCE = int(RuleKind.PRESENCE)


@both_numpy
def group_ok(
    size: int,
    population: int,
    codes: Codes,
    counts: Counts,
    lengths: Counts,
    table: RuleTable,
) -> bool:
    """Tell whether a group with this size and these histograms meets every rule."""
    # Most groups fail by their size: no histogram is looked at for those.
    if size < table.minimum:
        return False
    for line in range(len(table.kinds)):
        v, kind = table.views[line], table.kinds[line]
        if kind == POPULATION:
            if population < table.parameters[line, 0]:
                return False
        elif kind == PRESENCE:
            # With a view, its codes are persons: each counts once.
            present = distinct(counts[v], lengths[v]) if v >= 0 else size
            if not _presence_ok(present, population, line, table):
                return False
        elif not _view_ok(size, codes, counts, lengths, v, line, table):
            return False
    return True


@inner_numpy
def asks_for_everybody(table: RuleTable) -> bool:
    """Tell whether a rule asks that everybody of the population matches some group."""
    for line in range(len(table.kinds)):
        if table.kinds[line] == PRESENCE and table.parameters[line, 0] > TOLERANCE:
            return True
    return False


@inner_numpy
def _presence_ok(size: int, population: int, line: int, table: RuleTable) -> bool:
    """Tell whether the share of the matching people who are in the table is in bounds."""
    if population <= 0:
        return False
    share = size / population
    lower, upper = table.parameters[line, 0], table.parameters[line, 1]
    return lower - TOLERANCE <= share <= upper + TOLERANCE


@inner_numpy
def _view_ok(
    size: int,
    codes: Codes,
    counts: Counts,
    lengths: Counts,
    v: int,
    line: int,
    table: RuleTable,
) -> bool:
    """Judge one rule on one view, as it is or taken apart."""
    kind, marks, parameters = table.kinds[line], table.marks[line], table.parameters
    if table.heads[v, APART] == 0:
        return table.plain(
            size,
            codes[v],
            counts[v],
            lengths[v],
            v,
            kind,
            parameters[line],
            marks,
            table.heads,
            table.whole,
            table.real,
        )
    return table.apart(
        table.plain,
        size,
        codes[v],
        counts[v],
        lengths[v],
        v,
        kind,
        parameters[line],
        marks,
        table.heads,
        table.whole,
        table.real,
    )
