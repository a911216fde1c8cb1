"""The request that an algorithm gets, and the solution that it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.data.grouping import Grouping
from sfumato.data.rules import SUBJECT, Rule, View
from sfumato.data.seeds import Seed
from sfumato.data.shared_tuples import SharedTuples
from sfumato.dp.ledger import Ledger
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.sensitive_axis import roll_up
from sfumato.models.base import (
    Groups,
    Histogram,
    OutputModel,
    ProcessModel,
    Scope,
    Verdict,
)
from sfumato.models.common.groups import build_groups, value_shares
from sfumato.models.common.targets import matching

Progress = Callable[[str, float], None]
"""Called with the current step and the share done, 0 … 1; may raise to cancel."""


def _closed(rule: Rule) -> Rule:
    assert rule.view is not None
    return replace(rule, view=replace(rule.view, closed=True))


Look = Callable[[tuple[CodedAxis, ...], Grouping], npt.NDArray[np.int64]]
"""Numbers groups by the cells that they will show; equal numbers show equal cells."""


def silent(_step: str, _share: float) -> None:
    """Report no progress."""


def no_other(name: str) -> Any:
    """Refuse to find another algorithm: the request has no catalogue."""
    raise PolicyError(f"The algorithm '{name}' is not available here.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """Everything an algorithm may know."""

    quasi: tuple[CodedAxis, ...]
    models: tuple[OutputModel, ...]
    sensitive: Mapping[str, CodedAxis] = field(default_factory=dict)
    subject: npt.NDArray[np.int32] | None = None
    """The person behind each row, where declared."""
    population: tuple[npt.NDArray[np.int32], ...] | None = None
    """Codes of the population table's rows, one array per quasi-identifier."""
    beside: tuple[CodedAxis, ...] = ()
    """The other published columns on declared axes, for algorithms whose guarantee
    covers every column."""
    process: tuple[ProcessModel, ...] = ()
    """Requirements that the process of making the release must meet."""
    ledger: Ledger | None = None
    """The account of every use of the data, where a process model is required."""
    removable: int = 0
    """How many rows may be left out."""
    missing_any: bool = False
    """Whether a missing sensitive value may also stand for any value."""
    seed: Seed = field(default_factory=Seed.fresh)
    threads: int = 2
    memory_short: bool = False
    """Whether nothing should be held in memory beside something else."""
    progress: Progress = silent
    resolve: Callable[[str], Any] = no_other
    """Finds the class of another algorithm, for those that build on others."""
    tuples: SharedTuples = field(default_factory=SharedTuples)
    """Distinct tuples that were laid out before, for requests on the same rows."""
    lossless: float = 0.0
    """What the source itself costs on these axes; taken off every loss that is told."""
    look: Look | None = None
    """How groups will look in the release; None: no two of them look alike."""
    table: Request | None = None
    """The request of which this is a part: groups are compared with its distribution."""
    source: Request | None = None
    """The request before any row was left out: `reference = "source"` means its rows."""

    @property
    def rows(self) -> int:
        return len(self.quasi[0].codes) if self.quasi else 0

    def only(self, rows: npt.NDArray[np.int64]) -> Request:
        """The same request on some of the rows."""
        return replace(
            self,
            quasi=tuple(CodedAxis(q.axis, q.codes[rows]) for q in self.quasi),
            beside=tuple(CodedAxis(b.axis, b.codes[rows]) for b in self.beside),
            sensitive={
                name: CodedAxis(s.axis, s.codes[rows])
                for name, s in self.sensitive.items()
            },
            subject=None if self.subject is None else self.subject[rows],
            removable=self.removable - (self.rows - len(rows)),
            source=self.source or self,
        )

    def compared_with(self, view: View) -> Request:
        """The request whose distribution groups are compared with."""
        table = self.table or self
        return (table.source or table) if view.reference == "source" else table

    def rules(self) -> tuple[Rule, ...]:
        """The rules of all models, in their order."""
        names, subjects = tuple(self.sensitive), self.subject is not None
        found = tuple(
            rule
            for model in self.models
            for rule in model.rules(names, subjects=subjects)
        )
        return (*found, *(_closed(rule) for rule in found if self._reads_twice(rule)))

    def _reads_twice(self, rule: Rule) -> bool:
        """Whether a rule must also hold with missing cells as a value of their own.

        Of sizes, distinct values, shares and entropy that follows: a missing cell
        counted as another value makes them no better.
        """
        if not self.missing_any or rule.view is None or not rule.traits.read_twice:
            return False
        return self.sensitive[rule.view.column].axis.missing >= 0

    def meets(self, model: OutputModel, grouping: Grouping) -> Verdict:
        """Judge a grouping by a model, at the worst meaning of missing cells."""
        verdict = model.verify(self.groups(grouping))
        if not (verdict.holds and self.missing_any):
            return verdict
        return model.verify(replace(self, missing_any=False).groups(grouping))

    def seen(self, grouping: Grouping) -> Grouping:
        """The groups that a recipient sees, to be judged: those that look alike are one.

        The grouping itself, if no two groups look alike or joining breaks no requirement.
        """
        if self.look is None or not self.joining_may_break:
            return grouping
        number = self.look(self.quasi, grouping)
        if len(np.unique(number)) == grouping.count:
            return grouping
        return Grouping.renumbered(
            np.where(grouping.kept, number[grouping.group_of], -1)
        )

    @cached_property
    def joining_may_break(self) -> bool:
        """Whether groups may meet all requirements apart, and break one as one group."""
        rules = [rule for rule in self.rules() if not rule.traits.needs_population]
        if not all(rule.traits.convex for rule in rules):
            return True
        if self.subject is None or len(np.unique(self.subject)) == self.rows:
            return False
        table = any(model.scope is Scope.TABLE for model in self.models)
        return table or not all(rule.traits.monotone for rule in rules)

    def groups(
        self, grouping: Grouping, *, population: npt.NDArray[np.int64] | None = None
    ) -> Groups:
        """The groups of a grouping, as the models see them."""
        names = tuple(self.sensitive)
        views = {view for model in self.models for view in model.views(names)}
        groups = build_groups(
            grouping.group_of,
            grouping.count,
            sensitive=self.sensitive,
            views=sorted(views),
            subject=self.subject,
            population=population,
            missing_any=self.missing_any,
            source_reference=self._source_shares(views),
        )
        groups = replace(groups, histograms=self._beside_table(groups.histograms))
        targets = {target for model in self.models for target in model.targets()}
        if not targets:
            return groups
        return replace(
            groups,
            matching={
                target: matching(
                    target, grouping, quasi=self.quasi, sensitive=self.sensitive
                )
                for target in targets
            },
        )

    def _beside_table(
        self, histograms: Mapping[View, Histogram]
    ) -> Mapping[View, Histogram]:
        """Histograms of a part of a table, compared with the whole table."""
        if self.table is None:
            return histograms
        return {
            view: replace(found, reference=self._shares(self.compared_with(view), view))
            for view, found in histograms.items()
        }

    def _shares(self, whole: Request, view: View) -> Floats:
        """The distribution of a sensitive column over all rows of another request.

        What a missing cell means is decided here: a grouping is judged by both meanings.
        """
        column = whole.sensitive[view.column]
        axis, to_new = roll_up(column.axis, view.level)
        codes = to_new[column.codes]
        return value_shares(axis, codes, whole.subject, missing_any=self.missing_any)

    def _source_shares(self, views: Iterable[View]) -> dict[View, Floats]:
        """The distributions of the source, where this request has lost rows of it."""
        if self.source is None:
            return {}
        found = {}
        for view in views:
            if view != SUBJECT and view.reference == "source":
                found[view] = self._shares(self.source, view)
        return found

    def as_one_group(self) -> Groups:
        """The whole table as one group, before everybody in the population."""
        everything = Grouping(np.zeros(self.rows, dtype=np.int32), 1)
        if self.population is None:
            return self.groups(everything)
        return self.groups(everything, population=np.array([len(self.population[0])]))


@dataclass(frozen=True, eq=False, kw_only=True)
class PriceGuide:
    """What rows must lose on the whole, and boxes that cost hardly more than that.

    No group that meets the request loses less than the prices of its rows together.
    """

    prices: Floats
    """Of each row of the request."""
    own: Floats
    """What each row loses anyway: nothing, unless losses are bits."""
    tuple_of: Ints
    """The tuple of each row."""
    costs: Floats
    """What a row loses in each box."""
    starts: Ints
    """Where the tuples of each box start in `tuples`, and where the last one's end."""
    tuples: Codes

    def only(self, rows: Ints) -> PriceGuide:
        """The same for some of the rows."""
        return replace(
            self,
            prices=self.prices[rows],
            own=self.own[rows],
            tuple_of=self.tuple_of[rows],
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """What an algorithm returns: a grouping, and facts for the report."""

    grouping: Grouping
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Plain numbers and words for the report: nodes checked, cuts made, …"""
    quasi: tuple[CodedAxis, ...] | None = None
    """The axes on which groups are shown, where they are not the request's."""
    synthetic: tuple[CodedAxis, ...] | None = None
    """Synthetic records, one axis per published column; the grouping is
    then empty, and these are published instead of rows of the source."""
    guide: PriceGuide | None = None
    """What refinement may know beforehand of where the loss can be lowered."""
    alternatives: tuple[Mapping[str, Any], ...] = ()

    def without_loss(self) -> Solution:
        """The same, without what it says of its loss, which other groups may not have."""
        of_loss = ("loss", "bound", "gap", "proven")
        facts = {name: fact for name, fact in self.facts.items() if name not in of_loss}
        return replace(self, facts=facts)
