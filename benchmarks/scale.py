"""Release a large Parquet file in memory and out of core: CPU, wall and peak memory.

`python -m benchmarks.scale [--rows N] [--limit SIZE] [--engine spark] [--out FILE]`
makes a table of eight columns of whole numbers, runs the whole command with each engine,
and compares both with DuckDB's own GROUP BY of the same columns. Both releases must have
the same bytes. The search alone is measured in a process of its own, in memory. With
`--engine spark` it is Spark and memory that are compared, on a table with a key; with
`--kill`, on two workers, one of which is killed in the middle.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from benchmarks import scale_on_spark

SIZES = (2, 5, 9, 16, 60, 100, 365, 1000)
"""How many values each column has."""
PART = 1 << 20
GROUP_BY = """
import duckdb, sys
duckdb.sql(f"SET threads = 2; SET memory_limit = '{sys.argv[2]}'")
keys = ", ".join(f"q{place}" for place in range(8))
text = f"SELECT count(*) FROM (SELECT {keys} FROM '{sys.argv[1]}' GROUP BY ALL)"
duckdb.sql(text).fetchall()
"""
SEARCH = """
import sys, time
import sfumato as sf
begun = {}

def told(step, share):
    begun.setdefault(step, time.process_time())

sf.anonymize(sys.argv[1], sys.argv[2], insecure_seed=1, engine="memory", progress=told)
print(round(begun["publish"] - begun["solve"], 1))
"""


def main() -> None:
    """Measure, print and write the figures."""
    options = _options()
    with TemporaryDirectory() as name:
        place = Path(name)
        write_table(place / "people.parquet", options.rows)
        write_policy(place / "policy.toml")
        found = {"rows": options.rows, "memory_limit": options.limit}
        if options.engine == "spark":
            found["runs"] = scale_on_spark.measured(
                place, options.limit, kill=options.kill
            )
        else:
            found["runs"] = measured(place, options.limit)
        print(json.dumps(found, indent=2))
    if options.out:
        Path(options.out).write_text(json.dumps(found, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--limit", default="500MB")
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
    parser.add_argument("--kill", action="store_true", help="kill a worker of Spark")
    parser.add_argument("--out")
    return parser.parse_args()


def write_table(place: Path, rows: int) -> None:
    """Write the table, part by part."""
    draw = np.random.default_rng(1)
    schema = pa.schema([(f"q{at}", pa.int64()) for at in range(len(SIZES))])
    with parquet.ParquetWriter(place, schema, compression="zstd") as writer:
        for start in range(0, rows, PART):
            count = min(PART, rows - start)
            cells = [(draw.beta(2, 3, count) * size).astype(np.int64) for size in SIZES]
            writer.write_table(pa.table(cells, schema=schema), row_group_size=1 << 18)


def write_policy(place: Path) -> None:
    """Write a policy: eight quasi-identifiers, k = 10, Mondrian."""
    columns = [f'[columns.q{at}]\nrole = "quasi"\n' for at in range(len(SIZES))]
    place.write_text(
        'version = 1\n[data]\npath = "people.parquet"\n'
        + "".join(columns)
        + '[[require]]\nmodel = "k-anonymity"\nk = 10\n'
        + '[algorithm]\nname = "mondrian"\ncut = "widest"\n'
    )


def searched(place: Path) -> float:
    """CPU seconds of the search in memory, without reading, publishing and proving."""
    data, policy = place / "people.parquet", place / "policy.toml"
    words = [sys.executable, "-c", SEARCH, str(data), str(policy)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return float(done.stdout)


def measured(place: Path, limit: str) -> dict[str, Any]:
    """Run DuckDB's GROUP BY and the command on each engine."""
    command = [sys.executable, "-m", "sfumato", "anonymize", str(place / "policy.toml")]
    words = [*command, "--insecure-seed", "1", "--quiet", "--memory-limit", limit]
    source = str(place / "people.parquet")
    runs = {"group by": run([sys.executable, "-c", GROUP_BY, source, limit])}
    hashes = set()
    for engine in ("duckdb", "memory"):
        out = place / engine
        runs[engine] = run([*words, "--engine", engine, "--out", str(out)])
        manifest = json.loads((out / "manifest.json").read_text())
        runs[engine] |= {"seconds": manifest["seconds"], "groups": manifest["groups"]}
        hashes.add(hashlib.sha256((out / "data.parquet").read_bytes()).hexdigest())
    if len(hashes) != 1:
        raise SystemExit("The engines published different bytes.")
    for engine in ("duckdb", "memory"):
        ratio = runs[engine]["cpu_seconds"] / runs["group by"]["cpu_seconds"]
        runs[engine]["times_group_by"] = round(ratio, 1)
    runs["memory"]["search_cpu_seconds"] = searched(place)
    return runs


def run(words: list[str]) -> dict[str, Any]:
    """Run a program to its end; CPU, wall and peak memory of its process."""
    started = perf_counter()
    child = subprocess.Popen(words)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"A run ended with {status}.")
    return {
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "wall_seconds": round(perf_counter() - started, 1),
        "peak_mebibytes": usage.ru_maxrss // 1024,
    }


if __name__ == "__main__":
    main()
