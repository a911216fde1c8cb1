"""A written release, read back without the product."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.fuzz.cases import Case
from tests.fuzz.meaning import Reader

Rows = list[dict[str, Any]]


def read_rows(path: Path, delimiter: str, *, guarded: bool) -> Rows:
    """A published file, row by row: texts, or nested things as they are.

    Of a `guarded` CSV file the mark that stops spreadsheets is taken off.
    """
    if ".csv" in path.suffixes:
        text = io.StringIO(plain_bytes(path).decode("utf-8"), newline="")
        lines = csv.reader(text, delimiter=delimiter)
        header = next(lines)
        return [
            dict(zip(header, (_plain(cell, guarded) for cell in line), strict=True))
            for line in lines
            if line
        ]
    table = read_arrow(path)
    columns = {name: _texts(table.column(name)) for name in table.column_names}
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


def plain_bytes(path: Path) -> bytes:
    """What a file holds, unpacked where its name says that it is compressed."""
    packed = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    with pa.input_stream(str(path), compression=packed) as stream:
        return bytes(stream.read())


def _plain(cell: str, guarded: bool) -> str | None:
    if guarded and re.match(r"'+[=+\-@]", cell):
        return cell[1:]
    return cell or None


def read_arrow(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return pq.read_table(path)
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


def _texts(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_nested(column.type):
        return column.to_pylist()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return pc.cast(column, pa.string()).to_pylist()


@dataclass(frozen=True)
class Release:
    """What was published of a case, and its private record."""

    case: Case
    place: Path

    @cached_property
    def data(self) -> Path:
        return next(iter(sorted(self.place.glob("data.*"))))

    @cached_property
    def rows(self) -> Rows:
        return read_rows(self.data, self._delimiter, guarded=self._guarded)

    @cached_property
    def values(self) -> Rows:
        """The second table of an anatomy."""
        found = sorted(self.place.glob("sensitive.*"))
        if not found:
            return []
        return read_rows(found[0], self._delimiter, guarded=self._guarded)

    @property
    def _guarded(self) -> bool:
        return bool(self.case.policy.get("publish", {}).get("spreadsheet_safe"))

    @property
    def _delimiter(self) -> str:
        declared = self.case.policy.get("data", {}).get("delimiter", ",")
        a_file = self.case.is_csv and self.case.door.startswith("command")
        return declared if a_file else ","

    @cached_property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            (self.place / "manifest.json").read_text("utf-8")
        )
        return found

    @cached_property
    def audit(self) -> dict[str, Any]:
        path = self.place / "private" / "audit.json"
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return found

    @cached_property
    def record(self) -> list[dict[str, Any]]:
        return pq.read_table(self.place / "private" / "rows.parquet").to_pylist()

    @cached_property
    def source_row(self) -> list[int]:
        """The source row behind each published row."""
        kept = [line for line in self.record if line["published_row"] is not None]
        kept.sort(key=lambda line: line["published_row"])
        return [line["source_row"] for line in kept]

    @cached_property
    def private_group(self) -> list[int]:
        """The group of each published row, as the record has it."""
        group = {line["source_row"]: line["group"] for line in self.record}
        return [group[row] for row in self.source_row]

    @cached_property
    def operator(self) -> str:
        return str(self.case.policy.get("publish", {}).get("operator", "generalize"))

    def shown_as(self, name: str) -> list[str]:
        """The published columns of a quasi-identifier: itself, or two bounds."""
        published = self.rows[0]
        pair = [f"{name}_from", f"{name}_to"]
        both = name not in published and all(each in published for each in pair)
        return pair if both else [name]

    def reader(self, name: str) -> Reader:
        """What the cells of a column mean."""
        case = self.case
        column = case.columns[name]
        told = self.manifest.get("kinds", {}).get(name, {}).get("kind", column.kind)
        kind = case.policy["columns"].get(name, {}).get("kind", told)
        texts = [t for t in self.source(name) if t is not None]
        if case.population is not None and name in case.population:
            texts += [t for t in case.population[name].cells if t is not None]
        marks = frozenset(case.missing_marks())
        if not set(texts) - marks:
            kind = case.policy["columns"].get(name, {}).get("kind", "category")
        return Reader(kind, marks, column.paths, frozenset(texts))

    def source(self, name: str) -> list[str | None]:
        """The source's cells as texts."""
        return self.case.columns[name].texts(self.case.is_csv)
