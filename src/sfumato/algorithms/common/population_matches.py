"""Count the people of a population who match groups as `generalize` shows them.

Kernels count the people behind codes. A recipient sees texts, and cells may overlap: a
tree node covers values that another group has, and `*` covers all. Counting codes gives
too few people, which is safe for k-map and for the upper limit of δ-presence. Its lower
limit, and hierarchies that use one text twice, need the count by texts that is made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.common.compiled_rules import Compiled
from sfumato.algorithms.common.refusals import one_group_fails
from sfumato.algorithms.request import Request
from sfumato.data.arrays import Codes, Flags, Ints
from sfumato.data.grouping import Grouping
from sfumato.data.rules import Rule
from sfumato.errors import SearchError
from sfumato.hierarchies.axis import STAR, Axis, CodedAxis
from sfumato.hierarchies.cell_leaves import Leaves, cover_matrix
from sfumato.models.base import TOLERANCE
from sfumato.models.common.groups import packed
from sfumato.publish.generalize import Generalize
from sfumato.publish.group_spans import Extent

CHUNK = 2**24
"""Group × tuple pairs compared at a time."""


@dataclass(frozen=True, eq=False, kw_only=True)
class People:
    """A population as distinct tuples of leaves, and the rules that count it."""

    quasi: tuple[CodedAxis, ...]
    tuples: Codes
    """(tuples, quasi-identifiers): leaf codes."""
    counts: Ints
    rules: tuple[Rule, ...]

    @classmethod
    def of(cls, request: Request) -> People | None:
        """The population of a request; None if no rule counts it."""
        rules = tuple(rule for rule in request.rules() if rule.traits.needs_population)
        columns = known_people(request)
        if columns is None or not rules:
            return None
        key, _ = packed(columns)
        _, first, counts = np.unique(key, return_index=True, return_counts=True)
        return cls(
            quasi=request.quasi,
            tuples=np.column_stack([codes[first] for codes in columns]),
            counts=counts,
            rules=rules,
        )

    @property
    def everybody(self) -> bool:
        """Whether everybody has to match some group."""
        return any(
            rule.traits.limits_presence and rule.parameters[0] > TOLERANCE
            for rule in self.rules
        )

    @property
    def by_text(self) -> bool:
        """Return whether people must be counted by texts, as codes may count too few."""
        return self.everybody or not self.tidy

    @cached_property
    def tidy(self) -> bool:
        """Return whether each node's text stands for exactly the leaves below it."""
        return all(_is_tidy(coded.axis) for coded in self.quasi)

    def shown(self, grouping: Grouping) -> tuple[list[Leaves], Codes]:
        """What each published text stands for, and the number of each group's texts."""
        covers, cells = [], []
        for place, coded in enumerate(self.quasi):
            labels = Generalize().labels(Extent.of(coded, grouping, place))
            used, index = np.unique(labels.index, return_inverse=True)
            texts = [labels.texts[text] for text in used]
            covers.append(cover_matrix(coded.axis, texts))
            cells.append(index.reshape(-1))
        return covers, np.column_stack(cells)

    def matching(self, covers: Sequence[Leaves], cells: Codes) -> tuple[Ints, int]:
        """How many people match each group, and how many match none."""
        inside = np.zeros(len(cells), dtype=np.int64)
        matched = np.zeros(len(self.tuples), dtype=np.bool_)
        step = max(1, CHUNK // max(1, len(self.tuples)))
        for start in range(0, len(cells), step):
            part = cells[start : start + step]
            fits = np.ones((len(part), len(self.tuples)), dtype=np.bool_)
            for j, cover in enumerate(covers):
                fits &= cover[part[:, j]][:, self.tuples[:, j]]
            inside[start : start + step] = fits @ self.counts
            matched |= fits.any(axis=0)
        return inside, int(self.counts[~matched].sum())

    def allowed(self, present: Ints, people: Ints) -> Flags:
        """Which groups, with these numbers of rows and matching people, break no rule."""
        found = np.ones(len(present), dtype=np.bool_)
        for rule in self.rules:
            if rule.traits.limits_presence:
                lower, upper = rule.parameters
                with np.errstate(divide="ignore"):
                    share = present / people
                found &= (share >= lower - TOLERANCE) & (share <= upper + TOLERANCE)
            else:
                found &= people >= rule.parameters[0]
        return found


def known_people(request: Request) -> list[Codes] | None:
    """The people all of whose values are on the axes, one array per axis.

    Others match no published cell but `*`; leaving them out counts too few people.
    """
    if request.population is None:
        return None
    known = np.ones(len(request.population[0]), dtype=np.bool_)
    for coded, codes in zip(request.quasi, request.population, strict=True):
        known &= (codes >= 0) & (codes < coded.axis.size)
    return [codes[known] for codes in request.population]


def _is_tidy(axis: Axis) -> bool:
    """Whether no two nodes with other leaves below them share a text.

    Nodes cover runs of leaves, so that the first and the last say it all.
    """
    runs: dict[str, tuple[int, int]] = {STAR: (0, axis.size - 1)}
    for level in axis.levels:
        nodes, first = np.unique(level, return_index=True)
        last = axis.size - 1 - np.unique(level[::-1], return_index=True)[1]
        for node, run in zip(nodes, zip(first, last, strict=True), strict=True):
            if runs.setdefault(axis.node_labels[node], run) != run:
                return False
    return True


def persons(
    request: Request, group_of: npt.NDArray[np.integer[Any]], count: int
) -> Ints:
    """Rows of each group, or persons where subjects are declared."""
    kept = group_of >= 0
    owners = group_of[kept].astype(np.int64)
    if request.subject is not None:
        people = request.subject[kept].astype(np.int64)
        width = int(people.max(initial=0)) + 1
        owners = np.unique(owners * width + people) // width
    return np.bincount(owners, minlength=count)


def require_everybody(request: Request, people: People) -> None:
    """Refuse a table whose cells, all rows in one group, leave people outside."""
    if not people.everybody:
        return
    whole = Grouping(np.zeros(request.rows, dtype=np.int32), 1)
    _, outside = people.matching(*people.shown(whole))
    if outside:
        models = ", ".join(str(model) for model in request.models)
        raise SearchError(
            f"{outside:,} people of the population match no cell that covers rows of the "
            f"table; {models} asks that everybody matches one.",
            hint="Give the quasi-identifiers hierarchies that cover the population, use "
            "'optimal', or set lower to 0.",
        )


def joined(
    request: Request, people: People, compiled: Compiled, grouping: Grouping
) -> Grouping:
    """Groups joined with their neighbors until all match as many people as asked.

    Covers only grow, so nobody falls out; all rows in one group are the last resort.
    """
    covers, cells = people.shown(grouping)
    inside, outside = people.matching(covers, cells)
    if people.everybody and outside:
        grouping = Grouping.renumbered(np.where(grouping.kept, 0, -1))
        inside, _ = people.matching(*people.shown(grouping))
    changed = np.zeros(grouping.count, dtype=np.bool_)
    while True:
        failing = _failing(request, people, compiled, grouping, inside, changed)
        if not failing.any():
            return grouping
        if grouping.count == 1:
            raise one_group_fails(request)
        number = _neighbors(request, grouping, failing)
        present, sizes = np.unique(number, return_counts=True)
        grouping = Grouping.renumbered(
            np.where(grouping.kept, number[grouping.group_of], -1)
        )
        inside, changed = inside[present], sizes > 1
        covers, cells = people.shown(grouping)
        inside[changed], _ = people.matching(covers, cells[changed])


def _failing(
    request: Request,
    people: People,
    compiled: Compiled,
    grouping: Grouping,
    inside: Ints,
    changed: Flags,
) -> Flags:
    """Groups that have to be joined; those with the same cells are seen as one."""
    _, cells = people.shown(grouping)
    same = np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1)
    together = np.where(grouping.kept, same[grouping.group_of], -1)
    present = persons(request, together, grouping.count)[same]
    failing = ~people.allowed(present, inside)
    for group in np.flatnonzero(changed & ~failing):
        rows = np.flatnonzero(grouping.group_of == group)
        failing[group] = not compiled.allows(rows, int(inside[group]))
    return failing


def _neighbors(request: Request, grouping: Grouping, failing: Flags) -> Ints:
    """A number per group: failing ones take that of the group with the nearest box."""
    extents = [Extent.of(c, grouping, j) for j, c in enumerate(request.quasi)]
    low = np.column_stack([extent.bounds[0] for extent in extents])
    high = np.column_stack([extent.bounds[1] for extent in extents])
    sizes = np.array([max(coded.axis.size - 1, 1) for coded in request.quasi])
    number = np.arange(grouping.count)
    for group in np.flatnonzero(failing):
        wide = np.maximum(high, high[group]) - np.minimum(low, low[group])
        cost = (wide / sizes).sum(axis=1)
        cost[number == number[group]] = np.inf
        if np.isfinite(cost).any():
            other = number[int(np.argmin(cost))]
            number[number == number[group]] = other
    return number
