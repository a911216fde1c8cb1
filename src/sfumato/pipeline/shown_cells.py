"""The published cells of one column, and which values of the source each could be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Codes, Counts, Flags, Floats, Ints
from sfumato.data.distinct_keys import first_rows, ranked_keys
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.hierarchies.cell_leaves import cover_matrix
from sfumato.hierarchies.cell_readings import nearest, read
from sfumato.pipeline.findings import Findings
from sfumato.publish.base import Form
from sfumato.publish.generalize import BOUNDS, Generalize
from sfumato.publish.group_spans import Extent
from sfumato.publish.suppress import Suppress

LeafSets = Mapping[int, tuple[int, ...]]
CellOfRows = Callable[[], Codes]
"""Returns the cell of each published row, which few columns are asked for."""
MOST_READ = 5_000
"""Distinct texts of means that are read; columns with more are left out."""


@dataclass(frozen=True, eq=False)
class GroupCells:
    """What the cell of each group could be, before equal cells are counted."""

    key: Ints
    """Equal for groups whose cells are the same."""
    first: Codes
    last: Codes
    members: LeafSets = field(default_factory=dict)
    """By key, the leaves of cells that are no run."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ShownCells:
    """The distinct cells of a column as runs of leaves, and the rows that show each."""

    coded: CodedAxis
    """The column of the source."""
    first: Codes
    """The first leaf that each cell could be."""
    last: Codes
    members: LeafSets = field(default_factory=dict)
    """The leaves of each cell whose leaves are no run."""
    rows: Counts
    """How many published rows show each cell."""
    example: Ints
    """A published row that shows each cell."""

    @property
    def axis(self) -> Axis:
        return self.coded.axis

    @property
    def before(self) -> Counts:
        """How many source rows have each leaf."""
        return self.coded.counts

    def leaves(self, cell: int) -> Ints:
        """The leaves that a cell could be."""
        if cell in self.members:
            return np.array(self.members[cell])
        return np.arange(self.first[cell], self.last[cell] + 1)

    def per_line(self, owner: Ints, lines: int) -> Counts:
        """(cells, lines): how many leaves of each cell belong to each line."""
        flags = np.zeros((self.axis.size + 1, lines), dtype=np.int64)
        flags[np.arange(self.axis.size) + 1, owner] = 1
        sums = np.cumsum(flags, axis=0)
        found: Counts = sums[self.last.astype(np.int64) + 1] - sums[self.first]
        for cell, leaves in self.members.items():
            found[cell] = np.bincount(owner[list(leaves)], minlength=lines)
        return found

    def spread(self) -> Floats:
        """Published rows by leaf, each cell spread evenly over what it could be."""
        size = self.axis.size
        runs = np.ones(len(self.rows), dtype=np.bool_)
        runs[list(self.members)] = False
        first, last = self.first[runs].astype(np.int64), self.last[runs].astype(int)
        weight = self.rows[runs] / (last - first + 1)
        steps = np.bincount(first, weight, minlength=size + 1)
        steps -= np.bincount(last + 1, weight, minlength=size + 1)
        found = np.cumsum(steps)[:size].astype(np.float64)
        for cell, leaves in self.members.items():
            found[list(leaves)] += self.rows[cell] / len(leaves)
        return np.asarray(np.maximum(found, 0.0), dtype=np.float64)

    def centers(self) -> Floats:
        """The number in the middle of each cell; NaN for one that tells nothing."""
        positions = np.asarray(self.axis.positions)
        middle = positions[self.first] / 2.0 + positions[self.last] / 2.0
        whole = (self.first == 0) & (self.last == self.axis.size - 1)
        middle[whole & (self.axis.size > 1)] = np.nan
        for cell, leaves in self.members.items():
            middle[cell] = np.nanmean(positions[list(leaves)])
        return np.asarray(middle, dtype=np.float64)


def shown_quasi(found: Findings) -> dict[str, tuple[ShownCells, CellOfRows]]:
    """The cells of each quasi-identifier, and the cell of each published row."""
    grouping = found.solution.grouping
    groups = grouping.group_of[found.draft.rows]
    row_of = np.zeros(grouping.count, dtype=np.int64)
    row_of[groups] = np.arange(len(groups))
    sizes = grouping.sizes()
    result = {}
    for index, coded in enumerate(found.shown):
        if found.run.operator.form is not Form.CELLS:
            result[coded.name] = kept_cells(coded, found.draft.rows)
            continue
        cells = _group_cells(found, found.extents[index], groups)
        if cells is not None:
            shown, of_group = _counted(coded, cells, sizes, row_of)
            result[coded.name] = shown, partial(np.take, of_group, groups)
            found.run.arrays.release()
    return result


def kept_cells(coded: CodedAxis, rows: Ints) -> tuple[ShownCells, CellOfRows]:
    """The cells of a column that is published as it is, and those of its rows."""
    codes, size = coded.codes[rows], coded.axis.size
    counts = np.bincount(codes, minlength=size)
    example = np.zeros(size, dtype=np.int64)
    example[codes] = np.arange(len(codes))
    there = np.flatnonzero(counts)
    cells = ShownCells(
        coded=coded,
        first=there.astype(np.int32),
        last=there.astype(np.int32),
        rows=counts[there],
        example=example[there],
    )
    place = (np.cumsum(counts > 0) - 1).astype(np.int32)
    return cells, partial(np.take, place, codes)


def cell_text(table: pa.Table, name: str, row: int) -> str | None:
    """The text that a published row shows in a column, or in its two bounds."""
    # A list of all names would take as long as the table is wide, for every cell.
    single = table.schema.get_field_index(name) >= 0
    names = [name] if single else [name + end for end in BOUNDS]
    values = [table.column(column)[row].as_py() for column in names]
    texts = [None if value is None else str(value) for value in values]
    if len(texts) == 1 or texts[0] == texts[1]:
        return texts[0]
    return f"{texts[0]} to {texts[1]}"


def _counted(
    coded: CodedAxis, cells: GroupCells, sizes: Counts, row_of: Ints
) -> tuple[ShownCells, Codes]:
    """Count equal cells of groups; also return the cell of each group.

    `sizes` and `row_of` are the number of published rows of each group, and one of them.
    """
    keys, of_group = ranked_keys(cells.key)
    owner = first_rows(of_group, len(keys))
    wide = {cell: cells.members.get(int(key)) for cell, key in enumerate(keys)}
    shown = ShownCells(
        coded=coded,
        first=cells.first[owner],
        last=cells.last[owner],
        members={cell: leaves for cell, leaves in wide.items() if leaves is not None},
        rows=np.bincount(of_group, sizes).astype(np.int64),
        example=row_of[owner],
    )
    return shown, of_group.astype(np.int32)


def _group_cells(found: Findings, extent: Extent, groups: Codes) -> GroupCells | None:
    operator, axis = found.run.operator, extent.coded.axis
    if isinstance(operator, Suppress):
        return _runs(axis, *extent.bounds, whole=~extent.single)
    if not isinstance(operator, Generalize) or (
        operator.numbers == "mean" and axis.kind.numeric
    ):
        return _points(found, axis, groups, extent.grouping.count)
    if extent.by_node:
        low, high = _node_runs(axis)
        return _runs(axis, low[extent.nodes], high[extent.nodes])
    if axis.shape is Shape.FREE:
        mixed = ~extent.single & (extent.bounds[1] == axis.missing)
        return _runs(axis, *extent.bounds, whole=mixed | _hidden(extent))
    if operator.flat == "star":
        return _runs(axis, *extent.bounds, whole=~extent.single)
    return _sets(axis, extent)


def _hidden(extent: Extent) -> Flags:
    if extent.hidden is None:
        return np.zeros(extent.grouping.count, dtype=np.bool_)
    return extent.hidden


def _runs(
    axis: Axis, low: Codes, high: Codes, *, whole: Flags | None = None
) -> GroupCells:
    """Cells that are runs of leaves; those in `whole` tell nothing."""
    if whole is not None:
        low = np.where(whole, np.int32(0), low)
        high = np.where(whole, np.int32(axis.size - 1), high)
    return GroupCells(low.astype(np.int64) * axis.size + high, low, high)


def _node_runs(axis: Axis) -> tuple[Codes, Codes]:
    """The first and the last leaf under each node."""
    nodes = len(axis.node_labels)
    low = np.full(nodes, axis.size, dtype=np.int32)
    high = np.zeros(nodes, dtype=np.int32)
    leaves = np.arange(axis.size, dtype=np.int32)
    for level in axis.levels:
        np.minimum.at(low, level, leaves)
        np.maximum.at(high, level, leaves)
    others = np.flatnonzero(low == axis.size)
    low[others], high[others] = _text_runs(axis, others)
    return low, high


def _text_runs(axis: Axis, nodes: Ints) -> tuple[Codes, Codes]:
    """The same for nodes of no level, which algorithms added: as their texts say."""
    of_levels = replace(axis, node_labels=axis.node_labels[: axis.levels.max() + 1])
    covers = cover_matrix(of_levels, [axis.node_labels[node] for node in nodes])
    first, after = covers.argmax(axis=1), covers[:, ::-1].argmax(axis=1)
    return first.astype(np.int32), (axis.size - 1 - after).astype(np.int32)


def _sets(axis: Axis, extent: Extent) -> GroupCells:
    index, sets = extent.sets
    ends = np.array([(codes[0], codes[-1]) for codes in sets], dtype=np.int32)
    low, high = ends.reshape(-1, 2).T
    hidden, key = _hidden(extent), index.astype(np.int64)
    scattered = {
        number: codes
        for number, codes in enumerate(sets)
        if codes[-1] - codes[0] >= len(codes)
    }
    return GroupCells(
        np.where(hidden, len(sets), key),
        np.where(hidden, np.int32(0), low[index]),
        np.where(hidden, np.int32(axis.size - 1), high[index]),
        scattered,
    )


def _points(
    found: Findings, axis: Axis, groups: Codes, count: int
) -> GroupCells | None:
    """Cells that are means, medians or modes, as the value nearest to each."""
    column = found.draft.table.column(axis.name).combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    texts = column.dictionary.cast(pa.string()).to_pylist()
    if len(texts) > MOST_READ:
        return None
    reading = read(axis, [*texts, None])
    leaf = reading.leaf.copy()
    if axis.positions is not None:
        order = np.argsort(axis.positions, kind="stable")
        order = order[~np.isnan(axis.positions[order])]
        between = np.flatnonzero((leaf < 0) & ~np.isnan(reading.low))
        if len(order):
            places = nearest(axis.positions[order], reading.low[between])
            leaf[between] = order[places]
    codes = column.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    of_group = np.zeros(count, dtype=np.int64)
    of_group[groups] = leaf[codes]
    unknown = of_group < 0
    low = np.where(unknown, 0, of_group).astype(np.int32)
    return _runs(axis, low, low, whole=unknown)
