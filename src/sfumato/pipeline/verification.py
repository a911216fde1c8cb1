"""What a published table must prove, no matter who made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.arrays import Counts
from sfumato.data.cell_text import as_text, distinct
from sfumato.data.coding import code_column
from sfumato.data.published_cells import Cells, as_intervals, coded_cells
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import Kind, Role
from sfumato.data.table import Column
from sfumato.errors import DataError
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.hierarchies.bands import in_order
from sfumato.models.base import OutputModel
from sfumato.pipeline.code_table import axes
from sfumato.pipeline.column_kinds import Decided, declared, distance_name
from sfumato.pipeline.population import population_path, read_population
from sfumato.policy import Policy
from sfumato.publish.anatomize import COUNT, GROUP
from sfumato.publish.base import Form
from sfumato.verify import Evidence, Population, Proof, prove, require_columns

BOUNDS = ("_from", "_to")
SOURCE_VALUES = b"sfumato.source_values"
"""The metadata key of the source's value counts in the private record."""
GENERATED_VALUES = b"sfumato.generated_values"
"""The metadata key of the counts that requirements were generated from."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Private(SafeRepr):
    """What only the private record can show, in publishing order."""

    subject: npt.NDArray[np.int32] | None = None
    groups: npt.NDArray[np.int32] | None = None
    source_values: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many persons of the source have each value, missing included, of the
    sensitive columns that requirements compare with the source."""
    generated_values: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many rows of the source have each value of the columns that requirements are
    generated from; values too rare to be told are left out, and so is the missing one."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Claim(SafeRepr):
    """What a policy claims about a published table: roles, marks and requirements."""

    policy: Policy
    models: tuple[OutputModel, ...]
    base: Path | None = None
    private: Private = field(default_factory=Private)
    form: Form = Form.CELLS
    every_column: bool = False
    """Whether all columns are judged as cells: the guarantee covers them all."""
    decided: Mapping[str, Decided] = field(default_factory=dict)
    """The kinds of columns, where they were decided before."""

    def _summary(self) -> str:
        return counted(len(self.models), "requirement")

    @property
    def unit(self) -> str:
        """What its requirements count: rows, or persons where a subject is named."""
        persons = self.policy.names(Role.SUBJECT) and not self.every_column
        return "persons" if persons else "rows"

    @property
    def needs_record(self) -> bool:
        """Whether the published table alone does not prove it."""
        told = self.private
        counted = told.source_values or told.generated_values
        shown = self.policy.pseudonymized() & set(self.policy.names(Role.SUBJECT))
        persons = told.subject is not None and not shown
        return bool(counted) or persons or told.groups is not None

    def verify(
        self,
        table: pa.Table,
        beside: Mapping[str, pa.Table] = MappingProxyType({}),
        *,
        times: Counts | None = None,
    ) -> Proof:
        """Judge a published table; `beside` is the second table of an anatomy.

        With `times`, each row of the table stands for so many equal ones.
        """
        if table.num_rows == 0:
            raise DataError(
                "The table has no rows.", hint="There is nothing to judge or publish."
            )
        if self.form is Form.ANATOMIZED:
            return prove(self._anatomy(table, beside), self.models)
        return prove(self.evidence(table, times=times), self.models)

    def evidence(self, table: pa.Table, *, times: Counts | None = None) -> Evidence:
        """Code the table as a recipient sees it."""
        if self.form is Form.SWAPPED and self.private.groups is None:
            raise DataError(
                "A swapped table does not show its groups.",
                hint="Give the private record: --groups private/rows.parquet.",
            )
        read = self._sensitive(table)
        return Evidence(
            cells=self._cells(table),
            sensitive=_rows_alone(read, table.num_rows),
            subject=self._subject(table),
            weights=self._weights(table),
            groups=self.private.groups,
            population=self._population,
            source_counts=self._source_counts(read, table.num_rows),
            missing_any=self.policy.data.missing_as == "any",
            rows=table.num_rows,
            shown=self._shown(table),
            times=times,
        )

    def judged_columns(self, names: Sequence[str]) -> list[str]:
        """The columns, of those of a published table, that its proof looks at."""
        quasi = with_bounds(self.policy.names(Role.QUASI), names)
        targets = [t for model in self.models for t in model.targets()]
        roles = (Role.SENSITIVE, Role.SUBJECT, Role.WEIGHT)
        asked = [
            *(name for columns in quasi for name in columns),
            *self.policy.names(*roles),
            *(name for target in targets for name, _ in target),
        ]
        wanted = set(names if self.every_column else asked)
        return [name for name in names if name in wanted]

    def _shown(self, table: pa.Table) -> dict[str, Cells]:
        """Code the columns whose values requirements count."""
        targets = [target for model in self.models for target in model.targets()]
        names = list(dict.fromkeys(name for target in targets for name, _ in target))
        require_columns(table, names, what="A requirement counts values: the table")
        cells = coded_cells(table, names, self.policy.data.missing)
        return dict(zip(names, cells, strict=True))

    def _anatomy(self, table: pa.Table, beside: Mapping[str, pa.Table]) -> Evidence:
        """Code both tables: the groups are published, the pairing is not."""
        if "sensitive" not in beside:
            raise DataError(
                "An anatomized table needs its second part.",
                hint="Keep the file 'sensitive' beside the file 'data'.",
            )
        owners, values = matched(table, beside["sensitive"])
        read = self._sensitive(values)
        return Evidence(
            cells=(),
            sensitive=_rows_alone(read, len(owners)),
            groups=owners,
            source_counts=self._source_counts(read, len(owners)),
            missing_any=self.policy.data.missing_as == "any",
            rows=len(owners),
        )

    def quasi_columns(self, table: pa.Table) -> tuple[tuple[str, ...], ...]:
        """The published columns of each quasi-identifier: one, or its two bounds."""
        names = self.policy.names(Role.QUASI)
        if self.every_column:
            names = tuple(table.column_names)
        found = with_bounds(names, table.column_names)
        listed = [name for columns in found for name in columns]
        require_columns(table, listed, what="The table")
        return found

    def _cells(self, table: pa.Table) -> tuple[Cells, ...]:
        """Code the cells of each quasi-identifier; two bounds are one interval."""
        named, quasi = self.policy.names(Role.QUASI), self.quasi_columns(table)
        names = list(dict.fromkeys(name for columns in quasi for name in columns))
        coded = coded_cells(table, names, self.policy.data.missing)
        cells = dict(zip(names, coded, strict=True))
        found = []
        for columns in quasi:
            parts = [cells[name] for name in columns]
            joined = as_intervals(*parts) if len(parts) == 2 else parts[0]
            # Bounds that are named separately are two columns of a population.
            found.append(joined if columns[0] in named else replace(joined, ends=()))
        return tuple(found)

    def _sensitive(self, table: pa.Table) -> Mapping[str, CodedAxis]:
        """Put sensitive columns on axes; the source's known values follow the rows."""
        if self.every_column:
            return {}
        names = self.policy.names(Role.SENSITIVE)
        require_columns(table, names, what="The table")
        return {name: self._on_its_axis(table, name) for name in names}

    def _on_its_axis(self, table: pa.Table, name: str) -> CodedAxis:
        """Put a sensitive column on the axis decided before, or on one of its own."""
        known, decided = self._known(name), self.kind_of(name)
        column = self._column(table, name, known)
        if decided.axis is not None:
            return _on_axis(column, decided.axis, known, table.num_rows)
        (coded,) = axes(self.policy, [column], self.base)
        coded = CodedAxis(self._with_distance(name, coded.axis), coded.codes)
        self._check_distance(name, coded.axis)
        return coded

    def _with_distance(self, name: str, axis: Axis) -> Axis:
        """Measure by the hierarchy where the manifest does.

        Values that break the order of a hierarchy may have been left out of a release.
        """
        told = self.kind_of(name).distance
        by_tree = told == "hierarchical" and axis.shape is Shape.TREE
        if not by_tree:
            return axis
        return replace(axis, kind=Kind.CATEGORY, positions=None)

    def _known(self, name: str) -> tuple[str | None, ...]:
        """The source's values, as far as they are known."""
        compared = self.private.source_values.get(name, ())
        counted = compared or self.private.generated_values.get(name, ())
        return self.kind_of(name).labels or tuple(counted)

    def _check_distance(self, name: str, axis: Axis) -> None:
        """Refuse to measure by a distance other than the manifest's."""
        told, found = self.kind_of(name).distance, distance_name(axis)
        if told not in (None, found):
            raise DataError(
                f"The manifest measures '{name}' by the {told} distance; here it would "
                f"be the {found} one.",
                hint="Give the policy of the release, which names its hierarchies.",
            )

    def kind_of(self, name: str) -> Decided:
        """The kind of a column: decided before, or declared by the policy."""
        return self.decided.get(name) or declared(self.policy, name)

    def kinds(self, sensitive: Mapping[str, CodedAxis]) -> dict[str, dict[str, str]]:
        """How each judged sensitive column was read, and where that came from."""
        views = [v for m in self.models for v in m.views(tuple(sensitive))]
        return {
            name: {
                "kind": str(self.kind_of(name).kind or sensitive[name].axis.kind),
                "distance": distance_name(sensitive[name].axis),
                "from": self.kind_of(name).origin,
            }
            for name in dict.fromkeys(view.column for view in views)
        }

    def _source_counts(
        self, read: Mapping[str, CodedAxis], rows: int
    ) -> dict[str, npt.NDArray[np.int64]]:
        """The source's value counts in the order of each sensitive axis.

        Published cells may be spelled differently from the source's values. Both were
        coded together, so that two spellings of a value share a code.
        """
        found = {}
        for name in self.private.source_values.keys() & read.keys():
            found[name] = np.zeros(read[name].axis.size, dtype=np.int64)
            np.add.at(found[name], read[name].codes[rows:], self._counts(name))
        return found

    def _counts(self, name: str) -> list[int]:
        """How often each known value occurs in the source.

        The missing value is counted under its mark.
        """
        counts = self.private.source_values[name]
        known = self._known(name)
        missing = sum(n for text, n in counts.items() if text not in known)
        return [missing if t is None else counts.get(t, 0) for t in known]

    @cached_property
    def _population(self) -> Population | None:
        """The population table that a requirement names, on the policy's axes; read
        once for all tables that are verified."""
        path = population_path(self.models)
        if path is None:
            return None
        source = read_population(self.policy, path, self.base)
        columns = [self._column(source, name) for name in self.policy.names(Role.QUASI)]
        return Population.of(axes(self.policy, columns, self.base), source.num_rows)

    def _column(
        self, table: pa.Table, name: str, known: Sequence[str | None] = ()
    ) -> Column:
        """Code a column, followed by one cell for each known value."""
        decided, cells = self.kind_of(name), table.column(name)
        kind, order = decided.kind, self.policy.column(name).order or decided.order
        if known:
            shown = as_text(cells, name=name).chunks
            cells = pa.chunked_array([*shown, pa.array(known, pa.string())])
        if self.policy.bands(name) is not None:
            kind = Kind.ORDERED
            # A published file may have cells that its source does not.
            if decided.origin != "source":
                order = self._order_of_bands(name, cells)
        return code_column(
            name,
            cells,
            kind=kind,
            missing=self.policy.data.missing,
            order=order,
            dates=decided.dates,
        )

    def _order_of_bands(self, name: str, cells: pa.ChunkedArray) -> tuple[str, ...]:
        values = distinct(cells, name=name)[0]
        return in_order(name, values, self.policy.data.missing)

    def _subject(self, table: pa.Table) -> npt.NDArray[np.int32] | None:
        if self.private.subject is not None:
            return self.private.subject
        names = self.policy.names(Role.SUBJECT)
        if not names or self.private.groups is not None or self.every_column:
            return None
        if names[0] not in table.column_names:
            raise DataError(
                f"The policy counts persons by '{names[0]}', which the table lacks.",
                hint="Give the private record: --groups private/rows.parquet.",
            )
        return self._column(table, names[0]).codes

    def _weights(self, table: pa.Table) -> npt.NDArray[np.float64] | None:
        names = self.policy.names(Role.WEIGHT)
        if self.every_column or not names or names[0] not in table.column_names:
            return None
        if self.policy.bands(names[0]) is not None:
            return None
        column = self._column(table, names[0])
        return None if column.numbers is None else column.numbers[column.codes]


def _rows_alone(read: Mapping[str, CodedAxis], rows: int) -> dict[str, CodedAxis]:
    """Cut off the known values that follow the rows."""
    return {name: CodedAxis(c.axis, c.codes[:rows]) for name, c in read.items()}


def _on_axis(
    column: Column, axis: Axis, known: Sequence[str | None], rows: int
) -> CodedAxis:
    """Put a column on the source's axis; one cell per known value follows the rows.

    Known values have an order of their own, which may differ from the hierarchy's.
    """
    leaf = {text: code for code, text in enumerate(axis.labels)}
    place = np.full(column.size, -1, dtype=np.int32)
    place[column.codes[rows:]] = [
        axis.missing if text is None else leaf[text] for text in known
    ]
    codes = place[column.codes]
    unknown = int((codes[:rows] < 0).sum())
    if unknown:
        raise DataError(
            f"Column '{column.name}': {unknown} cells have a value that "
            "the source does not have.",
            hint="Check a table with the record of its own release.",
        )
    return CodedAxis(axis, codes)


def with_bounds(
    names: Sequence[str], published: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """The columns of each quasi-identifier.

    A name that the table lacks may be published as two bounds. Two bounds that are
    named one by one still count as one quasi-identifier.
    """
    found: list[tuple[str, ...]] = []
    for name in names:
        low, high = name + BOUNDS[0], name + BOUNDS[1]
        if name not in published and {low, high} <= set(published):
            found.append((low, high))
        elif name.endswith(BOUNDS[0]) and _other_bound(name) in names:
            found.append((name, _other_bound(name)))
        elif not (name.endswith(BOUNDS[1]) and _first_bound(name) in names):
            found.append((name,))
    return tuple(found)


def _other_bound(name: str) -> str:
    return name.removesuffix(BOUNDS[0]) + BOUNDS[1]


def _first_bound(name: str) -> str:
    return name.removesuffix(BOUNDS[1]) + BOUNDS[0]


def matched(
    people: pa.Table, values: pa.Table
) -> tuple[npt.NDArray[np.int32], pa.Table]:
    """Expand the sensitive table to one row per person, with the group of each."""
    require_columns(people, [GROUP], what="The first table of the anatomy")
    require_columns(values, [GROUP, COUNT], what="The second table of the anatomy")
    counts = _whole_numbers(values.column(COUNT))
    if len(counts) and (counts.min() < 0 or counts.max() > people.num_rows):
        raise DataError(
            f"A count of the anatomy's second table is below 0 or above the "
            f"{people.num_rows:,} rows of the first.",
            hint="Both files must come from one release, unchanged.",
        )
    rows = np.repeat(np.arange(len(counts)), counts)
    listed = values.column(GROUP).cast(pa.string()).to_numpy()[rows]
    owned = people.column(GROUP).cast(pa.string()).to_numpy()
    names, owners = np.unique(listed.astype(str), return_inverse=True)
    if not _same_sizes(names, owners, owned.astype(str)):
        raise DataError(
            "The two tables of the anatomy do not have the same groups.",
            hint="Both files must come from one release, unchanged.",
        )
    return owners.astype(np.int32), values.take(rows)


def _same_sizes(
    names: npt.NDArray[np.str_],
    owners: npt.NDArray[np.int64],
    owned: npt.NDArray[np.str_],
) -> bool:
    others, sizes = np.unique(owned, return_counts=True)
    return bool(
        np.array_equal(names, others) and np.array_equal(np.bincount(owners), sizes)
    )


def _whole_numbers(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    try:
        return np.asarray(column.cast(pa.string()).cast(pa.int64()).to_numpy())
    except (pa.ArrowException, ValueError):
        raise DataError(
            "The counts of the anatomy's second table are not whole numbers.",
            hint="Both files must come from one release, unchanged.",
        ) from None
