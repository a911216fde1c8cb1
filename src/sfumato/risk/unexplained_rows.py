"""Published rows that no row of the original can have become.

In a table published from its original, every row is some row of it, and no two rows are
the same one. So a group has at most as many rows as the original has rows that its cells
may stand for, and shows no sensitive value more often than those rows have it. A table of
other people hardly ever meets this in all groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.data.arrays import Codes, Counts, Flags, Ints
from sfumato.risk.table_pair import Pair, PublishedForm

PAIRS = 1 << 27
"""Cells that are compared: groups × rows of the original × columns."""
MOST_GROUPS = 400


@dataclass(frozen=True)
class UnexplainedRows:
    """How many of the published rows that were looked at fit no row of the original."""

    rows: int
    checked: int

    @property
    def share(self) -> float:
        """The share of the rows that were looked at."""
        return self.rows / self.checked if self.checked else 0.0


def unexplained_rows(pair: Pair) -> UnexplainedRows:
    """Count published rows that nothing in the original explains.

    Where rows are aligned, each is compared with its own; otherwise groups, or some of
    them, with the whole original. Nothing is known of synthetic rows.
    """
    if pair.form is PublishedForm.SYNTHETIC:
        return UnexplainedRows(0, 0)
    if pair.source_row is not None:
        wrong = _wrong(pair, pair.source_row)
        found = UnexplainedRows(int(wrong.sum()), pair.rows_out)
    elif pair.form.truthful and pair.quasi:
        found = _by_groups(pair)
    else:
        found = UnexplainedRows(0, pair.rows_out)
    return max([found, *_by_values(pair)], key=lambda each: each.share)


def _wrong(pair: Pair, source_row: Ints) -> Flags:
    """Which published rows do not show the values of their original row."""
    names = pair.quasi if pair.form.truthful else ()
    if not pair.form.exact:
        # Swapped and anatomized values are those of the group, not of the row.
        names = (*names, *pair.sensitive)
    wrong = np.zeros(pair.rows_out, dtype=np.bool_)
    for name in names:
        column = pair.published[name]
        said = column.reading.understood[column.codes]
        fits = column.reading.covers(
            column.codes, pair.original[name].codes[source_row]
        )
        wrong |= said & ~fits
    return wrong


def _by_groups(pair: Pair) -> UnexplainedRows:
    """Compare groups of equal cells with the rows that they may stand for."""
    groups = pair.cell_groups
    sizes = np.bincount(groups)
    cost = pair.rows * len(pair.quasi)
    number = min(len(sizes), MOST_GROUPS, max(20, PAIRS // max(cost, 1)))
    chosen = np.unique(np.linspace(0, len(sizes) - 1, number).astype(np.int64))
    order = np.argsort(groups, kind="stable")
    starts = np.cumsum(sizes) - sizes
    rows = 0
    for group in chosen:
        members = order[starts[group] : starts[group] + sizes[group]]
        rows += _surplus(pair, members, _standing_for(pair, int(members[0])))
    return UnexplainedRows(rows, int(sizes[chosen].sum()))


def _standing_for(pair: Pair, row: int) -> Ints:
    """The original rows that a published row may be, by its quasi-identifiers."""
    left = np.arange(pair.rows)
    for name in pair.quasi:
        column, codes = pair.published[name], pair.original[name].codes
        text = int(column.codes[row])
        if column.reading.understood[text]:
            fits = column.reading.cover(np.array([text]))[0]
            left = left[fits[codes[left]]]
    return left


def _surplus(pair: Pair, members: Ints, candidates: Ints) -> int:
    """How many rows of a group are left when each takes a candidate of its own."""
    surplus = len(members) - len(candidates)
    if not pair.form.exact:
        for name in pair.sensitive:
            shown = _leaves(pair, name)[members]
            truth = pair.original[name].codes[candidates]
            surplus = max(surplus, _too_many(shown[shown >= 0], truth))
    return max(surplus, 0)


def _by_values(pair: Pair) -> list[UnexplainedRows]:
    """Compare how often the whole table shows each sensitive value."""
    found = []
    for name in pair.sensitive:
        shown = _leaves(pair, name)
        rows = _too_many(shown[shown >= 0], pair.original[name].codes)
        found.append(UnexplainedRows(rows, pair.rows_out))
    return found


def _leaves(pair: Pair, name: str) -> Ints:
    """The value that each published row shows, −1 where it shows none for sure."""
    column = pair.published[name]
    leaves: Ints = column.reading.leaf[column.codes]
    return leaves


def _too_many(shown: Ints, truth: Codes) -> int:
    """By how many rows values are shown more often than they occur."""
    size = int(max(shown.max(initial=-1), truth.max(initial=-1))) + 1
    often: Counts = np.bincount(shown, minlength=size)
    return int(np.maximum(often - np.bincount(truth, minlength=size), 0).sum())
