"""Every kind of rule is what the table of traits says: random groups try to refute it.

A trait that is claimed is never refuted. One that is denied is: a kind that could
have it would be searched worse than it might be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np
import pytest

from sfumato.data.rules import (
    SUBJECT,
    TRAITS,
    Distance,
    Rule,
    RuleKind,
    View,
    kinds_where,
    least_rows,
    only_sizes,
)
from sfumato.data.schema import Kind
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.kernels.common.group_rules import group_ok, rule_table
from sfumato.testing.random_groups import COLUMN, flat_axis, random_axis

VIEW = View(COLUMN)
SHAPES = ("flat", "ordered", "tree", "line")
VALUES = 5
DRAWS = 150
"""Random cases per example; a denied trait is refuted by one of the first."""


def on_view(kind: RuleKind, *parameters: float, **more: tuple[str, ...]) -> Rule:
    return Rule(kind, VIEW, parameters, **more)


EXAMPLES = {
    RuleKind.SIZE: [Rule(RuleKind.SIZE, None, (4,))],
    RuleKind.DISTINCT: [on_view(RuleKind.DISTINCT, 3)],
    RuleKind.ENTROPY: [on_view(RuleKind.ENTROPY, float(np.log(2.5)))],
    RuleKind.RECURSIVE: [
        on_view(RuleKind.RECURSIVE, 1.5, 2),
        on_view(RuleKind.RECURSIVE, 2.0, 3),
        on_view(RuleKind.RECURSIVE, 1.0, 2, exempt=("v0",)),
    ],
    RuleKind.OCCURRENCE: [
        on_view(RuleKind.OCCURRENCE, 0.2, required=("v0", "v2")),
        on_view(RuleKind.OCCURRENCE, 0.2, required=("v0",)),
    ],
    RuleKind.SHARE: [on_view(RuleKind.SHARE, 0.5)],
    RuleKind.CLOSENESS: [
        on_view(RuleKind.CLOSENESS, 0.3, Distance.EQUAL, 0),
        on_view(RuleKind.CLOSENESS, 0.2, Distance.DEFAULT, 0),
        on_view(RuleKind.CLOSENESS, 0.15, Distance.DEFAULT, 6),
    ],
    RuleKind.LIKENESS: [
        on_view(RuleKind.LIKENESS, 0.9, 0),
        on_view(RuleKind.LIKENESS, 2.0, 1),
    ],
    RuleKind.DISCLOSURE: [
        on_view(RuleKind.DISCLOSURE, 1.0),
        on_view(RuleKind.DISCLOSURE, 0.5),
    ],
    RuleKind.POPULATION: [Rule(RuleKind.POPULATION, None, (6,))],
    RuleKind.PRESENCE: [Rule(RuleKind.PRESENCE, None, (0.4, 0.8))],
    RuleKind.RANGE: [
        on_view(RuleKind.RANGE, 0.3, 0.5),
        on_view(RuleKind.RANGE, 0.7, 0.6),
    ],
}
every_kind = pytest.mark.parametrize("kind", RuleKind, ids=lambda kind: kind.name)


class Rows(NamedTuple):
    """A group: the sensitive values of its rows, and who of the population matches."""

    values: np.ndarray
    people: int


@dataclass(frozen=True)
class Table:
    """What a rule may compare a group with."""

    axis: Axis
    shares: np.ndarray
    missing_any: bool = False

    def allows(self, rule: Rule, group: Rows) -> bool:
        """Whether the compiled rules allow a group."""
        views = [] if rule.view is None else [rule.view]
        table = rule_table(
            [rule],
            views,
            axes=dict.fromkeys(views, self.axis),
            references=dict.fromkeys(views, self.shares),
            missing_any=self.missing_any,
        )
        counts = np.bincount(group.values, minlength=self.axis.size)
        return bool(
            group_ok(
                len(group.values),
                group.people,
                np.arange(self.axis.size, dtype=np.int32)[None],
                counts[None],
                np.array([self.axis.size]),
                table,
            )
        )


def groups(generator: np.random.Generator) -> Iterator[tuple[Table, Rows, Rows]]:
    """Tables without end, each with two groups that have no row in common."""
    while True:
        shape = SHAPES[int(generator.integers(4))]
        axis = random_axis(generator, shape=shape, values=VALUES, missing=False)
        likely = generator.dirichlet(np.full(VALUES, 0.8))
        values = generator.choice(VALUES, int(generator.integers(8, 20)), p=likely)
        shares = np.bincount(values, minlength=VALUES) / len(values)
        cut = int(generator.integers(1, len(values)))
        ends = sorted((cut, int(generator.integers(cut, len(values) + 1))))
        one, two = values[: ends[0]], values[ends[0] : ends[1]]
        people = [len(rows) + int(generator.integers(0, 8)) for rows in (one, two)]
        yield Table(axis, shares), Rows(one, people[0]), Rows(two, people[1])


def together(one: Rows, two: Rows) -> Rows:
    """Two groups as one: whoever matched either still matches, and more may."""
    values = np.concatenate([one.values, two.values])
    return Rows(values, one.people + two.people + len(values) % 3)


Refutation = Callable[[Rule, Table, Rows, Rows], bool]


def refuted(kind: RuleKind, refutes: Refutation) -> bool:
    """Whether a random case refutes what a trait says of a kind."""
    for rule in EXAMPLES[kind]:
        cases = groups(np.random.default_rng(11))
        if any(refutes(rule, *case) for case in islice(cases, DRAWS)):
            return True
    return False


@every_kind
def test_every_kind_has_traits_and_an_example(kind):
    assert kind in TRAITS
    assert [rule.kind for rule in EXAMPLES[kind]] == [kind] * len(EXAMPLES[kind])


@every_kind
def test_traits_do_not_contradict_each_other(kind):
    traits = kind.traits
    assert traits.convex or not traits.monotone
    assert traits.monotone or not traits.bounds_rows
    assert traits.compares_with_table or not traits.compares_shares
    assert traits.compares_shares or not traits.limits_distance
    assert traits.needs_axis or not traits.compares_with_table
    assert traits.needs_population or not traits.limits_presence


@every_kind
def test_more_rows_can_only_help_where_a_kind_is_monotone(kind):
    def refutes(rule: Rule, table: Table, one: Rows, two: Rows) -> bool:
        met = table.allows(rule, one)
        return met and not table.allows(rule, together(one, two))

    assert refuted(kind, refutes) is not kind.traits.monotone


def broken_together(rule: Rule, table: Table, one: Rows, two: Rows) -> bool:
    """Whether two groups meet a rule and break it as one."""
    met = len(two.values) and table.allows(rule, one) and table.allows(rule, two)
    return bool(met) and not table.allows(rule, together(one, two))


@pytest.mark.parametrize("kind", kinds_where(lambda traits: traits.convex))
def test_two_groups_that_meet_a_convex_rule_meet_it_together(kind):
    assert not refuted(RuleKind(kind), broken_together)


def test_two_groups_may_break_a_rule_on_ranges_together():
    """Two values that are far apart, twice; each has a near one in the other group."""
    numbers = np.array([0.0, 2.0, 4.0, 6.0, 10.0])
    axis = flat_axis(
        COLUMN, VALUES, kind=Kind.INTEGER, shape=Shape.FREE, positions=numbers
    )
    table = Table(axis, np.full(VALUES, 1 / VALUES))
    one, two = Rows(np.array([0, 2]), 0), Rows(np.array([1, 3]), 0)
    assert not RuleKind.RANGE.traits.convex
    assert broken_together(on_view(RuleKind.RANGE, 0.3, 0.5), table, one, two)


def test_two_groups_may_break_a_lower_limit_on_presence_together():
    """Cells that cover both groups match people whom neither matched."""
    rows = Rows(np.array([0, 1]), 5)
    table = Table(flat_axis(COLUMN, VALUES), np.full(VALUES, 1 / VALUES))
    assert not RuleKind.PRESENCE.traits.convex
    rule = Rule(RuleKind.PRESENCE, None, (0.4, 0.8))
    assert broken_together(rule, table, rows, rows)


@every_kind
def test_only_kinds_that_compare_with_the_table_depend_on_it(kind):
    def depends(rule: Rule, table: Table, one: Rows, two: Rows) -> bool:
        shares = np.bincount(one.values, minlength=VALUES) / len(one.values)
        other = replace(table, shares=shares)
        return table.allows(rule, one) != other.allows(rule, one)

    assert refuted(kind, depends) is kind.traits.compares_with_table


@every_kind
def test_only_kinds_that_compare_shares_depend_on_how_common_values_are(kind):
    def depends(rule: Rule, table: Table, one: Rows, two: Rows) -> bool:
        known = table.shares > 0
        even = replace(table, shares=known / known.sum())
        return table.allows(rule, one) != even.allows(rule, one)

    assert refuted(kind, depends) is kind.traits.compares_shares


@every_kind
def test_only_kinds_that_need_a_population_depend_on_it(kind):
    def depends(rule: Rule, table: Table, one: Rows, two: Rows) -> bool:
        more = one._replace(people=one.people + 9)
        return table.allows(rule, one) != table.allows(rule, more)

    assert refuted(kind, depends) is kind.traits.needs_population


@every_kind
def test_only_kinds_that_need_an_axis_ask_for_one(kind):
    for rule in EXAMPLES[kind]:
        views = [rule.view] if rule.view else []
        if kind.traits.needs_axis or rule.exempt:
            with pytest.raises(ValueError, match=f"{kind.name} rule needs the axis"):
                rule_table([rule], views)
        else:
            assert len(rule_table([rule], views).heads) == len(views)


@every_kind
def test_a_kind_is_read_twice_where_one_reading_does_not_imply_the_other(kind):
    def refutes(rule: Rule, table: Table, one: Rows, two: Rows) -> bool:
        if rule.view is None:
            return False
        gap = replace(table.axis, missing=VALUES - 1)
        opened = Table(gap, _without_missing(table.shares), missing_any=True)
        closed = replace(rule, view=replace(rule.view, closed=True))
        met = opened.allows(rule, one)
        return met and not replace(table, axis=gap).allows(closed, one)

    assert refuted(kind, refutes) is kind.traits.read_twice


def _without_missing(shares: np.ndarray) -> np.ndarray:
    known = shares.copy()
    known[-1] = 0.0
    return known / known.sum() if known.any() else shares


@every_kind
def test_a_kind_on_sizes_alone_asks_for_its_parameter(kind):
    def departs(rule: Rule, table: Table, one: Rows, two: Rows) -> bool:
        return table.allows(rule, one) != (len(one.values) >= rule.parameters[0])

    assert refuted(kind, departs) is not kind.traits.size_alone


@every_kind
def test_a_kind_that_counts_values_asks_for_its_parameter(kind):
    def departs(rule: Rule, table: Table, one: Rows, two: Rows) -> bool:
        found = len(np.unique(one.values))
        return table.allows(rule, one) != (found >= rule.parameters[0])

    assert refuted(kind, departs) is not kind.traits.counts_values


@every_kind
def test_a_kind_that_limits_shares_asks_for_its_parameter(kind):
    def departs(rule: Rule, table: Table, one: Rows, two: Rows) -> bool:
        most = np.bincount(one.values).max() / len(one.values)
        return table.allows(rule, one) != (most <= rule.parameters[0])

    assert refuted(kind, departs) is not kind.traits.limits_shares


def test_a_kind_without_a_formula_allows_no_group():
    rule = EXAMPLES[RuleKind.RANGE][0]
    axis = random_axis(np.random.default_rng(1), shape="flat", values=3, missing=False)
    table = rule_table([rule], [VIEW], axes={VIEW: axis})
    unknown = table._replace(kinds=np.array([max(RuleKind) + 1]))
    codes, counts = np.arange(3, dtype=np.int32)[None], np.full((1, 3), 5)
    assert group_ok(15, 0, codes, counts, np.array([3]), table)
    assert not group_ok(15, 0, codes, counts, np.array([3]), unknown)


def test_no_group_is_smaller_than_the_largest_number_of_rows_or_values_asked_for():
    rules = [rule for kind in RuleKind for rule in EXAMPLES[kind]]
    assert least_rows(rules) == 4
    assert least_rows([on_view(RuleKind.SHARE, 0.1)]) == 1


def test_only_sizes_count_where_no_rule_looks_at_anything_else():
    assert only_sizes(EXAMPLES[RuleKind.SIZE])
    assert not only_sizes([*EXAMPLES[RuleKind.SIZE], *EXAMPLES[RuleKind.DISTINCT]])


def test_persons_are_members_of_a_group_and_values_are_not():
    assert Rule(RuleKind.DISTINCT, SUBJECT, (3,)).counts_members
    assert EXAMPLES[RuleKind.SIZE][0].counts_members
    assert not EXAMPLES[RuleKind.DISTINCT][0].counts_members


def test_only_a_limit_on_a_distance_exempts_groups_by_size():
    found = {kind: max(r.exempt_size for r in EXAMPLES[kind]) for kind in RuleKind}
    assert {kind: n for kind, n in found.items() if n} == {RuleKind.CLOSENESS: 6}


def test_compiled_code_gets_the_kinds_with_a_trait_as_integers():
    found = kinds_where(lambda traits: traits.limits_presence)
    assert found == (int(RuleKind.PRESENCE),)
    assert {type(kind) for kind in found} == {int}
