"""Baselines of the machine: sorting, reading and writing, grouping, starting Python."""

from __future__ import annotations

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

COPY = """
import sys, pyarrow.csv as csv
csv.write_csv(csv.read_csv(sys.argv[1]), sys.argv[2])
"""
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
    """A program in which PyArrow reads the file and writes it again."""
    return _started([python(), "-c", COPY, str(synthetic_csv(rows)), _copy()])


def pyarrow_call(*, rows: int) -> Job:
    """The same in this process, its libraries loaded and its memory warm."""
    path = synthetic_csv(rows)
    return Job(work=lambda: pa_csv.write_csv(pa_csv.read_csv(path), _copy()))


def _copy() -> str:
    return str(scratch() / "copy.csv")


def duckdb_check(*, rows: int) -> Job:
    """DuckDB finding the smallest group of the same file."""
    return _started([python(), "-c", GROUP_BY, str(synthetic_csv(rows)), *QUASI])


def start_up(*, command: str) -> Job:
    """A command that should answer at once."""
    name, *arguments = command.split()
    first = python() if name == "python" else program(name)
    return _started([first, *arguments])


def _started(arguments: list[str]) -> Job:
    return Job(
        work=lambda: command(arguments, environment=environment()), commands=True
    )
