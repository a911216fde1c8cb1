"""What the machine can do anyway: sorting, reading and writing, grouping, starting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv

from benchmarks.measure import Job, command
from benchmarks.places import (
    environment,
    program,
    python,
    scratch,
    synthetic,
    synthetic_csv,
)
from benchmarks.sources import QUASI

GROUP_BY = """
import sys, duckdb
path, *names = sys.argv[1:]
columns = ", ".join(f'"{name}"' for name in names)
source = f"read_csv('{path}', all_varchar = true)"
counts = f"select count(*) as size from {source} group by {columns}"
print(duckdb.sql(f"select min(size) from ({counts})").fetchall()[0][0])
"""


def lexsort(*, rows: int, data: str) -> Job:
    """NumPy sorting the same columns."""
    columns = synthetic(rows, data).codes
    return Job(work=lambda: np.lexsort(columns))


def pyarrow_file(*, rows: int) -> Job:
    """PyArrow reading the file and writing it again."""
    path, copy = synthetic_csv(rows), scratch() / "copy.csv"
    return Job(work=lambda: _copied(path, copy))


def _copied(path: Path, copy: Path) -> None:
    pa_csv.write_csv(pa_csv.read_csv(path), copy)


def duckdb_check(*, rows: int) -> Job:
    """DuckDB finding the smallest group of the same file."""
    arguments = [python(), "-c", GROUP_BY, str(synthetic_csv(rows)), *QUASI]
    return Job(
        work=lambda: command(arguments, environment=environment()), commands=True
    )


def start_up(*, command: str) -> Job:
    """A command that should answer at once."""
    name, *arguments = command.split()
    first = python() if name == "python" else program(name)
    return _started([first, *arguments])


def _started(arguments: list[str]) -> Job:
    return Job(
        work=lambda: command(arguments, environment=environment()), commands=True
    )
