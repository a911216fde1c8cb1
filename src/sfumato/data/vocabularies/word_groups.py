"""Find the groups of values in the built-in vocabularies.

A vocabulary is a CSV file: a broad group, a narrow group, and spellings of its members
in several languages. A spelling that ends in `*` is the beginning of a word.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

NAMES = ("country", "us_state", "education", "marital", "employment", "occupation")
"""The vocabularies, in the order in which they are tried."""
WHOLE = frozenset({"country", "us_state"})
"""Vocabularies of names: short codes in them count only as whole values."""
LEAST_PART = 4
"""The shortest name that is recognized as a part of a value."""
MOST_WORDS = 6
"""Spellings have at most this many words."""


@dataclass(frozen=True)
class Grouped:
    """The groups that a value belongs to."""

    narrow: str
    broad: str


def plain_words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, without accents and signs."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    bare = plain.encode("ascii", "ignore").decode().lower().replace("'", "")
    return tuple(re.findall(r"[a-z0-9]+", bare))


def group(vocabulary: str, value: str) -> Grouped | None:
    """The groups of a value: by the longest spelling that it is or contains."""
    known = _spellings(vocabulary)
    words = plain_words(value)
    if " ".join(words) in known.whole:
        return known.whole[" ".join(words)]
    for size in range(min(len(words), MOST_WORDS), 0, -1):
        for start in range(len(words) - size + 1):
            found = _part(vocabulary, known, words[start : start + size])
            if found is not None:
                return found
    return None


@cache
def group_names(vocabulary: str) -> frozenset[str]:
    """The names of all groups of a vocabulary, narrow and broad."""
    known = _spellings(vocabulary)
    grouped = [*known.whole.values(), *known.stems.values()]
    return frozenset(name for each in grouped for name in (each.narrow, each.broad))


def recognized(vocabulary: str, values: Sequence[str]) -> float:
    """The share of distinct values that a vocabulary knows."""
    known = sum(group(vocabulary, value) is not None for value in values)
    return known / len(values) if values else 0.0


def _part(vocabulary: str, known: _Spellings, words: tuple[str, ...]) -> Grouped | None:
    text = " ".join(words)
    if vocabulary in WHOLE and len(text) < LEAST_PART:
        return None
    if text in known.whole:
        return known.whole[text]
    beginnings = (text[:end] for end in range(len(text), 1, -1))
    return next((known.stems[b] for b in beginnings if b in known.stems), None)


@dataclass(frozen=True)
class _Spellings:
    whole: Mapping[str, Grouped]
    stems: Mapping[str, Grouped]


@cache
def _spellings(vocabulary: str) -> _Spellings:
    place = resources.files("sfumato.data.vocabularies") / f"{vocabulary}.csv"
    whole: dict[str, Grouped] = {}
    stems: dict[str, Grouped] = {}
    for row in csv.DictReader(place.read_text(encoding="utf-8").splitlines()):
        found = Grouped(row["narrow"], row["broad"])
        for spelling in row["spellings"].split("|"):
            table = stems if spelling.endswith("*") else whole
            table.setdefault(" ".join(plain_words(spelling)), found)
    return _Spellings(whole, stems)
