"""Bound the figures of a column by its published cells alone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from sfumato.call_arguments import one_of, path_of, policy_of, spelled_out
from sfumato.data.safe_repr import counted
from sfumato.data.schema import Kind, Role
from sfumato.errors import DataError, RefusedError, UsageError
from sfumato.hierarchies.labels import Exact, exact_position
from sfumato.hierarchies.possible_values import Categories, NumberRange
from sfumato.pipeline.given_tables import Source
from sfumato.pipeline.published_table import PublishedColumn, published_table
from sfumato.pipeline.release import Release
from sfumato.policy import Policy
from sfumato.publish.generalize import Generalize
from sfumato.publish.microaggregate import Microaggregate
from sfumato.risk.figure_bounds import Bounds, CategoryCell, GivenValue, NumberCell

OF = ("published", "source")
GivenEnds = Sequence[GivenValue | None]
"""The lowest and the highest value of a column, as a call names them."""
Limits = tuple[Exact | None, Exact | None]
HALF_UNITS = {Kind.DATE: Fraction(1, 2), Kind.DATETIME: Fraction(1, 10**6)}
"""How far the mean of dates is rounded, in days and in seconds."""
ROUNDING = Fraction(1, 10**14)
"""How far the mean of numbers is rounded, as a share of it."""
OF_MEANS = "its cells are means of groups, which say nothing about single values"


@spelled_out
def bounds(
    published: Release | Source,
    column: str,
    policy: Policy | str | os.PathLike[str] | None = None,
    *,
    manifest: str | os.PathLike[str] | None = None,
    of: Literal["published", "source"] = "published",
    ends: GivenEnds | None = None,
    base: str | os.PathLike[str] | None = None,
) -> Bounds:
    """Bound the mean, shares and quantiles of a column by its published cells alone.

    The bounds hold for the published rows whose cells have two ends. `ends` are the
    lowest and the highest value that the column can have (None: not known), for cells
    such as `>= 60` and `*`; left out, they are those of the column's `domain` in the
    policy or of its hierarchy file. Rows whose end stays open are not covered, and the
    result says how many they are. Rows without a value count for nothing. With
    `of="source"` the bounds hold for all rows of the source: rows left out may have any
    value between the ends, and the manifest says how many they are.

    It refuses what nothing follows about: releases under differential privacy, whose
    rows are sampled or drawn; pseudonyms; medians and modes of groups; and of means of
    groups all but the mean. Swapped values are bounded exactly: swapping changes whose
    they are, and none of them.
    """
    one_of("of", of, OF)
    reading_policy = policy_of(policy)
    table = published_table(
        published,
        reading_policy,
        manifest=None if manifest is None else path_of(manifest, what="manifest"),
        base=None if base is None else path_of(base, what="base"),
    )
    return column_bounds(table.column(column), of=of, ends=ends)


def column_bounds(
    column: PublishedColumn,
    *,
    of: str = "published",
    ends: GivenEnds | None = None,
) -> Bounds:
    """Bound the figures of a column that was read."""
    _refuse_unbounded(column)
    limits = _limits(column, ends)
    numeric = column.kind.numeric
    cells: list[Any] = (
        _number_cells(column, limits) if numeric else _category_cells(column)
    )
    missing = sum(rows for text, rows in column.counted if text is None)
    covered = sum(cell.rows for cell in cells)
    left_out = 0
    if of == "source":
        left_out = _left_out(column, column.rows - covered - missing)
        cells += _unpublished(column, limits, left_out)
    if not cells:
        raise _nothing_shown(column, valued=missing < column.rows)
    return Bounds(
        column=column.name,
        kind=column.kind,
        of=of,
        rows=column.rows + left_out,
        covered=covered + left_out,
        missing=missing,
        left_out=left_out,
        cells=tuple(cells),
        withheld=dict.fromkeys(("quantile", "share"), OF_MEANS)
        if _shows_means(column)
        else {},
    )


def _nothing_shown(column: PublishedColumn, *, valued: bool) -> RefusedError:
    """Build the error for a column without any row that can be bounded."""
    if not valued:
        return RefusedError(
            f"No published row of '{column.name}' has a value.",
            hint="Name another column.",
        )
    return RefusedError(
        f"No published cell of '{column.name}' shows both ends of a value.",
        hint="Give the ends that the column can have: ends=(0, 120).",
    )


def _refuse_unbounded(column: PublishedColumn) -> None:
    """Refuse columns whose cells need not be true of any row."""
    if column.published.noisy:
        raise RefusedError(
            f"The release of '{column.name}' is under differential privacy: its rows "
            "are sampled or drawn with noise, so its cells bound no figure.",
            hint="Use its noisy counts, and their error in the manifest.",
        )
    if column.role in (Role.IDENTIFIER, Role.SUBJECT):
        raise RefusedError(
            f"Column '{column.name}' holds pseudonyms, which say nothing about values.",
            hint="Name another column.",
        )
    operator = column.published.operator
    typical = isinstance(operator, Microaggregate) and column.grouped
    if typical and not _shows_means(column):
        raise RefusedError(
            f"'{operator.name}', as it is set, shows in '{column.name}' the middle or "
            "the most frequent value of each group, which bounds no figure.",
            hint="Publish by 'generalize', or numbers as their means.",
        )


def _shows_means(column: PublishedColumn) -> bool:
    """Whether cells are the means of groups."""
    operator = column.published.operator
    means = isinstance(operator, Generalize | Microaggregate) and (
        operator.numbers == "mean"
    )
    return means and column.grouped and column.kind.numeric


def _limits(column: PublishedColumn, ends: GivenEnds | None) -> Limits:
    """The ends of a column: given, declared, or those of its hierarchy file."""
    if ends is not None:
        return _given_limits(column, ends)
    if not column.kind.numeric:
        return None, None
    domain = column.published.policy.column(column.name).domain
    if domain is None:
        return column.reader.ends
    if isinstance(domain, Mapping):
        low, high = domain.get("low"), domain.get("high")
        kind = column.kind
        return exact_position(low, kind=kind), exact_position(high, kind=kind)
    numbers = [exact_position(each, kind=column.kind) for each in domain]
    known_ends = [number for number in numbers if number is not None]
    return (
        (min(known_ends), max(known_ends))
        if len(known_ends) == len(numbers)
        else (None, None)
    )


def _given_limits(column: PublishedColumn, ends: GivenEnds) -> Limits:
    """The ends that a call names; refuse what is no pair of them."""
    pair = tuple(ends) if isinstance(ends, list | tuple) else ()
    limits = [exact_position(end, kind=column.kind) for end in pair]
    read = [end is None for end in pair] == [limit is None for limit in limits]
    known_ends = [limit for limit in limits if limit is not None]
    if (
        len(pair) != 2
        or not read
        or not column.kind.numeric
        or known_ends != sorted(known_ends)
    ):
        raise UsageError(
            f"'ends' are not the lowest and the highest value of '{column.name}', whose "
            f"kind is '{column.kind}'.",
            hint="Write ends=(0, 120), or ends=(0, None) where one is not known.",
        )
    return limits[0], limits[1]


def _number_cells(column: PublishedColumn, limits: Limits) -> list[NumberCell]:
    """The texts of a column of numbers that have two ends."""
    means, cells, beyond = _shows_means(column), [], 0
    for text, rows in column.counted:
        if text is None:
            continue
        reach = _mean_range(column, text) if means else column.reader.range(text)
        if reach is None:
            continue
        beyond += rows if _lies_beyond(reach, limits) else 0
        low = limits[0] if reach.low is None else reach.low
        high = limits[1] if reach.high is None else reach.high
        if low is not None and high is not None:
            # Rows without a value show the mean of their group too: one row has one.
            certain = (1 if means else 0) if reach.may_miss else rows
            cells.append(NumberCell(low, high, rows, certain))
    if beyond:
        raise DataError(
            f"{beyond:,} published rows of '{column.name}' show values beyond the ends "
            "that are declared for it.",
            hint="Correct its 'domain' in the policy, or the argument 'ends'.",
        )
    return cells


def _mean_range(column: PublishedColumn, text: str) -> NumberRange | None:
    """The mean of a group, which is rounded where it is published."""
    mean = column.reader.number(text)
    if mean is None:
        return None
    slack = HALF_UNITS.get(column.kind, ROUNDING * abs(Fraction(mean)))
    return NumberRange(mean - slack, mean + slack, not column.reader.complete)


def _lies_beyond(reach: NumberRange, limits: Limits) -> bool:
    """Whether no value of a cell lies between the limits."""
    low, high = limits
    above = reach.low is not None and high is not None and reach.low > high
    below = reach.high is not None and low is not None and reach.high < low
    return above or below


def _category_cells(column: PublishedColumn) -> list[CategoryCell]:
    """The texts of a column of categories."""
    read = column.reader.categories
    meanings = [(read(text), rows) for text, rows in column.counted if text is not None]
    return [CategoryCell(m, rows, 0 if m.may_miss else rows) for m, rows in meanings]


def _left_out(column: PublishedColumn, open_rows: int) -> int:
    """How many rows of the source are not published; refuse where nobody says it."""
    rows = column.published.manifest.get("rows_suppressed")
    if not isinstance(rows, int):
        raise RefusedError(
            "Nothing says how many rows of the source were left out.",
            hint="Give the manifest of the release, or ask for of='published'.",
        )
    if open_rows:
        raise RefusedError(
            f"{open_rows:,} published rows of '{column.name}' show no end, so nothing "
            "follows for the whole source.",
            hint="Give the ends that the column can have: ends=(0, 120).",
        )
    return rows


def _unpublished(
    column: PublishedColumn, limits: Limits, rows: int
) -> list[NumberCell] | list[CategoryCell]:
    """A cell for the rows that were left out: they may have any value, or none."""
    if not rows:
        return []
    if not column.kind.numeric:
        return [CategoryCell(Categories(may_miss=True), rows, 0)]
    low, high = limits
    if low is None or high is None:
        raise RefusedError(
            f"The release leaves out {counted(rows, 'row')} of the source, and the ends "
            f"of '{column.name}' are not declared: nothing bounds such a value.",
            hint="Give the ends that the column can have: ends=(0, 120).",
        )
    return [NumberCell(low, high, rows, 0)]
