"""Which values a published cell may stand for, read without the source.

A cell is a value, an interval, a period, a set, a mask, a label of a hierarchy or `*`.
What the text alone cannot settle stays open: an end that is not shown is None, and a
cell that may also hide a missing value says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pyarrow as pa

from sfumato.data.schema import DateOrder, Kind
from sfumato.data.values import meaning
from sfumato.data.vocabularies import group, group_names
from sfumato.hierarchies.axis import STAR
from sfumato.hierarchies.build import Spec
from sfumato.hierarchies.hierarchy_files import LabelTable
from sfumato.hierarchies.labels import Exact, Span, parse_exact, parse_set, parse_span
from sfumato.hierarchies.vocabulary import SUFFIX

DAY = 86_400
"""The seconds of a day: under a calendar, a date stands for all its moments."""
_DAY = re.compile(r"-?\d{4,}-\d\d-\d\d")


class NumberRange(NamedTuple):
    """The numbers that a cell may stand for, both ends among them."""

    low: Exact | None
    high: Exact | None
    may_miss: bool = False
    """Whether the row may have no value at all."""


@dataclass(frozen=True, kw_only=True)
class Categories:
    """The categories that a cell may stand for."""

    listed: frozenset[str] | None = None
    """All of them; None where they are not listed."""
    fits: Callable[[str], bool] = lambda _: True
    """Where they are not listed: whether a value may be one of them."""
    may_miss: bool = False
    """Whether the row may have no value at all."""

    def may_be(self, values: frozenset[str]) -> bool:
        """Whether the cell may stand for one of some values."""
        if self.listed is not None:
            return not self.listed.isdisjoint(values)
        return any(map(self.fits, values))

    def must_be(self, values: frozenset[str]) -> bool:
        """Whether the cell stands for one of some values, if for any."""
        return self.listed is not None and self.listed <= values


@dataclass(frozen=True, eq=False, kw_only=True)
class CellTexts:
    """How the texts of one published column are read."""

    kind: Kind
    exact: bool = False
    """Whether every text is a value."""
    hierarchy: Spec = None
    written: LabelTable | None = None
    """The labels of the hierarchy, where they are written in a file or a tree."""
    marks: frozenset[str] = frozenset()
    """The texts that mean that there is no value."""
    dates: DateOrder | None = None
    complete: bool = False
    """Whether no row of the source that is published lacks a value."""

    def range(self, text: str) -> NumberRange | None:
        """The numbers behind a text; None if it is not understood."""
        if text == STAR:
            return NumberRange(None, None, self._may_miss)
        if text in self._leaves:
            return self._over(self._leaves[text])
        members = None if self.written is not None else parse_set(text)
        if members is not None:
            return self._over(members)
        number = self.number(text)
        if number is not None:
            whole_day = self.kind is Kind.DATETIME and _DAY.fullmatch(text)
            shaped = self.hierarchy not in (None, "free", "flat")
            return NumberRange(number, number + DAY if whole_day and shaped else number)
        return None if self._trusted else self._interval(text)

    def number(self, text: str) -> Exact | None:
        """The number behind the text of one value."""
        number = parse_exact(text, kind=self.kind)
        if number is not None or self.dates is None or self.kind is not Kind.DATE:
            return number
        days = meaning(self.kind, pa.array([text], pa.string()), dates=self.dates)
        return None if days.bad.any() else int(days.keys[0])

    def categories(self, text: str) -> Categories:
        """The categories behind a text."""
        if self.exact:
            return Categories(listed=frozenset([text]))
        if text == STAR:
            return Categories(may_miss=self._may_miss)
        if self.written is not None:
            return self._listed(self._leaves.get(text))
        members = parse_set(text)
        if members is not None:
            return self._listed(members)
        return self._shortened(text)

    @property
    def ends(self) -> tuple[Exact | None, Exact | None]:
        """The lowest and the highest number that the hierarchy lists."""
        if self.written is None:
            return None, None
        over = self._over(self.written.leaves)
        return (None, None) if over is None else (over.low, over.high)

    @property
    def _trusted(self) -> bool:
        """Whether labels may be false, as nobody checked them."""
        return isinstance(self.hierarchy, Mapping) and bool(self.hierarchy.get("trust"))

    @property
    def _may_miss(self) -> bool:
        return not self.complete

    @cached_property
    def _leaves(self) -> Mapping[str, Sequence[str]]:
        """The values under each label, at whatever level it stands."""
        below: dict[str, dict[str, None]] = {}
        if self.written is not None:
            for level in self.written.levels:
                for label, leaf in zip(level, self.written.leaves, strict=True):
                    below.setdefault(label, {})[leaf] = None
        return {label: tuple(leaves) for label, leaves in below.items()}

    def _over(self, texts: Sequence[str]) -> NumberRange | None:
        """From the lowest to the highest of some values."""
        members = [self.number(text) for text in texts if text not in self.marks]
        ends = [number for number in members if number is not None]
        if not ends or len(ends) < len(members):
            return None
        unsure = self.written is not None and len(texts) > 1
        hides = unsure or len(members) < len(texts)
        return NumberRange(min(ends), max(ends), hides and self._may_miss)

    def _interval(self, text: str) -> NumberRange | None:
        span = parse_span(text, kind=self.kind) or self._spelled(text)
        if span is None:
            return None
        closed = span.closed(self.kind)
        return NumberRange(closed.low, closed.high)

    def _spelled(self, text: str) -> Span | None:
        """An interval of dates in the spelling of the source."""
        first, comma, last = text.removeprefix("[").removesuffix("]").partition(", ")
        low, high = self.number(first), self.number(last)
        shown = comma and text == f"[{first}, {last}]"
        return Span(low, high) if shown and None not in (low, high) else None

    def _listed(self, texts: Sequence[str] | None) -> Categories:
        """One of some values; of a label that nobody knows, any value."""
        if texts is None:
            return Categories(may_miss=self._may_miss)
        values = frozenset(texts) - self.marks
        unsure = self.written is not None and len(texts) > 1
        hides = unsure or len(values) < len(texts)
        return Categories(listed=values, may_miss=hides and self._may_miss)

    def _shortened(self, text: str) -> Categories:
        """A mask, the name of a group of words, or a value."""
        if self.hierarchy in (None, "flat"):
            return Categories(listed=frozenset([text]))
        if text.endswith(STAR):
            stem = text.rstrip(STAR)
            return Categories(fits=lambda value: value.startswith(stem))
        if not isinstance(self.hierarchy, Mapping):
            return Categories(listed=frozenset([text]))
        name = _without_suffix(text)
        words = str(self.hierarchy.get("vocabulary", ""))
        if not words or name not in group_names(words):
            return Categories(listed=frozenset([text]))
        return Categories(
            fits=lambda value: value == text or name in _groups(words, value),
            may_miss=self._may_miss,
        )


def _without_suffix(name: str) -> str:
    """The name of a group as its vocabulary has it."""
    while name.endswith(SUFFIX):
        name = name.removesuffix(SUFFIX)
    return name


def _groups(vocabulary: str, value: str) -> tuple[str, ...]:
    named = group(vocabulary, value)
    return () if named is None else (named.narrow, named.broad)
