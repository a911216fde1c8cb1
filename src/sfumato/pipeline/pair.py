"""Read an original and a published table, made by Sfumato or not, as a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato import registry
from sfumato.data.arrays import Codes, Counts, Floats, Ints
from sfumato.data.published_cells import (
    Cells,
    as_intervals,
    coded_cells,
)
from sfumato.data.schema import Role
from sfumato.errors import DataError
from sfumato.hierarchies.axis import STAR, CodedAxis
from sfumato.hierarchies.cell_readings import read
from sfumato.pipeline.code_table import axes, coded_column
from sfumato.pipeline.foreign_tables import (
    count_column,
    row_numbers,
    whole_numbers,
    without_lists,
    without_printed_lists,
)
from sfumato.pipeline.private_record import Alignment, read_alignment
from sfumato.pipeline.verification import matched, with_bounds
from sfumato.policy import Policy
from sfumato.publish.anatomize import COUNT, GROUP
from sfumato.publish.base import Form
from sfumato.risk.table_pair import (
    ColumnReading,
    Pair,
    PublishedForm,
    groups_by_cells,
)
from sfumato.verify import require_columns

COMPARED = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)


@dataclass(frozen=True, eq=False, kw_only=True)
class PairFiles:
    """The tables of a pair, and what is known about them."""

    policy: Policy
    original: pa.Table
    published: pa.Table
    beside: Mapping[str, pa.Table] = field(default_factory=dict)
    """The second table of an anatomized pair, under `sensitive`."""
    base: Path | None = None
    record: Path | None = None
    """The private record of the release, which says which row is which."""
    known_rows: Alignment | None = None
    """The same, where it is at hand."""
    same_order: bool = False
    """Whether each published row is the original row at its place."""
    form: PublishedForm | None = None
    """How the table was published; None: what the policy and the cells show."""

    def pair(self) -> Pair:
        """Code the original, and read every published cell against its axes."""
        quasi = self.policy.names(Role.QUASI)
        require_columns(self.original, quasi, what="The original")
        for what, table in (
            ("original", self.original),
            ("published table", self.published),
        ):
            if not table.num_rows:
                raise DataError(
                    f"The {what} has no rows.", hint="There is nothing to measure."
                )
        form, columns = self._shown_form, self._columns
        groups, source_row = self._groups(form)
        sensitive = self.policy.names(Role.SENSITIVE)
        return Pair(
            rows=self.original.num_rows,
            original=self._axes,
            published=columns,
            quasi=quasi,
            sensitive=tuple(name for name in sensitive if name in columns),
            form=form,
            groups=groups,
            source_row=source_row,
            recorded=source_row is not None and not self.same_order,
            subject=self._subject,
            weights=self._weights,
            dropped=self._dropped,
            row_numbers=self._row_numbers,
            count_column=self._count_column,
        )

    def judged(self) -> pa.Table:
        """The published rows as models judge them, whoever wrote them.

        A row that stands for several is repeated, and cells with the same meaning get
        the same text.
        """
        table = self._rows
        if self._times is not None:
            table = table.take(np.repeat(np.arange(table.num_rows), self._times))
        for name in self.policy.names(Role.QUASI):
            for old in self._places[name]:
                table = table.drop_columns([old])
            table = table.append_column(name, self._alike(name))
        return table

    def _alike(self, name: str) -> pa.Array:
        """A quasi-identifier with one text for each meaning."""
        column, cells = self._columns[name], self._cells[name]
        said = column.reading.meaning
        _, first = np.unique(said, return_index=True)
        texts = pa.array([cells.texts[place] for place in first], pa.string())
        return texts.take(pa.array(said[column.codes]))

    @cached_property
    def _axes(self) -> dict[str, CodedAxis]:
        """The columns of the original that are compared, on their axes."""
        names = [n for n in self.original.column_names if n in self._places]
        coded = [coded_column(self.policy, self.original, name) for name in names]
        return {each.name: each for each in axes(self.policy, coded, self.base)}

    @cached_property
    def _places(self) -> dict[str, tuple[str, ...]]:
        """The published columns of each compared one: itself, two bounds, or none."""
        there = self._rows.column_names
        found: dict[str, tuple[str, ...]] = {}
        for name in self.original.column_names:
            role = self.policy.role(name)
            (columns,) = with_bounds([name], there)
            if role in COMPARED and set(columns) <= set(there):
                found[name] = columns
            elif role is Role.QUASI:
                found[name] = ()
        return found

    @property
    def _dropped(self) -> tuple[str, ...]:
        return tuple(name for name, columns in self._places.items() if not columns)

    @cached_property
    def _rows(self) -> pa.Table:
        """The published rows; those of an anatomy with a value of their group each."""
        table = self.published
        second = self.beside.get("sensitive")
        if second is None:
            return without_lists(table)
        owners, values = matched(table, second)
        places = np.empty(len(owners), dtype=np.int64)
        places[np.argsort(_numbered(table), kind="stable")] = np.argsort(
            owners, kind="stable"
        )
        for name in second.column_names:
            if name not in (GROUP, COUNT) and name not in table.column_names:
                table = table.append_column(name, values.column(name).take(places))
        return table

    @cached_property
    def _columns(self) -> dict[str, ColumnReading]:
        return {name: self._column(name) for name in self._places}

    def _column(self, name: str) -> ColumnReading:
        coded, cells = self._axes[name], self._cells[name]
        lost = self._cells_lost(coded, cells)
        reading = read(coded.axis, cells.texts, missing_hides=lost)
        codes = cells.codes
        if self._times is not None:
            codes = np.repeat(codes, self._times)
        return ColumnReading(name=name, codes=codes, reading=reading)

    @cached_property
    def _cells(self) -> dict[str, Cells]:
        return {name: self._coded(name) for name in self._places}

    def _coded(self, name: str) -> Cells:
        """The published cells of a column; two bounds are one interval."""
        columns, rows = self._places[name], self._rows.num_rows
        if not columns:
            return Cells(np.zeros(rows, dtype=np.int32), (STAR,))
        parts = coded_cells(self._rows, columns, self.policy.data.missing)
        whole = as_intervals(*parts) if len(parts) == 2 else parts[0]
        return without_printed_lists(whole)

    @staticmethod
    def _cells_lost(coded: CodedAxis, cells: Cells) -> bool:
        """Return whether cells were suppressed: more are missing than before."""
        now = int(cells.missing[cells.codes].sum())
        before = int((coded.codes == coded.axis.missing).sum())
        return now > (before if coded.axis.missing >= 0 else 0)

    @cached_property
    def _known(self) -> list[str]:
        return [*self.policy.columns, *self.original.column_names]

    @cached_property
    def _count_column(self) -> str | None:
        return count_column(self.published, self._known, self.original.num_rows)

    @cached_property
    def _times(self) -> Counts | None:
        if self._count_column is None:
            return None
        return whole_numbers(self.published, self._count_column)

    @property
    def _row_numbers(self) -> tuple[str, ...]:
        known = [*self._known, GROUP] if self.beside else self._known
        return row_numbers(self.published, known, self.original.num_rows)

    @cached_property
    def _shown_form(self) -> PublishedForm:
        """The form that is stated, or that the policy or the cells show."""
        if self.form is not None:
            return self.form
        if "sensitive" in self.beside:
            return PublishedForm.ANATOMIZED
        if self._states_synthetic:
            return PublishedForm.SYNTHETIC
        stated = self.policy.operator_instance()
        if stated.form is Form.SWAPPED:
            return PublishedForm.SWAPPED
        if stated.name == "microaggregate" or self._has_means:
            return PublishedForm.MICROAGGREGATED
        return PublishedForm.GENERALIZED

    @property
    def _states_synthetic(self) -> bool:
        """Whether the policy's algorithm publishes synthetic records."""
        name = self.policy.algorithm.name
        # Imported late: loading an algorithm loads compiled code.
        if name is None or not self.policy.process_models():
            return False
        return bool(getattr(registry.algorithm(name), "synthetic", False))

    @property
    def _has_means(self) -> bool:
        """Whether a column of single numbers has some that the original lacks."""
        for name in self.policy.names(Role.QUASI):
            reading = self._columns[name].reading
            single = (reading.leaf >= 0) | reading.points
            if reading.points.any() and single.all():
                return True
        return False

    def _groups(self, form: PublishedForm) -> tuple[Codes, Ints | None]:
        """The group of each published row, and its original row where it is known."""
        # No synthetic row is a person's, whatever a record says.
        aligned = None if form is PublishedForm.SYNTHETIC else self._aligned()
        source_row = None if aligned is None else aligned.source_row
        if self.same_order:
            source_row = self._in_place()
        if form is PublishedForm.ANATOMIZED and GROUP in self.published.column_names:
            return _numbered(self.published), source_row
        if form is PublishedForm.SWAPPED and aligned is not None:
            _, groups = np.unique(aligned.group, return_inverse=True)
            return groups.astype(np.int32), source_row
        return self._by_cells(), source_row

    def _aligned(self) -> Alignment | None:
        if self.record is None:
            return self.known_rows
        return read_alignment(
            self.record,
            published=self._rows.num_rows,
            original=self.original.num_rows,
        )

    def _in_place(self) -> Ints:
        """Pair the rows of both tables one by one, if there are equally many."""
        before, after = self.original.num_rows, self.published.num_rows
        if before != after:
            raise DataError(
                f"The original has {before} rows and the published table {after}, so "
                "they are not in the same order.",
                hint="Say which row is which with the private record, or not at all.",
            )
        return np.arange(before)

    def _by_cells(self) -> Codes:
        """Group the rows whose quasi-identifier cells say the same."""
        quasi = [self._columns[name] for name in self.policy.names(Role.QUASI)]
        if quasi:
            return groups_by_cells(quasi)
        return np.zeros(self._rows.num_rows, dtype=np.int32)

    @cached_property
    def _subject(self) -> Codes | None:
        names = self.policy.names(Role.SUBJECT)
        if not names or names[0] not in self.original.column_names:
            return None
        return coded_column(self.policy, self.original, names[0]).codes

    @cached_property
    def _weights(self) -> Floats | None:
        names = self.policy.names(Role.WEIGHT)
        if not names or names[0] not in self.original.column_names:
            return None
        column = coded_column(self.policy, self.original, names[0])
        return None if column.numbers is None else column.numbers[column.codes]


def _numbered(table: pa.Table) -> Codes:
    """The groups of an anatomy's first table as codes."""
    texts = table.column(GROUP).cast(pa.string()).to_numpy().astype(str)
    _, groups = np.unique(texts, return_inverse=True)
    return np.asarray(groups, dtype=np.int32)
