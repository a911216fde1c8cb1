"""Code the columns of a source table and put them on axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.coding import code_alike
from sfumato.data.disk_arrays import IN_MEMORY, MemoryArrays
from sfumato.data.number_grid import NumberGrid
from sfumato.data.parallel import each
from sfumato.data.schema import Attribute, Kind, Role, Schema
from sfumato.data.source import coded_texts
from sfumato.data.table import Column, Table
from sfumato.errors import DataError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.bands import BandedColumn, banded_column
from sfumato.hierarchies.build import build, refuse_reserved
from sfumato.policy import Policy

FEW = 8
"""Rows that share a text on average, if texts are taken by codes."""
LARGEST = 1 << 31
"""Bytes that the texts of one array cannot have."""
CODED = (Role.QUASI, Role.SENSITIVE, Role.SUBJECT, Role.WEIGHT)


def coded_table(
    policy: Policy, source: pa.Table, arrays: MemoryArrays = IN_MEMORY
) -> Table:
    """Code the columns that matter to privacy, and attach every column's role."""
    roles = {name: policy.role(name) for name in source.column_names}
    kept = {name: role for name, role in roles.items() if role is not None}
    names = [name for name, role in kept.items() if role in CODED]
    texts = coded_texts(source)

    def made_of(name: str) -> _Coded:
        return _kept(policy, source, name, arrays, plain=name in texts)

    made = each(made_of, names)
    coded = dict(zip(names, made, strict=True))
    columns = {name: found.column for name, found in coded.items()}
    schema = Schema(
        tuple(_attribute(policy, name, role, columns) for name, role in kept.items())
    )
    alike = {n: found.cells for n, found in coded.items() if kept[n] is Role.QUASI}
    cells = {name: source.column(name) for name in kept} | alike
    banded = [name for name in kept if policy.bands(name) is not None]
    cells |= {name: _in_bands(policy, source, name, coded, arrays) for name in banded}
    _check_pickable(cells)
    told = frozenset(n for n, found in coded.items() if found.told and n not in banded)
    return Table(schema, pa.table(cells), columns, told)


def _in_bands(
    policy: Policy,
    source: pa.Table,
    name: str,
    coded: Mapping[str, _Coded],
    arrays: MemoryArrays,
) -> pa.ChunkedArray:
    """The cells of a column that is published in bands.

    A weight is coded exactly, because estimates need it, and published in bands.
    """
    if policy.role(name) is Role.SENSITIVE:
        return coded[name].cells
    cells = arrays.keep_cells(bands_of(policy, name, source.column(name)).cells)
    arrays.release()
    return cells


def bands_of(policy: Policy, name: str, cells: pa.ChunkedArray) -> BandedColumn:
    """Code a column as the policy publishes it: the cells of its bands."""
    bands = policy.bands(name)
    assert bands is not None
    kind, missing = policy.column(name).kind, policy.data.missing
    return banded_column(name, cells, bands, kind=kind, missing=missing)


class _Coded(NamedTuple):
    """A coded column."""

    column: Column
    cells: pa.ChunkedArray
    """Its cells; those that share a code are alike."""
    told: bool
    """Whether the labels of its codes are its cells, and few rows have their own."""


def _check_pickable(cells: Mapping[str, pa.ChunkedArray]) -> None:
    """Refuse columns whose type does not let Arrow take single rows."""
    nothing = pa.array([], pa.int64())
    for name, column in cells.items():
        try:
            column.slice(0, 0).take(nothing)
        except pa.ArrowNotImplementedError:
            raise DataError(
                f"Column '{name}' has the type {column.type}, of which single rows "
                "cannot be published.",
                hint="Split it into plain columns, or drop it.",
            ) from None


def rows_without_missing(table: Table) -> npt.NDArray[np.int64]:
    """Find the rows with no missing quasi-identifier or sensitive value."""
    complete = np.ones(table.rows, dtype=np.bool_)
    for name in (*table.schema.quasi, *table.schema.sensitive):
        column = table.columns[name]
        if column.missing >= 0:
            complete &= column.codes != column.missing
    return np.flatnonzero(complete)


def take(table: Table, rows: npt.NDArray[np.int64]) -> Table:
    """Take some rows of a table, and drop the codes that no longer occur."""
    if len(rows) == table.rows:
        return table
    columns = {name: _shrunk(c, rows) for name, c in table.columns.items()}
    return Table(table.schema, table.source.take(rows), columns)


def quasi_axes(
    policy: Policy, table: Table, base: Path | None, arrays: MemoryArrays = IN_MEMORY
) -> tuple[CodedAxis, ...]:
    """Put the quasi-identifiers on their axes."""
    for name in table.schema.quasi:
        if table.columns[name].steps is None:
            refuse_reserved(table.columns[name])
    columns = [table.columns[name] for name in table.schema.quasi]
    return axes(policy, columns, base, arrays)


def axes(
    policy: Policy,
    columns: Iterable[Column],
    base: Path | None,
    arrays: MemoryArrays = IN_MEMORY,
) -> tuple[CodedAxis, ...]:
    """Put columns on the axes that the policy gives them.

    A tree is learned from the quasi-identifiers among them.
    """
    columns = tuple(columns)
    quasi = [column for column in columns if policy.role(column.name) is Role.QUASI]
    made = (
        build(
            column,
            section.hierarchy,
            base=base,
            weight=section.weight,
            others=quasi,
        )
        for column in columns
        for section in (policy.column(column.name),)
    )
    return tuple(CodedAxis(coded.axis, arrays.keep(coded.codes)) for coded in made)


def _kept(
    policy: Policy, source: pa.Table, name: str, arrays: MemoryArrays, *, plain: bool
) -> _Coded:
    """Code a column; `plain` says whether a dictionary stands for plain texts."""
    given = source.column(name)
    column, cells = _coded_alike(policy, given, name, grid=_grid(policy, name))
    kept = replace(column, codes=arrays.keep(column.codes))
    arrays.release()
    if cells is given:
        # Cells that are as they were given are where they were.
        plain = plain or pa.types.is_string(cells.type)
        return _Coded(kept, cells, plain and _told(column, cells))
    return _Coded(kept, arrays.keep_cells(cells), told=False)


def _told(column: Column, cells: pa.ChunkedArray) -> bool:
    """Whether labels, one per text, can stand for the cells of a column of texts."""
    if column.missing >= 0:
        return False
    # Coded texts are of a file that has fewer bytes.
    fits = column.steps is None and cells.nbytes < LARGEST
    return fits and column.size * FEW <= len(cells)


def coded_column(
    policy: Policy, source: pa.Table, name: str, *, exact: bool = False
) -> Column:
    """Code one column of the source as the policy says, but on no grid.

    With `exact`, a column that is published in bands is coded by its own values.
    """
    cells = source.column(name)
    return _coded_alike(policy, cells, name, exact=exact)[0]


def _coded_alike(
    policy: Policy,
    cells: pa.ChunkedArray,
    name: str,
    *,
    grid: NumberGrid | None = None,
    exact: bool = False,
) -> tuple[Column, pa.ChunkedArray]:
    section = policy.column(name)
    kind, order = section.kind, section.order
    judged = not exact and policy.role(name) is not Role.WEIGHT
    if judged and policy.bands(name) is not None:
        banded = bands_of(policy, name, cells)
        kind, order, cells = Kind.ORDERED, banded.order, banded.cells
    return code_alike(
        name, cells, kind=kind, missing=policy.data.missing, order=order, grid=grid
    )


def _grid(policy: Policy, name: str) -> NumberGrid | None:
    resolution = policy.column(name).resolution
    return None if resolution is None else NumberGrid.of(resolution)


def _attribute(
    policy: Policy, name: str, role: Role, columns: dict[str, Column]
) -> Attribute:
    kind = columns[name].kind if name in columns else Kind.CATEGORY
    return Attribute(name=name, role=role, kind=kind, weight=policy.column(name).weight)


def _shrunk(column: Column, rows: npt.NDArray[np.int64]) -> Column:
    used, codes = np.unique(column.codes[rows], return_inverse=True)
    missing = np.flatnonzero(used == column.missing)
    return replace(
        column,
        codes=codes.astype(np.int32),
        labels=tuple(column.labels[code] for code in used),
        numbers=None if column.numbers is None else column.numbers[used],
        missing=int(missing[0]) if len(missing) else -1,
        steps=None
        if column.steps is None
        else tuple(column.steps[code] for code in used),
    )
