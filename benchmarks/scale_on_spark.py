"""Release a large Parquet file on Spark, and compare it with the release in memory.

Called by `python -m benchmarks.scale --engine spark`. CPU and memory are those of all
processes of a run: the driver, Java and, on a cluster of this machine, the workers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

SPREAD = 2654435761
"""Ids are multiples of it, so that the order of the key is not that of the file."""
PAUSE = 0.5
"""Seconds between two looks at the processes of a run."""


def with_key(source: Path, target: Path) -> None:
    """Copy a table and give each row an id."""
    start, writer = 0, None
    for batch in parquet.ParquetFile(source).iter_batches(1 << 18):
        ids = np.arange(start, start + len(batch)) * SPREAD % (1 << 40)
        start += len(batch)
        table = pa.Table.from_batches([batch]).add_column(0, "id", pa.array(ids))
        if writer is None:
            writer = parquet.ParquetWriter(target, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def keyed_policy(text: str) -> str:
    """The policy of the same benchmark, for a table with ids."""
    said = text.replace("[data]\n", '[data]\nkey = ["id"]\n')
    return said.replace(
        "[columns.q0]", '[columns.id]\nrole = "identifier"\n[columns.q0]'
    )


def measured(place: Path, limit: str) -> dict[str, Any]:
    """Run the command on Spark and in memory; both must publish the same cells."""
    with_key(place / "people.parquet", place / "keyed.parquet")
    policy = place / "keyed.toml"
    policy.write_text(keyed_policy((place / "policy.toml").read_text()))
    words = [sys.executable, "-m", "sfumato", "anonymize", str(policy), "--quiet"]
    words += ["--data", str(place / "keyed.parquet"), "--insecure-seed", "1"]
    runs = {}
    for engine, memory in (("spark", ["--memory-limit", limit]), ("memory", [])):
        out = ["--engine", engine, "--out", str(place / engine)]
        runs[engine] = run_with_children([*words, *out, *memory])
    if not same_release(place / "spark", place / "memory"):
        raise SystemExit("The engines published different cells.")
    return runs


def same_release(one: Path, other: Path) -> bool:
    """Whether two releases have the same cells in the same order, and the same record."""
    names = parquet.read_schema(other / "data.parquet").names
    cells = all(_column(one, name).equals(_column(other, name)) for name in names)
    records = [parquet.read_table(p / "private" / "rows.parquet") for p in (one, other)]
    return cells and bool(records[0].equals(records[1]))


def _column(release: Path, name: str) -> Any:
    table = parquet.read_table(release / "data.parquet", columns=[name])
    return table.column(name).cast(pa.string()).combine_chunks()


def run_with_children(words: list[str]) -> dict[str, Any]:
    """Run a program to its end; CPU, wall and peak memory of all of its processes."""
    started, peak = perf_counter(), 0
    seconds: dict[int, float] = {}
    child = subprocess.Popen(words, start_new_session=True)
    while child.poll() is None:
        found = dict(_processes(child.pid))
        seconds |= {process: cpu for process, (cpu, _) in found.items()}
        peak = max(peak, sum(memory for _, memory in found.values()))
        sleep(PAUSE)
    if child.returncode:
        raise SystemExit(f"A run ended with {child.returncode}.")
    return {
        "cpu_seconds": round(sum(seconds.values()), 1),
        "wall_seconds": round(perf_counter() - started, 1),
        "peak_mebibytes": peak >> 20,
    }


def _processes(session: int) -> Iterator[tuple[int, tuple[float, int]]]:
    """CPU seconds and bytes of memory of each process of a session."""
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(told[3]) == session:
            cpu = (int(told[11]) + int(told[12])) / tick
            yield int(place.parent.name), (cpu, int(told[21]) * page)
