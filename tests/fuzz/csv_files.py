"""Random CSV files, read by both readers and by Python's `csv` in its strict mode.

`python -m tests.fuzz.csv_files --minutes 30` goes on until the time is over.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import pyarrow as pa

from sfumato.errors import DataError
from sfumato.io.batch_files import batch_source
from sfumato.io.csv_grammar import ALLOWED
from sfumato.io.read import read_source

SIGNS = [b'"', b'""', b",", b"\n", b"\r", b"\r\n", b" ", b"\\", b"a", b"5", b";", b"\t"]
LETTERS = ["é".encode(), b"\xc3", b"\xa9", "漢".encode(), b"x" * 40]
HEADERS = [b"p,q\n", b'"p","q"\r\n', b",q\n", b"p,q,r\n", b"p\n", b""]
WEIGHTS = [8, 2, 2, 2, 1, 1]
Rows = list[tuple[str, ...]]


def random_file(random: Random) -> bytes:
    """A header, most often, and below it signs in which quotation marks abound."""
    header = random.choices(HEADERS, WEIGHTS)[0]
    if random.random() < 0.7:
        return header + b"".join(
            _line(random, header) for _ in range(random.randint(1, 5))
        )
    signs = SIGNS if random.random() < 0.8 else SIGNS + LETTERS
    return header + b"".join(random.choices(signs, k=random.randint(1, 16)))


def _line(random: Random, header: bytes) -> bytes:
    """A row of quoted and bare cells, with a fault now and then."""
    cells = [_cell(random) for _ in range(header.count(b",") + 1)]
    end = random.choice([b"\n"] * 6 + [b"\r\n", b"\r", b""])
    return b",".join(cells) + end


def _cell(random: Random) -> bytes:
    text = b"".join(random.choices([b"a", b"5", b" ", b'""', b",", b"\n"], k=3))
    fault = random.choice([b""] * 12 + [b'"', b"x", b" "])
    if random.random() < 0.6:
        return b'"' + text + b'"' + fault
    return random.choice([b"", b"a", b'5" pipe', b"b "]) + fault


def strict_rows(content: bytes) -> tuple[list[str], Rows] | None:
    """Header and rows by Python's strict reader; None for what must be refused."""
    try:
        lines = io.StringIO(content.decode("utf-8"), newline="")
        header, *rows = (row for row in csv.reader(lines, strict=True) if row)
    except (csv.Error, ValueError):
        return None
    width = len(header)
    numbered = width > 1 and not header[0].strip()
    names = header[numbered:]
    named = all(name.strip() for name in names) and len(set(names)) == len(names)
    if not rows or not named or any(len(row) != width for row in rows):
        return None
    return names, [tuple(row[numbered:]) for row in rows]


def readings(path: Path) -> dict[str, tuple[list[str], Rows] | None]:
    """What each of our readers takes for the cells of a file; None: refused."""
    read = {"memory": _in_memory, "batches": _in_batches}
    answers: dict[str, tuple[list[str], Rows] | None] = dict.fromkeys(read)
    for name, reader in read.items():
        with suppress(DataError):
            answers[name] = _cells(reader(path))
    return answers


def _in_memory(path: Path) -> pa.Table:
    return read_source(path, delimiter=",", named=True, breaks=ALLOWED)


def _in_batches(path: Path) -> pa.Table:
    source = batch_source(path, delimiter=",", named=True, breaks=ALLOWED)
    table = pa.Table.from_batches(list(source.read(source.names)), source.schema)
    if not table.num_rows:
        raise DataError("The file has no rows.")
    return table


def _cells(table: pa.Table) -> tuple[list[str], Rows]:
    columns = [column.to_pylist() for column in table.columns]
    return table.column_names, list(zip(*columns, strict=True))


def differences(seed: str, first: int, count: int) -> list[str]:
    """Names of the files that a reader of ours does not read as Python does."""
    names = []
    with tempfile.TemporaryDirectory(dir=_quick_place()) as directory:
        path = Path(directory) / "t.csv"
        for number in range(first, first + count):
            name = f"{seed}:{number}"
            content = random_file(Random(name))
            path.write_bytes(content)
            expected = strict_rows(content)
            wrong = [e for e, cells in readings(path).items() if cells != expected]
            names += [f"{name} ({engine})" for engine in wrong]
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
