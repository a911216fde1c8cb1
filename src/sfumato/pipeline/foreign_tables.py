"""Conventions of other tools: counted rows, numbered rows, lists."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.arrays import Counts
from sfumato.data.published_cells import Cells

COUNT = "count"
"""The column in which anonypy counts the rows behind a published row."""
LIST_OF_ONE = re.compile(r"""\[(['"])(.*)\1\]""", re.DOTALL)
"""How Python prints a list of one text."""


def count_column(published: pa.Table, known: Sequence[str], rows: int) -> str | None:
    """The column that says how many rows each published row stands for, if any.

    `known` are the columns of the original and of the policy; all counts together are
    at most its `rows`.
    """
    if COUNT not in published.column_names or COUNT in known:
        return None
    counts = whole_numbers(published, COUNT)
    if counts is None or counts.min() < 1 or counts.sum() > rows:
        return None
    return COUNT


def row_numbers(
    published: pa.Table, known: Sequence[str], rows: int
) -> tuple[str, ...]:
    """The new columns whose cells are different numbers from 0 to `rows`.

    They may say which row of the original a published row is.
    """
    new = [name for name in published.column_names if name not in known]
    return tuple(name for name in new if _numbers_rows(published, name, rows))


def _numbers_rows(published: pa.Table, name: str, rows: int) -> bool:
    numbers = whole_numbers(published, name)
    if numbers is None or len(numbers) < 2:
        return False
    inside = numbers.min() >= 0 and numbers.max() <= rows
    return bool(inside and len(np.unique(numbers)) == len(numbers))


def whole_numbers(table: pa.Table, name: str) -> Counts | None:
    """A column as whole numbers; None where some cell is none."""
    try:
        numbers = table.column(name).cast(pa.string()).cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    if numbers.null_count or not len(numbers):
        return None
    return np.asarray(numbers.to_numpy())


def without_lists(table: pa.Table) -> pa.Table:
    """Columns whose cells are lists of one value, as columns of that value."""
    for place, column in enumerate(table.schema):
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            cells = table.column(place)
            if pc.all(pc.equal(pc.list_value_length(cells), 1)).as_py():
                table = table.set_column(place, column.name, pc.list_flatten(cells))
    return table


def without_printed_lists(cells: Cells) -> Cells:
    """The same cells, where all are printed as lists of one text: `['20-24']`."""
    found = [text and LIST_OF_ONE.fullmatch(text) for text in cells.texts]
    if not all(found):
        return cells
    return Cells(cells.codes, tuple(each[2] for each in found if each))
