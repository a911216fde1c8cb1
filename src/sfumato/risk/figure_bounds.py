"""Bounds of the mean, of shares and of quantiles that follow from published cells.

Every cell stands for a range of numbers, or for some categories. A bound is the lowest
or the highest figure that any choice of values within the cells has. Sums are exact;
what is returned is rounded outward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from math import ceil, floor, inf, nextafter
from types import MappingProxyType
from typing import Any, NamedTuple

from sfumato.data.html_fragment import html_fragment
from sfumato.data.result_classes import comes_from
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import Kind
from sfumato.errors import RefusedError, UsageError
from sfumato.hierarchies.labels import Exact, exact_position, value_text
from sfumato.hierarchies.possible_values import Categories

GivenValue = str | int | float | date
MICROSECONDS = 10**6
COMMONEST = 8
"""Categories whose shares are printed."""
DIGITS = 6
"""Digits of a printed figure, which is rounded outward."""


class Between(NamedTuple):
    """The lowest and the highest figure that the cells allow."""

    low: float | str
    """A number, or the text of a date."""
    high: float | str
    """The same, and never below `low`."""


class NumberCell(NamedTuple):
    """A published text of a column of numbers, and the rows that show it."""

    low: Exact
    high: Exact
    rows: int
    least: int
    """How many of these rows have a value at least."""


class CategoryCell(NamedTuple):
    """A published text of a column of categories, and the rows that show it."""

    categories: Categories
    rows: int
    least: int
    """How many of these rows have a value at least."""


ExactEnds = tuple[Exact, Exact]
Weighted = tuple[Exact, int, int]
"""A number, the rows that may have it, and those that have a value for sure."""
_MOMENTS = frozenset({Kind.DATE, Kind.DATETIME})


@comes_from("sfumato.bounds(release, column)")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Bounds(SafeRepr):
    """What the published cells of a column say for sure about its figures.

    Figures count each row once, and only rows that have a value. Bounds are those of
    the rows in `covered`, all of which they hold for at once.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [23, 25, 31, 34], "ill": list("abab")})
        >>> release = sf.anonymize(people, quasi="age", sensitive="ill", k=2)
        >>> bounds = sf.bounds(release, "age")
        >>> bounds.mean, bounds.quantile(1)
        (Between(low=27.0, high=29.5), Between(low=31.0, high=34.0))
        >>> sf.bounds(release, "ill").share("a")
        Between(low=0.5, high=0.5)
    """

    column: str
    """The name of the column."""
    kind: Kind
    """What its values are."""
    of: str
    """What the bounds are about: the "published" rows, or those of the "source"."""
    rows: int
    """The rows that the bounds are about."""
    covered: int
    """Those that are bounded: their cells have two ends, or are categories."""
    missing: int
    """Those whose cell says that they have no value; no figure counts them."""
    left_out: int
    """Those of the source that are not published; any value may be theirs."""
    cells: tuple[NumberCell, ...] | tuple[CategoryCell, ...]
    """The meaning of each published text, and its rows."""
    withheld: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Why a figure is refused: by "quantile" or "share"."""

    @property
    def mean(self) -> Between:
        """Bounds of the mean; of dates, as texts."""
        return self._shown(self._mean())

    def quantile(self, share: float) -> Between:
        """Bounds of a quantile, whether it is interpolated or a value of a row."""
        if not 0 <= share <= 1:
            raise UsageError(
                "A quantile is asked for by a share from 0 to 1.",
                hint="The median is quantile(0.5).",
            )
        return self._shown(self._quantile(Fraction(str(share))))

    def share(self, *values: GivenValue) -> Between:
        """Bounds of the share of rows with one of some values."""
        return _floats(self._share(values))

    def share_between(self, low: GivenValue, high: GivenValue) -> Between:
        """Bounds of the share of rows with a number or date from one end to another."""
        first, last = self._number(low), self._number(high)
        cells = self._numbers("share")
        inside = [first <= cell.low and cell.high <= last for cell in cells]
        touching = [cell.low <= last and first <= cell.high for cell in cells]
        return _floats(_share(cells, inside, touching))

    def text(self) -> str:
        """The bounds and what they cover, in words."""
        return "\n".join([*self._sentences(), self.coverage])

    @property
    def coverage(self) -> str:
        """Which rows are covered, and what becomes of the others, in words."""
        rows = "published rows" if self.of == "published" else "rows of the source"
        share = self.covered / self.rows
        words = [f"Covered: {self.covered:,} of {self.rows:,} {rows} ({share:.1%})"]
        open_rows = self.rows - self.covered - self.missing
        if open_rows:
            words.append(f"not covered, as an end is not shown: {open_rows:,}")
        if self.missing:
            words.append(f"without a value, so not counted: {self.missing:,}")
        if self.left_out:
            words.append(
                f"not published, so any value may be theirs: {self.left_out:,}"
            )
        return "; ".join(words)

    def record(self) -> dict[str, Any]:
        """The bounds as one JSON object."""
        names = ("column", "kind", "of", "rows", "covered", "missing", "left_out")
        record: dict[str, Any] = {name: getattr(self, name) for name in names}
        record["kind"] = self.kind.value
        if self.kind.numeric:
            record["mean"] = list(self.mean)
        if "quantile" not in self.withheld and self.kind.numeric:
            record["median"] = list(self.quantile(0.5))
        if not self.kind.numeric:
            record["shares"] = {n: list(self.share(n)) for n in self._commonest()}
        return record

    def _summary(self) -> str:
        return f"{self.covered:,} of {counted(self.rows, 'row')} covered"

    def _repr_html_(self) -> str:
        """The mean and what is covered, for a notebook; no value of a row."""
        rows = []
        if self.kind.numeric and self.covered > 1:
            rows.append(("mean", *self._texts(self._mean())))
        return html_fragment(
            "Bounds", ("figure", "at least", "at most"), rows, self.coverage
        )

    def _sentences(self) -> list[str]:
        if not self.kind.numeric:
            shares = {f"share of {n}": self._share([n]) for n in self._commonest()}
            return [self._sentence(n, _printed(ends)) for n, ends in shares.items()]
        figures = {f"mean of {self.column}": self._mean()}
        if "quantile" not in self.withheld:
            figures[f"median of {self.column}"] = self._quantile(Fraction(1, 2))
        return [self._sentence(n, self._texts(ends)) for n, ends in figures.items()]

    def _sentence(self, figure: str, ends: tuple[str, str]) -> str:
        low, high = ends
        words = f"{figure} is {low}"
        if low != high:
            words = f"{figure} lies between {low} and {high}"
        everywhere = self.covered + self.missing == self.rows
        return f"The {words}" if everywhere else f"In the rows covered, the {words}"

    def _texts(self, ends: ExactEnds) -> tuple[str, str]:
        if self.kind in _MOMENTS:
            low, high = self._shown(ends)
            return str(low), str(high)
        return _printed(ends)

    def _mean(self) -> ExactEnds:
        cells = self._numbers("mean")
        low = _least_mean([(c.low, c.rows, c.least) for c in cells])
        return low, -_least_mean([(-c.high, c.rows, c.least) for c in cells])

    def _quantile(self, share: Fraction) -> ExactEnds:
        cells = self._numbers("quantile")
        low = _least_quantile([(c.low, c.rows, c.least) for c in cells], share)
        mirrored = [(-c.high, c.rows, c.least) for c in cells]
        return low, -_least_quantile(mirrored, 1 - share)

    def _share(self, values: Sequence[GivenValue]) -> ExactEnds:
        self._refuse_withheld("share")
        if self.kind.numeric:
            cells = self._numbers("share")
            wanted = {self._number(value) for value in values}
            must = [cell.low == cell.high and cell.low in wanted for cell in cells]
            may = [any(c.low <= number <= c.high for number in wanted) for c in cells]
            return _share(cells, must, may)
        named = frozenset(map(str, values))
        labels = [cell for cell in self.cells if isinstance(cell, CategoryCell)]
        must = [cell.categories.must_be(named) for cell in labels]
        return _share(labels, must, [cell.categories.may_be(named) for cell in labels])

    def _commonest(self) -> list[str]:
        """The categories that most rows may have."""
        rows: dict[str, int] = {}
        for cell in self.cells:
            if isinstance(cell, CategoryCell):
                for name in cell.categories.listed or ():
                    rows[name] = rows.get(name, 0) + cell.rows
        return sorted(rows, key=lambda name: (-rows[name], name))[:COMMONEST]

    def _numbers(self, figure: str) -> list[NumberCell]:
        if not self.kind.numeric:
            raise RefusedError(
                f"Column '{self.column}' holds categories, which have no {figure} of "
                "numbers.",
                hint="Ask for the share of a value: share('…').",
            )
        self._refuse_withheld(figure)
        return [cell for cell in self.cells if isinstance(cell, NumberCell)]

    def _refuse_withheld(self, figure: str) -> None:
        if figure in self.withheld:
            raise RefusedError(
                f"Nothing follows about a {figure} of '{self.column}': "
                f"{self.withheld[figure]}.",
                hint="Ask for its mean.",
            )

    def _number(self, value: GivenValue) -> Exact:
        number = exact_position(value, kind=self.kind)
        if number is None and isinstance(value, str):
            number = exact_position(value, kind=Kind.DECIMAL)
        if number is None:
            raise UsageError(
                f"A value is not of the kind '{self.kind}' of '{self.column}'.",
                hint="Numbers are written 1.5, dates 2020-01-31.",
            )
        return number

    def _shown(self, ends: ExactEnds) -> Between:
        """Round outward: days and microseconds for dates, floats for numbers."""
        if self.kind not in _MOMENTS:
            return _floats(ends)
        steps = 1 if self.kind is Kind.DATE else MICROSECONDS
        low, high = floor(ends[0] * steps), ceil(ends[1] * steps)
        moments = [Fraction(step, steps) for step in (low, high)]
        return Between(*(value_text(at, kind=self.kind) for at in moments))


def _least_mean(cells: Sequence[Weighted]) -> Exact:
    """The lowest mean: rows that need not have a value count only where they lower it."""
    total = sum((number * least for number, _, least in cells), Fraction(0))
    rows = sum(least for _, _, least in cells)
    for number, most, least in sorted(cells):
        if rows and number * rows >= total:
            break
        total += number * (most - least)
        rows += most - least
    return Fraction(total) / rows


def _least_quantile(cells: Sequence[Weighted], share: Fraction) -> Exact:
    """The lowest quantile: rows that need not have a value stand at the lower end.

    Of n numbers, programs take the one at place `ceil(share n)` or `floor(share n) + 1`,
    or interpolate around place `1 + share (n - 1)`. The lowest of these places is taken.
    """
    lowest = min(number for number, _, _ in cells)
    unsure = sum(most - least for _, most, least in cells)
    ranked = sorted([(lowest, unsure), *((number, n) for number, _, n in cells)])
    rows = sum(count for _, count in ranked)
    before = min(floor(share * (rows - 1)), max(ceil(share * rows) - 1, 0))
    for number, count in ranked:
        if before < count:
            return number
        before -= count
    raise IndexError(share)


def _share(
    cells: Sequence[NumberCell | CategoryCell],
    must: Sequence[bool],
    may: Sequence[bool],
) -> ExactEnds:
    """Bounds of a share, by cell whether its rows must, and whether they may belong."""
    certain = sum(cell.least for cell, sure in zip(cells, must, strict=True) if sure)
    others = sum(cell.rows for cell, sure in zip(cells, must, strict=True) if not sure)
    possible = sum(cell.rows for cell, some in zip(cells, may, strict=True) if some)
    never = sum(cell.least for cell, some in zip(cells, may, strict=True) if not some)
    low = Fraction(certain, certain + others) if certain + others else Fraction(1)
    high = Fraction(possible, possible + never) if possible + never else Fraction(0)
    return low, high


def _floats(ends: ExactEnds) -> Between:
    return Between(_down(ends[0]), -_down(-ends[1]))


def _down(number: Exact) -> float:
    """The nearest float that is not above a number."""
    try:
        near = float(number)
    except OverflowError:
        return nextafter(inf, 0.0) if number > 0 else -inf
    return nextafter(near, -inf) if Fraction(near) > number else near


def _printed(ends: ExactEnds) -> tuple[str, str]:
    """Both figures in a few digits, rounded outward; to the nearest where they agree."""
    low, high = ends
    if low == high:
        return _digits(low, ROUND_HALF_EVEN), _digits(low, ROUND_HALF_EVEN)
    return _digits(low, ROUND_FLOOR), _digits(high, ROUND_CEILING)


def _digits(number: Exact, rounding: str) -> str:
    context = Context(prec=DIGITS, rounding=rounding)
    shown = Decimal(number.numerator), Decimal(number.denominator)
    short = context.divide(*shown).normalize()
    return f"{short:f}" if abs(short.adjusted()) < 2 * DIGITS else f"{short:e}"
