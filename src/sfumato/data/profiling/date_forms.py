"""Tell columns of dates that are written in several ways from columns of words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sfumato.data.vocabularies import in_order, plain_words

SAMPLE = 2000
MOST = 0.8
"""The share of values that must read like dates."""
NUMBERS = re.compile(
    r"(?P<a>[0-9]{1,4})(?P<mark>[-/.])(?P<b>[0-9]{1,2})(?P=mark)(?P<c>[0-9]{1,4})"
    r"([T ][0-9:.]+.*)?"
)
COMPACT = re.compile(r"(19|20)[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])")
FILLERS = frozenset(["de", "of", "den", "der", "le", "el", "di", "van", "do", "the"])
ORDINAL = re.compile(r"([0-9]{1,2})(st|nd|rd|th|er|o|a|e)?")
NO_DATE = "no date"


def almost_dates(labels: Sequence[str]) -> str | None:
    """Explain how a column of texts is nearly one of dates; None if it is not."""
    sample = [label.strip() for label in labels[:SAMPLE]]
    forms = Counter(map(date_form, sample))
    if len(sample) < 2 or len(sample) - forms[NO_DATE] < MOST * len(sample):
        return None
    counts = ", ".join(f"{form} {count:,}" for form, count in forms.most_common())
    return (
        f"almost recognized as a date: of {len(sample):,} values, {counts}; write all "
        "as 2020-01-31 to keep it"
    )


def date_form(text: str) -> str:
    """How a date is written."""
    numbers = NUMBERS.fullmatch(text)
    if numbers is not None:
        return _numeric_form(numbers["a"], numbers["b"], numbers["c"])
    if COMPACT.fullmatch(text):
        return "year first without marks"
    return "month in words" if _has_a_month(text) else NO_DATE


def _numeric_form(first: str, second: str, last: str) -> str:
    if len(first) == 4 and _day_and_month(second, last):
        return "year first"
    if len(last) == 4 and _day_and_month(first, second):
        return "year last"
    short = len(last) == 2 and _day_and_month(first, second)
    return "year in two digits" if short else NO_DATE


def _day_and_month(one: str, other: str) -> bool:
    low, high = sorted((int(one), int(other)))
    return 1 <= low <= 12 and high <= 31


def _has_a_month(text: str) -> bool:
    """Whether a text is a month in words with a day and a year, or with one of them."""
    parts = [word for word in plain_words(text) if word not in FILLERS]
    months = in_order("month", parts)
    others = [part for part in parts if part not in months]
    return (
        len(months) == 1
        and 1 <= len(others) <= 2
        and all(
            ORDINAL.fullmatch(part) or re.fullmatch("[0-9]{4}", part) for part in others
        )
    )
