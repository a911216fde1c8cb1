"""The vocabulary that models and kernels share: views of sensitive columns, and rules.

Models (above) say which rules a group must meet, kernels (below) judge groups by
them; neither imports the other.
"""

from __future__ import annotations

from dataclasses import dataclass
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
