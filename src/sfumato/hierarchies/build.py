"""Build the axis of a column from the hierarchy that a policy describes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.data.schema import Kind
from sfumato.data.source import delimiter_fault
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.automatic import automatic_levels
from sfumato.hierarchies.axis import CodedAxis, Shape
from sfumato.hierarchies.hierarchy_files import (
    LabelTable,
    read_file,
    read_tree,
    tree_table,
)
from sfumato.hierarchies.intervals import (
    interval_levels,
    quantile_levels,
    require_line,
)
from sfumato.hierarchies.learned_tree import learned_levels
from sfumato.hierarchies.levels import UpperLevels, assemble
from sfumato.hierarchies.masking import calendar_levels, prefix_levels
from sfumato.hierarchies.tree import table_levels
from sfumato.hierarchies.validate import refuse_reserved
from sfumato.hierarchies.vocabulary import vocabulary_table

__all__ = [
    "OPTIONS",
    "WORDS",
    "Spec",
    "build",
    "refuse_reserved",
    "written_labels",
    "written_leaves",
]

WORDS = ("auto", "flat", "free", "learned")
"""Hierarchies that depend on the data."""

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "file": ("trust", "header", "delimiter", "multiline"),
    "tree": ("trust",),
    "intervals": ("origin", "bottom", "top"),
    "quantiles": (),
    "prefix": (),
    "calendar": (),
    "vocabulary": (),
}
"""The builders a hierarchy table may name, and the options of each."""

Spec = str | Mapping[str, object] | None


def build(
    column: Column,
    spec: Spec,
    *,
    base: Path | None = None,
    weight: float = 1.0,
    others: Sequence[Column] = (),
) -> CodedAxis:
    """Build the axis of a column with the hierarchy that the policy names.

    `spec` is what `hierarchy =` holds: nothing, "flat", "free", "auto", "learned", a
    path, or a table with one builder and its options. Paths are relative to `base`. A
    tree is learned from the `others`: columns of the same rows, perhaps with this one.
    """
    if spec == "learned":
        others = [other for other in others if other is not column]
        return assemble(column, learned_levels(column, others), weight=weight)
    upper = _hierarchy_levels(column, spec, base or Path())
    return assemble(column, upper, weight=weight)


def written_leaves(
    name: str, spec: Spec, *, kind: Kind, base: Path | None = None
) -> tuple[str, ...] | None:
    """Return the leaves of a hierarchy that is written down; None if it is not.

    Does not read the column's cells, for runs that may not look at them.
    """
    written = written_labels(name, spec, kind=kind, base=base)
    return None if written is None else written.leaves


def written_labels(
    name: str, spec: Spec, *, kind: Kind, base: Path | None = None
) -> LabelTable | None:
    """Return the labels of a hierarchy that is written down; None if it is not."""
    nothing = Column(name=name, kind=kind, codes=np.empty(0, np.int32), labels=())
    place = base or Path()
    if isinstance(spec, str) and spec not in WORDS:
        return read_file(place / spec, nothing)
    if not isinstance(spec, Mapping):
        return None
    builder = _builder(nothing, spec)
    _check_options(nothing, builder, spec)
    if builder == "file":
        return _file_table(nothing, spec["file"], spec, place)
    return _tree_of(nothing, spec["tree"], place) if builder == "tree" else None


def _hierarchy_levels(column: Column, spec: Spec, base: Path) -> UpperLevels:
    if spec is None:
        spec = "free" if column.kind.numeric else "flat"
    if isinstance(spec, Mapping):
        return _from_table(column, spec, base)
    if not isinstance(spec, str):
        raise _wrong(column, "must be a text or a table")
    if spec == "auto":
        return automatic_levels(column)
    if spec == "free":
        require_line(column, "free")
        return UpperLevels(shape=Shape.FREE, fitted=True)
    if spec == "flat":
        return UpperLevels(shape=Shape.FLAT, fitted=True)
    return table_levels(column, read_file(base / spec, column))


def _from_table(column: Column, spec: Mapping[str, object], base: Path) -> UpperLevels:
    builder = _builder(column, spec)
    _check_options(column, builder, spec)
    options = {key: value for key, value in spec.items() if key != builder}
    given = spec[builder]
    if builder == "file":
        return _from_file(column, given, options, base)
    if builder == "tree":
        return _from_tree(column, given, options, base)
    if builder == "vocabulary":
        return table_levels(column, vocabulary_table(column, given))
    makers: Mapping[str, Callable[..., UpperLevels]] = {
        "intervals": interval_levels,
        "quantiles": quantile_levels,
        "prefix": prefix_levels,
        "calendar": calendar_levels,
    }
    return makers[builder](column, _listed(column, builder, given), **options)


def _builder(column: Column, spec: Mapping[str, object]) -> str:
    named = [key for key in OPTIONS if key in spec]
    if len(named) == 1:
        return named[0]
    if named:
        listed = ", ".join(f"'{key}'" for key in named)
        raise _wrong(column, f"names {len(named)} builders ({listed}), not one")
    known = {option for options in OPTIONS.values() for option in options}
    strange = sorted(set(map(str, spec)) - known)
    if strange:
        raise _wrong(column, f"has unknown key '{strange[0]}'")
    raise _wrong(column, "names no builder")


def _check_options(column: Column, builder: str, spec: Mapping[str, object]) -> None:
    known = (builder, *OPTIONS[builder])
    for key in spec:
        if key not in known:
            listed = ", ".join(f"'{name}'" for name in known)
            raise _wrong(
                column,
                f"has unknown key '{key}'",
                hint=f"It can be combined with: {listed}.",
            )


def _listed(column: Column, builder: str, given: object) -> Sequence[object]:
    if isinstance(given, (list, tuple)) and given:
        return given
    raise _wrong(column, f"needs a list of one or more levels in '{builder}'")


def _from_file(
    column: Column, given: object, options: Mapping[str, object], base: Path
) -> UpperLevels:
    trust = bool(_switch(column, options, "trust"))
    return table_levels(column, _file_table(column, given, options, base), trust=trust)


def _file_table(
    column: Column, given: object, options: Mapping[str, object], base: Path
) -> LabelTable:
    if not isinstance(given, str):
        raise _wrong(column, "needs a path in 'file'")
    return read_file(
        base / given,
        column,
        header=_switch(column, options, "header"),
        delimiter=_delimiter(column, options),
        multiline=bool(_switch(column, options, "multiline")),
    )


def _from_tree(
    column: Column, given: object, options: Mapping[str, object], base: Path
) -> UpperLevels:
    trust = bool(_switch(column, options, "trust"))
    return table_levels(column, _tree_of(column, given, base), trust=trust)


def _tree_of(column: Column, given: object, base: Path) -> LabelTable:
    if isinstance(given, str):
        return read_tree(base / given, column)
    return tree_table(given, column)


def _switch(column: Column, options: Mapping[str, object], key: str) -> bool | None:
    value = options.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise _wrong(column, f"needs true or false in '{key}'")


def _delimiter(column: Column, options: Mapping[str, Any]) -> str | None:
    value = options.get("delimiter")
    if value is None or (isinstance(value, str) and delimiter_fault(value) is None):
        return value
    raise _wrong(column, "needs one ASCII character in 'delimiter'")


def _wrong(column: Column, problem: str, *, hint: str | None = None) -> HierarchyError:
    builders = ", ".join(f"'{key}'" for key in OPTIONS)
    return HierarchyError(
        f"The hierarchy of column '{column.name}' {problem}.",
        hint=hint
        or 'Use "auto", "flat", "free", "learned", a path, or a table with one of '
        f"{builders}.",
    )
