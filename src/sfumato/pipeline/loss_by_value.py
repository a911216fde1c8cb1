"""Break the loss down by value, to show who bears it.

A release may lose little on average and most of it on a minority. For every value of a
column: how many rows have it, how many are suppressed, how many still show it, and how
much their cells lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Request, Solution
from sfumato.data.arrays import Floats, Ints
from sfumato.data.coding import code_column
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Role
from sfumato.data.table import Column, Table
from sfumato.pipeline.expand_requirements import persons_with
from sfumato.publish.base import Draft
from sfumato.publish.group_spans import Extent

OTHERS = None
"""The value of a line that pools several rare values."""


class ValueLoss(TypedDict):
    """How much the rows with one value lost."""

    value: str | None
    """The value; None for pooled rare values and for missing cells."""
    values: int
    """How many values the line pools."""
    rows: int
    suppressed_rows: int | None
    """Suppressed rows; None where they are not counted."""
    shown: int
    """Rows that still show the value."""
    suppressed_cells: float
    """The share of their quasi-identifier cells that show nothing."""
    ncp: float
    """The mean loss of their quasi-identifier cells."""


class RowLosses(NamedTuple):
    """The loss of each row."""

    kept: npt.NDArray[np.bool_]
    ncp: Floats
    """The mean loss of each row's quasi-identifier cells; 1 for suppressed rows."""
    gone: Floats | None
    """The share of each row's quasi-identifier cells that show nothing; None: 0."""
    sizes: Ints
    """Rows of each group."""
    extents: Mapping[str, Extent]
    """What the groups cover of each quasi-identifier that is shown."""

    @classmethod
    def by(
        cls, grouping: Grouping, draft: Draft, extents: Sequence[Extent]
    ) -> RowLosses:
        named = {extent.coded.name: extent for extent in extents}
        # Suppressed rows have group −1, which indexes the appended last entry.
        ncp = np.append(draft.ncp.mean(axis=1), 1.0)[grouping.group_of]
        none = grouping.complete and not (draft.ncp >= 1.0).any()
        gone = np.append((draft.ncp >= 1.0).mean(axis=1), 1.0)
        return cls(
            grouping.kept,
            ncp,
            None if none else gone[grouping.group_of],
            grouping.sizes(),
            named,
        )


class LossTotals(NamedTuple):
    """Totals over the rows with each value of a column."""

    rows: Ints
    suppressed: Ints
    gone: Floats
    ncp: Floats
    shown: Ints


def loss_by(
    columns: Iterable[str],
    *,
    table: Table,
    request: Request,
    solution: Solution,
    draft: Draft,
    extents: Sequence[Extent],
    at_least: int,
) -> dict[str, list[ValueLoss]]:
    """Break the loss down by the values of each column, most common value first.

    Values of fewer than `at_least` rows, or persons, are pooled, together with the next
    rarest values until the pool has enough, so that no line singles anyone out. With
    `at_least` above 1, sensitive values of suppressed rows are not counted, because no
    group hides whose they are.
    """
    lost = RowLosses.by(solution.grouping, draft, extents)
    return {name: _lines(name, table, request, lost, at_least) for name in columns}


def _lines(
    name: str,
    table: Table,
    request: Request,
    lost: RowLosses,
    at_least: int,
) -> list[ValueLoss]:
    coded = _coded(table, name)
    secret = at_least > 1 and table.schema[name].role is Role.SENSITIVE
    complete = bool(lost.kept.all())
    partial = secret and not complete
    counted = lost.kept if partial else slice(None)
    # Counting would convert other numbers each time.
    codes, subject = coded.codes[counted].astype(np.int64), request.subject
    rows = np.bincount(codes, minlength=coded.size)
    left_out = codes[:0] if complete else codes[~lost.kept[counted]]
    suppressed = np.bincount(left_out, minlength=coded.size)
    sums = LossTotals(
        rows=rows,
        suppressed=suppressed,
        gone=np.zeros(coded.size)
        if lost.gone is None
        else _summed(codes, lost.gone[counted], coded.size),
        ncp=_summed(codes, lost.ncp[counted], coded.size),
        shown=_open(name, coded, lost)
        if table.schema[name].role is Role.QUASI
        else rows - suppressed,
    )
    persons = None if subject is None else subject[counted]
    pooled = _pooled(codes, persons, at_least, rows)
    lines = [_line(coded, each, sums) for each in pooled]
    for line in lines if partial else ():
        line["suppressed_rows"] = None
    return lines


def _summed(codes: Ints, numbers: Floats, size: int) -> Floats:
    """Sum one number per row over the rows of each code."""
    return np.bincount(codes, numbers, minlength=size).astype(np.float64)


def _coded(table: Table, name: str) -> Column:
    if name in table.columns:
        return table.columns[name]
    return code_column(name, table.source.column(name))


def _open(name: str, coded: Column, lost: RowLosses) -> Ints:
    """Count the rows that still show each value of a quasi-identifier."""
    axis, codes = lost.extents[name].coded.axis, lost.extents[name].shown_values
    texts = np.bincount(
        codes[codes >= 0], weights=lost.sizes[codes >= 0], minlength=axis.size
    )
    by_text = dict(zip(axis.labels, texts.tolist(), strict=True))
    return np.array([int(by_text.get(text, 0)) for text in coded.labels])


def _pooled(
    codes: Ints,
    subject: npt.NDArray[np.int32] | None,
    at_least: int,
    counts: Ints,
) -> list[list[int]]:
    """The codes of each line: one per common value, and one for all rare values.

    `counts` are the rows of each code.
    """
    persons = counts
    if subject is not None:
        persons = persons_with(codes, subject, size=len(counts))
    order = np.lexsort((np.arange(len(counts)), -counts)).tolist()
    single = [code for code in order if persons[code] >= at_least]
    rare = [code for code in order if counts[code] and persons[code] < at_least]
    while rare and single and _together(codes, subject, rare) < at_least:
        rare.insert(0, single.pop())
    return [*([code] for code in single), *([rare] if rare else [])]


def _together(
    codes: Ints,
    subject: npt.NDArray[np.int32] | None,
    chosen: list[int],
) -> int:
    """Count the persons who have any of several values."""
    rows = np.isin(codes, chosen)
    return int(rows.sum()) if subject is None else len(np.unique(subject[rows]))


def _line(coded: Column, codes: list[int], sums: LossTotals) -> ValueLoss:
    rows = int(sums.rows[codes].sum())
    alone = len(codes) == 1 and codes[0] != coded.missing
    return ValueLoss(
        value=coded.labels[codes[0]] if alone else OTHERS,
        values=len(codes),
        rows=rows,
        suppressed_rows=int(sums.suppressed[codes].sum()),
        shown=int(sums.shown[codes].sum()),
        suppressed_cells=float(sums.gone[codes].sum()) / rows,
        ncp=float(sums.ncp[codes].sum()) / rows,
    )
