"""Columns that give other columns away, and pairs of which one suffices.

How well a column tells another is measured by guessing: for each row, guess the value
that the other rows with the same value of the first column have most often. The score
is the share of the wrong guesses without the first column that it puts right. A value
that occurs once tells nothing here, so that columns of unique values do not seem to
determine everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Ints
from sfumato.data.schema import Role
from sfumato.data.unique_rows import value_places
from sfumato.pipeline.advice.suggestions import Suggestion, Topic
from sfumato.policy import Policy
from sfumato.policy.edit_text import toml_key

DETERMINES = 0.99
NEARLY = 0.9
"""The scores from which a column determines, or nearly determines, another."""
MOST_ROWS = 50_000
"""Pairs are compared on at most this many rows, evenly spread."""
MOST_COLUMNS = 40
"""With more published columns, only these many first ones are compared."""
PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT)


def score(first: Ints, second: Ints) -> float:
    """How well one column tells another, from 0 (not at all) to 1 (exactly)."""
    rows = len(first)
    if rows < 2:
        return 0.0
    overall = np.bincount(second)
    wrong = rows - int(overall.max())
    if wrong == 0:
        return 0.0
    pairs, counts = np.unique(
        first * (int(second.max()) + 1) + second, return_counts=True
    )
    owner, value = np.divmod(pairs, int(second.max()) + 1)
    right = _right_guesses(owner, value, counts, int(np.argmax(overall)))
    return max(0.0, 1.0 - (rows - right) / wrong)


def _right_guesses(owner: Ints, value: Ints, counts: Ints, commonest: int) -> int:
    """How many rows are guessed right from the other rows of the same owner."""
    order = np.lexsort((-counts, owner))
    owner, value, counts = owner[order], value[order], counts[order]
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    top, rows = counts[starts], np.add.reduceat(counts, starts)
    later = np.append(counts, 0)[starts + 1]
    runner_up = np.where(np.append(starts[1:], len(counts)) > starts + 1, later, 0)
    # Without the row itself, its value must still be the commonest of its owner.
    clear = np.where(top - 1 > runner_up, top, 0)
    alone = (rows == 1) & (value[starts] == commonest)
    return int(clear[rows > 1].sum()) + int(alone.sum())


def dependences(policy: Policy, source: pa.Table) -> tuple[dict[str, Any], ...]:
    """Pairs of published columns of which the first tells the second."""
    names = [n for n in source.column_names if policy.role(n) in PUBLISHED]
    step = max(1, -(-source.num_rows // MOST_ROWS))
    codes = {
        name: value_places(source.column(name), policy.data.missing)[::step] + 1
        for name in names[:MOST_COLUMNS]
    }
    found = []
    for first, second in permutations(codes, 2):
        told = score(codes[first], codes[second])
        if told >= NEARLY:
            found.append(
                {
                    "column": first,
                    "role": str(policy.role(first)),
                    "tells": second,
                    "its_role": str(policy.role(second)),
                    "score": told,
                }
            )
    return tuple(sorted(found, key=lambda each: -each["score"]))


def dependence_edits(
    policy: Policy, found: Sequence[Mapping[str, Any]]
) -> Iterator[Suggestion]:
    """Edits for columns that give a quasi-identifier away, and for redundant ones."""
    scores = {(each["column"], each["tells"]): each["score"] for each in found}
    for (first, second), told in scores.items():
        back = scores.get((second, first))
        roles = policy.role(first), policy.role(second)
        if roles == (Role.QUASI, Role.QUASI):
            if back is None or first < second:
                yield _redundant(first, second, told, back)
        elif roles[1] is Role.QUASI:
            yield _gives_away(policy, first, second, told)
        elif roles[0] is Role.QUASI and back is None:
            yield _follows(policy, first, second, told)


def _word(told: float) -> str:
    return "determines" if told >= DETERMINES else "nearly determines"


def _redundant(first: str, second: str, told: float, back: float | None) -> Suggestion:
    both = "" if back is None else " and the reverse"
    return Suggestion(
        topic=Topic.DEPENDENCE,
        text=f"Leave out '{second}'.",
        reason=f"'{first}' {_word(told)} it{both} ({told:.1%} of guesses that would "
        "be wrong are right): the pair is redundant.",
        settings={f"columns.{toml_key(second)}.drop": True},
        weaker=True,
        facts={"pair": [first, second], "score": told},
    )


def _gives_away(policy: Policy, first: str, second: str, told: float) -> Suggestion:
    """A column published as it is that tells a generalized one."""
    reason = (
        f"'{first}' is {policy.role(first)} and published as it is; it {_word(told)} "
        f"'{second}' ({told:.1%} of guesses that would be wrong are right), whatever "
        f"'{second}' shows."
    )
    return _closed(policy, first, reason, pair=[first, second], told=told)


def _follows(policy: Policy, first: str, second: str, told: float) -> Suggestion:
    """A column published as it is that follows from a quasi-identifier."""
    reason = (
        f"'{first}' {_word(told)} '{second}' ({told:.1%} of guesses that would be wrong "
        f"are right), which is {policy.role(second)} and published as it is: whoever "
        f"knows '{first}' of a person can look for it."
    )
    return _closed(policy, second, reason, pair=[first, second], told=told)


def _closed(
    policy: Policy, name: str, reason: str, *, pair: list[str], told: float
) -> Suggestion:
    """Make a column a quasi-identifier, or leave out one that is sensitive."""
    facts = {"pair": pair, "score": told}
    key = f"columns.{toml_key(name)}"
    if policy.role(name) is Role.SENSITIVE:
        return Suggestion(
            topic=Topic.DEPENDENCE,
            text=f"Leave out '{name}'.",
            reason=reason,
            settings={f"{key}.drop": True},
            facts=facts,
        )
    settings: dict[str, Any] = {f"{key}.role": "quasi"}
    if policy.column(name).keep_as_is:
        settings[f"{key}.keep_as_is"] = None
    return Suggestion(
        topic=Topic.DEPENDENCE,
        text=f"Make '{name}' a quasi-identifier.",
        reason=reason,
        settings=settings,
        facts=facts,
    )
