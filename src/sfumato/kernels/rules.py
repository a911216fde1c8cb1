"""Privacy rules in compiled form: may these rows be a group?

A `RuleTable` holds one line per rule. `group_ok` judges a group from its size and,
for each view of a sensitive column, a histogram given as ascending `codes[v, :n]`
with `counts[v, :n]`, n = `lengths[v]`; zero counts are allowed and skipped, so that a
dense histogram serves as well as a sparse one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.data.rules import Rule, RuleKind, View

SIZE = int(RuleKind.SIZE)
DISTINCT = int(RuleKind.DISTINCT)

PARAMETERS = 4


class RuleTable(NamedTuple):
    """The rules of a request, and what they need to know of each view."""

    minimum: int
    """No group may be smaller than this: the cheapest test comes first."""
    kinds: npt.NDArray[np.int64]
    views: npt.NDArray[np.int64]
    parameters: npt.NDArray[np.float64]


def rule_table(rules: Sequence[Rule], views: Sequence[View]) -> RuleTable:
    """Lay rules out for kernels; rules on size become the minimum."""
    sizes = [int(rule.parameters[0]) for rule in rules if rule.kind == SIZE]
    others = [rule for rule in rules if rule.kind != SIZE]
    parameters = np.zeros((len(others), PARAMETERS))
    for line, rule in enumerate(others):
        parameters[line, : len(rule.parameters)] = rule.parameters
    return RuleTable(
        minimum=max(sizes, default=1),
        kinds=np.array([rule.kind for rule in others], dtype=np.int64),
        views=np.array(
            [views.index(rule.view) if rule.view else -1 for rule in others],
            dtype=np.int64,
        ),
        parameters=parameters,
    )


@numba.njit(cache=True, nogil=True)
def group_ok(
    size: int,
    population: int,
    codes: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    table: RuleTable,
) -> bool:
    """Whether a group with this size and these histograms meets every rule."""
    if size < table.minimum:
        return False
    for line in range(len(table.kinds)):
        v = table.views[line]
        n = lengths[v] if v >= 0 else 0
        if table.kinds[line] == DISTINCT:
            if distinct(counts[v], n) < table.parameters[line, 0]:
                return False
    return True


@numba.njit(cache=True, nogil=True)
def distinct(counts: npt.NDArray[np.int64], n: int) -> int:
    """How many values occur."""
    found = 0
    for i in range(n):
        if counts[i] > 0:
            found += 1
    return found
