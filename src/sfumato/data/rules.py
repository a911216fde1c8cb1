"""The vocabulary that models and kernels share: views of sensitive columns, and rules.

Models (above) say which rules a group must meet, kernels (below) judge groups by
them; neither imports the other. What sets one kind of rule apart from another is
written once, in `TRAITS`: code that treats kinds differently asks there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum


class RuleKind(IntEnum):
    """What a rule asks of one group, with its parameters in order.

    Shares of *confidence* (SHARE, OCCURRENCE, PRESENCE) are of the group's rows, or
    persons; *distributions* (the rest) are of all entries of the histogram. The two
    differ only where one person has several values.
    """

    SIZE = 0
    """At least `k` rows."""
    DISTINCT = 1
    """At least `l` distinct values."""
    ENTROPY = 2
    """Entropy of at least `log l` (natural logarithm)."""
    RECURSIVE = 3
    """(`c`, `l`): the commonest value outside `Rule.exempt` is less than c times the
    rest, the l − 2 commonest other values left out."""
    OCCURRENCE = 4
    """Every value of `Rule.required` has a share of at least `c2`."""
    SHARE = 5
    """No value has a share above `limit`."""
    CLOSENESS = 6
    """(`t`, `distance`, `exempt_size`): earth mover's distance to the reference of at
    most t, or at least `exempt_size` rows; `distance` is a `Distance`."""
    LIKENESS = 7
    """(`beta`, `enhanced`): no share exceeds its reference by more than β times it,
    nor, if enhanced, by more than −ln of the reference times it."""
    DISCLOSURE = 8
    """Every value of the reference occurs, |ln(share / reference)| below `delta`."""
    POPULATION = 9
    """At least `k` matching rows of the population."""
    PRESENCE = 10
    """(`lower`, `upper`): rows over matching rows of the population."""
    RANGE = 11
    """(`r`, `at_most`): S-diversity for estimation power r."""

    @property
    def traits(self) -> Traits:
        """What holds for every rule of this kind."""
        return TRAITS[self]


class Distance(IntEnum):
    """How far apart two values are, for the earth mover's distance."""

    DEFAULT = 0
    """Ordered for numbers, dates and ordered categories; hierarchical where there is
    a hierarchy; equal otherwise."""
    EQUAL = 1
    ORDERED = 2
    HIERARCHICAL = 3


@dataclass(frozen=True, order=True)
class View:
    """One way of looking at a sensitive column.

    `level` rolls values up in the column's hierarchy (0: as published). With
    `others_known`, groups are split further by all other sensitive columns.
    `reference` says whose distribution groups are compared with: that of the
    "published" rows or of the "source".
    """

    column: str
    level: int = 0
    others_known: bool = False
    reference: str = "published"
    closed: bool = False
    """Whether a missing cell is a value of its own even where it may be any value."""


SUBJECT = View("\0subject")
"""The subject column, for rules that count persons: no column has this name."""


@dataclass(frozen=True)
class Rule:
    """One row of the kernels' rule table: a kind, what it looks at, its parameters.

    `view` is None for rules on size alone. What each kind asks is written at
    `RuleKind`.
    """

    kind: RuleKind
    view: View | None = None
    parameters: tuple[float, ...] = ()
    exempt: tuple[str, ...] = ()
    """Values that may be disclosed (RECURSIVE)."""
    required: tuple[str, ...] = ()
    """Values that may not be ruled out (OCCURRENCE)."""

    @property
    def traits(self) -> Traits:
        """What holds for every rule of its kind."""
        return self.kind.traits

    @property
    def counts_members(self) -> bool:
        """Whether it asks for a number of rows, or of persons, and nothing else."""
        persons = self.traits.counts_values and self.view == SUBJECT
        return self.traits.size_alone or persons

    @property
    def exempt_size(self) -> float:
        """How many rows free a group from a limit on its distance; 0 if none do."""
        limited = self.traits.limits_distance and len(self.parameters) > 2
        return self.parameters[2] if limited else 0.0


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What holds for every rule of a kind, beside its formula.

    The first six have no default: a wrong answer loses groups that are allowed, or
    keeps groups that are not, so somebody has to give one. The others say what the
    parameters mean, for code that can use them; a kind without them is served without.
    """

    monotone: bool
    """More rows can only help. Every part of a group that breaks it breaks it too, so
    only merging repairs it, and a search may drop everything finer."""
    convex: bool
    """Disjoint groups that meet it also meet it as one. If a group breaks it, so does
    at least one part, however the group is split."""
    compares_with_table: bool
    """What a group may hold depends on the sensitive values of all published rows.
    Whoever leaves out rows has to ask again."""
    needs_population: bool
    """It counts the people of a population who match a group, which the group's own
    rows do not tell."""
    needs_axis: bool
    """It looks up the labels, order, tree or reference shares of its view's values."""
    read_twice: bool
    """If missing cells may be any value, it must also hold with missing as a value of
    its own: the one does not follow from the other."""

    size_alone: bool = False
    """A group needs `parameters[0]` rows and nothing else. Kernels keep the largest."""
    counts_values: bool = False
    """A group needs `parameters[0]` distinct values, or persons."""
    limits_shares: bool = False
    """No value may have a share above `parameters[0]`."""
    limits_common_values: bool = False
    """Moving out rows with the most common values, or the most over-represented ones,
    brings a group closer to meeting it."""
    compares_shares: bool = False
    """It compares the share of each value in the group with that in the table."""
    limits_distance: bool = False
    """The parameters are (limit, `Distance`, exempt size). A limit can be tightened to
    leave room, or loosened by as much as the reference may move."""
    limits_presence: bool = False
    """The parameters are (lower, upper): bounds on rows over matching people. A lower
    bound above 0 asks that everybody matches some group."""

    @property
    def bounds_rows(self) -> bool:
        """Whether every group that meets it has at least `parameters[0]` rows."""
        return self.size_alone or self.counts_values


_MORE_IS_BETTER = Traits(
    monotone=True,
    convex=True,
    compares_with_table=False,
    needs_population=False,
    needs_axis=False,
    read_twice=False,
)
"""Rules that ask for a number of something."""
_ON_COUNTS = replace(_MORE_IS_BETTER, monotone=False)
"""Rules on how often the group's own values occur."""
_ON_SHARES = replace(
    _ON_COUNTS,
    compares_with_table=True,
    needs_axis=True,
    read_twice=True,
    compares_shares=True,
)
"""Rules that compare the group's distribution with the table's."""

TRAITS: Mapping[RuleKind, Traits] = {
    RuleKind.SIZE: replace(_MORE_IS_BETTER, size_alone=True),
    RuleKind.DISTINCT: replace(_MORE_IS_BETTER, counts_values=True),
    RuleKind.ENTROPY: replace(_ON_COUNTS, limits_common_values=True),
    RuleKind.RECURSIVE: replace(_ON_COUNTS, read_twice=True, limits_common_values=True),
    RuleKind.OCCURRENCE: replace(_ON_COUNTS, needs_axis=True, read_twice=True),
    RuleKind.SHARE: replace(_ON_COUNTS, limits_shares=True, limits_common_values=True),
    RuleKind.CLOSENESS: replace(
        _ON_SHARES, limits_common_values=True, limits_distance=True
    ),
    RuleKind.LIKENESS: replace(_ON_SHARES, limits_common_values=True),
    RuleKind.DISCLOSURE: _ON_SHARES,
    RuleKind.POPULATION: replace(_MORE_IS_BETTER, needs_population=True),
    RuleKind.PRESENCE: replace(
        _ON_COUNTS, convex=False, needs_population=True, limits_presence=True
    ),
    RuleKind.RANGE: replace(_ON_SHARES, convex=False, compares_shares=False),
}
"""The traits of every kind. A new kind needs a line here, or the tests fail."""


def kinds_where(holds: Callable[[Traits], bool]) -> tuple[int, ...]:
    """The kinds with a trait, as integers that compiled code can compare."""
    return tuple(int(kind) for kind, traits in TRAITS.items() if holds(traits))


def least_rows(rules: Iterable[Rule]) -> int:
    """A size that no group can go below: of k rows, or of rows with l values."""
    sizes = [rule.parameters[0] for rule in rules if rule.traits.bounds_rows]
    return max(1, math.ceil(max(sizes, default=1)))


def only_sizes(rules: Iterable[Rule]) -> bool:
    """Whether the size of a group is all that these rules look at."""
    return all(rule.traits.size_alone for rule in rules)
