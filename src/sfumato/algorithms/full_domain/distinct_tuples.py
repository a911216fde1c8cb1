"""A request as distinct tuples, with the values of each view and sorted rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Request
from sfumato.algorithms.common.compiled_rules import Compiled, compile_rules
from sfumato.algorithms.common.population_matches import People, known_people
from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.data.rules import Distance, Rule, View, only_sizes
from sfumato.hierarchies.sensitive_axis import ground_distance, roll_up
from sfumato.kernels.common.group_rules import RuleTable
from sfumato.kernels.common.tuple_chunks import (
    Chunks,
    Layout,
    build_chunks,
    tuples_of_rows,
)
from sfumato.kernels.full_domain.node_judging import TupleHistograms
from sfumato.models.common.groups import value_shares


@dataclass(frozen=True, eq=False, kw_only=True)
class Rules:
    """The rules of a request, sorted by what a failure means for the nodes below."""

    inherited: RuleTable
    convex: RuleTable
    other: RuleTable
    plain: bool
    """Whether only the size of a group counts."""
    drifting: bool
    """Whether what groups are compared with depends on the rows that are kept; the
    rules above are then weaker than those asked for, and give bounds only."""

    @property
    def minimum(self) -> int:
        """The smallest size of a group."""
        return int(self.inherited.minimum)


@dataclass(frozen=True, eq=False, kw_only=True)
class Coding:
    """A request, ready to be laid out over all or some of its rows."""

    request: Request
    compiled: Compiled
    """All rules, but for those on a population that must be counted by texts."""
    rules: Rules
    people: People | None = None
    """The population, where a rule counts it."""

    @classmethod
    def of(cls, request: Request, *, removable: int | None = None) -> Coding:
        """Compile the rules; `removable` rows (the request's) may be suppressed."""
        people = People.of(request)
        compiled = compile_rules(request, _by_codes(request, people))
        spare = request.removable if removable is None else removable
        return cls(
            request=request,
            compiled=compiled,
            rules=sorted_rules(request, compiled, spare),
            people=people,
        )

    def tuples(
        self, rows: Ints | None = None
    ) -> tuple[Chunks, Layout, TupleHistograms]:
        """Distinct tuples of all or some rows, and the values of each view in them."""
        chosen = slice(None) if rows is None else rows
        quasi = self.request.quasi
        codes = [c.codes if rows is None else c.codes[rows] for c in quasi]
        count = len(codes[0])
        people = known_people(self.request)
        if people is not None:
            codes = [np.append(c, p) for c, p in zip(codes, people, strict=True)]
        chunks, layout = self.request.tuples.once(
            "lattice",
            codes,
            lambda: build_chunks(
                codes,
                [coded.axis.levels for coded in quasi],
                population=len(codes[0]) - count,
            ),
        )
        values = self.compiled.codes[:, chosen]
        runs = build_runs(layout, count, values, len(chunks.counts))
        return chunks, layout, runs

    @cached_property
    def steady(self) -> RuleTable:
        """The rules that do not compare with the rows that are published."""
        return self.compiled.only([r for r in self.compiled.rules if not _drifts(r)])

    def exact(self, references: Mapping[View, Floats]) -> RuleTable:
        """All rules, where groups are compared with these shares."""
        changed = {**self.compiled.references, **references}
        return replace(self.compiled, references=changed).only(self.compiled.rules)

    def shares(self, view: View, rows: Ints) -> Floats:
        """The distribution of a view over some rows, or over their persons."""
        column, request = self.request.sensitive[view.column], self.request
        axis, to_new = roll_up(column.axis, view.level)
        subject = None if request.subject is None else request.subject[rows]
        values = to_new[column.codes[rows]]
        opened = request.missing_any and not view.closed
        return value_shares(axis, values, subject, missing_any=opened)


def _by_codes(request: Request, people: People | None) -> list[Rule]:
    """The rules that kernels can judge by counting codes."""
    untidy = people is not None and not people.tidy
    return [r for r in request.rules() if not (untidy and r.traits.needs_population)]


def build_runs(
    layout: Layout, rows: int, values: Sequence[Codes] | Codes, count: int
) -> TupleHistograms:
    """Count each value of each view in each tuple."""
    tuples = tuples_of_rows(layout, rows) if len(values) else np.zeros(0, np.int64)
    parts = [_run(tuples, codes, count) for codes in values]
    sizes = np.array([int(c.max(initial=0)) + 1 for c in values], dtype=np.int64)
    offsets = np.cumsum([0, *(len(codes) for _, codes, _ in parts)])
    starts = [s + o for (s, _, _), o in zip(parts, offsets, strict=False)]
    return TupleHistograms(
        starts=np.array(starts, dtype=np.int64).reshape(len(parts), count + 1),
        codes=_joined(codes for _, codes, _ in parts),
        counts=_joined(counts for _, _, counts in parts),
        sizes=sizes,
    )


def _joined(parts: Iterable[Codes]) -> Codes:
    none = np.zeros(0, dtype=np.int32)
    return np.asarray(np.concatenate([none, *parts]), dtype=np.int32)


def _run(
    tuples: npt.NDArray[np.int64], codes: Codes, count: int
) -> tuple[npt.NDArray[np.int64], Codes, Codes]:
    """Where each tuple's values start, the values and how often they occur."""
    size = int(codes.max(initial=0)) + 1
    key = np.sort(tuples * size + codes)
    new = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    pairs = key[new]
    starts = np.searchsorted(pairs, np.arange(count + 1) * size)
    counts = np.diff(np.append(new, len(key)))
    return starts, (pairs % size).astype(np.int32), counts.astype(np.int32)


def sorted_rules(request: Request, compiled: Compiled, removable: int) -> Rules:
    """Sort rules by what a failing group means for the nodes below.

    If rows may be left out, what a group is compared with drifts with them. Rules
    that compare are then weakened by as much as they may drift, or left out.
    """
    inherited: list[Rule] = []
    convex: list[Rule] = []
    other: list[Rule] = []
    drifting = removable > 0 and comparing(compiled)
    for rule in compiled.rules:
        if removable > 0 and _drifts(rule):
            convex += _weakened(rule, compiled, removable / max(request.rows, 1))
        elif rule.traits.monotone and not (rule.view and rule.view.others_known):
            inherited.append(rule)
        elif rule.traits.convex and request.subject is None:
            convex.append(rule)
        else:
            other.append(rule)
    return Rules(
        inherited=compiled.only(inherited),
        convex=compiled.only(convex),
        other=compiled.only(other),
        plain=only_sizes(compiled.rules),
        drifting=drifting,
    )


def comparing(compiled: Compiled) -> bool:
    """Whether any rule compares with the rows that are published."""
    return any(map(_drifts, compiled.rules))


def _drifts(rule: Rule) -> bool:
    """Whether a rule depends on which rows are published.

    It does if it compares with them, or asks for a number of them.
    """
    if not rule.traits.compares_with_table or rule.view is None:
        return False
    return rule.view.reference == "published" or rule.exempt_size > 0


def least_published(compiled: Compiled) -> int:
    """Closeness to the table as a superset of n rows needs n published rows."""
    return int(max((rule.exempt_size for rule in compiled.rules), default=0))


def _weakened(rule: Rule, compiled: Compiled, share: float) -> list[Rule]:
    """A rule that holds whenever this one does, whatever share of rows is left out.

    Leaving out a share of the rows moves the distribution of the rest by at most
    that share of its mass, and the earth mover's distance by no more. Ordered
    distances also change when a value vanishes, and the other rules have no bound.
    """
    assert rule.view is not None
    if not rule.traits.limits_distance or compiled.pairs:
        return []
    limit, asked, *rest = rule.parameters
    ground = ground_distance(compiled.axes[rule.view], Distance(int(asked)))
    if ground is Distance.ORDERED:
        return []
    return [replace(rule, parameters=(limit + share, asked, *rest))]
