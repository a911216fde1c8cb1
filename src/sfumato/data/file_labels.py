"""Labels that statistical files carry beside the cells: names of variables and codes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import pyarrow as pa

LABELS = b"sfumato.labels"
Code = float | int | str
"""A value as a statistical file holds it."""


@dataclass(frozen=True, kw_only=True)
class ColumnLabels:
    """What a file says about a column and its values."""

    type: str
    """The Arrow type of the column that the labels describe."""
    label: str | None = None
    """What the column is, in words."""
    values: tuple[tuple[Code, str], ...] = ()
    """Codes, and what each stands for."""
    missing: tuple[tuple[Code, Code], ...] = ()
    """Ranges of codes that mean "no value", both ends included."""
    measure: str | None = None
    """The level of measurement: nominal, ordinal or scale."""

    def is_missing(self, code: Code) -> bool:
        """Return whether the file declares a code to mean "no value"."""
        return any(_within(code, low, high) for low, high in self.missing)


FileLabels = Mapping[str, ColumnLabels]
"""The labels of each column that has any."""


def _within(code: Code, low: Code, high: Code) -> bool:
    if isinstance(code, str) or isinstance(low, str) or isinstance(high, str):
        return code == low
    return low <= code <= high


def with_labels(table: pa.Table, labels: FileLabels) -> pa.Table:
    """A table that remembers labels in its schema."""
    told = json.dumps({name: asdict(each) for name, each in labels.items()})
    known = table.schema.metadata or {}
    return table.replace_schema_metadata({**known, LABELS: told.encode()})


def labels_of(table: pa.Table) -> FileLabels:
    """The labels that a table remembers; none if it came from another kind of file."""
    told = (table.schema.metadata or {}).get(LABELS)
    if told is None:
        return {}
    return {name: _read(record) for name, record in json.loads(told).items()}


def _read(record: Mapping[str, Any]) -> ColumnLabels:
    pairs = {name: tuple(map(tuple, record[name])) for name in ("values", "missing")}
    rest = {each.name: record[each.name] for each in fields(ColumnLabels)}
    return ColumnLabels(**{**rest, **pairs})


def kept_labels(
    labels: FileLabels, table: pa.Table, names: Iterable[str]
) -> dict[str, ColumnLabels]:
    """The labels of some columns, if a table still shows them in the same type."""
    return {
        name: labels[name]
        for name in names
        if name in labels
        and name in table.column_names
        and str(_plain(table.schema.field(name).type)) == labels[name].type
    }


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def missing_codes(table: pa.Table) -> dict[str, tuple[str, ...]]:
    """The texts of single codes that a file declares to mean "no value", by column."""
    return {
        name: tuple(str(low) for low, high in each.missing if low == high)
        for name, each in labels_of(table).items()
        if each.missing
    }
