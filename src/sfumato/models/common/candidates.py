"""Candidate rows of a person when a missing cell may stand for any value.

The candidates of a person are the rows that agree with the person wherever neither
cell is missing. A person's own missing cells are filled in, with values of the table
and with one that nobody shows, and each way of filling them in that gives another set
of candidates is looked at. Rows with the same cells are always candidates together,
so everything here is about published groups: distinct tuples of cells.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Counts
from sfumato.models.common.groups import packed

Blank = npt.NDArray[np.bool_]

NOBODY = -1
"""A value that no row shows."""
LIMIT = 1 << 24
"""The most ways of filling in, or pairs of a person and a group, that are looked at."""


class TooManyFillingsError(Exception):
    """There are more ways to fill in missing cells than can be looked at."""


def with_nobody(cells: Codes, blank: Blank) -> Codes:
    """Fill in the missing cells of every tuple with a value that nobody shows.

    No other way of filling them in has fewer candidates.
    """
    return np.where(blank, NOBODY, cells).astype(np.int32)


def fillings(cells: Codes, blank: Blank) -> tuple[Counts, Codes]:
    """Return every relevant way of filling in the missing cells of distinct tuples.

    Returns the tuple that each one fills in, and its cells. A value that no candidate
    shows can be replaced by one that nobody shows, without any change to the set of
    candidates; what is left are the values that candidates show, joined.
    """
    owner = turn = np.arange(len(cells), dtype=np.int64)
    known = filled = fresh = with_nobody(cells, blank)
    while len(fresh) and blank.any():
        left, right = agreeing(fresh, cells, blank, open_left=fresh == NOBODY)
        joined = np.where(fresh[left] == NOBODY, known[right], fresh[left])
        owner, filled, turn, fresh = _with_new(owner, filled, turn[left], joined)
    return owner, filled


def _with_new(
    owner: Counts, filled: Codes, turn: Counts, joined: Codes
) -> tuple[Counts, Codes, Counts, Codes]:
    """The fillings known so far with those that are new, and the new ones alone."""
    owners, cells = np.append(owner, turn), np.concatenate([filled, joined])
    _, first = np.unique(_key([owners, *(cells + 1).T]), return_index=True)
    first = np.sort(first)
    if len(first) > LIMIT:
        raise TooManyFillingsError
    new = first[first >= len(owner)]
    return owners[first], cells[first], owners[new], cells[new]


def agreeing(
    left: Codes, right: Codes, blank: Blank, *, open_left: Blank | None = None
) -> tuple[Counts, Counts]:
    """Pairs of lines that agree wherever neither cell is missing, the left ones sorted.

    `blank` are the missing cells on the right, `open_left` those on the left.
    """
    if open_left is None:
        open_left = np.zeros(left.shape, dtype=np.bool_)
    found = [_empty()]
    number = 0
    for mine, lines in _patterns(open_left):
        for theirs, others in _patterns(blank):
            pairs = _equal(left, lines, right, others, ~(mine | theirs), LIMIT - number)
            number += len(pairs[0])
            found.append(pairs)
    one, other = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((other, one))
    return one[order], other[order]


def _empty() -> tuple[Counts, Counts]:
    return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


def _patterns(blank: Blank) -> list[tuple[Blank, Counts]]:
    """Which cells are missing together, and on which lines."""
    if not blank.any():
        return [(np.zeros(blank.shape[1], dtype=np.bool_), np.arange(len(blank)))]
    patterns, of = np.unique(blank, axis=0, return_inverse=True)
    lines = np.argsort(of.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(of.ravel()))[:-1]
    return list(zip(patterns, np.split(lines, ends), strict=True))


def _equal(
    left: Codes,
    lines: Counts,
    right: Codes,
    others: Counts,
    columns: Blank,
    room: int,
) -> tuple[Counts, Counts]:
    """Pairs of some lines that are equal in some columns."""
    both = np.concatenate([left[lines][:, columns], right[others][:, columns]]) + 1
    key = _key(list(both.T)) if columns.any() else np.zeros(len(both), dtype=np.int64)
    mine, theirs = key[: len(lines)], key[len(lines) :]
    order = np.argsort(theirs, kind="stable")
    first = np.searchsorted(theirs[order], mine, "left")
    number = np.searchsorted(theirs[order], mine, "right") - first
    if int(number.sum()) > room:
        raise TooManyFillingsError
    shift = np.repeat(first - (np.cumsum(number) - number), number)
    places = np.arange(int(number.sum())) + shift
    return np.repeat(lines, number), others[order[places]]


def _key(columns: list[npt.NDArray[np.integer[npt.NBitBase]]]) -> Counts:
    return packed(columns)[0]
