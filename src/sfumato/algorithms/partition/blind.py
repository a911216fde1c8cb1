"""Blind grouping: groups made without sensitive values, larger ones until all hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.data.grouping import Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.data.rules import Rule, least_rows
from sfumato.errors import PolicyError, RefusedError, SearchError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.k_anonymity import KAnonymity


@dataclass(frozen=True, kw_only=True)
class Blind(Algorithm):
    """Groups of k rows by another algorithm, k doubled until every requirement holds.

    Guarantee: every group meets every requirement; no row is left out by the search.
    Sensitive values decide one number for the whole table, how often k is doubled. Of
    all groups that were not made, whoever knows the algorithm learns only that one of
    them or more would have broken a requirement.
    Method: the base algorithm is asked for groups of k rows or persons, and every
    sensitive column that it sees is blank. If any group breaks a requirement, it is
    asked again for twice as many. The last try is the whole table as one group.
    Cost: one run of the base algorithm per try.
    Limits: a single group that breaks a requirement makes all groups larger. In small
    tables the one number still tells something; `simulatable` leaves nothing to tell.
    If rows must be left out before the search, the choice depends on their values.
    Reference: Wong, Fu, Wang and Pei 2007 make groups by quasi-identifiers first, too;
    they then change the values of groups that break a requirement.
    """

    name: ClassVar[str] = "blind"
    sentence: ClassVar[str] = (
        "Groups rows without their sensitive values, by a larger k until all is met."
    )
    examples: ClassVar[OptionExamples] = ({"base": "k-member"},)
    counts_population: ClassVar[bool] = False

    base: str = "mondrian"
    """The algorithm that groups rows by their quasi-identifiers."""

    def __post_init__(self) -> None:
        if self.base == self.name:
            raise PolicyError(
                f"{self.name}: 'base' is '{self.base}'.",
                hint="Name another algorithm, such as 'mondrian' or 'k-member'.",
            )

    def serves(self, rule: Rule) -> bool:
        """Whether groups that meet a rule meet it as one, too."""
        return rule.traits.convex

    def check(self, request: Request) -> None:
        super().check(request)
        if request.resolve(self.base).certifies:
            raise PolicyError(
                f"{self.name}: 'base' is '{self.base}', whose groups are private.",
                hint="Name another algorithm, such as 'mondrian' or 'k-member'.",
            )
        if self.refine:
            raise RefusedError(
                f"'{self.name}' cannot be refined: refinement looks at sensitive values.",
                hint="Leave out 'refine', or name another algorithm.",
            )

    def search(self, request: Request) -> Solution:
        """Double k until the groups meet every requirement."""
        for k, grouping in self._tries(request):
            request.progress("trying larger groups", min(k / max(request.rows, 1), 1.0))
            seen = request.seen(grouping)
            if all(request.meets(model, seen).holds for model in request.models):
                facts = {"groups": grouping.count, "rows_suppressed": 0, "k": k}
                return Solution(grouping=grouping, facts=facts)
        raise SearchError(
            f"'{self.name}' found no size at which all groups meet the requirements.",
            hint="Name an algorithm that looks at sensitive values, such as 'best'.",
        )

    def _tries(self, request: Request) -> Iterator[tuple[int, Grouping]]:
        """Groupings of the base algorithm, each of twice as large groups."""
        base: Algorithm = request.resolve(self.base)()
        people = request.rows
        if request.subject is not None:
            people = len(np.unique(request.subject))
        k = least_rows(request.rules())
        while 2 * k <= people:
            asked = replace(
                request,
                models=(KAnonymity(k=k),),
                sensitive=_blanked(request.sensitive),
                removable=0,
            )
            yield k, base.solve(asked).grouping
            k *= 2
        yield people, Grouping(np.zeros(request.rows, dtype=np.int32), 1)


def _blanked(sensitive: Mapping[str, CodedAxis]) -> dict[str, CodedAxis]:
    """Sensitive columns in which everybody has the same value."""
    return {n: CodedAxis(s.axis, np.zeros_like(s.codes)) for n, s in sensitive.items()}
