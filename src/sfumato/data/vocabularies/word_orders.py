"""Put words for months, weekdays and levels in order, in several languages.

Each line of `orders.csv` is one place of an order, from first to last or low to high, and
the spellings of the words at that place.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Literal, get_args

from sfumato.data.vocabularies.word_groups import plain_words

OrderName = Literal[
    "month", "weekday", "level", "severity", "frequency", "quality", "agreement"
]
ORDERS: tuple[OrderName, ...] = get_args(OrderName)
"""The orders, in which they are tried."""
FEWEST_PLACES = 3
"""Two values are in order whatever it is."""
MOST_SPELLINGS = 200
"""More different values are not the words of one order."""


def order_of(values: Sequence[str]) -> OrderName | None:
    """The first order that knows all of these values; None if they are too few."""
    if not FEWEST_PLACES <= len(values) <= MOST_SPELLINGS:
        return None
    for name in ORDERS:
        ranks = {_ranks(name).get(_plain(value), -1) for value in values}
        if -1 not in ranks and len(ranks) >= FEWEST_PLACES:
            return name
    return None


def in_order(name: str, values: Sequence[str]) -> tuple[str, ...]:
    """The values that an order knows, in that order; twins by their text."""
    ranks = _ranks(name)
    known = [(ranks[_plain(v)], v) for v in values if _plain(v) in ranks]
    return tuple(value for _, value in sorted(known))


def _plain(value: str) -> str:
    return " ".join(plain_words(value))


@cache
def _ranks(name: str) -> Mapping[str, int]:
    path = resources.files("sfumato.data.vocabularies") / "orders.csv"
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    places = [row["spellings"].split("|") for row in rows if row["order"] == name]
    return {
        _plain(spelling): rank
        for rank, spellings in enumerate(places)
        for spelling in spellings
    }
