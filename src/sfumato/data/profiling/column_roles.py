"""Decide the role of every column: compare columns, and choose what is generalized.

Quasi-identifiers are what an outsider plausibly knows: first what many know about a
person, then circumstances, then columns of unknown meaning, then sensitive numbers that
are nearly unique and therefore must not be published as they are. At most ten are chosen.
Of the rest only sensitive columns, and columns that tell hardly anybody apart even
together, are published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.data.arrays import Ints
from sfumato.data.profiling.band_choice import BandCoding
from sfumato.data.profiling.column_names import (
    is_about_others,
    is_circumstance,
    is_plain_name,
)
from sfumato.data.profiling.column_signs import (
    NEARLY_UNIQUE,
    OFTEN_DIFFERENT,
    Sign,
    Signs,
    known_labels,
)
from sfumato.data.profiling.coordinate_pairs import partners, with_positions
from sfumato.data.profiling.dependence import follows_from, same_values
from sfumato.data.profiling.name_words import Concept
from sfumato.data.schema import Kind, Role
from sfumato.data.unique_rows import MOST, joined

MOST_QUASI = 10
"""More quasi-identifiers than this leave little of each."""
FEW_VALUES = 20
"""Columns of unknown meaning with so few values are facts rather than measurements."""
SCALE_COLUMNS = 5
"""So many columns with the same scale are answers to questions."""
SCALE_VALUES = range(4, 12)
WORDS = (Kind.CATEGORY, Kind.ORDERED)
MUCH = 5
"""A column that tells a quasi-identifier of so many values tells too much of it."""
LOW_POWER = 0.01
"""The share of rows that columns published as they are may put into groups below k."""


@dataclass(frozen=True)
class Decision:
    """The role of a column and why; a dropped one is left out of the release."""

    role: Role
    reason: str
    drop: bool = False
    coding: BandCoding | None = None
    """The bands and tails that a column of numbers is published with."""

    @property
    def left_out(self) -> bool:
        """Whether the release does not have the column."""
        return self.drop or self.role is Role.IDENTIFIER


def decide(
    found: Sequence[Signs], *, k: int, given: Mapping[str, Decision]
) -> dict[str, Decision]:
    """The role of every column; those of some columns may be given."""
    fixed = [e for e in found if e.name in given and given[e.name].role is Role.QUASI]
    others = [each for each in found if each.name not in given]
    pairs = partners(others)
    seen = with_positions(_answers(others), pairs)
    seen = _identifiers_in_other_words(_one_of_each(seen))
    made = dict(given)
    made |= {each.name: _own(each) for each in seen if each.sign <= Sign.FREE_TEXT}
    room = MOST_QUASI - sum(not given[each.name].drop for each in fixed)
    chosen, repeated = _chosen(seen, max(room, 0), pairs)
    if not chosen and not fixed:
        chosen = [each for each in seen if each.sign is Sign.SENSITIVE][:MOST_QUASI]
    made |= repeated
    for each in chosen:
        made[each.name] = Decision(Role.QUASI, _quasi_reason(each))
    chosen = [*fixed, *chosen]
    rest = [each for each in seen if each.name not in made]
    made |= dict(_sensitive(rest, chosen))
    rest = [each for each in rest if each.name not in made]
    made |= _harmless(rest, chosen, k)
    halves = dict(_halves(made, partners(found)))
    made |= {name: halves[name] for name in halves if name not in given}
    return {each.name: made[each.name] for each in found}


def _halves(
    made: Mapping[str, Decision], pairs: Mapping[str, str]
) -> Iterator[tuple[str, Decision]]:
    """Leave out a coordinate whose other one is left out."""
    for name, other in pairs.items():
        if made[other].left_out and not made[name].left_out:
            reason = f"{made[name].reason}; but '{other}' is left out"
            yield name, Decision(made[name].role, reason, drop=True)


def _own(each: Signs) -> Decision:
    """The decision about a column that needs no comparison."""
    if each.sign is Sign.IDENTIFIER:
        return Decision(Role.IDENTIFIER, each.reason)
    if each.sign is Sign.SUBJECT:
        return Decision(Role.SUBJECT, each.reason)
    if each.sign is Sign.WEIGHT:
        return _weight(each)
    if each.sign is Sign.CONSTANT:
        return Decision(Role.INSENSITIVE, each.reason)
    return Decision(Role.IDENTIFIER, each.reason, drop=True)


def _weight(each: Signs) -> Decision:
    if each.alone > MOST:
        return Decision(Role.WEIGHT, f"{each.reason}; but {_alone(each)}", drop=True)
    return Decision(Role.WEIGHT, each.reason)


def _alone(each: Signs) -> str:
    return f"{each.alone:.1%} of rows have a value that occurs once"


def _quasi_reason(each: Signs) -> str:
    if each.sign is Sign.SENSITIVE and each.alone > MOST:
        return f"{each.reason}; but {_alone(each)}: generalized, not shown as it is"
    if each.sign is Sign.SENSITIVE:
        return f"{each.reason}; generalized, because no other column can be"
    if each.sign is Sign.UNKNOWN:
        return f"{each.reason}: an outsider may know it"
    return each.reason


# Columns that belong together.


def _answers(found: Sequence[Signs]) -> list[Signs]:
    """Mark columns that share one scale as answers, which nobody else knows."""
    scales = {each.name: _scale(each) for each in found}
    counted = Counter(scale for scale in scales.values() if scale is not None)
    many = {scale: n for scale, n in counted.items() if n >= SCALE_COLUMNS}
    return [
        replace(
            each,
            sign=Sign.SENSITIVE,
            reason=f"one of {many[scale]} answers on the same scale",
        )
        if (scale := scales[each.name]) in many and scale is not None
        else each
        for each in found
    ]


def _scale(each: Signs) -> tuple[str, ...] | None:
    """The scale of a column of unknown meaning: whole numbers up to its highest."""
    person = each.concept is not None and not is_circumstance(each.concept)
    if each.sign not in (Sign.UNKNOWN, Sign.KNOWN, Sign.SENSITIVE) or person:
        return None
    labels = tuple(known_labels(each.column))
    if each.column.kind is Kind.INTEGER and set(labels) <= set(map(str, range(12))):
        full = tuple(str(n) for n in range(1, int(labels[-1]) + 1))
        labels = full if set(full) <= set(labels) else ()
    elif each.column.kind not in WORDS or each.sign is Sign.KNOWN:
        return None
    return labels if len(labels) in SCALE_VALUES else None


def _one_of_each(found: Sequence[Signs]) -> list[Signs]:
    """Keep one subject, the column with the most persons, and one weight."""
    found = _with_subject(found)
    subjects = [each for each in found if each.sign is Sign.SUBJECT]
    subject = max(subjects, key=lambda each: each.power.distinct, default=None)
    weight = next((each for each in found if each.sign is Sign.WEIGHT), None)
    return [_demoted(each, subject, weight) for each in found]


def _with_subject(found: Sequence[Signs]) -> Sequence[Signs]:
    """Take a number that repeats for that of a person, unless another counts rows."""
    numbers = [each for each in found if each.sign is Sign.IDENTIFIER]
    unique = any(each.power.distinction >= NEARLY_UNIQUE for each in numbers)
    repeating = [
        each
        for each in numbers
        if each.column.kind in (Kind.INTEGER, Kind.CODE)
        and each.power.distinction >= OFTEN_DIFFERENT
    ]
    if unique or not repeating or any(e.sign is Sign.SUBJECT for e in found):
        return found
    subject = max(repeating, key=lambda each: each.power.distinct)
    reason = f"{subject.reason}: rows that share it may be about one person"
    return [
        replace(each, sign=Sign.SUBJECT, reason=reason) if each is subject else each
        for each in found
    ]


def _demoted(each: Signs, subject: Signs | None, weight: Signs | None) -> Signs:
    if each.sign is Sign.SUBJECT and each is not subject:
        return replace(each, sign=Sign.IDENTIFIER, reason="a further person's number")
    if each.sign is Sign.WEIGHT and each is not weight:
        return replace(each, sign=Sign.UNKNOWN, reason="a further weight")
    return each


def _identifiers_in_other_words(found: Sequence[Signs]) -> list[Signs]:
    """Mark texts that say the same as a number of a person or an organization."""
    numbers = [
        each
        for each in found
        if each.sign in (Sign.IDENTIFIER, Sign.SUBJECT) and each.power.distinction < 1
    ]
    return [_same_as_a_number(each, numbers) for each in found]


def _same_as_a_number(each: Signs, numbers: Sequence[Signs]) -> Signs:
    text = each.column.kind in (Kind.CATEGORY, Kind.CODE)
    if text and each.sign in (Sign.KNOWN, Sign.UNKNOWN):
        for number in numbers:
            if same_values(each.column, number.column):
                reason = f"says the same as '{number.name}'"
                return replace(each, sign=Sign.IDENTIFIER, reason=reason)
    return each


# What an outsider may know.


def _chosen(
    found: Sequence[Signs], room: int, pairs: Mapping[str, str]
) -> tuple[list[Signs], dict[str, Decision]]:
    """The quasi-identifiers, and the columns that repeat them."""
    ordered, repeated = _without_repetitions(found)
    by_rank = [each.name for _, each in sorted(ordered, key=lambda pair: pair[0])]
    names = set(by_rank[:room])
    halves = {name for name in names if pairs.get(name, name) not in names}
    if halves:
        halves |= {pairs[name] for name in halves}
        names = set([name for name in by_rank if name not in halves][:room])
    return [each for each in found if each.name in names], repeated


Rank = tuple[int, int, float]


def _without_repetitions(
    found: Sequence[Signs],
) -> tuple[list[tuple[Rank, Signs]], dict[str, Decision]]:
    ranked: list[tuple[Rank, Signs]] = []
    repeated: dict[str, Decision] = {}
    for concept in Concept:
        kept: list[Signs] = []
        for each in sorted(_about(found, concept), key=_finest_first):
            others = [other.column for other in kept]
            if concept is not Concept.POSITION and follows_from(each.column, others):
                told = ", ".join(f"'{other.name}'" for other in kept)
                reason = f"{each.reason}; but it follows from {told}"
                repeated[each.name] = Decision(Role.QUASI, reason, drop=True)
            else:
                kept.append(each)
                ranked.append((_rank(concept, len(kept)), each))
    unnamed, again = _distinct(_unnamed(found), _dummies(found))
    return [*ranked, *unnamed], repeated | again


def _about(found: Sequence[Signs], concept: Concept) -> list[Signs]:
    return [e for e in found if e.sign is Sign.KNOWN and e.concept is concept]


def _finest_first(each: Signs) -> tuple[bool, bool, bool, int]:
    """Order columns about one thing: the person's own, named plainly, in words, finest."""
    return (
        is_about_others(each.name),
        not is_plain_name(each.name),
        each.column.kind.numeric,
        -each.power.distinct,
    )


def _rank(concept: Concept, place: int) -> Rank:
    """First columns of each concept come before second ones, and so on."""
    if concept is Concept.POSITION:
        # The two coordinates of a place are one thing to know.
        place = (place + 1) // 2
    circumstance = is_circumstance(concept)
    return (min(2 * (place - 1) + circumstance, 4), list(Concept).index(concept), place)


def _unnamed(found: Sequence[Signs]) -> Iterator[tuple[Rank, Signs]]:
    for each in found:
        if each.sign is Sign.UNKNOWN and each.power.distinct <= FEW_VALUES:
            yield (5, 0, -each.power.separation), each
        elif each.sign is Sign.SENSITIVE and each.alone > MOST:
            yield (6, 0, each.alone), each
        elif each.sign is Sign.UNKNOWN:
            yield (7, 0, each.alone), each


def _distinct(
    ranked: Iterator[tuple[Rank, Signs]], dummies: Mapping[str, str]
) -> tuple[list[tuple[Rank, Signs]], dict[str, Decision]]:
    """Leave out columns of unknown meaning that say the same as one before them."""
    kept: list[tuple[Rank, Signs]] = []
    repeated: dict[str, Decision] = {}
    for rank, each in ranked:
        twin = next((o for _, o in kept if same_values(each.column, o.column)), None)
        if each.name in dummies:
            reason = f"{each.reason}; it follows from '{dummies[each.name]}'"
            repeated[each.name] = Decision(_role_of(each), reason, drop=True)
        elif twin is None:
            kept.append((rank, each))
        else:
            reason = f"{each.reason}; it says the same as '{twin.name}'"
            repeated[each.name] = Decision(_role_of(each), reason, drop=True)
    return kept, repeated


def _dummies(found: Sequence[Signs]) -> dict[str, str]:
    """Columns such as `level1` to `level4` that follow from one without a number."""
    by_name = {each.name: each for each in found}
    bases = {each.name: each.name.rstrip("0123456789").rstrip("_. -") for each in found}
    return {
        name: base
        for name, base in bases.items()
        if base != name
        and base in by_name
        and by_name[base].sign >= Sign.KNOWN
        and follows_from(by_name[name].column, [by_name[base].column])
    }


def _role_of(each: Signs) -> Role:
    """The role that a column would have if it were published."""
    return Role.SENSITIVE if each.sign is Sign.SENSITIVE else Role.QUASI


# What is published as it is.


def _sensitive(
    rest: Sequence[Signs], quasi: Sequence[Signs]
) -> Iterator[tuple[str, Decision]]:
    for each in rest:
        if each.sign is Sign.SENSITIVE:
            fault = _gives_away(each, quasi)
            reason = f"{each.reason}; but {fault}" if fault else each.reason
            yield each.name, Decision(Role.SENSITIVE, reason, drop=bool(fault))


def _gives_away(each: Signs, quasi: Sequence[Signs]) -> str | None:
    """Explain why a column may not be published as it is."""
    if each.alone > MOST:
        return _alone(each)
    for other in quasi:
        much = other.power.distinct >= MUCH
        if much and follows_from(other.column, [each.column]):
            return f"'{other.name}' follows from it"
    return None


def _harmless(
    rest: Sequence[Signs], quasi: Sequence[Signs], k: int
) -> dict[str, Decision]:
    """Keep columns that tell hardly anybody apart, even together; drop the others."""
    made: dict[str, Decision] = {}
    kept: list[Ints] = []
    for each in sorted(rest, key=lambda one: one.power.separation):
        codes = each.column.codes.astype(np.int64)
        fault = _fault(each, quasi) or _too_telling([*kept, codes], k)
        if fault is None:
            kept.append(codes)
            reason = f"{each.reason}, and it tells hardly anybody apart"
            made[each.name] = Decision(Role.INSENSITIVE, reason)
        else:
            reason = f"{each.reason}; {fault}"
            made[each.name] = Decision(Role.INSENSITIVE, reason, drop=True)
    return made


def _fault(each: Signs, quasi: Sequence[Signs]) -> str | None:
    if each.sign is Sign.KNOWN:
        return f"{MOST_QUASI} columns that more people know are generalized already"
    for other in quasi:
        if follows_from(each.column, [other.column]):
            return f"it follows from '{other.name}'"
    return _gives_away(each, quasi)


def _too_telling(columns: Sequence[Ints], k: int) -> str | None:
    rows = len(columns[0])
    places = joined(columns, rows)
    sizes = np.bincount(places)
    rare = int(sizes[sizes < k].sum())
    if rare <= LOW_POWER * rows:
        return None
    with_others = " with the others" if len(columns) > 1 else ""
    return f"{rare / rows:.1%} of rows{with_others} share it with fewer than {k - 1}"
