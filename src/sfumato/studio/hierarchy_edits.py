"""Group, move and rename the values of a hierarchy that is written down.

A hierarchy is a list of rows, one per leaf, each from the leaf to the root.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Collection, Sequence
from pathlib import Path

from sfumato.errors import HierarchyError
from sfumato.hierarchies.axis import STAR, Axis
from sfumato.io.atomic_files import OWN_DIRECTORY, OWN_FILE
from sfumato.pipeline.reports import replace_file
from sfumato.studio.project_folder import HIERARCHIES, ProjectFolder

LeafRow = tuple[str, ...]
OTHER = "Other"


def rows_of(axis: Axis) -> list[LeafRow]:
    """The hierarchy of an axis, without the missing value."""
    return [
        tuple(axis.node_labels[node] for node in nodes)
        for leaf, nodes in enumerate(axis.levels.T)
        if leaf != axis.missing
    ]


def grouped(
    rows: Sequence[LeafRow], leaves: Collection[str], label: str, level: int
) -> list[LeafRow]:
    """Put leaves under a label at a level; a label that is there keeps its own parents.

    A hierarchy of leaves and root alone gets a level in between first.
    """
    if not leaves:
        raise HierarchyError("No value is chosen.", hint="Choose one or more.")
    deep = with_level(rows) if len(rows[0]) <= 2 else list(rows)
    _check_level(deep, level)
    _check_label(deep, label)
    member = next((row for row in deep if row[level] == label), None)
    first = next((row for row in deep if row[0] in leaves), None)
    model = member or first
    if model is None:
        raise HierarchyError("The values are not in it.", hint="Load the page again.")
    above = (label, *model[level + 1 :])
    return [
        (*_below(row, level, label), *above) if row[0] in leaves else row
        for row in deep
    ]


def _below(row: LeafRow, level: int, label: str) -> LeafRow:
    """The labels of a moved leaf under its new group."""
    return (row[0], *(label for _ in range(1, level)))


def with_level(rows: Sequence[LeafRow]) -> list[LeafRow]:
    """A level in which each leaf stands for itself, above the leaves."""
    return [(row[0], row[0], *row[1:]) for row in rows]


def renamed(rows: Sequence[LeafRow], level: int, old: str, new: str) -> list[LeafRow]:
    """Give a group another name; the name of another group would merge the two."""
    _check_level(rows, level)
    _check_label(rows, new)
    if any(row[level] == new for row in rows):
        raise HierarchyError(
            "There is a group of this name at this level.",
            hint="Move values to it instead.",
        )
    if not any(row[level] == old for row in rows):
        raise HierarchyError("There is no such group.", hint="Load the page again.")
    # A level below may stand for the group by its name, too.
    return [
        (row[0], *(new if at > 0 and text == old else text for at, text in _inner(row)))
        if row[level] == old
        else row
        for row in rows
    ]


def _inner(row: LeafRow) -> list[tuple[int, str]]:
    return list(enumerate(row))[1:]


def with_other(rows: Sequence[LeafRow], values: Sequence[str]) -> list[LeafRow]:
    """Put values that no leaf covers under one group of their own."""
    deep = with_level(rows) if len(rows[0]) <= 2 else list(rows)
    width = len(deep[0])
    root = deep[0][-1] if len({row[-1] for row in deep}) == 1 else STAR
    middle = (OTHER,) * (width - 2)
    return [*deep, *((value, *middle, root) for value in values)]


def _check_level(rows: Sequence[LeafRow], level: int) -> None:
    highest = len(rows[0]) - 2
    if not 1 <= level <= highest:
        raise HierarchyError(
            f"Level {level} has no groups to change.",
            hint=f"The levels between leaves and root are 1 to {highest}.",
        )


def _check_label(rows: Sequence[LeafRow], label: str) -> None:
    if not label.strip() or not label.isprintable():
        raise HierarchyError("A group needs a name.", hint="Write one.")
    if label == rows[0][-1]:
        raise HierarchyError("This is the name of the root.", hint="Write another.")


def csv_text(rows: Sequence[LeafRow]) -> str:
    """The hierarchy as a CSV file, as the product reads it."""
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=";", lineterminator="\n").writerows(rows)
    return stream.getvalue()


def written(folder: ProjectFolder, column: str, rows: Sequence[LeafRow]) -> str:
    """Write a hierarchy under a name of its own, so that undo finds the old one."""
    text = csv_text(rows)
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    stem = "".join(c if c.isalnum() else "_" for c in column)[:40] or "column"
    place = folder.root / HIERARCHIES
    place.mkdir(mode=OWN_DIRECTORY, exist_ok=True)
    name = f"{stem}-{mark}.csv"
    replace_file(place / name, text, mode=OWN_FILE)
    return Path(HIERARCHIES, name).as_posix()
