"""Release a large Parquet file on Spark, and compare it with the release in memory.

Called by `python -m benchmarks.scale --engine spark`. CPU and memory are those of all
processes of a run: the driver, Java and, on a cluster of this machine, the workers.
With `--kill` it runs on two workers, and one is killed while it writes sorted rows.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
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
CLUSTER = "--master local-cluster[2,1,1536] --driver-memory 2g pyspark-shell"
WORKER = b"CoarseGrainedExecutorBackend"


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


def measured(place: Path, limit: str, *, kill: bool = False) -> dict[str, Any]:
    """Run the command on Spark and in memory; both must publish the same cells."""
    with_key(place / "people.parquet", place / "keyed.parquet")
    policy = place / "keyed.toml"
    policy.write_text(keyed_policy((place / "policy.toml").read_text()))
    words = [sys.executable, "-m", "sfumato", "anonymize", str(policy), "--quiet"]
    words += ["--data", str(place / "keyed.parquet"), "--insecure-seed", "1"]
    spill = place / "spill"
    spill.mkdir()
    os.environ["TMPDIR"] = str(spill)
    killer = Killer(spill)
    out = ["--engine", "spark", "--memory-limit", limit, "--out", str(place / "spark")]
    runs = {"spark": _on_spark([*words, *out], killer if kill else None)}
    if kill and killer.killed is None:
        raise SystemExit("The run ended before a worker was killed.")
    out = ["--engine", "memory", "--out", str(place / "memory")]
    runs["memory"] = run_with_children([*words, *out])
    if any(spill.iterdir()):
        raise SystemExit("A run left something behind.")
    if not same_release(place / "spark", place / "memory"):
        raise SystemExit("The engines published different cells.")
    return runs


def _on_spark(words: list[str], killer: Killer | None) -> dict[str, Any]:
    if killer is None:
        return run_with_children(words)
    os.environ["PYSPARK_SUBMIT_ARGS"] = CLUSTER
    return run_with_children(words, killer) | {"killed_workers": 1}


class Killer:
    """Kills one worker of a run, once, while tasks write sorted rows."""

    def __init__(self, spill: Path) -> None:
        self._spill = spill
        self.killed: int | None = None

    def __call__(self, processes: list[int]) -> None:
        """Look whether tasks are writing; if so, kill the first worker."""
        writing = "sfumato-rows-*/rows/_temporary/0/_temporary/attempt*"
        if self.killed is None and any(self._spill.glob(writing)):
            workers = [each for each in sorted(processes) if _is_worker(each)]
            if len(workers) == 2:
                self.killed = workers[0]
                os.kill(self.killed, signal.SIGKILL)


def _is_worker(process: int) -> bool:
    try:
        return WORKER in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def same_release(one: Path, other: Path) -> bool:
    """Whether two releases have the same cells in the same order, and the same record."""
    names = parquet.read_schema(other / "data.parquet").names
    cells = all(_column(one, name).equals(_column(other, name)) for name in names)
    records = [parquet.read_table(p / "private" / "rows.parquet") for p in (one, other)]
    return cells and bool(records[0].equals(records[1]))


def _column(release: Path, name: str) -> Any:
    table = parquet.read_table(release / "data.parquet", columns=[name])
    return table.column(name).cast(pa.string()).combine_chunks()


def run_with_children(
    words: list[str], watch: Callable[[list[int]], None] | None = None
) -> dict[str, Any]:
    """Run a program to its end; CPU, wall and peak memory of all of its processes.

    `watch` is called with the numbers of the processes at every look.
    """
    started, peak = perf_counter(), 0
    seconds: dict[int, float] = {}
    child = subprocess.Popen(words, start_new_session=True)
    while child.poll() is None:
        found = dict(_processes(child.pid))
        seconds |= {process: cpu for process, (cpu, _) in found.items()}
        peak = max(peak, sum(memory for _, memory in found.values()))
        if watch is not None:
            watch(list(found))
        sleep(PAUSE if watch is None else PAUSE / 10)
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
