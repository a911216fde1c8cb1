"""Queries as plain data: what is counted, where, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from sfumato.data.result_classes import comes_from
from sfumato.data.safe_repr import SafeRepr
from sfumato.errors import UsageError

Sign = Literal[">", ">=", "<", "<="]
SIGNS: tuple[Sign, ...] = (">", ">=", "<", "<=")
Share = int | float
"""How much of a column a random condition takes: a share of its values where it is
a float, a number of values where it is whole."""


@dataclass(frozen=True, repr=False)
class Bound(SafeRepr):
    """One end of a range."""

    sign: Sign
    value: str | float


@dataclass(frozen=True, kw_only=True, repr=False)
class Condition(SafeRepr):
    """What a row must show in one column: a listed value, within every bound."""

    column: str
    values: tuple[str, ...] | None = None
    """The values that qualify; None: all."""
    bounds: tuple[Bound, ...] = ()

    def and_(self, other: Condition) -> Condition:
        """Both conditions at once."""
        values = self.values if other.values is None else other.values
        if self.values is not None and other.values is not None:
            values = tuple(v for v in self.values if v in other.values)
        return replace(self, values=values, bounds=self.bounds + other.bounds)


@dataclass(frozen=True, kw_only=True, repr=False)
class Query(SafeRepr):
    """The number of rows that meet all conditions, in total or per value."""

    where: tuple[Condition, ...] = ()
    """The conditions, all of which a row must meet."""
    histogram: str | None = None
    """The column whose values are counted; None: rows are."""
    group_by: tuple[str, ...] = ()
    """Columns that the count is broken down by."""
    name: str = ""
    """A name for you."""

    def __post_init__(self) -> None:
        """Bring conditions into one form: one per column, in alphabetical order."""
        ordered = sorted(joined(self.where), key=lambda each: each.column)
        object.__setattr__(self, "where", tuple(ordered))

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose values the answer is broken down by."""
        wanted = self.group_by + ((self.histogram,) if self.histogram else ())
        return tuple(sorted(set(wanted)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns with conditions."""
        return tuple(condition.column for condition in self.where)

    def condition(self, column: str) -> Condition:
        """The condition on a column."""
        return next(each for each in self.where if each.column == column)


@dataclass(frozen=True, kw_only=True, repr=False)
class RandomQueries(SafeRepr):
    """Queries to be drawn from the values of a table."""

    count: int
    """How many queries are drawn."""
    selectivity: dict[str, Share]
    """How much of each column a query takes: a share, or a number of values."""
    histogram: str | None = None
    """The column whose values are counted; None: rows are."""
    group_by: tuple[str, ...] = ()
    """Columns that the count is broken down by."""
    seed: int = 0
    """The same seed draws the same queries."""

    def __post_init__(self) -> None:
        if self.count < 1:
            raise UsageError(
                f"A random part of a workload has {self.count:,} queries.",
                hint="Set 'count' to 1 or more.",
            )
        for column, share in self.selectivity.items():
            _refuse_share(column, share)


@comes_from("A workload file")
@dataclass(frozen=True, kw_only=True, repr=False)
class Workload(SafeRepr):
    """Queries, written out or to be drawn.

    Example:
        >>> from sfumato.workload.queries import Query
        >>> asked = Workload(queries=(Query(histogram="ill", group_by=("sex",)),))
        >>> len(asked), asked.columns
        (1, ('ill', 'sex'))
    """

    queries: tuple[Query, ...] = ()
    """Queries that are written out."""
    random: tuple[RandomQueries, ...] = ()
    """Queries that are drawn from the values of a table."""

    def __post_init__(self) -> None:
        _refuse_others("queries", self.queries, Query)
        _refuse_others("random", self.random, RandomQueries)

    def _summary(self) -> str:
        drawn = sum(part.count for part in self.random)
        return f"{len(self.queries):,} queries written out, {drawn:,} to be drawn"

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is asked about, in alphabetical order."""
        names = {n for q in self.queries for n in (*q.columns, *q.keys)}
        for part in self.random:
            names |= {*part.selectivity, *part.group_by}
            names |= {part.histogram} if part.histogram else set()
        return tuple(sorted(names))

    def __len__(self) -> int:
        return len(self.queries) + sum(part.count for part in self.random)


@dataclass(frozen=True, kw_only=True, repr=False)
class Split(SafeRepr):
    """The two parts of a workload: one to fit, one to evaluate."""

    train: tuple[Query, ...]
    held_out: tuple[Query, ...] = field(default=())


def split(queries: Sequence[Query], *, share: float, seed: int) -> Split:
    """Split the distinct queries at random; `share` of them train.

    A query that occurs several times counts once: it must not be in both parts, or
    count several times in a confidence interval.
    """
    distinct = list(dict.fromkeys(replace(query, name="") for query in queries))
    order = np.random.default_rng(seed).permutation(len(distinct))
    cut = round(share * len(distinct)) if 0 < share < 1 else 0
    if not 0 < cut < len(distinct):
        raise UsageError(
            f"A train share of {share:g} leaves one part without queries: the workload "
            f"has {len(distinct):,} of them, each counted once.",
            hint="Give more queries, or a share that leaves some on both sides.",
        )
    train, held_out = np.sort(order[:cut]), np.sort(order[cut:])
    return Split(
        train=tuple(distinct[i] for i in train),
        held_out=tuple(distinct[i] for i in held_out),
    )


def joined(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """One condition per column, in the order in which columns appear."""
    found: dict[str, Condition] = {}
    for each in conditions:
        known = found.get(each.column)
        found[each.column] = each if known is None else known.and_(each)
    return tuple(found.values())


def _refuse_others(name: str, parts: object, kind: type) -> None:
    listed = parts if isinstance(parts, list | tuple) else (None,)
    if not all(isinstance(part, kind) for part in listed):
        raise UsageError(
            f"'{name}' of a Workload is a list of {kind.__name__} objects.",
            hint="Or write a workload file and give its path instead of a Workload.",
        )


def _refuse_share(column: str, share: Share) -> None:
    whole = isinstance(share, int)
    if not (share >= 1 if whole else 0 < share <= 1):
        raise UsageError(
            f"The selectivity of '{column}' is {share!r}.",
            hint="Give a share above 0 and at most 1.0, or a whole number of values.",
        )
