"""The ledger of a release: every use of the data, its cost, and an enforced budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sfumato.dp.amplification import Sampling
from sfumato.dp.cost import Cost, Relation, advanced, group, parallel, sequential
from sfumato.errors import BudgetError, RefusedError


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """One use of the data."""

    what: str
    """What was done, in words: "counts of every value, level 3"."""
    cost: Cost
    rows: str
    """Which rows it used: "all rows", "the sample, in disjoint cells"."""
    parts: tuple[LedgerEntry, ...] = ()
    """What it is made of, where it was composed or amplified."""

    def record(self) -> dict[str, Any]:
        """The entry as plain data, for the manifest."""
        plain: dict[str, Any] = {
            "what": self.what,
            "epsilon": self.cost.epsilon,
            "delta": self.cost.delta,
            "rows": self.rows,
        }
        if self.parts:
            plain["parts"] = [part.record() for part in self.parts]
        return plain


@dataclass(eq=False, kw_only=True)
class Ledger:
    """An account of one release under one neighboring relation.

    Uses add up (sequential composition); with `slack`, an amount of δ set aside, the
    sum may be replaced by advanced composition where that is less. A use that the
    budget does not cover is refused before it happens.

    Example:
        >>> ledger = Ledger(budget=Cost(1.0), relation=Relation.ADD_REMOVE)
        >>> ledger.charge("a count", Cost(0.25), rows="all rows")
        >>> ledger.remaining
        Cost(epsilon=0.75, delta=0.0)
    """

    budget: Cost
    relation: Relation
    slack: float = 0.0
    entries: list[LedgerEntry] = field(default_factory=list)

    @property
    def spent(self) -> Cost:
        """The cost of all entries together."""
        return self._total([entry.cost for entry in self.entries])

    @property
    def remaining(self) -> Cost:
        """What the budget has left, by plain addition."""
        spent = sequential(entry.cost for entry in self.entries)
        return Cost(
            max(self.budget.epsilon - spent.epsilon, 0.0),
            max(self.budget.delta - spent.delta, 0.0),
        )

    def charge(
        self,
        what: str,
        cost: Cost,
        *,
        rows: str,
        relation: Relation | None = None,
        parts: tuple[LedgerEntry, ...] = (),
    ) -> None:
        """Enter a use of the data, or refuse it if the budget does not cover it."""
        self._same(relation)
        self._refuse_beyond(what, cost)
        self.entries.append(LedgerEntry(what=what, cost=cost, rows=rows, parts=parts))

    def charge_parts(self, what: str, costs: list[Cost], *, rows: str) -> None:
        """Enter uses of disjoint rows, as the relation makes them add up."""
        self.charge(what, parallel(costs, relation=self.relation), rows=rows)

    def sample(self, sampling: Sampling, *, share: Cost) -> Ledger:
        """An account for what is done to a sample, worth `share` of this one."""
        self._same(sampling.relation)
        self._refuse_beyond(f"a sample worth {_spelled(share)}", share)
        return Ledger(budget=sampling.affordable(share), relation=self.relation)

    def settle(self, what: str, inner: Ledger, sampling: Sampling) -> None:
        """Enter all that an account of a sample spent, amplified by the sampling."""
        self._same(sampling.relation)
        self._same(inner.relation)
        self.charge(
            what,
            sampling.charged(inner.spent),
            rows=f"a sample, each row with probability {sampling.rate:.6g}",
            parts=tuple(inner.entries),
        )

    def settle_subjects(self, what: str, inner: Ledger, *, size: int) -> None:
        """Enter what an account per row spent, for subjects of up to `size` rows."""
        self._same(inner.relation)
        self.charge(
            what,
            group(inner.spent, size=size),
            rows=f"up to {size} rows per subject",
            parts=tuple(inner.entries),
        )

    def record(self) -> dict[str, Any]:
        """The ledger as plain data, for the manifest."""
        return {
            "relation": str(self.relation),
            "epsilon": self.spent.epsilon,
            "delta": self.spent.delta,
            "entries": [entry.record() for entry in self.entries],
        }

    def _total(self, costs: list[Cost]) -> Cost:
        plain = sequential(costs)
        if not self.slack or not costs:
            return plain
        better = advanced(costs, slack=self.slack)
        return better if better.within(self.budget) else plain

    def _refuse_beyond(self, what: str, cost: Cost) -> None:
        """Refuse a use that the budget does not cover."""
        after = self._total([*(entry.cost for entry in self.entries), cost])
        if not after.within(self.budget):
            raise BudgetError(
                f"'{what}' would bring the cost of this release to {_spelled(after)}; "
                f"its budget is {_spelled(self.budget)}.",
                hint="Ask for less, or raise epsilon or delta of the requirement.",
            )

    def _same(self, relation: Relation | None) -> None:
        if relation is not None and relation is not self.relation:
            raise RefusedError(
                f"This release counts {self.relation} neighbors; a claim about "
                f"{relation} neighbors cannot be added to it.",
                hint="Poisson sampling goes with add-remove, samples of a fixed size "
                "with substitution: use one of them throughout.",
            )


def _spelled(cost: Cost) -> str:
    return f"epsilon {cost.epsilon:.6g}, delta {cost.delta:.3g}"
