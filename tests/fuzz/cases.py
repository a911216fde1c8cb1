"""A case of the fuzz: a table, a policy and the way to run it, as plain data.

Every cell is a text (None: null), so that a case can be printed, kept and cut down.
Typed columns are cast from their texts by Arrow.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import tomli_w

NESTED = {
    "list<dictionary>": lambda text: [text],
    "struct<dictionary>": lambda text: {"inner": text},
    "list<string>": lambda text: [text, text],
    "large_list<string>": lambda text: [text],
    "struct<string>": lambda text: {"inner": text},
    "map<string>": lambda text: [("key", text)],
    "list<list<dictionary>>": lambda text: [[text]],
    "list<struct<dictionary>>": lambda text: [{"inner": text}],
}
"""Types of columns that are published as they came; each holds its text inside."""

_WORDS = pa.dictionary(pa.int32(), pa.string())
_NESTED_TYPES = {
    "list<dictionary>": pa.list_(_WORDS),
    "struct<dictionary>": pa.struct([("inner", _WORDS)]),
    "list<string>": pa.list_(pa.string()),
    "large_list<string>": pa.large_list(pa.string()),
    "struct<string>": pa.struct([("inner", pa.string())]),
    "map<string>": pa.map_(pa.string(), pa.string()),
    "list<list<dictionary>>": pa.list_(pa.list_(_WORDS)),
    "list<struct<dictionary>>": pa.list_(pa.struct([("inner", _WORDS)])),
}
_PLAIN_TYPES = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "int8": pa.int8(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "decimal": pa.decimal128(38, 9),
    "date32": pa.date32(),
    "timestamp[s]": pa.timestamp("s"),
    "timestamp[ms]": pa.timestamp("ms"),
    "timestamp[us]": pa.timestamp("us"),
    "timestamp[ns]": pa.timestamp("ns"),
    "bool": pa.bool_(),
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """The cells of a column as texts, and what they are."""

    kind: str
    """What the values are: a kind of the policy."""
    cells: tuple[str | None, ...]
    type: str = "string"
    """The Arrow type, where the table is not a CSV file."""
    paths: dict[str, list[str]] | None = None
    """For a hierarchy that is written down: the labels from each leaf to the root."""

    def array(self) -> pa.ChunkedArray:
        """As Arrow has it."""
        if self.type in NESTED:
            make = NESTED[self.type]
            cells = [None if cell is None else make(cell) for cell in self.cells]
            return pa.chunked_array([pa.array(cells, _nested_plain(self.type))]).cast(
                _NESTED_TYPES[self.type]
            )
        texts = pa.chunked_array([pa.array(self.cells, pa.string())])
        if self.type == "dictionary":
            return texts.dictionary_encode()
        if self.type == "dictionary with more":
            return _with_more(texts)
        if self.type == "timestamp[us, UTC]":
            return pc.assume_timezone(pc.cast(texts, pa.timestamp("us")), "UTC")
        return pc.cast(texts, _PLAIN_TYPES[self.type])

    def with_blanks(self) -> Column:
        """The same with one or two blanks at the end of most cells."""
        cells = [
            None if cell is None else cell + " " * (row % 3)
            for row, cell in enumerate(self.cells)
        ]
        return replace(self, cells=tuple(cells))

    def texts(self, csv_file: bool) -> list[str | None]:
        """The cells as they stand in the file, read as text; nested ones inside."""
        if csv_file or self.type in NESTED or self.type.startswith("dictionary"):
            return list(self.cells)
        array = self.array()
        if pa.types.is_floating(array.type):
            array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
        return pc.cast(array, pa.string()).to_pylist()


def _nested_plain(name: str) -> pa.DataType:
    plain = {
        "list<dictionary>": pa.list_(pa.string()),
        "struct<dictionary>": pa.struct([("inner", pa.string())]),
        "list<list<dictionary>>": pa.list_(pa.list_(pa.string())),
        "list<struct<dictionary>>": pa.list_(pa.struct([("inner", pa.string())])),
    }
    return plain.get(name, _NESTED_TYPES[name])


def _with_more(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary that also holds a value that no cell has."""
    encoded = texts.combine_chunks().dictionary_encode()
    more = pa.concat_arrays([encoded.dictionary, pa.array(["unseenzq0value"])])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(encoded.indices, more)])


@dataclass(frozen=True, kw_only=True)
class Case:
    """Everything that one run of the fuzz needs."""

    name: str
    """The seed and the number it was drawn by."""
    door: str
    """How it is run: the command line, or a frame of Python."""
    format: str
    columns: dict[str, Column]
    policy: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    population: dict[str, Column] | None = None

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())).cells)

    @property
    def is_csv(self) -> bool:
        return self.format == "csv"

    def names(self, role: str) -> list[str]:
        """The columns that have a role and are published or judged."""
        listed = self.policy["columns"]
        return [
            name
            for name, section in listed.items()
            if section.get("role") == role and not section.get("drop")
        ]

    def missing_marks(self) -> set[str]:
        """The texts that mean that there is no value.

        Where the source has nulls, the empty text is one: a CSV file shows both alike.
        """
        marks = set(self.policy.get("data", {}).get("missing", [""]))
        as_texts = self.is_csv and self.door.startswith("command")
        return marks if as_texts or not self._has_nulls() else marks | {""}

    def _has_nulls(self) -> bool:
        columns = self.columns.values()
        return any(None in column.texts(self.is_csv) for column in columns)

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)

    @classmethod
    def read(cls, text: str) -> Case:
        found = json.loads(text)
        for part in ("columns", "population"):
            if found[part] is not None:
                found[part] = {n: _column(c) for n, c in found[part].items()}
        return cls(**found)

    def taking(self, rows: list[int]) -> Case:
        """The same with some of its rows."""
        return replace(
            self,
            columns={
                name: replace(c, cells=tuple(c.cells[row] for row in rows))
                for name, c in self.columns.items()
            },
        )

    def table(self) -> pa.Table:
        columns = self._given()
        return pa.table({name: column.array() for name, column in columns.items()})

    def _given(self) -> dict[str, Column]:
        """The columns of the source; with blanks that the policy asks to cut."""
        if not self.policy.get("publish", {}).get("trim"):
            return self.columns
        return {
            name: column.with_blanks() if self._is_text(column) else column
            for name, column in self.columns.items()
        }

    def _is_text(self, column: Column) -> bool:
        texts = column.type.startswith("dictionary") or "string" in column.type
        return self.is_csv or (texts and column.type not in NESTED)

    def write(self, place: Path) -> Path:
        """Put source, population, hierarchies and policy into a directory."""
        data = {**self.policy.get("data", {}), "path": f"source.{self.format}"}
        delimiter, encoding = data.get("delimiter", ","), data.get("encoding", "utf-8")
        _write(self._given(), place / data["path"], delimiter, encoding)
        if self.population is not None:
            _write(self.population, place / "population.csv", delimiter, encoding)
        for name, text in self.files.items():
            (place / name).write_text(text, encoding="utf-8")
            (place / name).chmod(0o600)
        target = place / "policy.toml"
        written = tomli_w.dumps({**self.policy, "data": data})
        target.write_text(written, encoding="utf-8")
        return target


def _column(found: dict[str, Any]) -> Column:
    return Column(**{**found, "cells": tuple(found["cells"])})


def _write(
    columns: dict[str, Column], path: Path, delimiter: str, encoding: str
) -> None:
    if path.suffix == ".csv":
        path.write_bytes(csv_text(columns, delimiter).encode(encoding))
        return
    table = pa.table({name: column.array() for name, column in columns.items()})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)


def csv_text(columns: dict[str, Column], delimiter: str) -> str:
    """The columns as a CSV file; a null is an empty cell."""
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    alone = len(columns) == 1
    for row in zip(*(column.cells for column in columns.values()), strict=True):
        if alone and not row[0]:
            sink.write('""\n')
        else:
            writer.writerow(["" if cell is None else cell for cell in row])
    return sink.getvalue()
