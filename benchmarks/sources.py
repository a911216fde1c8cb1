"""The benchmark data: Adult, and larger tables drawn from it or at random."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.scoring import Domain
from sfumato.data.arrays import Codes

QUASI = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
)
SENSITIVE = "salary-class"
NUMERIC = frozenset({"age"})
DIVERSE = ("race", "education", "sex", "age", "occupation")
"""The quasi-identifiers and the sensitive column of Boger 2020."""
UNIQUE_SIZES = (2, 365, 1000, 50, 16, 40, 90, 24)


@dataclass(frozen=True)
class Source:
    """A table as lists of text, quasi-identifiers first, and their domains."""

    columns: dict[str, list[str]]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.columns[SENSITIVE])

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The domain of each quasi-identifier."""
        return tuple(
            Domain.of(self.columns[name], numeric=name in NUMERIC) for name in QUASI
        )


def directory() -> Path:
    """Where the real tables are: SFUMATO_DATA, or shared/data beside the repository."""
    root = Path(__file__).resolve().parents[1]
    path = Path(os.environ.get("SFUMATO_DATA", root.parent / "shared" / "data"))
    if not (path / "adult").is_dir():
        raise SystemExit("No real tables: set SFUMATO_DATA to their directory.")
    return path


def adult(rows: int | None = None) -> Source:
    """Adult without missing values, or a fixed random sample of its rows."""
    with gzip.open(directory() / "adult" / "adult_clean_30162.csv.gz", "rt") as file:
        records = list(csv.DictReader(file))
    if rows is not None:
        chosen = np.random.default_rng(1).choice(len(records), rows, replace=False)
        records = [records[i] for i in sorted(chosen)]
    names = (*QUASI, SENSITIVE)
    return Source({name: [record[name] for record in records] for name in names})


def adult_hierarchy(column: str) -> list[list[str]]:
    """The levels of a column's hierarchy, leaves first, one entry per leaf."""
    return read_levels(directory() / "adult" / "hierarchies_full" / f"{column}.csv")


def read_levels(path: Path) -> list[list[str]]:
    """The levels of a hierarchy in a file, leaves first, one entry per leaf."""
    with path.open(newline="", encoding="utf-8") as file:
        return [list(level) for level in zip(*csv.reader(file), strict=True)]


def leaves_under(levels: Sequence[Sequence[str]]) -> dict[str, frozenset[str]]:
    """The leaves under each label of a hierarchy."""
    found: dict[str, set[str]] = {}
    for level in levels:
        for leaf, label in zip(levels[0], level, strict=True):
            found.setdefault(label, set()).add(leaf)
    return {label: frozenset(leaves) for label, leaves in found.items()}


@dataclass(frozen=True)
class Coded:
    """Quasi-identifiers as codes, with the text behind each code."""

    names: tuple[str, ...]
    codes: tuple[Codes, ...]
    labels: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.codes[0])

    def texts(self, j: int) -> npt.NDArray[np.str_]:
        """Column j as text."""
        return np.array(self.labels[j])[self.codes[j]]


def coded(source: Source) -> Coded:
    """Code each column: numbers by size, categories by text."""
    labels = tuple(_ordered(source.columns[name], name in NUMERIC) for name in QUASI)
    codes = tuple(
        _codes(source.columns[name], values)
        for name, values in zip(QUASI, labels, strict=True)
    )
    return Coded(QUASI, codes, labels, tuple(name in NUMERIC for name in QUASI))


def diverse_adult(rows: int | None) -> Coded:
    """All of Adult's training part, `?` being a value; its last column is sensitive.

    Or so many of its rows drawn with replacement, with ages moved by up to 2.
    """
    with gzip.open(directory() / "adult" / "adult_train_32561.csv.gz", "rt") as file:
        records = list(csv.DictReader(file))
    columns = {name: [record[name] for record in records] for name in DIVERSE}
    labels = tuple(_ordered(columns[name], name in NUMERIC) for name in DIVERSE)
    codes = [_codes(columns[n], each) for n, each in zip(DIVERSE, labels, strict=True)]
    if rows is not None:
        random = np.random.default_rng(7)
        chosen = random.integers(0, len(records), rows)
        codes = [column[chosen] for column in codes]
        age = DIVERSE.index("age")
        moved = codes[age] + random.integers(-2, 3, rows)
        codes[age] = np.clip(moved, 0, len(labels[age]) - 1).astype(np.int32)
    return Coded(DIVERSE, tuple(codes), labels, tuple(n in NUMERIC for n in DIVERSE))


def _ordered(values: Sequence[str], numeric: bool) -> tuple[str, ...]:
    return tuple(sorted(set(values), key=float if numeric else str))


def _codes(values: Sequence[str], ordered: Sequence[str]) -> Codes:
    place = {value: code for code, value in enumerate(ordered)}
    return np.array([place[value] for value in values], dtype=np.int32)


def like_adult(rows: int) -> Coded:
    """Adult rows drawn with replacement, ages moved by up to 2, 2 % of cells redrawn.

    Few distinct tuples for its size, which is kind to whoever collapses duplicates.
    """
    random = np.random.default_rng(2)
    base = coded(adult())
    chosen = random.integers(0, base.rows, rows)
    codes = [_redrawn(column[chosen], random) for column in base.codes]
    age = base.names.index("age")
    moved = base.codes[age][chosen] + random.integers(-2, 3, rows)
    codes[age] = np.clip(moved, 0, len(base.labels[age]) - 1).astype(np.int32)
    return Coded(base.names, tuple(codes), base.labels, base.numeric)


def _redrawn(column: Codes, random: np.random.Generator) -> Codes:
    redrawn = random.random(len(column)) < 0.02
    result = column.copy()
    result[redrawn] = random.permutation(column)[redrawn]
    return result


def payments(rows: int, columns: int) -> dict[str, list[str]]:
    """Correlated numbers like those of a credit-card file, nearly every row once."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=(rows, 4)) @ random.normal(size=(4, columns))
    drawn = hidden + random.normal(size=(rows, columns))
    forms = (
        lambda x: np.round(x * 10),
        lambda x: np.round(np.exp(x) * 100),
        lambda x: np.clip(np.round(x), -2, 6),
        lambda x: np.round(x * 1000),
    )
    return {
        f"c{j}": forms[j % 4](drawn[:, j]).astype(np.int64).astype(str).tolist()
        for j in range(columns)
    }


def mostly_unique(rows: int) -> Coded:
    """Independent uniform columns: nearly every tuple occurs once."""
    random = np.random.default_rng(3)
    codes = [random.integers(0, size, rows, dtype=np.int32) for size in UNIQUE_SIZES]
    labels = tuple(tuple(str(i) for i in range(size)) for size in UNIQUE_SIZES)
    names = tuple(f"column{j}" for j in range(len(UNIQUE_SIZES)))
    numeric = tuple(size > 24 for size in UNIQUE_SIZES)
    return Coded(names, tuple(codes), labels, numeric)


def write_csv(table: Coded, path: Path) -> None:
    """A coded table as a CSV file, with a random sensitive column."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    random = np.random.default_rng(4)
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(labels)).cast(
            pa.string()
        )
        for name, codes, labels in zip(
            table.names, table.codes, table.labels, strict=True
        )
    }
    secret = random.integers(0, 12, table.rows)
    columns["disease"] = pa.array([f"D{i:02}" for i in range(12)]).take(
        pa.array(secret)
    )
    pa_csv.write_csv(pa.table(columns), path)
