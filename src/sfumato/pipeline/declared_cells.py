"""Fit cells to what a policy declares, under a process model.

A cell outside the domain of its column is a missing one. That follows from the cell and
the policy alone, so a row changes what is read of no other row, and no cell makes a run
fail whose budget is spent.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.arrays import Flags
from sfumato.data.cell_text import TextArray, as_text
from sfumato.data.coding import Values
from sfumato.data.schema import Kind
from sfumato.data.values import readable
from sfumato.errors import DataError, DomainWarning, PolicyError
from sfumato.hierarchies.declared_domain import (
    Declared,
    fitting_kind,
    has_domain,
    in_domain,
)
from sfumato.io.strip_hidden import refuse_opaque

ON_A_LINE = frozenset({"calendar", "intervals", "quantiles"})
"""Hierarchies of numbers or dates."""
NOTHING_CHARGED = "Nothing was charged."
GO_ON = (
    'To go on with these cells as missing ones, set privacy.precheck = "{mode}"; what '
    "they say is then not counted."
)
ALONE = (
    "This is for the data steward alone: epsilon does not cover these counts, so do not "
    "pass them on."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedColumn:
    """A column whose cells are values of its domain, or missing."""

    name: str
    cells: pa.ChunkedArray
    missing: Flags
    """Which cells are missing, those outside the domain included."""
    outside: int
    """Cells that say something outside the domain."""
    values: tuple[str, ...]
    """What they say."""

    @property
    def fits_nowhere(self) -> bool:
        """Whether there are values, and none is of the domain."""
        return self.outside > 0 and bool(self.missing.all())

    def count(self) -> str:
        """How many cells are outside, in words."""
        return f"'{self.name}' {self.outside:,} of {len(self.cells):,}"


def refuse_unread_types(declared: Sequence[Declared], source: pa.Table) -> None:
    """Refuse what the types of columns and the policy alone rule out."""
    refuse_opaque(source)
    for column in declared:
        kind = source.schema.field(column.name).type
        _refuse_bytes(column.name, kind)
        as_text(pa.array([], kind), name=column.name)
        needed = _on_a_line(column) or types.is_timestamp(kind)
        if needed and column.kind is None and fitting_kind(column) is None:
            raise PolicyError(
                f"Column '{column.name}' has no declared kind.",
                hint="Set kind: the data may not decide it.",
            )


def fitted_columns(
    declared: Sequence[Declared], source: pa.Table
) -> Iterator[FittedColumn]:
    """Fit the columns that a policy declares, one after the other."""
    for column in declared:
        yield _fitted(column, source.column(column.name))


def check_cells(
    declared: Sequence[Declared], source: pa.Table, *, drop: Sequence[str], strict: bool
) -> None:
    """Refuse what makes a run useless, and tell the steward what counts as missing.

    Rows with a missing cell in one of the columns in `drop` are not used.
    """
    if source.num_rows == 0:
        raise DataError(
            f"The table has no rows. {NOTHING_CHARGED}",
            hint="There is nothing to publish.",
        )
    fitted = list(fitted_columns(declared, source))
    for column in fitted:
        if column.fits_nowhere:
            raise _useless(column)
    _refuse_no_rows([column for column in fitted if column.name in drop])
    outside = [column for column in fitted if column.outside]
    if outside and strict:
        raise DataError(
            f"Cells have values that the policy does not declare: {_counts(outside)}. "
            f"{NOTHING_CHARGED} {ALONE}",
            hint=f"Complete the domain, or clean the cells. {GO_ON.format(mode='warn')}",
            values=[text for column in outside for text in column.values],
        )
    if outside:
        warnings.warn(
            f"Cells outside what the policy declares count as missing: "
            f"{_counts(outside)}. {ALONE}",
            DomainWarning,
            stacklevel=2,
        )


def _counts(columns: Sequence[FittedColumn]) -> str:
    return ", ".join(column.count() for column in columns) + " cells"


def _useless(column: FittedColumn) -> DataError:
    return DataError(
        f"Column '{column.name}': {column.outside:,} of {len(column.cells):,} cells have "
        f"a value, and none is one that the policy declares. {NOTHING_CHARGED}",
        hint="Correct the column's kind, domain or hierarchy, or its cells: dates are "
        f"read as YYYY-MM-DD, decimals with a point. {GO_ON.format(mode='off')}",
        values=column.values,
    )


def _refuse_no_rows(judged: Sequence[FittedColumn]) -> None:
    if judged and np.logical_or.reduce([c.missing for c in judged]).all():
        raise DataError(
            f"Every one of the {len(judged[0].cells):,} rows has a cell that is missing "
            f"or outside its domain, and such rows are dropped. {NOTHING_CHARGED}",
            hint='Set data.missing_as = "value", or correct what is declared.',
        )


def _on_a_line(column: Declared) -> bool:
    """Whether a hierarchy is made of numbers or dates."""
    spec = column.hierarchy
    return spec == "free" or (isinstance(spec, Mapping) and bool(ON_A_LINE & set(spec)))


def _refuse_bytes(name: str, kind: pa.DataType) -> None:
    inner = kind.value_type if types.is_dictionary(kind) else kind
    raw = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    if any(test(inner) for test in raw):
        raise DataError(
            f"Column '{name}' has the type {kind}, and bytes may not be text.",
            hint="Turn it into a column of texts, or leave it out.",
        )


def _fitted(column: Declared, given: pa.ChunkedArray) -> FittedColumn:
    column = replace(column, kind=column.kind or fitting_kind(column))
    cells = _written_alike(given, column.kind)
    values = Values.of(column.name, cells, column.missing)
    texts = values.present_texts
    outside = ~_fits(column, texts)
    # One more entry than values, so that index −1 (null) finds the last.
    bad = np.zeros(len(values.texts) + 1, dtype=np.bool_)
    bad[values.present] = outside
    gone = bad.copy()
    gone[np.flatnonzero(values.absent)], gone[-1] = True, True
    misfits = bad[values.places]
    unwritten = cells.null_count - given.null_count
    if misfits.any():
        cells = cells.take(pa.array(np.arange(len(cells)), mask=misfits))
    return FittedColumn(
        name=column.name,
        cells=cells,
        missing=gone[values.places],
        outside=int(misfits.sum()) + unwritten,
        values=tuple(texts.filter(pa.array(outside)).to_pylist()),
    )


def _fits(column: Declared, texts: TextArray) -> Flags:
    if has_domain(column):
        return in_domain(column, texts)
    if column.kind is not None and column.kind.numeric:
        return readable(column.kind, texts)
    return np.ones(len(texts), dtype=np.bool_)


def _written_alike(cells: pa.ChunkedArray, kind: Kind | None) -> pa.ChunkedArray:
    """Write each moment by itself: how it is written may not depend on other rows.

    Midnights are dates in a column of dates, and years of more digits are missing.
    """
    if types.is_dictionary(cells.type) and not types.is_string(cells.type.value_type):
        cells = cells.cast(cells.type.value_type)
    if not (types.is_date(cells.type) or types.is_timestamp(cells.type)):
        return cells
    year, none = pc.year(cells), pa.scalar(None, cells.type)
    four_digits = pc.and_(pc.greater(year, 0), pc.less(year, 10_000))
    cells = pc.if_else(four_digits, cells, none)
    if kind is not Kind.DATE or types.is_date(cells.type) or cells.type.tz is not None:
        return cells
    days = pc.cast(pc.floor_temporal(cells, unit="day"), pa.date32())
    midnight = pc.equal(pc.cast(days, cells.type), cells)
    return pc.if_else(midnight, days, pa.scalar(None, pa.date32()))
