"""DP-anonym: truthful rows in cells that were cut with differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, isfinite, log1p
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.private.cell_merging import TreeCells, merged
from sfumato.algorithms.private.node_labels import shown_axes
from sfumato.algorithms.private.noisy_tree import WHOLE_DEPTH, CellTree, grow
from sfumato.algorithms.private.private_algorithm import (
    PrivateAlgorithm,
    asked_rows,
    ledger_of,
    refuse_beyond_groups,
    require,
    share,
    whole,
)
from sfumato.algorithms.private.tree_plan import Depth, TreePlan, first_share
from sfumato.data.arrays import Ints
from sfumato.data.grouping import SUPPRESSED, Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.dp.amplification import Poisson, Sampling, WithoutReplacement
from sfumato.dp.cost import Cost, Relation
from sfumato.dp.ledger import Ledger, LedgerEntry
from sfumato.dp.sampling import poisson, without_replacement
from sfumato.errors import BudgetError, InfeasibleError, PolicyError, RefusedError

SAMPLINGS = ("poisson", "without-replacement")
MEASURES = ("ncp", "average_class_size", "discernibility")
PARTS = {"selection": 0.5, "count": 0.5}
MOST_DEPTH = 1_000
FEW_LEVELS = 10
"""Levels of a tree whose cells are all kept; with thresholds, more are."""


@dataclass(frozen=True, kw_only=True)
class DpAnonym(PrivateAlgorithm):
    """Cuts a random sample into cells by noisy medians, and publishes its rows in them.

    Guarantee: the cuts, and so the cells that quasi-identifiers are shown as, are
        ε-differentially private, ε amplified by the sampling: ln(1 + γ(e^ε₀ − 1)) with
        ε₀ the sum of ε_selection + ε_count over all levels. k-anonymity holds as
        well. Which cells are merged or left out, how many rows a cell has and their
        sensitive values come from the rows themselves and are not covered. For a row
        known to be drawn, the cuts reveal up to ε₀: amplification needs the sample to
        be secret, but the rows of the sample are published.
    Method: level by level, every cell's attribute is chosen by the exponential
        mechanism on the normalized width of its rows, and cut at the median of
        noisy counts of all values of its box. Cells below k are merged afterwards.
    Cost: rows × depth; noise for every value of every cell's box, beyond 10 levels of
        cells that have rows.
    Limits: a truthful release is not differentially private as a whole; `safepub` and
        `dp-synthesis` are. Widths have sensitivity 1, so that a small ε chooses
        attributes almost at random. With hierarchies, a cut among many children of
        a node shows only once a child is alone.
    Reference: Kuksina 2023, chapter 7, with its accounting corrected.
    """

    name: ClassVar[str] = "dp-anonym"
    sentence: ClassVar[str] = (
        "Publishes a random sample in cells that were cut at noisy medians."
    )
    examples: ClassVar[OptionExamples] = (
        {"rows_per_subject": 2, "depth": 3, "sample": 0.5, "rounds": 2},
    )
    every_column: ClassVar[bool] = False
    covers: ClassVar[str] = "the cuts alone"
    leaves_open: ClassVar[str] = (
        "Not covered: how many rows a cell has, their sensitive and other values, and "
        "which cells were merged or left out to reach k. The amplified figure counts on "
        "nobody knowing whose rows were drawn: for rows known to be drawn, and the "
        "release shows drawn rows, the cuts cost epsilon_on_the_sample."
    )

    depth: Depth = 6
    """How often cells are cut in two, at most: the budget is shared evenly among the
    levels; "unlimited": until nothing is left to cut, each level at 0.9 times the cost of
    the level above."""
    sample: float = 0.5
    """The share of rows that is drawn."""
    sampling: Literal["poisson", "without-replacement"] = "poisson"
    """Poisson sampling goes with added or removed rows, a fixed size with substitution."""
    hierarchies: bool = True
    """Whether cuts fall between the children of hierarchy nodes; or between any values."""
    mode: Literal["strict", "relaxed"] = "strict"
    """"strict": rows with equal quasi-identifiers stay in one cell; "relaxed":
    those at a cut are shared out."""
    small: Literal["merge", "suppress"] = "merge"
    """What happens to cells that do not meet the requirements."""
    rounds: int = 1
    """Tries to meet the thresholds; the budget is shared among them in advance."""
    thresholds: Mapping[str, float] | None = None
    """Highest `ncp`, `average_class_size` or `discernibility`, as noisy counts have it."""
    accounting: Literal["true", "thesis"] = "true"
    """`thesis` prints the thesis's own figure beside the true one, for comparison."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_depth()
        share(self, "sample")
        whole(self, "rounds")
        require(self.rounds >= 1, self, "rounds", "1 or more")
        for option, choices in _CHOICES.items():
            good = getattr(self, option) in choices
            require(good, self, option, f"one of: {', '.join(choices)}")
        known = all(
            name in MEASURES and isfinite(limit) and limit > 0
            for name, limit in (self.thresholds or {}).items()
        )
        require(known, self, "thresholds", f"limits above 0 of {', '.join(MEASURES)}")

    def _check_depth(self) -> None:
        if self.depth != "unlimited":
            whole(self, "depth")
            expected = f'1 to {MOST_DEPTH}, or "unlimited"'
            require(1 <= self.depth <= MOST_DEPTH, self, "depth", expected)
        elif self.mode == "relaxed":
            raise PolicyError(
                'dp-anonym: relaxed cuts may leave a box as it is; an "unlimited" depth '
                "would never end.",
                hint='Declare a depth, or set mode = "strict".',
            )
        deep = self.depth == "unlimited" or self.depth > WHOLE_DEPTH
        if self.thresholds and deep:
            raise PolicyError(
                f"dp-anonym: thresholds are judged by the counts of all cells, which trees "
                f"of at most {WHOLE_DEPTH} levels have; 'depth' is {self.depth}.",
                hint=f"Lower depth to {WHOLE_DEPTH}, or remove the thresholds.",
            )

    @property
    def _whole_tree(self) -> bool:
        """Whether cells without rows are kept too: where they are few, or counted."""
        few = self.depth != "unlimited" and self.depth <= FEW_LEVELS
        return few or bool(self.thresholds)

    @property
    def relation(self) -> Relation:
        if self.sampling == "poisson":
            return Relation.ADD_REMOVE
        return Relation.SUBSTITUTION

    def check_models(self, request: Request) -> None:
        refuse_beyond_groups(self, request)
        several = request.subject is not None and self.rows_per_subject > 1
        if several and self.relation is Relation.SUBSTITUTION:
            raise RefusedError(
                "A sample of fixed size needs as many rows as subjects; up to "
                f"{self.rows_per_subject:,} rows of each are used.",
                hint='Set rows_per_subject = 1, or sampling = "poisson".',
            )
        k = asked_rows(request)
        if k < 2:
            raise RefusedError(
                f"'dp-anonym' publishes rows as they are; groups of {k:,} would show "
                "every one of them.",
                hint="Require k-anonymity with k of 2 or more beside it.",
            )
        self._plan(request, ledger_of(request))

    def search(self, request: Request) -> Solution:
        used, rows = self.used(request)
        account = self.row_account(request)
        tree, drawn = self._tree(used, account, asked_rows(request))
        self.settle(request, account)
        allowed = int(request.removable * self.sample + 1e-9)
        grouping, tidy = self._grouping(used.only(drawn), tree, allowed)
        group_of = np.full(request.rows, SUPPRESSED, dtype=np.int32)
        group_of[rows[drawn]] = grouping.group_of
        return Solution(
            grouping=replace(grouping, group_of=group_of),
            facts=self._facts(request, account, tree),
            quasi=tuple(
                replace(shown, codes=coded.codes)
                for shown, coded in zip(tidy, request.quasi, strict=True)
            ),
        )

    def _tree(self, request: Request, account: Ledger, k: int) -> tuple[CellTree, Ints]:
        """Try until the thresholds are met; every round is charged."""
        share = Cost(account.budget.epsilon / self.rounds)
        for number in range(1, self.rounds + 1):
            sampling, drawn = self._drawn(request.rows)
            inner = account.sample(sampling, share=share)
            plan = self._plan(request, inner)
            sampled = request.only(drawn)
            tree = grow(sampled.quasi, plan, inner, request.progress)
            account.settle(f"tree of cuts, round {number}", inner, sampling)
            if self._good_enough(sampled, tree, k):
                return tree, drawn
        raise BudgetError(
            f"None of {self.rounds} rounds met the thresholds; their budget is spent.",
            hint="Raise the thresholds or epsilon, or publish by 'dp-synthesis', the "
            "fall-back that needs no threshold.",
        )

    def _drawn(self, rows: int) -> tuple[Sampling, Ints]:
        if self.sampling == "poisson":
            return Poisson(self.sample), poisson(rows, self.sample)
        size = max(round(self.sample * rows), 1)
        return WithoutReplacement(size, rows), without_replacement(rows, size)

    def _plan(self, request: Request, inner: Ledger) -> TreePlan:
        shares = self.model(request).shares(PARTS)
        return TreePlan.within(
            inner.budget.epsilon,
            depth=self.depth,
            selection=shares["selection"],
            count=shares["count"],
            relation=self.relation,
            hierarchies=self.hierarchies,
            relaxed=self.mode == "relaxed",
            occupied=not self._whole_tree,
        )

    def _good_enough(self, request: Request, tree: CellTree, k: int) -> bool:
        """Judge by noisy counts and public boxes alone, which costs no budget."""
        found = estimates(request, tree, k)
        return all(found[n] <= limit for n, limit in (self.thresholds or {}).items())

    def _grouping(
        self, sampled: Request, tree: CellTree, allowed: int
    ) -> tuple[Grouping, tuple[Any, ...]]:
        cells = merged(
            TreeCells.of(sampled, tree), tree.splits, join=self.small == "merge"
        )
        out = cells.left_out
        if self.small == "suppress" and out > allowed:
            raise InfeasibleError(
                f"Leaving out cells that do not meet the requirements takes {out:,} of "
                f"{sampled.rows:,} drawn rows; {allowed:,} may be left out.",
                hint='Set small = "merge", raise publish.max_suppressed or lower depth.',
            )
        axes, nodes = shown_axes(
            sampled.quasi, cells.low, cells.high, hierarchies=self.hierarchies
        )
        return Grouping(cells.group_of, len(cells.low), nodes=nodes), axes

    def _facts(
        self, request: Request, account: Ledger, tree: CellTree
    ) -> dict[str, Any]:
        """Figures of the release: what all rounds cost one row, or one subject."""
        rows = 1 if request.subject is None else self.rows_per_subject
        facts: dict[str, Any] = {"cells": tree.count} if self._whole_tree else {}
        facts |= {
            "rounds": len(account.entries),
            "epsilon_per_level": rows * self._first_level(account.entries[-1]),
            "epsilon_on_the_sample": rows * sum(map(_on_sample, account.entries)),
            "epsilon_amplified": ledger_of(request).spent.epsilon,
        }
        if self.accounting == "thesis":
            facts["epsilon_by_the_thesis"] = self._thesis(account.entries[-1])
        return facts

    def _thesis(self, round_: LedgerEntry) -> float:
        """ε_selection + ε_count of one level, amplified: what section 7.3 would claim."""
        touched = 1 if self.relation is Relation.ADD_REMOVE else 2
        once = self._first_level(round_) / touched
        return log1p(self.sample * (exp(once) - 1))

    def _first_level(self, round_: LedgerEntry) -> float:
        """What the first level cost on the sample; further ones cost no more."""
        return _on_sample(round_) * first_share(self.depth)


def _on_sample(round_: LedgerEntry) -> float:
    """What a round costs a row that is known to be drawn."""
    return sum(part.cost.epsilon for part in round_.parts)


_CHOICES = {
    "sampling": SAMPLINGS,
    "mode": ("strict", "relaxed"),
    "small": ("merge", "suppress"),
    "accounting": ("true", "thesis"),
}


def estimates(request: Request, tree: CellTree, k: int) -> dict[str, float]:
    """Estimate a tree's utility from its noisy counts: free post-processing."""
    sizes = np.maximum(tree.sizes, 0.0)
    total = max(float(sizes.sum()), 1.0)
    per_cell = np.zeros(tree.count)
    for axis, coded in enumerate(request.quasi):
        cover = coded.axis.covering(tree.low[:, axis], tree.high[:, axis])
        per_cell += coded.axis.node_ncp[cover]
    return {
        "ncp": float((per_cell * sizes).sum() / total / len(request.quasi)),
        "average_class_size": total / tree.count / k,
        "discernibility": float((sizes**2).sum()),
    }
