"""Take a view apart: count persons once, split combinations, fill missing values.

Each part is then judged as a plain histogram.

Cost: O(n) per part and filling for n entries; a part with missing cells is judged once
per value of the domain, up to `EXACT_VALUES` of them, else n + 3 times; O(n log² n) to
count persons.
Invariant: parts are disjoint and cover every entry; a part is judged with each person
counted once; missing cells are taken as one value for the whole part, the worst of
those tried, and the entries handed on stay ascending.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.data.arrays import Codes, Counts, Floats
from sfumato.kernels.common.rule_layout import (
    DOMAIN,
    EXACT_VALUES,
    FIRST,
    LAST,
    MISSING,
    PAIRS,
    PERSONS,
    RAREST,
    SHARES,
    VALUES,
)
from sfumato.kernels.compilation.decorators import both_numpy, inner_numpy


def view_ok(
    judge: Any,
    size: int,
    codes: Codes,
    counts: Counts,
    n: int,
    v: int,
    kind: int,
    parameters: Floats,
    marks: int,
    heads: Counts,
    whole: Counts,
    real: Floats,
) -> bool:
    """Judge one rule on one view, for every combination and every missing value."""
    values, sums = np.empty(n + 1, np.int32), np.empty(n + 1, np.int64)
    filled, full = np.empty(n + 1, np.int32), np.empty(n + 1, np.int64)
    start = 0
    while start < n:
        end = _end_of_part(codes, start, n, v, heads, whole)
        m, people = _gather(codes, counts, start, end, values, sums, v, heads, whole)
        at = _missing_at(values, sums, m, v, heads)
        for turn in range(_tries(m, at, v, heads)):
            shown, number, width = values, sums, m
            if at >= 0:
                value = _candidate(values, m, turn, v, heads, real)
                width = _fill(values, sums, m, at, value, filled, full)
                shown, number = filled, full
            if not judge(
                people,
                shown,
                number,
                width,
                v,
                kind,
                parameters,
                marks,
                heads,
                whole,
                real,
            ):
                return False
        start = end
    return True


@inner_numpy
def _value_of(code: int, v: int, heads: Counts, whole: Counts) -> int:
    """Return the value (of a combination) behind a code that may stand for a pair."""
    pairs = heads[v, PAIRS]
    return whole[pairs + code] if pairs >= 0 else code


@both_numpy
def _end_of_part(
    codes: Codes, start: int, n: int, v: int, heads: Counts, whole: Counts
) -> int:
    """Return where the entries of the combination at `start` end."""
    values = heads[v, VALUES]
    part = _value_of(codes[start], v, heads, whole) // values
    end = start + 1
    while end < n and _value_of(codes[end], v, heads, whole) // values == part:
        end += 1
    return end


@both_numpy
def _gather(
    codes: Codes,
    counts: Counts,
    start: int,
    end: int,
    values: Codes,
    sums: Counts,
    v: int,
    heads: Counts,
    whole: Counts,
) -> tuple[int, int]:
    """Gather entries start … end − 1 as values with counts; return how many, and the size.

    Codes of pairs are sorted by value, then person: equal values are consecutive.
    """
    pairs, modulus = heads[v, PAIRS], heads[v, VALUES]
    persons = np.empty(end - start if pairs >= 0 else 0, dtype=np.int64)
    m, size = 0, 0
    for i in range(start, end):
        if counts[i] > 0:
            value = _value_of(codes[i], v, heads, whole) % modulus
            if m == 0 or values[m - 1] != value:
                values[m], sums[m] = value, 0
                m += 1
            if pairs >= 0:
                persons[size] = whole[heads[v, PERSONS] + codes[i]]
                sums[m - 1] += 1
                size += 1
            else:
                sums[m - 1] += counts[i]
                size += counts[i]
    return m, _number_of(persons, size) if pairs >= 0 else size


@inner_numpy
def _number_of(persons: Counts, n: int) -> int:
    """Count different persons; sorts them in place (by Shell's method)."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            person, j = persons[i], i
            while j >= gap and persons[j - gap] > person:
                persons[j] = persons[j - gap]
                j -= gap
            persons[j] = person
        gap //= 2
    found = 0
    for i in range(n):
        if i == 0 or persons[i] != persons[i - 1]:
            found += 1
    return found


@both_numpy
def _missing_at(codes: Codes, counts: Counts, n: int, v: int, heads: Counts) -> int:
    """Return the entry of the missing cells that may be anything, or −1."""
    if heads[v, MISSING] >= 0:
        for i in range(n):
            if codes[i] == heads[v, MISSING] and counts[i] > 0:
                return i
    return -1


@both_numpy
def _tries(n: int, at: int, v: int, heads: Counts) -> int:
    """Count how often to ask a rule: once, or once for each value of the missing cells."""
    if n == 0:
        return 0
    if at < 0:
        return 1
    first, last = heads[v, FIRST], heads[v, LAST]
    return last - first + 1 if heads[v, DOMAIN] <= EXACT_VALUES else n + 3


@both_numpy
def _candidate(
    codes: Codes, n: int, turn: int, v: int, heads: Counts, real: Floats
) -> int:
    """Return the value that missing cells are taken as at this turn.

    Values that do not occur in the reference stand for the first one, which does.
    """
    first = heads[v, FIRST]
    if heads[v, DOMAIN] > EXACT_VALUES:
        if turn >= n:
            last = heads[v, LAST]
            return first if turn == n else last if turn == n + 1 else heads[v, RAREST]
        value = codes[turn]
    else:
        value = first + turn
    return value if real[heads[v, SHARES] + value] > 0.0 else first


@both_numpy
def _fill(
    codes: Codes,
    counts: Counts,
    n: int,
    at: int,
    value: int,
    filled: Codes,
    full: Counts,
) -> int:
    """Count the missing cells, entry `at`, as `value`; entries stay ascending."""
    m = 0
    placed = False
    for i in range(n + 1):
        if not placed and (i == n or codes[i] >= value):
            filled[m], full[m] = value, counts[at]
            placed = True
            m += 1
        if i < n and i != at:
            if codes[i] == value:
                full[m - 1] += counts[i]
            else:
                filled[m], full[m] = codes[i], counts[i]
                m += 1
    return m
