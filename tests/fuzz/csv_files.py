"""Random CSV files, read by both readers and by Python's `csv` in its strict mode.

`python -m tests.fuzz.csv_files --minutes 30` goes on until the time is over.
"""

from __future__ import annotations

import argparse
import codecs
import csv
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from sfumato.data.source import delimiter_of, with_texts
from sfumato.errors import DataError
from sfumato.io import coded_csv
from sfumato.io.batch_files import batch_source
from sfumato.io.csv_grammar import ALLOWED
from sfumato.io.read import read_source

SIGNS = [b'"', b'""', b",", b"\n", b"\r", b"\r\n", b" ", b"\\", b"a", b"5", b";", b"\t"]
LETTERS = ["é".encode(), b"\xc3", b"\xa9", "漢".encode(), b"x" * 40]
SPACES = [b"\0", b"\x0b", b"\x0c", b"\x1c", "\x85".encode(), "\u2028".encode()]
BOM = codecs.BOM_UTF8
DELIMITERS = [b","] * 6 + [b";", b"\t", b"|", b"^"]
HEADERS = [b"p,q\n", b'"p","q"\r\n', b",q\n", b"p,q,r\n", b"p\n", b"", BOM + b"p,q\n"]
WEIGHTS = [8, 2, 2, 2, 1, 1, 1]
CODES: dict[str, Any] = {
    **{"LEAST_BYTES": 1, "PART_BYTES": 1, "TEXT_BYTES": 0, "FEW": 1},
    "each": lambda do, things: [do(thing) for thing in things],
}
"""Settings with which small files are read as codes, without threads."""
Cells = tuple[list[str], list[tuple[str, ...]]]
"""The names of the columns, and the rows."""


@dataclass(frozen=True)
class CsvFile:
    """Random bytes, and how they are read."""

    content: bytes
    delimiter: str | None
    """The delimiter that is declared; None: it has to be found."""
    coded: bool
    """Whether the reader in memory takes codes where it can, as it does of large files."""


Reader = Callable[[Path, CsvFile], pa.Table]


def random_file(random: Random) -> CsvFile:
    """A header, most often, and below it signs in which quotation marks abound."""
    delimiter = random.choice(DELIMITERS)
    content = _random_lines(random).translate(bytes.maketrans(b",", delimiter))
    declared = None if random.random() < 0.2 else delimiter.decode()
    return CsvFile(content, declared, random.random() < 0.5)


def _random_lines(random: Random) -> bytes:
    header = random.choices(HEADERS, WEIGHTS)[0]
    if random.random() < 0.7:
        return header + b"".join(
            _line(random, header) for _ in range(random.randint(1, 5))
        )
    more = random.choice([[], [], LETTERS, [*SPACES, BOM]])
    return header + b"".join(random.choices(SIGNS + more, k=random.randint(1, 16)))


def _line(random: Random, header: bytes) -> bytes:
    """A row of quoted and bare cells, with a fault now and then."""
    cells = [_cell(random) for _ in range(header.count(b",") + 1)]
    end = random.choice([b"\n"] * 6 + [b"\r\n", b"\r", b""])
    return b",".join(cells) + end


def _cell(random: Random) -> bytes:
    signs = [b"a", b"5", b" ", b'""', b",", b"\n", random.choice(SPACES)]
    text = b"".join(random.choices(signs, k=3))
    fault = random.choice([b""] * 12 + [b'"', b"x", b" "])
    if random.random() < 0.6:
        return b'"' + text + b'"' + fault
    return random.choice([b"", b"a", b'5" pipe', b"b "]) + fault


def strict_rows(content: bytes, delimiter: str) -> Cells | None:
    """Header and rows by Python's strict reader; None for what must be refused."""
    try:
        lines = io.StringIO(content.decode("utf-8-sig"), newline="")
        reader = csv.reader(lines, strict=True, delimiter=delimiter)
        header, *rows = (row for row in reader if row)
    except (csv.Error, ValueError):
        return None
    width = len(header)
    numbered = width > 1 and not header[0].strip()
    names = header[numbered:]
    named = all(name.strip() for name in names) and len(set(names)) == len(names)
    if not rows or not named or any(len(row) != width for row in rows):
        return None
    return names, [tuple(row[numbered:]) for row in rows]


def wrong_readers(file: CsvFile, path: Path) -> list[str]:
    """The readers of ours that do not take the cells of a file as Python does."""
    path.write_bytes(file.content)
    return [name for name, reader in READERS.items() if _differs(file, path, reader)]


def _differs(file: CsvFile, path: Path, reader: Reader) -> bool:
    try:
        table = reader(path, file)
    except DataError:
        # Where the delimiter has to be found, it may be found to be another one.
        known = file.delimiter
        return known is not None and strict_rows(file.content, known) is not None
    return _cells(table) != strict_rows(file.content, delimiter_of(table))


def _in_memory(path: Path, file: CsvFile) -> pa.Table:
    options: dict[str, Any] = {"named": True, "breaks": ALLOWED}
    with patch.multiple(coded_csv, **CODES) if file.coded else nullcontext():
        table = read_source(path, delimiter=file.delimiter, coded=file.coded, **options)
    return with_texts(table)


def _in_batches(path: Path, file: CsvFile) -> pa.Table:
    source = batch_source(path, delimiter=file.delimiter, named=True, breaks=ALLOWED)
    table = pa.Table.from_batches(list(source.read(source.names)), source.schema)
    if not table.num_rows:
        raise DataError("The file has no rows.")
    return table


READERS: dict[str, Reader] = {"memory": _in_memory, "batches": _in_batches}


def _cells(table: pa.Table) -> Cells:
    columns = [column.to_pylist() for column in table.columns]
    return table.column_names, list(zip(*columns, strict=True))


def differences(seed: str, first: int, count: int) -> list[str]:
    """Names of the files that a reader of ours does not read as Python does."""
    names = []
    with tempfile.TemporaryDirectory(dir=_quick_place()) as directory:
        path = Path(directory) / "t.csv"
        for number in range(first, first + count):
            name = f"{seed}:{number}"
            wrong = wrong_readers(random_file(Random(name)), path)
            names += [f"{name} ({reader})" for reader in wrong]
    return names


def _quick_place() -> Path | None:
    """A directory in memory, where there is one: disks take longer than readers."""
    shared = Path("/dev/shm")
    return shared if os.access(shared, os.W_OK) else None


def main(words: Sequence[str]) -> int:
    """Read files until the time is over; returns 1 where a reading differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", default=str(time.time_ns()))
    options = parser.parse_args(words)
    end, first = time.monotonic() + 60 * options.minutes, 0
    wrong: list[str] = []
    while time.monotonic() < end and not wrong:
        wrong = differences(options.seed, first, 1000)
        first += 1000
    print(f"{first:,} CSV files on two readers; other cells than Python: {wrong}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
