"""Tables that can be queried: originals, releases of rows, and anatomized pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.arrays import Codes, Floats
from sfumato.data.published_cells import as_intervals, coded_cells, distinct_tuples
from sfumato.errors import DataError
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.hierarchies.cell_readings import Reading, exact, read
from sfumato.publish.anatomize import COUNT, GROUP

ENDS = ("_from", "_to")


@dataclass(frozen=True, eq=False)
class QueriedColumn:
    """A column: a code per row, and what each code stands for."""

    codes: Codes
    reading: Reading


@dataclass(frozen=True, eq=False)
class ColumnRows:
    """Some columns of a table, row by row."""

    queried: Mapping[str, QueriedColumn]
    rows: int
    weights: Floats | None = None
    """How many rows each one stands for; None: one."""


class QueryableTable(Protocol):
    """A table that can be queried."""

    def rows_of(self, names: Sequence[str]) -> ColumnRows:
        """The rows, with the columns of these names."""


@dataclass(frozen=True, eq=False)
class RowTable:
    """A table whose rows show all columns."""

    everything: ColumnRows

    def rows_of(self, names: Sequence[str]) -> ColumnRows:
        queried = {name: self.everything.queried[name] for name in names}
        return ColumnRows(queried, self.everything.rows, self.everything.weights)


@dataclass(frozen=True, eq=False)
class Anatomy:
    """A pair of tables that are joined by group.

    A row of a group with n rows has a value that occurs c times there with
    probability c / n (Xiao and Tao 2006).
    """

    people: ColumnRows
    values: ColumnRows
    """One row per value and group; its weight is the count."""
    group_of_person: Codes
    group_of_value: Codes
    groups: int

    def rows_of(self, names: Sequence[str]) -> ColumnRows:
        inner = [name for name in names if name in self.values.queried]
        outer = [name for name in names if name not in self.values.queried]
        if not inner:
            return RowTable(self.people).rows_of(names)
        if not outer:
            return RowTable(self.values).rows_of(names)
        return self._joined(outer, inner)

    def _joined(self, outer: Sequence[str], inner: Sequence[str]) -> ColumnRows:
        """Every distinct person of a group beside every value of the group."""
        codes = [self.people.queried[name].codes for name in outer]
        owner, tuples = distinct_tuples(
            [*codes, self.group_of_person], self.people.rows
        )
        persons = np.bincount(owner, minlength=len(tuples))
        left, right = self._pairs(tuples[:, -1])
        sizes = np.bincount(self.group_of_person, minlength=self.groups)
        counts = self._counts
        share = counts[right] / np.maximum(sizes[self.group_of_value[right]], 1)
        queried = {
            name: QueriedColumn(tuples[left, i], self.people.queried[name].reading)
            for i, name in enumerate(outer)
        }
        for name in inner:
            face = self.values.queried[name]
            queried[name] = QueriedColumn(face.codes[right], face.reading)
        return ColumnRows(queried, len(left), persons[left] * share)

    @property
    def _counts(self) -> Floats:
        if self.values.weights is None:
            return np.ones(self.values.rows)
        return self.values.weights

    def _pairs(
        self, groups: Codes
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Left rows by group, each beside all value rows of its group."""
        order = np.argsort(self.group_of_value, kind="stable")
        lengths = np.bincount(self.group_of_value, minlength=self.groups)
        starts = np.cumsum(lengths) - lengths
        repeats = lengths[groups]
        left = np.repeat(np.arange(len(groups)), repeats)
        before = np.repeat(np.cumsum(repeats) - repeats, repeats)
        place = np.repeat(starts[groups], repeats) + np.arange(len(left)) - before
        return left, order[place]


def original(columns: Mapping[str, CodedAxis], rows: int) -> RowTable:
    """The source itself."""
    queried = {
        name: QueriedColumn(c.codes, exact(c.axis)) for name, c in columns.items()
    }
    return RowTable(ColumnRows(queried, rows))


def published(
    table: pa.Table,
    beside: Mapping[str, pa.Table],
    axes: Mapping[str, Axis],
    *,
    missing: Sequence[str] = (),
) -> QueryableTable:
    """A release: its cells read against the axes of the original.

    `beside` holds the second table of an anatomized pair; without it the rows show
    everything, exact, swapped, generalized or averaged.
    """
    second = beside.get("sensitive")
    if second is None:
        return RowTable(_rows(table, axes, missing))
    inner = {n: a for n, a in axes.items() if n in second.column_names}
    outer = {n: a for n, a in axes.items() if n not in inner}
    people = _rows(table, outer, missing)
    values = _rows(second, inner, missing)
    names, owners = _numbered(table, second)
    counts = second.column(COUNT).cast(pa.string()).cast(pa.float64()).to_numpy()
    return Anatomy(
        people,
        ColumnRows(values.queried, values.rows, counts),
        owners[: table.num_rows],
        owners[table.num_rows :],
        names,
    )


def _numbered(table: pa.Table, second: pa.Table) -> tuple[int, Codes]:
    """How many groups two tables have together, and the group of each row of both."""
    texts = [t.column(GROUP).cast(pa.string()).to_numpy() for t in (table, second)]
    names, owners = np.unique(np.concatenate(texts).astype(str), return_inverse=True)
    return len(names), owners.astype(np.int32)


def _rows(
    table: pa.Table, axes: Mapping[str, Axis], missing: Sequence[str]
) -> ColumnRows:
    queried = {name: _face(table, axis, missing) for name, axis in axes.items()}
    return ColumnRows(queried, table.num_rows)


def _face(table: pa.Table, axis: Axis, missing: Sequence[str]) -> QueriedColumn:
    pair = [axis.name + end for end in ENDS]
    if axis.name in table.column_names:
        (cells,) = coded_cells(table, [axis.name], missing)
    elif set(pair) <= set(table.column_names):
        cells = as_intervals(*coded_cells(table, pair, missing))
    else:
        raise DataError(
            f"The workload asks for '{axis.name}', which the release does not have.",
            hint="Publish the column, or leave its queries out of the workload.",
        )
    return QueriedColumn(cells.codes, read(axis, cells.texts))
