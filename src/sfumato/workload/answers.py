"""Answer many queries at once, from distinct tuples instead of rows.

Queries with conditions on the same columns and the same breakdown form a block. Rows
are collapsed to distinct tuples once per block shape. Within a block, the share of
each tuple that each query takes is a product over columns, and all answers are one
product of matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Ints
from sfumato.data.published_cells import distinct_tuples
from sfumato.errors import UsageError
from sfumato.hierarchies.axis import Axis
from sfumato.hierarchies.cell_readings import Reading
from sfumato.workload.cell_overlap import fractions, spread
from sfumato.workload.conditions import BoundConditions, bind
from sfumato.workload.queries import Query
from sfumato.workload.queryable_tables import QueryableTable

BLOCK = 256
"""Queries answered at a time."""
CELLS = 2**21
"""Numbers in one working matrix."""
MOST_CELLS = 200_000
"""Cells that the answer to one query may have."""


@dataclass(frozen=True, eq=False)
class Block:
    """Queries of one shape, with their conditions bound."""

    places: Ints
    """Where they stand in the workload."""
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    taken: Mapping[str, BoundConditions]

    @property
    def shape(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self.columns, self.keys


def blocks(queries: Sequence[Query], axes: Mapping[str, Axis]) -> Iterator[Block]:
    """Queries in blocks of one shape each."""
    by_shape: dict[tuple[tuple[str, ...], tuple[str, ...]], list[int]] = {}
    for i, query in enumerate(queries):
        by_shape.setdefault((query.columns, query.keys), []).append(i)
    for (columns, keys), places in by_shape.items():
        _refuse_breakdown(keys, axes)
        for start in range(0, len(places), BLOCK):
            part = places[start : start + BLOCK]
            taken = {
                name: bind(axes[name], [queries[i].condition(name) for i in part])
                for name in columns
            }
            yield Block(np.array(part), columns, keys, taken)


@dataclass(frozen=True, eq=False)
class Tuples:
    """A table collapsed for one shape of query."""

    codes: npt.NDArray[np.int32]
    """(tuples, columns): distinct combinations in the columns with conditions."""
    readings: tuple[Reading, ...]
    owners: Ints
    """The tuple of each entry, ascending."""
    cells: Ints
    """The breakdown cell of each entry, as the table shows it."""
    counts: Floats
    """The rows of each entry."""
    shown: int
    """How many breakdown cells the table shows."""
    spread: Floats | None
    """(shown cells, cells of the answer); None where there is no breakdown."""


@dataclass(eq=False)
class CollapsedTable:
    """A table, with what it was collapsed to so far."""

    table: QueryableTable
    known: dict[tuple[tuple[str, ...], tuple[str, ...]], Tuples] = field(
        default_factory=dict
    )

    def answer(self, block: Block) -> Floats:
        """(queries, cells): the estimated number of rows."""
        if block.shape not in self.known:
            self.known[block.shape] = collapse(self.table, *block.shape)
        tuples = self.known[block.shape]
        counted = _counted(tuples, block)
        return counted if tuples.spread is None else counted @ tuples.spread


def collapse(
    table: QueryableTable, columns: tuple[str, ...], keys: tuple[str, ...]
) -> Tuples:
    """The distinct tuples of a table and their breakdown."""
    rows = table.rows_of(sorted({*columns, *keys}))
    owner, codes = distinct_tuples([rows.queried[n].codes for n in columns], rows.rows)
    cell, shown = distinct_tuples([rows.queried[n].codes for n in keys], rows.rows)
    entries, inverse = np.unique(owner * len(shown) + cell, return_inverse=True)
    counts = np.bincount(inverse, weights=rows.weights, minlength=len(entries))
    owners, cells = np.divmod(entries, len(shown))
    return Tuples(
        codes=codes,
        readings=tuple(rows.queried[name].reading for name in columns),
        owners=owners,
        cells=cells,
        counts=counts.astype(np.float64),
        shown=len(shown),
        spread=_spread([rows.queried[n].reading for n in keys], shown)
        if keys
        else None,
    )


def _spread(readings: Sequence[Reading], shown: npt.NDArray[np.int32]) -> Floats:
    """What each shown combination of breakdown cells stands for."""
    result = np.ones((len(shown), 1))
    for i, reading in enumerate(readings):
        each = spread(reading)[shown[:, i]]
        result = (result[:, :, None] * each[:, None, :]).reshape(len(shown), -1)
    return result


def _counted(tuples: Tuples, block: Block) -> Floats:
    """(queries, shown cells): how much of each shown cell each query takes."""
    queries = len(block.places)
    shares = [
        fractions(reading, block.taken[name])
        for name, reading in zip(block.columns, tuples.readings, strict=True)
    ]
    result = np.zeros((queries, tuples.shown))
    step = max(1, CELLS // max(queries, tuples.shown))
    for start in range(0, len(tuples.codes), step):
        part = tuples.codes[start : start + step]
        share = np.ones((len(part), queries))
        for i, each in enumerate(shares):
            share *= each[part[:, i]]
        result += share.T @ _dense(tuples, start, start + len(part))
    return result


def _dense(tuples: Tuples, start: int, stop: int) -> Floats:
    """(tuples, shown cells): the rows of some tuples by breakdown cell."""
    first, after = np.searchsorted(tuples.owners, [start, stop])
    result = np.zeros((stop - start, tuples.shown))
    rows = tuples.owners[first:after] - start
    result[rows, tuples.cells[first:after]] = tuples.counts[first:after]
    return result


def _refuse_breakdown(keys: Sequence[str], axes: Mapping[str, Axis]) -> None:
    cells = prod(axes[name].size + 1 for name in keys)
    if cells > MOST_CELLS:
        raise UsageError(
            f"A query is broken down by {', '.join(keys)}: {cells:,} cells; "
            f"at most {MOST_CELLS:,} are answered.",
            hint="Group by columns with fewer values, or by fewer columns.",
        )
