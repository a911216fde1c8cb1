"""What a column shows about itself: name, values, numbering and identifying power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from sfumato.data.profiling.column_names import (
    concept_of_name,
    ends_in_number,
    ends_like_a_number,
    names_a_person_number,
    role_of_name,
)
from sfumato.data.profiling.date_forms import almost_dates
from sfumato.data.profiling.identifying_power import Power, power_of
from sfumato.data.profiling.name_words import Concept
from sfumato.data.profiling.value_patterns import giveaway, is_free_text, meant_by
from sfumato.data.schema import Kind, Role
from sfumato.data.table import Column
from sfumato.data.unique_rows import alone

NEARLY_UNIQUE = 0.9
"""The distinction from which text is taken to name its row."""
OFTEN_DIFFERENT = 0.05
"""The distinction from which a number in the name of a person may count persons."""
FEWEST_ROWS = 20
"""With fewer rows than this, unique values say nothing."""
LONG_RUN = 200
"""As many whole numbers without a gap are a running number."""
LONG_NUMBER = 7
"""Unique numbers of one length, of so many digits, are numbers of accounts or cards."""


class Sign(IntEnum):
    """How a column is to be seen, before columns are compared."""

    IDENTIFIER = 0
    SUBJECT = 1
    WEIGHT = 2
    CONSTANT = 3
    FREE_TEXT = 4
    """Left out: sentences, and dates that cannot be read."""
    SENSITIVE = 5
    KNOWN = 6
    UNKNOWN = 7


@dataclass(frozen=True, eq=False)
class Signs:
    """What one column shows, and the sign that follows."""

    column: Column
    kind_reason: str
    power: Power
    alone: float
    """The share of rows with a value that occurs once."""
    missing: int
    sign: Sign
    reason: str
    concept: Concept | None = None

    @property
    def name(self) -> str:
        return self.column.name


def signs_of(column: Column, kind_reason: str) -> Signs:
    """Look at one column by itself."""
    power = power_of([column])
    rows = len(column.codes)
    sign, reason, concept = _sign(column, power, rows)
    empty = 0 if column.missing < 0 else int((column.codes == column.missing).sum())
    return Signs(
        column=column,
        kind_reason=kind_reason,
        power=power,
        alone=_alone(column) / rows if rows else 0.0,
        missing=empty,
        sign=sign,
        reason=reason,
        concept=concept,
    )


SignAndReason = tuple[Sign, str, Concept | None]


def _sign(column: Column, power: Power, rows: int) -> SignAndReason:
    if names_a_person_number(column.name) and power.distinction >= OFTEN_DIFFERENT:
        return _person_number(power, rows)
    what = _giveaway(column, rows)
    if what:
        return Sign.IDENTIFIER, f"its values are {what}", None
    if power.distinct < 2:
        return Sign.CONSTANT, "one value only", None
    dates = almost_dates(known_labels(column)) if _is_text(column) else None
    if dates:
        return Sign.FREE_TEXT, dates, Concept.DATE
    return _by_name(column, rows, power) or _by_content(column, power, rows)


def _is_text(column: Column) -> bool:
    return column.kind in (Kind.CATEGORY, Kind.CODE)


def _by_name(column: Column, rows: int, power: Power) -> SignAndReason | None:
    found = role_of_name(column.name)
    if found is None:
        return None
    role, reason = found
    if ends_in_number(column.name) and power.distinction >= OFTEN_DIFFERENT:
        return None
    if role is Role.IDENTIFIER:
        return None if _too_few(power, rows) else (Sign.IDENTIFIER, reason, None)
    if role is Role.WEIGHT:
        return (Sign.WEIGHT, reason, None) if column.kind.numeric else None
    if role is Role.SENSITIVE:
        return Sign.SENSITIVE, reason, None
    return Sign.KNOWN, reason, concept_of_name(column.name)


def _too_few(power: Power, rows: int) -> bool:
    """Whether so few values identify nobody: 'telephone' may say yes or no."""
    return rows >= FEWEST_ROWS and power.distinct <= 3


def _by_content(column: Column, power: Power, rows: int) -> SignAndReason:
    unique = _unique(column, power, rows)
    if unique:
        return Sign.IDENTIFIER, unique, None
    known = known_labels(column)
    if column.kind is Kind.CATEGORY and is_free_text(known, rows):
        return Sign.FREE_TEXT, "free text: it may name anybody", None
    concept, sensitive = meant_by(known, column.kind)
    if sensitive:
        return Sign.SENSITIVE, f"its values are {sensitive}", None
    if concept is not None:
        return Sign.KNOWN, f"{concept}: by its values", concept
    return Sign.UNKNOWN, "its name says nothing", None


def known_labels(column: Column) -> list[str]:
    """The distinct values without the missing one."""
    return [label for at, label in enumerate(column.labels) if at != column.missing]


def _giveaway(column: Column, rows: int) -> str | None:
    known = known_labels(column)
    text = not column.kind.numeric or _long(known, 13)
    return giveaway(known, rows) if text else None


def _unique(column: Column, power: Power, rows: int) -> str | None:
    """Explain why the values identify the rows; None if they do not."""
    if rows < FEWEST_ROWS:
        return None
    if _names_its_row(column, power, rows):
        return f"text with {power.distinct:,} different values in {rows:,} rows"
    often = power.distinction >= OFTEN_DIFFERENT
    if column.kind is Kind.INTEGER and often and _counts_rows(column, power, rows):
        return f"a running number: {power.distinct:,} different in {rows:,} rows"
    if ends_like_a_number(column.name) and often:
        return f"a number by its name: {power.distinct:,} different in {rows:,} rows"
    return None


def _names_its_row(column: Column, power: Power, rows: int) -> bool:
    often = rows >= FEWEST_ROWS and power.distinction >= NEARLY_UNIQUE
    return often and _is_text(column)


def _counts_rows(column: Column, power: Power, rows: int) -> bool:
    """Whether whole numbers count: in order, without gaps, or long and of one length."""
    if power.distinct == rows:
        steps = np.diff(column.codes)
        known = known_labels(column)
        in_order = bool((steps > 0).all() or (steps < 0).all())
        return in_order or (
            _long(known, LONG_NUMBER) and len(set(map(len, known))) == 1
        )
    numbers = column.numbers
    if numbers is None or power.distinct < LONG_RUN:
        return False
    known_numbers = numbers[~np.isnan(numbers)]
    return bool(known_numbers[-1] - known_numbers[0] + 1 == len(known_numbers))


def _long(labels: Sequence[str], digits: int) -> bool:
    return all(len(label) >= digits for label in labels[:FEWEST_ROWS])


def _person_number(power: Power, rows: int) -> SignAndReason:
    if power.distinct < rows:
        told = f"a person's number, {power.distinct:,} of them in {rows:,} rows"
        return Sign.SUBJECT, told, None
    return Sign.IDENTIFIER, "a person's number, another in every row", None


def _alone(column: Column) -> int:
    """Count the rows with a value that occurs once."""
    known = np.where(column.codes == column.missing, -1, column.codes)
    return alone(known.astype(np.int64))
