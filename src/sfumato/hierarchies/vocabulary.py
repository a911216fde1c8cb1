"""Group the values of a column by a built-in vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sfumato.data.table import Column
from sfumato.data.vocabularies import NAMES, group
from sfumato.errors import HierarchyError
from sfumato.hierarchies.axis import STAR
from sfumato.hierarchies.hierarchy_files import LabelTable

SUFFIX = " (group)"
"""What the name of a group gets that a value has too."""


def vocabulary_table(column: Column, name: object) -> LabelTable:
    """Lay a column's values out under the groups of a vocabulary, narrow then broad.

    A value that the vocabulary does not know stays by itself up to the root. So does
    one that is alone in its group, because the group's name would say no less.
    """
    if name not in NAMES or not isinstance(name, str):
        raise HierarchyError(
            f"The hierarchy of column '{column.name}' names no known vocabulary.",
            hint=f"There are: {', '.join(NAMES)}.",
        )
    values = [text for at, text in enumerate(column.labels) if at != column.missing]
    found = [group(name, value) for value in values]
    narrow = _level(values, [each.narrow if each else None for each in found])
    broad = _level(values, [each.broad if each else None for each in found])
    return LabelTable(
        name=f"vocabulary {name}",
        levels=(*_distinct_levels(values, narrow, broad), (STAR,) * len(values)),
    )


def _level(values: Sequence[str], groups: Sequence[str | None]) -> tuple[str, ...]:
    """The label of each value: its group's name, which no value may have."""
    sizes = Counter(groups)
    taken = {value.casefold() for value in values}
    return tuple(
        value if name is None or sizes[name] == 1 else _free(name, taken)
        for value, name in zip(values, groups, strict=True)
    )


def _free(name: str, taken: set[str]) -> str:
    while name.casefold() in taken:
        name += SUFFIX
    return name


def _distinct_levels(
    values: Sequence[str], narrow: tuple[str, ...], broad: tuple[str, ...]
) -> list[tuple[str, ...]]:
    """Leave out a level that repeats the one below it, or shows nothing else."""
    levels = [tuple(values)]
    for level in (narrow, _nested(narrow, broad)):
        if _parts(level) != _parts(levels[-1]) and len(set(level)) > 1:
            levels.append(level)
    return levels


def _nested(narrow: tuple[str, ...], broad: tuple[str, ...]) -> tuple[str, ...]:
    """Name a broad group that holds a single narrow one after the latter."""
    below: dict[str, set[str]] = {}
    for fine, coarse in zip(narrow, broad, strict=True):
        below.setdefault(coarse, set()).add(fine)
    return tuple(
        fine if len(below[coarse]) == 1 else coarse
        for fine, coarse in zip(narrow, broad, strict=True)
    )


def _parts(level: tuple[str, ...]) -> tuple[int, ...]:
    first: dict[str, int] = {}
    return tuple(first.setdefault(label, len(first)) for label in level)
