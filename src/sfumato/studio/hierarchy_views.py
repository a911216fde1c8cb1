"""The axis of a column as a tree with row counts, and what a hierarchy leaves out."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.schema import Kind, Role
from sfumato.data.table import Column
from sfumato.errors import HierarchyError, SfumatoError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.build import build, refuse_reserved
from sfumato.hierarchies.hierarchy_files import read_file
from sfumato.pipeline.build_request import coded_rows
from sfumato.pipeline.code_table import coded_column
from sfumato.pipeline.run import Run
from sfumato.policy import Policy
from sfumato.studio.hierarchy_edits import LeafRow
from sfumato.studio.policy_paths import hierarchy_file

MOST_CHILDREN = 60
"""More nodes under one parent are counted and not listed."""
LEVELS_SHOWN = 2
"""Levels below the top of the tree that are shown at once."""
MOST_VIEWS = 200
MOST_EDITED = 2_000
"""Columns with more values are changed in a file, not in the editor."""


@dataclass(frozen=True, eq=False)
class TreeNode:
    """A node with its rows, and the nodes below it."""

    label: str
    rows: int
    level: int
    children: tuple[TreeNode, ...] = ()
    more: int = 0
    """Children that are not listed."""
    leaf: int = 0
    """The first leaf below it, by which a page asks for its tree."""
    closed: bool = False
    """Whether what is below is shown on another page."""


@dataclass(frozen=True, eq=False)
class HierarchyView:
    """What is applied to a column, or why nothing can be."""

    column: Column | None
    """None: the cells are not of the kind that the policy says."""
    coded: CodedAxis | None
    fault: SfumatoError | None = None
    uncovered: tuple[str, ...] = ()

    @property
    def editable(self) -> bool:
        column = self.column
        if column is None or self.coded is None:
            return False
        return column.size <= MOST_EDITED and not column.kind.numeric

    @property
    def values(self) -> list[str]:
        """The values of the column, without the missing one."""
        if self.column is None:
            return []
        missing = self.column.missing
        return [v for c, v in enumerate(self.column.labels) if c != missing]

    def levels(self) -> list[dict[str, Any]]:
        """How many labels each level has, and the most that one of them hides."""
        assert self.coded is not None
        axis = self.coded.axis
        return [
            {
                "level": number,
                "labels": len(np.unique(nodes)),
                "loss": float(axis.node_ncp[nodes].max()),
            }
            for number, nodes in enumerate(axis.levels)
        ]

    def tree(self, level: int | None = None, leaf: int = 0) -> TreeNode:
        """A node with what is below it; the root, if none is named."""
        assert self.coded is not None
        axis = self.coded.axis
        top = axis.height - 1 if level is None else min(max(level, 0), axis.height - 1)
        first = min(max(leaf, 0), axis.size - 1)
        nodes = axis.levels[top]
        counts = np.bincount(self.coded.codes, minlength=axis.size)
        leaves = np.flatnonzero(nodes == nodes[first])
        return _node(self.coded, counts, (top, top - LEVELS_SHOWN), leaves)


def _node(
    coded: CodedAxis, counts: Any, levels: tuple[int, int], leaves: Any
) -> TreeNode:
    """A node at the first of two levels; below the second nothing is shown."""
    axis, (level, last) = coded.axis, levels
    label = axis.node_labels[int(axis.levels[level, leaves[0]])]
    rows, first = int(counts[leaves].sum()), int(leaves[0])
    if level == 0:
        return TreeNode(label, rows, level, leaf=first)
    nodes = axis.levels[level - 1, leaves]
    parts = np.split(leaves, np.flatnonzero(np.diff(nodes)) + 1)
    if len(parts) == 1:
        # A level that only repeats its parent is not shown twice.
        return _node(coded, counts, (level - 1, last), leaves)
    if level <= last:
        return TreeNode(label, rows, level, leaf=first, closed=True)
    below = tuple(
        _node(coded, counts, (level - 1, last), part) for part in parts[:MOST_CHILDREN]
    )
    more = len(parts) - len(below)
    return TreeNode(label, rows, level, below, more, leaf=first)


@dataclass(eq=False)
class ViewCache:
    """The views of the last columns; coding a large column takes a while."""

    _table: pa.Table | None = None
    _columns: dict[Any, Column] = field(default_factory=dict)
    _views: dict[Any, HierarchyView] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def view(self, table: pa.Table, policy: Policy, name: str) -> HierarchyView:
        """The hierarchy of a column, as a run would apply it."""
        try:
            column = self._column(table, policy, name)
            others = self._others(table, policy, name)
        except SfumatoError as fault:
            return HierarchyView(None, None, fault)
        key = (
            name,
            id(column),
            *map(id, others),
            policy.column(name).model_dump_json(),
            _age(policy, name),
        )
        if key not in self._views:
            if len(self._views) > MOST_VIEWS:
                self._views.clear()
            self._views[key] = self._made(column, others, policy)
        return self._views[key]

    def _others(self, table: pa.Table, policy: Policy, name: str) -> list[Column]:
        """What a tree is learned from."""
        if policy.column(name).hierarchy != "learned":
            return []
        known = set(table.column_names) - {name}
        names = [each for each in policy.names(Role.QUASI) if each in known]
        return [self._column(table, policy, each) for each in names]

    def _made(
        self, column: Column, others: Sequence[Column], policy: Policy
    ) -> HierarchyView:
        name = column.name
        spec = policy.column(name).hierarchy
        try:
            refuse_reserved(column)
            coded = build(column, spec, base=policy.base, others=others)
        except SfumatoError as fault:
            bare = _uncovered(column, policy, name)
            # Another fault comes first: then putting values under "Other" is no help.
            bare = bare if set(bare) == set(fault.values) else ()
            return HierarchyView(column, None, fault, bare)
        return HierarchyView(column, coded)

    def _column(self, table: pa.Table, policy: Policy, name: str) -> Column:
        section = policy.column(name)
        key: tuple[Any, ...] = (name, section.kind, section.order, policy.data.missing)
        dropped = policy.data.missing_as == "drop"
        with self._lock:
            if table is not self._table:
                self._table, self._columns, self._views = table, {}, {}
            if dropped:
                key = (name, policy.model_dump_json(include={"data", "columns"}))
            if key not in self._columns:
                made = _left_over if dropped else coded_column
                self._columns[key] = made(policy, table, name)
            return self._columns[key]


def _left_over(policy: Policy, table: pa.Table, name: str) -> Column:
    """A column of the rows that are left where rows with missing values go."""
    rows, _ = coded_rows(Run(policy=policy, source=table, base=policy.base))
    return rows.columns[name]


def _file(policy: Policy, name: str) -> Path | None:
    """The file of a hierarchy; None if it is made by a rule."""
    path = hierarchy_file(policy.column(name).hierarchy)
    return None if path is None else (policy.base or Path()) / path


def _age(policy: Policy, name: str) -> int:
    """When the file of a hierarchy was last changed."""
    path = _file(policy, name)
    try:
        return 0 if path is None else path.stat().st_mtime_ns
    except OSError:
        return -1


def file_rows(column: Column, policy: Policy, name: str) -> list[LeafRow] | None:
    """The rows of a hierarchy file; None if the hierarchy is no file."""
    path = _file(policy, name)
    if path is None:
        return None
    spec = policy.column(name).hierarchy
    options = dict(spec) if isinstance(spec, Mapping) else {}
    table = read_file(
        path,
        column,
        header=options.get("header"),
        delimiter=options.get("delimiter"),
        multiline=bool(options.get("multiline")),
    )
    return [tuple(row) for row in zip(*table.levels, strict=True)]


def _uncovered(column: Column, policy: Policy, name: str) -> tuple[str, ...]:
    """The values that a hierarchy file has no leaf for."""
    if column.kind not in (Kind.CATEGORY, Kind.ORDERED, Kind.CODE):
        return ()
    try:
        rows = file_rows(column, policy, name)
    except HierarchyError:
        return ()
    known = {row[0] for row in rows or ()}
    if rows is None:
        return ()
    return tuple(
        label
        for code, label in enumerate(column.labels)
        if code != column.missing and label not in known
    )
