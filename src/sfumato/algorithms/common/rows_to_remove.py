"""Choose the rows that must be left out before any grouping can meet the requirements.

Each requirement says how many rows of which sensitive values are too many. Rows that
serve several requirements go first, and after every step all are asked again about what
is left, so that nothing is left out twice. Where that fails, every choice of rows is
tried, as far as there are few; only what was tried in full is called infeasible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.request import Request
from sfumato.data.arrays import Ints
from sfumato.data.grouping import Grouping
from sfumato.errors import InfeasibleError, SearchError
from sfumato.hierarchies.sensitive_axis import roll_up
from sfumato.models.base import Feasibility
from sfumato.models.common.groups import packed

Demand = tuple[str, int, int]
"""A sensitive column, a level of its hierarchy, and a code at that level."""

WAYS_OUT = "Raise publish.max_suppressed, or relax one of the requirements."
CHOICES = 3_000
"""Choices of rows to leave out that are tried one by one, at most."""


def rows_to_keep(request: Request) -> Ints:
    """The rows that remain after leaving out those that make it infeasible."""
    for answer in _answers(request):
        if not answer.feasible:
            raise InfeasibleError(answer.message, hint=answer.hint)
    everything = np.arange(request.rows)
    if _may_begin(request) or not request.removable:
        return everything
    demanded = _by_demand(request, everything)
    if demanded is not None and _may_begin(request.only(demanded)):
        return demanded
    tried, all_tried = _by_trying(request)
    if tried is not None:
        return tried
    if all_tried and request.subject is None:
        raise _nothing_serves(request)
    if demanded is not None:
        # What each requirement asks for is gone; the search decides about the rest.
        return demanded
    raise _not_found(request)


def _answers(request: Request) -> list[Feasibility]:
    whole = request.as_one_group()
    return [m.feasibility(whole, removable=request.removable) for m in request.models]


def _may_begin(request: Request) -> bool:
    """Whether all rows as one group meet what one group has to meet.

    Not needed where merging groups may break a requirement: the search decides.
    """
    whole = Grouping(np.zeros(request.rows, dtype=np.int32), 1)
    asked = [model for model in request.models if model.holds_for_whole]
    return all(request.meets(model, whole).holds for model in asked)


# Step by step, as the requirements demand.


def _by_demand(request: Request, kept: Ints) -> Ints | None:
    """Leave out what is demanded until nothing is; None if that fails."""
    while True:
        part = request.only(kept)
        answers = _answers(part) if part.rows else []
        if not answers or not all(answer.feasible for answer in answers):
            return None
        demands = _together(answers)
        if not demands:
            return kept
        gone = RowPicker(part).rows(demands)
        if not len(gone) or len(gone) > part.removable:
            return None
        kept = np.delete(kept, gone)


def _together(answers: list[Feasibility]) -> dict[Demand, int]:
    """What all requirements demand: the same rows serve as many as they can."""
    demands: dict[Demand, int] = {}
    for answer in answers:
        for (column, code), count in answer.remove.items():
            key = (column, answer.level, code)
            demands[key] = max(count, demands.get(key, 0))
    return demands


@dataclass(frozen=True, eq=False)
class RowPicker:
    """Chooses rows that have too common values: at random, those of most use first."""

    request: Request

    def rows(self, demands: Mapping[Demand, int]) -> Ints:
        """The rows that go; of persons, those of one demand at a time."""
        if self.request.subject is not None:
            demand = min(demands)
            return self._of_persons(demand, demands[demand])
        return self._shared(dict(demands))

    def _of_persons(self, demand: Demand, count: int) -> Ints:
        """All rows with the value of so many persons, whose fewest rows have it."""
        subject = self.request.subject
        assert subject is not None
        having = np.flatnonzero(self._values(*demand[:2]) == demand[2])
        persons, rows = np.unique(subject[having], return_counts=True)
        everywhere = np.bincount(subject, minlength=int(subject.max()) + 1)[persons]
        drawn = self.request.seed.child("remove", *demand).permutation(len(persons))
        order = np.lexsort((drawn, -everywhere, rows))
        return np.asarray(having[np.isin(subject[having], persons[order[:count]])])

    def _shared(self, demands: dict[Demand, int]) -> Ints:
        """Rows in the order of how many demands they serve, while they serve any."""
        columns = sorted({demand[:2] for demand in demands})
        wanted = np.array([self._demanded(demands, *column) for column in columns])
        key, _ = packed([line + 1 for line in wanted])
        _, first, kind = np.unique(key, return_index=True, return_inverse=True)
        order = self.request.seed.child("remove").permutation(self.request.rows)
        gone = np.zeros(self.request.rows, dtype=np.bool_)
        uses = (wanted[:, first] >= 0).sum(axis=0)
        for least in range(int(uses.max()), 0, -1):
            for number in np.argsort(-uses, kind="stable"):
                served = _served(columns, wanted[:, first[number]], demands)
                if len(served) < least:
                    continue
                rows = order[(kind[order] == number) & ~gone[order]]
                rows = rows[: min(demands[demand] for demand in served)]
                gone[rows] = True
                for demand in served:
                    demands[demand] -= len(rows)
        return np.flatnonzero(gone)

    def _demanded(
        self, demands: Mapping[Demand, int], column: str, level: int
    ) -> npt.NDArray[np.int64]:
        """Each row's code where it is demanded, −1 elsewhere."""
        values = self._values(column, level)
        codes = [code for name, at, code in demands if (name, at) == (column, level)]
        return np.where(np.isin(values, codes), values, -1)

    def _values(self, column: str, level: int) -> npt.NDArray[np.int64]:
        coded = self.request.sensitive[column]
        _, to_level = roll_up(coded.axis, level)
        return np.asarray(to_level[coded.codes], dtype=np.int64)


def _served(
    columns: list[tuple[str, int]], codes: Ints, demands: Mapping[Demand, int]
) -> list[Demand]:
    """The demands, not met yet, that rows with these codes serve."""
    listed = [(*column, int(code)) for column, code in zip(columns, codes, strict=True)]
    return [demand for demand in listed if demands.get(demand, 0) > 0]


# Every choice, where there are few.


def _by_trying(request: Request) -> tuple[Ints | None, bool]:
    """The smallest choice of rows after which the rest may be one group.

    None where there is none; then also whether every choice was tried.
    """
    kinds = _kinds(request)
    choices = _choices(np.bincount(kinds), request.removable)
    for choice in islice(choices, CHOICES):
        kept = _without(request, kinds, choice)
        if _may_begin(request.only(kept)):
            return kept, False
    return None, next(choices, None) is None


def _kinds(request: Request) -> Ints:
    """A number for each row, the same for rows that are as good as each other."""
    columns = [coded.codes for coded in request.sensitive.values()]
    if request.subject is not None:
        columns.append(request.subject)
    if not columns:
        return np.zeros(request.rows, dtype=np.int64)
    key, _ = packed(columns)
    return np.asarray(np.unique(key, return_inverse=True)[1], dtype=np.int64)


def _choices(sizes: Ints, most: int) -> Iterator[tuple[int, ...]]:
    """How many rows of each kind go: the fewest in all first."""
    for total in range(1, min(most, int(sizes.sum()) - 1) + 1):
        yield from _split(sizes.tolist(), total)


def _split(sizes: list[int], total: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        if total == 0:
            yield ()
        return
    if total > sum(sizes):
        return
    for here in range(min(sizes[0], total), -1, -1):
        for rest in _split(sizes[1:], total - here):
            yield (here, *rest)


def _without(request: Request, kinds: Ints, choice: tuple[int, ...]) -> Ints:
    """The rows without this many of each kind, drawn at random."""
    order = request.seed.child("leave out").permutation(len(kinds))
    ordered = order[np.argsort(kinds[order], kind="stable")]
    starts = np.cumsum(np.append(0, np.bincount(kinds)))[:-1]
    gone = [ordered[start : start + n] for start, n in zip(starts, choice, strict=True)]
    return np.delete(np.arange(len(kinds)), np.concatenate(gone))


def _nothing_serves(request: Request) -> InfeasibleError:
    names = ", ".join(model.name for model in request.models)
    return InfeasibleError(
        f"No choice of at most {request.removable:,} of {request.rows:,} rows to leave out "
        f"serves {names}, alone or together.",
        hint=WAYS_OUT,
    )


def _not_found(request: Request) -> SearchError:
    return SearchError(
        f"No choice of at most {request.removable:,} of {request.rows:,} rows to leave out "
        f"was found that serves all {len(request.models):,} requirements; whether there "
        "is one is not known.",
        hint=WAYS_OUT,
    )
