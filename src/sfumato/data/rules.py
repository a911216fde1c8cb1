"""The common tongue of models and kernels: views of sensitive columns, and rules.

Models (above) say which rules a group must meet, kernels (below) judge groups by
them; neither imports the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class RuleKind(IntEnum):
    """What a rule asks of one group."""

    SIZE = 0
    DISTINCT = 1


@dataclass(frozen=True, order=True)
class View:
    """One way of looking at a sensitive column.

    `level` rolls values up in the column's hierarchy (0: as published). With
    `others_known`, groups are split further by all other sensitive columns.
    `reference` says whose distribution groups are compared with.
    """

    column: str
    level: int = 0
    others_known: bool = False
    reference: str = "published"


SUBJECT = View("\0subject")
"""The subject column, for rules that count persons: no column has this name."""


@dataclass(frozen=True)
class Rule:
    """One row of the kernels' rule table: a kind, what it looks at, its parameters.

    `view` is None for rules on size alone.
    """

    kind: RuleKind
    view: View | None = None
    parameters: tuple[float, ...] = ()
