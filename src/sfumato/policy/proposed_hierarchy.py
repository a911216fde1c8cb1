"""Propose a hierarchy for a column, as a person who knows the subject would write it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from sfumato.data.profiling.column_signs import known_labels
from sfumato.data.profiling.infer import Guess
from sfumato.data.profiling.name_words import Concept
from sfumato.data.profiling.value_patterns import FEWEST_VALUES, vocabulary_of
from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.hierarchies.automatic import (
    calendar_units,
    interval_widths,
    prefix_lengths,
)
from sfumato.hierarchies.levels import known_numbers
from sfumato.policy.policy_lines import quoted

AGE_WIDTHS = (5, 10, 20)
OLDEST = 90
"""Ages from here on are one group."""
OLD_STEP = 5
FEW_OLD = 0.001
"""Ages that a smaller share of rows, or fewer rows, reach join the group of the oldest."""
LEAST_OLD = 5
AGES = (-1, 125)
YEARS = (1000, 2200)
VOCABULARIES = MappingProxyType(
    {
        Concept.COUNTRY: ("country",),
        Concept.CITIZENSHIP: ("country",),
        Concept.BIRTH: ("country",),
        Concept.REGION: ("us_state",),
        Concept.EDUCATION: ("education",),
        Concept.MARITAL: ("marital",),
        Concept.EMPLOYMENT: ("employment", "occupation"),
        Concept.OCCUPATION: ("occupation", "employment"),
    }
)


@dataclass(frozen=True)
class ProposedHierarchy:
    """What `hierarchy` is set to, as TOML, and why."""

    setting: str
    reason: str


def proposed_hierarchy(guess: Guess, column: Column) -> ProposedHierarchy | None:
    """The hierarchy of a quasi-identifier; None if intervals are best left free."""
    if column.kind in (Kind.DATE, Kind.DATETIME):
        return _calendar(column)
    if column.kind.numeric:
        return _numbers(guess, column)
    if column.kind is Kind.CODE:
        return _prefixes(column) or _flat()
    if column.kind is Kind.ORDERED:
        return ProposedHierarchy('"auto"', "runs of neighbors")
    return _vocabulary(guess, column) or _flat()


def _calendar(column: Column) -> ProposedHierarchy | None:
    units = calendar_units(column)
    return _table("calendar", [quoted(u) for u in units], "units the range spans")


def _numbers(guess: Guess, column: Column) -> ProposedHierarchy | None:
    if guess.concept is Concept.AGE and _within(column, AGES):
        return _ages(column)
    if _within(column, YEARS) and guess.concept in (Concept.BIRTH, Concept.DATE):
        return _table("intervals", ["5", "10", "20"], "years in spans")
    if _are_months(guess, column):
        return _table("intervals", ["3", "6"], "quarters of the year", "origin = 1")
    widths = [number_text(width) for width in interval_widths(column)]
    return _table("intervals", widths, "round widths")


def _within(column: Column, bounds: tuple[int, int]) -> bool:
    known = known_numbers(column)
    low, high = bounds
    return len(known) > 0 and bool(known[0] >= low and known[-1] <= high)


def _are_months(guess: Guess, column: Column) -> bool:
    known = known_numbers(column)
    named = guess.concept in (Concept.BIRTH, Concept.DATE)
    return named and bool(len(known) == 12 and known[0] == 1 and known[-1] == 12)


def _ages(column: Column) -> ProposedHierarchy | None:
    known = known_numbers(column)
    widths = [width for width in AGE_WIDTHS if width <= (known[-1] - known[0]) / 2]
    top = _top(column)
    option = f"top = {top}" if top is not None else ""
    oldest = f"; {top} and above together" if top is not None else ""
    return _table("intervals", map(str, widths), f"ages in spans{oldest}", option)


def _top(column: Column) -> int | None:
    """The age from which on all are one group: where few are older, at most 90."""
    known = known_numbers(column)
    counts = np.bincount(column.codes, minlength=column.size)[: len(known)]
    older = np.cumsum(counts[::-1])[::-1]
    enough = known[older >= max(FEW_OLD * counts.sum(), LEAST_OLD)]
    if not len(enough):
        return None
    top = min(int(enough[-1] // OLD_STEP * OLD_STEP), OLDEST)
    return top if known[0] < top <= known[-1] else None


def _prefixes(column: Column) -> ProposedHierarchy | None:
    """Leading characters, if the fewest leave half as many codes; else none."""
    lengths = prefix_lengths(column)
    texts = known_labels(column)
    if not lengths or 2 * len({text[: lengths[-1]] for text in texts}) > len(texts):
        return None
    return _table("prefix", map(str, lengths), "leading characters kept")


def _vocabulary(guess: Guess, column: Column) -> ProposedHierarchy | None:
    tried = VOCABULARIES.get(guess.concept) if guess.concept else None
    if tried is None or column.size < FEWEST_VALUES:
        return None
    name = vocabulary_of(known_labels(column), *tried)
    if name is None:
        return None
    setting = f"{{ vocabulary = {quoted(name)} }}"
    return ProposedHierarchy(setting, "groups of a built-in vocabulary")


def _flat() -> ProposedHierarchy:
    return ProposedHierarchy(
        '"flat"', "groups show sets; a CSV file can name better ones"
    )


def _table(
    builder: str, levels: Iterable[str], reason: str, option: str = ""
) -> ProposedHierarchy | None:
    written = ", ".join(levels)
    if not written:
        return None
    more = f", {option}" if option else ""
    return ProposedHierarchy(f"{{ {builder} = [{written}]{more} }}", reason)


def number_text(width: float) -> str:
    """A number as TOML, without a fraction where it has none."""
    return str(int(width)) if width.is_integer() else repr(width)
