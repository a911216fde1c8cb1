"""Turn a written table of labels into the levels of a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sfumato.data.arrays import Ints
from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.data.values import exact_numbers
from sfumato.hierarchies.axis import STAR, Losses
from sfumato.hierarchies.exact_numbers import float_bounds
from sfumato.hierarchies.hierarchy_files import LabelTable
from sfumato.hierarchies.labels import parse_exact, parse_value
from sfumato.hierarchies.levels import HierarchyLevel, UpperLevels
from sfumato.hierarchies.validate import (
    check_cover,
    check_shape,
    check_spellings,
    check_truth,
    spans_of,
)


def table_levels(
    column: Column, table: LabelTable, *, trust: bool = False
) -> UpperLevels:
    """Check a written hierarchy against its column and number its nodes."""
    check_shape(column, table)
    places = _places(column, table)
    check_cover(column, table, places)
    numbers = _leaf_numbers(column, table, places)
    check_spellings(column, table, numbers)
    if not trust:
        check_truth(column, table, numbers)
    leaf_of = np.full(column.size, -1, dtype=np.int64)
    leaf_of[list(places)] = list(places.values())
    alien = column.missing >= 0 and column.missing not in places
    root, inner = _root_and_inner(table, alien=alien)
    return UpperLevels(
        inner_levels=tuple(
            _level(column, labels, leaf_of, numbers) for labels in inner
        ),
        total=float(len(table.leaves) + alien),
        root=root,
        ranks=_ranks(column, leaf_of),
    )


def _places(column: Column, table: LabelTable) -> dict[int, int]:
    """The leaf of each code: by text, for numbers also by size (`17` is `17.0`)."""
    leaf = {text: place for place, text in enumerate(table.leaves)}
    found = {c: leaf[text] for c, text in enumerate(column.labels) if text in leaf}
    if column.numbers is None or len(found) == column.size:
        return found
    values = (parse_exact(text, kind=column.kind) for text in table.leaves)
    by_size = {value: place for place, value in enumerate(values)}
    bare = [c for c in range(column.size) if c not in found and c != column.missing]
    texts = [column.labels[code] for code in bare]
    exact = exact_numbers(column.kind, texts, column.numbers[bare])
    for code, value in zip(bare, exact, strict=True):
        if value in by_size:
            found[code] = by_size[value]
    return found


def _leaf_numbers(
    column: Column, table: LabelTable, places: Mapping[int, int]
) -> Losses | None:
    if column.numbers is None or not column.kind.numeric:
        return None
    mark = column.labels[column.missing] if column.missing >= 0 else None
    numbers = np.array(
        [
            np.nan if text == mark else parse_value(text, kind=column.kind)
            for text in table.leaves
        ]
    )
    # The column reads its own spellings (dates) more reliably than the parser.
    numbers[list(places.values())] = column.numbers[list(places)]
    return numbers


def _root_and_inner(
    table: LabelTable, *, alien: bool
) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """The written root where it covers everything, else `*` above the last level."""
    # A table made for a column without any value has levels without labels.
    above = table.levels[1:] if table.leaves else ()
    whole = bool(above) and len(set(above[-1])) == 1
    if whole and (above[-1][0] == STAR or not alien):
        return above[-1][0], above[:-1]
    return STAR, above


def _level(
    column: Column, labels: tuple[str, ...], leaf_of: Ints, numbers: Losses | None
) -> HierarchyLevel:
    order = {label: node for node, label in enumerate(dict.fromkeys(labels))}
    node_of_leaf = np.array([order[label] for label in labels], dtype=np.int64)
    return HierarchyLevel(
        nodes=np.where(leaf_of >= 0, node_of_leaf[leaf_of], -1),
        labels=tuple(order),
        leaves=np.bincount(node_of_leaf).astype(np.float64),
        bounds=_bounds(column, order, node_of_leaf, numbers),
    )


def _bounds(
    column: Column,
    order: Mapping[str, int],
    node_of_leaf: Ints,
    numbers: Losses | None,
) -> Losses | None:
    """What labels say; where they are words, the lowest and highest leaf below."""
    if numbers is None:
        return None
    known = ~np.isnan(numbers)
    low = np.full(len(order), np.inf)
    high = np.full(len(order), -np.inf)
    np.minimum.at(low, node_of_leaf[known], numbers[known])
    np.maximum.at(high, node_of_leaf[known], numbers[known])
    bounds = np.column_stack([low, high])
    bounds[low > high] = np.nan
    for label, span in spans_of(column, order).items():
        bounds[order[label]] = float_bounds(span, kind=column.kind)
    return bounds


def _ranks(column: Column, leaf_of: Ints) -> Ints | None:
    """Lines and ordered categories keep their order; the rest takes the file's."""
    if column.kind.numeric or column.kind is Kind.ORDERED:
        return None
    return np.where(leaf_of >= 0, leaf_of, leaf_of.max(initial=0) + 1)
