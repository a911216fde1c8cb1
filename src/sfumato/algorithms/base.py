"""What an algorithm is: check the request, ask for feasibility, search, self-check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.data.grouping import SUPPRESSED, Grouping
from sfumato.data.seeds import Seed
from sfumato.dp.ledger import Ledger
from sfumato.errors import GuaranteeError, InfeasibleError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.rollup import roll_up
from sfumato.models.base import Groups, OutputModel, ProcessModel, Scope
from sfumato.models.groups import build_groups

Progress = Callable[[str, float], None]
"""Called with what is being done and the share done, 0 … 1; may raise to cancel."""


def silent(_step: str, _share: float) -> None:
    """Progress that nobody watches."""


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
    """Requirements that the making of the release has to meet."""
    ledger: Ledger | None = None
    """The account of every use of the data, where a process model is required."""
    removable: int = 0
    """How many rows may be left out."""
    missing_any: bool = False
    """Whether a missing sensitive value may stand for any value."""
    seed: Seed = field(default_factory=Seed.fresh)
    threads: int = 2
    progress: Progress = silent
    resolve: Callable[[str], type[Algorithm]] | None = None
    """Finds another algorithm by name, for those that build on others."""

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
        )

    def groups(
        self, grouping: Grouping, *, population: npt.NDArray[np.int64] | None = None
    ) -> Groups:
        """The groups of a grouping, as the models see them."""
        names = tuple(self.sensitive)
        views = {view for model in self.models for view in model.views(names)}
        return build_groups(
            grouping.group_of,
            grouping.count,
            sensitive=self.sensitive,
            views=sorted(views),
            subject=self.subject,
            population=population,
            missing_any=self.missing_any,
        )

    def as_one_group(self) -> Groups:
        """The whole table as one group, before everybody in the population."""
        everything = Grouping(np.zeros(self.rows, dtype=np.int32), 1)
        if self.population is None:
            return self.groups(everything)
        return self.groups(everything, population=np.array([len(self.population[0])]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """What an algorithm returns: a grouping, and what it has to say about it."""

    grouping: Grouping
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Plain numbers and words for the report: nodes checked, cuts made, …"""
    quasi: tuple[CodedAxis, ...] | None = None
    """The axes on which groups are shown, where they are not the request's."""
    synthetic: tuple[CodedAxis, ...] | None = None
    """Records that stand for nobody, one axis per published column; the grouping is
    then empty, and these are published instead of rows of the source."""
    alternatives: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """A named way of grouping rows; its fields are its options in the policy."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    certifies: ClassVar[frozenset[str]] = frozenset()
    """The process models whose guarantee its releases have."""

    def check(self, request: Request) -> None:  # noqa: B027 - most refuse nothing
        """Refuse, with a reason, a request this algorithm cannot serve."""

    def solve(self, request: Request) -> Solution:
        """Group the rows so that every requirement is met, or say why it cannot be."""
        self.check(request)
        keep = rows_to_keep(request)
        solution = self.search(
            request if len(keep) == request.rows else request.only(keep)
        )
        whole = Grouping(
            _spread(solution.grouping.group_of, keep, request.rows),
            solution.grouping.count,
            solution.grouping.levels,
        )
        _self_check(self, request, whole)
        return replace(solution, grouping=whole)

    @abstractmethod
    def search(self, request: Request) -> Solution:
        """Find a grouping that meets every requirement; the request is feasible."""


def rows_to_keep(request: Request) -> npt.NDArray[np.int64]:
    """All rows, less those that must go for the requirements to be feasible at all."""
    whole = request.as_one_group()
    keep = np.ones(request.rows, dtype=np.bool_)
    for model in request.models:
        answer = model.feasibility(whole, removable=request.removable)
        if not answer.feasible:
            raise InfeasibleError(answer.message, hint=answer.hint)
        for (column, code), count in answer.remove.items():
            having = _having(request, column, code, answer.level) & keep
            keep[_chosen(request, having, column, code, count)] = False
    if request.rows - int(keep.sum()) > request.removable:
        raise InfeasibleError(
            f"The requirements together need {request.rows - int(keep.sum())} rows "
            f"left out; {request.removable} may be.",
            hint="Raise publish.max_suppressed, or relax one of the requirements.",
        )
    return np.flatnonzero(keep)


def _having(
    request: Request, column: str, code: int, level: int
) -> npt.NDArray[np.bool_]:
    """Which rows have a value, at a level of the column's hierarchy."""
    coded = request.sensitive[column]
    _, to_level = roll_up(coded.axis, level)
    return np.asarray(to_level[coded.codes] == code)


def _chosen(
    request: Request, rows: npt.NDArray[np.bool_], column: str, code: int, count: int
) -> npt.NDArray[np.int64]:
    """Which rows with an over-represented value go: drawn at random."""
    having = np.flatnonzero(rows)
    order = request.seed.child("remove", column, code).permutation(len(having))
    return np.asarray(having[order[:count]])


def _spread(
    group_of: npt.NDArray[np.int32], keep: npt.NDArray[np.int64], rows: int
) -> npt.NDArray[np.int32]:
    whole = np.full(rows, SUPPRESSED, dtype=np.int32)
    whole[keep] = group_of
    return whole


def _self_check(algorithm: Algorithm, request: Request, grouping: Grouping) -> None:
    """Fail early, by name, if a search broke its promise; `verify` asks again."""
    removed = request.rows - int(grouping.kept.sum())
    if removed > request.removable:
        raise GuaranteeError(
            f"'{algorithm.name}' left out {removed} rows; {request.removable} may be."
        )
    groups = request.groups(grouping)
    # What matches in the population shows in published cells only: `verify` counts it.
    for model in (m for m in request.models if m.scope is not Scope.POPULATION):
        verdict = model.verify(groups)
        if not verdict.holds:
            raise GuaranteeError(
                f"'{algorithm.name}' returned {verdict.offending} groups "
                f"that do not meet {model}."
            )
