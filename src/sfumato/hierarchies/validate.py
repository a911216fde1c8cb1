"""Whether a hierarchy fits its column: one parent, full cover, true labels.

Messages count the offending values; the values themselves are attached to the error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.axis import Losses
from sfumato.hierarchies.exact_numbers import Line
from sfumato.hierarchies.hierarchy_files import LabelTable
from sfumato.hierarchies.labels import Exact, Span, parse_exact, parse_span, reserved

_TRUST = "Correct the file, or set trust = true to go on with it as it is."


def refuse_reserved(column: Column) -> None:
    """Refuse quasi-identifier values that look like published sets or intervals."""
    found = [label for label in column.labels if reserved(label)]
    if found:
        raise HierarchyError(
            f"{len(found):,} of {column.size:,} values of column '{column.name}' contain "
            "'|' or read like '*', '{…}' or '[…]', which published cells use.",
            hint="Rename these values, or declare them missing.",
            values=found,
        )


def check_shape(column: Column, table: LabelTable) -> None:
    """Refuse what no hierarchy may have: twin leaves, two parents, empty labels."""
    _check_twins(column, table)
    for level in range(1, len(table.levels)):
        _check_named(column, table, level)
        _check_parents(column, table, level)


def check_cover(column: Column, table: LabelTable, places: Mapping[int, int]) -> None:
    """Refuse values that have no leaf (`places`: code → leaf)."""
    bare = [
        label
        for code, label in enumerate(column.labels)
        if code != column.missing and code not in places
    ]
    if bare:
        raise _fault(
            column,
            table,
            f"has no leaf for {len(bare)} of {column.size} values.",
            hint="Add a row for each, or declare them missing.",
            values=bare,
        )


def check_spellings(column: Column, table: LabelTable, numbers: Losses | None) -> None:
    """Refuse a number that has several spellings under different labels.

    A column shows all spellings of a number alike, so it can have one place only.
    """
    if numbers is None:
        return
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    labels_of: dict[Exact, tuple[str, ...]] = {}
    wrong = []
    for leaf in np.flatnonzero((counts[place] > 1) & ~np.isnan(numbers)):
        number = parse_exact(table.leaves[leaf], kind=column.kind)
        labels = tuple(level[leaf] for level in table.levels[1:])
        if number is not None and labels_of.setdefault(number, labels) != labels:
            wrong.append(table.leaves[leaf])
    if wrong:
        raise _fault(
            column,
            table,
            f"has other labels for {len(wrong)} values than for the same numbers "
            "written another way.",
            hint="Give all spellings of a number the same labels, or declare the kind "
            "'category'.",
            values=wrong,
        )


def check_truth(column: Column, table: LabelTable, numbers: Losses | None) -> None:
    """Refuse labels that are wrong about their values, or that are ambiguous."""
    _check_one_meaning(column, table)
    if numbers is not None:
        _check_containment(column, table, numbers)


def spans_of(column: Column, labels: Iterable[str]) -> dict[str, Span]:
    """What the interval labels among `labels` stand for."""
    parsed = {
        label: parse_span(label, kind=column.kind) for label in dict.fromkeys(labels)
    }
    return {label: found for label, found in parsed.items() if found is not None}


def _check_twins(column: Column, table: LabelTable) -> None:
    counts = Counter(table.leaves)
    twins = [leaf for leaf, count in counts.items() if count > 1]
    if twins:
        raise _fault(
            column,
            table,
            f"has {len(twins)} leaves that occur more than once.",
            hint="Keep one row per leaf.",
            values=twins,
        )


def _check_named(column: Column, table: LabelTable, level: int) -> None:
    pairs = zip(table.levels[level], table.leaves, strict=True)
    nameless = sum(not label and leaf != "" for label, leaf in pairs)
    if nameless:
        raise _fault(
            column,
            table,
            f"has {nameless} empty labels at level {level}.",
            hint="Name every node; repeat the label below to pad a short branch.",
        )


def _check_parents(column: Column, table: LabelTable, level: int) -> None:
    """A label names one node of its level, so it lies under one label of the next."""
    parent: dict[str, str] = {}
    split: dict[str, None] = {}
    below = table.levels[level - 1]
    for label, above in zip(below, table.levels[level], strict=True):
        if parent.setdefault(label, above) != above:
            split[label] = None
    if split:
        raise _fault(
            column,
            table,
            f"puts {len(split)} labels of level {level - 1} under more than one label "
            f"of level {level}.",
            hint="Give each label one parent; rename labels that mean two things.",
            values=split,
        )


def _check_one_meaning(column: Column, table: LabelTable) -> None:
    """A text at two levels must name a node and one that contains it."""
    texts = [set(level) for level in table.levels]
    for low, high in combinations(range(len(table.levels)), 2):
        again = texts[low] & texts[high]
        if not again:
            continue
        pairs = zip(table.levels[low], table.levels[high], strict=True)
        wrong = {text: None for text, over in pairs if text in again and text != over}
        if wrong:
            raise _fault(
                column,
                table,
                f"uses {len(wrong)} labels of level {low} again at level {high} for "
                "other values.",
                hint=f"Rename them at level {high}. {_TRUST}",
                values=wrong,
            )


def _check_containment(column: Column, table: LabelTable, numbers: Losses) -> None:
    outside = {
        level: found
        for level in range(1, len(table.levels))
        if (found := _outside(column, table, level, numbers))
    }
    if not outside:
        return
    counts = ", ".join(f"{len(found)} at level {at}" for at, found in outside.items())
    values = dict.fromkeys(leaf for found in outside.values() for leaf in found)
    raise _fault(
        column,
        table,
        f"puts {len(values)} of {len(table.leaves)} values under an interval that does "
        f"not contain them: {counts}.",
        hint=_TRUST,
        values=values,
    )


def _outside(
    column: Column, table: LabelTable, level: int, numbers: Losses
) -> list[str]:
    """Leaves outside the interval they are under; a missing value is in none."""
    spans = spans_of(column, table.levels[level])
    if not spans:
        return []
    below: dict[str, list[int]] = {label: [] for label in spans}
    for place, label in enumerate(table.levels[level]):
        if label in spans:
            below[label].append(place)
    mark = column.labels[column.missing] if column.missing >= 0 else None
    wrong = [
        place
        for label, places in below.items()
        for place in _strangers(column, table, numbers, np.array(places), spans[label])
    ]
    return [
        table.leaves[place]
        for place in sorted(wrong)
        if table.leaves[place] == mark or not np.isnan(numbers[place])
    ]


def _strangers(
    column: Column,
    table: LabelTable,
    numbers: Losses,
    places: npt.NDArray[np.int64],
    span: Span,
) -> list[int]:
    """Return the leaves in `places` that a label does not stand for."""
    known = places[~np.isnan(numbers[places])]
    texts = [table.leaves[place] for place in known]
    inside = Line(column.kind, texts, numbers[known]).inside(span)
    unknown = places[np.isnan(numbers[places])]
    return [*known[~inside].tolist(), *unknown.tolist()]


def _fault(
    column: Column,
    table: LabelTable,
    problem: str,
    *,
    hint: str,
    values: Iterable[str] = (),
) -> HierarchyError:
    return HierarchyError(
        f"Hierarchy '{table.name}' of column '{column.name}' {problem}",
        hint=hint,
        values=values,
    )
